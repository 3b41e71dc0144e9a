#include "inspect/tensor/expression.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/tensor/number.h"
#include "tensors/program.h"

/* How tightly an operator binds. */
enum binding { LOOSE, COMPARED, SUM, PRODUCT, SIGN, TIGHT };

static const struct {
	const char *op, *sign;
	enum binding binding;
} infix[] = {
	{ "add", "+", SUM },          { "subtract", "-", SUM },
	{ "multiply", "*", PRODUCT }, { "divide", "/", PRODUCT },
	{ "equal", "==", COMPARED },  { "not_equal", "!=", COMPARED },
	{ "less", "<", COMPARED },    { "less_equal", "<=", COMPARED },
	{ "greater", ">", COMPARED }, { "greater_equal", ">=", COMPARED },
};

struct text {
	const struct lbx_tensor *t;
	struct lbx_program program;
	int uses[LBX_PROGRAM_REGS];
	int names[LBX_PROGRAM_REGS]; /* number of an intermediate that has a name; 0 without */
	char *to;
	size_t used;
	bool cut;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *x, const char *format, ...)
{
	static const char more[] = "…";
	size_t room = LBX_EXPRESSION_MAX - sizeof more - x->used;
	va_list args;

	if (x->cut)
		return;
	va_start(args, format);
	int n = vsnprintf(x->to + x->used, room, format, args);
	va_end(args);
	if (n >= 0 && (size_t)n < room) {
		x->used += (size_t)n;
		return;
	}
	x->cut = true;
	memcpy(x->to + x->used, more, sizeof more);
}

static void add_input(struct text *x, int i)
{
	struct lbx_tensor input;

	if (!lbx_tensor_input(x->t, (uint32_t)i, &input)) {
		uint64_t id = lbx_tensor_input_id(x->t, (uint32_t)i);
		lb_clear_error();
		add(x, id ? "#%llu" : "?", (unsigned long long)id);
	} else if (input.name[0]) {
		add(x, "%s", input.name);
	} else {
		add(x, "#%llu", (unsigned long long)input.id);
	}
}

static void add_insn(struct text *x, int reg, enum binding around);

static void add_reg(struct text *x, int reg, enum binding around)
{
	const struct lbx_program *p = &x->program;
	char number[LBX_NUMBER_MAX];

	if (reg < p->n_inputs) {
		add_input(x, reg);
	} else if (reg < p->n_inputs + p->n_constants) {
		lbx_number_scalar(&p->constants[reg - p->n_inputs], p->dtypes[reg], number);
		add(x, number[0] == '-' && around > SUM ? "(%s)" : "%s", number);
	} else if (x->names[reg]) {
		add(x, "t%d", x->names[reg]);
	} else {
		add_insn(x, reg, around);
	}
}

static void add_call(struct text *x, const struct lbx_insn *insn, const char *function)
{
	add(x, "%s(", function);
	for (int i = 0; i < insn->n_operands; i++) {
		add(x, "%s", i ? ", " : "");
		add_reg(x, insn->operands[i], LOOSE);
	}
	add(x, ")");
}

/* What the register's instruction computes; as deep as the program is long, at most. */
static void add_insn(struct text *x, int reg, enum binding around)
{
	const struct lbx_program *p = &x->program;
	const struct lbx_insn *insn = &p->insns[reg - p->n_inputs - p->n_constants];

	for (size_t i = 0; i < sizeof infix / sizeof *infix && insn->n_operands == 2; i++) {
		enum binding own = infix[i].binding;
		if (strcmp(infix[i].op, insn->op) != 0)
			continue;
		add(x, around > own ? "(" : "%s", "");
		add_reg(x, insn->operands[0], own);
		add(x, " %s ", infix[i].sign);
		add_reg(x, insn->operands[1], own + 1);
		add(x, around > own ? ")" : "%s", "");
		return;
	}
	if (strcmp(insn->op, "negative") == 0) {
		add(x, around >= SIGN ? "(-" : "-%s", "");
		add_reg(x, insn->operands[0], TIGHT);
		add(x, around >= SIGN ? ")" : "%s", "");
	} else if (strcmp(insn->op, "astype") == 0) {
		add_call(x, insn, lbx_dtype_name(p->dtypes[reg]));
	} else {
		add_call(x, insn, insn->op);
	}
}

const char *lbx_expression(const struct lbx_tensor *t, char ret[LBX_EXPRESSION_MAX])
{
	struct text x = { .t = t, .to = ret };
	const struct lbx_program *p = &x.program;
	int n_names = 0;

	ret[0] = '\0';
	if (t->op_class != LB_CLASS_FUSED)
		return ret;
	bool clean = lb_ok();
	if (!lbx_tensor_program(t, &x.program)) {
		snprintf(ret, LBX_EXPRESSION_MAX, "unknown: %s", lb_error_message());
		if (clean)
			lb_clear_error();
		return ret;
	}
	int first = p->n_inputs + p->n_constants;
	for (int i = 0; i < p->n_insns; i++)
		for (int k = 0; k < p->insns[i].n_operands; k++)
			x.uses[p->insns[i].operands[k]]++;
	for (int i = 0; i < p->n_insns - 1; i++) {
		if (x.uses[first + i] < 2)
			continue;
		add(&x, "t%d = ", ++n_names);
		add_insn(&x, first + i, LOOSE);
		add(&x, "; ");
		x.names[first + i] = n_names;
	}
	add_insn(&x, first + p->n_insns - 1, LOOSE);
	return ret;
}
