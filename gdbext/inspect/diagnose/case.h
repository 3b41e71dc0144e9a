/* What rules are checked on: a program, of which what several rules need is gathered once. */
#ifndef LBX_CASE_H
#define LBX_CASE_H

#include "inspect/context.h"
#include "inspect/diagnose/diagnosis.h"
#include "inspect/diagnose/evaluations.h"
#include "inspect/diagnose/gradients.h"
#include "inspect/diagnose/ops.h"
#include "inspect/measure/nonfinite.h"
#include "table/flight.h"

struct lbx_frame_view; /* inspect/operand/frames.h */
struct lbx_thread_view;
struct lbx_looks; /* inspect/diagnose/looks.h */

/* Kinds of events that rules tell apart; X(name in the flight recorder). */
#define LBX_HAPPENINGS(X) \
	X(eval_start) \
	X(eval_done) \
	X(op_done) \
	X(compile) \
	X(alloc) \
	X(dealloc) \
	X(raw_access) \
	X(raw_misuse) \
	X(implicit_eval) \
	X(async_queue) \
	X(wait_start) \
	X(wait_done) \
	X(error)
enum lbx_happening {
	LBX_HAPPENED_OTHER,
#define X(name) LBX_HAPPENED_##name,
	LBX_HAPPENINGS(X)
#undef X
	    LBX_HAPPENINGS_N
};

/* An event, and what kind it is of. */
struct lbx_happened {
	enum lbx_happening what;
	const struct lb_flight_event *event;
};

struct lbx_case {
	struct lbx_context *context;
	struct lbx_tensors *tensors; /* of all providers; NULL: there are none */
	struct lbx_table *table;     /* the runtime's; NULL: it is not in the program */
	struct lbx_root root;
	struct lbx_flight flight;
	bool has_death;
	struct lbx_death death; /* where it has died, and how is known */
	bool has_looked_at_stack;
	struct lbx_thread_view *stack; /* by lbx_case_stack() */
	enum lbx_happening *kinds;   /* of its kinds of events */
	bool has_evaluations;
	struct lbx_evaluations evaluations; /* by lbx_case_evaluations() */
	struct lbx_operands operands; /* by lbx_case_operands() */
	struct lbx_gradients gradients; /* likewise, where a rule sees them */
	const char *names;           /* a glob of those of the tensors that are meant, or "#12"; NULL: all */
	double seconds;              /* that looking at values may take; 0: none are looked at */
	struct lbx_looks *looks;     /* at a program that is watched; NULL: it is looked at once */
	const struct lbx_rule *rule; /* that is being checked */
	struct lbx_diagnosis *diagnosis;
};

/* Another finding of the rule that is being checked, to be filled in: NULL, with an error, without memory; NULL, without
 * one, where the rule has said enough, which is counted. */
struct lbx_diagnosed *lbx_case_found(struct lbx_case *c, enum lbx_severity severity, double confidence);
/* Likewise of one about a tensor, which is read into *ret, and told with its call; NULL, without an error, too, where it is gone: a
 * program that runs may have let go of it meanwhile. */
struct lbx_diagnosed *lbx_case_found_of(struct lbx_case *c, enum lbx_severity severity, double confidence,
					const struct lbx_key *key, struct lbx_tensor *ret);
/* What names a tensor in a command: its name, where no other has it and nothing in it needs quotes; else its number. */
enum { LBX_OPERAND_MAX = LB_NAME_MAX + 1 };
void lbx_case_operand(const struct lbx_case *c, const struct lbx_tensor *t, char ret[LBX_OPERAND_MAX]);
/* Those of a tensor: found once for all rules that ask while it is shown. */
const struct lbx_operands *lbx_case_operands(struct lbx_case *c, const struct lbx_tensor *t);
/* The stack of the thread that died, its ends where it is very long; NULL: it is not known. */
enum { LBX_CASE_FRAMES = 256 };
const struct lbx_thread_view *lbx_case_stack(struct lbx_case *c);
void lbx_case_release_stack(struct lbx_case *c);
/* Where it died as far as the program's own code goes; NULL: likewise. */
const struct lbx_frame_view *lbx_case_own_frame(struct lbx_case *c);
/* Tells the place of a frame as that of a finding; NULL: nothing is told. */
void lbx_diagnosed_frame(struct lbx_diagnosed *d, const struct lbx_frame_view *frame);
/* Whether findings may be about a tensor: whether it was asked for. */
bool lbx_case_means(const struct lbx_case *c, const struct lbx_tensor *t);
/* Value of the event's argument called `name`; 0 if it has none such. */
uint64_t lbx_happened_arg(const struct lbx_case *c, const struct lbx_happened *event, const char *name);
/* The text that it leads to; "" without. */
void lbx_happened_text(const struct lbx_case *c, const struct lbx_happened *event, const char *name,
		       char ret[LB_FLIGHT_TEXT_BYTES]);

#endif
