#define _GNU_SOURCE
#include "inspect/command.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/measure/ranking.h"
#include "inspect/texts.h"
#include "target/printable.h"

const struct lbx_command *lbx_command_find(const struct lbx_command *const *table, const char *name)
{
	for (; *table; table++)
		if (strcmp((*table)->name, name) == 0)
			return *table;
	return NULL;
}

bool lbx_command_open_runtime(struct lbx_context *context, const struct lbx_command *command)
{
	struct lbx_tensors *tensors;
	struct lbx_table *table;
	char names[128] = "";

	if (lbx_context_table(context, &table))
		return true;
	if (!context->target || lbx_target_waits(context->target) || !lbx_context_tensors(context, &tensors))
		return false;
	for (int i = 0; i < context->n_sets; i++)
		snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "",
			 context->sets[i]->provider);
	lb_fail_within("%s asks the runtime of Lazybones, and the tensors here are of %s", command->name, names);
	return false;
}

bool lbx_command_open(struct lbx_context *context, const struct lbx_command *command)
{
	struct lbx_tensors *tensors;

	if ((command->needs & LBX_NEEDS_RUNTIME) && !lbx_command_open_runtime(context, command))
		return false;
	return !(command->needs & (LBX_NEEDS_TENSORS | LBX_NEEDS_RUNTIME)) || lbx_context_tensors(context, &tensors);
}

bool lbx_command_end(struct lbx_context *context, const struct lbx_command *command)
{
	lbx_tell_chosen(context->out);
	return lb_ok() && (context->out->depth == 0 || lbx_target_waits(context->target) ||
			   lb_fail("%s: a defect: the answer as JSON was not ended", command->name));
}

bool lbx_command_lets_go(const struct lbx_args *args)
{
	const char *sort = lbx_args_option(args, "sort");
	enum lbx_ranking by;

	return (args->command->needs & LBX_LETS_GO) && !lbx_args_option(args, "nan") && !lbx_args_option(args, "inf") &&
	       !(sort && lbx_ranking_parse(sort, &by));
}

bool lbx_command_run(struct lbx_context *context, const struct lbx_args *args)
{
	const struct lbx_command *command = args->command;

	if (lbx_args_option(args, "json"))
		context->out->json = true;
	context->lets_go |= lbx_command_lets_go(args);
	context->of_one_moment |= (command->needs & LBX_OF_ONE_MOMENT) != 0;
	if ((command->needs & LBX_NEEDS_FRAMES) && command->needs & LBX_NEEDS_TENSORS && !lbx_context_hold(context))
		return false;
	if ((command->needs & LBX_NEEDS_FRAMES) && !lbx_stacks_hold(context->stacks, context->target))
		return false;
	if (!lbx_command_open(context, command))
		return false;
	if ((command->needs & LBX_NEEDS_LIVE) && (!context->target || !context->target->ops->write))
		return lb_fail("%s needs a running program", command->name);
	if ((command->needs & (LBX_NEEDS_STACKS | LBX_NEEDS_FRAMES)) && !context->stacks)
		return lb_fail("%s needs the stacks of a program", command->name);
	if ((command->needs & LBX_NEEDS_CORES) && !context->cores)
		return lbx_misuse("%s needs core files: lazybones %s %s", command->name, command->name,
				  command->arguments);
	return command->run(context, args) && lbx_command_end(context, command);
}

void lbx_tell_notice(struct lbx_out *out, struct lbx_target *target)
{
	char notice[512];

	if (out->json || !target || !lbx_target_notice(target, notice, sizeof notice))
		return;
	lbx_make_printable(notice);
	lbx_wrap(out, 0, 4);
	lbx_styled(out, LBX_WARNING, "%s", notice);
	lbx_printf(out, "\n");
}

static bool is_command(const struct lbx_command *command, const char *at)
{
	char name[32];

	snprintf(name, sizeof name, "%.*s", (int)strcspn(at, " ,\n"), at);
	return strcmp(name, command->name) == 0 || lbx_command_find(lbx_commands, name);
}

/* To a shell, a word that begins with # is a comment. */
static void tell_example(struct lbx_out *out, const char *text, size_t n, bool is_of_shell)
{
	for (size_t i = 0, word; i < n; i += word) {
		bool begins = text[i] == '#' && i && text[i - 1] == ' ';
		word = begins ? strcspn(text + i, " ,\n") : 1;
		lbx_printf(out, is_of_shell && begins ? "'%.*s'" : "%.*s", (int)word, text + i);
	}
}

void lbx_command_text(struct lbx_out *out, const struct lbx_command *command, const char *prefix)
{
	static const char title[] = "Example: ";
	const char *from = command->help, *at = strstr(from, title);
	bool is_of_shell = strncmp(prefix, "lazybones", 9) == 0;

	if (!at) {
		lbx_printf(out, "%s", from);
		return;
	}
	lbx_printf(out, "%.*s", (int)(at - from), from);
	from = at;
	for (at += sizeof title - 1; at; at = strchr(at, ',')) {
		at += strspn(at, ", \n");
		if (!is_command(command, at))
			continue;
		tell_example(out, from, (size_t)(at - from), is_of_shell);
		lbx_printf(out, "%s", prefix);
		from = at;
	}
	tell_example(out, from, strlen(from), is_of_shell);
}

enum { HELP_MOST = 8192, FULL_LINE = 60 };

static void keep_help(struct lbx_out *out, const char *text, size_t n)
{
	char *to = out->context;
	size_t used = strlen(to);

	if (used + n < HELP_MOST)
		memcpy(to + used, text, n), to[used + n] = '\0';
}

static bool is_example(const char *line)
{
	return strncmp(line, "Example:", 8) == 0;
}

static bool is_row(const char *line, size_t n)
{
	return n == 0 || *line == ' ' || memmem(line, n, "  ", 2) || is_example(line);
}

/* The lines of a paragraph together, broken where the terminal ends; a row of a table stays one. */
static void tell_paragraphs(struct lbx_out *out, const char *text)
{
	for (const char *at = text; *at;) {
		size_t n = strcspn(at, "\n");
		lbx_wrap(out, 0, is_row(at, n) && !is_example(at) ? 18 : 0);
		lbx_printf(out, "%.*s", (int)n, at);
		bool goes_on = !out->whole_lines && (!is_row(at, n) || is_example(at));
		while (goes_on && at[n] && (n > FULL_LINE || (n && at[n - 1] == ',')) &&
		       !is_row(at + n + 1, strcspn(at + n + 1, "\n"))) {
			at += n + 1;
			n = strcspn(at, "\n");
			lbx_printf(out, " %.*s", (int)n, at);
		}
		lbx_printf(out, "\n");
		at += n + (at[n] == '\n');
	}
}

static void tell_text(struct lbx_out *out, const struct lbx_command *command, const char *prefix)
{
	char text[HELP_MOST] = "";
	struct lbx_out kept = { .context = text, .write = keep_help, .whole_lines = true };

	lbx_command_text(&kept, command, prefix);
	tell_paragraphs(out, text);
}

void lbx_command_help(struct lbx_out *out, const struct lbx_command *command, const char *prefix, const char *example)
{
	const int max = sizeof command->options / sizeof *command->options;

	lbx_wrap(out, 0, 2);
	lbx_printf(out, "%c%s.\n", toupper((unsigned char)command->summary[0]), command->summary + 1);
	lbx_wrap(out, 0, 7);
	lbx_printf(out, "Usage: %s%s%s%s [OPTION]...\n", prefix, command->name, *command->arguments ? " " : "",
		   command->arguments);
	if (command->help && *command->help) {
		lbx_printf(out, "\n");
		tell_text(out, command, example);
	}
	lbx_printf(out, "\nOptions:\n");
	for (int i = 0; i < max && command->options[i].name; i++) {
		const struct lbx_option *o = &command->options[i];
		char left[64];
		snprintf(left, sizeof left, "--%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
		lbx_wrap(out, 0, 21);
		lbx_printf(out, "  %-18s %s\n", left, o->help);
	}
	if (command->run)
		lbx_printf(out, "  %-18s %s\n", "--json", LBX_JSON_HELP);
}
