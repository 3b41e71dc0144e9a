#include "batch/rule.h"

#define lb_batch_none NULL

lb_batch_rule *const lb_batch_rules[LB_OPS] = {
#define LB_OP(id, name, op_class, needs, least, most, sizes, remake, compute, rule, batch) \
	[LB_OP_##id] = lb_batch_##batch,
#include "ops.def"
#undef LB_OP
};
