/* A stack that is full: of functions that call each other without end, or of one that takes too much. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/diagnose/rule.h"
#include "inspect/operand/frames.h"
#include "inspect/tensor/format.h"

enum {
	BELOW = 1 << 16, /* bytes below the stack pointer that code touches before it moves that */
	LEAST = 1 << 15, /* bytes of a stack that can be full */
	LEAVES = 16, /* innermost frames that need not be of the circle */
	PAGE = 4096,
};

/* A stack, measured. */
struct used {
	uint64_t low, high; /* its bytes, as far as frames are known */
	int largest; /* the frame that takes most */
	uint64_t largest_bytes;
};

static bool measure(const struct lbx_thread_view *stack, struct used *ret)
{
	uint64_t sp;

	*ret = (struct used){ .low = 0 };
	if (stack->n == 0 || !lbx_stack_pointer(&stack->frames[0].frame.registers, &ret->low))
		return false;
	for (int i = 0; i < stack->n; i++) {
		const struct lbx_frame *f = &stack->frames[i].frame;
		if (!f->cfa || !lbx_stack_pointer(&f->registers, &sp) || f->cfa < sp)
			continue;
		ret->high = f->cfa > ret->high ? f->cfa : ret->high;
		if (f->cfa - sp > ret->largest_bytes) {
			ret->largest = i;
			ret->largest_bytes = f->cfa - sp;
		}
	}
	return ret->high > ret->low;
}

/* Whether it died of a touch of what lies below its stack: of the innermost frame, which nobody can read. */
static bool is_full(const struct lbx_case *c, const struct lbx_thread_view *stack, const struct used *used)
{
	uint64_t at = c->death.address, top = stack->frames[0].frame.cfa;
	char byte;

	if ((c->death.signal != SIGSEGV && c->death.signal != SIGBUS) || !c->death.has_address)
		return false;
	if (top < used->low + PAGE) /* a function that has only begun */
		top = used->low + PAGE;
	return used->high - used->low >= LEAST && at < top && at + BELOW > used->low &&
	       !lbx_target_try_read(c->context->target, at, &byte, 1);
}

/* The first of the frames that repeat; *ret_period: how many they are; -1: none do. */
static int find_circle(const struct lbx_thread_view *stack, int *ret_period)
{
	int times;

	for (int i = 0; i < stack->n && i < LEAVES; i++) {
		*ret_period = lbx_thread_view_fold(stack, i, &times);
		if (*ret_period)
			return i;
	}
	return -1;
}

static bool is_same_function(const struct lbx_frame_view *a, const struct lbx_frame_view *b)
{
	return a->line.function[0] && strcmp(a->line.function, b->line.function) == 0;
}

/* The outermost frame of a function in the circle, and *ret_of: which of its frames that is; -1: it is not known. */
static int find_beginning(const struct lbx_thread_view *stack, int first, int period, int *ret_of)
{
	for (int i = stack->n - 1; i > first; i--)
		for (int k = 0; k < period; k++)
			if (is_same_function(&stack->frames[i], &stack->frames[first + k])) {
				*ret_of = k;
				return i;
			}
	return -1;
}

static const char *name_of(const struct lbx_frame_view *frame)
{
	return frame->line.function[0] ? frame->line.function : "?";
}

/* From the function that was called first; each calls that of the frame within it. */
static void say_circle(struct lbx_diagnosed *f, const struct lbx_thread_view *stack, int first, int period)
{
	int of = period - 1, beginning = find_beginning(stack, first, period, &of);
	char where[512];

	LBX_SAY(f->title, "recursion without end: ");
	for (int i = 0; i < period; i++) {
		const struct lbx_frame_view *frame = &stack->frames[first + (of - i + period) % period];
		LBX_SAY(f->title, "%s%s calls ", name_of(frame), i ? ", which" : "");
		lbx_describe_frame(frame, where, sizeof where);
		LBX_SAY(f->evidence, "%s%s", where, i + 1 < period ? ", " : ", again and again; ");
	}
	LBX_SAY(f->title, "%s", period == 1 ? "itself" : name_of(&stack->frames[first + of]));
	if (beginning < 0 || beginning + 1 >= stack->n)
		return;
	lbx_describe_frame(&stack->frames[beginning + 1], where, sizeof where);
	LBX_SAY(f->evidence, "begun by %s; ", where);
}

static bool tell(struct lbx_case *c, const struct lbx_thread_view *stack, const struct used *used)
{
	struct lbx_diagnosed *f = lbx_case_found(c, LBX_HIGH, 0.98);
	uint64_t bytes = used->high - used->low;
	char text[32], where[512];
	int period, first = find_circle(stack, &period);

	if (!f)
		return lb_ok();
	if (used->largest_bytes > bytes / 2) {
		lbx_format_bytes((int64_t)used->largest_bytes, text, sizeof text);
		lbx_describe_frame(&stack->frames[used->largest], where, sizeof where);
		LBX_SAY(f->title, "the stack is full: the variables of %s take %s", where, text);
		lbx_diagnosed_frame(f, &stack->frames[used->largest]);
		LBX_SAY(f->advice, "Let large arrays live on the heap.");
	} else if (first >= 0) {
		say_circle(f, stack, first, period);
		lbx_diagnosed_frame(f, &stack->frames[first]);
		LBX_SAY(f->advice,
			"See why it does not end: what was given to the innermost calls, and what would end them. If "
			"it is only deep, a loop, or a larger stack (`ulimit -s`, pthread_attr_setstacksize).");
	} else {
		LBX_SAY(f->title, "the stack is full");
		lbx_diagnosed_frame(f, lbx_case_own_frame(c));
		LBX_SAY(f->advice, "A larger stack: `ulimit -s`, or pthread_attr_setstacksize() of a thread.");
	}
	lbx_format_bytes((int64_t)bytes, text, sizeof text);
	LBX_SAY(f->evidence, "%" PRIu64 " frames in %s of stack, below which 0x%" PRIx64 " cannot be touched.",
		(uint64_t)stack->n + stack->left_out, text, c->death.address);
	return lb_ok();
}

static bool conclude(struct lbx_case *c, void *state)
{
	const struct lbx_thread_view *stack = lbx_case_stack(c);
	struct used used;

	(void)state;
	if (!stack || !measure(stack, &used) || !is_full(c, stack, &used))
		return lb_ok();
	return tell(c, stack, &used);
}

const struct lbx_rule lbx_rule_full_stack = {
	.id = "F7",
	.name = "full-stack",
	.title = "a stack that is full: recursion without end, or arrays that are too large",
	.sees = LBX_SEES_DEATH,
	.meaning =
	    "Below each stack lies memory that nobody can touch, so that it does not grow into what is beside it. Whoever\n"
	    "touches it has used up the stack.",
	.example = "int depth(struct node *n)\n"
		   "{\n"
		   "\treturn 1 + depth(n->parent);     /* the root is its own parent */\n"
		   "}",
	.demands =
	    "It died of a touch of memory that cannot be read, within 64 KiB below its stack pointer or within its innermost\n"
	    "frame, and its frames take 32 KiB at least. A recursion is told where frames repeat three times at least, a\n"
	    "frame where it takes more than half.",
	.cure = "End the recursion, or make it a loop; large arrays belong on the heap.",
	.conclude = conclude,
};
