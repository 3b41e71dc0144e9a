#include "target/permission.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "target/printable.h"

static int yama(void)
{
	int scope = -1;
	FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");

	if (f && fscanf(f, "%d", &scope) != 1)
		scope = -1;
	if (f)
		fclose(f);
	return scope;
}

/* Of its real, effective and saved user all must be who looks. */
static uid_t owner(pid_t pid, uid_t mine)
{
	char path[64], line[256];
	unsigned real, effective, saved;
	uid_t its = mine;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "re");
	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "Uid: %u %u %u", &real, &effective, &saved) == 3)
			its = real != mine ? real : effective != mine ? effective : saved;
	if (f)
		fclose(f);
	return its;
}

void lbx_permission_read(pid_t pid, struct lbx_permission *ret)
{
	char path[64];
	struct stat s;

	*ret = (struct lbx_permission){ .mine = geteuid(), .yama = yama() };
	ret->its = owner(pid, ret->mine);
	snprintf(path, sizeof path, "/proc/%d/mem", (int)pid); /* root's where it is protected: proc(5) */
	ret->is_protected = ret->its != 0 && stat(path, &s) == 0 && s.st_uid == 0;
}

static void describe_user(uid_t user, char *ret, size_t size)
{
	const struct passwd *p = getpwuid(user);

	if (p)
		snprintf(ret, size, "%s", p->pw_name);
	else
		snprintf(ret, size, "user %u", (unsigned)user);
	lbx_make_printable(ret);
}

void lbx_permission_why(const struct lbx_permission *p, char *ret, size_t size)
{
	char mine[64], its[64];

	describe_user(p->mine, mine, sizeof mine);
	describe_user(p->its, its, sizeof its);
	if (p->its != p->mine)
		snprintf(ret, size, "it is a process of %s's, and you are %s: look into it as %s%s", its, mine, its,
			 p->its ? " or as root" : "");
	else if (p->is_protected)
		snprintf(ret, size,
			 "it is protected (PR_SET_DUMPABLE; its program is set-uid, or cannot be read): "
			 "root may look into it");
	else if (p->yama == 1)
		snprintf(ret, size,
			 "kernel.yama.ptrace_scope is 1: only those that started it may look into it; do it "
			 "as root, or allow it by `sysctl kernel.yama.ptrace_scope=0`");
	else if (p->yama == 2)
		snprintf(ret, size, "kernel.yama.ptrace_scope is 2: only root may look into a process");
	else if (p->yama >= 3)
		snprintf(ret, size,
			 "kernel.yama.ptrace_scope is %d: nobody may look into a process until the machine "
			 "is started anew",
			 p->yama);
	else
		snprintf(ret, size,
			 "a security module or a container's limits forbid it, as a lack of CAP_SYS_PTRACE: "
			 "ptrace(2)");
}

bool lbx_fail_permission(pid_t pid, const char *what, int why)
{
	struct lbx_permission permission;
	char rule[256];

	if (why != EACCES && why != EPERM)
		return lb_fail("%s: %s", what, strerror(why));
	lbx_permission_read(pid, &permission);
	lbx_permission_why(&permission, rule, sizeof rule);
	return lb_fail("%s: %s: %s", what, strerror(why), rule);
}
