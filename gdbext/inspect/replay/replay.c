#define _GNU_SOURCE
#include "inspect/replay/replay.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "inspect/graph/graph.h"
#include "inspect/replay/replayer.h"
#include "table/program.h"

enum { MAX_NODES = 1 << 20, READ_PIECE = 16 << 20 };

/* Where each part of the file begins. */
struct layout {
	uint64_t nodes_at, indices_at, leaves_at, total;
};

struct writer {
	struct lbx_context *context;
	const struct lbx_graph *graph;
	uint32_t *positions; /* node in the graph -> node in the file */
	/* of each node in the file: the element of its buffer that the file's copy begins with. A
	 * leaf's copy begins with the first element that the leaf reaches, and its views' too. */
	int64_t *lows;
	struct layout layout;
	char *map;
	uint64_t leaf_bytes;
	bool ranges; /* are asked for */
};

/* The elements that a leaf reaches, [low, high] from its buffer's start; an empty one none. */
static bool leaf_reach(const struct lbx_tensor *t, int64_t *low, int64_t *high)
{
	if (!lbx_tensor_in_bounds(t))
		return lb_fail("tensor #%llu reaches out of its buffer: its record is damaged",
			       (unsigned long long)t->id);
	*low = *high = t->offset;
	for (int i = 0; i < t->rank; i++) {
		int64_t reach = (t->shape[i] - 1) * t->strides[i];
		*(reach < 0 ? low : high) += reach;
	}
	return true;
}

static bool leaf_bytes(const struct lbx_tensor *t, uint64_t *ret, int64_t *low)
{
	int64_t high;
	*ret = 0;
	*low = 0;
	if (t->size == 0)
		return true;
	if (!leaf_reach(t, low, &high))
		return false;
	*ret = (uint64_t)(high - *low + 1) * (uint64_t)lbx_dtype_bytes(t->dtype);
	return true;
}

static uint64_t aligned(uint64_t at)
{
	return (at + LBX_WIRE_ALIGN - 1) & ~(uint64_t)(LBX_WIRE_ALIGN - 1);
}

static bool is_fused(const struct lbx_graph_node *node)
{
	return !node->is_leaf && node->tensor.op_class == LB_CLASS_FUSED;
}

static bool lay_out(struct writer *w)
{
	const struct lbx_graph *g = w->graph;
	struct layout *l = &w->layout;
	uint64_t limit = (uint64_t)w->context->settings->replay_memory;
	l->nodes_at = sizeof(struct lbx_wire_header);
	l->indices_at = l->nodes_at + (uint64_t)g->n * sizeof(struct lbx_wire_node);
	l->leaves_at = aligned(l->indices_at + g->n_inputs * sizeof(uint32_t));
	l->total = l->leaves_at;
	for (uint32_t i = 0; i < g->n; i++) {
		uint64_t nbytes;
		int64_t low;
		const struct lbx_tensor *t = &g->nodes[g->order[i]].tensor;
		if (is_fused(&g->nodes[g->order[i]]))
			l->total = aligned(l->total) + sizeof(struct lbx_wire_program);
		if (!g->nodes[g->order[i]].is_leaf)
			continue;
		if (!leaf_bytes(t, &nbytes, &low))
			return false;
		w->leaf_bytes += nbytes;
		if (nbytes > limit || w->leaf_bytes > limit)
			return lb_fail("the ready tensors that it needs have more than %llu bytes, the limit for a "
				       "replay; raise the setting replay-memory",
				       (unsigned long long)limit);
		l->total = aligned(l->total) + nbytes;
	}
	return true;
}

static bool read_leaf(struct writer *w, const struct lbx_tensor *t, uint64_t at, uint64_t nbytes, int64_t low)
{
	uint64_t from = t->data + (uint64_t)(low * lbx_dtype_bytes(t->dtype));
	for (uint64_t done = 0; done < nbytes;) {
		uint64_t n = nbytes - done < READ_PIECE ? nbytes - done : READ_PIECE;
		if (!lbx_target_read(w->context->target, from + done, w->map + at + done, n))
			return false;
		done += n;
		if (nbytes > READ_PIECE && !lbx_progress(w->context->out, "reading tensors", (int64_t)done,
							 (int64_t)nbytes))
			return false;
	}
	return true;
}

static bool write_program(struct writer *w, const struct lbx_tensor *t, struct lbx_wire_node *to)
{
	struct lbx_tensors *tensors = lbx_table_tensors(w->context->table);
	struct lbx_wire_program *wire = (struct lbx_wire_program *)(w->map + to->data_at);
	struct lbx_program program;
	if (!tensors->ops->program || !tensors->ops->program(tensors, t, &program))
		return lb_ok() ? lb_fail("tensor #%llu has no program", (unsigned long long)t->id) : false;
	wire->n_inputs = (uint8_t)program.n_inputs;
	wire->n_constants = (uint8_t)program.n_constants;
	wire->n_insns = (uint8_t)program.n_insns;
	memcpy(wire->constants, program.constants, sizeof wire->constants);
	for (int i = 0; i < program.n_inputs + program.n_constants + program.n_insns; i++)
		wire->dtypes[i] = (uint8_t)program.dtypes[i];
	for (int i = 0; i < program.n_insns; i++) {
		strncpy(wire->insns[i].op, program.insns[i].op, sizeof wire->insns[i].op - 1);
		memcpy(wire->insns[i].operands, program.insns[i].operands, sizeof wire->insns[i].operands);
	}
	return true;
}

/* Where a node's offset counts from in the file; a leaf's elements are read on the way, and a
 * fused node's program. */
static bool place(struct writer *w, uint32_t i, struct lbx_wire_node *to, uint64_t *leaves_end)
{
	const struct lbx_graph *g = w->graph;
	const struct lbx_graph_node *from = &g->nodes[g->order[i]];
	const struct lbx_tensor *t = &from->tensor;
	w->lows[i] = 0;
	if (from->is_leaf) {
		to->data_at = *leaves_end = aligned(*leaves_end);
		if (!leaf_bytes(t, &to->data_bytes, &w->lows[i]) ||
		    !read_leaf(w, t, to->data_at, to->data_bytes, w->lows[i]))
			return false;
		*leaves_end += to->data_bytes;
	} else if (is_fused(from)) {
		to->data_at = *leaves_end = aligned(*leaves_end);
		to->data_bytes = sizeof(struct lbx_wire_program);
		if (!write_program(w, t, to))
			return false;
		*leaves_end += to->data_bytes;
	} else if (t->op_class == LB_CLASS_VIEW && t->n_inputs >= 1) {
		w->lows[i] = w->lows[w->positions[g->inputs[from->first_input]]];
	}
	if (t->size == 0)
		to->offset = 0;
	else if (__builtin_sub_overflow(t->offset, w->lows[i], &to->offset))
		return lb_fail("tensor #%llu begins at element %lld: its record is damaged",
			       (unsigned long long)t->id, (long long)t->offset);
	return true;
}

static bool write_graph(struct writer *w)
{
	const struct lbx_graph *g = w->graph;
	struct lbx_wire_node *nodes = (struct lbx_wire_node *)(w->map + w->layout.nodes_at);
	uint32_t *indices = (uint32_t *)(w->map + w->layout.indices_at);
	uint64_t n_indices = 0, leaves_end = w->layout.leaves_at;
	for (uint32_t i = 0; i < g->n; i++) {
		const struct lbx_graph_node *from = &g->nodes[g->order[i]];
		const struct lbx_tensor *t = &from->tensor;
		struct lbx_wire_node *to = &nodes[i];
		w->positions[g->order[i]] = i;
		to->id = t->id;
		to->dtype = (uint8_t)t->dtype;
		to->rank = (uint8_t)t->rank;
		memcpy(to->shape, t->shape, sizeof to->shape);
		memcpy(to->strides, t->strides, sizeof to->strides);
		memcpy(to->params, t->params, sizeof to->params);
		strncpy(to->op, from->is_leaf ? "data" : t->op, sizeof to->op - 1);
		if (!place(w, i, to, &leaves_end))
			return false;
		if (from->is_leaf)
			continue;
		to->inputs = n_indices;
		to->n_inputs = t->n_inputs;
		for (uint32_t k = 0; k < t->n_inputs; k++)
			indices[n_indices++] = w->positions[g->inputs[from->first_input + k]];
	}
	struct lbx_wire_header *header = (struct lbx_wire_header *)w->map;
	header->n_nodes = g->n;
	header->n_inputs = n_indices;
	header->nbytes = w->layout.total;
	header->ranges = w->ranges;
	header->max_memory = (uint64_t)w->context->settings->replay_memory;
	header->max_seconds = (uint64_t)w->context->settings->replay_seconds;
	header->version = LBX_WIRE_VERSION;
	header->magic = LBX_WIRE_MAGIC;
	return true;
}

/* Names the operation that failed: its error tells the rest. */
static bool fail_in_replay(const struct writer *w, const struct lbx_wire_header *header)
{
	char text[sizeof header->error];
	memcpy(text, header->error, sizeof text);
	text[sizeof text - 1] = '\0';
	if (strstr(text, "out of memory"))
		lb_fail("it takes more than %lld bytes; raise the setting replay-memory",
			(long long)w->context->settings->replay_memory);
	else
		lb_fail("%s", *text ? text : "it ended without a result");
	if (header->failed_node < w->graph->n) {
		const struct lbx_tensor *t = &w->graph->nodes[w->graph->order[header->failed_node]].tensor;
		lb_fail_within("replay of #%llu%s%s", (unsigned long long)t->id, *t->name ? " " : "", t->name);
	} else {
		lb_fail_within("replay");
	}
	return false;
}

/* Maps the results, of which there must be nbytes. */
static bool map_result(struct writer *w, int fd, uint64_t nbytes, struct lbx_replayed *ret)
{
	struct lbx_wire_header *header = (struct lbx_wire_header *)w->map;
	if (header->status != LBX_WIRE_DONE)
		return fail_in_replay(w, header);
	uint64_t end = header->result_at + nbytes;
	off_t size = lseek(fd, 0, SEEK_END);
	if (header->result_bytes != nbytes || end < nbytes || (nbytes && (uint64_t)size < end))
		return lb_fail("the replay gave %llu bytes, not %llu", (unsigned long long)header->result_bytes,
			       (unsigned long long)nbytes);
	ret->n_nodes = w->graph->n;
	ret->leaf_bytes = w->leaf_bytes;
	if (nbytes == 0)
		return true;
	ret->map_bytes = (size_t)end;
	ret->map = mmap(NULL, ret->map_bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (ret->map != MAP_FAILED)
		return true;
	ret->map = NULL;
	return lb_fail("no room to map the result's %llu bytes", (unsigned long long)nbytes);
}

static const char *result_of(const struct writer *w, const struct lbx_replayed *replayed)
{
	return (const char *)replayed->map + ((struct lbx_wire_header *)w->map)->result_at;
}

static bool take_value(struct writer *w, int fd, const struct lbx_tensor *t, struct lbx_replayed *ret)
{
	uint64_t nbytes = (uint64_t)lbx_tensor_nbytes(t);
	if (!map_result(w, fd, nbytes, ret))
		return false;
	int64_t strides[LB_MAX_RANK], stride = 1;
	for (int i = t->rank; i-- > 0;) {
		strides[i] = stride;
		stride *= t->shape[i] ? t->shape[i] : 1;
	}
	return lbx_array_local(nbytes ? result_of(w, ret) : "", (int64_t)nbytes, t->dtype, t->rank, t->shape,
			       strides, 0, &ret->array);
}

static bool take_ranges(struct writer *w, int fd, struct lbx_ranges *ret)
{
	uint32_t n = w->graph->n, n_steps;
	uint64_t nbytes = n * sizeof *ret->nodes + LB_PROGRAM_INSNS * sizeof(struct lbx_wire_step);
	struct lbx_replayed replayed = { .map = NULL };
	if (!map_result(w, fd, nbytes, &replayed))
		return false;
	const struct lbx_summary *nodes = (const struct lbx_summary *)result_of(w, &replayed);
	const struct lbx_wire_step *steps = (const struct lbx_wire_step *)(nodes + n);
	n_steps = ((struct lbx_wire_header *)w->map)->n_steps;
	ret->n_steps = n_steps > LB_PROGRAM_INSNS ? LB_PROGRAM_INSNS : (int)n_steps;
	ret->nodes = malloc(n * sizeof *ret->nodes);
	ret->steps = malloc((size_t)(ret->n_steps + 1) * sizeof *ret->steps);
	bool ok = (ret->nodes && ret->steps) || lb_fail("out of memory for %u summaries", n);
	for (uint32_t i = 0; ok && i < n; i++)
		ret->nodes[w->graph->order[i]] = nodes[i];
	for (int i = 0; ok && i < ret->n_steps; i++)
		ret->steps[i] = steps[i];
	lbx_replay_release(&replayed);
	return ok;
}

static bool prepare(struct writer *w, int fd)
{
	if (fd < 0)
		return lb_fail("cannot create a shared memory file");
	if (!lay_out(w))
		return false;
	w->positions = malloc((size_t)w->graph->n * sizeof *w->positions);
	w->lows = malloc((size_t)w->graph->n * sizeof *w->lows);
	if (!w->positions || !w->lows || ftruncate(fd, (off_t)w->layout.total) != 0)
		return lb_fail("out of memory for a graph of %u nodes and %llu bytes", w->graph->n,
			       (unsigned long long)w->layout.total);
	w->map = mmap(NULL, w->layout.total, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (w->map == MAP_FAILED) {
		w->map = NULL;
		return lb_fail("no room to map %llu bytes", (unsigned long long)w->layout.total);
	}
	return write_graph(w);
}

/* Elements or ranges: the one that is not NULL. */
static bool run(struct lbx_context *context, const struct lbx_graph *graph, const struct lbx_tensor *t,
		struct lbx_replayed *value, struct lbx_ranges *ranges)
{
	struct writer w = { .context = context, .graph = graph, .ranges = ranges != NULL };
	int fd = memfd_create("lazybones-replay", MFD_CLOEXEC);
	bool ok = prepare(&w, fd) &&
		  lbx_replayer_run(context->out, fd, context->settings->replay_seconds, "replaying",
				   "the replay") &&
		  (ranges ? take_ranges(&w, fd, ranges) : take_value(&w, fd, t, value));
	if (w.map)
		munmap(w.map, w.layout.total);
	if (fd >= 0)
		close(fd);
	free(w.positions);
	free(w.lows);
	return ok;
}

bool lbx_replay(struct lbx_context *context, const struct lbx_tensor *t, struct lbx_replayed *ret)
{
	*ret = (struct lbx_replayed){ 0 };
	struct lbx_graph graph;
	if (!lbx_graph_collect(context, t, MAX_NODES, &graph))
		return false;
	bool ok = run(context, &graph, t, ret, NULL);
	lbx_graph_deinit(&graph);
	if (!ok)
		lbx_replay_release(ret);
	return ok;
}

bool lbx_replay_ranges(struct lbx_context *context, const struct lbx_tensor *t, uint32_t max_nodes,
		       struct lbx_ranges *ret)
{
	*ret = (struct lbx_ranges){ .nodes = NULL };
	if (!lbx_graph_collect(context, t, max_nodes, &ret->graph))
		return false;
	if (run(context, &ret->graph, t, NULL, ret))
		return true;
	lbx_ranges_deinit(ret);
	return false;
}

void lbx_ranges_deinit(struct lbx_ranges *ranges)
{
	lbx_graph_deinit(&ranges->graph);
	free(ranges->nodes);
	free(ranges->steps);
	*ranges = (struct lbx_ranges){ .nodes = NULL };
}

void lbx_replay_release(struct lbx_replayed *replayed)
{
	if (replayed->map)
		munmap(replayed->map, replayed->map_bytes);
	replayed->map = NULL;
}
