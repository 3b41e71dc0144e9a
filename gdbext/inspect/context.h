/* What an inspection works on: a program, seen through a target, and where its answer goes. */
#ifndef LBX_CONTEXT_H
#define LBX_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "inspect/answer.h"
#include "inspect/providers.h"
#include "python/python.h"
#include "table/table.h"
#include "target/stacks.h"

/* What the user can set (`tensor set NAME VALUE`). */
struct lbx_settings {
	int64_t edge_items;    /* shown at each end of an axis that is summarised */
	int64_t threshold;     /* more elements than this are summarised */
	int64_t precision;     /* digits after the point */
	int64_t replay_memory; /* bytes a replay may use */
	int64_t replay_seconds;
};

struct lbx_memory_marks;
struct lbx_marked; /* inspect/show/since.h */
struct lbx_formula;
struct lbx_context;

struct lbx_symbol_space; /* inspect/symbols/symbol_names.h */

/* What only a debugger can do with an object of symbols. */
struct lbx_debugger {
	/* Asks what load() and unload() need to know; false: not known yet. The next object comes in
	 * place of the one before, or, if *ret is set, beside those that hold what it tells. */
	bool (*ready)(struct lbx_context *context, struct lbx_symbol_space **ret);
	bool (*load)(struct lbx_context *context, const void *object, size_t n);
	/* *ret: whether there was one. */
	bool (*unload)(struct lbx_context *context, bool *ret);
	/* Begins or ends to repeat the command that loaded it whenever the program has stopped. May
	 * answer "not yet", like a target. */
	bool (*at_stops)(struct lbx_context *context, bool on);
};

/* So many pointers a program that drives the debugger tells with a command, at most. */
enum { LBX_TOLD_MOST = 4 };

struct lbx_context {
	struct lbx_target *target; /* NULL when there is no program */
	struct lbx_out *out;
	const char *prefix; /* what is written before a command that is typed; NULL: nothing */
	const char *words;  /* what follows the command's name, for a debugger that repeats it; else NULL */
	struct lbx_settings *settings;
	const struct lbx_provider *providers; /* NULL: lbx_providers */
	struct lbx_tensors *tensors; /* of all providers, as one; by lbx_context_tensors() */
	struct lbx_tensors *sets[LBX_SETS_MAX]; /* one by one, likewise */
	const struct lbx_provider *set_providers[LBX_SETS_MAX];
	int n_sets;
	bool absent[LBX_SETS_MAX]; /* providers of which the program was seen to have nothing (lbx_context_prepare()) */
	uint64_t thread; /* whose variables are meant, in the program's own language; 0: any thread's */
	bool has_frame; /* a frame of that thread, or else of the first, was chosen for variables: */
	uint64_t frame;
	uint64_t frame_stack; /* its stack pointer, or 0 */
	bool of_one_moment; /* tensors are those of the moment at which it is told what threads do with them */
	bool lets_go; /* no more is needed of the program than where its tensors are: it may run on then */
	struct lbx_kept *kept; /* NULL: this front end does not live on */
	struct lbx_axes *axes; /* of views (inspect/operand/view.h) that have many; or NULL */
	struct lbx_formula *formulas; /* inspect/formula/formula.h; or NULL */
	struct lbx_table *table; /* the runtime's; by lbx_context_table() */
	struct lbx_stacks *stacks; /* NULL: this front end does not provide them */
	bool (*stacks_of_core)(struct lbx_target *core, struct lbx_stacks **ret); /* of another program; or NULL */
	struct lbx_stacks *all_stacks; /* of all threads, where `stacks` has the selected one's alone; else NULL */
	struct lbx_python *python; /* by lbx_context_python() (inspect/operand/python_stack.h) */
	bool looked_for_python;
	char no_python[256]; /* why it is not known, or "" */
	const char *core; /* the path of the core that is looked at; NULL: it is none, or a debugger has opened it */
	const char *const *cores; /* paths, NULL at the end; likewise */
	struct lbx_memory_marks *marks; /* inspect/memory/points.h; NULL: this front end does not live on */
	struct lbx_marked *marked; /* inspect/show/since.h; likewise */
	const struct lbx_debugger *debugger; /* likewise */
	const struct lbx_pointer *told; /* variables of the selected frame that who drives the debugger knows */
	int n_told;
	bool has_found; /* by the command: something that was looked for is there, which its exit status tells */
	/* Tells the catches that are set, under the key "catches"; NULL: likewise */
	void (*catches)(struct lbx_out *out);
};

extern const struct lbx_settings lbx_default_settings;

/* The thread that is meant: the one that was named, the one that is selected, or that has died; 0: not known, or not yet. */
uint64_t lbx_context_thread(struct lbx_context *context);
/* False, saying so, when there is no program. */
bool lbx_context_program(const struct lbx_context *context);
/* Before the program is held: what can be told of it without that is found out, and what copying it takes is made ready
 * (lbx_target_prepare()). */
void lbx_context_prepare(struct lbx_context *context);
/* As lbx_stacks_hold(), so that it is held for no longer than finding its tensors needs. */
bool lbx_context_hold(struct lbx_context *context);
/* The program's tensors, found at the first call; fails when there is no program, or none that has tensors. */
bool lbx_context_tensors(struct lbx_context *context, struct lbx_tensors **ret);
/* The runtime's table, opened at the first call; fails when there is no program or no runtime. */
bool lbx_context_table(struct lbx_context *context, struct lbx_table **ret);
/* Another program, a core by its path or a process as pid/1234, seen with the settings of one that is looked at, and told in the same place. */
bool lbx_context_open_other(const struct lbx_context *context, const char *path, struct lbx_context *ret);
/* Whether a name is a process's: pid/1234. */
bool lbx_is_process(const char *name);
void lbx_context_close_other(struct lbx_context *core); /* one that was not opened is fine */
/* Forgets what these have found, but for what is kept. */
void lbx_context_close(struct lbx_context *context);

#endif
