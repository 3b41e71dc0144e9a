#include "cli/verbs.h"

const struct lbx_command *const lbx_verbs[] = { &lbx_verb_trace.row, &lbx_verb_top.row, &lbx_verb_sites.row, NULL };

const struct lbx_verb *lbx_verb_find(const char *name)
{
	return (const struct lbx_verb *)lbx_command_find(lbx_verbs, name); /* a verb begins with its row */
}
