#include "eval/run.h"

#include <string.h>

#include "graph/shape.h"
#include "graph/tracer.h"
#include "publish/flight.h"
#include "publish/marker.h"

static void *scratch(struct lb_exec *exec, int64_t nbytes)
{
	return lb_arena_take(((struct lb_run *)exec)->arena, nbytes);
}

void lb_run_init(struct lb_run *run, struct lb_arena *arena, bool plain)
{
	*run = (struct lb_run){
		.exec = { .threads = !plain, .blas = !plain, .scratch = scratch },
		.arena = arena,
		.schedule = { .arena = arena },
		.plain = plain,
		.drop = plain ? lb_buffer_drop_plain : lb_buffer_drop,
	};
}

struct lb_view lb_view_of(const struct lb_tensor *t)
{
	struct lb_view view = { .data = lb_tensor_data(t), .dtype = (enum lb_dtype)t->dtype, .rank = t->rank };
	memcpy(view.shape, t->shape, sizeof view.shape);
	memcpy(view.strides, t->strides, sizeof view.strides);
	return view;
}

static void set_buffer(struct lb_tensor *t, struct lb_buffer *buffer)
{
	lb_record_begin(&t->seq);
	t->buffer = (uint64_t)(uintptr_t)buffer;
	lb_record_end(&t->seq);
}

bool lb_run_allocate(struct lb_run *run, struct lb_tensor *t)
{
	struct lb_buffer *buffer =
		lb_buffer_new(t->size * lb_dtypes[t->dtype].bytes, t->id, run->plain);
	if (!buffer)
		return false;
	set_buffer(t, buffer);
	if (!run->plain && lb_event_mode(LB_EVENTS_MARKED))
		lb_marker_name_tensor(t);
	return true;
}

static bool share_input(struct lb_tensor *t)
{
	struct lb_buffer *buffer = lb_tensor_buffer(lb_tensor_input(t, 0));
	lb_buffer_retain(buffer);
	set_buffer(t, buffer);
	return true;
}

static bool create(struct lb_run *run, struct lb_tensor *t)
{
	enum lb_dtype dtype = (enum lb_dtype)t->dtype;
	void *to = lb_tensor_data(t);
	switch (t->op) {
	case LB_OP_SCALAR:
	case LB_OP_FULL: {
		double value[2] = { 0 };
		if (t->op == LB_OP_SCALAR && t->params[2])
			lb_store_int(value, dtype, t->params[1]);
		else
			lb_store_double(value, dtype, lb_param_double(t, 0));
		return lb_kernel_fill(&run->exec, to, dtype, t->size, value);
	}
	case LB_OP_ARANGE:
		return lb_kernel_arange(&run->exec, to, dtype, t->params[3], t->size,
					lb_param_double(t, 0), lb_param_double(t, 1));
	case LB_OP_EYE:
		return lb_kernel_eye(&run->exec, to, dtype, t->shape[0], t->shape[1], t->params[0]);
	case LB_OP_UNIFORM:
		return lb_kernel_uniform(&run->exec, to, dtype, t->params[3], t->size,
					 (uint64_t)t->params[0], lb_param_double(t, 1), lb_param_double(t, 2));
	case LB_OP_NORMAL:
		return lb_kernel_normal(&run->exec, to, dtype, t->params[3], t->size,
					(uint64_t)t->params[0]);
	}
	return lb_fail("%s: cannot be computed", lb_ops[t->op].name);
}

static bool reduce(struct lb_run *run, struct lb_tensor *t, const struct lb_view *x)
{
	if (t->op == LB_OP_ARGMAX || t->op == LB_OP_ARGMIN)
		return lb_kernel_argreduce(&run->exec, t->op, x, (int)t->params[0], lb_tensor_data(t));
	return lb_kernel_reduce(&run->exec, t->op, x, (uint32_t)t->params[0], t->params[2], lb_tensor_data(t),
				(enum lb_dtype)t->dtype);
}

/* A matrix operand with its batch axes broadcast to the product's, and a vector as the
 * row or column that it stands for. */
static struct lb_view operand(const struct lb_tensor *x, bool is_b, int batch_rank, const int64_t *batch)
{
	struct lb_view from = lb_view_of(x), to = from;
	if (x->rank == 1) {
		from.rank = 2;
		from.shape[is_b] = 1;
		from.strides[is_b] = 0;
		from.shape[!is_b] = x->shape[0];
		from.strides[!is_b] = x->strides[0];
	}
	int own_batch = from.rank - 2;
	lb_broadcast_strides(own_batch, from.shape, from.strides, batch_rank, batch, to.strides);
	memcpy(to.shape, batch, (size_t)batch_rank * sizeof *batch);
	for (int i = 0; i < 2; i++) {
		to.shape[batch_rank + i] = from.shape[own_batch + i];
		to.strides[batch_rank + i] = from.strides[own_batch + i];
	}
	to.rank = batch_rank + 2;
	return to;
}

static bool product(struct lb_run *run, struct lb_tensor *t)
{
	const struct lb_tensor *a = lb_tensor_input(t, 0), *b = lb_tensor_input(t, 1);
	int batch_rank = t->rank - (a->rank > 1) - (b->rank > 1);
	/* m or n of 1 for a vector: axes that the result does not have */
	if (batch_rank + 2 > LB_MAX_RANK)
		return lb_fail("%s: %d batch axes are more than fit", lb_ops[t->op].name, batch_rank);
	struct lb_view va = operand(a, false, batch_rank, t->shape);
	struct lb_view vb = operand(b, true, batch_rank, t->shape), vc;
	bool with_c = t->op == LB_OP_ADDMM;
	if (with_c) {
		const struct lb_tensor *c = lb_tensor_input(t, 2);
		int64_t strides[LB_MAX_RANK];
		vc = lb_view_of(c);
		lb_broadcast_strides(c->rank, c->shape, c->strides, t->rank, t->shape, strides);
		/* c over the product with the vector's axis put back */
		int from = 0;
		for (int i = 0; i < batch_rank + 2; i++) {
			bool missing = (i == batch_rank && a->rank == 1) || (i == batch_rank + 1 && b->rank == 1);
			vc.shape[i] = missing ? 1 : t->shape[from];
			vc.strides[i] = missing ? 0 : strides[from];
			from += !missing;
		}
		vc.rank = batch_rank + 2;
	}
	return lb_kernel_matmul(&run->exec, &va, &vb, with_c ? &vc : NULL, lb_param_double(t, 0),
				lb_param_double(t, 1), lb_tensor_data(t));
}

static bool concatenate(struct lb_run *run, struct lb_tensor *t)
{
	int axis = (int)t->params[0];
	struct lb_view to = lb_view_of(t);
	for (uint32_t i = 0; i < t->n_inputs; i++) {
		struct lb_view from = lb_view_of(lb_tensor_input(t, i));
		to.shape[axis] = from.shape[axis];
		if (!lb_kernel_copy(&run->exec, &to, &from))
			return false;
		to.data = (char *)to.data +
			from.shape[axis] * t->strides[axis] * lb_dtypes[t->dtype].bytes;
	}
	return true;
}

static bool gather(struct lb_run *run, struct lb_tensor *t)
{
	int axis = (int)t->params[0];
	struct lb_view x = lb_view_of(lb_tensor_input(t, 0)), indices = lb_view_of(lb_tensor_input(t, 1));
	if (t->op == LB_OP_TAKE)
		return lb_kernel_take(&run->exec, &x, &indices, axis, lb_tensor_data(t));
	for (int i = 0; i < t->rank; i++) {
		if (i == axis)
			continue;
		x.strides[i] = x.shape[i] == 1 ? 0 : x.strides[i];
		indices.strides[i] = indices.shape[i] == 1 ? 0 : indices.strides[i];
		x.shape[i] = indices.shape[i] = t->shape[i];
	}
	return lb_kernel_take_along(&run->exec, &x, &indices, axis, lb_tensor_data(t));
}

/* Words, scales, and biases or a global scale, from input `first` on. */
static struct lb_quant_view quantized(const struct lb_tensor *t, uint32_t first)
{
	struct lb_quant_view q = {
		.format = { (int)t->params[0], (int)t->params[1], (int)t->params[2] },
		.words = lb_view_of(lb_tensor_input(t, first)),
		.scales = lb_view_of(lb_tensor_input(t, first + 1)),
	};
	if (t->n_inputs > first + 2)
		q.extra = lb_view_of(lb_tensor_input(t, first + 2));
	return q;
}

static bool quantized_product(struct lb_run *run, struct lb_tensor *t)
{
	struct lb_quant_view q = quantized(t, 1);
	const struct lb_tensor *x = lb_tensor_input(t, 0);
	int batch_rank = t->rank - 1 - (x->rank > 1);
	struct lb_view *parts[] = { &q.words, &q.scales, &q.extra };
	int n = q.format.mode == LB_QUANT_AFFINE ? 3 : 2;
	struct lb_view vx = operand(x, false, batch_rank, t->shape);
	for (int i = 0; i < n; i++)
		*parts[i] = operand(lb_tensor_input(t, (uint32_t)i + 1), true, batch_rank, t->shape);
	return lb_kernel_quantized_matmul(&run->exec, &vx, &q, t->params[3] != 0, lb_tensor_data(t));
}

static bool quant(struct lb_run *run, struct lb_tensor *t, const struct lb_view *x)
{
	if (t->op == LB_OP_QUANTIZED_MATMUL)
		return quantized_product(run, t);
	struct lb_quant_view q;
	if (t->op == LB_OP_DEQUANTIZE) {
		q = quantized(t, 0);
		return lb_kernel_dequantize(&run->exec, &q, lb_tensor_data(t), (enum lb_dtype)t->dtype);
	}
	q.format = (struct lb_quant_format){ (int)t->params[0], (int)t->params[1], (int)t->params[2] };
	const float *global = t->n_inputs > 1 ? lb_tensor_data(lb_tensor_input(t, 1)) : NULL;
	return lb_kernel_quantize(&run->exec, &q.format, (int)t->params[3], x, global, lb_tensor_data(t));
}

bool lb_run_single(struct lb_run *run, struct lb_tensor *t)
{
	if (lb_op_class(t->op) == LB_CLASS_VIEW)
		return share_input(t);
	if (t->op == LB_OP_TRACER)
		return lb_tracer_refuse(t, run->plain);
	if (lb_op_class(t->op) == LB_CLASS_UPDATE)
		return lb_run_update(run, t);
	if (!lb_run_allocate(run, t))
		return false;
	struct lb_view x;
	if (t->n_inputs)
		x = lb_view_of(lb_tensor_input(t, 0));
	switch (lb_op_class(t->op)) {
	case LB_CLASS_CREATE:
		return create(run, t);
	case LB_CLASS_COPY: {
		if (t->op == LB_OP_DECODE)
			return lb_kernel_decode(&run->exec, (enum lb_encoding)t->params[0], x.data, t->size,
						lb_tensor_data(t), (enum lb_dtype)t->dtype);
		struct lb_view to = lb_view_of(t);
		return lb_kernel_copy(&run->exec, &to, &x);
	}
	case LB_CLASS_REDUCE:
		return reduce(run, t, &x);
	case LB_CLASS_SOFTMAX:
		return lb_kernel_softmax(&run->exec, &x, (uint32_t)t->params[0], lb_tensor_data(t));
	case LB_CLASS_MATMUL:
		return product(run, t);
	case LB_CLASS_CONCATENATE:
		return concatenate(run, t);
	case LB_CLASS_GATHER:
		return gather(run, t);
	case LB_CLASS_KERNEL:
		return lb_run_kernel(run, t);
	case LB_CLASS_QUANT:
		return quant(run, t, &x);
	default:
		return lb_fail("%s: cannot be computed", lb_ops[t->op].name);
	}
}
