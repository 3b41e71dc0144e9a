#include "plugin/commands/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/convenience.h"
#include "inspect/operand/select.h"
#include "inspect/tensor/describe.h"
#include "plugin/bridge/bridge.h"
#include "plugin/bridge/lines.h"
#include "plugin/command.h"
#include "plugin/stops/catch.h"
#include "plugin/stops/catches.h"
#include "target/printable.h"

static void tell_value(struct lbx_out *out, const struct lbx_tensor *t)
{
	uint64_t data = lbx_tensor_data(t);

	lbx_begin(out, NULL);
	lbx_wrap(out, 0, 4);
	lbx_tell(out, "Tensor #%pF%s%s is %pF: %pF %pF, %pF at ", LBX_UINT("id", t->id), t->name[0] ? " " : "", t->name,
		 LBX_TEXT("state", lbx_state_name(lbx_told_state(t))), LBX_TEXT("dtype", lbx_dtype_name(t->dtype)),
		 LBX_LIST("shape", lbx_shape(t), t->rank), LBX_COUNT("nbytes", lbx_tensor_nbytes(t), "byte"));
	LBX_KEY(out, "name", lbx_json_text(t->name));
	LBX_KEY(out, "data", lbx_json_address(data));
	lbx_printf(out, "0x%" PRIx64 "\n", data);
	lbx_end(out);
}

static struct {
	uint64_t id;
	bool json;
} evaluated;

/* What $_lb_refusal is, instead of a text's address, where the call has not returned: gdb has undone it, or
 * it is still on the stack. */
enum { CALL_UNDONE = 1, CALL_STANDS };

static bool run_eval(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_tensor t;

	if (!lbx_select_runtime_tensor(context, args->v[0], &t))
		return false;
	if (t.state == LBX_READY && !t.held) {
		tell_value(context->out, &t);
		return true;
	}
	if (!lbx_catch_refresh())
		return false;
	evaluated.id = t.id;
	evaluated.json = context->out->json;
	lbx_catch_suspend(); /* they would stop inside the call */
	lbx_bridge_go("_lb_eval %#" PRIx64, t.id);
	return true;
}

/* "…received signal SIGINT, Interrupt." */
static bool find_signal(const char *said, char *ret, size_t size)
{
	static const char received[] = " received signal ";
	const char *at = strstr(said, received);
	size_t n;

	if (!at)
		return false;
	at += sizeof received - 1;
	n = strcspn(at, ",\n");
	snprintf(ret, size, "%.*s", (int)(n < size ? n : size - 1), at);
	lbx_make_printable(ret);
	return true;
}

/* The call was undone before the tensor had its value. */
static bool fail_undone(uint64_t id, const char *said)
{
	char signal[32];

	if (!find_signal(said, signal, sizeof signal))
		return lb_fail("eval: the program could not be called: %.*s", (int)strcspn(said, "\n"), said);
	if (strcmp(signal, "SIGINT") == 0)
		return lb_fail("eval: interrupted; tensor #%" PRIu64 " is still lazy", id);
	return lb_fail("eval: the call got signal %s and was undone; tensor #%" PRIu64 " is still lazy", signal, id);
}

/* A call that stops would leave it under way. */
static void tell_unstepped(struct lbx_context *context, struct lbx_table *table)
{
	struct lbx_root root;

	if (!lbx_table_root(table, &root) || root.step == LB_STEP_OFF)
		return;
	lbx_wrap(context->out, 0, 4);
	lbx_printf(context->out, "It was not stepped through: step mode is for what the program evaluates itself.\n");
}

bool lbx_eval_end(struct lbx_context *context)
{
	struct lbx_table *table;
	struct lbx_tensors *tensors;
	struct lbx_tensor t;
	const char *refusal, *said;
	char text[512];
	uint64_t at;

	context->out->json = evaluated.json;
	if (!context->target)
		return lb_fail("eval: the program ended during the call");
	if (!lbx_bridge_ask(&refusal, LBX_ANYWHERE, "output/x $_lb_refusal") ||
	    !lbx_bridge_ask(&said, LBX_WITHOUT_FRAME, LBX_CALL))
		return false;
	at = strtoull(refusal, NULL, 16);
	if (at == CALL_STANDS) {
		const char *error = strstr(said, "The program being debugged ");
		int n = error ? (int)(error - said) : (int)strlen(said);
		if (n > 1)
			lbx_printf(context->out, "%.*s%s", n, said, error ? "" : "\n");
		return lb_fail("eval: the program stopped inside the call: the evaluation of tensor #%" PRIu64
			       " is under way, and `continue` ends it",
			       evaluated.id);
	}
	if (at > CALL_STANDS && lbx_target_read_string(context->target, at, text, sizeof text)) {
		lbx_make_printable(text);
		return lb_fail("eval: the runtime refused: %s", text);
	}
	if (!lbx_context_table(context, &table))
		return false;
	tensors = lbx_table_tensors(table);
	if (!lbx_tensors_by_id(tensors, evaluated.id, &t))
		return false;
	if (t.state != LBX_READY && at == CALL_UNDONE)
		return fail_undone(evaluated.id, said);
	if (t.state == LBX_LAZY)
		return lb_fail("eval: the call did not end: tensor #%" PRIu64 " is still lazy", evaluated.id);
	tell_value(context->out, &t);
	tell_unstepped(context, table);
	lbx_set_tensor(context->out, &t);
	return true;
}

const struct lbx_command lbx_gdb_command_eval = {
	.name = "eval",
	.arguments = lbx_arguments_eval,
	.min_args = 1,
	.max_args = 1,
	.needs = LBX_NEEDS_RUNTIME | LBX_NEEDS_LIVE | LBX_CALLS_PROGRAM,
	.summary = "compute a lazy tensor inside the program",
	.help = "Calls the runtime on the selected thread, with the other threads stopped. The "
		"runtime\nrefuses where a tensor that is needed is being computed, its record "
		"is being changed,\nor the thread has no runtime state yet. This changes the program; "
		"`tensor peek T`\ncomputes the same outside it.",
	.run = run_eval,
};
