/* Starting and ending sessions. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "lazybones.h"
#include "serve/route.h"
#include "target/core.h"

/* What is started, as it was asked for. Its strings live as long as it does. */
struct wanted {
	struct lbx_session_start start;
	char program[PATH_MAX], script[PATH_MAX], core[PATH_MAX], cwd[PATH_MAX], warning[2 * PATH_MAX];
	const char *args[258];
	char name[64];
};

static bool real_file(struct lbx_call *call, const char *what, const char *path, char ret[PATH_MAX])
{
	struct stat about;

	if (!realpath(path, ret) || stat(ret, &about) != 0)
		return lbx_refuse(call, 400, "%s: %s: %s", what, path, strerror(errno));
	if (!S_ISREG(about.st_mode))
		return lbx_refuse(call, 400, "%s: %s is no file", what, path);
	return true;
}

/* ET_CORE, …; ET_NONE: it is no file in ELF. */
static int elf_type(const char *path)
{
	Elf64_Ehdr head; /* of 32 bits, too, as far as it is looked at */
	const ssize_t wanted = offsetof(Elf64_Ehdr, e_machine);
	lb_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && read(fd, &head, (size_t)wanted) == wanted && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0
		   ? head.e_type
		   : ET_NONE;
}

static bool find_in_path(const char *name, char ret[PATH_MAX])
{
	const char *path = getenv("PATH");

	for (const char *at = path ? path : "/usr/bin:/bin"; *at; at += strspn(at, ":")) {
		size_t n = strcspn(at, ":");
		lb_auto_free char *candidate = NULL;
		if (asprintf(&candidate, "%.*s/%s", (int)n, at, name) > 0 && access(candidate, X_OK) == 0 &&
		    realpath(candidate, ret))
			return true;
		at += n;
	}
	return false;
}

/* The interpreter of a script: of Python by its name, else by its first line. */
static bool take_script(struct lbx_call *call, struct wanted *w)
{
	const char *dot = strrchr(w->program, '.');

	if (!dot || strcmp(dot, ".py") != 0)
		return lbx_refuse(call, 400, "%s is no program: a file in ELF is needed, or a script of Python",
				  w->program);
	strcpy(w->script, w->program);
	if (!find_in_path("python3", w->program))
		return lbx_refuse(call, 400, "there is no python3 to run %s with", w->script);
	memmove(w->args + 1, w->args, sizeof w->args - sizeof *w->args);
	w->args[0] = w->script;
	return true;
}

static bool take_args(struct lbx_call *call, struct wanted *w)
{
	const json_t *args = json_object_get(call->params, "args");
	size_t i;
	json_t *each;

	if (json_array_size(args) > 256)
		return lbx_refuse(call, 400, "args: more than 256");
	json_array_foreach((json_t *)args, i, each) w->args[i] = json_string_value(each);
	w->start.args = w->args;
	return true;
}

/* The last part of its path, of which only what every file system takes is kept. */
static void set_name(struct wanted *w, const char *of)
{
	const char *slash = strrchr(of, '/'), *dot;
	size_t n = 0;

	of = slash ? slash + 1 : of;
	dot = strrchr(of, '.');
	for (const char *at = of; *at && at != (dot > of ? dot : NULL) && n < sizeof w->name - 1; at++)
		w->name[n++] = strchr("/ \t\n\"'\\", *at) || (unsigned char)*at < 32 ? '_' : *at;
	w->name[n] = '\0';
}

static bool take_program(struct lbx_call *call, struct wanted *w, const char *program)
{
	if (!real_file(call, "program", program, w->program) || !take_args(call, w))
		return false;
	set_name(w, w->program);
	w->start.program = w->program;
	return elf_type(w->program) != ET_NONE || take_script(call, w);
}

/* The program of a core is the one that was asked for, which gdb uses whatever it is; or the one that its list of files has,
 * unless that is missing, or another by now. */
static void find_program(struct wanted *w)
{
	const struct lbx_core_options options = { .exe = w->start.program,
						  .force = true,
						  .advice = "`program` says where it is now" };
	struct lbx_target *target = NULL;
	struct lbx_module module = { .is_program = false };
	char why[PATH_MAX];

	if (lbx_core_open(w->core, &options, &target))
		for (size_t i = 0; !module.is_program && lbx_target_module(target, i, &module); i++)
			;
	if (w->start.program && target) {
		lbx_core_warning(target, w->warning, sizeof w->warning);
	} else if (module.is_program && !lbx_module_is_used(&module)) {
		lbx_module_why(&module, why, sizeof why);
		snprintf(w->warning, sizeof w->warning, "the program of this core, %s, %s", module.path, why);
	} else if (module.is_program && realpath(module.path, w->program)) {
		w->start.program = w->program;
	}
	w->start.warning = w->warning[0] ? w->warning : NULL;
	lbx_target_destroy(target);
	lb_clear_error();
}

static bool take_core(struct lbx_call *call, struct wanted *w, const char *core)
{
	set_name(w, core);
	w->start.kind = LBX_OF_CORE;
	w->start.core = w->core;
	if (!real_file(call, "core", core, w->core))
		return false;
	if (elf_type(w->core) != ET_CORE)
		return lbx_refuse(call, 400, "%s is no core file", core);
	find_program(w);
	return true;
}

static bool take_process(struct lbx_call *call, struct wanted *w, long long pid)
{
	if (pid < 1 || pid > INT_MAX)
		return lbx_refuse(call, 400, "pid: %lld is no process", pid);
	if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
		return lbx_refuse(call, 404, "there is no process %lld", pid);
	w->start.kind = LBX_OF_PROCESS;
	w->start.pid = (long)pid;
	snprintf(w->name, sizeof w->name, "process_%lld", pid);
	return true;
}

static bool take_wanted(struct lbx_call *call, struct wanted *w)
{
	const char *program = lbx_call_string(call, "program"), *core = lbx_call_string(call, "core"),
		   *cwd = lbx_call_string(call, "cwd");
	long long pid = lbx_call_whole(call, "pid", 0);

	if (!program)
		program = lbx_call_string(call, "script_path");
	if (!program && !core && !pid)
		return lbx_refuse(call, 400, "program, core or pid is needed: what to look at");
	if (pid && (program || core))
		return lbx_refuse(call, 400, "pid stands alone: gdb finds the program of a process");
	w->start.environment = json_object_get(call->params, "env");
	w->start.skips = lbx_call_flag(call, "skips", true);
	if (cwd && !realpath(cwd, w->cwd))
		return lbx_refuse(call, 400, "cwd: %s: %s", cwd, strerror(errno));
	w->start.cwd = cwd ? w->cwd : NULL;
	if (program && !take_program(call, w, program))
		return false;
	return (!core || take_core(call, w, core)) && (!pid || take_process(call, w, pid));
}

static bool run_start(struct lbx_call *call)
{
	lb_auto_free struct wanted *w = calloc(1, sizeof *w);
	bool is_full;

	if (!w)
		return lb_fail("out of memory");
	if (!take_wanted(call, w))
		return false;
	if (!lbx_sessions_start(call->sessions, &w->start, w->name, &call->session, &is_full)) {
		call->status = is_full ? 503 : lb_error_cause() == LB_MISUSED ? 400 : lbx_status_of_gdb();
		return false;
	}
	return lbx_answer(call, lbx_session_status(call->session));
}

const struct lbx_route lbx_route_start = {
	.method = "POST",
	.path = "/debug/start",
	.tool = "start",
	.summary = "start a session",
	.help = "Loads a program, which begins to run with continue_async; opens a core file; or attaches to a process, which\n"
		"stands still from then on. Answers with the session's status, in which `warning` tells of a core whose program is\n"
		"missing, or another. A session whose program has ended can run it again.",
	.params = {
		{ "program", LBX_STRING, false, "the path of a program, or of a script of Python" },
		{ "script_path", LBX_STRING, false, "another name for program" },
		{ "args", LBX_LIST, false, "its arguments" },
		{ "env", LBX_PAIRS, false, "variables of its environment, beside those of the server" },
		{ "cwd", LBX_STRING, false, "the directory in which it runs" },
		{ "core", LBX_STRING, false, "the path of a core file; program may name its program" },
		{ "pid", LBX_WHOLE, false, "a process to attach to" },
		{ "skips", LBX_FLAG, false, "false: steps also enter functions of the system and of libraries of tensors" },
	},
	.run = run_start,
};

static bool run_terminate(struct lbx_call *call)
{
	struct lbx_trace *trace = lbx_session_trace(call->session);
	json_t *told = json_pack("{s:i, s:s, s:s*}", "session", lbx_session_id(call->session), "state", "ended",
				 "trace", trace ? lbx_trace_path(trace) : NULL);

	if (trace)
		lbx_trace_add(trace, json_pack("{s:s}", "kind", "terminated"));
	call->is_over = true;
	lbx_sessions_end(call->sessions, call->session);
	return lbx_answer(call, told);
}

const struct lbx_route lbx_route_terminate = {
	.method = "POST",
	.path = "/debug/terminate",
	.tool = "terminate",
	.summary = "end a session, and the program that it started",
	.help = "A process that it was attached to runs on. The trace is a whole file when this is answered.",
	.needs = LBX_IN_ANY_STATE,
	.run = run_terminate,
};

static bool run_sessions(struct lbx_call *call)
{
	return lbx_answer(call, json_pack("{s:o}", "sessions", lbx_sessions_list(call->sessions)));
}

const struct lbx_route lbx_route_sessions = {
	.method = "GET",
	.path = "/sessions",
	.tool = "sessions",
	.summary = "list the sessions and their states",
	.run = run_sessions,
};
