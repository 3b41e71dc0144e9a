/* lazybones serve: sessions of gdb for tools and people, over HTTP; lazybones mcp: the same for agents, over standard input
 * and output. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "cli/manual.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "target/printable.h"
#include "lazybones.h"
#include "serve/http.h"
#include "serve/mcp.h"
#include "serve/route.h"
#include "serve/sessions.h"
#include "record/trace.h"

enum { MOST_LINE = 1 << 20 };

/* What both are told. */
struct service {
	struct lbx_args args;
	const char **program; /* and its arguments, to NULL */
	int64_t port, most, idle, keep, pid;
	double older_than; /* days */
	struct lbx_sessions_limits limits;
	struct lbx_access access;
};

static const struct service defaults = {
	.port = 8000, .most = 8, .idle = 60, .keep = -1, .older_than = -1, .access.address = "127.0.0.1"
};

static bool take_traces(struct service *s)
{
	const char *folder = lbx_args_option(&s->args, "traces");
	int mended, removed;

	if (lbx_args_option(&s->args, "no-trace"))
		return !folder || lbx_misuse("--traces and --no-trace exclude each other");
	s->limits.traces = folder ? folder : "traces";
	if (!lbx_traces_try(s->limits.traces) || !lbx_traces_mend(s->limits.traces, &mended) ||
	    !lbx_traces_clean(s->limits.traces, (int)s->keep, s->older_than < 0 ? -1 : 86400 * s->older_than, &removed))
		return false;
	if (mended > 0)
		fprintf(stderr, "lazybones: %d trace%s of a server that was killed: whole again\n", mended,
			LB_S(mended));
	if (removed > 0)
		fprintf(stderr, "lazybones: %d old trace%s removed\n", removed, LB_S(removed));
	return true;
}

static bool take_options(const struct lbx_command *row, struct lbx_argv words, struct service *s)
{
	lbx_args_begin(row, NULL, &s->args);
	if (!lbx_args_take(&s->args, &words) || !lbx_args_int(&s->args, "sessions", 1, 64, &s->most) ||
	    !lbx_args_int(&s->args, "idle", 0, 1000000, &s->idle) ||
	    !lbx_args_int(&s->args, "keep", 0, INT_MAX, &s->keep) ||
	    !lbx_args_real(&s->args, "older-than", 0, &s->older_than))
		return false;
	s->program = words.at;
	s->limits.most = (int)s->most;
	s->limits.idle = 60 * (double)s->idle;
	s->limits.keeps_spare = true;
	return true;
}

/* ---- serve ---- */

static bool take_access(struct service *s)
{
	const char *listen = lbx_args_option(&s->args, "listen");
	bool is_open = lbx_args_option(&s->args, "no-token");

	if (listen)
		snprintf(s->access.address, sizeof s->access.address, "%s",
			 strcmp(listen, "localhost") == 0 ? "127.0.0.1" : listen);
	s->access.port = (int)s->port;
	if (is_open)
		return lbx_access_is_local(s->access.address) ||
		       lbx_misuse("--no-token is for who is alone on this machine: it cannot go with --listen %s",
				  listen);
	return lbx_access_make_token(s->access.token);
}

/* The first session, by the same way as any other. */
static bool start_first(struct service *s, struct lbx_sessions *sessions)
{
	const char *core = lbx_args_option(&s->args, "core");
	json_t *params = json_object(), *args = json_array();
	struct lbx_reply reply;

	if (*s->program)
		json_object_set_new(params, "program", json_string(*s->program));
	for (const char **word = s->program; *word && word[1]; word++)
		json_array_append_new(args, json_string(word[1]));
	json_object_set_new(params, "args", args);
	if (core)
		json_object_set_new(params, "core", json_string(core));
	if (s->pid)
		json_object_set_new(params, "pid", json_integer(s->pid));
	if (!*s->program && !core && !s->pid) {
		json_decref(params);
		return true;
	}
	lbx_dispatch(sessions, "POST", "/debug/start", params, &reply);
	json_decref(params);
	json_t *told = reply.bytes ? json_loadb(reply.bytes, reply.n, 0, NULL) : NULL;
	bool ok = reply.status == 200 || lb_fail("%s", lbx_mi_string(told, "error"));
	json_decref(told);
	free(reply.bytes);
	return ok;
}

static void tell(struct lbx_out *out, const struct service *s)
{
	bool is_v6 = strchr(s->access.address, ':');
	char url[256];

	snprintf(url, sizeof url, "http://%s%s%s:%d/", is_v6 ? "[" : "", s->access.address, is_v6 ? "]" : "",
		 s->access.port);
	lbx_printf(out, "%s%s%s\n", url, s->access.token[0] ? "#token=" : "", s->access.token);
	if (s->access.token[0])
		lbx_printf(out, "curl -H 'Authorization: Bearer %s' %sdebug/status\n", s->access.token, url);
	lbx_printf(out, "Ctrl-C ends the server and its sessions.\n");
	fflush(stdout);
}

/* Until a signal that ends. No thread takes them but this one. */
static void wait_for_signal(const sigset_t *ends)
{
	int which;

	sigwait(ends, &which);
}

static bool serve(struct lbx_out *out, struct service *s)
{
	struct lbx_http *http = NULL;
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &ends, NULL);
	signal(SIGPIPE, SIG_IGN);
	struct lbx_sessions *sessions = lbx_sessions_create(&s->limits);
	if (!sessions)
		return lb_fail("out of memory");
	bool ok = start_first(s, sessions) && lbx_http_start(&s->access, sessions, &http);
	if (ok) {
		tell(out, s);
		wait_for_signal(&ends);
	}
	lbx_http_stop(http);
	lbx_sessions_destroy(sessions);
	return ok;
}

static int run_serve(struct lbx_out *out, struct lbx_argv words)
{
	struct service s = defaults;
	bool parsed = take_options(&lbx_verb_serve.row, words, &s) &&
		      lbx_args_int(&s.args, "port", 0, 65535, &s.port) &&
		      lbx_args_int(&s.args, "pid", 1, INT_MAX, &s.pid) && take_access(&s);

	if (parsed && take_traces(&s) && serve(out, &s))
		return LBX_EXIT_DONE;
	lbx_tell_error(false);
	return parsed && lb_error_cause() != LB_MISUSED ? LBX_EXIT_FAILED : LBX_EXIT_MISUSED;
}

#define SERVICE_OPTIONS \
	{ "sessions", "N", "sessions at once, at most (default 8)" }, \
	    { "idle", "MINUTES", "end a session that nobody uses for so long (default 60; 0: never)" }, \
	    { "traces", "FOLDER", "where traces are kept (default traces)" }, { "no-trace", NULL, "keep none" }, \
	    { "keep", "N", "first remove all traces there but the newest N" }, \
	    { "older-than", "DAYS", "likewise older ones" }

const struct lbx_verb lbx_verb_serve = {
	.row = {
		.name = "serve",
		.arguments = "[OPTION]... [PROGRAM [ARGUMENT]...]",
		.summary = "sessions of gdb over HTTP, for tools and people",
		.help = "Programs start, stop, step and are looked into by requests whose bodies and answers are JSON; a\n"
			"page in the browser does the same for people. Nothing blocks: what runs is started and asked\n"
			"about, or its events are listened to. /docs describes all of it. Programs in C and\n"
			"C++ with tensors of any kind, cores, and processes; several sessions at once.\n"
			"It listens to this machine alone, and asks for the token that it prints: other users of the\n"
			"machine are strangers. Whoever has the token can do what the user of the server can.\n"
			"Each session leaves a trace, of what was asked and answered, where the program stood, and which\n"
			"tensors were there.\n"
			"\n"
			"Example: lazybones serve ./train --steps 100",
		.options = {
			{ "port", "N", "listen at this port (default 8000; 0: a free one)" },
			{ "listen", "ADDRESS", "listen at this address (default 127.0.0.1)" },
			{ "no-token", NULL, "answer whoever is on this machine" },
			{ "core", "CORE", "begin with a session of a core file" },
			{ "pid", "PID", "begin with a session of a process" },
			SERVICE_OPTIONS,
		},
	},
	.run = run_serve,
};

/* ---- mcp ---- */

/* A line that is too long is no message. */
static bool answer_lines(struct lbx_sessions *sessions)
{
	lb_auto_free char *line = NULL;
	size_t room = 0;
	ssize_t n;

	while ((n = getline(&line, &room, stdin)) > 0) {
		if (strspn(line, " \t\r\n") == (size_t)n)
			continue;
		lb_auto_free char *answer = lbx_mcp_answer(sessions, line, n < MOST_LINE ? (size_t)n : 0);
		if (answer && (printf("%s\n", answer) < 0 || fflush(stdout) != 0))
			return lb_fail("cannot write the answer: %s", strerror(errno));
	}
	return true;
}

static int run_mcp(struct lbx_out *out, struct lbx_argv words)
{
	struct service s = defaults;
	bool parsed = take_options(&lbx_verb_mcp.row, words, &s), ok = false;

	(void)out; /* messages alone go there */
	if (parsed && take_traces(&s)) {
		signal(SIGPIPE, SIG_IGN);
		struct lbx_sessions *sessions = lbx_sessions_create(&s.limits);
		ok = sessions ? answer_lines(sessions) : lb_fail("out of memory");
		lbx_sessions_destroy(sessions);
	}
	if (ok)
		return LBX_EXIT_DONE;
	lbx_complain(lbx_error_text());
	return parsed ? LBX_EXIT_FAILED : LBX_EXIT_MISUSED;
}

const struct lbx_verb lbx_verb_mcp = {
	.row = {
		.name = "mcp",
		.arguments = "",
		.summary = "the same sessions for agents, by the Model Context Protocol",
		.help = "What `serve` answers as tools: messages of JSON-RPC, one a line, on standard input and output. An agent's\n"
			"settings name it as a server: the command is lazybones, its argument mcp.\n"
			"\n"
			"Example: claude mcp add lazybones -- lazybones mcp",
		.options = { SERVICE_OPTIONS },
	},
	.run = run_mcp,
};
