#include "ggml/set.h"

struct lbx_target *lbx_ggml_set_target(const struct lbx_ggml_set *g)
{
	struct lbx_target *direct = lbx_target_direct(g->tensors.target);

	return direct ? direct : g->tensors.target;
}

const struct lbx_ggml_by_address *lbx_ggml_set_before(const struct lbx_ggml_set *g, uint64_t address)
{
	size_t low = 0, high = g->contexts.n_tensors;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (g->sorted[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &g->sorted[low - 1] : NULL;
}

uint64_t lbx_ggml_set_id(const struct lbx_ggml_set *g, uint64_t address)
{
	const struct lbx_ggml_by_address *at = lbx_ggml_set_before(g, address);

	return at && at->address == address ? (uint64_t)at->ordinal + 1 : 0;
}

bool lbx_ggml_set_read(struct lbx_ggml_set *g, uint64_t address, struct lbx_ggml_record *ret)
{
	return lbx_ggml_record_read(lbx_ggml_set_target(g), &g->anchor, &g->layout, address, ret);
}

bool lbx_ggml_set_read_next(struct lbx_ggml_set *g, size_t i, struct lbx_ggml_record *ret)
{
	return lbx_ggml_record_read(lbx_walk_target(&g->walk, lbx_ggml_set_target(g), i), &g->anchor, &g->layout,
				    g->contexts.tensors[i], ret);
}

bool lbx_ggml_set_root(struct lbx_ggml_set *g, const struct lbx_ggml_record *r, struct lbx_ggml_record *ret)
{
	*ret = *r;
	return !r->view_source || (lbx_ggml_set_id(g, r->view_source) && lbx_ggml_set_read(g, r->view_source, ret) &&
				   !ret->view_source && (r->data == 0 || r->data == ret->data + r->view_offset));
}

bool lbx_ggml_set_writes(const struct lbx_ggml_set *g, const struct lbx_ggml_record *r)
{
	return r->op != 0 && !lbx_ggml_is_view(&g->anchor, r);
}

const struct lbx_ggml_buffer *lbx_ggml_set_buffer(struct lbx_ggml_set *g, const struct lbx_ggml_record *root)
{
	g->places.target = lbx_ggml_set_target(g);
	return root->buffer ? lbx_ggml_buffer(&g->places, root->buffer) : NULL;
}
