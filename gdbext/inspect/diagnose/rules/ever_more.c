/* Tensors of one kind of which there are more at each look: of any runtime, with a record of calls or without. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mix.h"
#include "inspect/diagnose/looks.h"
#include "inspect/diagnose/rule.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"

enum { LOOKS_LEAST = 3, MS_LEAST = 3000, LEAST = 16, BYTES_LEAST = 1 << 20, BYTES_MEDIUM = 16 << 20, SIZES_MOST = 8 };

struct counts {
	struct lbx_look_kind *kinds;
	struct lbx_key *newest; /* of each */
};

static uint64_t kind_of(const struct lbx_tensor *t)
{
	uint64_t hash = lb_mix(t->site + LB_MIX_STEP * (uint64_t)(t->dtype + 1));

	for (const char *c = t->op; *c; c++)
		hash = lb_mix(hash + (unsigned char)*c);
	for (int i = 0; i < t->rank && i < SIZES_MOST; i++)
		hash = lb_mix(hash + (uint64_t)lbx_shape(t)[i] + LB_MIX_STEP);
	return hash ? hash : 1;
}

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t)
{
	struct counts *s = state;

	if (!c->looks || t->torn || t->is_shapeless || t->size == 0 || t->op_class == LB_CLASS_VIEW)
		return true;
	if (!s->kinds) {
		s->kinds = calloc(LBX_LOOK_KINDS, sizeof *s->kinds);
		s->newest = calloc(LBX_LOOK_KINDS, sizeof *s->newest);
		if (!s->kinds || !s->newest)
			return lb_fail("out of memory for kinds of tensors");
	}
	uint64_t hash = kind_of(t);
	struct lbx_look_kind *kind = lbx_look_kind(s->kinds, hash);
	if (!kind)
		return true;
	kind->hash = hash;
	kind->n++;
	kind->bytes += t->state == LBX_READY ? lbx_tensor_nbytes(t) / (t->buffer_refs > 1 ? t->buffer_refs : 1) : 0;
	s->newest[kind - s->kinds] = lbx_tensor_key(t);
	return true;
}

static bool tell(struct lbx_case *c, const struct lbx_look_kind *kind, const struct lbx_key *newest, int64_t now_ms)
{
	int64_t more = kind->bytes - kind->bytes_then;
	bool is_much = more >= BYTES_MEDIUM;
	struct lbx_tensor t;
	struct lbx_diagnosed *f = lbx_case_found_of(c, is_much ? LBX_MEDIUM : LBX_LOW, is_much ? 0.6 : 0.5, newest, &t);
	char bytes[32], type[LBX_TYPE_MAX];

	if (!f)
		return lb_ok();
	lbx_format_bytes(more, bytes, sizeof bytes);
	lbx_describe_type(&t, type, sizeof type);
	LBX_SAY(f->title, "ever more tensors of one kind: %s", type);
	LBX_SAY(f->evidence,
		"There were more at each of the last %d looks: %" PRIu64 ", then %" PRIu64
		" %.0f s later. The newest is ",
		kind->grown, kind->n_then, kind->n, 1e-3 * (double)(now_ms - kind->ms_then));
	char label[LBX_DESCRIPTION_MAX];
	lbx_describe(&t, label, sizeof label);
	LBX_SAY(f->evidence, "%s.", label);
	LBX_SAY(f->cost, "%s more in that time", bytes);
	LBX_SAY(
	    f->advice,
	    "`%sowner` tells who holds one. Weights that are being loaded, or a cache that fills, look the same: what goes "
	    "on for ever is a leak.",
	    c->context->prefix ? c->context->prefix : "");
	return true;
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct counts *s = state;
	int64_t now = lb_clock_ms();

	if (!s->kinds)
		return true;
	struct lbx_look_kind *kinds = s->kinds;
	s->kinds = NULL;
	lbx_looks_add(c->looks, kinds, now);
	for (int i = 0; i < LBX_LOOK_KINDS; i++) {
		const struct lbx_look_kind *kind = &kinds[i];
		if (kind->grown >= LOOKS_LEAST && now - kind->ms_then >= MS_LEAST && kind->n - kind->n_then >= LEAST &&
		    kind->bytes - kind->bytes_then >= BYTES_LEAST && !tell(c, kind, &s->newest[i], now))
			return false;
	}
	return lb_ok();
}

static void deinit(void *state)
{
	struct counts *s = state;

	free(s->kinds);
	free(s->newest);
}

const struct lbx_rule lbx_rule_ever_more = {
	.id = "L7h",
	.name = "ever-more",
	.title = "tensors of one kind, more at each look",
	.sees = LBX_SEES_TENSORS | LBX_SEES_LOOKS,
	.meaning =
	    "Something keeps what it makes: a list of outputs, a graph of losses, a cache without an end. Of runtimes that\n"
	    "keep no record of calls it can only be seen by looking again.",
	.example = "history.append(output)      # of each step",
	.demands =
	    "A program that is watched (`lazybones doctor -- PROGRAM`, or PID --every N). Of tensors of one runtime, dtype and\n"
	    "shape, and one call where calls are known, there are more at each of the last three looks or more, for 3 s or\n"
	    "more, 16 more in all, and 1 MiB; above low from 16 MiB on.",
	.cure = "Keep numbers instead of tensors; let go of what has been used; bound the cache.",
	.state = sizeof(struct counts),
	.tensor = see,
	.conclude = conclude,
	.deinit = deinit,
};
