/* The one command table. gdb's `tensor …` commands with their help, the subcommands of
 * the `lazybones` program with their --help, the man pages and the tables of gdbext/README.md all
 * come from its rows. A new inspection is one file, with its function and below that its row, and one
 * line in commands.def. */
#ifndef LBX_COMMAND_H
#define LBX_COMMAND_H

#include <stdbool.h>

#include "inspect/args.h"
#include "inspect/context.h"

struct lbx_option {
	const char *name;  /* without the dashes */
	const char *value; /* what its value is called in help; NULL: it has none */
	const char *help;
};

enum lbx_needs {
	LBX_NEEDS_NOTHING = 0,
	LBX_NEEDS_VALUES = 1 << 0,  /* a program, whose tensors are looked for where an argument names one: T may
				     * be memory (@ADDRESS…), of any program */
	LBX_NEEDS_TENSORS = 1 << 1, /* a program with tensors, of whatever provider: context->tensors */
	LBX_NEEDS_RUNTIME = 1 << 2, /* one with the runtime in it: context->table, too */
	LBX_NEEDS_LIVE = 1 << 3,    /* a running one */
	LBX_NEEDS_STACKS = 1 << 4,  /* context->stacks: a front end without them leaves the row out */
	LBX_NEEDS_CORES = 1 << 5,   /* context->cores: likewise */
	LBX_NEEDS_FRAMES = 1 << 6,  /* context->stacks, of the selected thread at least */
	LBX_NEEDS_PROGRAM = LBX_NEEDS_VALUES | LBX_NEEDS_TENSORS | LBX_NEEDS_RUNTIME | LBX_NEEDS_LIVE |
			    LBX_NEEDS_STACKS | LBX_NEEDS_CORES | LBX_NEEDS_FRAMES,
	/* What a front end has to find out first, if it is one that must. */
	LBX_NEEDS_KIND = 1 << 7,    /* target->liveness: whether the program is live, remote or dead */
	LBX_NEEDS_CATCHES = 1 << 8, /* context->catches */
	LBX_NEEDS_PIXELS = 1 << 9,  /* out->pixels */
	/* What else it may want to know. */
	LBX_GIVES_ADDRESSES = 1 << 10, /* of tensors, which the user may look at in memory next */
	LBX_CALLS_PROGRAM = 1 << 11,   /* a function of it, where nothing is to stop */
	LBX_SELECTS_FRAME = 1 << 12,   /* which may be in another language */
	LBX_LETS_GO =
	    1 << 13, /* no elements are told: a process that is held for it may run on once its tensors are found */
	LBX_NEEDS_NO_PROGRAM = 1 << 14, /* it looks into none: its words stand by themselves */
	LBX_OF_ONE_MOMENT =
	    1 << 15,    /* what threads do with tensors, and these: who tells it holds a process for that */
};

struct lbx_command {
	const char *name;
	const char *arguments; /* as in a synopsis: "T[slice]" */
	const char *summary;   /* one line, no full stop */
	const char *help;      /* paragraphs, with an example */
	int min_args, max_args;
	unsigned needs;
	struct lbx_option options[20]; /* to the first without a name; --json is common to all that run */
	const char *(*word)(int i);    /* the first argument is one of these, up to NULL; NULL: it may be anything */
	/* for completion, the values of an option that are one word, up to NULL; NULL: none are known */
	const char *(*value)(const char *option, int i);
	const char *letters;           /* "output pid": those that are -o and -p, too; or NULL */
	/* NULL: a program of its own, of which only the help is needed */
	bool (*run)(struct lbx_context *context, const struct lbx_args *args);
};

/* The rows by name, lbx_command_print. */
#define COMMAND(name) extern const struct lbx_command lbx_command_##name;
#include "inspect/commands.def"
#undef COMMAND

/* All of them in their order, and NULL; other tables are alike. */
extern const struct lbx_command *const lbx_commands[];

/* NULL when the table has no such command. */
const struct lbx_command *lbx_command_find(const struct lbx_command *const *table, const char *name);
/* Opens what the command needs of a program: context->table, context->tensors. */
bool lbx_command_open(struct lbx_context *context, const struct lbx_command *command);
/* context->table, of what only the runtime has; other tensors that are there are named, lest they seem not to be seen. */
bool lbx_command_open_runtime(struct lbx_context *context, const struct lbx_command *command);
/* Checks what the command needs, and runs it. --json sets out->json. */
/* LBX_LETS_GO, but for options that read elements after all. */
bool lbx_command_lets_go(const struct lbx_args *args);
/* Of one that has run: tells which of several tensors was meant. Fails where the answer could not be told, or the command has
 * forgotten to end it. */
bool lbx_command_end(struct lbx_context *context, const struct lbx_command *command);
bool lbx_command_run(struct lbx_context *context, const struct lbx_args *args);
/* Says in text, not in JSON, what must be known of the bytes that were read (lbx_target_notice). */
void lbx_tell_notice(struct lbx_out *out, struct lbx_target *target);
/* Its help, with the prefix before each command of its example: `Example: peek q, peek loss`. */
void lbx_command_text(struct lbx_out *out, const struct lbx_command *command, const char *prefix);
/* The text of `help tensor NAME`. What is written before a command: in the usage, and in examples. */
void lbx_command_help(struct lbx_out *out, const struct lbx_command *command, const char *prefix, const char *example);

#endif
