/* Tensors: records in a slab, counted references, inputs.
 *
 * The record is what debuggers read, so its layout is the symbol table's. It keeps
 * these invariants outside the odd phase of `seq`:
 *   - LAZY: buffer is 0 and the inputs are held; the value can always be computed
 *     (class LEAF is never LAZY);
 *   - EVALUATING: claimed by evaluation number `eval`; only its thread touches buffer;
 *   - READY: buffer is held; if DETACHED, `inputs` are the ids of former inputs;
 *   - strides and offset are valid from the start: every operation that computes makes
 *     row-contiguous elements, and views derive from those.
 *
 * A tensor is born into the innermost scope, and ends with the last one that holds it: so this and
 * scope.h need each other.
 *
 * `refs` has two halves: all references, and those of scopes alone. Their difference
 * tells the evaluator who is a mere intermediate: see eval/schedule.c. */
#ifndef LB_GRAPH_TENSOR_H
#define LB_GRAPH_TENSOR_H

#include "base/error.h"
#include "base/op.h"
#include "lazybones.h"
#include "memory/buffer.h"

enum { LB_ONE_REF = 1 };
#define LB_SCOPE_REF ((uint64_t)1 << 32 | 1)

/* What the public functions note first: where they were called from. */
#define LB_SITE() __builtin_extract_return_addr(__builtin_return_address(0))
#define LB_ENTER() __attribute__((unused)) const void *site = lb_fail_site(LB_SITE())
/* Of a public function that is made of others; its errors begin with its name, without lb_. */
#define LB_ENTER_WHOLE() \
	__attribute__((unused, cleanup(lb_fail_site_give_back))) const bool is_held = \
	    lb_fail_site_hold(LB_SITE(), __func__ + sizeof "lb_" - 1)
/* LB_GIVEN() in a public call that is too short for LB_ENTER(): only a failure notes the site. */
#define LB_GIVEN_HERE(op, x) (__builtin_expect((x) != NULL, 1) || (lb_fail_site(LB_SITE()), lb_fail_null(op, #x)))

/* A new lazy tensor in its odd phase, row-contiguous, holding its inputs; the caller may
 * change strides, offset, params and flags, then must publish it. NULL on failure. */
struct lb_tensor *lb_tensor_begin(int op, enum lb_dtype dtype, int rank, const int64_t *shape, int n_inputs,
				  struct lb_tensor *const *inputs, const void *site);
/* Ends the odd phase of a tensor that came to nothing; it must hold no inputs. */
void lb_tensor_discard(struct lb_tensor *t);
/* Ends the odd phase and hands the tensor to the innermost scope. NULL stays NULL. */
struct lb_tensor *lb_tensor_publish(struct lb_tensor *t);
/* begin and publish at once. */
struct lb_tensor *lb_node(int op, enum lb_dtype dtype, int rank, const int64_t *shape, int n_inputs,
			  struct lb_tensor *const *inputs, const void *site);

/* Give back n references (of scopes too, with LB_SCOPE_REF); frees without recursion. */
void lb_tensor_drop(struct lb_tensor *t, uint64_t refs);
void lb_tensor_retain(struct lb_tensor *t, uint64_t refs);

/* Fails: the caller holds a handle of a tensor that no longer exists. What it is told is what the
 * freed slot still says, as long as no other tensor has taken it. Always false. */
bool lb_fail_dead(const char *what, const struct lb_tensor *t);

/* Frees a tensor's name and those it had before. NULL is fine. */
void lb_name_free(char *name);

/* Frees the references to inputs and leaves their ids; READY tensors only. */
void lb_tensor_detach(struct lb_tensor *t);

static inline enum lb_state lb_tensor_state(const struct lb_tensor *t)
{
	return (enum lb_state)__atomic_load_n(&t->state, __ATOMIC_ACQUIRE);
}

/* An evaluation may detach the tensor at the same time. */
static inline uint32_t lb_tensor_flags(const struct lb_tensor *t)
{
	return __atomic_load_n(&t->flags, __ATOMIC_RELAXED);
}

static inline struct lb_tensor *lb_tensor_input(const struct lb_tensor *t, uint32_t i)
{
	const uint64_t *list =
	    t->n_inputs <= LB_INLINE_INPUTS ? t->inputs : (const uint64_t *)(uintptr_t)t->more_inputs;
	return (struct lb_tensor *)(uintptr_t)list[i];
}

static inline lb_list lb_shape_of(const struct lb_tensor *t)
{
	return (lb_list){ t->rank, t->shape };
}

static inline struct lb_buffer *lb_tensor_buffer(const struct lb_tensor *t)
{
	return (struct lb_buffer *)(uintptr_t)t->buffer;
}

static inline void *lb_tensor_data(const struct lb_tensor *t)
{
	return (char *)(uintptr_t)lb_tensor_buffer(t)->data + t->offset * lb_dtypes[t->dtype].bytes;
}

/* The value of a node's i-th parameter as a double. */
static inline double lb_param_double(const struct lb_tensor *t, int i)
{
	double value;
	__builtin_memcpy(&value, &t->params[i], sizeof value);
	return value;
}

static inline void lb_param_set_double(struct lb_tensor *t, int i, double value)
{
	__builtin_memcpy(&t->params[i], &value, sizeof value);
}

#endif
