/* Fused elementwise chains.
 *
 * The iteration space is cut into tiles, and each tile goes through all operations
 * before the next begins, so that intermediate values never leave the L1 cache. In a
 * tile every register is n dense elements, and has one of four places:
 *   DIRECT  the input's own memory (dense, or a row of it);
 *   SLOT    a piece of local memory; slots are used again once a register is dead;
 *   OUTPUT  the output's own memory, when no later operation can need what is there;
 *   (an input that is broadcast or strided is gathered into a SLOT first).
 *
 * Invariant: an output that shares its memory with an input (donation) is written in
 * a tile only by operations after which the input is not read, or at the tile's end.
 * Large outputs are written at the tile's end too, past the caches.
 *
 * Tiles depend on the plan alone and no element's value depends on its tile, so any
 * number of threads gives the same bits. Nothing is allocated but, for large transposed
 * inputs, scratch memory. */
#include <stdlib.h>

#include "base/plural.h"
#include "kernels/layout.h"
#include "kernels/prefetch.h"
#include "kernels/tile.h"

enum {
	LOCAL_BYTES = 48 << 10, /* for slots; a thread's stack holds it */
	TILE_MOST = 1024,
	TILE_STREAMED = 512,    /* where outputs go past the caches: loads and stores then overlap more */
	TILE_STEP = 64,         /* tiles are multiples: slots stay aligned */
	ROW_LEAST = 512,        /* shorter rows are gathered across */
	LARGE = 1 << 18,        /* elements */
	COPIED_MOST = 1 << 26,  /* elements of a transposed input */
	STREAM_BYTES = 8 << 20, /* an output as large as this goes past the caches */
	GRAIN_COST = 1 << 18,   /* weighted elements worth a thread */
};

enum place { DIRECT, SLOT, OUTPUT };
enum { NEVER = -1, AT_END = LB_FUSE_INSNS };

struct plan {
	const struct lb_fuse *fuse;
	const struct lb_tiles *tiles;
	int64_t n;
	int rank;
	int64_t shape[LB_MAX_RANK];
	int64_t strides[LB_FUSE_INPUTS][LB_MAX_RANK];
	char *data[LB_FUSE_INPUTS];
	int64_t tile;
	bool rows;   /* tiles do not cross rows */
	bool large;         /* inputs come from memory, not from a cache */
	bool stream;        /* outputs copied at the end go past the caches */
	uint8_t place[LB_FUSE_REGS];
	uint8_t bytes[LB_FUSE_REGS];      /* width of an element */
	int16_t slot[LB_FUSE_REGS];       /* offset in local memory, in bytes per element */
	uint8_t output[LB_FUSE_REGS];     /* index of, for OUTPUT */
	bool copied[LB_FUSE_OUTPUTS];     /* written at the tile's end */
	bool constant[LB_FUSE_INPUTS];    /* one value, gathered once */
	lb_tile_fn *functions[LB_FUSE_INSNS];
};

static int arity_of(int op)
{
	return lb_op_class(op) == LB_CLASS_UNARY ? 1 : lb_op_class(op) == LB_CLASS_BINARY ? 2 : 3;
}

static bool check_fuse(const struct lb_fuse *fuse)
{
	if (fuse->rank < 0 || fuse->rank > LB_MAX_RANK || fuse->n_inputs < 0 || fuse->n_inputs > LB_FUSE_INPUTS ||
	    fuse->n_insns < 0 || fuse->n_insns > LB_FUSE_INSNS || fuse->n_outputs < 0 ||
	    fuse->n_outputs > LB_FUSE_OUTPUTS)
		return lb_fail("fused: %d %s, %d input%s, %d operation%s, %d output%s: too many", fuse->rank,
			       LB_PLURAL(fuse->rank, "axis", "axes"), fuse->n_inputs, LB_S(fuse->n_inputs),
			       fuse->n_insns, LB_S(fuse->n_insns), fuse->n_outputs, LB_S(fuse->n_outputs));
	for (int k = 0; k < fuse->n_insns; k++) {
		const struct lb_fuse_insn *insn = &fuse->insns[k];
		if (insn->op >= LB_OPS || !lb_op_is_elementwise(insn->op))
			return lb_fail("fused: operation %d is not elementwise", insn->op);
		int arity = arity_of(insn->op);
		if (insn->dst >= LB_FUSE_REGS || insn->a >= LB_FUSE_REGS || (arity > 1 && insn->b >= LB_FUSE_REGS) ||
		    (arity > 2 && insn->c >= LB_FUSE_REGS))
			return lb_fail("fused: %s has a register out of range", lb_ops[insn->op].name);
	}
	return true;
}

bool lb_kernel_has(int op, enum lb_dtype to, enum lb_dtype from)
{
	return lb_tiles()->elementwise(op, (int)to, (int)from) != NULL;
}

static bool find_functions(struct plan *plan, int64_t *cost)
{
	const struct lb_fuse *fuse = plan->fuse;
	*cost = fuse->n_insns + 1;
	for (int k = 0; k < fuse->n_insns; k++) {
		const struct lb_fuse_insn *insn = &fuse->insns[k];
		int from = fuse->dtypes[insn->op == LB_OP_WHERE ? insn->b : insn->a];
		int to = fuse->dtypes[insn->dst];
		plan->functions[k] = plan->tiles->elementwise(insn->op, to, from);
		if (!plan->functions[k])
			return lb_fail("%s: not defined from %s to %s", lb_ops[insn->op].name, lb_dtypes[from].name,
				       lb_dtypes[to].name);
		if (insn->op == LB_OP_REMAINDER || insn->op == LB_OP_FLOOR_DIVIDE ||
		    plan->tiles->math(insn->op, LB_F32))
			*cost += 16;
	}
	return true;
}

/* Dense and single-valued inputs, the common case, make any shape a line. */
static void flatten(struct plan *plan)
{
	const struct lb_fuse *fuse = plan->fuse;
	bool flat = true;
	for (int i = 0; i < fuse->n_inputs; i++) {
		const int64_t *strides = fuse->inputs[i].strides;
		int64_t expected = 1;
		bool dense = true, single = true;
		for (int axis = fuse->rank - 1; axis >= 0; axis--) {
			if (fuse->shape[axis] != 1) {
				dense &= strides[axis] == expected;
				single &= strides[axis] == 0;
			}
			expected *= fuse->shape[axis];
		}
		plan->data[i] = fuse->inputs[i].data;
		plan->constant[i] = single;
		plan->strides[i][0] = single ? 0 : 1;
		flat &= dense | single;
	}
	if (flat) {
		plan->rank = 1;
		plan->shape[0] = plan->n;
		return;
	}
	for (int axis = 0; axis < fuse->rank; axis++)
		plan->shape[axis] = fuse->shape[axis];
	for (int i = 0; i < fuse->n_inputs; i++)
		for (int axis = 0; axis < fuse->rank; axis++)
			plan->strides[i][axis] = fuse->inputs[i].strides[axis];
	plan->rank = lb_join_axes(fuse->rank, plan->shape, fuse->n_inputs, plan->strides);
	plan->rows = plan->shape[plan->rank - 1] >= ROW_LEAST;
}

/* Gathering a large transposed input row by row would read each of its lines many times:
 * it is copied, block by block, into scratch memory first. */
static bool is_transposed(const struct plan *plan, int input)
{
	const int64_t *strides = plan->strides[input];
	int last = plan->rank - 1;
	int64_t along = llabs(strides[last]);
	bool transposed = false;
	for (int axis = 0; axis < last; axis++) {
		if (strides[axis] == 0)
			return false;
		transposed |= llabs(strides[axis]) < along;
	}
	return transposed && !plan->constant[input];
}

static bool straighten(struct lb_exec *exec, struct plan *plan)
{
	if (plan->rank < 2 || plan->n < LARGE || plan->n > COPIED_MOST || !exec->threads)
		return true;
	for (int i = 0; i < plan->fuse->n_inputs; i++) {
		if (!is_transposed(plan, i))
			continue;
		struct lb_view from = { .data = plan->data[i],
					.rank = plan->rank,
					.dtype = (enum lb_dtype)plan->fuse->dtypes[i] };
		memcpy(from.shape, plan->shape, sizeof from.shape);
		memcpy(from.strides, plan->strides[i], sizeof from.strides);
		struct lb_view to = from;
		to.data = exec->scratch(exec, plan->n * lb_width_of(from.dtype));
		int64_t stride = 1;
		for (int axis = plan->rank - 1; axis >= 0; axis--) {
			to.strides[axis] = plan->strides[i][axis] = stride;
			stride *= plan->shape[axis];
		}
		if (!to.data || !lb_kernel_copy(exec, &to, &from))
			return false;
		plan->data[i] = to.data;
	}
	return true;
}

/* Where reading an input in place is possible: it then advances with the output. */
static bool reads_in_place(const struct plan *plan, int input)
{
	const int64_t *strides = plan->strides[input];
	if (plan->constant[input])
		return false;
	if (plan->rank <= 1)
		return strides[0] == 1;
	if (plan->rows && strides[plan->rank - 1] == 1)
		return true;
	return lb_is_dense(plan->rank, plan->shape, strides);
}

struct slots {
	int used; /* bytes per element */
	int n_free[9];
	int16_t free[9][LB_FUSE_REGS]; /* by width */
};

static int16_t take_slot(struct slots *slots, int bytes)
{
	if (slots->n_free[bytes] > 0)
		return slots->free[bytes][--slots->n_free[bytes]];
	int16_t slot = (int16_t)slots->used;
	slots->used += bytes;
	return slot;
}

/* May register `reg`, written by operation `k`, go straight to output `j`? */
static bool writes_in_place(const struct plan *plan, const int8_t *last_use, int j, int k)
{
	const struct lb_fuse *fuse = plan->fuse;
	if (plan->stream)
		return false;
	for (int i = 0; i < fuse->n_inputs; i++)
		if (fuse->inputs[i].data == fuse->outputs[j].data && last_use[i] > k)
			return false;
	return true;
}

static bool place_registers(struct plan *plan)
{
	const struct lb_fuse *fuse = plan->fuse;
	int8_t last_use[LB_FUSE_REGS], output_of[LB_FUSE_REGS];
	bool known[LB_FUSE_REGS];
	struct slots slots;
	slots.used = 0;
	memset(slots.n_free, 0, sizeof slots.n_free);
	memset(last_use, NEVER, sizeof last_use);
	memset(output_of, NEVER, sizeof output_of);
	memset(known, false, sizeof known);
	for (int k = 0; k < fuse->n_insns; k++) {
		const struct lb_fuse_insn *insn = &fuse->insns[k];
		int arity = arity_of(insn->op);
		last_use[insn->a] = (int8_t)k;
		if (arity > 1)
			last_use[insn->b] = (int8_t)k;
		if (arity > 2)
			last_use[insn->c] = (int8_t)k;
	}
	for (int j = 0; j < fuse->n_outputs; j++) {
		int reg = fuse->outputs[j].reg;
		if (reg >= LB_FUSE_REGS)
			return lb_fail("fused: output %d has a register out of range", j);
		plan->copied[j] = output_of[reg] != NEVER || reg < fuse->n_inputs;
		if (output_of[reg] == NEVER)
			output_of[reg] = (int8_t)j;
		last_use[reg] = AT_END;
	}
	for (int i = 0; i < fuse->n_inputs; i++) {
		known[i] = true;
		plan->bytes[i] = (uint8_t)lb_width_of(fuse->dtypes[i]);
		bool stored = output_of[i] != NEVER && (fuse->n_outputs > 1 || fuse->n_insns > 0);
		if (reads_in_place(plan, i) && !stored) {
			plan->place[i] = DIRECT;
			continue;
		}
		plan->place[i] = SLOT;
		plan->slot[i] = take_slot(&slots, plan->bytes[i]);
	}
	for (int k = 0; k < fuse->n_insns; k++) {
		const struct lb_fuse_insn *insn = &fuse->insns[k];
		int operands[3] = { insn->a, insn->b, insn->c };
		for (int o = 0; o < arity_of(insn->op); o++) {
			int reg = operands[o];
			if (!known[reg])
				return lb_fail("fused: %s reads a register before it is written",
					       lb_ops[insn->op].name);
			/* a constant's slot serves the next tile too: only results are freed */
			if (last_use[reg] != k || reg < fuse->n_inputs || plan->place[reg] != SLOT)
				continue;
			last_use[reg] = NEVER; /* freed once, though it be several operands */
			int bytes = plan->bytes[reg];
			slots.free[bytes][slots.n_free[bytes]++] = plan->slot[reg];
		}
		int dst = insn->dst, j = output_of[dst];
		if (known[dst])
			return lb_fail("fused: %s writes a register twice", lb_ops[insn->op].name);
		known[dst] = true;
		plan->bytes[dst] = (uint8_t)lb_width_of(fuse->dtypes[dst]);
		if (j != NEVER && writes_in_place(plan, last_use, j, k)) {
			plan->place[dst] = OUTPUT;
			plan->output[dst] = (uint8_t)j;
			continue;
		}
		plan->place[dst] = SLOT;
		plan->slot[dst] = take_slot(&slots, plan->bytes[dst]);
		if (j != NEVER)
			plan->copied[j] = true;
	}
	for (int j = 0; j < fuse->n_outputs; j++)
		if (!known[fuse->outputs[j].reg])
			return lb_fail("fused: output %d is a register that nothing writes", j);
	int64_t most = plan->stream ? TILE_STREAMED : TILE_MOST,
		tile = slots.used > 0 ? LOCAL_BYTES / slots.used : most;
	tile = tile > most ? most : tile / TILE_STEP * TILE_STEP;
	plan->tile = tile;
	return true;
}

/* Even pieces of a row, instead of whole tiles and a short rest. */
static void fit_tile_to_rows(struct plan *plan)
{
	int64_t row = plan->shape[plan->rank - 1];
	int64_t parts = (row + plan->tile - 1) / plan->tile;
	int64_t even = ((row + parts - 1) / parts + TILE_STEP - 1) / TILE_STEP * TILE_STEP;
	if (even < plan->tile)
		plan->tile = even;
}

/* Part `k` of all operations' share of what the next tile reads: memory is then busy
 * while an operation works in the cache. */
static void prefetch(const struct plan *plan, void **at, int64_t n, int k)
{
	const struct lb_fuse *fuse = plan->fuse;
	for (int i = 0; i < fuse->n_inputs; i++) {
		if (plan->place[i] != DIRECT)
			continue;
		int64_t bytes = n * plan->bytes[i], share = bytes / fuse->n_insns;
		const char *next = (const char *)at[i] + bytes + k * share;
		lb_prefetch(next, (size_t)share);
	}
}

static void run_tile(const struct plan *plan, void **at, int64_t begin, int64_t n)
{
	const struct lb_fuse *fuse = plan->fuse;
	for (int k = 0; k < fuse->n_insns; k++) {
		const struct lb_fuse_insn *insn = &fuse->insns[k];
		int arity = arity_of(insn->op);
		if (plan->place[insn->dst] == OUTPUT)
			at[insn->dst] =
			    (char *)fuse->outputs[plan->output[insn->dst]].data + begin * plan->bytes[insn->dst];
		plan->functions[k](n, at[insn->dst], at[insn->a], arity > 1 ? at[insn->b] : NULL,
				   arity > 2 ? at[insn->c] : NULL);
		if (plan->large && begin + 2 * n <= plan->n)
			prefetch(plan, at, n, k);
	}
	for (int j = 0; j < fuse->n_outputs; j++) {
		if (!plan->copied[j])
			continue;
		int reg = fuse->outputs[j].reg;
		int64_t bytes = plan->bytes[reg];
		char *to = (char *)fuse->outputs[j].data + begin * bytes;
		if (plan->stream)
			plan->tiles->stream(to, at[reg], n * bytes);
		else if (to != at[reg])
			memcpy(to, at[reg], (size_t)(n * bytes));
	}
}

static void run_range(void *arg, int64_t begin, int64_t end)
{
	const struct plan *plan = arg;
	const struct lb_fuse *fuse = plan->fuse;
	char local[LOCAL_BYTES] __attribute__((aligned(64)));
	void *at[LB_FUSE_REGS];
	int64_t index[LB_MAX_RANK], most = end - begin < plan->tile ? end - begin : plan->tile;
	int last = plan->rank - 1;
	for (int i = 0; i < fuse->n_inputs; i++) {
		if (plan->place[i] != SLOT)
			continue;
		at[i] = local + plan->slot[i] * plan->tile;
		if (plan->constant[i])
			lb_gather_row(at[i], plan->data[i], most, 0, plan->bytes[i]);
	}
	for (int k = 0; k < fuse->n_insns; k++) {
		int dst = fuse->insns[k].dst;
		if (plan->place[dst] == SLOT)
			at[dst] = local + plan->slot[dst] * plan->tile;
	}
	lb_index_of(plan->rank, plan->shape, begin, index);
	while (begin < end) {
		int64_t n = end - begin < plan->tile ? end - begin : plan->tile;
		if (plan->rows && n > plan->shape[last] - index[last])
			n = plan->shape[last] - index[last];
		for (int i = 0; i < fuse->n_inputs; i++) {
			if (plan->constant[i])
				continue;
			int64_t bytes = plan->bytes[i];
			const int64_t *strides = plan->strides[i];
			char *data = plan->data[i];
			if (plan->place[i] == DIRECT && plan->rows) {
				at[i] = data + lb_offset_of(plan->rank, index, strides) * bytes;
			} else if (plan->place[i] == DIRECT) {
				at[i] = data + begin * bytes;
			} else if (plan->rows || plan->rank == 1) {
				data += lb_offset_of(plan->rank, index, strides) * bytes;
				lb_gather_row(at[i], data, n, strides[last], bytes);
			} else {
				int64_t scan[LB_MAX_RANK];
				memcpy(scan, index, (size_t)plan->rank * sizeof *scan);
				lb_gather(at[i], data, n, plan->rank, plan->shape, strides, scan, bytes);
			}
		}
		run_tile(plan, at, begin, n);
		begin += n;
		if (plan->rows) {
			index[last] += n;
			if (index[last] == plan->shape[last]) {
				index[last] = 0;
				lb_next_row(plan->rank, plan->shape, plan->strides[0], index, 0);
			}
		} else {
			lb_index_of(plan->rank, plan->shape, begin, index);
		}
	}
	if (plan->stream)
		lb_stream_end();
}

/* Outputs that are donated inputs are in the caches already. */
static bool wants_stream(const struct lb_fuse *fuse, int64_t n)
{
	int64_t most = 0;
	for (int j = 0; j < fuse->n_outputs; j++) {
		int64_t bytes = lb_width_of(fuse->dtypes[fuse->outputs[j].reg % LB_FUSE_REGS]);
		most = bytes > most ? bytes : most;
		for (int i = 0; i < fuse->n_inputs; i++)
			if (fuse->inputs[i].data == fuse->outputs[j].data)
				return false;
	}
	return n >= STREAM_BYTES / 8 && n * most >= STREAM_BYTES;
}

static bool is_copy(const struct lb_fuse *fuse)
{
	return fuse->n_insns == 0 && fuse->n_outputs == 1 && fuse->outputs[0].reg < fuse->n_inputs;
}

static bool run_copy(struct lb_exec *exec, const struct lb_fuse *fuse)
{
	struct lb_view from = fuse->inputs[fuse->outputs[0].reg], to;
	from.dtype = (enum lb_dtype)fuse->dtypes[fuse->outputs[0].reg];
	from.rank = to.rank = fuse->rank;
	to.dtype = from.dtype;
	to.data = fuse->outputs[0].data;
	int64_t stride = 1;
	for (int axis = fuse->rank - 1; axis >= 0; axis--) {
		from.shape[axis] = to.shape[axis] = fuse->shape[axis];
		to.strides[axis] = stride;
		stride *= fuse->shape[axis];
	}
	return to.data == from.data && lb_is_dense(from.rank, from.shape, from.strides)
		   ? true
		   : lb_kernel_copy(exec, &to, &from);
}

/* One operation over dense inputs that fit a tile: there is nothing to plan. False: there is, or it is wrong. */
static bool run_at_once(const struct lb_fuse *fuse)
{
	const struct lb_fuse_insn *insn = fuse->insns;
	if (fuse->n_insns != 1 || fuse->n_outputs != 1 || fuse->outputs[0].reg != insn->dst ||
	    insn->dst < fuse->n_inputs)
		return false;
	int arity = arity_of(insn->op);
	int64_t n = lb_shape_size(fuse->rank, fuse->shape);
	if (n == 0 || n > TILE_MOST || insn->a >= fuse->n_inputs || (arity > 1 && insn->b >= fuse->n_inputs) ||
	    (arity > 2 && insn->c >= fuse->n_inputs))
		return false;
	for (int i = 0; i < fuse->n_inputs; i++) {
		if (!lb_is_dense(fuse->rank, fuse->shape, fuse->inputs[i].strides))
			return false;
	}
	lb_tile_fn *function = lb_tiles()->elementwise(insn->op, fuse->dtypes[insn->dst],
						       fuse->dtypes[insn->op == LB_OP_WHERE ? insn->b : insn->a]);
	if (function)
		function(n, fuse->outputs[0].data, fuse->inputs[insn->a].data,
			 arity > 1 ? fuse->inputs[insn->b].data : NULL, arity > 2 ? fuse->inputs[insn->c].data : NULL);
	return function != NULL;
}

bool lb_kernel_fused(struct lb_exec *exec, const struct lb_fuse *fuse)
{
	struct plan plan;
	int64_t cost;
	if (!check_fuse(fuse))
		return false;
	if (is_copy(fuse))
		return run_copy(exec, fuse);
	if (run_at_once(fuse))
		return true;
	plan.fuse = fuse;
	plan.tiles = lb_tiles();
	plan.n = lb_shape_size(fuse->rank, fuse->shape);
	plan.rows = false;
	if (plan.n == 0)
		return true;
	plan.stream = wants_stream(fuse, plan.n);
	plan.large = plan.n >= LARGE && fuse->n_insns > 1;
	flatten(&plan);
	if (!find_functions(&plan, &cost) || !straighten(exec, &plan) || !place_registers(&plan))
		return false;
	if (plan.rows)
		fit_tile_to_rows(&plan);
	int64_t grain = GRAIN_COST / cost;
	lb_parallel(exec, plan.n, grain > plan.tile ? grain : plan.tile, run_range, &plan);
	return true;
}
