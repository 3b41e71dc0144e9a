/* The log of named values: a line of JSON each time one is computed (LAZYBONES_LOG; `log` in a debugger). */
#ifndef LB_EVAL_JOURNAL_H
#define LB_EVAL_JOURNAL_H

#include <stdbool.h>

#include "graph/tensor.h"
#include "publish/root.h"

static inline bool lb_journal_on(void)
{
	return __builtin_expect(__atomic_load_n(&lb_root->log, __ATOMIC_RELAXED) & 1, 0);
}

/* Whether its name is among those that are logged: then it is computed apart from what it could be fused with. */
bool lb_journal_wants(const struct lb_tensor *t);
/* Its value has been computed: a line, if it is wanted. Never fails: where the file cannot be written, a line on stderr says
 * so, and no more is logged. Who reads a pipe slowly is waited for. */
void lb_journal(const struct lb_tensor *t);
/* Around a fork. The child goes on in the parent's file, unless the path has a %p. */
void lb_journal_before_fork(void);
void lb_journal_after_fork(void);
void lb_journal_after_fork_in_child(void);

#endif
