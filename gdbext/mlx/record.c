#include "mlx/record.h"

#include <string.h>

#include "base/error.h"
#include "tensors/encoding.h"

enum { RECORD_MAX = 0xb8 + LBX_MLX_END + LBX_MLX_FRONT, COUNT_MAX = 1 << 30, ARRAY = 16, ROW_CONTIGUOUS = 2 };
#define BYTES_MAX \
	(UINT64_C(1) << 44) /* of a buffer: where it has no such number in front, as a device's, an address is above */

static uint64_t word_at(const unsigned char *bytes, uint32_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof word);
	return word;
}

static bool is_pointer(uint64_t word)
{
	return word == 0 || (word >= 0x1000 && word >> 56 == 0 && word % 8 == 0);
}

/* What holds it; 0, where it is no such number: it has been freed. */
static uint32_t count_at(const unsigned char *bytes)
{
	uint32_t counts[2];

	memcpy(counts, bytes, sizeof counts);
	return counts[0] < COUNT_MAX && counts[1] > 0 && counts[1] < COUNT_MAX ? counts[0] : 0;
}

/* float64 came in 0.22, in front of bfloat16: the bytes of an element tell which numbers these are. */
static bool take_dtype(const unsigned char *bytes, enum lb_dtype *ret)
{
	static const enum lb_dtype first[] = { LB_BOOL, LB_U8,  LB_U16, LB_U32, LB_U64, LB_I8,
					       LB_I16,  LB_I32, LB_I64, LB_F16, LB_F32 };
	enum { FIRST = sizeof first / sizeof *first };
	uint32_t number;
	unsigned size = bytes[4];

	memcpy(&number, bytes, sizeof number);
	if (number < FIRST)
		*ret = first[number];
	else if (number == FIRST)
		*ret = size == 2 ? LB_BF16 : LB_F64;
	else if (number == FIRST + 1)
		*ret = size == 2 ? LB_BF16 : LB_C64;
	else if (number == FIRST + 2)
		*ret = LB_C64;
	else
		return false;
	return size == lbx_dtype_bytes(*ret);
}

static bool take_vector(struct lbx_target *target, bool is_small, const unsigned char *bytes, size_t width, int *rank,
			int64_t *ret)
{
	unsigned char numbers[LBX_MLX_AXES * sizeof *ret];
	uint32_t at = is_small ? LBX_MLX_SMALL_BEGIN : LBX_MLX_VECTOR_BEGIN;
	uint64_t begin = word_at(bytes, at), end = word_at(bytes, at + 8);

	if (end < begin || (end - begin) % width || (end - begin) / width > LBX_MLX_AXES || begin % width)
		return false;
	int n = (int)((end - begin) / width);
	if ((*rank >= 0 && n != *rank) || (n && !lbx_target_try_read(target, begin, numbers, (size_t)n * width)))
		return false;
	*rank = n;
	for (int i = 0; i < n; i++) {
		int32_t narrow;
		memcpy(width == sizeof narrow ? (void *)&narrow : (void *)&ret[i], numbers + (size_t)i * width, width);
		if (width == sizeof narrow)
			ret[i] = narrow;
	}
	return true;
}

bool lbx_mlx_vector_read(struct lbx_target *target, bool is_small, uint64_t address, size_t width, int *n, int64_t *ret)
{
	unsigned char bytes[LBX_MLX_VECTOR_BYTES];

	return lbx_target_try_read(target, address, bytes, sizeof bytes) &&
	       take_vector(target, is_small, bytes, width, n, ret);
}

static bool take_arrays(const unsigned char *bytes, struct lbx_mlx_arrays *ret)
{
	uint64_t begin = word_at(bytes, 0), end = word_at(bytes, 8), room = word_at(bytes, 16);

	if (!is_pointer(begin) || end < begin || room < end || (end - begin) % ARRAY ||
	    (end - begin) / ARRAY > LBX_MLX_ARRAYS || (!begin && end))
		return false;
	*ret = (struct lbx_mlx_arrays){ .at = begin, .n = (uint32_t)((end - begin) / ARRAY) };
	return true;
}

bool lbx_mlx_arrays_read(struct lbx_target *target, uint64_t address, struct lbx_mlx_arrays *ret)
{
	unsigned char bytes[LBX_MLX_VECTOR_BYTES];

	return lbx_target_try_read(target, address, bytes, sizeof bytes) && take_arrays(bytes, ret);
}

/* The number of elements is the product of the sizes. */
static bool is_consistent(const struct lbx_mlx_record *r)
{
	int64_t n = 1;

	for (int i = 0; i < r->rank; i++)
		if (r->sizes[i] < 0 || !lb_mul(n, r->sizes[i], &n))
			return false;
	return n == r->size;
}

/* A shared_ptr: both words are there, or neither is. */
static bool take_shared(const unsigned char *bytes, uint64_t *ret, uint64_t *ret_counts)
{
	*ret = word_at(bytes, 0);
	*ret_counts = word_at(bytes, 8);
	return is_pointer(*ret) && is_pointer(*ret_counts) && !*ret == !*ret_counts;
}

/* What lies behind the size. */
static bool take_rest(const unsigned char *bytes, const struct lbx_mlx_layout *layout, struct lbx_mlx_record *ret)
{
	uint64_t counts;
	uint32_t status;

	memcpy(&status, bytes + LBX_MLX_STATUS, sizeof status);
	memcpy(&ret->position, bytes + LBX_MLX_POSITION, sizeof ret->position);
	if (status && !layout->has_scheduled)
		status++;
	ret->status = status;
	ret->is_tracer = bytes[LBX_MLX_IS_TRACER];
	ret->is_row_contiguous = bytes[LBX_MLX_FLAGS] & ROW_CONTIGUOUS;
	ret->event_value = word_at(bytes, LBX_MLX_EVENT + LBX_MLX_EVENT_VALUE);
	ret->begin = word_at(bytes, LBX_MLX_BEGIN);
	ret->data_size = (int64_t)word_at(bytes, LBX_MLX_DATA_SIZE);
	return status < LBX_MLX_STATUSES && bytes[LBX_MLX_IS_TRACER] <= 1 &&
	       take_dtype(bytes + LBX_MLX_DTYPE, &ret->dtype) &&
	       take_shared(bytes + LBX_MLX_PRIMITIVE, &ret->primitive, &counts) &&
	       take_shared(bytes + LBX_MLX_DATA, &ret->data, &ret->data_counts) &&
	       take_shared(bytes + LBX_MLX_EVENT + LBX_MLX_EVENT_COUNTER, &ret->event, &counts) &&
	       take_arrays(bytes + LBX_MLX_INPUTS, &ret->inputs) &&
	       take_arrays(bytes + LBX_MLX_SIBLINGS, &ret->siblings);
}

bool lbx_mlx_record_read(struct lbx_target *target, const struct lbx_cxx_classes *classes,
			 const struct lbx_mlx_layout *layout, uint64_t address, struct lbx_mlx_record *ret)
{
	unsigned char bytes[RECORD_MAX], *record = bytes + LBX_MLX_FRONT;

	*ret = (struct lbx_mlx_record){ .address = address, .rank = -1 };
	if (address < LBX_MLX_FRONT ||
	    !lbx_target_try_read(target, address - LBX_MLX_FRONT, bytes, LBX_MLX_FRONT + layout->size + LBX_MLX_END))
		return false;
	ret->references = count_at(bytes + LBX_MLX_COUNTS);
	ret->size = (int64_t)word_at(record, layout->size);
	return lbx_cxx_class_at(classes, word_at(bytes, 0)) && ret->references > 0 &&
	       take_rest(record + layout->size, layout, ret) &&
	       take_vector(target, layout->is_small, record, sizeof(int32_t), &ret->rank, ret->sizes) &&
	       take_vector(target, layout->is_small, record + layout->strides, sizeof(int64_t), &ret->rank,
			   ret->strides) &&
	       is_consistent(ret);
}

bool lbx_mlx_buffer_read(struct lbx_target *target, uint64_t data, uint64_t counts, struct lbx_mlx_buffer *ret)
{
	unsigned char front[8];
	uint64_t memory, bytes;

	*ret = (struct lbx_mlx_buffer){ .address = data };
	if (!data || !lbx_target_try_read(target, data, &memory, sizeof memory) ||
	    !lbx_target_try_read(target, counts + LBX_MLX_COUNTS, front, sizeof front) ||
	    !(ret->references = count_at(front)))
		return false;
	if (!memory) /* of an array without elements */
		return true;
	if (!is_pointer(memory) || !lbx_target_try_read(target, memory, &bytes, sizeof bytes) || bytes > BYTES_MAX ||
	    memory > UINT64_MAX - LBX_MLX_BUFFER_FRONT - bytes)
		return false;
	ret->data = memory + LBX_MLX_BUFFER_FRONT;
	ret->bytes = bytes;
	return true;
}

bool lbx_mlx_is_available(struct lbx_target *target, const struct lbx_mlx_record *r)
{
	uint64_t count;

	if (r->status != LBX_MLX_EVALUATED)
		return r->status == LBX_MLX_AVAILABLE;
	return !r->event || (lbx_target_try_read(target, r->event, &count, sizeof count) && count >= r->event_value);
}

uint64_t lbx_mlx_array_at(struct lbx_target *target, const struct lbx_mlx_arrays *arrays, uint32_t i)
{
	uint64_t address;

	return i < arrays->n && lbx_target_try_read(target, arrays->at + ARRAY * (uint64_t)i, &address, sizeof address)
		   ? address
		   : 0;
}

bool lbx_mlx_offset(const struct lbx_mlx_layout *layout, const struct lbx_mlx_record *r,
		    const struct lbx_mlx_buffer *buffer, int64_t *ret)
{
	uint64_t bytes = layout->is_offset ? r->begin : r->begin - buffer->data,
		 width = (uint64_t)lbx_dtype_bytes(r->dtype);

	*ret = (int64_t)(bytes / width);
	return bytes <= buffer->bytes && bytes % width == 0;
}
