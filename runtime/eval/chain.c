/* Builds the program of a fused group for the elementwise kernel: every tensor that comes from
 * outside the group is an input register, every member an instruction. A tensor of op `fused`
 * brings its program along. */
#include <string.h>

#include "eval/run.h"
#include "graph/program.h"
#include "graph/shape.h"

struct chain {
	struct lb_run *run;
	struct lb_step *head;
	struct lb_fuse fuse;
	const struct lb_tensor *inputs[LB_FUSE_INPUTS]; /* NULL: a program's constant */
	/* room for constants; 16 bytes hold any dtype */
	double constants[LB_FUSE_INPUTS][2];
	int n_regs;
};

static const struct lb_step *member(const struct chain *c, const struct lb_tensor *t)
{
	const struct lb_step *step = lb_schedule_step(&c->run->schedule, t);
	const struct lb_step *steps = c->run->schedule.steps;
	return step && &steps[step->group] == c->head ? step : NULL;
}

static void add_input(struct chain *c, const struct lb_tensor *t)
{
	struct lb_fuse *fuse = &c->fuse;
	int i = fuse->n_inputs++;
	struct lb_view *view = &fuse->inputs[i];
	c->inputs[i] = t;
	view->dtype = (enum lb_dtype)t->dtype;
	fuse->dtypes[i] = t->dtype;
	if (lb_is_constant(t)) { /* its own memory, if any, may be another thread's work */
		view->data = c->constants[i];
		if (t->op == LB_OP_SCALAR && t->params[2])
			lb_store_int(view->data, view->dtype, t->params[1]);
		else
			lb_store_double(view->data, view->dtype, lb_param_double(t, 0));
		memset(view->strides, 0, sizeof view->strides);
		return;
	}
	view->data = lb_tensor_data(t);
	lb_broadcast_strides(t->rank, t->shape, t->strides, fuse->rank, fuse->shape, view->strides);
}

/* The register of an operand from outside, which is one already known or a new one. */
static uint8_t input_reg(struct chain *c, const struct lb_tensor *t)
{
	for (int i = 0; i < c->fuse.n_inputs; i++) {
		if (c->inputs[i] == t)
			return (uint8_t)i;
	}
	add_input(c, t);
	return (uint8_t)(c->fuse.n_inputs - 1);
}

static void add_inputs(struct chain *c, const struct lb_tensor *t)
{
	for (uint32_t i = 0; i < t->n_inputs; i++) {
		const struct lb_tensor *input = lb_tensor_input(t, i);
		if (!member(c, input))
			input_reg(c, input);
	}
}

static uint8_t operand_reg(struct chain *c, const struct lb_tensor *t, uint32_t i)
{
	if (i >= t->n_inputs)
		return 0;
	const struct lb_tensor *input = lb_tensor_input(t, i);
	const struct lb_step *inside = member(c, input);
	return inside ? inside->reg : input_reg(c, input);
}

static void add_insn(struct chain *c, struct lb_step *step)
{
	const struct lb_tensor *t = step->tensor;
	step->reg = (uint8_t)c->n_regs++;
	c->fuse.dtypes[step->reg] = t->dtype;
	c->fuse.insns[c->fuse.n_insns++] = (struct lb_fuse_insn){
		.op = t->op,
		.dst = step->reg,
		.a = operand_reg(c, t, 0),
		.b = operand_reg(c, t, 1),
		.c = operand_reg(c, t, 2),
	};
}

/* An intermediate that this group is the last to read, and whose memory the result fits into. */
static struct lb_tensor *donor(struct chain *c, const struct lb_tensor *t)
{
	for (int i = 0; i < c->fuse.n_inputs; i++) {
		const struct lb_tensor *input = c->inputs[i];
		if (!input)
			continue;
		const struct lb_step *step = lb_schedule_step(&c->run->schedule, input);
		struct lb_buffer *buffer = lb_tensor_buffer(input);
		if (!step || step->stays || lb_is_constant(input) || !buffer ||
		    __atomic_load_n(&buffer->refs, __ATOMIC_ACQUIRE) != 1 || input->offset ||
		    (buffer->flags & LB_BUFFER_FOREIGN) || lb_dtypes[input->dtype].bytes != lb_dtypes[t->dtype].bytes ||
		    !lb_same_shape(input->rank, input->shape, t->rank, t->shape) ||
		    !lb_is_row_major(input->rank, input->shape, input->strides))
			continue;
		uint32_t uses_here = 0;
		const struct lb_step *steps = c->run->schedule.steps;
		for (uint32_t m = c->head->next;; m = steps[m].next) {
			const struct lb_step *s = m == LB_NO_STEP ? c->head : &steps[m];
			for (uint32_t k = 0; k < s->tensor->n_inputs; k++)
				uses_here += lb_tensor_input(s->tensor, k) == input;
			if (m == LB_NO_STEP)
				break;
		}
		if (uses_here == step->remaining)
			return (struct lb_tensor *)input;
	}
	return NULL;
}

static bool add_output(struct chain *c, struct lb_step *step, bool may_take)
{
	struct lb_tensor *t = step->tensor, *from = may_take ? donor(c, t) : NULL;
	if (from) {
		struct lb_buffer *buffer = lb_tensor_buffer(from);
		lb_record_begin(&t->seq);
		t->buffer = (uint64_t)(uintptr_t)buffer;
		buffer->tensor = buffer->filled_for = t->id;
		lb_record_end(&t->seq);
		lb_record_begin(&from->seq);
		from->buffer = 0;
		lb_record_end(&from->seq);
	} else if (!lb_run_allocate(c->run, t)) {
		return false;
	}
	int i = c->fuse.n_outputs++;
	c->fuse.outputs[i].reg = step->reg;
	c->fuse.outputs[i].data = lb_tensor_data(t);
	return true;
}

static void load_program(struct chain *c, struct lb_tensor *t)
{
	struct lb_program *program = lb_tensor_program(t);
	struct lb_fuse *fuse = &c->fuse;
	for (int i = 0; i < program->n_inputs; i++)
		add_input(c, lb_tensor_input(t, (uint32_t)i));
	for (int i = 0; i < program->n_constants; i++) {
		struct lb_view *view = &fuse->inputs[fuse->n_inputs];
		c->inputs[fuse->n_inputs++] = NULL;
		view->data = &program->constants[i];
		memset(view->strides, 0, sizeof view->strides);
	}
	c->n_regs = fuse->n_inputs;
	memcpy(fuse->dtypes, program->dtypes, (size_t)(fuse->n_inputs + program->n_insns));
	for (int i = 0; i < fuse->n_inputs; i++)
		fuse->inputs[i].dtype = (enum lb_dtype)fuse->dtypes[i];
	for (int k = 0; k < program->n_insns; k++) {
		const struct lb_program_insn *insn = &program->insns[k];
		c->head->reg = (uint8_t)c->n_regs++;
		fuse->insns[fuse->n_insns++] =
		    (struct lb_fuse_insn){ insn->op, c->head->reg, insn->a, insn->b, insn->c };
	}
}

/* The operands of one instruction alone, in registers 0 and up. */
static void load_insn(struct chain *c, struct lb_tensor *t, int k, void **registers)
{
	struct lb_program *program = lb_tensor_program(t);
	const struct lb_program_insn *insn = &program->insns[k];
	const uint8_t from[] = { insn->a, insn->b, insn->c };
	int constants = program->n_inputs, insns = constants + program->n_constants;
	struct lb_fuse *fuse = &c->fuse;
	int n = lb_op_class(insn->op) - LB_CLASS_UNARY + 1;
	for (int i = 0; i < n; i++) {
		if (from[i] < constants) {
			add_input(c, lb_tensor_input(t, from[i]));
			continue;
		}
		struct lb_view *view = &fuse->inputs[fuse->n_inputs];
		fuse->dtypes[fuse->n_inputs++] = program->dtypes[from[i]];
		view->dtype = (enum lb_dtype)program->dtypes[from[i]];
		if (from[i] < insns) {
			view->data = &program->constants[from[i] - constants];
			memset(view->strides, 0, sizeof view->strides);
		} else {
			view->data = registers[from[i] - insns];
			lb_row_strides(t->rank, t->shape, view->strides);
		}
	}
	fuse->dtypes[n] = program->dtypes[insns + k];
	fuse->n_insns = 1;
	fuse->insns[0] = (struct lb_fuse_insn){ insn->op, (uint8_t)n, 0, n > 1, n > 2 ? 2 : 0 };
}

static void load_members(struct chain *c)
{
	const struct lb_tensor *last = c->head->tensor;
	struct lb_step *steps = c->run->schedule.steps;
	for (uint32_t m = c->head->next; m != LB_NO_STEP; m = steps[m].next)
		add_inputs(c, steps[m].tensor);
	add_inputs(c, last);
	c->n_regs = c->fuse.n_inputs;
	for (uint32_t m = c->head->next; m != LB_NO_STEP; m = steps[m].next)
		add_insn(c, &steps[m]);
	add_insn(c, c->head);
}

bool lb_run_chain(struct lb_run *run, struct lb_step *head)
{
	struct lb_step *steps = run->schedule.steps;
	struct chain c;
	c.run = run;
	c.head = head;
	c.fuse.rank = head->tensor->rank;
	memcpy(c.fuse.shape, head->tensor->shape, sizeof c.fuse.shape);
	c.fuse.n_inputs = c.fuse.n_insns = c.fuse.n_outputs = 0;

	if (head->tensor->op == LB_OP_FUSED)
		load_program(&c, head->tensor);
	else
		load_members(&c);

	bool ok = true, only = true;
	for (uint32_t m = head->next; m != LB_NO_STEP && ok; m = steps[m].next) {
		if (steps[m].stored) {
			only = false;
			ok = add_output(&c, &steps[m], false);
		}
	}
	/* in place only for a single result, and the last one: nothing reads the input after it */
	return ok && add_output(&c, head, only) && lb_kernel_fused(&run->exec, &c.fuse);
}

bool lb_run_insn(struct lb_run *run, struct lb_tensor *t, int k, void **registers)
{
	const struct lb_program *program = lb_tensor_program(t);
	int dtype = program->dtypes[program->n_inputs + program->n_constants + k];
	bool last = k + 1 == program->n_insns;
	struct chain c;
	c.run = run;
	c.fuse.rank = t->rank;
	memcpy(c.fuse.shape, t->shape, sizeof c.fuse.shape);
	c.fuse.n_inputs = c.fuse.n_insns = 0;
	load_insn(&c, t, k, registers);
	if (last ? !lb_run_allocate(run, t)
		 : !(registers[k] = run->exec.scratch(&run->exec, t->size * lb_dtypes[dtype].bytes)))
		return false;
	c.fuse.n_outputs = 1;
	c.fuse.outputs[0].reg = c.fuse.insns[0].dst;
	c.fuse.outputs[0].data = last ? lb_tensor_data(t) : registers[k];
	return lb_kernel_fused(&run->exec, &c.fuse);
}
