/* Operations of class UPDATE: the result begins as a copy of the first input, or in its memory.
 *
 * A value must never change under somebody who could still read it. So memory is taken over from
 * an intermediate of this evaluation only by its last consumer, and from a value of an earlier one
 * only if this operation has the last reference to it and keeps its own result: then nobody can
 * ask for the old value, nor for anything that would be computed from it anew. */
#include <string.h>

#include "eval/run.h"
#include "graph/shape.h"

static bool is_last_user(const struct lb_run *run, const struct lb_tensor *t, const struct lb_tensor *x)
{
	const struct lb_step *step = lb_schedule_step(&run->schedule, x);
	if (step) /* remaining: 2 if x is the update, too */
		return !step->stays && step->remaining == 1;
	return !run->plain && !run->traced && lb_schedule_step(&run->schedule, t)->stays &&
		__atomic_load_n(&x->refs, __ATOMIC_ACQUIRE) == LB_ONE_REF;
}

static bool fills_own_buffer(const struct lb_tensor *x)
{
	const struct lb_buffer *buffer = lb_tensor_buffer(x);
	return __atomic_load_n(&buffer->refs, __ATOMIC_ACQUIRE) == 1 && !x->offset &&
		!(buffer->flags & LB_BUFFER_FOREIGN) &&
		buffer->nbytes == x->size * lb_dtypes[x->dtype].bytes &&
		lb_is_row_major(x->rank, x->shape, x->strides);
}

/* A ready tensor without its buffer is as good as freed, for readers too. */
static void move_buffer(struct lb_tensor *from, struct lb_tensor *to, enum lb_state from_state)
{
	struct lb_buffer *buffer = lb_tensor_buffer(from);
	lb_record_begin(&from->seq);
	from->buffer = 0;
	__atomic_store_n(&from->state, from_state, __ATOMIC_RELEASE);
	lb_record_end(&from->seq);
	lb_record_begin(&to->seq);
	to->buffer = (uint64_t)(uintptr_t)buffer;
	buffer->tensor = to->id;
	lb_record_end(&to->seq);
}

static bool slice(struct lb_run *run, struct lb_tensor *t, const struct lb_view *update)
{
	struct lb_view to = lb_view_of(t);
	if (lb_tensor_input(t, 1)->size == 0)
		return true;
	for (int i = 0; i < t->rank; i++) {
		to.strides[i] *= t->params[1] / t->strides[i] % t->shape[i] + 1;
		to.shape[i] = update->shape[i];
	}
	to.data = (char *)to.data + t->params[0] * lb_dtypes[t->dtype].bytes;
	if (t->op == LB_OP_SLICE_UPDATE)
		return lb_kernel_copy(&run->exec, &to, update);
	return lb_kernel_accumulate(&run->exec, &to, update);
}

static bool strided_add(struct lb_run *run, struct lb_tensor *t, const struct lb_view *update)
{
	struct lb_view to = *update;
	const int64_t *strides = lb_tensor_data(lb_tensor_input(t, 2));
	memcpy(to.strides, strides, (size_t)to.rank * sizeof *strides);
	to.data = (char *)lb_tensor_data(t) + t->params[0] * lb_dtypes[t->dtype].bytes;
	return lb_kernel_accumulate(&run->exec, &to, update);
}

static bool put_along(struct lb_run *run, struct lb_tensor *t)
{
	int axis = (int)t->params[0];
	struct lb_view to = lb_view_of(t), indices = lb_view_of(lb_tensor_input(t, 1));
	struct lb_view values = lb_view_of(lb_tensor_input(t, 2));
	for (int i = 0; i < t->rank; i++) {
		if (i == axis)
			continue;
		indices.strides[i] = indices.shape[i] == 1 ? 0 : indices.strides[i];
		indices.shape[i] = t->shape[i];
	}
	return lb_kernel_put_along(&run->exec, &to, &indices, axis, &values, t->params[1] == LB_PUT_ADD);
}

static bool update(struct lb_run *run, struct lb_tensor *t)
{
	struct lb_view second = lb_view_of(lb_tensor_input(t, 1));
	switch (t->op) {
	case LB_OP_SLICE_UPDATE:
	case LB_OP_SLICE_ADD:
		return slice(run, t, &second);
	case LB_OP_STRIDED_ADD:
		return strided_add(run, t, &second);
	case LB_OP_SCATTER_ADD: {
		struct lb_view to = lb_view_of(t), updates = lb_view_of(lb_tensor_input(t, 2));
		return lb_kernel_scatter_add(&run->exec, &to, &second, (int)t->params[0], &updates);
	}
	case LB_OP_PUT_ALONG:
		return put_along(run, t);
	default:
		return lb_fail("%s: cannot be computed", lb_ops[t->op].name);
	}
}

bool lb_run_update(struct lb_run *run, struct lb_tensor *t)
{
	struct lb_tensor *x = lb_tensor_input(t, 0);
	enum lb_state state = lb_tensor_state(x);
	bool moves = fills_own_buffer(x) && is_last_user(run, t, x);
	if (moves) {
		move_buffer(x, t, state == LB_STATE_READY ? LB_STATE_FREED : state);
	} else {
		if (!lb_run_allocate(run, t))
			return false;
		struct lb_view to = lb_view_of(t), from = lb_view_of(x);
		if (!lb_kernel_copy(&run->exec, &to, &from))
			return false;
	}
	bool ok = update(run, t);
	if (!ok && moves) /* nothing was written yet */
		move_buffer(t, x, LB_STATE_EVALUATING);
	if (!ok && moves)
		__atomic_store_n(&x->state, (uint8_t)state, __ATOMIC_RELEASE);
	return ok;
}
