/* Every elementwise operation of ops.def: define EACH_UNARY(name), EACH_BINARY(name) or EACH_TERNARY(name), and
 * include this where they shall stand. No guard: it may be included again. */
#ifndef EACH_UNARY
#define EACH_UNARY(name)
#endif
#ifndef EACH_BINARY
#define EACH_BINARY(name)
#endif
#ifndef EACH_TERNARY
#define EACH_TERNARY(name)
#endif
#define EACH_LEAF(name)
#define EACH_CREATE(name)
#define EACH_VIEW(name)
#define EACH_COPY(name)
#define EACH_REDUCE(name)
#define EACH_SOFTMAX(name)
#define EACH_MATMUL(name)
#define EACH_CONCATENATE(name)
#define EACH_GATHER(name)
#define EACH_UPDATE(name)
#define EACH_KERNEL(name)
#define EACH_QUANT(name)
#define EACH_FUSED(name)

/* but for astype, which takes a dtype, too: where EACH_NOT_id is defined, EACH_NONE comes second */
#define EACH_NONE(name)
#define EACH_NOT_ASTYPE ~, EACH_NONE
#define EACH_SECOND(a, b, ...) b
#define EACH_PICK(...) EACH_SECOND(__VA_ARGS__)

#define LB_OP(id, name, op_class, ...) EACH_PICK(EACH_NOT_##id, EACH_##op_class, ~)(name)
#include "ops.def"
#undef LB_OP

#undef EACH_UNARY
#undef EACH_BINARY
#undef EACH_TERNARY
