/* Any command of gdb's, and steps of the graph. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "lazybones.h"
#include "serve/reads_on.h"
#include "serve/route.h"

/* What follows `tensor` in a command that is to answer in JSON, without that option. False: it is another. */
static bool take_tensors(const char *line, char *ret, size_t size)
{
	static const char option[] = " --json";
	const char *at = line + strspn(line, " \t"), *json = strstr(at, option);

	if (strncmp(at, "tensor ", 7) != 0 || !json || (json[sizeof option - 1] && json[sizeof option - 1] != ' '))
		return false;
	return snprintf(ret, size, "%.*s%s", (int)(json - at - 7), at + 7, json + sizeof option - 1) < (int)size;
}

/* Whether the line is one of ours, which fails without an error of gdb's, and has. */
static bool has_failed(struct lbx_call *call, const char *line)
{
	struct lbx_gdb_answer answer;
	size_t n = strcspn(line += strspn(line, " \t"), " \t");

	if (n < 3 || strncmp("tensor", line, n) != 0 || lbx_session_state(call->session) == LBX_RUNNING)
		return false;
	if (!lbx_call_ask(call, &answer, "-data-evaluate-expression $tensor_failed")) {
		lb_clear_error();
		return false;
	}
	bool ret = strcmp(lbx_mi_string(answer.results, "value"), "1") == 0;
	lbx_gdb_answer_release(&answer);
	return ret;
}

static bool answer_text(struct lbx_call *call, const char *line)
{
	struct lbx_session *session = call->session;
	struct lbx_gdb_answer answer;

	if (!lbx_gdb_console(lbx_session_gdb(session), lbx_call_patience(call), &answer, line))
		return false;
	if (has_failed(call, line)) {
		lbx_refuse(call, 422, "%.*s", (int)strcspn(answer.console, "\n"), answer.console);
		lbx_gdb_answer_release(&answer);
		return false;
	}
	json_t *told = json_pack("{s:o}", "text", lbx_mi_text(answer.console, strlen(answer.console)));
	lbx_gdb_answer_release(&answer);
	if (told && lbx_session_state(session) == LBX_PAUSED)
		lbx_session_look(session); /* it may have selected another frame */
	if (told)
		json_object_set_new(told, "state", json_string(lbx_session_state_name(lbx_session_state(session))));
	return lbx_answer(call, told);
}

static bool run_command(struct lbx_call *call)
{
	const char *line = lbx_call_string(call, "command");
	const char *instead = lbx_reads_on(line);
	char tensors[4096];

	if (instead)
		return lbx_refuse(call, 400, "gdb cannot be asked this: %s", instead);
	if (strpbrk(line, "\n\r") || !line[strspn(line, " \t")])
		return lbx_refuse(call, 400, "command: one line is needed");
	if (!take_tensors(line, tensors, sizeof tensors))
		return answer_text(call, line);
	bool ok = lbx_answer_tensor_line(call, tensors);
	lbx_session_doubt(call->session); /* it may have been any */
	return ok;
}

const struct lbx_route lbx_route_command = {
	.method = "POST",
	.path = "/command",
	.tool = "command",
	.summary = "run any command of gdb, with those of Lazybones",
	.help = "Answers with its text; `tensor … --json` with its JSON. Such a command can do whatever the user of the server\n"
		"can: gdb has a shell. What reads further lines, as `define` does, is refused: `source FILE` runs them. What is not done\n"
		"within its time is interrupted.",
	.needs = LBX_WITH_GDB,
	.params = {
		{ "command", LBX_STRING, true, "one line" },
		{ "timeout", LBX_NUMBER, false, "seconds that it may take (60)" },
	},
	.run = run_command,
};

static bool run_graph_step(struct lbx_call *call)
{
	const char *how = lbx_call_string(call, "how");
	char line[64];

	if (strspn(how, "abcdefghijklmnopqrstuvwxyz") != strlen(how) || strlen(how) > 16)
		return lbx_refuse(call, 400, "how: on, fused, off, in, out or frame");
	snprintf(line, sizeof line, "tensor step %s", how);
	if (!answer_text(call, line))
		return false;
	if (lbx_session_state(call->session) != LBX_RUNNING)
		return true;
	lbx_call_wait(call);
	json_t *status = lbx_session_status(call->session);
	json_object_update(call->data, status);
	json_decref(status);
	return true;
}

const struct lbx_route lbx_route_graph_step = {
	.method = "POST",
	.path = "/debug/graph/step",
	.tool = "graph_step",
	.summary = "step through the graph that is evaluated, operation by operation",
	.help =
	    "`on` makes each operation of the next evaluation a line, through which steps lead; `in` runs to the first line of\n"
	    "the next graph, `out` to its end, and the answer is the status, when they have ended.",
	.needs = LBX_WITH_GDB,
	.params = {
		{ "how", LBX_STRING, true, "on, fused, off, in, out or frame" },
		LBX_WAIT_PARAM,
	},
	.run = run_graph_step,
};
