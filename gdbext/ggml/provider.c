/* Tensors are numbered from 1 on, through all contexts in the order of their addresses, and in each as the program made
 * them: numbers stay the same for as long as the program stands still. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "ggml/contexts.h"
#include "ggml/facts.h"
#include "ggml/fused.h"
#include "ggml/ggml.h"
#include "ggml/order.h"
#include "ggml/places.h"
#include "ggml/progress.h"
#include "ggml/recipe.h"
#include "ggml/record.h"
#include "ggml/reuse.h"
#include "ggml/running.h"
#include "ggml/stores.h"
#include "lazybones.h"
#include "target/window.h"
#include "tensors/axes.h"

enum { FEW_MODULES = 16, MAX_MODULES = 512 };
#define LOW_END (1ULL << 32)
#define USER_END (1ULL << 56)

struct by_address {
	uint64_t address;
	uint32_t ordinal;
};

struct ggml {
	struct lbx_tensors tensors; /* first */
	int n_modules;
	struct lbx_loaded *modules;
	struct lbx_ggml_anchor anchor;
	struct lbx_ggml_layout layout;
	struct lbx_ggml_contexts contexts;
	struct lbx_ggml_places places;
	struct by_address *sorted; /* all tensors */
	int64_t *writers; /* by ordinal; see reuse.h */
	uint32_t *users; /* by ordinal: tensors that share its memory */
	uint32_t *order; /* by ordinal: of computing them; see order.h */
	struct lbx_ggml_stores stores;
	struct lbx_ggml_kinds kinds;
	bool *is_fused; /* by ordinal; see fused.h */
	bool *is_written; /* by ordinal: of leaves, whether nodes write into them */
	struct lbx_stacks *stacks; /* NULL: not known */
	struct lbx_ggml_running running;
	struct lbx_ggml_progress progress;
	bool is_by_code; /* how the layout was decided */
	bool marks_inputs;
	uint64_t first_bad, last_bad;
	struct lbx_window window; /* on their records, for the walk that is under way */
	uint64_t walked; /* where that one is: nobody else sees what may be older */
};

static struct ggml *ggml_of(struct lbx_tensors *tensors)
{
	return (struct ggml *)tensors;
}

static struct lbx_target *target_of(struct ggml *g)
{
	struct lbx_target *direct = lbx_target_direct(g->tensors.target);

	return direct ? direct : g->tensors.target;
}

/* ---- finding ---- */

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = ((const struct by_address *)a)->address, y = ((const struct by_address *)b)->address;

	return x < y ? -1 : x > y;
}

/* The last one that begins at or before an address; NULL: none does. */
static const struct by_address *at_or_before(const struct ggml *g, uint64_t address)
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

/* The number of the tensor at an address; 0: there is none. */
static uint64_t id_at(const struct ggml *g, uint64_t address)
{
	const struct by_address *at = at_or_before(g, address);

	return at && at->address == address ? (uint64_t)at->ordinal + 1 : 0;
}

static bool sort(struct ggml *g)
{
	size_t n = g->contexts.n_tensors;

	g->sorted = calloc(n, sizeof *g->sorted);
	g->writers = calloc(n, sizeof *g->writers);
	g->users = calloc(n, sizeof *g->users);
	g->is_written = calloc(n, sizeof *g->is_written);
	g->is_fused = calloc(n, sizeof *g->is_fused);
	if (!g->sorted || !g->writers || !g->users || !g->is_written || !g->is_fused)
		return lb_fail("out of memory for %zu tensors of ggml", n);
	for (size_t i = 0; i < n; i++)
		g->sorted[i] = (struct by_address){ g->contexts.tensors[i], (uint32_t)i };
	qsort(g->sorted, n, sizeof *g->sorted, compare_addresses);
	return true;
}

static bool read_record(struct ggml *g, uint64_t address, struct lbx_ggml_record *ret)
{
	return lbx_ggml_record_read(target_of(g), &g->anchor, &g->layout, address, ret);
}

/* Of a walk over all of them, which begins a window. */
static bool read_next(struct ggml *g, size_t i, struct lbx_ggml_record *ret)
{
	return lbx_ggml_record_read(&g->window.target, &g->anchor, &g->layout, g->contexts.tensors[i], ret);
}

/* What a tensor lies in: itself, or what it is a view of. */
static bool read_root(struct ggml *g, const struct lbx_ggml_record *r, struct lbx_ggml_record *ret)
{
	*ret = *r;
	return !r->view_source || (id_at(g, r->view_source) && read_record(g, r->view_source, ret) &&
				   !ret->view_source && (r->data == 0 || r->data == ret->data + r->view_offset));
}

static bool writes(const struct ggml *g, const struct lbx_ggml_record *r)
{
	return r->op != 0 && !lbx_ggml_is_view(&g->anchor, r);
}

/* When what lies in a tensor's memory was computed. Inputs are there before all else. */
static int64_t since(struct ggml *g, const struct lbx_ggml_context *context, const struct lbx_ggml_record *r,
		     const uint32_t *order)
{
	enum { FAR = 64 }; /* views of views */
	struct lbx_ggml_record at = *r;

	for (int i = 0; i < FAR && lbx_ggml_is_view(&g->anchor, &at); i++)
		if (!read_record(g, at.sources[0] ? at.sources[0] : at.view_source, &at))
			return -1;
	uint64_t id = id_at(g, at.address);
	return id && at.op != 0 && id > context->first && id <= context->first + context->n
		   ? (int64_t)order[id - 1]
		   : (int64_t)context->first - 1;
}

static size_t take_extents(struct ggml *g, size_t c, const uint32_t *order, struct lbx_ggml_extent *ret)
{
	const struct lbx_ggml_context *context = &g->contexts.list[c];
	struct lbx_ggml_record r, root;
	size_t n = 0;

	for (size_t i = context->first; i < context->first + context->n; i++) {
		g->writers[i] = LBX_GGML_KEPT;
		if (!read_next(g, i, &r) || !read_root(g, &r, &root))
			continue;
		uint64_t root_id = id_at(g, root.address);
		g->users[root_id - 1]++;
		g->is_written[root_id - 1] |= writes(g, &r);
		if (r.data == 0 || r.reach == 0 || r.data > UINT64_MAX - (uint64_t)r.reach)
			continue;
		ret[n++] = (struct lbx_ggml_extent){ .start = r.data,
						     .end = r.data + (uint64_t)r.reach,
						     .ordinal = (uint32_t)i,
						     .context = (uint32_t)c,
						     .order = order[i],
						     .since = since(g, context, &r, order),
						     .root = root.address,
						     .writes = writes(g, &r),
						     .is_leaf = root.op == 0 };
	}
	return n;
}

static uint64_t id_of(void *g, uint64_t address)
{
	return id_at(g, address);
}

static bool find_reuse(struct ggml *g)
{
	size_t all = g->contexts.n_tensors, n = 0;
	lb_auto_free struct lbx_ggml_extent *extents = calloc(all, sizeof *extents);

	g->order = calloc(all, sizeof *g->order);
	if (!extents || !g->order)
		return lb_fail("out of memory for %zu tensors of ggml", all);
	if (!lbx_ggml_find_order(target_of(g), &g->contexts, id_of, g, g->order))
		return false;
	lbx_window_init(&g->window, target_of(g));
	for (size_t c = 0; c < g->contexts.n; c++)
		n += take_extents(g, c, g->order, extents + n);
	const struct lbx_ggml_program program = { .target = target_of(g),
						  .anchor = &g->anchor,
						  .contexts = &g->contexts,
						  .id_at = id_of,
						  .context = g,
						  .extents = extents,
						  .n_extents = n };
	return lbx_ggml_stores_take(extents, n, &g->stores) &&
	       lbx_ggml_progress_find(&program, &g->running, &g->progress) &&
	       lbx_ggml_find_fused(&program, &g->layout, g->modules, g->n_modules, g->is_fused) &&
	       lbx_ggml_find_reuse(extents, n, g->writers);
}

static bool is_readable(struct ggml *g, uint64_t address)
{
	char byte;

	return lbx_target_try_read(target_of(g), address, &byte, 1);
}

/* Of how many tensors this layout may be; *ret_telling: whether of one of them it is, by what is not left to chance.
 * Data may be where there is none in a core: at least no text of four characters is such an address. What is likely is not
 * read: weights may lie in a file that nobody has read yet. */
static size_t count_fits(struct ggml *g, const struct lbx_ggml_layout *layout, bool *ret_telling)
{
	struct lbx_ggml_record r;
	size_t n = 0;

	*ret_telling = false;
	lbx_window_init(&g->window, target_of(g));
	for (size_t i = 0; i < g->contexts.n_tensors; i++) {
		if (!lbx_ggml_record_read(&g->window.target, &g->anchor, layout, g->contexts.tensors[i], &r))
			continue;
		bool is_likely = r.data >= LOW_END && r.data < USER_END && r.data % sizeof(float) == 0;
		if (r.data && !is_likely && !is_readable(g, r.data))
			continue;
		n++;
		*ret_telling = *ret_telling || (r.data && r.name[0] && is_readable(g, r.data));
	}
	return n;
}

/* A row for names as long as these tensors have, whose size is that of an object, unless their data follows within it. */
static bool adapt(struct ggml *g, const struct lbx_ggml_layout *row, struct lbx_ggml_layout *ret)
{
	uint64_t at = g->contexts.smallest_at, size = g->contexts.smallest, data;

	if (lbx_target_try_read(target_of(g), at + row->data, &data, sizeof data) && data > at && data - at < size)
		size = data - at;
	return lbx_ggml_layout_of_size(row, size, ret);
}

/* What functions say must be so of most tensors, what nothing says of nearly all: some may be damaged. */
static bool decide_layout(struct ggml *g)
{
	const struct lbx_ggml_layout *row;
	struct lbx_ggml_layout layout;
	size_t all = g->contexts.n_tensors;
	bool telling;
	int n = 0;

	g->is_by_code = lbx_ggml_layout_by_code(target_of(g), &g->anchor.module, &g->layout);
	if (g->is_by_code)
		n = count_fits(g, &g->layout, &telling) > all / 2;
	else
		for (size_t i = 0; (row = lbx_ggml_layout(i)); i++)
			if (adapt(g, row, &layout) && count_fits(g, &layout, &telling) >= all - all / 8 && telling) {
				g->layout = layout;
				n++;
			}
	return n == 1 || lb_fail("the program has ggml, in a version whose tensors cannot be read: %s",
				 n ? "more than one of the known layouts fits them" : "no known layout fits them");
}

/* ---- decoding ---- */

static enum lb_op_class class_of(const struct ggml *g, const struct lbx_ggml_record *r, uint32_t n_inputs)
{
	if (r->op == 0 && !r->view_source)
		return LB_CLASS_LEAF;
	if (lbx_ggml_is_view(&g->anchor, r))
		return LB_CLASS_VIEW;
	if (strcmp(g->anchor.ops[r->op], "MUL_MAT") == 0)
		return LB_CLASS_MATMUL;
	return n_inputs == 0   ? LB_CLASS_CREATE
	       : n_inputs == 1 ? LB_CLASS_UNARY
	       : n_inputs == 2 ? LB_CLASS_BINARY
			       : LB_CLASS_TERNARY;
}

/* The address of input i: its sources, but for itself, as a cast has it; then what it is a view of if that is no source.
 * 0: there are i. */
static uint64_t input_at(const struct lbx_ggml_record *r, uint32_t i)
{
	bool is_source = false;

	for (int k = 0; k < LBX_GGML_SOURCES; k++) {
		if (r->sources[k] && r->sources[k] != r->address && i-- == 0)
			return r->sources[k];
		is_source = is_source || r->sources[k] == r->view_source;
	}
	return i == 0 && !is_source ? r->view_source : 0;
}

static uint32_t count_inputs(const struct lbx_ggml_record *r)
{
	uint32_t n = 0;

	while (input_at(r, n))
		n++;
	return n;
}

/* Whether an operation has to give it its value, be it through another tensor's memory: not a leaf, nor a view of one
 * that no node writes into. */
static bool is_computed(const struct ggml *g, const struct lbx_ggml_record *r, const struct lbx_ggml_record *root)
{
	uint64_t root_id = id_at(g, root->address);

	if (writes(g, r) || root->op != 0)
		return true;
	return r->address != root->address && (root_id == 0 || g->is_written[root_id - 1]);
}

static void set_overwritten(int64_t writer, struct lbx_tensor *ret)
{
	ret->state = LBX_OVERWRITTEN;
	ret->overwriter = writer >= 0 ? (uint64_t)writer + 1 : 0;
}

static void set_unsure(struct ggml *g, struct lbx_tensor *ret)
{
	ret->state = LBX_UNSURE;
	ret->place = g->running.why;
}

/* Of a node of the graph that is being computed. */
static void set_state_in_graph(struct ggml *g, uint64_t id, struct lbx_tensor *ret)
{
	const struct lbx_ggml_progress *p = &g->progress;
	int64_t at = p->at[id - 1], writer = p->writers[id - 1];

	if (at >= p->place) {
		ret->state = at == p->place ? LBX_EVALUATING : LBX_LAZY;
	} else if (writer == LBX_GGML_UNKNOWN_WRITER || (writer >= 0 && p->at[writer] >= p->place)) {
		set_unsure(g, ret);
	} else if (writer >= 0) {
		set_overwritten(writer, ret);
	} else {
		ret->is_unproven = at < p->first;
	}
}

/* Of a node whose memory can be read. */
static void set_node_state(struct ggml *g, uint64_t id, struct lbx_tensor *ret)
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
	if (ret->state == LBX_READY && g->is_fused[id - 1]) {
		ret->state = LBX_UNSURE;
		ret->is_unproven = false;
		ret->place = fused;
	}
}

/* Of a leaf whose memory can be read, such as an input: it is set before a graph is computed, whose nodes may write over it
 * when it has been used. */
static void set_leaf_state(struct ggml *g, uint64_t id, struct lbx_tensor *ret)
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

static const struct lbx_ggml_buffer *buffer_of(struct ggml *g, const struct lbx_ggml_record *root)
{
	g->places.target = target_of(g);
	return root->buffer ? lbx_ggml_buffer(&g->places, root->buffer) : NULL;
}

/* What it is for: that of what it lies in. */
static enum lbx_usage usage_of(const struct ggml *g, const struct lbx_ggml_record *root,
			       const struct lbx_ggml_buffer *buffer)
{
	int usage = buffer ? buffer->usage : LBX_GGML_USAGE_UNKNOWN;

	if (root->op != 0)
		return LBX_USAGE_COMPUTE;
	if (usage == LBX_GGML_WEIGHTS)
		return LBX_USAGE_WEIGHTS;
	if (usage == LBX_GGML_COMPUTE || (g->marks_inputs && root->flags & LBX_GGML_FLAG_INPUT))
		return LBX_USAGE_INPUTS;
	return g->is_written[id_at(g, root->address) - 1] ? LBX_USAGE_STATE : LBX_USAGE_UNKNOWN;
}

/* Whether there is a value that can be read. */
static void set_state(struct ggml *g, const struct lbx_ggml_record *r, const struct lbx_ggml_record *root, uint64_t id,
		      struct lbx_tensor *ret)
{
	const struct lbx_ggml_type *type = &g->anchor.types[root->type];
	const struct lbx_ggml_buffer *buffer = buffer_of(g, root);
	enum lbx_ggml_place place = buffer ? buffer->place : LBX_GGML_HOST;
	const char *name = buffer && buffer->name[0] ? buffer->name : NULL;

	ret->usage = usage_of(g, root, buffer);
	ret->memory = name;
	ret->state = LBX_READY;
	if (root->data == 0) {
		ret->state = LBX_UNALLOCATED;
	} else if (place == LBX_GGML_ELSEWHERE) {
		ret->state = LBX_ON_DEVICE;
		ret->place = name;
	} else if (place == LBX_GGML_REORDERED || (root->extra && type->elements > 1)) {
		ret->state = LBX_REPACKED;
		ret->place = place == LBX_GGML_REORDERED ? name : NULL;
	} else if (!type->is_known) {
		ret->state = LBX_REPACKED;
		ret->place = type->name;
	} else if (is_computed(g, r, root)) {
		set_node_state(g, id, ret);
	} else {
		set_leaf_state(g, id, ret);
	}
}

static bool set_axes(struct ggml *g, const struct lbx_ggml_record *r, struct lbx_tensor *ret)
{
	int64_t shape[LBX_GGML_AXES], strides[LBX_GGML_AXES];

	for (int i = 0; i < r->rank; i++) {
		shape[i] = r->ne[r->rank - 1 - i];
		strides[i] = r->strides[r->rank - 1 - i];
	}
	return lbx_tensor_set_axes(&g->tensors.axes, ret, r->rank, shape, strides);
}

static bool decode_record(struct ggml *g, uint64_t id, const struct lbx_ggml_record *from, struct lbx_tensor *ret)
{
	struct lbx_ggml_record r = *from, root;

	if (!read_root(g, &r, &root))
		return false;
	const struct lbx_ggml_type *type = &g->anchor.types[r.type];
	if (!root.is_apart || root.data > UINT64_MAX - (uint64_t)root.reach || root.type != r.type ||
	    r.view_offset % (uint64_t)type->bytes || r.view_offset > INT64_MAX / 2 / LBX_BLOCK_MAX)
		return false;
	*ret = (struct lbx_tensor){ .of = &g->tensors,
				    .address = r.address,
				    .id = id,
				    .dtype = type->encoding.dtype,
				    .op = g->anchor.ops[r.op],
				    .layout_known = true,
				    .offset = (int64_t)r.view_offset / type->bytes * type->elements,
				    .size = r.size,
				    .n_inputs = count_inputs(&r) };
	if (type->elements > 1 || !type->is_known)
		ret->encoding = &type->encoding;
	ret->op_class = class_of(g, &r, ret->n_inputs);
	strncpy(ret->name, r.name, LB_NAME_MAX);
	set_state(g, &r, &root, id, ret);
	if (root.data) {
		uint64_t root_id = id_at(g, root.address);
		ret->data = root.data;
		ret->buffer_id = root_id;
		ret->buffer_bytes = ret->buffer_capacity = root.reach;
		ret->buffer_refs = g->users[root_id - 1];
	}
	return set_axes(g, &r, ret) && (!root.data || lbx_tensor_in_bounds(ret));
}

static bool decode(struct ggml *g, uint64_t id, struct lbx_tensor *ret)
{
	struct lbx_ggml_record r;

	return read_record(g, g->contexts.tensors[id - 1], &r) && decode_record(g, id, &r, ret);
}

/* ---- what a provider does ---- */

static bool by_id(struct lbx_tensors *tensors, uint64_t id, struct lbx_tensor *ret)
{
	struct ggml *g = ggml_of(tensors);

	if (id == 0 || id > g->contexts.n_tensors)
		return lb_fail("ggml has no tensor #%llu", (unsigned long long)id);
	return decode(g, id, ret) || lb_fail("tensor #%llu of ggml, at 0x%llx, is damaged", (unsigned long long)id,
					     (unsigned long long)g->contexts.tensors[id - 1]);
}

static enum lbx_next next(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_tensor *ret, uint64_t *bad)
{
	struct ggml *g = ggml_of(tensors);
	struct lbx_ggml_record r;

	if (*slot == 0) {
		lbx_window_init(&g->window, target_of(g));
		g->walked = 0;
		g->first_bad = g->contexts.first_broken;
		g->last_bad = g->contexts.last_broken;
		*bad += g->contexts.n_broken;
	}
	while (*slot < g->contexts.n_tensors) {
		bool clean = lb_ok();
		size_t i = (size_t)(*slot)++;
		bool read = g->walked == i ? read_next(g, i, &r) : read_record(g, g->contexts.tensors[i], &r);
		g->walked += g->walked == i;
		if (read && decode_record(g, *slot, &r, ret))
			return LBX_NEXT_TENSOR;
		if (clean)
			lb_clear_error();
		uint64_t at = g->contexts.tensors[*slot - 1];
		g->first_bad = g->first_bad && g->first_bad < at ? g->first_bad : at;
		g->last_bad = g->last_bad > at ? g->last_bad : at;
		++*bad;
	}
	return LBX_NEXT_END;
}

static bool damage(struct lbx_tensors *tensors, uint64_t *ret_first, uint64_t *ret_last)
{
	*ret_first = ggml_of(tensors)->first_bad;
	*ret_last = ggml_of(tensors)->last_bad;
	return *ret_first != 0;
}

static bool by_address(struct lbx_tensors *tensors, uint64_t address, struct lbx_tensor *ret)
{
	uint64_t id = id_at(ggml_of(tensors), address);

	return id ? by_id(tensors, id, ret)
		  : lb_fail("0x%llx is not the address of a tensor of ggml", (unsigned long long)address);
}

static bool record_at(struct lbx_tensors *tensors, uint64_t address, struct lbx_tensor *ret)
{
	struct ggml *g = ggml_of(tensors);
	const struct by_address *at = at_or_before(g, address);

	return at && address - at->address < g->layout.size && by_id(tensors, (uint64_t)at->ordinal + 1, ret);
}

static uint64_t input_id(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i)
{
	struct ggml *g = ggml_of(tensors);
	struct lbx_ggml_record r;

	return read_record(g, t->address, &r) ? id_at(g, input_at(&r, i)) : 0;
}

static bool input(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i, struct lbx_tensor *ret)
{
	uint64_t id = input_id(tensors, t, i);

	return id ? by_id(tensors, id, ret)
		  : lb_fail("input %u of #%llu is in none of ggml's contexts", i, (unsigned long long)t->id);
}

/* ---- recipes ---- */

/* Whether what node `id` reads of an input, or looks at as a view, is what was there when it ran. Tensors that no
 * operation computes, such as a cache, are written by nodes all the same: each counts as written by the ones that are in
 * front of it. `again`: what the node itself writes comes out the same when it is done twice. */
static bool is_as_it_was(struct ggml *g, uint64_t id, uint64_t input, bool again)
{
	struct lbx_ggml_record r, root, of;
	struct lbx_tensor writer;
	char text[LBX_ID_TEXT_MAX];

	if (!read_record(g, g->contexts.tensors[input - 1], &r) || !read_root(g, &r, &root) || root.op != 0)
		return true;
	for (size_t i = 0; i < g->stores.n; i++) {
		const struct lbx_ggml_extent *store = &g->stores.list[i];
		if (store->root != root.address || store->end <= r.data || store->start >= r.data + (uint64_t)r.reach)
			continue;
		if (!decode(g, (uint64_t)store->ordinal + 1, &writer) || !read_record(g, writer.address, &of))
			continue;
		uint64_t from = of.sources[0];
		if (from && id_at(g, from) && read_record(g, from, &of) && of.data == 0)
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

static bool recipe(struct lbx_tensors *tensors, const struct lbx_tensor *t, struct lbx_recipe *r, int *ret)
{
	struct ggml *g = ggml_of(tensors);
	struct lbx_ggml_node n = {
		.target = target_of(g), .anchor = &g->anchor, .kinds = &g->kinds, .tensor = t, .viewed = -1, .r = r
	};
	int next = 0;

	if (!read_record(g, t->address, &n.record))
		return lb_fail("tensor #%llu of ggml is damaged", (unsigned long long)t->id);
	bool copies = strcmp(t->op, "CPY") == 0, sets = strncmp(t->op, "SET", 3) == 0,
	     moves = lbx_ggml_is_view(&g->anchor, &n.record);
	if (moves && !is_as_it_was(g, t->id, t->id, false))
		return false;
	for (int i = 0; i < LBX_GGML_SOURCES; i++) {
		uint64_t at = n.record.sources[i];
		bool is_input = at && at != n.record.address;
		n.sources[i] = is_input ? next++ : -1;
		if (is_input && at == n.record.view_source)
			n.viewed = n.sources[i];
		if (is_input && id_at(g, at) && !moves && !(copies && i == 1) &&
		    !is_as_it_was(g, t->id, id_at(g, at), sets))
			return false;
	}
	if (n.viewed < 0 && n.record.view_source)
		n.viewed = next++;
	if ((uint32_t)next != t->n_inputs)
		return lb_fail("tensor #%llu of ggml has changed", (unsigned long long)t->id);
	*ret = lbx_ggml_recipe(&n);
	return *ret != LBX_FAIL;
}

static void facts(struct lbx_tensors *tensors, const struct lbx_tensor *t, lbx_fact_fn *fn, void *context)
{
	struct ggml *g = ggml_of(tensors);
	struct lbx_ggml_record r, root;

	if (!t)
		lbx_ggml_tell_set(&g->anchor, &g->layout, g->is_by_code, &g->contexts, &g->places, fn, context);
	else if (read_record(g, t->address, &r) && read_root(g, &r, &root))
		lbx_ggml_tell_record(&r, buffer_of(g, &root), fn, context);
}

static void close_ggml(struct lbx_tensors *tensors)
{
	struct ggml *g = ggml_of(tensors);

	lbx_ggml_contexts_free(&g->contexts);
	free(g->modules);
	free(g->sorted);
	free(g->writers);
	free(g->users);
	free(g->is_written);
	free(g->is_fused);
	free(g->order);
	free(g->stores.list);
	lbx_ggml_running_free(&g->running);
	lbx_ggml_progress_free(&g->progress);
	free(g);
}

static bool exports(struct ggml *g, const char *name)
{
	uint64_t at;

	return lbx_loaded_symbol(target_of(g), &g->anchor.module, name, &at);
}

/* NULL without memory. Few programs have many. */
static struct lbx_loaded *read_modules(struct lbx_target *target, int *ret_n)
{
	struct lbx_loaded *modules = NULL, *more;
	int max = FEW_MODULES;

	for (*ret_n = 0; (more = realloc(modules, (size_t)max * sizeof *modules)); max *= 4) {
		modules = more;
		*ret_n = lbx_loaded_modules(target, modules, max);
		if (*ret_n < max || max > MAX_MODULES)
			return modules;
	}
	free(modules);
	return NULL;
}

static bool find(struct ggml *g, bool (*progress)(void *context, int64_t done), void *context)
{
	/* before all else: a debugger has to be asked how memory is best read, and there may be nothing to read it for */
	g->modules = read_modules(g->tensors.target, &g->n_modules);
	if (!g->modules)
		return lb_fail("out of memory");
	int n = g->n_modules ? lbx_ggml_find(target_of(g), g->modules, g->n_modules, &g->anchor) : 0;
	if (n == 0)
		return false;
	if (n > 1)
		return lb_fail("the program has more than one ggml: whose tensors are whose is not known");
	/* what follows is of one moment: the program stands still */
	if (!lbx_ggml_running_find(g->tensors.target, g->stacks, g->modules, g->n_modules, &g->anchor, &g->running))
		return false;
	lbx_ggml_encode(&g->anchor);
	if (!lbx_ggml_contexts_find(g->tensors.target, &g->anchor.module, progress, context, &g->contexts))
		return false;
	if (g->contexts.n_tensors == 0)
		return lb_fail(g->contexts.n_broken ? "the program has ggml, but its contexts are damaged"
						    : "the program has ggml, but no tensors of it");
	g->places = (struct lbx_ggml_places){ .modules = g->modules,
					      .n_modules = g->n_modules,
					      .tells_usage = exports(g, "ggml_backend_buffer_set_usage") };
	g->marks_inputs = exports(g, "ggml_set_input");
	return decide_layout(g) && sort(g) && find_reuse(g);
}

bool lbx_ggml_is_there(struct lbx_target *target)
{
	lb_auto_free struct lbx_ggml_anchor *anchor = malloc(sizeof *anchor);
	int n;
	lb_auto_free struct lbx_loaded *modules = read_modules(target, &n);

	return modules && anchor && n && lbx_ggml_find(target, modules, n, anchor);
}

bool lbx_ggml_open(struct lbx_target *target, struct lbx_stacks *stacks, bool (*progress)(void *context, int64_t done),
		   void *context, struct lbx_tensors **ret)
{
	static const struct lbx_tensors_ops ops = {
		.next = next,
		.by_id = by_id,
		.by_address = by_address,
		.record_at = record_at,
		.damage = damage,
		.input = input,
		.input_id = input_id,
		.recipe = recipe,
		.facts = facts,
		.close = close_ggml,
	};
	struct ggml *g = calloc(1, sizeof *g);

	if (!g)
		return lb_fail("out of memory");
	g->kinds.n_unary = g->kinds.n_gated = -1;
	g->tensors = (struct lbx_tensors){ .ops = &ops, .target = target, .provider = "ggml" };
	g->stacks = stacks;
	if (!find(g, progress, context)) {
		close_ggml(&g->tensors);
		return false;
	}
	*ret = &g->tensors;
	return true;
}
