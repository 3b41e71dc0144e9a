/* Variables whose tensors keep what they were computed by, and with it memory that no variable leads to: losses in a list. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/diagnose/rule.h"
#include "inspect/tensor/format.h"
#include "tensors/held.h"

enum { TENSORS_LEAST = 8, KEEPERS_MOST = 64, BYTES_MEDIUM = 1 << 20 };

static bool tell(struct lbx_case *c, const struct lbx_keeper *k)
{
	bool is_much = k->bytes >= BYTES_MEDIUM;
	struct lbx_diagnosed *f = lbx_case_found(c, is_much ? LBX_MEDIUM : LBX_LOW, is_much ? 0.8 : 0.6);
	char bytes[32];

	if (!f)
		return lb_ok();
	lbx_format_bytes(k->bytes, bytes, sizeof bytes);
	LBX_SAY(f->title, "%s keeps the graphs of its %" PRIu64 " tensors", k->name, k->tensors);
	LBX_SAY(f->evidence,
		"A graph of %s%" PRIu64 " nodes stays behind it, which keeps %" PRIu64
		" buffer%s that no variable leads to.",
		k->is_cut ? "at least " : "", k->nodes, k->kept, LB_S(k->kept));
	LBX_SAY(f->cost, "%s%s", k->is_cut ? "at least " : "", bytes);
	LBX_SAY(f->advice, "Keep numbers instead (loss.item()), or what has no graph (detach(), or evaluate it).");
	return lb_ok();
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct lbx_keeper k;
	uint64_t slot = 0;

	(void)state;
	for (int i = 0; i < KEEPERS_MOST && lbx_tensors_keeper(c->tensors, &slot, &k); i++)
		if (k.name[0] && k.tensors >= TENSORS_LEAST && k.bytes > 0 && !tell(c, &k))
			return false;
	return lb_ok();
}

const struct lbx_rule lbx_rule_kept_graphs = {
	.id = "L7a",
	.name = "kept-graphs",
	.title = "a list of tensors that keeps the graphs they were computed by",
	.sees = LBX_SEES_TENSORS | LBX_SEES_HOLDERS,
	.meaning =
	    "A loss that is kept for a log keeps the graph behind it, with each activation for the way back, or with\n"
	    "all that is not computed yet. Memory grows with each turn.",
	.example = "losses.append(loss)            # Python, PyTorch or MLX\n"
		   "losses.append(loss.item())     # instead",
	.demands =
	    "One variable (a list, a dict, an object) leads to at least 8 tensors whose graphs keep buffers that no\n"
	    "variable leads to. Above low from 1 MiB on. Only providers that know the program's variables tell\n"
	    "this: PyTorch and MLX in Python.",
	.cure = "Keep the number (item()), or the value without its graph (detach(), or mx.eval() and a copy).",
	.conclude = conclude,
};
