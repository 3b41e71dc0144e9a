#include "plugin/bridge/script.h"

#include "plugin/bridge/bridge.h"
#include "plugin/bridge/files.h"
#include "plugin/bridge/lines.h"
#include "plugin/bridge/questions.h"

/* Most of it is so anyway: who speaks MI is not told then. */
#define PLAINLY \
	"with width 0 -- with print pretty off -- with print address on -- with print symbol on -- " \
	"with print elements 0xc8 -- with print repeats 0xa -- with print object off -- with print max-depth 0x14 --"

/* What every command runs stands where it is called, not in commands of its own: each of those takes gdb some 15 us more. */

/* A command in C, or what reads like it. No command tells the language that is in force, but arithmetic does: only the
 * likes of C leave the sum of two floats a float, which then has no room for the second. */
#define IN_C(command) \
	"if $_lb_large + $_lb_unit - $_lb_large\n_lb_as_c " command "\nelse\n" command "\nend\n"

/* In the user's language: no assignment, no comparison for equality. */
#define PUT_LANGUAGE "dump binary value " LBX_LANGUAGE_FILE " $_gdb_setting_str($_lb_language)\n"

/* The other settings, in C (bridge.c, struct settings), behind two registers of the selected frame. */
#define PUT_SETTINGS(pc, sp) \
	"dump binary value " LBX_SETTINGS_FILE " {(unsigned long long)" pc ", (unsigned long long)" sp ", " \
	"(unsigned long long)$_inferior, (unsigned long long)$_gdb_setting($_lb_style), " \
	"(unsigned long long)$_gdb_setting($_lb_width), (unsigned long long)$_gdb_setting($_lb_radix)}\n"

/* The line, or what there is of it since the last word was put. */
#define PUT_REQUEST \
	"if $_lb_words\n" \
	"append binary value " LBX_REQUEST_FILE " $_gdb_maint_setting_str($_lb_setting)\n" \
	"set $_lb_words = 0\n" \
	"else\n" \
	"dump binary value " LBX_REQUEST_FILE " $_gdb_maint_setting_str($_lb_setting)\n" \
	"end\n"

/* A round, which begins with what is to be put where there is a thread, or where there is none: before the response says
 * "no answer", since gdb may look at its frames for a register, and would find the request. `thread apply` takes no
 * $_thread, which has its value when it is asked for one. */
#define ROUND(put, put_without) \
	"if $_lb_more = 0, $_lb_thread = $_thread\n" put AWAIT \
	"thread apply $_lb_thread -q -s frame apply level 0 -q -s echo\n" \
	"else\n" put_without AWAIT \
	"_tensor_reload\n" \
	"end\n" \
	"source " LBX_RESPONSE_FILE "\n"
#define AWAIT "dump binary value " LBX_RESPONSE_FILE " $_lb_silence\n"
#define MORE_ROUNDS "while $_lb_more\n" ROUND("", "") "end\n"

/* What makes the program run: by now no response is being read, and a stop's commands may ask; in the user's language,
 * since the program may stop in a frame of another. */
#define MAY_GO \
	"if $_lb_going\n" \
	"_lb_c _lb_gone\n" \
	"eval \"%s\", $_lb_go\n" \
	"end\n"

/* Convenience variables hold the strings: a string literal is not the same in all of gdb's
 * languages, and in Rust one is written to the program's memory. They hold the numbers, too: gdb reads
 * digits in the user's `input-radix`, where "8" may be none and "10" sixteen. Only 0 and 1 are the same in
 * all; 0x10 is, too, where the script runs in C. */
const char lbx_definitions[] =
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
    "set $_lb_radix = \"input-radix\"\n"
    "set $_lb_sysroot = \"sysroot\"\n"
    "set $_lb_height = \"height\"\n"
    "set $_lb_logging = \"logging enabled\"\n"
    "set $_lb_threads_run = \"non-stop\"\n"
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
	/* before the program goes on; a stop's commands, if gdb has forgotten them (bridge.c), run before that */
    "set $_lb_forgets = $_gdb_major > 0x11\n"
    "define _lb_goes\n"
    "if $_lb_forgets\n"
    "source " LBX_SETTLE_FILE "\n"
    "end\n"
    "_lb_attached\n"
    "set $_lb_out_pc = 0\n"
    "end\n"
	/* `next` and its like step through the innermost frame; at a stop of ours that is deep in the runtime, and the
	 * program's frame, $_lb_out_pc and $_lb_out_sp, has been selected. As long as it is, they begin there: the call returns
	 * first. Where something else stops the program before that, they are not wanted any more, and only an error keeps gdb from
	 * them */
    "set $_lb_out_pc = 0, $_lb_out_sp = 0, $_lb_out = 0\n"
    "define _lb_out_look\n"
    "set $_lb_out = 0\n"
    "if $_thread && $_lb_out_pc\n"
    "if $pc == $_lb_out_pc && $sp == $_lb_out_sp\n"
    "frame apply level 0 -q -s -- set $_lb_out = $sp < $_lb_out_sp\n"
    "end\n"
    "end\n"
    "end\n"
    "define _lb_out_break\n"
    "eval \"tbreak *0x%lx thread %d if $sp == 0x%lx\", $_lb_out_pc, $_thread, $_lb_out_sp\n"
    "commands\nsilent\nend\n"
    "end\n"
    "define _lb_out_goes\n"
    "_lb_quiet _lb_out_break 0\n"
    "set $_lb_out_number = $bpnum, $_lb_out_at = $_lb_out_pc\n"
    "end\n"
    "define _lb_out_end\n"
    "set $_lb_out = 1\n"
    "if $_thread\n"
    "frame apply level 0 -q -s -- set $_lb_out = !($pc == $_lb_out_at && $sp == $_lb_out_sp)\n"
    "end\n"
    "if $_lb_out\n"
    "_lb_quiet _lb_out_delete 0\n"
    "end\n"
    "end\n"
    "define _lb_out_delete\n"
    "delete breakpoints $_lb_out_number\n"
    "end\n"
    "define _lb_steps\n"
    "_lb_c _lb_out_look\n"
    "if $_lb_out\n"
    "_lb_as_c _lb_out_goes\n"
    "continue\n"
    "source " LBX_SETTLE_FILE "\n"
    "_lb_as_c _lb_out_end\n"
    "if $_lb_out\n"
    "frame function the program has stopped before it could step\n"
    "end\n"
    "else\n"
    "_lb_goes\n"
    "end\n"
    "end\n"
	/* a graph that is being computed has to end first */
    "set $_lb_graph = 0\n"
    "set $_lb_returns = 0\n"
    "define _lb_leave_c\n"
    "set $_lb_graph = 0\n"
    "end\n"
    "define _lb_leave\n"
    "_tensor" LBX_LEAVE " $arg0\n"
    "while $_lb_graph\n"
    "_lb_as_c _lb_leave_c\n"
    "continue\n"
    "_lb_quiet _lb_leave_end 0\n"
    "_tensor" LBX_LEAVE " again $arg0\n"
    "end\n"
    "if $_lb_returns\n"
    "_lb_as_c _lb_attach_c\n"
    "end\n"
    "end\n"
	/* if something else has stopped the program, it is still there */
    "define _lb_leave_end\n"
    "delete breakpoints $_lb_end\n"
    "end\n"
	/* seldom set: it need not be told with each line */
    "define _lb_put_sysroot\n"
    "dump binary value " LBX_SYSROOT_FILE " $_gdb_setting_str($_lb_sysroot)\n"
    "end\n"
    "define set hookpost-sysroot\n"
    "_lb_put_sysroot\n"
    "end\n"
    "_lb_put_sysroot\n"
    "define _lb_begin\n"
    "if $_lb_unarmed\n"
    "_lb_arm\n"
    "end\n" PUT_LANGUAGE
    "end\n"
	/* where the first command has loaded us (start.gdb.in) */
    "define _lb_first\n"
    "source " LBX_SETTLE_FILE "\n"
    "_lb_begin\n"
    "end\n"
    "define _lb_warned\n"
    "with language c -- echo\n"
    "end\n"
    "define _lb_as_c\n"
    "_lb_quiet _lb_warned 0\n"
    "with language c -- $arg0\n"
    "end\n"
    "define _lb_c\n" IN_C("$arg0")
    "end\n"
    "alias _lbs = " LBX_CARRIER "\n"
    "set $_lb_words = 0\n"
    "set $_lb_blank = ' '\n"
    "set $_lb_word = 0\n"
    "define _lb_from\n"
    "set $_lb_word = $_lb_few\n"
    "end\n"
    "define _lb_keep\n" PUT_REQUEST
    "append binary value " LBX_REQUEST_FILE " $_lb_blank\n"
    "set $_lb_words = 1, $_lb_word = $_lb_word + 1\n"
    "end\n"
	/* one more word: those before go to the request */
    "define _lbn\n"
    "_lb_c _lb_keep\n"
    "_lbs $arg0\n"
    "end\n"
    "set $_lb_going = 0\n"
	/* where the thread runs, gdb refuses to read its registers, and says so */
    "define _tensor_call\n" PUT_REQUEST
    ROUND(PUT_SETTINGS("$pc", "$sp"), PUT_SETTINGS("0", "0")) MORE_ROUNDS
    "end\n"
    "define _lb_gone\n"
    "set $_lb_going = 0\n"
    "end\n"
    "define _lb_call\n" IN_C("_tensor_call") MAY_GO
    "end\n"
	/* where another frame may be selected, its language is in force from there on */
    "define _lb_call_selecting\n"
    "_lb_as_c _tensor_call\n" MAY_GO
    "end\n"
    "define _lb_serve\n"
    "set $_lb_more = 1\n" MORE_ROUNDS
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
    "if $_lb_shows\n"
    "_lbm 2\n"
    "_lbf -- bt -frame-arguments none -frame-info location-and-address -- 0x30\n"
    "_lbm 3\n"
    "info sharedlibrary\n"
    "end\n"
    "_lbm end\n"
    "end\n"
    "define _lb_stop\n"
    "if $_thread\n"
	/* an error here would have gdb forget the commands of the stop */
    "if $_gdb_setting($_lb_threads_run)\n" PUT_SETTINGS("0", "0")
    "else\n" PUT_SETTINGS("$pc", "$sp")
    "end\n"
    "_lb_record _lb_stop_asked 0\n"
    "_lb_serve\n"
    "if $_lb_shows\n"
    "shell exit $(cat " LBX_LEVEL_OF_PARENT ")\n"
    "if $_shell_exitcode < 0x30\n"
    "select-frame $_shell_exitcode\n"
    "end\n"
    "end\n"
    "end\n"
    "end\n"
    "define _lb_stopped\n" PUT_LANGUAGE
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
    "set $_lb_is_there = 0\n"
    "define _lb_break_at\n"
    "if $_lb_is_there\n"
    "break -probe-stap lazybones:$arg0\n"
    "else\n"
    "with breakpoint pending on -- break -probe-stap lazybones:$arg0\n"
    "end\n"
    "end\n"
    "define _lb_break\n"
    "_lb_quiet _lb_break_at $arg0\n"
    "end\n"
    "define _lb_catch_load\n"
    "catch load $arg0\n"
    "end\n"
    "define _lb_break_function_at\n"
    "with breakpoint pending on -- break -qualified -function $arg0\n"
    "end\n"
    "define _lb_break_function\n"
    "_lb_quiet _lb_break_function_at $arg0\n"
    "end\n"
	/* at the probe graph_start: to the first line of its listing */
    "define " LBX_STEP_ENTER "\n"
	/* a number, since gdb reads the place again when symbols come */
    "eval \"_lb_quiet tbreak *0x%lx\", (unsigned long) $arg0\n"
    "end\n"
    "define _lb_tbreak_at\n"
    "with breakpoint pending on -- tbreak -probe-stap lazybones:$arg0\n"
    "end\n"
    "define _lb_tbreak\n"
    "_lb_quiet _lb_tbreak_at $arg0\n"
    "end\n"
    "define _lb_step_began\n"
    "set $_lb_in = $bpnum\n"
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
	/* before it is a prefix, whose commands would forget that: gdb hands it the words that are none of them. Where start.gdb has
	 * defined it, gdb would ask */
    "if $_isvoid($_lb_starts)\n"
    "define tensor\n"
    "if $argc\n"
    "_tensor_unknown $arg0\n"
    "else\n"
    "help tensor\n"
    "end\n"
    "end\n"
    "end\n"
    "define-prefix tensor\n"
    "document tensor\n"
    "See inside the lazy tensors of a program, running or dead.\n"
    "T is a tensor's name, #ID, or an expression that yields a tensor handle.\n"
    "end\n"
	/* What the responses rely on: `source` reads a script byte by byte, with two system calls each, so that
	 * every byte counts. */
    "define _lbm\necho \\n" LBX_MARK "$arg0\\n\nend\n"
    "define _lbv\nset $tensor_id = $arg0, $tensor_rank = $arg1, $tensor_size = $arg2, "
    "$tensor_nbytes = $arg3, $tensor_data = $arg4, $tensor_failed = 0\nend\n"
    "define _lbw\nset $tensor_id = $arg0, $tensor_rank = $arg1, $tensor_size = $arg2, "
    "$tensor_nbytes = $arg3, $tensor_data = $arg4, $tensor_count = $arg5, $tensor_failed = 0\nend\n"
    "alias _lbf = frame apply level 0 -q -c\n"
	/* gdb has no variable for the selected frame's level: look for its stack pointer among
	 * the first frames. Inlined ones share it; then `info frame` must tell. One expression a frame: $_lb_k counts
	 * the frames, from its bit 4 on those that have it, and from bit 8 on their levels. */
    "define _lbk\n"
    "set $_lb_k = $_lb_k + 1 + ($sp == $_lb_sp) * (0x10 + 0x100 * ($_lb_k & 0xf))\n"
    "end\n"
    "define _lbz\n"
    "_lbm answers\n"
    "set $_lb_sp = $sp, $_lb_k = 0\n"
    "frame apply 4 -q -s _lb_c _lbk\n"
    "set $_lb_n = ($_lb_k >> 0x4) & 0xf, $_lb_level = $_lb_k >> 0x8\n"
    "end\n"
    "define _lbl\n"
    "printf \"\\n" LBX_MARK "level\\nStack level %d,\\n" LBX_MARK "end\\n\", $_lb_level\n"
    "end\n"
    "define _lbi\n"
    "_lbm level\n"
    "info frame\n"
    "_lbm end\n"
    "end\n"
    "alias _lbg = frame apply level $_lb_level -q -c --\n"
    "alias _lbh = frame apply level $_lb_level -q -c -- with language auto --\n"
	/* as the plugin reads frames (stacks_gdb.c) and values (variables.c) */
    "alias _lbp = " PLAINLY "\n"
    "alias _lbx = " PLAINLY " with print raw-values on -- with print array-indexes on -- with print union on --\n"
	/* what follows takes a command and its argument */
    "define _lb_redirect\n"
    "with pagination off -- with logging redirect on -- with logging file " LBX_REQUEST_FILE
    " -- with logging enabled on -- $arg0 $arg1\nend\n"
    "define _lb_pipe\n"
    "if $_lb_mi\n"
    "pipe interpreter-exec console \"$arg0 $arg1\" | cat >>/proc/$PPID/fd/900\n"
    "else\npipe $arg0 $arg1 | cat >>/proc/$PPID/fd/900\nend\nend\n"
    "define _lb_record\n"
    "if $_lb_logs\n"
    "if $_gdb_setting($_lb_logging)\n"
    "with logging enabled off -- _lb_redirect $arg0 $arg1\n"
    "else\n_lb_redirect $arg0 $arg1\nend\n"
    "else\n_lb_pipe $arg0 $arg1\nend\nend\n"
    "define _lb_drop\npipe -d @lb@ $arg0 $arg1 @lb@ cat >/dev/null\nend\n"
    "alias _lbq = with pagination off -- with logging redirect on -- with logging file /dev/null -- with logging enabled on --\n"
	/* in the user's language: no operators. The argument may have a `|` in it: a pattern, the name of an operator */
    "define _lb_quiet\n"
    "if $_lb_logs\n"
    "if $_gdb_setting($_lb_logging)\n_lb_drop $arg0 $arg1\nelse\n_lbq $arg0 $arg1\nend\n"
    "else\n"
    "if $_lb_mi\npipe -d @lb@ interpreter-exec console \"$arg0 $arg1\" @lb@ grep ^=\n"
    "else\n_lb_drop $arg0 $arg1\nend\nend\nend\n"
    "define _lba\n"
    "set $_lb_more = 1\n"
    "_lb_record source " LBX_QUESTION_FILE "\nend\n";
