/* Where a result lies: in memory of its own, in its input's (a view), or in what was its input's (an
 * update, class UPDATE, which begins as a copy of the first input, or in its memory).
 *
 * A value must never change under somebody who could still read it. So memory is taken over from
 * an intermediate of this evaluation only by its last consumer, and from a value of an earlier one
 * only if this operation has the last reference to it and keeps its own result: then nobody can
 * ask for the old value, nor for anything that would be computed from it anew. */
#include "eval/run.h"
#include "graph/shape.h"
#include "ops/operation.h"
#include "publish/flight.h"
#include "publish/marker.h"

static void set_buffer(struct lb_tensor *t, struct lb_buffer *buffer)
{
	lb_record_begin(&t->seq);
	t->buffer = (uint64_t)(uintptr_t)buffer;
	lb_record_end(&t->seq);
}

bool lb_run_allocate(struct lb_run *run, struct lb_tensor *t)
{
	struct lb_buffer *buffer = lb_buffer_new(t->size * lb_dtypes[t->dtype].bytes, t->id, run->plain);
	if (!buffer)
		return false;
	set_buffer(t, buffer);
	if (!run->plain && lb_event_mode(LB_EVENTS_MARKED))
		lb_marker_name_tensor(t);
	return true;
}

void lb_run_share_input(struct lb_tensor *t)
{
	struct lb_buffer *buffer = lb_tensor_buffer(lb_tensor_input(t, 0));
	lb_buffer_retain(buffer);
	set_buffer(t, buffer);
}

/* ---- updates ---- */

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
	       !(buffer->flags & LB_BUFFER_FOREIGN) && buffer->nbytes == x->size * lb_dtypes[x->dtype].bytes &&
	       lb_is_row_major(x->rank, x->shape, x->strides);
}

/* A ready tensor without its buffer is as good as freed, for readers too. Pointers to its elements stay right. */
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

bool lb_run_update(struct lb_run *run, struct lb_tensor *t, lb_compute_fn *compute)
{
	struct lb_tensor *x = lb_tensor_input(t, 0);
	enum lb_state state = lb_tensor_state(x);
	bool moves = fills_own_buffer(x) && is_last_user(run, t, x);
	if (moves)
		move_buffer(x, t, state == LB_STATE_READY ? LB_STATE_FREED : state);
	else if (!lb_run_allocate(run, t) || !lb_compute_copy(&run->exec, t))
		return false;
	bool ok = compute(&run->exec, t);
	if (!ok && moves) /* nothing was written yet */
		move_buffer(t, x, LB_STATE_EVALUATING);
	if (!ok && moves)
		__atomic_store_n(&x->state, (uint8_t)state, __ATOMIC_RELEASE);
	return ok;
}
