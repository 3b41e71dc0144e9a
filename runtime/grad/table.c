#include "grad/rule.h"

#define lb_rule_none NULL

lb_rule *const lb_rules[LB_OPS] = {
#define LB_OP(id, name, op_class, needs, least, most, sizes, remake, compute, rule, batch) \
	[LB_OP_##id] = lb_rule_##rule,
#include "ops.def"
#undef LB_OP
};
