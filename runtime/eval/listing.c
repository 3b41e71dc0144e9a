#include "eval/listing.h"

#include <stdio.h>
#include <string.h>

#include "eval/code.h"
#include "graph/program.h"
#include "kernels/kernels.h"

enum { MOST_LINES = 1 << 20, MOST_TEXT = 1 << 30 };

/* What comes from outside: a tensor, or a constant of a program. */
struct outside {
	const struct lb_tensor *tensor;
	const struct lb_program *program;
	uint32_t constant;
};

struct builder {
	const struct lb_schedule *s;
	bool apart;
	uint32_t n_lines, n_operands, n_more, n_outside, n_calls;
	uint64_t text_bytes;
	uint32_t *line_of; /* each step's last line */
	struct lb_listing_line *lines;
	uint32_t *operands;
	struct outside *outside;
	uint32_t *slots, mask; /* outside tensors by address; a slot holds a place from 1 */
	char *texts;
	uint32_t texts_used;
	struct lb_listed *ret;
};

static const char *name_of(const struct lb_tensor *t)
{
	return (const char *)(uintptr_t)__atomic_load_n(&t->name, __ATOMIC_ACQUIRE);
}

static uint32_t arity(int op)
{
	return lb_op_class(op) - LB_CLASS_UNARY + 1u;
}

static uint64_t name_bytes(const struct lb_tensor *t)
{
	const char *name = name_of(t);
	return name ? strnlen(name, LB_NAME_MAX) + 1 : 0;
}

/* ---- what it will take, at most ---- */

static bool count_lines(struct builder *b)
{
	uint64_t lines = 0, operands = 0, more = 0, text = 1;
	for (uint32_t i = 0; i < b->s->n; i++) {
		const struct lb_tensor *t = b->s->steps[b->s->order[i]].tensor;
		text += name_bytes(t);
		for (uint32_t k = 0; k < t->n_inputs; k++)
			text += name_bytes(lb_tensor_input(t, k));
		if (t->op != LB_OP_FUSED) {
			lines++;
			operands += t->n_inputs;
			continue;
		}
		const struct lb_program *program = lb_tensor_program(t);
		lines += program->n_insns;
		more += program->n_inputs + program->n_constants;
		for (int k = 0; k < program->n_insns; k++)
			operands += arity(program->insns[k].op);
	}
	if (lines > MOST_LINES || operands > 8 * MOST_LINES || text > MOST_TEXT) {
		snprintf(b->ret->refusal, sizeof b->ret->refusal,
			 "a graph of %llu operations, with %llu inputs and %llu bytes of names, is too large: "
			 "the limits are %d, %d and %d",
			 (unsigned long long)lines, (unsigned long long)operands, (unsigned long long)text, MOST_LINES,
			 8 * MOST_LINES, MOST_TEXT);
		return false;
	}
	b->n_lines = (uint32_t)lines;
	b->n_operands = (uint32_t)operands;
	b->n_more = (uint32_t)more;
	b->text_bytes = text;
	return true;
}

/* ---- operands ---- */

static uint32_t add_outside(struct builder *b, struct outside what)
{
	b->outside[b->n_outside] = what;
	return b->n_lines + ++b->n_outside;
}

static uint32_t place_of(struct builder *b, const struct lb_tensor *t)
{
	const struct lb_step *step = lb_schedule_step(b->s, t);
	/* a constant may be computed for a later line, while this one takes its value as it is */
	if (step && b->line_of[step - b->s->steps])
		return b->line_of[step - b->s->steps];
	uint32_t slot = (uint32_t)((uintptr_t)t >> 6) * 2654435761u & b->mask;
	for (; b->slots[slot]; slot = (slot + 1) & b->mask) {
		if (b->outside[b->slots[slot] - 1].tensor == t)
			return b->n_lines + b->slots[slot];
	}
	uint32_t place = add_outside(b, (struct outside){ .tensor = t });
	b->slots[slot] = b->n_outside;
	return place;
}

/* ---- lines ---- */

static uint32_t add_name(struct builder *b, const struct lb_tensor *t)
{
	const char *name = name_of(t);
	if (!name)
		return 0;
	uint32_t at = b->texts_used;
	size_t n = strnlen(name, LB_NAME_MAX);
	if (at + n + 1 > b->text_bytes) /* named by another thread since it was measured */
		return 0;
	memcpy(b->texts + at, name, n);
	b->texts[at + n] = '\0';
	b->texts_used += (uint32_t)n + 1;
	return at;
}

void lb_listing_describe(struct lb_listing_line *line, const struct lb_tensor *t)
{
	double value[2] = { 0 };
	line->site = t->site;
	line->op = t->op;
	line->dtype = t->dtype;
	line->rank = t->rank;
	memcpy(line->shape, t->shape, t->rank * sizeof *t->shape);
	if (!lb_is_constant(t))
		return;
	if (t->op == LB_OP_SCALAR && t->params[2])
		lb_store_int(value, (enum lb_dtype)t->dtype, t->params[1]);
	else
		lb_store_double(value, (enum lb_dtype)t->dtype, lb_param_double(t, 0));
	memcpy(&line->value, value, sizeof line->value);
}

/* The next operation's place among the operands; the caller fills in n of them. */
static uint32_t *reserve(struct builder *b, struct lb_listing_line *line, uint32_t n)
{
	uint32_t *list = b->operands + b->n_operands;
	line->operands = b->n_operands;
	line->n_operands = n;
	b->n_operands += n;
	return list;
}

static void add_call(struct builder *b, struct lb_listing_line *line, uint32_t step, int32_t insn)
{
	uint32_t number = (uint32_t)(line - b->lines) + 1;
	line->code = (uint32_t)lb_code_offset(b->n_calls);
	b->ret->calls[b->n_calls++] = (struct lb_call){ step, number, insn };
}

static struct lb_listing_line *add_program(struct builder *b, uint32_t index, struct lb_listing_line *line)
{
	const struct lb_tensor *t = b->s->steps[index].tensor;
	const struct lb_program *program = lb_tensor_program(t);
	uint32_t places[LB_PROGRAM_INPUTS + LB_PROGRAM_INSNS], n = 0;
	for (; n < program->n_inputs; n++)
		places[n] = place_of(b, lb_tensor_input(t, n));
	for (uint32_t i = 0; i < program->n_constants; i++)
		places[n++] = add_outside(b, (struct outside){ NULL, program, i });
	for (int k = 0; k < program->n_insns; k++, line++) {
		const struct lb_program_insn *insn = &program->insns[k];
		lb_listing_describe(line, t);
		line->op = insn->op;
		line->site = program->sites[k] ? program->sites[k] : t->site;
		line->dtype = program->dtypes[n];
		places[n++] = (uint32_t)(line - b->lines) + 1;
		uint32_t registers[] = { insn->a, insn->b, insn->c }, wanted = arity(insn->op);
		uint32_t *list = reserve(b, line, wanted);
		for (uint32_t i = 0; i < wanted; i++)
			list[i] = places[registers[i]];
		if (b->apart)
			add_call(b, line, index, k);
	}
	return line - 1;
}

static struct lb_listing_line *add_single(struct builder *b, uint32_t index, struct lb_listing_line *line)
{
	const struct lb_tensor *t = b->s->steps[index].tensor;
	lb_listing_describe(line, t);
	uint32_t *list = reserve(b, line, t->n_inputs);
	for (uint32_t k = 0; k < t->n_inputs; k++)
		list[k] = place_of(b, lb_tensor_input(t, k));
	return line;
}

static void add_lines(struct builder *b)
{
	struct lb_listing_line *line = b->lines;
	b->n_operands = 0;
	for (uint32_t i = 0; i < b->s->n; i++) {
		uint32_t index = b->s->order[i];
		const struct lb_step *step = &b->s->steps[index];
		bool program = step->tensor->op == LB_OP_FUSED;
		line = program ? add_program(b, index, line) : add_single(b, index, line);
		b->line_of[index] = (uint32_t)(line - b->lines) + 1;
		b->ret->tensors[line - b->lines] = step->tensor->id;
		line->stays = step->stays;
		line->name = add_name(b, step->tensor);
		if (step->group == index && !line->code)
			add_call(b, line, index, -1);
		line++;
	}
}

static void describe_outside(struct builder *b, struct lb_listing_line *line, const struct outside *from)
{
	const struct lb_tensor *t = from->tensor;
	if (!t) {
		line->op = LB_OP_SCALAR;
		line->dtype = from->program->dtypes[from->program->n_inputs + from->constant];
		line->value = from->program->constants[from->constant];
		return;
	}
	lb_listing_describe(line, t);
	line->name = add_name(b, t);
}

/* ---- all of it ---- */

static void *carve(const struct builder *b, uint64_t n, size_t size)
{
	int64_t bytes = (int64_t)((n ? n : 1) * size);
	void *memory = lb_arena_take(b->s->arena, bytes);
	if (memory)
		memset(memory, 0, (size_t)bytes);
	return memory;
}

static void *put(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	return (char *)to + bytes;
}

/* The parts, one after another; what comes from outside is described into its place. */
static bool assemble(struct builder *b)
{
	size_t lines = (size_t)b->n_lines * sizeof *b->lines;
	size_t outside = (size_t)b->n_outside * sizeof *b->lines;
	size_t operands = (size_t)b->n_operands * sizeof *b->operands;
	struct lb_listing_line *inputs = carve(b, b->n_outside, sizeof *inputs);
	if (!inputs)
		return false;
	for (uint32_t i = 0; i < b->n_outside; i++) {
		const struct lb_tensor *t = b->outside[i].tensor;
		describe_outside(b, &inputs[i], &b->outside[i]);
		b->ret->tensors[b->n_lines + i] = t ? t->id : 0;
	}
	size_t size = sizeof(struct lb_listing) + lines + outside + operands + b->texts_used;
	struct lb_listing *listing = lb_arena_take(b->s->arena, (int64_t)size);
	if (!listing)
		return false;
	*listing = (struct lb_listing){
		.magic = LB_LISTING_MAGIC,
		.size = size,
		.n_lines = b->n_lines,
		.n_inputs = b->n_outside,
		.n_operands = b->n_operands,
		.n_calls = b->n_calls,
	};
	void *to = put(listing + 1, b->lines, lines);
	to = put(to, inputs, outside);
	to = put(to, b->operands, operands);
	put(to, b->texts, b->texts_used);
	b->ret->listing = listing;
	return true;
}

bool lb_listing_build(const struct lb_schedule *s, bool apart, struct lb_listed *ret)
{
	struct builder b = { .s = s, .apart = apart, .ret = ret, .texts_used = 1 };
	ret->refusal[0] = '\0';
	if (!count_lines(&b))
		return false;
	uint32_t capacity = 16;
	while (capacity < 2 * (b.n_operands + b.n_more))
		capacity *= 2;
	b.mask = capacity - 1;
	uint64_t most_outside = (uint64_t)b.n_operands + b.n_more;
	if (!(b.line_of = carve(&b, s->n, sizeof *b.line_of)) ||
	    !(b.operands = carve(&b, b.n_operands, sizeof *b.operands)) ||
	    !(b.outside = carve(&b, most_outside, sizeof *b.outside)) ||
	    !(b.slots = carve(&b, capacity, sizeof *b.slots)) || !(b.lines = carve(&b, b.n_lines, sizeof *b.lines)) ||
	    !(b.texts = carve(&b, b.text_bytes, 1)) || !(ret->calls = carve(&b, b.n_lines, sizeof *ret->calls)) ||
	    !(ret->tensors = carve(&b, b.n_lines + most_outside, sizeof *ret->tensors)))
		return false;
	add_lines(&b);
	return assemble(&b);
}
