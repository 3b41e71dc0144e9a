/* Weights that were loaded in one dtype and converted to another, of which both are still there. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/diagnose/ops.h"
#include "inspect/diagnose/rule.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"

enum { BYTES_LEAST = 64 << 10, BYTES_MEDIUM = 8 << 20 };

struct casts {
	uint64_t n;
	int64_t before, after; /* bytes */
	uint64_t site;
	struct lbx_key first, from;
};

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t)
{
	struct casts *s = state;
	struct lbx_tensor from;

	(void)c;
	if (t->torn || t->state != LBX_READY || !lbx_made_by(t, "astype") || !lbx_input_of(t, 0, &from) ||
	    from.state != LBX_READY || from.op_class != LB_CLASS_LEAF || from.dtype == t->dtype ||
	    from.buffer_id == t->buffer_id || from.buffer_flags & LB_BUFFER_FOREIGN)
		return true;
	if (s->n++ == 0) {
		s->site = t->site;
		s->first = lbx_tensor_key(t);
		s->from = lbx_tensor_key(&from);
	}
	s->before += lbx_tensor_nbytes(&from);
	s->after += lbx_tensor_nbytes(t);
	return true;
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct casts *s = state;
	char text[LBX_DESCRIPTION_MAX], before[32], after[32];
	struct lbx_tensor t;

	if (s->before < BYTES_LEAST)
		return true;
	struct lbx_diagnosed *f =
	    lbx_case_found_of(c, s->before >= BYTES_MEDIUM ? LBX_MEDIUM : LBX_LOW, 0.7, &s->from, &t);
	if (!f)
		return lb_ok();
	f->pc = s->site;
	lbx_diagnosed_tensor(f, &s->first);
	lbx_describe(&t, text, sizeof text);
	lbx_format_bytes(s->before, before, sizeof before);
	lbx_format_bytes(s->after, after, sizeof after);
	LBX_SAY(f->title, "%" PRIu64 " tensor%s held twice, before and after a conversion", s->n,
		LB_PLURAL(s->n, " is", "s are"));
	LBX_SAY(f->evidence, "%s as they came, and %s converted; the first is %s.", before, after, text);
	LBX_SAY(f->cost, "%s", before);
	LBX_SAY(f->advice, "Convert before evaluating, and let the first go: then each is converted as it is read.");
	return lb_ok();
}

const struct lbx_rule lbx_rule_cast_after_loading = {
	.id = "L8",
	.name = "cast-after-loading",
	.title = "weights that are held in two dtypes",
	.sees = LBX_SEES_TENSORS,
	.meaning =
	    "Weights that are evaluated as they come, and then converted, are in memory twice at the peak, and for\n"
	    "as long as somebody holds the first.",
	.example = "weights = mx.load(\"model.safetensors\")\n"
		   "mx.eval(weights)                       # float32\n"
		   "half = {k: v.astype(mx.float16) for k, v in weights.items()}",
	.demands = "Ready tensors that are conversions of ready ones which were data, in buffers of their own (mapped\n"
		   "files do not count): 64 KiB at least. Above low from 8 MiB on.",
	.cure = "astype() before the first evaluation; then let the loaded ones go.",
	.state = sizeof(struct casts),
	.tensor = see,
	.conclude = conclude,
};
