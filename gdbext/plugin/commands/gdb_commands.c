#include "plugin/commands/gdb_commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/convenience.h"
#include "inspect/forensics/threads.h"
#include "inspect/tensor/describe.h"
#include "plugin/bridge/bridge.h"
#include "plugin/bridge/hooks.h"
#include "plugin/commands/commands.h"
#include "plugin/reads/stacks_gdb.h"
#include "plugin/reads/target_gdb.h"
#include "plugin/stops/break.h"
#include "plugin/stops/catch.h"
#include "plugin/stops/step.h"
#include "plugin/stops/switches.h"
#include "target/printable.h"

/* ---- eval ---- */

static void tell_value(struct lbx_out *out, const struct lbx_tensor *t)
{
	uint64_t data = lbx_tensor_data(t);

	if (out->json) {
		lbx_json(out, json_pack("{s:I,s:s?,s:s,s:s,s:I,s:o}", "id", (json_int_t)t->id,
					"name", t->name[0] ? t->name : NULL, "state",
					lbx_state_name(t->state), "dtype", lbx_dtype_name(t->dtype),
					"nbytes", (json_int_t)lbx_tensor_nbytes(t), "data",
					lbx_json_address(data)));
		return;
	}
	lbx_printf(out, "Tensor #%" PRIu64 "%s%s is %s: %s (", t->id, t->name[0] ? " " : "", t->name,
		   lbx_state_name(t->state), lbx_dtype_name(t->dtype));
	for (int i = 0; i < t->rank; i++)
		lbx_printf(out, "%s%" PRId64, i ? ", " : "", t->shape[i]);
	lbx_printf(out, t->rank == 1 ? ",), " : "), ");
	lbx_printf(out, "%" PRId64 " byte%s at 0x%" PRIx64 "\n", lbx_tensor_nbytes(t),
		   LB_S(lbx_tensor_nbytes(t)), data);
}

static struct {
	uint64_t id;
	bool json;
} evaluated;

/* What $_lb_refusal is, instead of a text's address, where the call has not returned: gdb has undone it, or
 * it is still on the stack. */
enum { CALL_UNDONE = 1, CALL_STANDS };

static bool eval_run(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_tensor t;

	if (!lbx_commands_tensor(context, args->v[0], &t))
		return false;
	if (t.state == LB_STATE_READY && !t.held) {
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

bool lbx_evaluated(struct lbx_context *context)
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
		if (!context->out->json && n > 1)
			lbx_printf(context->out, "%.*s%s", n, said, error ? "" : "\n");
		return lb_fail("eval: the program stopped inside the call: the evaluation of tensor #%" PRIu64
			       " is under way, and `continue` ends it", evaluated.id);
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
	if (t.state != LB_STATE_READY && at == CALL_UNDONE)
		return fail_undone(evaluated.id, said);
	if (t.state == LB_STATE_LAZY)
		return lb_fail("eval: the call did not end: tensor #%" PRIu64 " is still lazy", evaluated.id);
	tell_value(context->out, &t);
	lbx_set_tensor(context->out, &t);
	return true;
}

/* ---- stacks ---- */

static void print_stacks(struct lbx_out *out, uint32_t depth)
{
	if (depth)
		lbx_printf(out, "Of each tensor made from now on, %u frame%s kept.\n", depth, LB_PLURAL(depth, " is", "s are"));
	else
		lbx_printf(out, "Of each tensor made from now on, the call site is kept.\n");
}

/* The switch is a word in the program's memory; a program that is still to run gets it by its
 * environment. */
static bool stacks_run(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_switch_place place;
	char *end, number[32];

	if (!lbx_switch_find(context, &place))
		return false;
	if (args->n == 0) {
		if (!place.running)
			return lb_fail("stacks: no program with the runtime runs; `tensor stacks N` sets what the "
				       "next one keeps");
		print_stacks(context->out, place.root.want_stack);
		return true;
	}
	unsigned long depth = strtoul(args->v[0], &end, 10);
	if (*end || end == args->v[0] || depth > LB_STACK_MAX)
		return lb_fail("stacks: takes a number of frames from 0 to %d, not '%s'", LB_STACK_MAX,
			       args->v[0]);
	snprintf(number, sizeof number, "%lu", depth);
	if (!lbx_switch_set(context, &place, LBX_SWITCH_STACKS, (uint32_t)depth, number))
		return false;
	lbx_wrap(context->out, 0, 4);
	if (place.running)
		print_stacks(context->out, (uint32_t)depth);
	else
		lbx_printf(context->out, place.process ? "From the runtime's start on %lu frames of each tensor's creation are kept.\n"
			   : "The next `run`, `target remote` or `attach` keeps %lu frames of each tensor's creation.\n",
			   depth);
	return true;
}

/* ---- locals ---- */

static bool locals_run(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_args level;
	char words[32];
	int selected;

	if (!lbx_stacks_gdb_selected(&selected))
		return false;
	snprintf(words, sizeof words, "%d%s", selected, lbx_args_option(args, "all") ? " --all" : "");
	return lbx_args_parse(lbx_command_find(lbx_commands, "frame"), words, &level) && lbx_run_frame(context, &level);
}

/* ---- help ---- */

static void list_rows(struct lbx_out *out, const struct lbx_command *row)
{
	for (; row->name; row++) {
		if (row->needs & LBX_GDB_LACKS)
			continue;
		lbx_wrap(out, 0, 4);
		lbx_printf(out, "tensor %s%s%s -- %s\n", row->name, *row->arguments ? " " : "",
			   row->arguments, row->summary);
	}
}

static bool help_run(struct lbx_context *context, const struct lbx_args *args)
{
	const struct lbx_command *command;

	if (args->n == 0) {
		list_rows(context->out, lbx_commands);
		list_rows(context->out, lbx_gdb_commands);
		return true;
	}
	command = lbx_command_find(lbx_commands, args->v[0]);
	if (!command)
		command = lbx_command_find(lbx_gdb_commands, args->v[0]);
	if (!command || (command->needs & LBX_GDB_LACKS))
		return lb_fail("help: there is no command 'tensor %s': `tensor help` lists them", args->v[0]);
	lbx_command_help(context->out, command, "tensor ", "tensor ");
	return true;
}

#define ROW(function, ...) { __VA_ARGS__, .run = function },
const struct lbx_command lbx_gdb_commands[] = {
#include "inspect/debugger_commands.def"
	{.name = NULL},
};
#undef ROW
