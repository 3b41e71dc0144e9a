#include "cli/verbs.h"

#include <string.h>

const struct lbx_command *const lbx_verbs[] = {
	&lbx_verb_trace.row, &lbx_verb_top.row,        &lbx_verb_sites.row,          &lbx_verb_serve.row,
	&lbx_verb_mcp.row,   &lbx_verb_trace_diff.row, &lbx_verb_replay_session.row, NULL
};

const struct lbx_verb *lbx_verb_find(struct lbx_argv words)
{
	if (!*words.at)
		return NULL;
	if (strcmp(*words.at, lbx_verb_doctor.row.name) == 0 &&
	    lbx_doctor_watches((struct lbx_argv){ words.at + 1, words.typed }))
		return &lbx_verb_doctor;
	return (const struct lbx_verb *)lbx_command_find(lbx_verbs, *words.at); /* a verb begins with its row */
}
