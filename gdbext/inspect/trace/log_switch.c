#include "inspect/trace/log_switch.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "inspect/trace/log_pipe.h"
#include "symtab.h"

static bool join_names(const struct lbx_args *args, char ret[LB_LOG_BYTES])
{
	size_t used = 0;

	memset(ret, 0, LB_LOG_BYTES);
	for (int i = 0; i < args->n; i++) {
		used += (size_t)snprintf(ret + used, LB_LOG_BYTES - used, "%s%s", i ? "," : "", args->v[i]);
		if (used >= LB_LOG_BYTES)
			return lb_fail("log: the names have %d characters together at most", LB_LOG_BYTES - 1);
	}
	return true;
}

/* The program may be in another folder than the debugger. */
static bool make_absolute(const char *file, char ret[LB_LOG_BYTES])
{
	char here[LB_LOG_BYTES] = "";
	bool is_absolute = *file == '/' || strcmp(file, "-") == 0;

	memset(ret, 0, LB_LOG_BYTES);
	if (!is_absolute && !getcwd(here, sizeof here))
		return lb_fail("log: %s", strerror(errno));
	return (size_t)snprintf(ret, LB_LOG_BYTES, "%s%s%s", here, is_absolute ? "" : "/", file) < LB_LOG_BYTES ||
	       lb_fail("log: a path of more than %d characters", LB_LOG_BYTES - 1);
}

bool lbx_log_check_file(const char *file)
{
	char folder[LB_LOG_BYTES];
	struct stat is;

	if (strcmp(file, "-") == 0)
		return true;
	if (stat(file, &is) == 0 && S_ISDIR(is.st_mode))
		return lb_fail("log: %s is a folder: nothing can be logged there", file);
	if (access(file, W_OK) == 0)
		return true;
	if (errno == ENOENT) {
		const char *name = strrchr(file, '/');
		size_t n = name ? (size_t)(name - file) : 0;
		snprintf(folder, sizeof folder, "%.*s", (int)(name ? n + (n == 0) : 1), name ? file : ".");
		if (access(folder, W_OK | X_OK) == 0)
			return true;
	}
	return lb_fail("log: %s cannot be written: %s", file, strerror(errno));
}

/* What a process on this machine calls its files is what we call them. */
static bool has_our_files(struct lbx_target *target)
{
	char path[64];
	struct stat ours, theirs;
	uint64_t pid;
	bool clean = lb_ok();
	bool knows_pid = target->liveness == LBX_LIVE && target->ops->pid && target->ops->pid(target, &pid);

	if (clean)
		lb_clear_error();
	if (!knows_pid)
		return false;
	snprintf(path, sizeof path, "/proc/%" PRIu64 "/root/.", pid);
	return stat("/.", &ours) == 0 && stat(path, &theirs) == 0 && ours.st_dev == theirs.st_dev &&
	       ours.st_ino == theirs.st_ino;
}

/* Word by word, as a debugger writes. */
static bool write_text(struct lbx_target *target, lbx_log_write *write, uint64_t at, const char text[LB_LOG_BYTES])
{
	bool done = true;

	for (size_t i = 0; done && i <= strlen(text); i += sizeof(uint64_t))
		done = write(target, at + i, text + i, sizeof(uint64_t));
	return done;
}

static bool set(struct lbx_target *target, const struct lbx_root *root, lbx_log_write *write, uint32_t value)
{
	return write(target, root->log_at, &value, sizeof value);
}

static bool check(const struct lbx_root *root)
{
	return root->log_at || lb_fail("the program's runtime (%s) keeps no log of values", root->version);
}

/* Where it goes now; "": nowhere. */
static bool find_file(struct lbx_target *target, const struct lbx_root *root, char ret[LB_LOG_BYTES])
{
	memset(ret, 0, LB_LOG_BYTES);
	return !(root->log & 1) || lbx_target_read(target, root->log_file_at, ret, LB_LOG_BYTES - 1);
}

/* One who follows it and has been killed does so no more. */
static bool check_before(const char *now, const char *file)
{
	pid_t owner;

	if (!*now || strcmp(now, file) == 0)
		return true;
	if (!lbx_log_pipe_owner(now, &owner))
		return !lbx_log_pipe_owner(file, &owner) ||
		       lb_fail("the program keeps a log already: `log --off` ends it%s", "");
	return (kill(owner, 0) != 0 && errno == ESRCH) ||
	       lb_fail("the program's values go to process %d, which follows them: end that first (`follow --off`)",
		       (int)owner);
}

bool lbx_log_begin(struct lbx_target *target, const struct lbx_root *root, lbx_log_write *write, const char *names,
		   const char *file)
{
	char now[LB_LOG_BYTES], padded[2][LB_LOG_BYTES] = { "", "" };

	snprintf(padded[0], LB_LOG_BYTES, "%s", names);
	snprintf(padded[1], LB_LOG_BYTES, "%s", file);
	/* off while its words change: a program that runs on may look at them */
	return check(root) && find_file(target, root, now) && check_before(now, file) &&
	       (!(root->log & 1) || set(target, root, write, root->log + 1)) &&
	       write_text(target, write, root->log_names_at, padded[0]) &&
	       write_text(target, write, root->log_file_at, padded[1]) && set(target, root, write, (root->log + 2) | 1);
}

bool lbx_log_end(struct lbx_target *target, const struct lbx_root *root, lbx_log_write *write, const char *file)
{
	char now[LB_LOG_BYTES];

	if (!check(root) || !find_file(target, root, now))
		return false;
	if (!(root->log & 1) || (file && strcmp(now, file) != 0))
		return true;
	return set(target, root, write, root->log + 1);
}

bool lbx_log_switch(struct lbx_context *context, const struct lbx_args *args, const char *file)
{
	char names[LB_LOG_BYTES], path[LB_LOG_BYTES];
	struct lbx_table *table;
	struct lbx_root root;

	if (!context->target)
		return lb_fail("log: no program runs yet: `set environment LAZYBONES_LOG FILE` logs from its start on");
	if (!lbx_context_table(context, &table) || !lbx_table_root(table, &root))
		return false;
	if (!context->target->ops->write || context->target->liveness == LBX_CORE)
		return lb_fail("log: a log is begun in a program that runs in gdb; else LAZYBONES_LOG=FILE begins one");
	bool is_here = file && has_our_files(context->target);
	if (lbx_target_waits(context->target))
		return lb_fail("log: the debugger has not answered yet");
	if (file ? !join_names(args, names) || !make_absolute(file, path) || (is_here && !lbx_log_check_file(path)) ||
		       !lbx_log_begin(context->target, &root, lbx_target_write, names, path)
		 : !lbx_log_end(context->target, &root, lbx_target_write, NULL))
		return false;
	lbx_begin(context->out, NULL);
	LBX_KEY(context->out, "log", file ? lbx_json_string(path) : json_null());
	if (file)
		lbx_printf(context->out, "%s goes to %s, a line each time it is computed, until `log --off`.\n",
			   *names ? names : "Each named value", path);
	else
		lbx_printf(context->out, "Nothing is logged any more.\n");
	lbx_end(context->out);
	return true;
}
