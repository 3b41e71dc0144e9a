/* float16 that has run over: Inf where the largest finite value is close to all it can hold. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "inspect/diagnose/ops.h"
#include "inspect/diagnose/rule.h"
#include "inspect/tensor/describe.h"

enum { FOUND_MOST = LBX_DIAGNOSED_MOST };

static const double nearly = 16384; /* a quarter of 65504, the largest that float16 can hold */

struct overflows {
	int n;
	struct overflow {
		struct lbx_key key;
		int64_t infinite;
		double largest;
	} list[FOUND_MOST];
};

static bool makes_infinity(const struct lbx_tensor *t)
{
	return lbx_made_by(t, "divide") || lbx_made_by(t, "log") || lbx_made_by(t, "power") ||
	       lbx_made_by(t, "rsqrt") || t->op_class == LB_CLASS_LEAF;
}

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t, const struct lbx_summary *s)
{
	struct overflows *o = state;
	double sigma = lbx_summary_std(s);

	(void)c;
	if (t->dtype != LB_F16 || t->encoding || o->n == FOUND_MOST || s->special[LBX_NAN] || makes_infinity(t) ||
	    !(s->special[LBX_POSITIVE_INF] + s->special[LBX_NEGATIVE_INF]) || !(sigma > 0) || s->finite * 2 < s->count)
		return true;
	/* the spread of what is finite reaches as far as float16 does */
	if (fabs((double)s->mean) + 4 * sigma < nearly)
		return true;
	o->list[o->n++] =
	    (struct overflow){ lbx_tensor_key(t), s->special[LBX_POSITIVE_INF] + s->special[LBX_NEGATIVE_INF], sigma };
	return true;
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct overflows *o = state;
	char text[LBX_DESCRIPTION_MAX];
	struct lbx_tensor t;

	for (int i = 0; i < o->n; i++) {
		struct lbx_diagnosed *f = lbx_case_found_of(c, LBX_HIGH, 0.85, &o->list[i].key, &t);
		if (!f)
			continue;
		lbx_describe(&t, text, sizeof text);
		LBX_SAY(f->title, "float16 overflows in %s", t.op);
		LBX_SAY(f->evidence,
			"%s holds %" PRId64
			" Inf, and the finite values spread to where float16 ends (standard deviation %.4g; "
			"65504 is the largest).",
			text, o->list[i].infinite, o->list[i].largest);
		LBX_SAY(
		    f->advice,
		    "bfloat16, which reaches as far as float32; or scale the operands before, as by 1/sqrt(d) in attention.");
	}
	return lb_ok();
}

const struct lbx_rule lbx_rule_half_overflow = {
	.id = "N2",
	.name = "half-overflow",
	.title = "float16 that overflows",
	.sees = LBX_SEES_TENSORS | LBX_SEES_VALUES,
	.meaning = "float16 ends at 65504. Activations that grow beyond become Inf, and NaN one operation later.",
	.example = "scores = lb_matmul(q, k);     /* float16, without 1/sqrt(d) */",
	.demands =
	    "A ready float16 tensor that no division, logarithm or power made holds Inf, at least half of it is\n"
	    "finite, and that spreads (mean and four standard deviations) beyond 16384.",
	.cure = "bfloat16 or float32 for it; or a factor before: 1/sqrt(head_dim), a norm.",
	.state = sizeof(struct overflows),
	.values = see,
	.conclude = conclude,
};
