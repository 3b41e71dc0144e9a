/* A small stack machine. No loops are possible: branches are not among its operations. */
#include "target/location.h"

#include <dwarf.h>

#include "target/entry_value.h"

enum { DEPTH = 32 };

struct machine {
	const struct lbx_scope *scope;
	Dwarf_Attribute *attribute; /* whose expression it is */
	bool in_frame_base; /* its expression must not ask for itself */
	uint64_t stack[DEPTH];
	int n;
	bool is_value;
};

static bool push(struct machine *m, uint64_t value)
{
	if (m->n == DEPTH)
		return false;
	m->stack[m->n++] = value;
	return true;
}

static bool register_value(const struct machine *m, uint64_t n, uint64_t *ret)
{
	const struct lbx_registers *r = &m->scope->frame->registers;

	if (n >= LBX_REGISTERS || !(r->known >> n & 1))
		return false;
	*ret = r->r[n];
	return true;
}

static bool push_register(struct machine *m, uint64_t n, int64_t offset)
{
	uint64_t value;
	return register_value(m, n, &value) && push(m, value + (uint64_t)offset);
}

/* An address that stands in a table of its own: clang's way. */
static bool push_indexed(struct machine *m, const Dwarf_Op *op)
{
	Dwarf_Attribute indexed;
	Dwarf_Addr address;

	return dwarf_getlocation_attr(m->attribute, op, &indexed) == 0 && dwarf_formaddr(&indexed, &address) == 0 &&
	       push(m, address + m->scope->bias);
}

static bool push_frame_base(struct machine *m, int64_t offset)
{
	struct lbx_scope scope = *m->scope;
	struct lbx_location base;
	Dwarf_Attribute attribute;

	if (m->in_frame_base || !scope.function || !dwarf_attr_integrate(scope.function, DW_AT_frame_base, &attribute))
		return false;
	scope.function = NULL;
	return lbx_locate(&scope, &attribute, &base) && push(m, base.value + (uint64_t)offset);
}

static bool dereference(struct machine *m, size_t width)
{
	uint64_t value = 0;

	if (m->n == 0 || width == 0 || width > sizeof value ||
	    !lbx_target_try_read(m->scope->target, m->stack[m->n - 1], &value, width))
		return false;
	m->stack[m->n - 1] = value;
	return true;
}

static bool binary(struct machine *m, uint8_t op)
{
	if (m->n < 2)
		return false;
	uint64_t b = m->stack[--m->n], *a = &m->stack[m->n - 1];
	switch (op) {
	case DW_OP_plus: *a += b; return true;
	case DW_OP_minus: *a -= b; return true;
	case DW_OP_mul: *a *= b; return true;
	case DW_OP_and: *a &= b; return true;
	case DW_OP_or: *a |= b; return true;
	case DW_OP_shl: *a = b < 64 ? *a << b : 0; return true;
	case DW_OP_shr: *a = b < 64 ? *a >> b : 0; return true;
	default: return false;
	}
}

/* What a register had when the function was called, by how it was. */
static bool push_entry_value(struct machine *m, const Dwarf_Op *op)
{
	Dwarf_Attribute inner;
	Dwarf_Op *ops;
	uint64_t value, number;
	size_t n;

	if (dwarf_getlocation_attr(m->attribute, op, &inner) != 0 || dwarf_getlocation(&inner, &ops, &n) != 0 || n != 1)
		return false;
	if (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31)
		number = ops[0].atom - DW_OP_reg0;
	else if (ops[0].atom == DW_OP_regx)
		number = ops[0].number;
	else
		return false;
	return lbx_entry_value(m->scope, number, &value) && push(m, value);
}

static bool step(struct machine *m, const Dwarf_Op *op)
{
	uint8_t code = op->atom;

	if (code >= DW_OP_lit0 && code <= DW_OP_lit31)
		return push(m, code - DW_OP_lit0);
	if (code >= DW_OP_breg0 && code <= DW_OP_breg31)
		return push_register(m, code - DW_OP_breg0, (int64_t)op->number);
	switch (code) {
	case DW_OP_addr: return push(m, op->number + m->scope->bias);
	case DW_OP_addrx: return push_indexed(m, op);
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts: return push(m, op->number);
	case DW_OP_bregx: return push_register(m, op->number, (int64_t)op->number2);
	case DW_OP_fbreg: return push_frame_base(m, (int64_t)op->number);
	case DW_OP_call_frame_cfa: return m->scope->frame->cfa && push(m, m->scope->frame->cfa);
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value: return push_entry_value(m, op);
	case DW_OP_deref: return dereference(m, 8);
	case DW_OP_deref_size: return dereference(m, op->number);
	case DW_OP_plus_uconst: return m->n > 0 && (m->stack[m->n - 1] += op->number, true);
	case DW_OP_dup: return m->n > 0 && push(m, m->stack[m->n - 1]);
	case DW_OP_stack_value: m->is_value = true; return true;
	case DW_OP_nop: return true;
	default: return binary(m, code);
	}
}

static bool evaluate(struct machine *m, const Dwarf_Op *ops, size_t n, struct lbx_location *ret)
{
	/* a register's name alone is a location of its own kind */
	bool is_register = ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31;
	if (n == 1 && (is_register || ops[0].atom == DW_OP_regx)) {
		ret->in_memory = false;
		return register_value(m, is_register ? (uint64_t)(ops[0].atom - DW_OP_reg0) : ops[0].number,
				      &ret->value);
	}
	for (size_t i = 0; i < n; i++)
		if (m->is_value || !step(m, &ops[i]))
			return false;
	if (m->n == 0)
		return false;
	ret->in_memory = !m->is_value;
	ret->value = m->stack[m->n - 1];
	return true;
}

bool lbx_locate(const struct lbx_scope *scope, Dwarf_Attribute *attribute, struct lbx_location *ret)
{
	struct machine m = { .scope = scope, .attribute = attribute, .in_frame_base = !scope->function };
	Dwarf_Op *ops;
	size_t n;

	return dwarf_getlocation_addr(attribute, scope->pc, &ops, &n, 1) == 1 && n > 0 && evaluate(&m, ops, n, ret);
}
