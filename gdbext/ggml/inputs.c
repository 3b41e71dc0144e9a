#include "ggml/inputs.h"

#include <string.h>

#include "base/error.h"
#include "ggml/decode.h"

/* Whether what node `id` reads of an input, or looks at as a view, is what was there when it ran. Tensors that no
 * operation computes, such as a cache, are written by nodes all the same: each counts as written by the ones that are in
 * front of it. `again`: what the node itself writes comes out the same when it is done twice. */
static bool is_as_it_was(struct lbx_ggml_set *g, uint64_t id, uint64_t input, bool again)
{
	struct lbx_ggml_record r, root, of;
	struct lbx_tensor writer;
	char text[LBX_ID_TEXT_MAX];

	if (!lbx_ggml_set_read(g, g->contexts.tensors[input - 1], &r) || !lbx_ggml_set_root(g, &r, &root) ||
	    root.op != 0)
		return true;
	for (size_t i = 0; i < g->stores.n; i++) {
		const struct lbx_ggml_extent *store = &g->stores.list[i];
		if (store->root != root.address || store->end <= r.data || store->start >= r.data + (uint64_t)r.reach)
			continue;
		if (!lbx_ggml_decode(g, (uint64_t)store->ordinal + 1, &writer) ||
		    !lbx_ggml_set_read(g, writer.address, &of))
			continue;
		uint64_t from = of.sources[0];
		if (from && lbx_ggml_set_id(g, from) && lbx_ggml_set_read(g, from, &of) && of.data == 0)
			continue; /* of a graph that was never computed */
		lbx_tensor_id_text(&writer, text);
		bool ran = writer.state == LBX_READY || writer.state == LBX_OVERWRITTEN;
		bool before = store->order < (int64_t)g->order[id - 1];
		if ((before && ran) || (again && store->ordinal + 1 == id))
			continue;
		const char *how = ran                          ? "which has since been written by"
				  : writer.state == LBX_UNSURE ? "which may still have to be written by"
							       : "which is still to be written by";
		return lb_fail("it reads %s, %s %s: stop the program %s", *root.name ? root.name : "a tensor", how,
			       text, ran ? "before that" : "after that");
	}
	return true;
}

bool lbx_ggml_node_of(struct lbx_ggml_set *g, const struct lbx_tensor *t, struct lbx_recipe *r,
		      struct lbx_ggml_node *ret)
{
	struct lbx_ggml_node n = { .target = lbx_ggml_set_target(g),
				   .anchor = &g->anchor,
				   .kinds = &g->kinds,
				   .tensor = t,
				   .viewed = -1,
				   .r = r };
	int next = 0;

	if (!lbx_ggml_set_read(g, t->address, &n.record))
		return lb_fail("tensor #%llu of ggml is damaged", (unsigned long long)t->id);
	bool copies = strcmp(t->op, "CPY") == 0, sets = strncmp(t->op, "SET", 3) == 0,
	     moves = lbx_ggml_is_view(&g->anchor, &n.record);
	if (moves && !is_as_it_was(g, t->id, t->id, false))
		return false;
	for (int i = 0; i < LBX_GGML_SOURCES; i++) {
		uint64_t at = n.record.sources[i], id = lbx_ggml_set_id(g, at);
		bool is_input = at && at != n.record.address;
		n.sources[i] = is_input ? next++ : -1;
		if (is_input && at == n.record.view_source)
			n.viewed = n.sources[i];
		if (is_input && id && !moves && !(copies && i == 1) && !is_as_it_was(g, t->id, id, sets))
			return false;
	}
	if (n.viewed < 0 && n.record.view_source)
		n.viewed = next++;
	*ret = n;
	return (uint32_t)next == t->n_inputs || lb_fail("tensor #%llu of ggml has changed", (unsigned long long)t->id);
}
