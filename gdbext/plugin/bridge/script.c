#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/bridge/script.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/texts.h"
#include "plugin/bridge/answers.h"
#include "plugin/bridge/bridge.h"
#include "plugin/bridge/files.h"
#include "plugin/bridge/front_end.h"
#include "plugin/bridge/text.h"
#include "record/trace.h"
#include "symtab.h"

enum { FEW_WORDS = 4 };

const char *lbx_script_plugin_path(void)
{
	static Dl_info info;

	if (!info.dli_fname && !dladdr((void *)lbx_script_plugin_path, &info))
		return "lazybones-gdb.so";
	return info.dli_fname;
}

/* What tells languages apart; $_lb_N for each count of words that a command may have, and which counts are few, or one. */
static void set_numbers(struct text *script)
{
	text_printf(script, "set $_lb_large = (float)0x1000000, $_lb_unit = (float)1");
	for (int i = 0; i <= LBX_MAX_WORDS; i++)
		text_printf(script, ", $_lb_%d = %#x", i, (unsigned)i);
	for (int i = 0; i < FEW_WORDS; i++)
		text_printf(script, ", $_lb_few_%d = 1", i);
	text_printf(script, ", $_lb_one_1 = 1, $_lb_few = %#x\n", (unsigned)FEW_WORDS);
}

static void take_words(struct text *script, const char *name, int words)
{
	text_printf(script, "_lbs %s", name);
	for (int i = 0; i < words; i++)
		text_printf(script, " $arg%d", i);
	text_printf(script, "\n");
}

/* gdb substitutes each word of the user's line only by its number, so there is one variant for each count of words, first
 * of all for the one that is typed most: each line that runs takes gdb some 20 us. Beyond a few the words are passed on one
 * by one: gdb reads a script byte by byte, and starts the slower the longer the definitions are. */
static void define_body(struct text *script, const char *name, bool selects_frame)
{
	_Static_assert(FEW_WORDS == 4, "each has its place here");
	text_printf(script, "source " LBX_SETTLE_FILE "\n_lb_begin\nif $_lb_one_$argc\n");
	take_words(script, name, 1);
	text_printf(script, "else\nif $_lb_few_$argc\nif $_lb_$argc > $_lb_2\n");
	take_words(script, name, 3);
	text_printf(script, "else\nif $_lb_$argc > $_lb_0\n");
	take_words(script, name, 2);
	text_printf(script, "else\n");
	take_words(script, name, 0);
	text_printf(script, "end\nend\nelse\nif $_isvoid($_lb_$argc)\n_lbs " LBX_TOO_MANY_WORDS "\nelse\n");
	take_words(script, name, FEW_WORDS);
	text_printf(script,
		    "_lb_c _lb_from\nwhile $_lb_$argc > $_lb_word\neval \"_lbn $arg%%d\", $_lb_word\nend\n"
		    "end\nend\nend\n%s\n",
		    selects_frame ? "_lb_call_selecting" : "_lb_call");
}

static void define(struct text *script, const char *command, const char *name, bool selects_frame)
{
	text_printf(script, "define %s\n", command);
	define_body(script, name, selects_frame);
	text_printf(script, "end\n");
}

/* gdb completes the arguments of a `define`d command from the symbols of the program and its libraries, hundreds of them;
 * but it completes words that are commands themselves. So options are, where nothing that is a symbol may stand, and words
 * that a command takes as its first alone: aliases of `--json`, which is handed the word. All are deprecated, so that gdb shows
 * them by TAB, where there is nothing else, but not below the help of the command, which tells of them. Words
 * that are none go to the command itself; `-` and `--` must not be taken for the beginning of an option. */
static bool completes_options(const struct lbx_command *row)
{
	return !*row->arguments || row->word || strcmp(row->arguments, "[N]") == 0 ||
	       strcmp(row->arguments, "[#ID]") == 0 || strncmp(row->arguments, "[GLOB]", 6) == 0;
}

#define ANY_VALUE "_" /* hidden, since it is deprecated and the values beside it are not */

static void deprecate(struct text *script, const char *command, const char *option)
{
	text_printf(script, "maintenance deprecate %s %s\n%s %s\n", command, option, command, option);
}

static void define_option(struct text *script, const char *how, const char *command, const char *option)
{
	text_printf(script, "alias %s-- %s %s = %s " LBX_OPTION_COMMAND " " LBX_OPTION_FIRST "%s\n", how, command,
		    option, command, option);
	deprecate(script, command, option);
}

/* By a line an option, or a value: there are hundreds, and gdb reads each byte by itself. */
static void define_one_option(struct text *script)
{
	text_printf(script, "define _lb_o\n");
	define_option(script, "", "tensor $arg0", "$arg1");
	text_printf(script, "end\ndefine _lb_w\nalias tensor $arg0 --$arg1 $arg2 = tensor $arg0 --$arg1 " ANY_VALUE
			    " $arg2\nend\n");
}

/* Run once to be warned of (define_all_options()): then it does nothing. */
static void define_hidden(struct text *script, const char *command, const char *name, bool selects_frame)
{
	text_printf(script, "define %s\nif $_lb_hides\nelse\n", command);
	define_body(script, name, selects_frame);
	text_printf(script, "end\nend\n");
}

/* An option whose values are known is a command of its own, and below it those are aliases of one, which is handed the word. */
static void define_valued_option(struct text *script, const char *command, const struct lbx_command *row,
				 const char *option)
{
	char name[80], behind[120], value[130];

	snprintf(name, sizeof name, "%s" LBX_OPTION_FIRST " " LBX_OPTION_FIRST "--%s", row->name, option);
	snprintf(behind, sizeof behind, "%s --%s", command, option);
	snprintf(value, sizeof value, "%s " ANY_VALUE, behind);
	define_hidden(script, behind, name, row->needs & LBX_SELECTS_FRAME);
	text_printf(script, "define-prefix %s\n", behind);
	define_hidden(script, value, name, row->needs & LBX_SELECTS_FRAME);
}

static void define_behind_options(struct text *script, const char *command, const struct lbx_command *row)
{
	char name[80], behind[80];
	const int max = sizeof row->options / sizeof *row->options;

	snprintf(name, sizeof name, "%s" LBX_OPTION_FIRST, row->name);
	snprintf(behind, sizeof behind, "%s " LBX_OPTION_COMMAND, command);
	text_printf(script, "define-prefix %s\n", command);
	define_hidden(script, behind, name, row->needs & LBX_SELECTS_FRAME);
	text_printf(script, "define-prefix %s\n", behind);
	for (int i = 0; i < max && row->options[i].name; i++)
		if (row->value && row->value(row->options[i].name, 0))
			define_valued_option(script, command, row, row->options[i].name);
}

static void define_options(struct text *script, const struct lbx_command *row)
{
	char command[80];
	const int max = sizeof row->options / sizeof *row->options;

	snprintf(command, sizeof command, "tensor %s", row->name);
	deprecate(script, command, LBX_OPTION_COMMAND);
	define_option(script, "-a ", command, "-");
	define_option(script, "-a ", command, "--");
	for (int i = 0; i < max && row->options[i].name; i++) {
		const char *name = row->options[i].name;
		char option[80];
		if (!row->value || !row->value(name, 0)) {
			text_printf(script, "_lb_o %s --%s\n", row->name, name);
			continue;
		}
		snprintf(option, sizeof option, "--%s", name);
		deprecate(script, command, option);
		snprintf(option, sizeof option, "--%s " ANY_VALUE, name);
		deprecate(script, command, option);
		for (int v = 0; row->value(name, v); v++)
			text_printf(script, "_lb_w %s %s %s\n", row->name, name, row->value(name, v));
	}
	for (int i = 0; row->word && row->word(i); i++)
		text_printf(script, "_lb_o %s %s\n", row->name, row->word(i));
}

/* `help` and `apropos` show each by its own text then, not all of them with what they are aliases of. */
static void document_options(struct text *script, const struct lbx_command *row)
{
	const int max = sizeof row->options / sizeof *row->options;

	for (int i = 0; i < max && row->options[i].name; i++)
		text_printf(script, "document tensor %s --%s\n%s%s%s\nend\n", row->name, row->options[i].name,
			    row->options[i].value ? row->options[i].value : "", row->options[i].value ? ": " : "",
			    row->options[i].help);
	text_printf(script, "document tensor %s " LBX_OPTION_COMMAND "\n" LBX_JSON_HELP "\nend\n", row->name);
	for (int i = 0; row->word && row->word(i); i++)
		text_printf(script, "document tensor %s %s\n`help tensor %s` tells of it.\nend\n", row->name,
			    row->word(i), row->name);
}

static void for_rows_with_options(struct text *script, const struct lbx_command *const *const *tables,
				  void (*what)(struct text *script, const struct lbx_command *row))
{
	for (; *tables; tables++)
		for (const struct lbx_command *const *row = *tables; *row; row++)
			if (!((*row)->needs & LBX_GDB_LACKS) && completes_options(*row))
				what(script, *row);
}

/* In one go, and in silence: gdb warns of each that is deprecated when it is first used, which is here. */
static void define_all_options(struct text *script, const struct lbx_command *const *const *tables)
{
	define_one_option(script);
	text_printf(script, "define _lb_options\n");
	for_rows_with_options(script, tables, define_options);
	text_printf(script, "end\nset $_lb_hides = 1\n_lb_quiet _lb_options 0\nset $_lb_hides = 0\n");
	for_rows_with_options(script, tables, document_options);
}

static void append_help(struct lbx_out *out, const char *bytes, size_t n)
{
	text_append(out->context, bytes, n);
}

/* For a catch of SIGSEGV: guards are known by their address (symtab.h). */
static void define_fault(struct text *script)
{
	text_printf(script,
		    "define _lb_fault_c\n"
		    "set $_lb_at = (unsigned long) $_siginfo._sifields._sigfault.si_addr\n"
		    "set $_lb_guarded = $_lb_at - %#llx < %#llx\n"
		    "set $_lb_crash = !$_lb_guarded\n"
		    "set $_lb_go = 0\n"
		    "end\n"
		    "define _lb_fault_look\n"
		    "_lb_c _lb_fault_c\n"
		    "end\n"
		    "define _lb_fault\n"
		    "_lb_quiet _lb_fault_look 0\n"
		    "end\n",
		    LB_GUARD_BASE, LB_GUARDS * LB_GUARD_STRIDE);
}

static void define_rows(struct text *script, const struct lbx_command *const *table)
{
	for (; *table; table++) {
		const struct lbx_command *row = *table;
		struct lbx_out out = { .width = 80, .context = script, .write = append_help };
		char command[80];

		if (row->needs & LBX_GDB_LACKS)
			continue;
		snprintf(command, sizeof(command), "tensor %s", row->name);
		define(script, command, row->name, row->needs & LBX_SELECTS_FRAME);
		text_printf(script, "document %s\n", command);
		lbx_command_help(&out, row, "tensor ", "tensor ");
		if (script->n && script->bytes[script->n - 1] != '\n')
			text_append(script, "\n", 1);
		text_printf(script, "end\n");
		if (completes_options(row))
			define_behind_options(script, command, row);
	}
}

/* For a program that drives gdb: `-gdb-set _tensor LINE`. What that command of MI does gdb tells no listener of settings
 * (=cmd-param-changed), of which there are some twenty a question, each written byte by byte. */
static void define_quiet(struct text *script)
{
	if (lbx_answers_are_wanted())
		define(script, "set _tensor", "", false);
}

static void define_lines(struct text *script, const struct lbx_line *line)
{
	char command[80];

	for (; line->name; line++) {
		snprintf(command, sizeof command, "_tensor%s", line->name);
		if (line->is_command)
			define(script, command, line->name, line->selects_frame);
	}
}

bool lbx_script_offer(const struct lbx_command *const *const *tables, const struct lbx_line *lines)
{
	struct text script = { 0 };
	bool ok;

	/* The functions of a reader that gdb unloads must stay: commands load it again. */
	if (!dlopen(lbx_script_plugin_path(), RTLD_NOW | RTLD_NODELETE | RTLD_NOLOAD))
		return lb_fail("%s", dlerror());
	text_printf(&script, "define _lb_reload\njit-reader-unload\njit-reader-load %s\nend\n",
		    lbx_script_plugin_path());
	set_numbers(&script);
	define(&script, "_tensor_unknown", "", false);
	text_append(&script, lbx_definitions, strlen(lbx_definitions));
	text_printf(&script, "set $_lb_mi = %d\nset $_lb_logs = $_gdb_major < 0x12 && (!$_lb_mi || %d)\n",
		    lbx_front_end_speaks_mi(), lbx_answers_are_wanted());
	for (const struct lbx_command *const *const *table = tables; *table; table++)
		define_rows(&script, *table);
	define_all_options(&script, tables);
	define_fault(&script);
	define_quiet(&script);
	define_lines(&script, lines);
	text_printf(&script, "set $_lb_shows = %d\nset $_lb_automatic = $_lb_shows\n", lbx_front_end_shows_stops());
	if (lbx_trace_wanted())
		text_printf(&script, "_tensor" LBX_TRACE "\n");
	ok = script.failed ? lb_fail("out of memory") : lbx_bridge_offer(script.bytes, script.n);
	text_free(&script);
	return ok;
}
