/* What a rule of the doctor's means. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/command.h"
#include "inspect/diagnose/rule.h"

enum { TEXT_MOST = 4096 };

/* A paragraph, broken where the terminal ends. */
static void tell_part(struct lbx_out *out, const char *key, const char *title, const char *text)
{
	char line[TEXT_MOST];

	snprintf(line, sizeof line, "%s", text);
	for (char *c = line; *c; c++)
		if (*c == '\n')
			*c = ' ';
	LBX_KEY(out, key, lbx_json_string(line));
	lbx_printf(out, "\n");
	lbx_styled(out, LBX_TITLE, "%s\n", title);
	lbx_wrap(out, 0, 2);
	lbx_printf(out, "  %s\n", line);
}

/* Lines of a program stay as they are, where there is room. */
static void tell_example(struct lbx_out *out, const char *text)
{
	LBX_KEY(out, "example", lbx_json_string(text));
	lbx_printf(out, "\n");
	lbx_styled(out, LBX_TITLE, "a program that has it\n");
	for (const char *at = text; *at;) {
		int n = (int)strcspn(at, "\n"), tabs = (int)strspn(at, "\t");
		lbx_wrap(out, 0, 12);
		lbx_printf(out, "  %*s%.*s\n", 4 * tabs, "", n - tabs, at + tabs);
		at += n + (at[n] == '\n');
	}
}

static void tell_rule(struct lbx_out *out, const struct lbx_rule *r)
{
	char where[LBX_WHERE_MAX];

	lbx_begin(out, NULL);
	lbx_wrap(out, 0, 4);
	lbx_tell(out, "%pF %pF: %pF\n", LBX_STYLED(LBX_NAME, "id", r->id), LBX_TEXT("rule", r->name),
		 LBX_TEXT("title", r->title));
	tell_part(out, "meaning", "what it means", r->meaning);
	tell_example(out, r->example);
	if (lbx_rule_where(r, where))
		tell_part(out, "where", "where it looks", where);
	tell_part(out, "demands", "what it demands before it speaks", r->demands);
	tell_part(out, "cure", "what to do", r->cure);
	lbx_end(out);
}

static void list_rules(struct lbx_out *out)
{
	lbx_begin_list(out, NULL);
	for (const struct lbx_rule *const *r = lbx_rules; *r; r++) {
		lbx_begin(out, NULL);
		lbx_wrap(out, 0, 30);
		LBX_KEY(out, "id", json_string((*r)->id));
		LBX_KEY(out, "rule", json_string((*r)->name));
		lbx_styled(out, LBX_NAME, "%-5s", (*r)->id);
		lbx_printf(out, "%-24s", (*r)->name);
		lbx_tell(out, " %pF\n", LBX_TEXT("title", (*r)->title));
		lbx_end(out);
	}
	lbx_end(out);
}

static bool run_explain(struct lbx_context *context, const struct lbx_args *args)
{
	bool is_first = true, is_any = false;

	if (!args->n) {
		list_rules(context->out);
		return lb_ok();
	}
	for (const struct lbx_rule *const *r = lbx_rules; *r && !is_any; r++)
		is_any = lbx_rule_is(*r, args->v[0]);
	if (!is_any)
		return lbx_misuse("there is no rule '%s': `explain` without a word lists them", args->v[0]);
	lbx_begin_list(context->out, NULL);
	for (const struct lbx_rule *const *r = lbx_rules; *r; r++) {
		if (!lbx_rule_is(*r, args->v[0]))
			continue;
		lbx_printf(context->out, "%s", is_first ? "" : "\n");
		tell_rule(context->out, *r);
		is_first = false;
	}
	lbx_end(context->out);
	return lb_ok();
}

/* The ids, and those of rows: gdb would take L2 for a beginning of either. */
static const char *rule_word(int i)
{
	static char row[8];
	int n = 0;

	for (const struct lbx_rule *const *r = lbx_rules; *r; r++) {
		const char *id = (*r)->id;
		size_t end = strlen(id) - 1;
		if (id[end] == 'a' && n++ == i) {
			snprintf(row, sizeof row, "%.*s", (int)end, id);
			return row;
		}
		if (n++ == i)
			return id;
	}
	return NULL;
}

const struct lbx_command lbx_command_explain = {
	.name = "explain",
	.arguments = "[RULE]",
	.summary = "explain a rule of doctor's, or list them all",
	.help =
	    "What it means, a program that has it, where it looks if that is not everywhere, what must\n"
	    "be so before it speaks, and what to do. A rule is named as doctor does, or by its row: L2 is L2a and L2b, too.\n"
	    "Example: explain L1",
	.max_args = 1,
	.word = rule_word,
	.needs = LBX_NEEDS_NO_PROGRAM,
	.run = run_explain,
};
