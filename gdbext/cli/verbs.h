/* The commands of this program alone, which parse their words themselves. */
#ifndef LBX_VERBS_H
#define LBX_VERBS_H

#include "inspect/command.h"

struct lbx_verb {
	struct lbx_command row; /* described as others are; its `run` is NULL */
	/* `words` follow its name. Returns the exit status. */
	int (*run)(struct lbx_out *out, struct lbx_argv words);
};

/* Each stands at the foot of its function's file, and in the table of forms (cli/forms.h). */
extern const struct lbx_verb lbx_verb_trace, lbx_verb_top, lbx_verb_sites, lbx_verb_gdb, lbx_verb_serve, lbx_verb_mcp,
    lbx_verb_trace_diff, lbx_verb_replay_session, lbx_verb_follow;

/* Watches a program, where `words` behind the form of the same name ask for that. */
extern const struct lbx_verb lbx_verb_doctor;
bool lbx_doctor_watches(struct lbx_argv words);
/* Whether the words behind `pid` are `PID follow …`. */
bool lbx_follow_is_of_process(struct lbx_argv words);

/* Whose words these are; NULL: no verb's. */
const struct lbx_verb *lbx_verb_find(struct lbx_argv words);

#endif
