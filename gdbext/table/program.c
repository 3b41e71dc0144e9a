#include "tensors/program.h"

#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "table/internal.h"

#define BAD(format, ...) \
	lb_fail("the program of tensor #%llu is damaged: " format, (unsigned long long)t->id, __VA_ARGS__)

static bool decode_dtypes(const struct lbx_table *table, const struct lbx_tensor *t, const struct lb_program *p,
			  struct lbx_program *ret)
{
	int n = ret->n_inputs + ret->n_constants + ret->n_insns;

	for (int i = 0; i < n; i++) {
		if (p->dtypes[i] >= table->n_dtypes || table->dtypes[p->dtypes[i]] < 0)
			return BAD("register %d has dtype %u", i, p->dtypes[i]);
		ret->dtypes[i] = (enum lb_dtype)table->dtypes[p->dtypes[i]];
	}
	if (ret->dtypes[n - 1] != t->dtype)
		return BAD("it gives %s", lbx_dtype_name(ret->dtypes[n - 1]));
	return true;
}

static bool decode_insn(const struct lbx_table *table, const struct lbx_tensor *t, const struct lb_program_insn *from,
			int known, struct lbx_insn *ret)
{
	enum lb_op_class class = LB_CLASS_LEAF;

	if (from->op < table->n_ops)
		class = (enum lb_op_class)table->ops[from->op].op_class;
	if (class < LB_CLASS_UNARY || class > LB_CLASS_TERNARY)
		return BAD("operation %u is not elementwise", from->op);
	*ret = (struct lbx_insn){ table->ops[from->op].name,
				  1 + (int)(class - LB_CLASS_UNARY),
				  { from->a, from->b, from->c } };
	for (int i = 0; i < ret->n_operands; i++)
		if (ret->operands[i] >= known)
			return BAD("%s reads register %u before it is written", ret->op, ret->operands[i]);
	return true;
}

bool lbx_table_program(struct lbx_tensors *tensors, const struct lbx_tensor *t, struct lbx_program *ret)
{
	struct lbx_table *table = (struct lbx_table *)tensors;
	struct lb_program p;

	if (t->op_class != LB_CLASS_FUSED)
		return lb_fail("tensor #%llu (%s) has no program", (unsigned long long)t->id, t->op);
	if (!lbx_cache_read(table->cache, (uint64_t)t->params[0], &p, sizeof p)) {
		lb_fail_within("the program of tensor #%llu", (unsigned long long)t->id);
		return false;
	}
	if (p.magic != LB_PROGRAM_MAGIC || p.size != sizeof p)
		return BAD("there is none of %zu bytes at 0x%llx", sizeof p, (unsigned long long)t->params[0]);
	if (p.n_inputs != t->n_inputs || p.n_inputs + p.n_constants > LB_PROGRAM_INPUTS || p.n_insns == 0 ||
	    p.n_insns > LB_PROGRAM_INSNS)
		return BAD("it has %u input%s, %u constants and %u operation%s", p.n_inputs, LB_S(p.n_inputs),
			   p.n_constants, p.n_insns, LB_S(p.n_insns));
	ret->n_inputs = p.n_inputs;
	ret->n_constants = p.n_constants;
	ret->n_insns = p.n_insns;
	memcpy(ret->constants, p.constants, sizeof ret->constants);
	for (int i = 0; i < ret->n_insns; i++)
		if (!decode_insn(table, t, &p.insns[i], ret->n_inputs + ret->n_constants + i, &ret->insns[i]))
			return false;
	return decode_dtypes(table, t, &p, ret);
}
