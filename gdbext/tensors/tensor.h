/* A tensor as the readers see it: decoded, checked, with its strings at hand, whatever set of tensors
 * (tensors.h) it came from. */
#ifndef LBX_TENSOR_H
#define LBX_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "symtab.h"
#include "tensors/encoding.h"
#include "tensors/state.h"
#include "target/target.h"

struct lbx_tensors; /* tensors/tensors.h */

/* Axes that a tensor of any provider has at most; the runtime's have at most LB_MAX_RANK. */
enum { LBX_RANK_MAX = 64 };

struct lbx_tensor {
	struct lbx_tensors *of; /* the set that it is of; NULL: of none, as memory that is looked at as one */
	uint64_t address; /* of the record: the program's lb_tensor *; 0 throughout a set that has none */
	uint64_t id; /* unlike any other of its set, and the same whenever it is read; not 0 */
	bool torn;        /* its record was being changed: fields may not fit together */
	enum lbx_state state;
	uint64_t overwriter; /* id; see state.h */
	const char *place;   /* likewise; or NULL */
	bool is_unproven; /* it is ready as far as can be seen: its runtime keeps no mark of what it has computed */
	enum lbx_usage usage;
	const char
	    *memory;  /* what its runtime calls the kind of memory that it is in; or NULL. Valid while its set is */
	bool held;        /* an evaluation that is under way still holds the value for its consumers */
	enum lb_dtype dtype; /* of its elements, decoded */
	const struct lbx_encoding *encoding; /* how they are stored; NULL: as its dtype is. Valid while its set is */
	const char *op;   /* name; "?" for one that this reader's table does not name */
	enum lb_op_class op_class;
	bool puts_inf; /* it puts Inf into its result by design, as a mask does */
	int rank; /* at most LBX_RANK_MAX */
	bool is_shapeless; /* its shape is not known: rank, size and dtype say nothing */
	uint32_t flags, watch;
	/* strides and offset are valid; here always, but there are runtimes that leave placeholders
	 * until the tensor is evaluated */
	bool layout_known;
	union {
		struct {
			int64_t shape[LB_MAX_RANK], strides[LB_MAX_RANK];
		} few; /* up to LB_MAX_RANK */
		const int64_t *many; /* more: `rank` sizes and as many strides (axes.h), valid while its set is */
	} axes; /* read through lbx_shape() and lbx_strides() */
	int64_t offset;   /* elements */
	int64_t size;     /* elements, checked against shape */
	int64_t params[LB_PARAMS];
	uint32_t n_inputs;
	uint64_t inputs[LB_INLINE_INPUTS]; /* addresses, or ids when flags has LB_FLAG_DETACHED */
	uint64_t more_inputs;
	uint64_t site;    /* pc in the caller */
	uint64_t thread;  /* that made it, by its kernel's number; 0: not known */
	uint32_t stack, stream;
	uint64_t eval, order, eval_ns;
	uint64_t computed; /* evaluations that computed it */
	uint32_t refs, scope_refs;
	const void
	    *local; /* the buffer, of a tensor that was computed in this process; NULL: it is in the program's memory */
	char name[LB_NAME_MAX + 1]; /* "" without one */
	/* the buffer, all 0 while there is none */
	uint64_t buffer_id, data /* address of the buffer's first byte */;
	int64_t buffer_bytes, buffer_capacity /* 0 of a mapped file */;
	uint32_t buffer_flags, buffer_refs;
};

/* Elements along each axis, and between neighbours along it: t->rank of them. They live as long as t, or,
 * where t is copied, as the copy. */
static inline const int64_t *lbx_shape(const struct lbx_tensor *t)
{
	return t->rank > LB_MAX_RANK ? t->axes.many : t->axes.few.shape;
}

static inline const int64_t *lbx_strides(const struct lbx_tensor *t)
{
	return t->rank > LB_MAX_RANK ? t->axes.many + t->rank : t->axes.few.strides;
}

/* Of one dtype and shape. */
static inline bool lbx_tensors_alike(const struct lbx_tensor *a, const struct lbx_tensor *b)
{
	return a->dtype == b->dtype && a->rank == b->rank &&
	       __builtin_memcmp(lbx_shape(a), lbx_shape(b), (size_t)a->rank * sizeof(int64_t)) == 0;
}

enum lbx_contiguity { LBX_ROW_CONTIGUOUS, LBX_COLUMN_CONTIGUOUS, LBX_STRIDED };

struct lbx_encoding lbx_tensor_encoding(const struct lbx_tensor *t);
/* What its dtype is called: "float32", or the name of its encoding. */
const char *lbx_tensor_dtype_name(const struct lbx_tensor *t);
/* What has its memory: "cpu", "cuda:0". */
const char *lbx_tensor_device(const struct lbx_tensor *t);
enum lbx_contiguity lbx_tensor_contiguity(const struct lbx_tensor *t);
int64_t lbx_tensor_nbytes(const struct lbx_tensor *t);
/* The bytes that its elements reach; false if there are none, or not within the buffer. */
bool lbx_tensor_range(const struct lbx_tensor *t, uint64_t *ret_begin, uint64_t *ret_end);
/* Whether every element that shape, strides and offset reach lies inside the buffer. */
bool lbx_tensor_in_bounds(const struct lbx_tensor *t);

/* Whether its memory holds its elements where its layout says, though they may not have been computed. */
bool lbx_tensor_lies_there(const struct lbx_tensor *t);

/* Memory that tensors share. */
struct lbx_buffer {
	struct lbx_tensors *of; /* whose it is */
	uint64_t address, id, data, tensor;
	uint64_t filled_for; /* id of the tensor: others have only updated it in place since; 0: not known */
	int64_t nbytes, capacity;
	uint32_t refs, flags;
	bool has_release; /* the program takes it back by a function of its own */
};

#endif
