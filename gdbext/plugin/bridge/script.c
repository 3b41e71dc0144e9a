#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/bridge/script.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "plugin/bridge/bridge.h"
#include "plugin/bridge/front_end.h"
#include "plugin/bridge/text.h"
#include "plugin/symbols/graph_files.h"
#include "symtab.h"

enum { MAX_WORDS = 16, FEW_WORDS = 4 };

/* Convenience variables hold the strings: a string literal is not the same in all of gdb's
 * languages, and in Rust one is written to the program's memory. They hold the numbers, too: gdb reads
 * digits in the user's `input-radix`, where "8" may be none and "10" sixteen. Only 0 and 1 are the same in
 * all; 0x10 is, too, where the script runs in C. */
static const char common[] =
	"directory " LBX_GRAPHS_FOLDERS "\n"
	"define hookpost-directory\n"
	"directory " LBX_GRAPHS_FOLDERS "\n"
	"end\n"
	"define set hookpost-directories\n"
	"directory " LBX_GRAPHS_FOLDERS "\n"
	"end\n"
	/* and without a process it says that it cannot read the JIT descriptor */
	"define _tensor_reload\n"
	"_lb_quiet _lb_reload 0\n"
	"end\n"
	"set $_lb_setting = \"test-settings string-noescape\"\n"
	"set $_lb_language = \"language\"\n"
	"set $_lb_style = \"style enabled\"\n"
	"set $_lb_width = \"width\"\n"
	"set $_lb_height = \"height\"\n"
	"set $_lb_logging = \"logging enabled\"\n"
	"set $_lb_silence = \"" LBX_SILENCE "\\\\n\\nset $tensor_failed = 1\\n\"\n"
	"set $_lb_unarmed = 0\n"
	"set $_lb_automatic = 0\n"
	"set $_lb_stops = 1\n"
	/* a process that gdb has attached to gets what it lacks as soon as it stands */
	"define _lb_arm_c\n"
	"set $_lb_thread = $_thread\n"
	"if $_lb_thread\n"
	"thread apply $_lb_thread -q -s frame apply level 0 -q -s set $_lb_unarmed = 0\n"
	"end\n"
	"end\n"
	"define _lb_arm\n"
	"_lb_as_c _lb_arm_c\n"
	"if $_lb_unarmed\n"
	"else\n"
	"_tensor" LBX_HIT " start attached\n"
	"end\n"
	"end\n"
	"define _lb_attach_c\n"
	"set $_lb_unarmed = 1\n"
	"end\n"
	"define _lb_attach\n"
	"_tensor" LBX_BEGIN "\n"
	"_lb_as_c _lb_attach_c\n"
	"if $_lb_stops\n"
	"else\n"
	"echo Your hook-stop takes the place of tensor's: add the line `_tensor_stopped` to it, or type that before "
	"you continue; else the catches and switches that are set may not reach the process.\\n\n"
	"end\n"
	"end\n"
	"define _lb_attached\n"
	"if $_lb_unarmed\n"
	"_lb_arm\n"
	"end\n"
	"end\n"
	/* in the user's language: no assignment, no comparison for equality */
	"define _lb_put_settings\n"
	"dump binary value " LBX_LANGUAGE_FILE " $_gdb_setting_str($_lb_language)\n"
	"dump binary value " LBX_STYLE_FILE " $_gdb_setting_str($_lb_style)\n"
	"dump binary value " LBX_WIDTH_FILE " $_gdb_setting_str($_lb_width)\n"
	"end\n"
	"define _lb_begin\n"
	"if $_lb_unarmed\n"
	"_lb_arm\n"
	"end\n"
	"_lb_put_settings\n"
	"end\n"
	"define _lb_warned\n"
	"with language c -- echo\n"
	"end\n"
	"define _lb_as_c\n"
	"_lb_quiet _lb_warned 0\n"
	"with language c -- $arg0\n"
	"end\n"
	/* a command in C, or what reads like it. No command tells the language that is in force, but arithmetic
	 * does: only the likes of C leave the sum of two floats a float, which then has no room for the second */
	"define _lb_c\n"
	"if $_lb_large + $_lb_unit - $_lb_large\n"
	"_lb_as_c $arg0\n"
	"else\n$arg0\n"
	"end\n"
	"end\n"
	"alias _lbs = " LBX_CARRIER "\n"
	"set $_lb_words = 0\n"
	"set $_lb_blank = ' '\n"
	"define _lb_request\n"
	"if $_lb_words\n"
	"append binary value " LBX_REQUEST_FILE " $_gdb_maint_setting_str($_lb_setting)\n"
	"else\n"
	"dump binary value " LBX_REQUEST_FILE " $_gdb_maint_setting_str($_lb_setting)\n"
	"end\n"
	"end\n"
	"define _lb_keep\n"
	"_lb_request\n"
	"append binary value " LBX_REQUEST_FILE " $_lb_blank\n"
	"set $_lb_words = 1\n"
	"end\n"
	/* one more word: those before go to the request */
	"define _lbn\n"
	"_lb_c _lb_keep\n"
	"_lbs $arg0\n"
	"end\n"
	"set $_lb_going = 0\n"
	"define _tensor_call\n"
	"_lb_request\n"
	"set $_lb_words = 0\n"
	"_lb_serve\n"
	/* what makes the program run: by now no response is being read, and a stop's commands may ask */
	"if $_lb_going\n"
	"set $_lb_going = 0\n"
	"eval \"%s\", $_lb_go\n"
	"end\n"
	"end\n"
	"define _lb_serve\n"
	"set $_lb_more = 1\n"
	"while $_lb_more\n"
	"set $_lb_more = 0\n"
	"dump binary value " LBX_RESPONSE_FILE " $_lb_silence\n"
	/* `thread apply` takes no $_thread, which has its value when it is asked for one */
	"set $_lb_thread = $_thread\n"
	"if $_lb_thread\n"
	"thread apply $_lb_thread -q -s frame apply level 0 -q -s echo\n"
	"else\n"
	"_tensor_reload\n"
	"end\n"
	"source " LBX_RESPONSE_FILE "\n"
	"end\n"
	"end\n"
	/* what the plugin has to know first; to ask would run a script (symbol_file.c) */
	"define _lb_stop_asked\n"
	"if $_lb_unarmed\n"
	"_lbm stopped_unarmed\n"
	"else\n"
	"_lbm stopped\n"
	"end\n"
	"_lbm 0\n"
	"_lbf -- info program\n"
	"_lbm 1\n"
	"info breakpoints\n"
	"_lbm end\n"
	"end\n"
	"define _lb_stop\n"
	"if $_thread\n"
	"_lb_record _lb_stop_asked 0\n"
	"_lb_serve\n"
	"end\n"
	"end\n"
	"define _lb_stopped\n"
	"_lb_put_settings\n"
	"_lb_c _lb_stop\n"
	"end\n"
	"define _tensor_stopped\n"
	"if $_lb_unarmed\n"
	"_lb_stopped\n"
	"else\nif $_lb_automatic\n"
	"_lb_stopped\n"
	"end\nend\n"
	"end\n"
	/* where symbols come or go, gdb forgets its place in the source, which the TUI shows and `list`
	 * goes on from: back to the selected frame's */
	"define _lb_frame\n"
	"frame\n"
	"end\n"
	"define _lb_look\n"
	"if $_thread\n"
	"_lb_quiet _lb_frame 0\n"
	"end\n"
	"end\n"
	/* gdb names the file that it adds, which is no news, and asks before it removes one; `echo`
	 * flushes, which MI needs */
	"define _lb_add\n"
	"with confirm off -- with print symbol-loading off -- add-symbol-file $arg0\n"
	"echo\n"
	"end\n"
	"define _lb_symbols_add\n"
	"_lb_quiet _lb_add $arg0\n"
	"end\n"
	"define _lb_symbols_remove\n"
	"with confirm off -- remove-symbol-file $arg0\n"
	"end\n"
	/* in `frame apply`, which drops the output of what fails: under MI gdb tells of settings, too */
	"define _lb_framed\n"
	"$arg0 $arg1\n"
	"echo\n"
	"_lb_fails_here_so_that_frame_apply_drops_the_output\n"
	"end\n"
	/* gdb says that a pending probe is not there yet, which is no news */
	"define _lb_break_at\n"
	"with breakpoint pending on -- break -probe-stap lazybones:$arg0\n"
	"end\n"
	"define _lb_break\n"
	"_lb_quiet _lb_break_at $arg0\n"
	"end\n"
	/* at the probe graph_start: to the first line of its listing */
	"define _lb_enter\n"
	/* a number, since gdb reads the place again when symbols come */
	"eval \"_lb_quiet tbreak *0x%lx\", (unsigned long) $arg0\n"
	"end\n"
	"define _lb_tbreak_at\n"
	"with breakpoint pending on -- tbreak -probe-stap lazybones:$arg0\n"
	"end\n"
	"define _lb_tbreak\n"
	"_lb_quiet _lb_tbreak_at $arg0\n"
	"end\n"
	/* if something else has stopped the program, the breakpoint is still there; else gdb says that
	 * there is none */
	"define _lb_step_end\n"
	"_lb_quiet delete $_lb_in\n"
	"if $_thread\n"
	"else\n"
	"echo No evaluation began before the program ended.\\n\n"
	"end\n"
	"end\n"
	"define _lb_step_out\n"
	"select-frame $_lb_level\n"
	"finish\n"
	"end\n"
	"define _lb_step_on\n"
	"select-frame $_lb_level\n"
	"until *$_lb_next\n"
	"end\n"
	"define _lb_step_into\n"
	"select-frame $_lb_level\n"
	"advance *$_lb_next\n"
	"end\n"
	/* `tensor eval`: what gdb says of a call that does not return goes to the request: the stop, and, where
	 * `frame apply` catches it, the error; one of them names the signal. That fails itself where the program has
	 * ended. Where gdb has undone the call, the stack ends where it did before; then the runtime gives back what
	 * the evaluation had claimed. */
	"set $_lb_evaluated = \"" LBX_CALLED "\"\n"
	"define _lb_eval_call\n"
	"set $_lb_refusal = ((const char *(*)(unsigned long))lb_debug_eval)($arg0)\n"
	"end\n"
	"define _lb_eval_framed\n"
	"frame apply level 0 -q -c -- _lb_pipe _lb_eval_call $arg0\n"
	"end\n"
	"define _lb_eval_look\n"
	"frame apply level 0 -q -s -- set $_lb_refusal = (const char *)1 + ($sp != $_lb_sp)\n"
	"end\n"
	"define _lb_eval_drop\n"
	"set $_lb_dropped = ((const char *(*)(unsigned long))lb_debug_eval)($arg0)\n"
	"end\n"
	"alias _lb_locked = with scheduler-locking on -- with unwindonsignal on --\n"
	"define _lb_eval_c\n"
	"set $_lb_refusal = (const char *)1\n"
	"frame apply level 0 -q -s -- set $_lb_sp = $sp\n"
	"set $_lb_thread = $_thread\n"
	"thread apply $_lb_thread -q -s _lb_locked _lb_pipe _lb_eval_framed $arg0\n"
	"if $_thread && $_lb_refusal == (const char *)1\n"
	/* also where the thread has gone, and gdb does not yet know that the program has */
	"thread apply $_lb_thread -q -s _lb_eval_look\n"
	"if $_lb_refusal == (const char *)1\n"
	"thread apply $_lb_thread -q -s _lb_locked _lb_quiet _lb_eval_drop 0\n"
	"end\n"
	"end\n"
	"append binary value " LBX_REQUEST_FILE " $_lb_evaluated\n"
	"_lb_serve\n"
	"end\n"
	"define _lb_eval\n"
	"_lb_quiet _lb_warned 0\n"
	"with language c -- _lb_eval_c $arg0\n"
	"end\n"
	/* at a guard's fault: the pages open now, so that the signal is not wanted, and `next` does not end in
	 * its handler. Where the program cannot be called, the handler opens them. */
	"define _lb_guard_call\n"
	"set $_lb_opened = ((unsigned char (*)(unsigned long))lb_debug_open_guard)($arg0)\n"
	"end\n"
	"define _lb_open_guard\n"
	"set $_lb_opened = 0\n"
	"frame apply level 0 -q -s -- _lb_locked _lb_guard_call $arg0\n"
	"if $_lb_opened\n"
	"queue-signal 0\n"
	"end\n"
	"end\n"
	"define _lb_catch_fault\n"
	"catch signal SIGSEGV\n"
	"end\n"
	"define _lb_break_fault\n"
	"_lb_quiet _lb_catch_fault 0\n"
	"end\n"
	"define-prefix tensor\n"
	"document tensor\n"
	"See inside the lazy tensors of a program, running or dead.\n"
	"T is a tensor's name, #ID, or an expression that yields a tensor handle.\n"
	"end\n";

const char *lbx_script_plugin_path(void)
{
	static Dl_info info;

	if (!info.dli_fname && !dladdr((void *)lbx_script_plugin_path, &info))
		return "lazybones-gdb.so";
	return info.dli_fname;
}

/* What tells languages apart; and $_lb_N for each count of words that a command may have. */
static void set_numbers(struct text *script)
{
	text_printf(script, "set $_lb_large = (float)0x1000000, $_lb_unit = (float)1");
	for (int i = 0; i <= MAX_WORDS; i++)
		text_printf(script, ", $_lb_%d = %#x", i, (unsigned)i);
	text_printf(script, "\n");
}

static void define_with_words(struct text *script, const char *name, int words)
{
	text_printf(script, "if $_lb_$argc > $_lb_%d\n_lbs %s", words - 1, name);
	for (int i = 0; i < words; i++)
		text_printf(script, " $arg%d", i);
	text_printf(script, "\nend\n");
}

/* gdb substitutes each word of the user's line only by its number, so there is one variant for
 * each count of words; the last that fits wins. Beyond a few the words are passed on one by one:
 * gdb reads a script byte by byte, and starts the slower the longer the definitions are. */
static void define(struct text *script, const char *command, const char *name, bool selects_frame)
{
	text_printf(script, "define %s\nsource " LBX_SETTLE_FILE "\n_lb_begin\n"
		    "if $_isvoid($_lb_$argc)\n"
		    "_lbs " LBX_TOO_MANY_WORDS "\n"
		    "else\nif $_lb_$argc < $_lb_%d\n_lbs %s\n", command, FEW_WORDS, name);
	for (int words = 1; words < FEW_WORDS; words++)
		define_with_words(script, name, words);
	text_printf(script, "else\n");
	define_with_words(script, name, FEW_WORDS);
	for (int word = FEW_WORDS; word < MAX_WORDS; word++)
		text_printf(script, "if $_lb_$argc > $_lb_%d\n_lbn $arg%d\nend\n", word, word);
	/* where another frame is selected, its language is in force from there on */
	text_printf(script, "end\nend\n%s _tensor_call\nend\n", selects_frame ? "_lb_as_c" : "_lb_c");
}

static void append_help(struct lbx_out *out, const char *bytes, size_t n)
{
	text_append(out->context, bytes, n);
}

/* For a catch of SIGSEGV: guards are known by their address (symtab.h). */
static void define_fault(struct text *script)
{
	text_printf(script, "define _lb_fault_c\n"
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
		    "end\n", LB_GUARD_BASE, LB_GUARDS * LB_GUARD_STRIDE);
}

static void define_rows(struct text *script, const struct lbx_command *row)
{
	for (; row->name; row++) {
		struct lbx_out out = {.width = 80, .context = script, .write = append_help};
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
	}
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

bool lbx_script_offer(const struct lbx_command *const *tables, const struct lbx_line *lines)
{
	struct text script = {0};
	bool ok;

	/* The functions of a reader that gdb unloads must stay: commands load it again. */
	if (!dlopen(lbx_script_plugin_path(), RTLD_NOW | RTLD_NODELETE | RTLD_NOLOAD))
		return lb_fail("%s", dlerror());
	text_printf(&script, "define _lb_reload\njit-reader-unload\njit-reader-load %s\nend\n",
		    lbx_script_plugin_path());
	set_numbers(&script);
	text_append(&script, common, sizeof(common) - 1);
	text_printf(&script, "%s", lbx_bridge_script_head);
	text_printf(&script, "set $_lb_mi = %d\nset $_lb_logs = $_gdb_major < 0x12 && !$_lb_mi\n",
		    lbx_front_end_speaks_mi());
	for (; *tables; tables++)
		define_rows(&script, *tables);
	define_fault(&script);
	define_lines(&script, lines);
	ok = script.failed ? lb_fail("out of memory") : lbx_bridge_offer(script.bytes, script.n);
	text_free(&script);
	return ok;
}
