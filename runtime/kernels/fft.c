/* Fourier transforms, by FFTW: along one axis after another, each line of it copied into scratch memory and back. So a plan
 * is of a length alone, and strides, neighbours and threads make no difference to the bits. Lines that lie beside each other
 * are copied together, as the memory has them. */
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "kernels/fftw.h"
#include "kernels/layout.h"
#include "kernels/model.h"
#include "kernels/share.h"

enum { LINES = 16, BLOCK = 1 << 20, ALIGN = 64, GRAIN = 1 << 12 };

/* Along one axis. */
struct pass {
	struct lb_fftw_plan *plan;
	struct lb_view from, to; /* with the axis last */
	int64_t from_line, to_line; /* bytes in scratch memory */
	int64_t beside, blocks; /* lines of a block at most; blocks along the last axis of the others */
	float scale;
};

static int64_t line_bytes(int64_t n, enum lb_dtype dtype)
{
	int64_t nbytes = lb_bytes_of(n, 1, lb_width_of(dtype));
	return nbytes < 0 || !lb_sum_of(nbytes, 2 * ALIGN - 1, &nbytes) ? -1 : nbytes & ~(int64_t)(ALIGN - 1);
}

/* `lines` lines of n elements each: in scratch memory one after another, in the tensor `beside` elements from each other. The
 * functions are inlined with a known width. */
static inline void take_lines(char *scratch, int64_t line, const char *data, int64_t n, int64_t stride, int64_t lines,
			      int64_t beside, int64_t width)
{
	for (int64_t i = 0; i < n; i++)
		for (int64_t k = 0; k < lines; k++)
			memcpy(scratch + k * line + i * width, data + (i * stride + k * beside) * width, (size_t)width);
}

static inline void put_lines(char *data, const char *scratch, int64_t line, int64_t n, int64_t stride, int64_t lines,
			     int64_t beside, int64_t width)
{
	for (int64_t i = 0; i < n; i++)
		for (int64_t k = 0; k < lines; k++)
			memcpy(data + (i * stride + k * beside) * width, scratch + k * line + i * width, (size_t)width);
}

static void take(char *scratch, int64_t line, const struct lb_view *x, int64_t at, int64_t lines)
{
	int64_t n = x->shape[x->rank - 1], stride = x->strides[x->rank - 1], width = lb_width_of(x->dtype);
	int64_t beside = x->rank > 1 ? x->strides[x->rank - 2] : 0;
	const char *data = (const char *)x->data + at * width;
	if (lines == 1 || stride == 1)
		for (int64_t k = 0; k < lines; k++)
			lb_gather_row(scratch + k * line, data + k * beside * width, n, stride, width);
	else if (width == sizeof(float))
		take_lines(scratch, line, data, n, stride, lines, beside, sizeof(float));
	else
		take_lines(scratch, line, data, n, stride, lines, beside, 2 * sizeof(float));
}

static void put(const struct lb_view *x, int64_t at, const char *scratch, int64_t line, int64_t lines)
{
	int64_t n = x->shape[x->rank - 1], stride = x->strides[x->rank - 1], width = lb_width_of(x->dtype);
	int64_t beside = x->rank > 1 ? x->strides[x->rank - 2] : 0;
	char *data = (char *)x->data + at * width;
	if (lines == 1 || stride == 1)
		for (int64_t k = 0; k < lines; k++)
			lb_scatter_row(data + k * beside * width, scratch + k * line, n, stride, width);
	else if (width == sizeof(float))
		put_lines(data, scratch, line, n, stride, lines, beside, sizeof(float));
	else
		put_lines(data, scratch, line, n, stride, lines, beside, 2 * sizeof(float));
}

static void multiply(float *x, int64_t n, float scale)
{
	for (int64_t i = 0; i < n; i++)
		x[i] *= scale;
}

static void run_block(void *arg, void *scratch, int64_t block)
{
	const struct pass *p = arg;
	int outer = p->from.rank - 1;
	int64_t index[LB_MAX_RANK] = { 0 }, n = p->to.shape[outer], lines = 1;
	char *from = scratch, *to = from + p->beside * p->from_line;

	if (outer > 0) {
		int64_t first = block % p->blocks * p->beside, all = p->from.shape[outer - 1];
		lb_index_of(outer - 1, p->from.shape, block / p->blocks, index);
		index[outer - 1] = first;
		lines = all - first < p->beside ? all - first : p->beside;
	}
	take(from, p->from_line, &p->from, lb_offset_of(outer, index, p->from.strides), lines);
	for (int64_t k = 0; k < lines; k++) {
		lb_fftw_run(p->plan, from + k * p->from_line, to + k * p->to_line);
		if (p->scale != 1)
			multiply((float *)(to + k * p->to_line), p->to.dtype == LB_C64 ? 2 * n : n, p->scale);
	}
	put(&p->to, lb_offset_of(outer, index, p->to.strides), to, p->to_line, lines);
}

static struct lb_view turned(const struct lb_view *x, int axis)
{
	struct lb_view ret = *x;
	lb_put_last(x->rank, axis, ret.shape);
	lb_put_last(x->rank, axis, ret.strides);
	return ret;
}

static bool run_pass(struct lb_exec *exec, int op, const struct lb_view *from, const struct lb_view *to, int axis,
		     double scale)
{
	struct pass p = {
		.from = turned(from, axis), .to = turned(to, axis), .beside = 1, .blocks = 1, .scale = (float)scale
	};
	int outer = from->rank - 1;
	int64_t n = op == LB_OP_IRFFT ? to->shape[axis] : from->shape[axis],
		longest = from->shape[axis] + to->shape[axis], size;

	p.from_line = line_bytes(p.from.shape[outer], from->dtype);
	p.to_line = line_bytes(p.to.shape[outer], to->dtype);
	if (p.from_line < 0 || p.to_line < 0 || !lb_sum_of(p.from_line, p.to_line, &size))
		return lb_fail("%s: a line of %lld elements is too long", lb_ops[op].name, (long long)n);
	if (outer > 0) {
		int64_t most = BLOCK / size, all = p.from.shape[outer - 1];
		p.beside = most < 1 ? 1 : most > LINES ? LINES : most;
		p.beside = p.beside > all ? all : p.beside;
		p.blocks = (all - 1) / p.beside + 1;
	}
	/* memory that is aligned as each core's will be */
	char *example = exec->scratch(exec, size);
	p.plan = example ? lb_fftw_take(op, n, example, example + p.from_line) : NULL;
	if (!p.plan)
		return false;
	int64_t tasks = p.blocks * lb_shape_size(outer > 0 ? outer - 1 : 0, p.from.shape);
	bool ok = lb_share(exec, tasks, GRAIN / longest / p.beside + 1, lb_bytes_of(size, p.beside, 1), run_block, &p);
	lb_fftw_give_back(p.plan);
	return ok;
}

static struct lb_view dense(void *data, enum lb_dtype dtype, const struct lb_view *like)
{
	struct lb_view ret = { .data = data, .dtype = dtype, .rank = like->rank };
	int64_t stride = 1;
	for (int i = like->rank; i-- > 0; stride *= like->shape[i]) {
		ret.shape[i] = like->shape[i];
		ret.strides[i] = stride;
	}
	return ret;
}

/* That of real numbers is along the last axis of all: the first one, or the last one backwards. */
static bool run_plan(struct lb_exec *exec, int op, const struct lb_view *x, uint32_t mask, int last, double scale,
		     const struct lb_view *to)
{
	struct lb_view from = *x, between = *to;
	uint32_t others = mask & ~(1u << last);
	int other = op == LB_OP_RFFT ? LB_OP_FFT : op == LB_OP_IRFFT ? LB_OP_IFFT : op;

	if (op != LB_OP_IRFFT) {
		if (!run_pass(exec, op, &from, to, last, others ? 1 : scale))
			return false;
		from = *to;
	} else if (others) {
		between = dense(exec->scratch(exec, lb_shape_size(x->rank, x->shape) * lb_width_of(LB_C64)), LB_C64, x);
		if (!between.data)
			return false;
	}
	for (int axis = x->rank; axis-- > 0;) {
		if (!(others >> axis & 1))
			continue;
		bool is_end = op != LB_OP_IRFFT && !(others & ((1u << axis) - 1));
		if (!run_pass(exec, other, &from, &between, axis, is_end ? scale : 1))
			return false;
		from = between;
	}
	return op != LB_OP_IRFFT || run_pass(exec, op, &from, to, last, scale);
}

static bool fits(int op, const struct lb_view *x, uint32_t mask, int last, const struct lb_view *to)
{
	if (last < 0 || last >= x->rank || mask >> x->rank || !(mask >> last & 1) || x->rank != to->rank ||
	    x->dtype != (op == LB_OP_RFFT ? LB_F32 : LB_C64) || to->dtype != (op == LB_OP_IRFFT ? LB_F32 : LB_C64))
		return false;
	for (int i = 0; i < x->rank; i++) {
		int64_t n = op == LB_OP_RFFT && i == last ? x->shape[i] / 2 + 1 : x->shape[i];
		if (n != (op == LB_OP_IRFFT && i == last ? to->shape[i] / 2 + 1 : to->shape[i]))
			return false;
	}
	return true;
}

bool lb_kernel_fft(struct lb_exec *exec, int op, const struct lb_view *x, uint32_t mask, int last, double scale,
		   const struct lb_view *to)
{
	if (!fits(op, x, mask, last, to))
		return lb_fail("%s: shapes and axes do not go together", lb_ops[op].name);
	if (lb_shape_size(to->rank, to->shape) == 0)
		return true;
	if (!exec->blas)
		return lb_fail("%s: within the program a debugger calls no FFTW; tensor peek computes it beside it",
			       lb_ops[op].name);
	return run_plan(exec, op, x, mask, last, scale, to);
}
