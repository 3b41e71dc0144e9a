#include "inspect/forensics/modules.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/findings.h"
#include "target/columns.h"
#include "target/printable.h"

enum { TEXT = 8192, BAD_SHOWN = 16 };

const char *lbx_verdict_name(enum lbx_verdict verdict)
{
	static const char *const names[] = {
		[LBX_MODULE_SAME] = "same",       [LBX_MODULE_UNPROVEN] = "unproven", [LBX_MODULE_FORCED] = "forced",
		[LBX_MODULE_DIFFERS] = "differs", [LBX_MODULE_UNDATED] = "undated",   [LBX_MODULE_NEWER] = "newer",
		[LBX_MODULE_MISSING] = "missing",
	};
	return names[verdict];
}

static void describe(const struct lbx_module *m, char ret[TEXT])
{
	char why[TEXT / 2];

	lbx_module_why(m, why, sizeof why);
	snprintf(ret, TEXT, "%.3000s %s", m->path, why);
	lbx_make_printable(ret);
}

int lbx_print_bad_modules(struct lbx_context *context)
{
	struct lbx_module m;
	char text[TEXT];
	int n = 0;

	for (size_t i = 0; lbx_target_module(context->target, i, &m); i++) {
		if (m.verdict == LBX_MODULE_SAME || n++ >= BAD_SHOWN)
			continue;
		describe(&m, text);
		lbx_print_folded(context->out, "  ", text);
	}
	if (n > BAD_SHOWN)
		lbx_printf(context->out, "  … %d more (`modules` shows them)\n", n - BAD_SHOWN);
	return n;
}

static json_t *json_id(const struct lbx_build_id *id)
{
	char text[LBX_BUILD_ID_TEXT];

	lbx_build_id_text(id, text);
	return id->n ? json_string(text) : json_null();
}

static json_t *json_module(const struct lbx_module *m)
{
	return json_pack("{s:o,s:b,s:o,s:o,s:o,s:o,s:o,s:s}", "path", lbx_json_string(m->path), "program",
			 m->is_program, "start", lbx_json_address(m->start), "end", lbx_json_address(m->end),
			 "build_id", json_id(&m->wanted), "file", lbx_json_text(m->file), "file_build_id",
			 json_id(&m->found), "verdict", lbx_verdict_name(m->verdict));
}

json_t *lbx_json_modules(struct lbx_context *context)
{
	json_t *list = json_array();
	struct lbx_module m;

	for (size_t i = 0; lbx_target_module(context->target, i, &m); i++)
		json_array_append_new(list, json_module(&m));
	return list;
}

/* Columns for build ids: what the paths leave of a line, but enough to tell them apart. */
static int id_width(struct lbx_context *context)
{
	enum { LEAST = 13, MOST = 40, OTHERS = 26 };
	int longest = 0;
	struct lbx_module m;

	if (context->out->whole_lines)
		return MOST;
	for (size_t i = 0; lbx_target_module(context->target, i, &m); i++) {
		int columns = lbx_columns(m.path);
		longest = columns > longest ? columns : longest;
	}
	int room = context->out->width - OTHERS - longest;
	return room < LEAST ? LEAST : room > MOST ? MOST : room;
}

static void tell_modules(struct lbx_context *context)
{
	struct lbx_out *out = context->out;
	char id[LBX_BUILD_ID_TEXT], path[4096];
	struct lbx_module m;
	int width = id_width(context);

	lbx_begin(out, NULL);
	lbx_begin_list(out, "modules");
	lbx_styled(out, LBX_TITLE, "%-9s %-14s %-*s %s\n", "file", "at", width, "build id", "path");
	for (size_t i = 0; lbx_target_module(context->target, i, &m); i++) {
		LBX_KEY(out, NULL, json_module(&m));
		lbx_build_id_text(&m.wanted, id);
		snprintf(path, sizeof path, "%s", m.path);
		lbx_make_printable(path);
		lbx_wrap(out, 0, 10);
		lbx_styled(out, lbx_module_is_used(&m) ? LBX_PLAIN : LBX_WARNING, "%-9s ", lbx_verdict_name(m.verdict));
		lbx_printf(out, "0x%012" PRIx64 " ", m.start);
		lbx_cell(out, LBX_PLAIN, width, id);
		lbx_printf(out, " %s%s\n", path, m.is_program ? " (the program)" : "");
	}
	lbx_end(out);
	lbx_print_bad_modules(context);
	lbx_end(out);
}

static bool run_modules(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_module m;
	int64_t n = 0;

	(void)args;
	while (lbx_target_module(context->target, (size_t)n, &m))
		n++;
	if (n == 0)
		return lb_fail("the modules of this program are not known: only a core that lists them (NT_FILE) "
			       "tells them");
	tell_modules(context);
	lbx_set_int(context->out, "tensor_count", n);
	return lb_ok();
}

const struct lbx_command lbx_command_modules = {
	.name = "modules",
	.arguments = "",
	.summary = "list the program and its libraries, and whether their files here are the same",
	.help = "A file whose build id differs from the core's gives wrong names, so it is not used. same:\n"
		"its build id is the core's. unproven: the core holds no build id to check it against (bit 4\n"
		"of /proc/PID/coredump_filter saves them), but it was not modified since. Not used are:\n"
		"differs; newer: unproven, and modified since; undated: unproven, and the core came through a\n"
		"pipe, so that its time is not known; missing. forced: --force uses what --exe names,\n"
		"whatever it is.\n"
		"Example: modules --json",
	.needs = LBX_NEEDS_STACKS,
	.run = run_modules,
};
