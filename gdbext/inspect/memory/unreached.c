#include "inspect/memory/unreached.h"

#include <inttypes.h>
#include <string.h>

#include "base/plural.h"
#include "inspect/tensor/format.h"
#include "tensors/held.h"

struct row {
	enum lbx_reach reach;
	const char *key, *text;
};

static const struct row rows[] = {
	{ LBX_REACH_GRAPH, "graph", "a graph keeps it: for the way back, or for what is lazy" },
	{ LBX_REACH_OBJECTS, "objects", "objects hold it: a cycle, or what is not looked through" },
	{ LBX_REACH_RUNTIME, "libraries", "libraries hold it, no object of the program's does" },
};

enum { ROWS = sizeof rows / sizeof *rows };

static void print_row(struct lbx_out *out, int64_t bytes, int64_t buffers, const char *text)
{
	char size[32];

	lbx_format_bytes(bytes, size, sizeof size);
	lbx_wrap(out, 0, 14);
	lbx_printf(out, "  %10s  %s: %lld buffer%s\n", size, text, (long long)buffers, LB_S(buffers));
}

static void tell_unreached(struct lbx_out *out, const struct lbx_snapshot *s)
{
	bool any = false;

	lbx_begin_list(out, "unreached");
	for (int i = 0; i < ROWS; i++) {
		int64_t bytes = 0, buffers = 0;
		for (size_t k = 0; k < s->n; k++) {
			if (strcmp(s->list[k].keys[LBX_BY_HOLDER], lbx_reach_name(rows[i].reach)) != 0)
				continue;
			bytes = lbx_capped_sum(bytes, s->list[k].bytes);
			buffers = lbx_capped_sum(buffers, s->list[k].buffers);
		}
		if (buffers == 0)
			continue;
		LBX_KEY(out, NULL,
			json_pack("{s:s,s:I,s:I}", "held_by", rows[i].key, "bytes", (json_int_t)bytes, "buffers",
				  (json_int_t)buffers));
		if (!any)
			lbx_styled(out, LBX_TITLE, "no variable leads to\n");
		any = true;
		print_row(out, bytes, buffers, rows[i].text);
	}
	lbx_end(out);
}

static void tell_keeper(struct lbx_out *out, const struct lbx_keeper *k, bool is_first, bool is_shown)
{
	char size[32];

	LBX_KEY(out, NULL,
		json_pack("{s:o,s:I,s:I,s:I,s:I,s:b}", "holder", lbx_json_string(k->name), "tensors",
			  (json_int_t)k->tensors, "nodes", (json_int_t)k->nodes, "bytes", (json_int_t)k->bytes,
			  "buffers", (json_int_t)k->kept, "capped", (int)k->is_cut));
	if (is_first)
		lbx_styled(out, LBX_TITLE, "graphs that variables keep, with what no variable leads to\n");
	if (!is_shown)
		return;
	lbx_format_bytes(k->bytes, size, sizeof size);
	lbx_wrap(out, 0, 14);
	lbx_printf(out, "  %10s  %s: a graph of %s%" PRIu64 " node%s, which keep%s %" PRIu64 " buffer%s\n", size,
		   k->name, k->is_cut ? "at least " : "", k->nodes, LB_S(k->nodes), k->nodes == 1 ? "s" : "", k->kept,
		   LB_S(k->kept));
}

static void tell_keepers(struct lbx_context *context, int64_t limit)
{
	struct lbx_out *out = context->out;
	struct lbx_keeper keeper;
	int64_t n = 0, unseen = 0;

	lbx_begin_list(out, "graphs");
	for (int i = 0; i < context->n_sets; i++) {
		for (uint64_t slot = 0; lbx_tensors_keeper(context->sets[i], &slot, &keeper);) {
			if (!keeper.name[0]) {
				unseen += (int64_t)keeper.tensors;
				continue;
			}
			tell_keeper(out, &keeper, n == 0, n < limit);
			n++;
		}
	}
	lbx_end(out);
	if (n > limit)
		lbx_printf(out, "  … and %lld more (--limit 0 shows all)\n", (long long)(n - limit));
	LBX_KEY(out, "graphs_not_looked_through", json_integer(unseen));
	if (unseen)
		lbx_styled(out, LBX_WARNING,
			   "  not looked through, as there are too many nodes: the graphs of %lld tensor%s\n",
			   (long long)unseen, LB_S(unseen));
}

void lbx_unreached_tell(struct lbx_context *context, const struct lbx_snapshot *s, int64_t limit)
{
	tell_unreached(context->out, s);
	tell_keepers(context, limit);
}
