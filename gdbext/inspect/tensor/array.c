#include "inspect/tensor/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "kernels/half.h"

enum {
	SCRATCH = 1 << 16,      /* bytes read at once for a strided run */
	SPAN_READ = 1 << 22,    /* bytes read at once of a whole buffer */
	WORTH_A_COPY = 4096,    /* elements from which on a strided view is copied whole */
	WORTH_A_WAY = 1 << 24,  /* bytes from which on a quicker way to read is looked for */
};
static const int64_t max_span = 1LL << 30;

static struct lbx_encoding encoding_of(const struct lbx_array *a)
{
	return a->encoding ? *a->encoding : lbx_encoding_of_dtype(a->dtype);
}

const char *lbx_array_dtype_name(const struct lbx_array *a)
{
	return encoding_of(a).name;
}

/* Whether the indices of an axis have a scale each. */
static bool is_scaled(const struct lbx_array *a, int axis)
{
	return a->encoding && a->encoding->n_scales && a->scaled.axis == axis;
}

static bool finish(struct lbx_array *a)
{
	struct lbx_encoding encoding = encoding_of(a);
	int64_t low = a->offset, high = a->offset, reach, bytes;
	uint64_t room = a->high - a->low;

	a->size = 1;
	for (int i = 0; i < a->rank; i++)
		if (a->shape[i] == 0)
			a->size = 0;
	for (int i = 0; i < a->rank && a->size; i++) {
		if (a->shape[i] < 0 || !lb_mul(a->size, a->shape[i], &a->size) ||
		    !lb_mul(a->shape[i] - 1, a->strides[i], &reach) ||
		    !(reach < 0 ? lb_sum_of(low, reach, &low) : lb_sum_of(high, reach, &high)))
			return false;
	}
	if (a->size == 0)
		return true;
	return low >= 0 && high < INT64_MAX && lbx_encoding_bytes(&encoding, high + 1, &bytes) &&
	       (uint64_t)bytes <= room;
}

static bool take_encoding(const struct lbx_tensor *t, struct lbx_array *ret)
{
	const struct lbx_encoding *e = t->encoding;

	ret->encoding = e;
	ret->scaled.axis = -1;
	if (e && e->decode && (e->elements < 1 || e->elements > LBX_BLOCK_MAX))
		return lb_fail("tensor #%llu: a block of %s has %lld elements, and at most %d can be read",
			       (unsigned long long)t->id, e->name, (long long)e->elements, LBX_BLOCK_MAX);
	if (!e || e->n_scales == 0)
		return true;
	int64_t wanted = e->axis < 0 ? 1 : e->axis < t->rank ? lbx_shape(t)[e->axis] : -1;
	ret->scaled = (struct lbx_scaled){ .axis = e->axis < 0 ? -1 : e->axis, .step = 1 };
	return e->n_scales == wanted ||
	       lb_fail("tensor #%llu is damaged: it has %lld scale%s for axis %d", (unsigned long long)t->id,
		       (long long)e->n_scales, LB_S(e->n_scales), e->axis);
}

bool lbx_array_of_tensor(struct lbx_target *target, const struct lbx_tensor *t, struct lbx_array *ret)
{
	unsigned long long id = t->id;
	char why[256];

	if (t->state != LBX_READY) {
		lbx_describe_state(t, why, sizeof why);
		return lb_fail("tensor #%llu %s", id, why);
	}
	if (t->torn)
		return lb_fail("tensor #%llu is torn: the program stopped while it was being changed", id);
	memset(ret, 0, sizeof *ret);
	ret->target = t->local ? NULL : lbx_target_glance(target); /* elements may be many: they are not kept */
	ret->low = t->data;
	ret->high = t->data + (uint64_t)t->buffer_bytes;
	ret->dtype = t->dtype;
	ret->rank = t->rank;
	if (!take_encoding(t, ret))
		return false;
	memcpy(ret->shape, lbx_shape(t), (size_t)t->rank * sizeof *ret->shape);
	memcpy(ret->strides, lbx_strides(t), (size_t)t->rank * sizeof *ret->strides);
	ret->offset = t->offset;
	if (!finish(ret))
		return lb_fail("tensor #%llu is corrupt: its shape, strides and offset reach out of "
			       "its buffer of %lld byte%s",
			       id, (long long)t->buffer_bytes, LB_S(t->buffer_bytes));
	if (t->local)
		ret->local = t->local;
	else if (ret->size)
		ret->local = lbx_target_map(target, ret->low, (size_t)t->buffer_bytes);
	return true;
}

static bool over(const void *data, int64_t nbytes, enum lb_dtype dtype, const struct lbx_encoding *encoding, int rank,
		 const int64_t *shape, const int64_t *strides, int64_t offset, struct lbx_array *ret)
{
	memset(ret, 0, sizeof *ret);
	if (rank < 0 || rank > LBX_ARRAY_RANK || nbytes < 0)
		return lb_fail("an array of %d %s and %lld byte%s", rank, LB_PLURAL(rank, "axis", "axes"),
			       (long long)nbytes, LB_S(nbytes));
	ret->local = data;
	ret->low = (uint64_t)(uintptr_t)data;
	ret->high = ret->low + (uint64_t)nbytes;
	ret->dtype = dtype;
	ret->encoding = encoding;
	ret->scaled.axis = -1;
	ret->rank = rank;
	if (rank > 0) { /* else there may be no lists */
		memcpy(ret->shape, shape, (size_t)rank * sizeof *shape);
		memcpy(ret->strides, strides, (size_t)rank * sizeof *strides);
	}
	ret->offset = offset;
	return finish(ret) || lb_fail("the array reaches out of its %lld byte%s", (long long)nbytes, LB_S(nbytes));
}

bool lbx_array_local(const void *data, int64_t nbytes, enum lb_dtype dtype, int rank, const int64_t *shape,
		     const int64_t *strides, int64_t offset, struct lbx_array *ret)
{
	return over(data, nbytes, dtype, NULL, rank, shape, strides, offset, ret);
}

bool lbx_array_encoded(const void *data, int64_t nbytes, const struct lbx_encoding *encoding, int rank,
		       const int64_t *shape, const int64_t *strides, int64_t offset, struct lbx_array *ret)
{
	return over(data, nbytes, encoding->dtype, encoding, rank, shape, strides, offset, ret);
}

int64_t lbx_array_at(const struct lbx_array *a, const int64_t *coordinates)
{
	int64_t at = a->offset;
	for (int i = 0; i < a->rank; i++)
		at += coordinates[i] * a->strides[i];
	return at;
}

void lbx_coordinates(int rank, const int64_t *shape, int64_t i, int64_t *ret)
{
	for (int axis = rank - 1; axis >= 0; axis--) {
		int64_t n = shape[axis] ? shape[axis] : 1;
		ret[axis] = i % n;
		i /= n;
	}
}

void lbx_array_coordinates(const struct lbx_array *a, int64_t i, int64_t *ret)
{
	lbx_coordinates(a->rank, a->shape, i, ret);
}

bool lbx_array_is_dense(const struct lbx_array *a)
{
	int64_t expected = 1;

	for (int i = a->rank - 1; i >= 0 && a->size; i--) {
		if (a->shape[i] == 1)
			continue;
		if (a->strides[i] != expected)
			return false;
		expected *= a->shape[i];
	}
	return true;
}

bool lbx_array_is_blocks(const struct lbx_array *a)
{
	const struct lbx_encoding *e = a->encoding;

	return e && lbx_encoding_has_codes(e) && (a->local || !e->interleave) && lbx_array_is_dense(a) &&
	       a->offset % e->elements == 0 && a->size % e->elements == 0;
}

const void *lbx_array_blocks(const struct lbx_array *a, int64_t begin, int64_t n, void *own)
{
	const struct lbx_encoding *e = a->encoding;
	int64_t first = a->offset + begin, blocks = n / e->elements;

	if (a->local)
		return lbx_encoding_blocks(e, a->local, 0, first, blocks, own);
	uint64_t from = a->low + (uint64_t)lbx_encoding_at(e, first);
	return lbx_target_read(a->target, from, own, (size_t)(blocks * e->bytes)) ? own : NULL;
}

/* The scale's index at these coordinates. */
static int64_t scale_at(const struct lbx_array *a, const int64_t *coordinates)
{
	if (!a->encoding)
		return 0;
	return a->scaled.first + (a->scaled.axis < 0 ? 0 : coordinates[a->scaled.axis] * a->scaled.step);
}

/* How many of a run's elements lie in so few blocks that these can be read at once. */
static int64_t fit(const struct lbx_encoding *e, const struct lbx_run *run)
{
	int64_t step = run->stride < 0 ? -run->stride : run->stride, first;
	int64_t n = lbx_encoding_window(e, run->first, SCRATCH, &first);
	int64_t ahead = run->stride < 0 ? run->first - first : first + n - 1 - run->first;

	return step == 0 || ahead / step >= run->n ? run->n : ahead / step + 1;
}

/* Whole blocks are read, as many at once as there is room for. */
static bool read_encoded(const struct lbx_array *a, struct lbx_run run, char *to)
{
	const struct lbx_encoding *e = a->encoding;
	int64_t width = lbx_dtype_bytes(a->dtype), at;
	char scratch[SCRATCH];

	if (a->local) {
		lbx_decode(e, a->local, 0, &run, to);
		return true;
	}
	for (int64_t left = run.n; left > 0;) {
		run.n = left;
		run.n = fit(e, &run);
		int64_t last = run.first + (run.n - 1) * run.stride;
		int64_t bytes =
		    lbx_encoding_span(e, run.first < last ? run.first : last, run.first < last ? last : run.first, &at);
		if (!lbx_target_read(a->target, a->low + (uint64_t)at, scratch, (size_t)bytes))
			return false;
		lbx_decode(e, scratch, at, &run, to);
		to += run.n * width;
		left -= run.n;
		run.first = last + run.stride;
		run.at += run.n * run.step;
	}
	return true;
}

/* n elements along the last axis. */
static struct lbx_run run_of(const struct lbx_array *a, const int64_t *coordinates, int64_t n)
{
	int last = a->rank - 1;

	return (struct lbx_run){
		.first = lbx_array_at(a, coordinates),
		.stride = a->rank && n > 1 ? a->strides[last] : 1,
		.n = n,
		.at = scale_at(a, coordinates),
		.step = a->rank && is_scaled(a, last) ? a->scaled.step : 0,
	};
}

/* Elements in dense memory. */
static bool read_run(const struct lbx_array *a, const struct lbx_run *run, char *to)
{
	int64_t width = lbx_dtype_bytes(a->dtype), at = run->first, stride = run->stride, n = run->n;

	if (a->encoding)
		return read_encoded(a, *run, to);
	if (stride == 1) {
		uint64_t from = (uint64_t)(at * width);
		if (!a->local)
			return lbx_target_read(a->target, a->low + from, to, (size_t)(n * width));
		memcpy(to, a->local + from, (size_t)(n * width));
		return true;
	}
	if (a->local) {
		const char *from = a->local + at * width;
#define STRIDED(type) \
	for (int64_t i = 0; i < n; i++) \
		memcpy(to + i * (int64_t)sizeof(type), from + i * stride * (int64_t)sizeof(type), sizeof(type));
		switch (width) {
		case 1: STRIDED(uint8_t) break;
		case 2: STRIDED(uint16_t) break;
		case 4: STRIDED(uint32_t) break;
		default: STRIDED(uint64_t) break;
		}
#undef STRIDED
		return true;
	}
	char scratch[SCRATCH];
	int64_t step = stride < 0 ? -stride : stride, most = SCRATCH / width;
	int64_t fit = step == 0 ? n : step >= most ? 1 : (most - 1) / step + 1;
	for (int64_t done = 0; done < n;) {
		int64_t m = n - done < fit ? n - done : fit;
		int64_t first = at + done * stride, last = first + (m - 1) * stride;
		int64_t low = first < last ? first : last;
		int64_t span = (first < last ? last - first : first - last) + 1;
		if (!lbx_target_read(a->target, a->low + (uint64_t)(low * width), scratch, (size_t)(span * width)))
			return false;
		for (int64_t i = 0; i < m; i++)
			memcpy(to + (done + i) * width, scratch + (first + i * stride - low) * width, (size_t)width);
		done += m;
	}
	return true;
}

bool lbx_array_get(const struct lbx_array *a, const int64_t *coordinates, void *ret)
{
	struct lbx_run run = run_of(a, coordinates, 1);
	return read_run(a, &run, ret);
}

bool lbx_array_run(const struct lbx_array *a, const int64_t *coordinates, int64_t n, void *to)
{
	struct lbx_run run = run_of(a, coordinates, n);
	return n <= 0 || read_run(a, &run, to);
}

bool lbx_array_copy(const struct lbx_array *a, int64_t begin, int64_t n, void *to)
{
	int64_t at[LBX_ARRAY_RANK], width = lbx_dtype_bytes(a->dtype);
	char *out = to;

	if (n <= 0)
		return true;
	bool has_scales = a->encoding && a->encoding->n_scales && a->scaled.axis >= 0;
	if (a->rank == 0 || (lbx_array_is_dense(a) && !has_scales)) {
		struct lbx_run all = { .first = a->offset + begin, .stride = 1, .n = n, .at = a->scaled.first };
		return read_run(a, &all, to);
	}
	lbx_array_coordinates(a, begin, at);
	int last = a->rank - 1;
	while (n > 0) {
		int64_t run = a->shape[last] - at[last];
		if (run > n)
			run = n;
		if (!lbx_array_run(a, at, run, out))
			return false;
		out += run * width;
		n -= run;
		at[last] += run;
		for (int i = last; i > 0 && at[i] == a->shape[i]; i--) {
			at[i] = 0;
			at[i - 1]++;
		}
	}
	return true;
}

void lbx_array_join_axes(struct lbx_array *a)
{
	int n = 0, scaled = -1; /* the axis that has scales, where it is then */

	for (int i = 0; i < a->rank; i++) {
		if (a->shape[i] == 1)
			continue;
		int64_t over;
		bool apart = is_scaled(a, i) || (n > 0 && scaled == n - 1);
		if (n > 0 && !apart && lb_mul(a->shape[i], a->strides[i], &over) && a->strides[n - 1] == over) {
			a->shape[n - 1] *= a->shape[i];
			a->strides[n - 1] = a->strides[i];
			continue;
		}
		if (is_scaled(a, i))
			scaled = n;
		a->shape[n] = a->shape[i];
		a->strides[n++] = a->strides[i];
	}
	a->rank = n;
	if (a->encoding)
		a->scaled.axis = scaled;
}

int64_t lbx_array_drop_repeats(struct lbx_array *a)
{
	int64_t times = 1;

	for (int i = 0; i < a->rank && a->size; i++) {
		if (a->strides[i] != 0 || a->shape[i] <= 1 || is_scaled(a, i))
			continue;
		times *= a->shape[i];
		a->size /= a->shape[i];
		a->shape[i] = 1;
	}
	return times;
}

bool lbx_array_fetch(struct lbx_array *a, struct lbx_out *out, const char *what, char **own)
{
	int64_t low = a->offset, high = a->offset, width = lbx_dtype_bytes(a->dtype);
	struct lbx_encoding e = encoding_of(a);

	a->shared = a->local;
	if (!a->local && a->size >= WORTH_A_WAY / width) {
		struct lbx_target *direct = lbx_target_direct(a->target);
		if (!direct && lbx_target_waits(a->target))
			return false;
		a->shared = direct;
		a->target = direct ? direct : a->target;
	}
	if (a->local || a->size < WORTH_A_COPY || lbx_array_is_dense(a))
		return true;
	for (int i = 0; i < a->rank; i++) {
		int64_t reach = (a->shape[i] - 1) * a->strides[i];
		*(reach < 0 ? &low : &high) += reach;
	}
	int64_t period = lbx_encoding_period(&e), from, start = low / period * period;
	int64_t bytes = lbx_encoding_span(&e, start, high, &from);
	if (bytes > max_span || (high - low) / 16 > a->size)
		return true;
	char *span = malloc((size_t)bytes);
	if (!span)
		return true;
	for (int64_t done = 0; done < bytes;) {
		int64_t n = bytes - done < SPAN_READ ? bytes - done : SPAN_READ;
		if (!lbx_progress(out, what, 0, a->size) ||
		    !lbx_target_read(a->target, a->low + (uint64_t)(from + done), span + done, (size_t)n)) {
			free(span);
			return false;
		}
		done += n;
	}
	a->low += (uint64_t)from;
	a->high = a->low + (uint64_t)bytes;
	a->offset -= start;
	a->local = *own = span;
	a->shared = true;
	return true;
}

const void *lbx_array_in_place(const struct lbx_array *array)
{
	struct lbx_array a = *array;

	lbx_array_join_axes(&a);
	if (!a.local || a.encoding || a.size == 0 || !lbx_array_is_dense(&a))
		return NULL;
	return a.local + a.offset * lbx_dtype_bytes(a.dtype);
}

bool lbx_array_walk(const struct lbx_array *array, struct lbx_out *out, const char *what, int64_t piece,
		    lbx_piece_fn *fn, void *context)
{
	struct lbx_array a = *array;
	int64_t width = lbx_dtype_bytes(a.dtype);
	lb_auto_free char *own = NULL, *buffer = NULL;
	bool done = true;

	if (a.size == 0)
		return true;
	if (piece > a.size)
		piece = a.size;
	lbx_array_join_axes(&a);
	bool dense = lbx_array_is_dense(&a);
	if (!lbx_array_fetch(&a, out, what, &own))
		return false;
	if (!(a.local && dense && !a.encoding) && !(buffer = malloc((size_t)(piece * width))))
		done = lb_fail("out of memory for %lld elements", (long long)piece);
	for (int64_t first = 0, i = 0; done && first < a.size; first += piece, i++) {
		int64_t n = a.size - first < piece ? a.size - first : piece;
		const char *elements = buffer;
		if (i % 16 == 15)
			done = lbx_progress(out, what, first, a.size);
		if (!buffer)
			elements = a.local + (a.offset + first) * width;
		else
			done = done && lbx_array_copy(&a, first, n, buffer);
		done = done && fn(context, elements, n, first);
	}
	return done;
}

struct gathered {
	char *to;
	int64_t width;
};

static bool put_piece(void *context, const void *elements, int64_t n, int64_t first)
{
	const struct gathered *g = context;

	memcpy(g->to + first * g->width, elements, (size_t)(n * g->width));
	return true;
}

bool lbx_array_gather(const struct lbx_array *a, struct lbx_out *out, const char *what, void *to)
{
	enum { PIECE = 1 << 16 };

	return lbx_array_walk(a, out, what, PIECE, put_piece, &(struct gathered){ to, lbx_dtype_bytes(a->dtype) });
}

double lbx_element_double(const void *element, enum lb_dtype dtype)
{
	union {
		uint16_t u16;
		float f32;
		double f64;
		uint64_t u64;
	} v;

	switch (dtype) {
	case LB_F16: memcpy(&v, element, 2); return lb_f16_to_float(v.u16);
	case LB_BF16: memcpy(&v, element, 2); return lb_bf16_to_float(v.u16);
	case LB_F32:
	case LB_C64: memcpy(&v, element, 4); return v.f32;
	case LB_F64: memcpy(&v, element, 8); return v.f64;
	case LB_U64: memcpy(&v, element, 8); return (double)v.u64;
	default: return (double)lbx_element_int(element, dtype);
	}
}

double lbx_element_magnitude(const void *element, enum lb_dtype dtype)
{
	double value = lbx_element_double(element, dtype);

	if (dtype != LB_C64)
		return value;
	return hypot(value, lbx_element_double((const char *)element + 4, LB_F32));
}
