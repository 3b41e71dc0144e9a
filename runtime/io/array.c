#include "io/array.h"

#include "ops/decode.h"
#include "graph/shape.h"
#include "kernels/kernels.h"

bool lb_array_measure(struct lb_array *array, const char *what)
{
	int64_t nbytes;
	if (!lb_encoded_bytes(what, array->encoding, (lb_list){ array->rank, array->shape }, array->dtype, &nbytes))
		return false;
	array->nbytes = (uint64_t)nbytes;
	return true;
}

/* A ready leaf; takes over the reference to the buffer. */
static struct lb_tensor *leaf(struct lb_buffer *buffer, enum lb_dtype dtype, int rank, const int64_t *shape,
			      const void *site)
{
	struct lb_tensor *t = lb_tensor_begin(LB_OP_DATA, dtype, rank, shape, 0, NULL, site);
	if (!t) {
		lb_buffer_drop(buffer);
		return NULL;
	}
	lb_record_begin(&buffer->seq);
	buffer->tensor = buffer->filled_for = t->id;
	lb_record_end(&buffer->seq);
	t->buffer = (uint64_t)(uintptr_t)buffer;
	__atomic_store_n(&t->state, LB_STATE_READY, __ATOMIC_RELEASE);
	return lb_tensor_publish(t);
}

/* Rows of bytes: the last axis counts them. */
static struct lb_tensor *raw_leaf(const struct lb_array *array, struct lb_buffer *buffer, const void *site)
{
	const struct lb_block *block = &lb_blocks[array->encoding];
	int64_t shape[LB_MAX_RANK] = { (int64_t)array->nbytes };
	int rank = array->rank ? array->rank : 1;
	for (int i = 0; i < array->rank; i++)
		shape[i] = array->shape[array->fortran ? array->rank - 1 - i : i];
	int64_t *last = &shape[rank - 1];
	if (array->rank)
		*last =
		    block->elements ? *last / block->elements * block->bytes : *last * lb_dtypes[array->dtype].bytes;
	return leaf(buffer, LB_U8, rank, shape, site);
}

/* Elements that can be used where they are. */
static bool in_place(const struct lb_array *array, const struct lb_buffer *buffer)
{
	int64_t part = array->dtype == LB_C64 ? 4 : lb_dtypes[array->dtype].bytes;
	bool native = array->encoding == LB_LITTLE_ENDIAN || (array->encoding == LB_BIG_ENDIAN && part == 1);
	/* a bool other than 0 and 1 has yet to become one */
	return native && array->dtype != LB_BOOL && buffer->data % (uint64_t)part == 0;
}

static struct lb_tensor *elements(const struct lb_array *array, struct lb_buffer *buffer, const void *site)
{
	int64_t shape[LB_MAX_RANK], nbytes = (int64_t)array->nbytes;
	for (int i = 0; i < array->rank; i++)
		shape[i] = array->shape[array->fortran ? array->rank - 1 - i : i];
	struct lb_tensor *t;
	if (in_place(array, buffer)) {
		t = leaf(buffer, array->dtype, array->rank, shape, site);
	} else {
		t = leaf(buffer, LB_U8, 1, &nbytes, site);
		t = t ? lb_decode_at(t, array->encoding, (lb_list){ array->rank, shape }, array->dtype, site) : NULL;
	}
	if (!t || !array->fortran || array->rank < 2)
		return t;
	struct lb_tensor *view = lb_tensor_begin(LB_OP_TRANSPOSE, array->dtype, array->rank, array->shape, 1, &t, site);
	for (int i = 0; view && i < array->rank; i++)
		view->strides[i] = t->strides[array->rank - 1 - i];
	return lb_tensor_publish(view);
}

struct lb_tensor *lb_array_in_buffer(const struct lb_array *array, struct lb_buffer *buffer, bool raw, const char *name,
				     const void *site)
{
	struct lb_tensor *t = raw ? raw_leaf(array, buffer, site) : elements(array, buffer, site);
	return lb_named(name, t);
}

static void release_mapping(void *data, void *context)
{
	(void)data;
	lb_mapping_drop(context);
}

struct lb_tensor *lb_array_in_file(const struct lb_array *array, struct lb_mapping *mapping, bool raw, const char *name,
				   const void *site)
{
	struct lb_buffer *buffer = lb_buffer_of_file(mapping->data + array->at, (int64_t)array->nbytes, 0,
						     mapping->is_copy, release_mapping, mapping);
	if (!buffer)
		return NULL;
	lb_mapping_retain(mapping);
	return lb_array_in_buffer(array, buffer, raw, name, site);
}
