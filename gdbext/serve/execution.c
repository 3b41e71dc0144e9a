/* Letting the program run, stepping, stopping it, and telling how it stands. */
#include <string.h>

#include "serve/route.h"

#define STEP_WAIT 5.0 /* seconds that a step is waited for */

void lbx_call_wait(const struct lbx_call *call)
{
	double wait = lbx_call_number(call, "wait", STEP_WAIT);

	lbx_session_wait(call->session, wait < 300 ? wait : 300);
}

static bool answer_status(struct lbx_call *call)
{
	return lbx_answer(call, lbx_session_status(call->session));
}

static bool run_status(struct lbx_call *call)
{
	double wait = lbx_call_number(call, "wait", 0);

	if (wait > 0)
		lbx_session_wait(call->session, wait < 300 ? wait : 300);
	return answer_status(call);
}

const struct lbx_route lbx_route_status = {
	.method = "GET",
	.path = "/debug/status",
	.tool = "status",
	.summary = "tell whether the program runs, is paused or has ended, and where",
	.help = "The state is \"not_started\", \"running\", \"paused\", \"exited\", or \"ended\" when gdb is gone.",
	.needs = LBX_IN_ANY_STATE,
	.is_poll = true,
	.params = { { "wait", LBX_NUMBER, false,
		      "seconds to wait for a stop, at most 300; else the answer comes at once" } },
	.run = run_status,
};

static bool run_output(struct lbx_call *call)
{
	return lbx_answer(call, json_pack("{s:o}", "text", lbx_session_output(call->session)));
}

const struct lbx_route lbx_route_output = {
	.method = "GET",
	.path = "/debug/output",
	.tool = "output",
	.summary = "show the last 256 KiB of what the program has printed",
	.needs = LBX_IN_ANY_STATE,
	.is_poll = true,
	.run = run_output,
};

/* A core runs nothing; what has not begun begins. */
static const char *running_command(struct lbx_call *call, const char *command)
{
	enum lbx_session_state state = lbx_session_state(call->session);

	if (lbx_session_kind(call->session) == LBX_OF_CORE) {
		lbx_refuse(call, 409, "a core file cannot run: its values are there to be looked at");
		return NULL;
	}
	if (state == LBX_PAUSED)
		return command;
	if (lbx_session_kind(call->session) == LBX_OF_PROCESS) {
		lbx_refuse(call, 409, "the process has ended");
		return NULL;
	}
	return "-exec-run";
}

static bool go(struct lbx_call *call, const char *command)
{
	command = running_command(call, command);
	return command && lbx_session_go(call->session, command);
}

static bool run_continue_async(struct lbx_call *call)
{
	return go(call, "-exec-continue") && answer_status(call);
}

const struct lbx_route lbx_route_continue_async = {
	.method = "POST",
	.path = "/debug/continue_async",
	.tool = "continue_async",
	.summary = "let the program run, from its beginning if it has not begun",
	.help = "Answers when it runs. GET /debug/status tells when it has stopped, and so do the events.",
	.needs = LBX_WITH_GDB,
	.run = run_continue_async,
};

/* What has not begun stops in its first function; what has ended does not begin anew by a step. */
static bool step(struct lbx_call *call, const char *command)
{
	enum lbx_session_state state = lbx_session_state(call->session);
	bool has_begun = state == LBX_PAUSED;

	if (!running_command(call, command))
		return false;
	if (state == LBX_EXITED)
		return lbx_refuse(call, 409, "the program has ended: POST /debug/continue_async runs it anew");
	if (!lbx_session_go(call->session, has_begun ? command : "-exec-run --start"))
		return false;
	lbx_call_wait(call);
	return answer_status(call);
}

#define STEP_HELP \
	"Answers with the status, when the step has ended. Functions without source are passed over, and, where the session\n" \
	"was not started with \"skips\": false, those of the system and of libraries of tensors."

static bool run_step_over(struct lbx_call *call)
{
	return step(call, "-exec-next");
}

const struct lbx_route lbx_route_step_over = {
	.method = "POST",
	.path = "/debug/step/over",
	.tool = "step_over",
	.summary = "run to the next line of the function",
	.help = STEP_HELP,
	.needs = LBX_WITH_GDB,
	.params = { LBX_WAIT_PARAM },
	.run = run_step_over,
};

static bool run_step_into(struct lbx_call *call)
{
	return step(call, "-exec-step");
}

const struct lbx_route lbx_route_step_into = {
	.method = "POST",
	.path = "/debug/step/into",
	.tool = "step_into",
	.summary = "run to the next line, also of a function that is called",
	.help = STEP_HELP,
	.needs = LBX_WITH_GDB,
	.params = { LBX_WAIT_PARAM },
	.run = run_step_into,
};

static bool run_step_out(struct lbx_call *call)
{
	return step(call, "-exec-finish");
}

const struct lbx_route lbx_route_step_out = {
	.method = "POST",
	.path = "/debug/step/out",
	.tool = "step_out",
	.summary = "run until the function returns",
	.help = STEP_HELP,
	.needs = LBX_WITH_GDB,
	.params = { LBX_WAIT_PARAM },
	.run = run_step_out,
};

static bool run_pause(struct lbx_call *call)
{
	if (!lbx_session_pause(call->session)) {
		call->status = 409;
		return false;
	}
	lbx_call_wait(call);
	return answer_status(call);
}

const struct lbx_route lbx_route_pause = {
	.method = "POST",
	.path = "/debug/pause",
	.tool = "pause",
	.summary = "stop the program where it is",
	.needs = LBX_IN_ANY_STATE,
	.params = { LBX_WAIT_PARAM },
	.run = run_pause,
};

/* ---- what steps pass over ---- */

static bool switch_skips(struct lbx_call *call, bool on)
{
	struct lbx_gdb_answer answer;

	if (!lbx_gdb_console(lbx_session_gdb(call->session), lbx_call_patience(call), &answer,
			     on ? "skip enable" : "skip disable"))
		return false;
	lbx_gdb_answer_release(&answer);
	return true;
}

static bool run_skips(struct lbx_call *call)
{
	struct lbx_gdb_answer answer;

	if (json_object_get(call->params, "on") && !switch_skips(call, lbx_call_flag(call, "on", true)))
		return false;
	if (!lbx_gdb_console(lbx_session_gdb(call->session), lbx_call_patience(call), &answer, "info skip"))
		return false;
	json_t *told = json_pack("{s:o}", "text", lbx_mi_text(answer.console, strlen(answer.console)));
	lbx_gdb_answer_release(&answer);
	return lbx_answer(call, told);
}

const struct lbx_route lbx_route_skips = {
	.method = "POST",
	.path = "/debug/skips",
	.tool = "skips",
	.summary = "list which functions steps pass over, and switch that on or off",
	.help = "As `info skip` of gdb has it. `skip` and `skip delete`, by POST /command, change the list.",
	.needs = LBX_WITH_GDB,
	.params = { { "on", LBX_FLAG, false, "false: steps enter them; true: they pass over them again" } },
	.run = run_skips,
};
