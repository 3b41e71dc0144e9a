/* lazybones replay-session: a session again, and what came out otherwise. */
#include <signal.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/plural.h"
#include "cli/manual.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "serve/replay_session.h"
#include "serve/mi.h"
#include "serve/trace_diff.h"

static void tell_refusals(struct lbx_out *out, const struct lbx_replayed *replayed)
{
	size_t i;
	json_t *each;

	lbx_printf(out, "%d request%s asked again, %d answered otherwise\n", replayed->asked, LB_S(replayed->asked),
		   replayed->otherwise);
	json_array_foreach(replayed->refusals, i, each)
	    lbx_printf(out, "  #%lld %s: %lld, was %lld; %s\n",
		       (long long)json_integer_value(json_object_get(each, "n")), lbx_mi_string(each, "path"),
		       (long long)json_integer_value(json_object_get(each, "status")),
		       (long long)json_integer_value(json_object_get(each, "was")), lbx_mi_string(each, "error"));
}

static bool run(struct lbx_out *out, const struct lbx_args *args, double rtol, double seconds, bool *differs)
{
	const char *folder = lbx_args_option(args, "traces");
	const struct lbx_sessions_limits limits = { .most = 1, .traces = folder ? folder : "traces" };
	struct lbx_sessions *sessions = lbx_sessions_create(&limits);
	struct lbx_replayed replayed;

	if (!sessions)
		return lb_fail("out of memory");
	bool ok = lbx_replay_session(sessions, args->v[0], args->n > 1 ? args->v[1] : NULL, seconds, &replayed);
	if (ok) {
		tell_refusals(out, &replayed);
		ok = lbx_trace_diff(out, args->v[0], replayed.trace, rtol, differs);
		*differs |= replayed.otherwise > 0;
	}
	json_decref(replayed.refusals);
	free(replayed.trace);
	lbx_sessions_destroy(sessions);
	return ok;
}

static int run_replay_session(struct lbx_out *out, struct lbx_argv words)
{
	struct lbx_args args;
	double rtol = 1e-5, seconds = 600;
	bool differs = false, parsed = lbx_args_parse(&lbx_verb_replay_session.row, words.at, &args);

	out->json |= parsed && lbx_args_option(&args, "json");
	parsed = parsed && lbx_args_real(&args, "rtol", 0, &rtol) && lbx_args_real(&args, "seconds", 0, &seconds);
	signal(SIGPIPE, SIG_IGN);
	if (parsed && run(out, &args, rtol, seconds, &differs))
		return differs ? LBX_EXIT_FOUND : LBX_EXIT_DONE;
	lbx_abandon(out, lb_error_message());
	lbx_tell_error(out->json);
	return parsed ? LBX_EXIT_FAILED : LBX_EXIT_MISUSED;
}

const struct lbx_verb lbx_verb_replay_session = {
	.row = {
		.name = "replay-session",
		.arguments = "TRACE [PROGRAM]",
		.min_args = 1,
		.max_args = 2,
		.summary = "ask again what a trace says was asked, of another build, and tell what came out otherwise",
		.help = "Starts the program of the trace, or PROGRAM in its place, with the same arguments, asks the same in the\n"
			"same order, waiting for each stop, and compares the new trace with the old as `trace-diff` does. A pause\n"
			"is left out, since it came when it came. The exit status is 3 where something differs.\n"
			"\n"
			"Example: lazybones replay-session traces/train.json build/new/train",
		.options = {
			{ "rtol", "X", "relative tolerance of figures (default 1e-5)" },
			{ "seconds", "N", "how long the program may run to a stop (default 600)" },
			{ "traces", "FOLDER", "where the new trace is kept (default traces)" },
			{ "json", NULL, "write the comparison as JSON instead of text" },
		},
	},
	.run = run_replay_session,
};
