#include "cli/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/forms.h"
#include "cli/manual.h"
#include "inspect/compare/checkpoint.h"
#include "inspect/operand/operand.h"

/* What only gdb has: to be named. */
static const struct {
	const char *name, *arguments, *used_for;
} of_gdb[] = {
#define COMMAND(name, arguments, used_for) { #name, arguments, used_for },
#include "plugin/commands.def"
#undef COMMAND
};

/* Says what gdb's command is for; false if it is none. */
static bool fail_of_gdb(const char *name)
{
	for (size_t i = 0; i < sizeof of_gdb / sizeof *of_gdb; i++)
		if (of_gdb[i].used_for && strcmp(name, of_gdb[i].name) == 0)
			return !lb_fail("%s is a command of gdb, for %s: `tensor %s%s%s` there", name,
					of_gdb[i].used_for, name, *of_gdb[i].arguments ? " " : "", of_gdb[i].arguments);
	return false;
}

const struct lbx_command *lbx_request_command(const char *name)
{
	const struct lbx_command *command = lbx_command_find(lbx_commands, name);

	if (command && lbx_cli_has(command))
		return command;
	if (!fail_of_gdb(name))
		lb_fail("there is no command '%s' (see lazybones --help)", name);
	return NULL;
}

static bool take_pid(const char *text, pid_t *ret)
{
	char *end;

	errno = 0;
	long pid = strtol(text, &end, 10);
	*ret = (pid_t)pid;
	return (end != text && !*end && !errno && pid > 0 && pid <= INT32_MAX) ||
	       lb_fail("'%s' is not a process id: expected a number above 0", text);
}

/* The first word begins no request. */
static bool fail_first(const char *word)
{
	const struct lbx_command *command = lbx_command_find(lbx_commands, word);
	char first[256] = "";
	size_t used = 0;

	if (fail_of_gdb(word))
		return false;
	if (command && lbx_cli_has(command))
		return lb_fail("which program? lazybones core CORE %s, or lazybones pid PID %s", word, word);
	for (int i = 0; i < LBX_FORMS && used < sizeof first; i++)
		used += (size_t)snprintf(first + used, sizeof first - used, "%s%s",
					 i == 0              ? ""
					 : i + 1 < LBX_FORMS ? ", "
							     : " or ",
					 lbx_form_name(&lbx_forms[i]));
	return lb_fail("unknown command '%s': expected %s (see lazybones --help)", word, first);
}

static void begin_command(struct lbx_request *r, const struct lbx_command *command)
{
	r->command = command;
	if (command)
		lbx_args_begin(command, &r->program, &r->args);
}

/* CORE:T becomes the core and the command's first word. */
static bool take_pair(struct lbx_request *r, struct lbx_argv *words)
{
	char *word = r->form.text + (r->what - r->form.text);
	size_t end = lbx_operand_path_end(word);
	char *colon = end ? word + end : strchr(word, ':');

	if (!colon || colon == word || !colon[1])
		return lb_fail("'%s' does not name a tensor of a core: write CORE:T", word);
	*colon = '\0';
	*--words->at = colon + 1;
	return true;
}

static bool take_cores(struct lbx_request *r, struct lbx_argv *words)
{
	size_t n = 0;

	while (words->at[n])
		n++;
	r->cores = calloc(n + 1, sizeof *r->cores);
	if (!r->cores)
		return lb_fail("out of memory");
	r->what = "the cores";
	n = 0;
	while (lbx_args_take(&r->args, words)) {
		if (!r->args.left)
			return true;
		r->cores[n++] = *words->at++;
	}
	return false;
}

/* All that follows the form's name. */
static bool take(struct lbx_request *r, const struct lbx_form *form, struct lbx_argv *words)
{
	begin_command(r, form->command);
	if (form->is_pair && *words->at && lbx_holds_arrays(*words->at))
		r->is_alone = true, r->is_core = r->is_pair = false;
	if (r->is_alone) {
		r->what = lbx_form_name(form);
		return lbx_args_take(&r->args, words);
	}
	if (!form->operand)
		return take_cores(r, words);
	r->operand = (struct lbx_command){ .name = lbx_form_name(form), .arguments = form->operand, .max_args = 1 };
	lbx_args_begin(&r->operand, form->command ? &r->args : &r->program, &r->form);
	if (!lbx_args_take(&r->form, words))
		return false;
	r->what = r->form.v[0];
	if (r->what && form->is_pair && !take_pair(r, words))
		return false;
	if (r->what && form->is_either)
		r->is_core = r->what[strspn(r->what, "0123456789")]; /* ./123 is a file */
	if (!r->command && r->form.left) {
		begin_command(r, lbx_request_command(*words->at++));
		if (!r->command)
			return false;
	}
	return !r->command || lbx_args_take(&r->args, words);
}

/* What a command has itself is meant by it alone: there it says which are shown. Of `frame` it is what it is in front of it. */
static bool take_viewpoint(struct lbx_request *r)
{
	const struct lbx_command *c = r->command;
	const size_t max = c ? sizeof c->options / sizeof *c->options : 0;

	r->has_frame = lbx_args_option(&r->program, "frame");
	if (!lbx_args_int(&r->program, "thread", 1, INT32_MAX, &r->thread) ||
	    !lbx_args_int(&r->program, "frame", 0, INT32_MAX, &r->frame))
		return false;
	for (size_t i = 0; r->thread && i < max && c->options[i].name; i++) {
		if (strcmp(c->options[i].name, "thread") != 0)
			continue;
		if (strcmp(c->name, "frame") != 0)
			return lb_fail("%s has --thread itself, which stands behind it: %s --thread %lld", c->name,
				       c->name, (long long)r->thread);
		if (!r->args.options[i])
			r->args.options[i] = lbx_args_option(&r->program, "thread");
		r->thread = 0;
	}
	return true;
}

static bool take_numbers(struct lbx_request *r)
{
	return take_viewpoint(r) && lbx_args_bytes(&r->program, "memory", 1, INT64_MAX, &r->limits.memory) &&
	       lbx_args_int(&r->program, "seconds", 1, INT64_MAX, &r->limits.seconds) &&
	       lbx_args_bytes(&r->program, "unpack", 1, INT64_MAX, &r->core.unpack);
}

static void take_options(struct lbx_request *r)
{
	r->help = lbx_args_option(&r->program, "help");
	r->json = lbx_args_option(&r->program, "json") || (r->command && lbx_args_option(&r->args, "json"));
	r->stop = lbx_args_option(&r->program, "stop");
	r->core.force = lbx_args_option(&r->program, "force");
	r->core.exe = lbx_args_option(&r->program, "exe");
	r->core.sysroot = lbx_args_option(&r->program, "sysroot");
}

static bool complete(struct lbx_request *r, const struct lbx_form *form)
{
	bool is_pid = !r->is_core && !r->cores && !r->is_alone;

	if (!r->what)
		return lb_fail("%s", form->lacks);
	if (is_pid && !take_pid(r->what, &r->pid))
		return false;
	if (!r->command && r->is_core)
		begin_command(r, &lbx_command_report);
	if (!r->command)
		return lb_fail("which command? lazybones pid %s COMMAND (see lazybones --help)", r->what);
	if (r->stop && !is_pid)
		return lb_fail("--stop applies only to pid; a core is not running");
	if (is_pid && (r->core.exe || r->core.sysroot || r->core.force))
		return lb_fail("%s applies only to a core; what a process runs is known", r->core.exe ? "--exe"
											  : r->core.sysroot
											      ? "--sysroot"
											      : "--force");
	return take_numbers(r) && lbx_args_check(&r->args);
}

bool lbx_request_parse(struct lbx_argv words, struct lbx_request *ret)
{
	const struct lbx_form *form;

	if (!*words.at)
		return lb_fail("which command? (see lazybones --help)");
	form = lbx_form_find(*words.at);
	if (!form || form->verb || form->is_help)
		return fail_first(*words.at);
	words.at++;
	ret->is_core = form->is_core;
	ret->is_pair = form->is_pair;
	ret->is_alone = form->is_alone;
	if (!take(ret, form, &words))
		return false;
	take_options(ret);
	return ret->help || complete(ret, form);
}
