#include "ggml/states.h"

/* Whether an operation has to give it its value, be it through another tensor's memory: not a leaf, nor a view of one
 * that no node writes into. */
static bool is_computed(const struct lbx_ggml_set *g, const struct lbx_ggml_record *r,
			const struct lbx_ggml_record *root)
{
	uint64_t root_id = lbx_ggml_set_id(g, root->address);

	if (lbx_ggml_set_writes(g, r) || root->op != 0)
		return true;
	return r->address != root->address && (root_id == 0 || g->is_written[root_id - 1]);
}

static void set_overwritten(int64_t writer, struct lbx_tensor *ret)
{
	ret->state = LBX_OVERWRITTEN;
	ret->overwriter = writer >= 0 ? (uint64_t)writer + 1 : 0;
}

static void set_unsure(struct lbx_ggml_set *g, struct lbx_tensor *ret)
{
	ret->state = LBX_UNSURE;
	ret->place = g->running.why;
}

/* Of a node of the graph that is being computed. */
static void set_state_in_graph(struct lbx_ggml_set *g, uint64_t id, struct lbx_tensor *ret)
{
	const struct lbx_ggml_progress *p = &g->progress;
	int64_t at = p->at[id - 1], writer = p->writers[id - 1];

	if (at >= p->place) {
		ret->state = at == p->place && (!p->is_between || p->is_asked) ? LBX_EVALUATING : LBX_LAZY;
	} else if (writer == LBX_GGML_UNKNOWN_WRITER || (writer >= 0 && p->at[writer] >= p->place)) {
		set_unsure(g, ret);
	} else if (writer >= 0) {
		set_overwritten(writer, ret);
	} else {
		ret->is_unproven = at < p->first;
	}
}

/* Of a node whose memory can be read. */
static void set_node_state(struct lbx_ggml_set *g, uint64_t id, struct lbx_tensor *ret)
{
	static const char fused[] =
	    "ggml computes it as one with the next node, if it can, and leaves it without a value";
	const struct lbx_ggml_progress *p = &g->progress;

	if (p->at && p->at[id - 1] >= 0)
		set_state_in_graph(g, id, ret);
	else if (g->running.doing != LBX_GGML_RESTS &&
		 (!p->at || p->at[id - 1] == LBX_GGML_LEFT_OUT || p->touched[id - 1] != LBX_GGML_KEPT))
		set_unsure(g, ret);
	else if (g->writers[id - 1] != LBX_GGML_KEPT)
		set_overwritten(g->writers[id - 1], ret);
	else
		ret->is_unproven = true;
	bool alone = p->at && p->is_between && p->at[id - 1] >= 0;
	if (ret->state == LBX_READY && g->is_fused[id - 1] && !alone) {
		ret->state = LBX_UNSURE;
		ret->is_unproven = false;
		ret->place = fused;
	}
}

/* Of a leaf whose memory can be read, such as an input: it is set before a graph is computed, whose nodes may write over it
 * when it has been used. */
static void set_leaf_state(struct lbx_ggml_set *g, uint64_t id, struct lbx_tensor *ret)
{
	const struct lbx_ggml_progress *p = &g->progress;
	int64_t last = g->writers[id - 1], by_now = p->at ? p->writers[id - 1] : LBX_GGML_KEPT;

	if (last == LBX_GGML_KEPT)
		return;
	if (g->running.doing == LBX_GGML_RESTS || (by_now >= 0 && p->at[by_now] < p->place))
		set_overwritten(g->running.doing == LBX_GGML_RESTS ? last : by_now, ret);
	else if (!p->at || by_now != LBX_GGML_KEPT || last < 0 || p->at[last] < 0)
		set_unsure(g, ret);
}

/* What it is for: that of what it lies in. */
static enum lbx_usage usage_of(const struct lbx_ggml_set *g, const struct lbx_ggml_record *root,
			       const struct lbx_ggml_buffer *buffer)
{
	int usage = buffer ? buffer->usage : LBX_GGML_USAGE_UNKNOWN;

	if (root->op != 0)
		return LBX_USAGE_COMPUTE;
	if (usage == LBX_GGML_WEIGHTS)
		return LBX_USAGE_WEIGHTS;
	if (usage == LBX_GGML_COMPUTE || (g->marks_inputs && root->flags & LBX_GGML_FLAG_INPUT))
		return LBX_USAGE_INPUTS;
	return g->is_written[lbx_ggml_set_id(g, root->address) - 1] ? LBX_USAGE_STATE : LBX_USAGE_UNKNOWN;
}

void lbx_ggml_set_state(struct lbx_ggml_set *g, const struct lbx_ggml_record *r, const struct lbx_ggml_record *root,
			uint64_t id, struct lbx_tensor *ret)
{
	const struct lbx_ggml_type *type = &g->anchor.types[root->type];
	const struct lbx_ggml_buffer *buffer = lbx_ggml_set_buffer(g, root);
	enum lbx_ggml_place place = buffer ? buffer->place : LBX_GGML_HOST;
	const char *name = buffer && buffer->name[0] ? buffer->name : NULL;
	const struct lbx_ggml_repacked *order = NULL;

	ret->usage = usage_of(g, root, buffer);
	ret->memory = name;
	ret->state = LBX_READY;
	if (root->data && place != LBX_GGML_ELSEWHERE)
		order = lbx_ggml_repacked(&g->repacks, lbx_ggml_set_target(g), &g->anchor, root, buffer);
	if (root->data == 0) {
		ret->state = LBX_UNALLOCATED;
	} else if (place == LBX_GGML_ELSEWHERE) {
		ret->state = LBX_ON_DEVICE;
		ret->place = name;
	} else if (order && !lbx_ggml_repacked_reads(order, type, r, root)) {
		ret->state = LBX_REPACKED;
		ret->place = order->text[0] ? order->text : NULL;
	} else if (is_computed(g, r, root)) {
		set_node_state(g, id, ret);
	} else {
		set_leaf_state(g, id, ret);
	}
	if (order && ret->state != LBX_REPACKED)
		ret->encoding = &order->elements;
}
