/* Why the kernel does not let one process look into another: ptrace(2), "Ptrace access mode checking". */
#ifndef LBX_PERMISSION_H
#define LBX_PERMISSION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What decides. */
struct lbx_permission {
	uid_t mine, its; /* who looks, and whose process it is */
	bool is_protected; /* it is not dumpable: prctl(2), PR_SET_DUMPABLE */
	int yama; /* /proc/sys/kernel/yama/ptrace_scope; -1: there is none */
};

/* What holds for this process and another. What cannot be read is taken to be allowed. */
void lbx_permission_read(pid_t pid, struct lbx_permission *ret);
/* Which rule it is, and what to do; for what was refused. */
void lbx_permission_why(const struct lbx_permission *permission, char *ret, size_t size);
/* Both: false, with `what`, why the system has refused it and, where permissions are the reason, the rule. */
bool lbx_fail_permission(pid_t pid, const char *what, int why);

#endif
