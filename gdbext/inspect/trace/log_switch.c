#include "inspect/trace/log_switch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
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

/* Word by word, as a debugger writes. */
static bool write_text(struct lbx_context *context, uint64_t at, const char text[LB_LOG_BYTES])
{
	bool done = true;

	for (size_t i = 0; done && i < LB_LOG_BYTES; i += sizeof(uint64_t))
		done = lbx_target_write(context->target, at + i, text + i, sizeof(uint64_t));
	return done;
}

static bool set(struct lbx_context *context, uint64_t at, uint32_t value)
{
	return lbx_target_write(context->target, at, &value, sizeof value);
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
	if (!root.log_at)
		return lb_fail("log: the program's runtime (%s) keeps none", root.version);
	if (!file && !set(context, root.log_at, (root.log + 1) & ~1u))
		return false;
	if (file &&
	    (!join_names(args, names) || !make_absolute(file, path) || !write_text(context, root.log_names_at, names) ||
	     !write_text(context, root.log_file_at, path) || !set(context, root.log_at, (root.log + 1) | 1)))
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
