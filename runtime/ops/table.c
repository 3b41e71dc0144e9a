#include "base/plural.h"
#include "ops/operation.h"

#define lb_remake_none NULL
#define lb_compute_none NULL
#define SIZES_FREE true
#define SIZES_FIXED false
#define MANY LB_ANY_NUMBER

const struct lb_operation lb_operations[LB_OPS] = {
#define LB_OP(id, name, op_class, needs, least, most, sizes, remake, compute, rule, batch) \
	[LB_OP_##id] = { least, most, SIZES_##sizes, lb_remake_##remake, lb_compute_##compute },
#include "ops.def"
#undef LB_OP
};

bool lb_check_inputs(int op, int n)
{
	if (n >= lb_operations[op].least && n <= lb_operations[op].most)
		return true;
	return lb_fail("%s: it cannot have %d input%s", lb_ops[op].name, n, LB_S(n));
}

struct lb_tensor *lb_remake(const struct lb_recipe *r)
{
	lb_remake_fn *remake = lb_operations[r->op].remake;
	if (!lb_check_inputs(r->op, r->n))
		return NULL;
	if ((unsigned)r->dtype >= LB_DTYPES)
		return lb_senseless(r);
	if (remake)
		return remake(r);
	lb_fail("%s: cannot be made again", lb_ops[r->op].name);
	return NULL;
}
