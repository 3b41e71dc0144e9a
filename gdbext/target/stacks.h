/* A program's threads, the frames of their stacks, and the pointers that the frames'
 * variables hold. A front end provides it beside its target: the `lazybones` command by
 * unwinding and DWARF, a debugger by asking what it knows.
 *
 * All functions fail with base/error.h; what cannot be found out ends a list early. */
#ifndef LBX_STACKS_H
#define LBX_STACKS_H

#include "target/registers.h"
#include "target/target.h"
#include "target/waits.h"

enum { LBX_FRAMES_MAX = 4096, LBX_FRAMES_WALKED = 1 << 20, LBX_REPEATED = 4, LBX_VARIABLE_MAX = 160 };

struct lbx_frame {
	int level;       /* 0 for the innermost */
	uint64_t pc;
	bool after_call; /* pc is a return address: the call lies before it */
	int depth;       /* of functions inlined at pc, one within the other, the innermost is 0 */
	bool is_inlined; /* into the next frame, which has the same pc */
	struct lbx_registers registers; /* of this frame, as far as known; a provider's own matter */
	uint64_t cfa;    /* the stack pointer before the call that made the frame; 0: not known */
};

/* An address within the instruction that the frame stands at, or that made the call. */
static inline uint64_t lbx_frame_code(const struct lbx_frame *frame)
{
	return frame->pc - frame->after_call;
}

struct lbx_stack {
	int n;
	struct lbx_frame *frames; /* the innermost first */
	int gap;    /* `left_out` frames stand before frames[gap]; 0: none are left out */
	uint64_t left_out;
	int n_repeated;           /* the different pcs of what is left out, if they are few; else 0 */
	uint64_t repeated[LBX_REPEATED];
	bool cut;                 /* there may be more beyond the last: no more were wanted */
	bool damaged;             /* it leads back to frames that it came from */
	char end[512];            /* why there are no more, or "" */
};

/* Whose variables come first, where the program's own language has names. */
struct lbx_viewpoint {
	uint64_t thread; /* 0: of all threads */
	/* Of its functions those first which are called within a frame of C with this stack pointer, or that called it; 0: the
	 * innermost. */
	uint64_t stack;
	bool only; /* other threads' do not count */
};

/* A pointer that a frame's variable holds: `layer->w`, `inputs[3]`. */
struct lbx_pointer {
	char expression[LBX_VARIABLE_MAX];
	bool is_argument;
	uint64_t value;
};
/* False stops the search. */
typedef bool lbx_pointer_fn(void *context, const struct lbx_pointer *pointer);

/* Likewise one that a variable holds which is there for as long as the program runs. */
struct lbx_static_place {
	const char *variable; /* `cache` of `cache["ref"]` */
	uint64_t thread; /* of which it is alone; 0: of all */
	struct lbx_source_line declared; /* the function whose it is, or ""; where */
};
typedef bool lbx_static_fn(void *context, const struct lbx_pointer *pointer, const struct lbx_static_place *place);

/* What was gone through. */
struct lbx_statics_told {
	uint64_t variables; /* that may lead to a tensor */
	bool has_more; /* than were found: there is too much debug information */
	uint64_t cut; /* that have more in them than was looked at */
	char first_cut[LBX_VARIABLE_MAX]; /* one of these */
};

/* What was left out of a frame's variables. */
struct lbx_variables_told {
	uint64_t cut; /* so many have more in them than was looked at */
	char first_cut[LBX_VARIABLE_MAX]; /* one of these */
};

/* What an expression came to. */
enum { LBX_NOTHING_MAX = 256 };
struct lbx_evaluated {
	uint64_t value;
	bool is_object; /* the value is its address */
	bool is_number; /* its type is one of numbers, no pointer: then that is `number` */
	bool is_whole; /* no floating-point number */
	double number;
	bool
	    lacks_member; /* there is nothing since a class has no such member; by other rules than C's the text may have a meaning */
	char why[LBX_NOTHING_MAX]; /* why there is nothing: "m->mask is empty"; or "" */
};

struct lbx_stacks {
	const struct lbx_stacks_ops *ops;
};

struct lbx_stacks_ops {
	bool all_threads; /* threads() tells them all, and walk() goes through any of them */
	/* Stores the numbers of at most max threads, the selected (or dead) one first; returns
	 * how many there are, or -1. */
	int (*threads)(struct lbx_stacks *stacks, uint64_t *tids, int max);
	/* From here on that thread is the first one (0: it stays as it is), and expressions are over the variables of that frame
	 * alone, besides global ones (-1: of any of its frames). *ret_sp: the frame's stack pointer, or 0. False, with an error:
	 * there is no such frame, or thread. NULL: the debugger has its own. */
	bool (*choose)(struct lbx_stacks *stacks, uint64_t tid, int frame, uint64_t *ret_sp);
	/* How the program died; false, without error, when it did not. */
	bool (*death)(struct lbx_stacks *stacks, struct lbx_death *ret);
	/* At most max frames, of which `tail` are the outermost ones where there are more. To be released
	 * with lbx_stack_release(). */
	bool (*walk)(struct lbx_stacks *stacks, uint64_t tid, int max, int tail, struct lbx_stack *ret);
	bool (*line)(struct lbx_stacks *stacks, const struct lbx_frame *frame, struct lbx_source_line *ret);
	/* Pointers of the frame's arguments and local variables, also those in arrays, structs and, where the
	 * provider knows them, containers of C++, and one step behind them; a bounded number: *ret tells of what is left out,
	 * where it is not NULL. */
	bool (*pointers)(struct lbx_stacks *stacks, const struct lbx_frame *frame, lbx_pointer_fn *fn, void *context,
			 struct lbx_variables_told *ret);
	/* The pointers that global variables hold, and statics of classes and functions, in the program and its own libraries. False,
	 * without an error, or NULL: they are not known. */
	bool (*statics)(struct lbx_stacks *stacks, lbx_static_fn *fn, void *context, struct lbx_statics_told *ret);
	/* The value of an expression of C's over the variables of the first thread's frames, the innermost
	 * first, or over the program's global ones (target/expression.h). False, without error, when it
	 * has none. NULL: the debugger evaluates. */
	bool (*evaluate)(struct lbx_stacks *stacks, const char *expression, struct lbx_evaluated *ret);
	/* The pointers in the object that such an expression comes to, those of what is in its containers included; whether
	 * there is more in it than was looked at. False: it comes to none. NULL: not known. */
	bool (*within)(struct lbx_stacks *stacks, const char *expression, lbx_pointer_fn *fn, void *context,
		       bool *ret_more);
	/* The function of another frame that has a variable of that name, where evaluate() looks at the selected frame alone.
	 * False: none is known. NULL: it looks at all. */
	bool (*elsewhere)(struct lbx_stacks *stacks, const char *name, char *ret, size_t size);
	/* All threads, `max` at most, and what they wait for, without holding the program for that; of what stands still, what
	 * they may wait for, if the innermost functions of their stacks do (target/waits.h). NULL: not known. */
	int (*waits)(struct lbx_stacks *stacks, struct lbx_wait *ret, int max);
	void (*destroy)(struct lbx_stacks *stacks);
};

void lbx_stack_release(struct lbx_stack *stack);
void lbx_stacks_destroy(struct lbx_stacks *stacks); /* NULL is fine */

/* Of a core; the target must outlive it. */
bool lbx_stacks_of_core(struct lbx_target *core, struct lbx_stacks **ret);
/* Of a process: from the first question until the end it stands still (lbx_hold_start()). */
bool lbx_stacks_of_process(struct lbx_target *process, struct lbx_stacks **ret);

/* Of a process that runs: holds it, so that what its threads do and what its memory holds are of one moment. False, with an
 * error: it cannot be held. Either may be NULL. */
bool lbx_stacks_hold(struct lbx_stacks *stacks, struct lbx_target *target);

#endif
