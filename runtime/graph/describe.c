/* What is known of a tensor without evaluating it. */
#include <stddef.h>
#include <string.h>

#include "graph/shape.h"
#include "graph/tensor.h"
#include "memory/names.h"
#include "memory/thread.h"
#include "publish/flight.h"
#include "publish/marker.h"

/* A name as it lies in memory; an earlier one may still be read by another thread, so it goes
 * with the tensor. */
struct named {
	char *before;
	uint8_t length, drawer;
	char text[];
};

static size_t named_bytes(size_t length)
{
	return offsetof(struct named, text) + length + 1;
}
_Static_assert(offsetof(struct named, text) + LB_NAME_MAX + 1 <= LB_NAMES_MOST && LB_NAME_MAX <= UINT8_MAX,
	       "the longest name has room");

void lb_name_free(char *name)
{
	while (name) {
		struct named *named = (struct named *)(void *)(name - offsetof(struct named, text));
		name = named->before;
		lb_names_give(named->drawer, named, named_bytes(named->length));
	}
}

int lb_rank(const lb_tensor *x)
{
	return LB_GIVEN_HERE("rank", x) ? x->rank : 0;
}

int64_t lb_dim(const lb_tensor *x, int axis)
{
	int i;
	LB_ENTER();
	(void)site;
	return LB_GIVEN("dim", x) && lb_axis("dim", axis, lb_shape_of(x), 0, &i) ? x->shape[i] : 0;
}

const int64_t *lb_shape(const lb_tensor *x)
{
	return LB_GIVEN_HERE("shape", x) ? x->shape : NULL;
}

const int64_t *lb_strides(const lb_tensor *x)
{
	return LB_GIVEN_HERE("strides", x) ? x->strides : NULL;
}

int64_t lb_size(const lb_tensor *x)
{
	return LB_GIVEN_HERE("size", x) ? x->size : 0;
}

int64_t lb_nbytes(const lb_tensor *x)
{
	return LB_GIVEN_HERE("nbytes", x) ? x->size * lb_dtypes[x->dtype].bytes : 0;
}

lb_dtype lb_dtype_of(const lb_tensor *x)
{
	return LB_GIVEN_HERE("dtype_of", x) ? (lb_dtype)x->dtype : LB_BOOL;
}

bool lb_is_ready(const lb_tensor *x)
{
	return LB_GIVEN_HERE("is_ready", x) && lb_tensor_state(x) == LB_STATE_READY;
}

bool lb_is_row_contiguous(const lb_tensor *x)
{
	return LB_GIVEN_HERE("is_row_contiguous", x) && lb_is_row_major(x->rank, x->shape, x->strides);
}

const char *lb_name(const lb_tensor *x)
{
	return LB_GIVEN_HERE("name", x) ? (const char *)(uintptr_t)__atomic_load_n(&x->name, __ATOMIC_ACQUIRE) : NULL;
}

uint64_t lb_id(const lb_tensor *x)
{
	return LB_GIVEN_HERE("id", x) ? x->id : 0;
}

const char *lb_dtype_name(lb_dtype dtype)
{
	return (unsigned)dtype < LB_DTYPES ? lb_dtypes[dtype].name : "?";
}

int64_t lb_dtype_bytes(lb_dtype dtype)
{
	return (unsigned)dtype < LB_DTYPES ? lb_dtypes[dtype].bytes : 0;
}

lb_tensor *lb_named(const char *name, lb_tensor *x)
{
	LB_ENTER();
	(void)site;
	if (!LB_GIVEN("named", x) || !name)
		return x;
	size_t length = strnlen(name, LB_NAME_MAX);
	struct lb_self *self = lb_self();
	unsigned drawer = self ? self->record->id % LB_NAMES_DRAWERS : 0;
	struct named *named = lb_names_take(drawer, named_bytes(length));
	if (!named) {
		lb_fail("named: out of memory for the name %.32s", name);
		return x;
	}
	named->length = (uint8_t)length;
	named->drawer = (uint8_t)drawer;
	memcpy(named->text, name, length);
	named->text[length] = '\0';
	/* one store, so that whoever reads or claims the record meanwhile is not disturbed */
	uint64_t text = (uint64_t)(uintptr_t)named->text;
	named->before = (char *)(uintptr_t)__atomic_load_n(&x->name, __ATOMIC_ACQUIRE);
	uint64_t before = (uint64_t)(uintptr_t)named->before;
	while (!__atomic_compare_exchange_n(&x->name, &before, text, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		named->before = (char *)(uintptr_t)before;
	if (lb_event_mode(LB_EVENTS_MARKED))
		lb_marker_name_tensor(x);
	return x;
}
