#include "op_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REDUCTIONS(X) X(sum) X(mean) X(max) X(min) X(prod) X(all) X(any) X(logsumexp) X(argmax) X(argmin)
#define AXES_OPS(X) X(transpose) X(expand_dims) X(squeeze) X(softmax)
#define SHAPE_OPS(X) X(reshape) X(broadcast_to)
#define JOINS(X) X(concatenate) X(stack)
#define GATHERS(X) X(take) X(take_along_axis)
#define FILLS(X) X(zeros) X(ones)
/* clang-format off */
#define OTHERS(X) X(contiguous) X(matmul) X(var) X(astype) X(slice) X(flatten) X(as_strided) X(split) X(addmm) X(full) \
	X(arange) X(eye) X(chain) X(quantize) X(dequantize) X(quantized_matmul) X(gather_qmm) X(stop_gradient) \
	X(depends)
/* clang-format on */

#define EACH_UNARY(name) \
	static lb_tensor *run_##name(const struct call *c) \
	{ \
		return lb_##name(c->in[0]); \
	}
EACH_UNARY(contiguous)
#include "each_op.h"

#define EACH_BINARY(name) \
	static lb_tensor *run_##name(const struct call *c) \
	{ \
		return lb_##name(c->in[0], c->in[1]); \
	}
EACH_BINARY(matmul)
#include "each_op.h"

#define EACH_TERNARY(name) \
	static lb_tensor *run_##name(const struct call *c) \
	{ \
		return lb_##name(c->in[0], c->in[1], c->in[2]); \
	}
#include "each_op.h"

#define X(name) \
	static lb_tensor *run_##name(const struct call *c) \
	{ \
		int64_t axes[LB_MAX_RANK]; \
		return lb_##name(c->in[0], args_list(c->args, "axes", axes), args_int(c->args, "keepdims", 0)); \
	}
REDUCTIONS(X)
#undef X

#define X(name) \
	static lb_tensor *run_##name(const struct call *c) \
	{ \
		int64_t axes[LB_MAX_RANK]; \
		return lb_##name(c->in[0], args_list(c->args, "axes", axes)); \
	}
AXES_OPS(X)
#undef X

#define X(name) \
	static lb_tensor *run_##name(const struct call *c) \
	{ \
		int64_t shape[LB_MAX_RANK]; \
		return lb_##name(c->in[0], args_list(c->args, "shape", shape)); \
	}
SHAPE_OPS(X)
#undef X

#define X(name) \
	static lb_tensor *run_##name(const struct call *c) \
	{ \
		return lb_##name(c->n, c->in, (int)args_int(c->args, "axis", 0)); \
	}
JOINS(X)
#undef X

#define X(name) \
	static lb_tensor *run_##name(const struct call *c) \
	{ \
		return lb_##name(c->in[0], c->in[1], (int)args_int(c->args, "axis", 0)); \
	}
GATHERS(X)
#undef X

#define X(name) \
	static lb_tensor *run_##name(const struct call *c) \
	{ \
		int64_t shape[LB_MAX_RANK]; \
		return lb_##name(args_list(c->args, "shape", shape), args_dtype(c->args)); \
	}
FILLS(X)
#undef X

static lb_tensor *run_var(const struct call *c)
{
	int64_t axes[LB_MAX_RANK];
	return lb_var(c->in[0], args_list(c->args, "axes", axes), args_int(c->args, "keepdims", 0),
		      (int)args_int(c->args, "ddof", 0));
}

static lb_tensor *run_astype(const struct call *c)
{
	return lb_astype(c->in[0], args_dtype(c->args));
}

static int64_t bound(const char *text)
{
	return *text == 'e' ? LB_END : strtoll(text, NULL, 10);
}

static lb_index parse_index(const char *word)
{
	if (*word == '@')
		return LB_AT(strtoll(word + 1, NULL, 10));
	if (*word == 'r')
		return LB_REST;
	if (*word == 'n')
		return LB_NEW_AXIS;
	const char *stop = strchr(word, ':') + 1, *step = strchr(stop, ':') + 1;
	return LB_RANGE(bound(word), bound(stop), strtoll(step, NULL, 10));
}

int args_index(const struct args *args, lb_index *to)
{
	char words[512], *rest;
	int n = 0;
	snprintf(words, sizeof words, "%s", args_find(args, "index"));
	for (char *word = strtok_r(words, ",", &rest); word && n < CASE_INDICES; word = strtok_r(NULL, ",", &rest))
		to[n++] = parse_index(word);
	return n;
}

static lb_tensor *run_slice(const struct call *c)
{
	lb_index index[CASE_INDICES];
	int n = args_index(c->args, index);
	return lb_slice_n(c->in[0], n, index);
}

static lb_tensor *run_flatten(const struct call *c)
{
	return lb_flatten(c->in[0], (int)args_int(c->args, "start", 0), (int)args_int(c->args, "end", -1));
}

static lb_tensor *run_as_strided(const struct call *c)
{
	int64_t shape[LB_MAX_RANK], strides[LB_MAX_RANK];
	return lb_as_strided(c->in[0], args_list(c->args, "shape", shape), args_list(c->args, "strides", strides),
			     args_int(c->args, "offset", 0));
}

static lb_tensor *run_split(const struct call *c)
{
	lb_tensor *parts[16];
	int n = (int)args_int(c->args, "n", 1);
	if (!lb_split(c->in[0], n, (int)args_int(c->args, "axis", 0), parts))
		return NULL;
	return parts[args_int(c->args, "part", 0)];
}

static lb_tensor *run_addmm(const struct call *c)
{
	return lb_addmm(c->in[0], c->in[1], c->in[2], args_double(c->args, "alpha", 1),
			args_double(c->args, "beta", 1));
}

static lb_tensor *run_stop_gradient(const struct call *c)
{
	return lb_stop_gradient(c->in[0]);
}

static lb_tensor *run_depends(const struct call *c)
{
	return lb_depends(c->in[0], c->n - 1, c->in + 1);
}

static lb_tensor *run_full(const struct call *c)
{
	int64_t shape[LB_MAX_RANK];
	return lb_full(args_list(c->args, "shape", shape), args_double(c->args, "value", 0), args_dtype(c->args));
}

static lb_tensor *run_arange(const struct call *c)
{
	return lb_arange(args_double(c->args, "start", 0), args_double(c->args, "stop", 0),
			 args_double(c->args, "step", 1), args_dtype(c->args));
}

static lb_tensor *run_eye(const struct call *c)
{
	return lb_eye(args_int(c->args, "rows", 0), args_int(c->args, "cols", 0), args_int(c->args, "k", 0),
		      args_dtype(c->args));
}

static lb_quant quant_of(const struct args *args)
{
	static const char *const modes[] = { "affine", "mxfp4", "mxfp8", "nvfp4" };
	lb_quant how = { .mode = LB_QUANT_AFFINE,
			 .bits = (int)args_int(args, "bits", 0),
			 .group = (int)args_int(args, "group", 0) };
	const char *mode = args_find(args, "mode");
	for (int i = 0; i < 4; i++)
		if (strcmp(modes[i], mode) == 0)
			how.mode = (lb_quant_mode)i;
	return how;
}

static lb_quantized quantized_of(lb_tensor *const *in)
{
	return (lb_quantized){ .w = in[0], .scales = in[1], .biases = in[2], .global_scale = in[3] };
}

static lb_tensor *run_quantize(const struct call *c)
{
	lb_quantized q = lb_quantize(c->in[0], quant_of(c->args), c->n > 1 ? c->in[1] : NULL);
	lb_tensor *const parts[] = { q.w, q.scales, q.biases };
	return parts[args_int(c->args, "part", 0)];
}

static lb_tensor *run_dequantize(const struct call *c)
{
	return lb_dequantize(quantized_of(c->in), quant_of(c->args), args_dtype(c->args));
}

static lb_tensor *run_quantized_matmul(const struct call *c)
{
	return lb_quantized_matmul(c->in[0], quantized_of(c->in + 1), quant_of(c->args),
				   args_int(c->args, "transpose", 1));
}

static lb_tensor *run_gather_qmm(const struct call *c)
{
	return lb_gather_qmm(c->in[0], quantized_of(c->in + 3), c->in[1], c->in[2], quant_of(c->args),
			     args_int(c->args, "transpose", 1));
}

/* One step of a chain: OP:REGISTERS:KEY=VALUE;… */
static lb_tensor *run_step(char *step, lb_tensor **registers)
{
	char *rest, *op = strtok_r(step, ":", &rest), *inputs = strtok_r(NULL, ":", &rest);
	int64_t numbers[CASE_INPUTS];
	lb_tensor *in[CASE_INPUTS] = { NULL };
	struct args args;
	op_function run = op_find(op);
	if (!run || !inputs || !args_parse(rest, ';', &args))
		return NULL;
	struct call call = { &args, list_parse(inputs, CASE_INPUTS, numbers), in };
	for (int i = 0; i < call.n; i++)
		in[i] = registers[numbers[i]];
	return run(&call);
}

static lb_tensor *run_chain(const struct call *c)
{
	enum { REGISTERS = 512 };
	lb_tensor *registers[REGISTERS];
	int n = c->n;
	char *steps = strdup(args_find(c->args, "step")), *rest;
	memcpy(registers, c->in, (size_t)n * sizeof *registers);
	for (char *step = steps ? strtok_r(steps, "|", &rest) : NULL; step && n < REGISTERS;
	     step = strtok_r(NULL, "|", &rest))
		registers[n++] = run_step(step, registers);
	free(steps);
	return registers[n - 1];
}

op_function op_find(const char *name)
{
	static const struct op_row rows[] = {
#define X(name) { #name, run_##name },
#define EACH_UNARY X
#define EACH_BINARY X
#define EACH_TERNARY X
#include "each_op.h"
		REDUCTIONS(X) AXES_OPS(X) SHAPE_OPS(X) JOINS(X) GATHERS(X) FILLS(X) OTHERS(X)
#undef X
	};
	op_function own = op_find_among(rows, sizeof rows / sizeof *rows, name);
	op_function update = own ? own : op_find_update(name);
	op_function composed = update ? update : op_find_composed(name);
	return composed ? composed : op_find_model(name);
}
