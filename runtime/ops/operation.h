/* Operations: what each one takes and gives, in one place. A file of this room has the public function
 * that checks its arguments and writes them into a record (shape, dtype, inputs, parameters), and the two
 * that read the record again: one makes the operation anew over other inputs, one hands it to its kernel.
 * ops.def names them, a row an operation; its kernel is in kernels/, its gradient in grad/.
 *
 * The room stands on graph/ and kernels/, and knows nothing of evaluations: eval/, compile/ and a replay
 * find an operation by its number. Views, chains of elementwise operations and what belongs to the
 * evaluation itself (tracer, fused) have neither function. */
#ifndef LB_OPS_OPERATION_H
#define LB_OPS_OPERATION_H

#include "graph/tensor.h"
#include "kernels/kernels.h"

/* What a record tells of an operation, and the inputs that it is to be made anew over. */
struct lb_recipe {
	int op;
	enum lb_dtype dtype; /* of the result, as is the shape */
	lb_list shape;
	const int64_t *params; /* LB_PARAMS */
	int n;
	struct lb_tensor *const *x;
	const void *site; /* of what is made, where no public function says it itself */
};

/* NULL, with an error, if inputs and parameters do not go together: they may be a damaged program's. */
typedef struct lb_tensor *lb_remake_fn(const struct lb_recipe *r);
/* Computes t, whose inputs are ready, into the memory that it has. */
typedef bool lb_compute_fn(struct lb_exec *exec, struct lb_tensor *t);

enum { LB_ANY_NUMBER = INT32_MAX };

struct lb_operation {
	int least, most;  /* inputs */
	bool any_sizes;   /* says itself what becomes of any sizes: a shapeless function may have it */
	lb_remake_fn *remake;
	lb_compute_fn *compute;
};

#define LB_OP(id, name, op_class, needs, least, most, sizes, remake, compute, rule, batch) \
	lb_remake_fn lb_remake_##remake; \
	lb_compute_fn lb_compute_##compute;
#include "ops.def"
#undef LB_OP

/* ---- for the operations ---- */

/* Fails for a recipe that no public function can have written. Always NULL. */
struct lb_tensor *lb_senseless(const struct lb_recipe *r);

/* A new tensor as the recipe has it, for an operation that has no public function to check it. */
struct lb_tensor *lb_remake_as_is(const struct lb_recipe *r);
/* The same, of the shape that its inputs broadcast to. */
struct lb_tensor *lb_remake_broadcast(const struct lb_recipe *r);

/* Input i, or NULL. */
static inline struct lb_tensor *lb_recipe_input(const struct lb_recipe *r, int i)
{
	return i < r->n ? r->x[i] : NULL;
}

static inline double lb_recipe_double(const struct lb_recipe *r, int i)
{
	double value;
	__builtin_memcpy(&value, &r->params[i], sizeof value);
	return value;
}

/* What kernels get of a tensor. */
struct lb_view lb_view_of(const struct lb_tensor *t);

static inline struct lb_view lb_view_of_input(const struct lb_tensor *t, uint32_t i)
{
	return lb_view_of(lb_tensor_input(t, i));
}

/* ---- for who evaluates, compiles or replays (ops/table.c) ---- */

extern const struct lb_operation lb_operations[LB_OPS];

/* Whether the operation takes n inputs; fails if not. */
bool lb_check_inputs(int op, int n);
/* The operation over the recipe's inputs, as the public function makes it, with all its checks. */
struct lb_tensor *lb_remake(const struct lb_recipe *r);

#endif
