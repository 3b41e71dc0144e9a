#include "ops.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

lb_tensor *onnx_refuse(struct onnx_call *call, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(call->refused, sizeof call->refused, format, args);
	va_end(args);
	return NULL;
}

static struct onnx_attribute *attribute(struct onnx_call *call, const char *name)
{
	for (int i = 0; i < call->node->n_attributes; i++) {
		struct onnx_attribute *a = &call->node->attributes[i];
		if (strcmp(a->name, name) == 0) {
			a->read = true;
			return a;
		}
	}
	return NULL;
}

bool onnx_has(struct onnx_call *call, const char *name)
{
	return attribute(call, name) != NULL;
}

int64_t onnx_int(struct onnx_call *call, const char *name, int64_t otherwise)
{
	struct onnx_attribute *a = attribute(call, name);
	return a ? a->i : otherwise;
}

double onnx_float(struct onnx_call *call, const char *name, double otherwise)
{
	struct onnx_attribute *a = attribute(call, name);
	return a ? (double)a->f : otherwise;
}

const char *onnx_text(struct onnx_call *call, const char *name, const char *otherwise)
{
	struct onnx_attribute *a = attribute(call, name);
	return a ? a->text : otherwise;
}

lb_list onnx_ints(struct onnx_call *call, const char *name)
{
	struct onnx_attribute *a = attribute(call, name);
	return a ? (lb_list){ (int)a->n_ints, a->ints } : (lb_list){ -1, NULL };
}

const struct onnx_tensor *onnx_constant(struct onnx_call *call, const char *name)
{
	struct onnx_attribute *a = attribute(call, name);
	return a ? a->tensor : NULL;
}

lb_list onnx_values(struct onnx_call *call, int i, int64_t *to)
{
	lb_tensor *x = call->in[i];
	if (!x)
		return (lb_list){ -1, NULL };
	if (lb_size(x) > ONNX_MOST_VALUES) {
		lb_fail("%s: input %d has %jd values", call->node->op, i, (intmax_t)lb_size(x));
		return (lb_list){ -1, NULL };
	}
	lb_copy_out(lb_astype(x, LB_I64), to, (size_t)lb_size(x) * sizeof *to);
	return (lb_list){ (int)lb_size(x), to };
}

lb_list onnx_values_or(struct onnx_call *call, int i, const char *name, int64_t *to)
{
	return call->in[i] ? onnx_values(call, i, to) : onnx_ints(call, name);
}

lb_tensor *onnx_part(lb_tensor *x, int axis, int64_t start, int64_t stop)
{
	lb_index index[LB_MAX_RANK];
	for (int k = 0; k < axis; k++)
		index[k] = LB_ALL;
	index[axis] = LB_RANGE(start, stop);
	return lb_slice_n(x, axis + 1, index);
}

lb_tensor *onnx_channels(lb_tensor *x, int rank)
{
	int64_t shape[LB_MAX_RANK];
	for (int k = 0; k < rank; k++)
		shape[k] = k == 1 ? lb_size(x) : 1;
	return lb_reshape(x, (lb_list){ rank, shape });
}

lb_tensor *onnx_log_softmax(lb_tensor *x, int axis)
{
	return lb_subtract(x, lb_logsumexp(x, LB_AXES(axis), true));
}

static const struct onnx_op *find(const char *name)
{
	static const struct onnx_op *const tables[] = { onnx_math,    onnx_shape,      onnx_reduce,   onnx_model,
							onnx_loss,    onnx_attention,  onnx_signal,   onnx_recurrent,
							onnx_resize,  onnx_values_ops, onnx_training, onnx_integer,
							onnx_sampling };
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		for (const struct onnx_op *op = tables[i]; op->name; op++)
			if (strcmp(op->name, name) == 0)
				return op;
	return NULL;
}

bool onnx_run(struct onnx_call *call)
{
	const struct onnx_op *op = find(call->node->op);
	if (!op || (call->node->domain[0] && strcmp(call->node->domain, "ai.onnx.preview.training") != 0))
		return onnx_refuse(call, "operator %s", call->node->op);
	call->out[0] = op->unary    ? op->unary(call->in[0])
		       : op->binary ? op->binary(call->in[0], call->in[1])
				    : op->run(call);
	if (call->refused[0])
		return false;
	if (!call->out[0])
		return lb_fail("%s failed without an error", op->name);
	for (int i = 0; i < call->node->n_attributes; i++)
		if (!call->node->attributes[i].read)
			return onnx_refuse(call, "attribute %s.%s", op->name, call->node->attributes[i].name);
	for (int i = 0; i < call->node->n_out; i++)
		if (call->node->out[i][0] && !call->out[i])
			return onnx_refuse(call, "output %s.%d", op->name, i);
	return true;
}
