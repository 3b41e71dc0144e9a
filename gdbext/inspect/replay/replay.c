#define _GNU_SOURCE
#include "inspect/replay/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "inspect/graph/graph.h"
#include "inspect/replay/lower.h"
#include "inspect/replay/plan.h"
#include "inspect/replay/replayer.h"
#include "inspect/tensor/describe.h"
#include "tensors/program.h"

enum { MAX_NODES = 1 << 20, MAX_STEPS = 1 << 18, READ_PIECE = 16 << 20 };

/* What is asked for of a tensor. */
struct lbx_part {
	struct lbx_region region; /* of it; not set where there are no elements */
	struct lbx_array array;   /* shape, strides and offset in a copy of the region */
};

struct writer {
	struct lbx_context *context;
	const struct lbx_graph *graph;
	struct lbx_plan *plan;
	uint64_t total; /* bytes of the file, without the result */
	char *map;
	enum lbx_wire_asked asked;
};

static uint64_t aligned(uint64_t at)
{
	return (at + LBX_WIRE_ALIGN - 1) & ~(uint64_t)(LBX_WIRE_ALIGN - 1);
}

/* Where each part of the file begins. */
static uint64_t indices_at(const struct lbx_plan *plan)
{
	return sizeof(struct lbx_wire_header) + (uint64_t)plan->n * sizeof(struct lbx_wire_node);
}

static void lay_out(struct writer *w)
{
	struct lbx_plan *plan = w->plan;

	w->total = aligned(indices_at(plan) + plan->n_inputs * sizeof(uint32_t));
	for (uint32_t i = 0; i < plan->n_data; i++) {
		struct lbx_wire_node *node = &plan->nodes[plan->data[i].node];
		node->data_at = w->total;
		node->data_bytes = plan->data[i].nbytes;
		w->total = aligned(w->total + node->data_bytes);
	}
}

static const struct lbx_tensor *tensor_of(const struct writer *w, uint32_t plan_node)
{
	return &w->graph->nodes[w->plan->from[plan_node]].tensor;
}

static bool copy_constant(const struct lbx_graph_node *leaf, const struct lbx_plan_data *data, char *to)
{
	memcpy(to, (const char *)leaf->constant + data->low * lbx_dtype_bytes(leaf->tensor.dtype), data->nbytes);
	return true;
}

static bool read_span(struct writer *w, const struct lbx_tensor *t, const struct lbx_plan_data *data, char *to)
{
	uint64_t from = t->data + (uint64_t)(data->low * lbx_dtype_bytes(t->dtype));
	for (uint64_t done = 0; done < data->nbytes;) {
		uint64_t n = data->nbytes - done < READ_PIECE ? data->nbytes - done : READ_PIECE;
		if (!lbx_target_read(w->context->target, from + done, to + done, n))
			return false;
		done += n;
		if (data->nbytes > READ_PIECE &&
		    !lbx_progress(w->context->out, "reading tensors", (int64_t)done, (int64_t)data->nbytes))
			return false;
	}
	return true;
}

/* Bytes of blocks that lie interleaved. */
static bool put_in_order(struct writer *w, const struct lbx_tensor *t, const struct lbx_plan_data *data, char *to)
{
	struct lbx_array a;

	if (!lbx_array_of_tensor(w->context->target, t, &a))
		return false;
	a.rank = 1;
	a.shape[0] = a.size = (int64_t)data->nbytes;
	a.strides[0] = 1;
	a.offset = data->low;
	return lbx_array_gather(&a, w->context->out, "reading tensors", to);
}

static bool gather(struct writer *w, const struct lbx_tensor *t, const struct lbx_region *region, char *to)
{
	struct lbx_array a;

	if (!lbx_array_of_tensor(w->context->target, t, &a))
		return false;
	a.size = 1;
	for (int i = 0; i < a.rank; i++) {
		a.offset += region->first[i] * a.strides[i];
		a.strides[i] *= region->step[i];
		a.shape[i] = region->count[i];
		a.size *= a.shape[i];
	}
	return lbx_array_gather(&a, w->context->out, "reading tensors", to);
}

static bool write_program(struct writer *w, const struct lbx_tensor *t, struct lbx_wire_node *to)
{
	struct lbx_wire_program *wire = (struct lbx_wire_program *)(w->map + to->data_at);
	struct lbx_program program;
	if (!lbx_tensor_program(t, &program))
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

static bool write_data(struct writer *w, const struct lbx_plan_data *data)
{
	struct lbx_wire_node *node = &w->plan->nodes[data->node];
	const struct lbx_tensor *t = tensor_of(w, data->node);

	if (data->is_program)
		return write_program(w, t, node);
	if (w->graph->nodes[w->plan->from[data->node]].constant)
		return copy_constant(&w->graph->nodes[w->plan->from[data->node]], data, w->map + node->data_at);
	if (data->gather)
		return gather(w, t, &data->region, w->map + node->data_at);
	return t->encoding ? put_in_order(w, t, data, w->map + node->data_at)
			   : read_span(w, t, data, w->map + node->data_at);
}

static bool write_graph(struct writer *w)
{
	char number[LBX_ID_TEXT_MAX];
	const struct lbx_plan *plan = w->plan;
	struct lbx_wire_header *header = (struct lbx_wire_header *)w->map;

	memcpy(w->map + sizeof *header, plan->nodes, plan->n * sizeof *plan->nodes);
	if (plan->n_inputs)
		memcpy(w->map + indices_at(plan), plan->inputs, plan->n_inputs * sizeof *plan->inputs);
	for (uint32_t i = 0; i < plan->n_data; i++)
		if (!write_data(w, &plan->data[i])) {
			const struct lbx_tensor *t = tensor_of(w, plan->data[i].node);
			lbx_tensor_id_text(t, number);
			if (lb_error_cause() != LB_INTERRUPTED)
				lb_fail_within("it needs %s%s%s", t->name, *t->name ? ", " : "", number);
			return false;
		}
	header->n_nodes = plan->n;
	header->n_inputs = plan->n_inputs;
	header->nbytes = w->total;
	header->asked = w->asked;
	header->max_memory = (uint64_t)w->context->settings->replay_memory;
	header->max_seconds = (uint64_t)w->context->settings->replay_seconds;
	header->version = LBX_WIRE_VERSION;
	header->magic = LBX_WIRE_MAGIC;
	return true;
}

/* Names the operation that failed: its error tells the rest. */
static bool fail_in_replay(const struct writer *w, const struct lbx_wire_header *header)
{
	char text[sizeof header->error], name[256] = "", what[300];
	memcpy(text, header->error, sizeof text);
	text[sizeof text - 1] = '\0';
	bool out_of_memory = strstr(text, "out of memory"), known = header->failed_node < w->plan->n;
	if (known)
		lbx_describe(tensor_of(w, header->failed_node), name, sizeof name);
	snprintf(what, sizeof what, known ? "to compute %s" : "the replay", name);
	if (out_of_memory)
		return lbx_fail_replay_memory(what, 0, (uint64_t)w->context->settings->replay_memory, "ask for a part");
	lb_fail("%s", *text ? text : "it ended without a result");
	if (known) {
		const struct lbx_tensor *t = tensor_of(w, header->failed_node);
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
		return lb_fail("the replay gave %llu byte%s, not %llu", (unsigned long long)header->result_bytes,
			       LB_S(header->result_bytes), (unsigned long long)nbytes);
	ret->n_nodes = w->graph->n;
	ret->leaf_bytes = w->plan->leaf_bytes;
	if (nbytes == 0)
		return true;
	ret->map_bytes = (size_t)end;
	ret->map = mmap(NULL, ret->map_bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (ret->map != MAP_FAILED)
		return true;
	ret->map = NULL;
	return lb_fail("no room to map the result's %llu byte%s", (unsigned long long)nbytes, LB_S(nbytes));
}

static const char *result_of(const struct writer *w, const struct lbx_replayed *replayed)
{
	return (const char *)replayed->map + ((struct lbx_wire_header *)w->map)->result_at;
}

/* The result is the asked-for region, row-major; `part` says how the elements lie in it. */
static bool take_value(struct writer *w, int fd, const struct lbx_part *part, struct lbx_replayed *ret)
{
	const struct lbx_tensor *t = &w->graph->nodes[0].tensor;
	const struct lbx_array *a = &part->array;
	uint64_t nbytes = (uint64_t)(lbx_region_size(&part->region, t->rank) * lbx_dtype_bytes(t->dtype));

	return map_result(w, fd, nbytes, ret) &&
	       lbx_array_local(nbytes ? result_of(w, ret) : "", (int64_t)nbytes, t->dtype, a->rank, a->shape,
			       a->strides, a->offset, &ret->array);
}

static bool take_ranges(struct writer *w, int fd, struct lbx_ranges *ret)
{
	uint32_t n = w->plan->n;
	struct lbx_replayed replayed = { .map = NULL };

	if (!map_result(w, fd, n * sizeof *ret->nodes, &replayed))
		return false;
	const struct lbx_summary *nodes = (const struct lbx_summary *)result_of(w, &replayed);
	ret->nodes = malloc(n * sizeof *ret->nodes);
	bool ok = ret->nodes || lb_fail("out of memory for %u summaries", n);
	for (uint32_t i = 0; ok && i < n; i++)
		ret->nodes[w->graph->order[i]] = nodes[i];
	lbx_replay_release(&replayed);
	return ok;
}

static bool take_steps(struct writer *w, int fd, struct lbx_steps *ret)
{
	struct lbx_replayed replayed = { .map = NULL };

	if (!map_result(w, fd, sizeof ret->steps, &replayed))
		return false;
	uint32_t n = ((struct lbx_wire_header *)w->map)->n_steps;
	ret->n = n > LB_PROGRAM_INSNS ? LB_PROGRAM_INSNS : (int)n;
	memcpy(ret->steps, result_of(w, &replayed), sizeof ret->steps);
	lbx_replay_release(&replayed);
	return true;
}

static bool prepare(struct writer *w, int fd)
{
	if (fd < 0)
		return lb_fail("cannot create a shared memory file");
	lay_out(w);
	if (ftruncate(fd, (off_t)w->total) != 0)
		return lb_fail("out of memory for a graph of %u nodes and %llu bytes", w->plan->n,
			       (unsigned long long)w->total);
	w->map = mmap(NULL, w->total, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (w->map == MAP_FAILED) {
		w->map = NULL;
		return lb_fail("no room to map %llu byte%s", (unsigned long long)w->total, LB_S(w->total));
	}
	return write_graph(w);
}

/* Where the answer goes, and so what is asked for: only one is not NULL. */
struct answer {
	const struct lbx_part *part; /* of `value` */
	struct lbx_replayed *value;
	struct lbx_ranges *ranges;
	struct lbx_steps *steps;
};

static bool take(struct writer *w, int fd, const struct answer *to)
{
	return to->ranges  ? take_ranges(w, fd, to->ranges)
	       : to->steps ? take_steps(w, fd, to->steps)
			   : take_value(w, fd, to->part, to->value);
}

static bool run(struct lbx_context *context, const struct lbx_graph *graph, struct lbx_plan *plan,
		const struct answer *to)
{
	struct writer w = { .context = context,
			    .graph = graph,
			    .plan = plan,
			    .asked = to->ranges  ? LBX_WIRE_RANGES
				     : to->steps ? LBX_WIRE_STEPS
						 : LBX_WIRE_ELEMENTS };
	lb_auto_close int fd = memfd_create("lazybones-replay", MFD_CLOEXEC);
	bool ok = prepare(&w, fd) &&
		  lbx_replayer_run(context->out, fd, context->settings->replay_seconds, "replaying", "the replay") &&
		  take(&w, fd, to);
	if (w.map)
		munmap(w.map, w.total);
	return ok;
}

/* Which elements of t the slice takes, and how they lie in a row-major copy of these alone. */
static bool part_of(const struct lbx_tensor *t, const struct lbx_slice *slice, struct lbx_part *ret)
{
	struct lbx_array *a = &ret->array;
	struct lbx_strided whole, copy, taken = { .rank = 0 }, part;
	struct lbx_region all;

	*a = (struct lbx_array){ .rank = t->rank };
	lbx_strided_dense(t->rank, lbx_shape(t), &whole);
	memcpy(a->shape, whole.shape, sizeof whole.shape);
	memcpy(a->strides, whole.strides, sizeof whole.strides);
	if (slice && !lbx_slice_apply(slice, a))
		return false;
	a->size = 1;
	taken.offset = a->offset;
	for (int i = 0; i < a->rank; i++) {
		a->size = a->shape[i] ? a->size : 0;
		if (a->shape[i] <= 1)
			continue; /* a slice has no more of the others than t has axes */
		taken.shape[taken.rank] = a->shape[i];
		taken.strides[taken.rank++] = a->strides[i];
	}
	if (a->size == 0)
		return true;
	lbx_region_all(taken.rank, taken.shape, &all);
	if (!lbx_region_through(&taken, &all, &whole, &ret->region))
		return lb_fail("tensor #%llu: its shape makes no sense", (unsigned long long)t->id);
	lbx_strided_dense(t->rank, ret->region.count, &copy);
	if (!lbx_strided_through(&taken, &all, &whole, &ret->region, &copy, &part))
		return lb_fail("tensor #%llu: its shape makes no sense", (unsigned long long)t->id);
	a->offset = part.offset;
	for (int i = 0, k = 0; i < a->rank; i++)
		a->strides[i] = a->shape[i] > 1 ? part.strides[k++] : 1;
	return true;
}

bool lbx_can_replay(const struct lbx_tensor *t)
{
	if (t->encoding)
		return lb_fail("tensor #%llu is %s: a replay takes plain dtypes", (unsigned long long)t->id,
			       t->encoding->name);
	return t->rank <= LB_MAX_RANK || lb_fail("tensor #%llu has %d axes: a replay takes at most %d",
						 (unsigned long long)t->id, t->rank, LB_MAX_RANK);
}

/* What a program's tensor is computed from, and that in our operations, which is the same but where it was lowered. */
struct sources {
	struct lbx_graph graph;
	bool is_lowered;
	struct lbx_lowered lowered;
};

static void release(struct sources *s)
{
	lbx_graph_deinit(&s->graph);
	if (s->is_lowered)
		lbx_lowered_deinit(&s->lowered);
}

static const struct lbx_graph *steps_of(const struct sources *s)
{
	return s->is_lowered ? &s->lowered.graph : &s->graph;
}

static bool collect(struct lbx_context *context, const struct lbx_tensor *t, uint32_t max_nodes, struct sources *ret)
{
	*ret = (struct sources){ .is_lowered = false };
	if (!lbx_graph_collect(context, t, max_nodes, &ret->graph))
		return false;
	if (lbx_needs_lowering(t)) {
		ret->is_lowered = lbx_lower(&ret->graph, MAX_STEPS, &ret->lowered);
		if (!ret->is_lowered)
			release(ret);
		return ret->is_lowered;
	}
	for (uint32_t i = 0; i < ret->graph.n; i++)
		if (!lbx_can_replay(&ret->graph.nodes[i].tensor)) {
			release(ret);
			return false;
		}
	return true;
}

bool lbx_replay(struct lbx_context *context, const struct lbx_tensor *t, const struct lbx_slice *slice,
		struct lbx_replayed *ret)
{
	struct sources sources;
	struct lbx_part part;
	struct lbx_plan plan;
	char why[256];

	*ret = (struct lbx_replayed){ 0 };
	if (t->state > LBX_READY && (t->n_inputs == 0 || !lbx_needs_lowering(t))) {
		lbx_describe_state(t, why, sizeof why);
		return lb_fail("tensor #%llu %s", (unsigned long long)t->id, why);
	}
	if (!lbx_can_replay(t) || !part_of(t, slice, &part) || !collect(context, t, MAX_NODES, &sources))
		return false;
	ret->n_nodes = sources.graph.n;
	bool ok;
	if (part.array.size == 0) {
		ok = lbx_array_local("", 0, t->dtype, part.array.rank, part.array.shape, part.array.strides, 0,
				     &ret->array);
	} else {
		const struct lbx_graph *graph = steps_of(&sources);
		ok = lbx_plan_region(graph, &part.region, (uint64_t)context->settings->replay_memory, &plan);
		if (ok) {
			ok = run(context, graph, &plan, &(struct answer){ .part = &part, .value = ret });
			lbx_plan_deinit(&plan);
		}
	}
	ret->n_nodes = sources.graph.n;
	ret->doubt = (enum lbx_doubt)steps_of(&sources)->nodes[0].doubt;
	release(&sources);
	if (!ok)
		lbx_replay_release(ret);
	return ok;
}

bool lbx_replay_recipe_step(struct lbx_context *context, const struct lbx_tensor *t, uint32_t from_end,
			    const struct lbx_region *region, struct lbx_replayed *ret)
{
	struct lbx_part part = { .region = *region };
	struct sources sources;
	struct lbx_strided copy;
	struct lbx_plan plan;

	*ret = (struct lbx_replayed){ 0 };
	if (!lbx_needs_lowering(t) || !collect(context, t, MAX_NODES, &sources))
		return false;
	const struct lbx_graph *graph = &sources.lowered.graph;
	bool ok = lbx_lowered_choose(&sources.lowered, from_end) ||
		  lb_fail("tensor #%llu has no such step", (unsigned long long)t->id);
	if (ok) {
		lbx_strided_dense(graph->nodes[0].tensor.rank, region->count, &copy);
		part.array.rank = copy.rank;
		memcpy(part.array.shape, copy.shape, sizeof copy.shape);
		memcpy(part.array.strides, copy.strides, sizeof copy.strides);
		ok = lbx_plan_region(graph, region, (uint64_t)context->settings->replay_memory, &plan);
	}
	if (ok) {
		ok = run(context, graph, &plan, &(struct answer){ .part = &part, .value = ret });
		lbx_plan_deinit(&plan);
	}
	release(&sources);
	if (!ok)
		lbx_replay_release(ret);
	return ok;
}

/* From the nodes of the lowered graph to those of the program's; what was not needed there holds nothing. */
static bool raise_ranges(const struct sources *s, struct lbx_ranges *ret)
{
	struct lbx_summary *raised = calloc(s->graph.n, sizeof *raised);

	if (!raised)
		return lb_fail("out of memory for %u summaries", s->graph.n);
	for (uint32_t i = 0; i < s->graph.n; i++) {
		lbx_summary_init(&raised[i], s->graph.nodes[i].tensor.dtype);
		if (s->lowered.results[i] < s->lowered.graph.n)
			raised[i] = ret->nodes[s->lowered.results[i]];
	}
	free(ret->nodes);
	ret->nodes = raised;
	return true;
}

bool lbx_replay_ranges(struct lbx_context *context, const struct lbx_tensor *t, uint32_t max_nodes,
		       struct lbx_ranges *ret)
{
	struct sources sources;
	struct lbx_plan plan;

	*ret = (struct lbx_ranges){ .nodes = NULL };
	if (!collect(context, t, max_nodes, &sources))
		return false;
	const struct lbx_graph *graph = steps_of(&sources);
	bool ok = lbx_plan_whole(graph, (uint64_t)context->settings->replay_memory, &plan);
	if (ok) {
		ok = run(context, graph, &plan, &(struct answer){ .ranges = ret }) &&
		     (!sources.is_lowered || raise_ranges(&sources, ret));
		lbx_plan_deinit(&plan);
	}
	if (ok) {
		ret->graph = sources.graph;
		sources.graph = (struct lbx_graph){ 0 };
	}
	release(&sources);
	if (!ok)
		lbx_ranges_deinit(ret);
	return ok;
}

void lbx_ranges_deinit(struct lbx_ranges *ranges)
{
	lbx_graph_deinit(&ranges->graph);
	free(ranges->nodes);
	*ranges = (struct lbx_ranges){ .nodes = NULL };
}

bool lbx_replay_steps(struct lbx_context *context, const struct lbx_tensor *t, const int64_t *at, uint32_t max_nodes,
		      struct lbx_steps *ret)
{
	struct lbx_tensor again = *t;
	struct lbx_region element = { .first = { 0 } };
	struct sources sources;
	struct lbx_plan plan;

	*ret = (struct lbx_steps){ .n = 0 };
	if (lbx_needs_lowering(t))
		return true; /* its one operation may be several of ours */
	if (!lbx_can_replay(t))
		return false;
	again.state = LBX_FREED; /* so that its inputs are part of the graph */
	for (int i = 0; i < t->rank; i++) {
		element.first[i] = at[i];
		element.count[i] = element.step[i] = 1;
	}
	if (!collect(context, &again, max_nodes, &sources))
		return false;
	bool ok = lbx_plan_region(&sources.graph, &element, (uint64_t)context->settings->replay_memory, &plan);
	if (ok) {
		ok = run(context, &sources.graph, &plan, &(struct answer){ .steps = ret });
		lbx_plan_deinit(&plan);
	}
	release(&sources);
	return ok;
}

void lbx_replay_release(struct lbx_replayed *replayed)
{
	if (replayed->map)
		munmap(replayed->map, replayed->map_bytes);
	replayed->map = NULL;
}
