/* The bridge: commands in C for a gdb that offers plugins none.
 *
 * gdb lets a JIT reader supply symbols and unwind frames, nothing else. But it calls the
 * reader's unwind() on its main thread for each frame it looks at, and script commands can
 * make it look at a frame, hand over text, and run a script. That is enough:
 *
 *   1. The user's command is a `define`d one. It needs the user's words as they stand, with
 *      quotes, brackets and globs. `$arg0` is substituted as text, so there must be a place
 *      that takes text as it is: a string setting that gdb does not parse. The script puts
 *      the line into a setting of gdb's own tests (front ends are not told of those), and writes its
 *      value to the request file with `dump binary value`. The
 *      string lives in gdb, so this works on cores, and in any language.
 *   2. `thread apply N` for the selected thread makes gdb forget its frames (not the registers), and
 *      `frame apply level 0` look at the innermost one anew, and so ask the unwinders: unwind() is
 *      called and finds the request. Both print nothing, put back the frame that the user has selected,
 *      and with `-s` a thread that has no frame now is no error: that would make gdb forget the commands
 *      of breakpoints that were hit. What gdb looks at is its own frames, from the innermost outwards, as
 *      ever. (`info frame view NUMBER` would ask the unwinders too, but of the frames that gdb makes up
 *      for it, it forgets to release what it keeps. After a tail call among them its assertion in
 *      cache_new_ref1() fails, which ends gdb wherever output is captured, as by `thread apply`: such
 *      streams cannot print the failure. `maintenance flush register-cache` reads registers again, of
 *      some cores with a warning each time, and of a process that was killed not at all.)
 *      With no thread there is no frame; then the script unloads and loads the reader, and
 *      its initialisation serves the request. The library has opened itself with
 *      RTLD_NODELETE, so that its state survives.
 *   3. The response is a gdb script, sourced at the end. Output is `printf` lines: it takes
 *      gdb's own way, whether to a terminal, a log, a pipe, the TUI or MI. (How far long work is
 *      would come too late so: inspect/progress_line.h writes it to the terminal.)
 *
 * All these files are memory (memfd) on descriptors that a script can spell, far above those
 * in use, closed on exec. Before asking, the script writes a response that says "no answer",
 * so that a request that gdb could not deliver never repeats an old response.
 *
 * Questions. A command may need something that only gdb knows: the line of an address, the
 * value of an expression. It cannot wait, since gdb is busy running it. So lbx_bridge_ask()
 * notes the gdb command whose output is wanted and fails; the command's own output is thrown
 * away, and the response makes gdb run the noted commands with their output redirected to the
 * request file, and then asks again (the `while` in the script). The line runs again, now with
 * answers. Each round asks everything that it can, rounds are bounded, and answers are
 * dropped with the next line, since the program may have moved. What is asked may make
 * gdb forget its frames (`info breakpoints` of two inferiors does): a request is served only while
 * the response says "no answer".
 *
 * Where the selected frame stands is asked in a way of its own, without a file of questions and without output:
 * gdb writes two registers as the next request.
 *
 * Their output is logged, which takes no process, or goes through a pipe of gdb's own: in gdb 18, which no
 * longer logs what goes to `pipe` or `frame apply`, and whose pager counts what is logged; and for a front end
 * that speaks MI, which is told of each setting that changes (but for one that is made for us, answers.h: a process for each
 * question costs it more). There the questions are asked in the interpreter
 * of the console, since gdb 18 quotes for MI what passes a pipe, and once more what `frame apply` prints. Its
 * MI's notices pass the pipe, too: what silences a command lets them through.
 *
 * The logging is made of `with` commands: they put the user's logging back also when
 * the user presses Ctrl-C halfway. An asked command runs inside `frame apply level N -c`
 * (gdb's only try/catch), at the level that the user has selected, which is asked too.
 *
 * Languages. gdb reads the expressions of scripts, too, in the language of the program, where
 * `=` may compare and C's casts mean nothing. In C and its like that does no harm. Elsewhere all runs
 * `with language c`, and so does what may select another frame, whose language comes with it. The
 * user's expressions run with what the setting was: a command writes it to a file first. gdb warns, once,
 * when a language is not the frame's; that goes to /dev/null. (A front end that speaks MI is told of each
 * change of a setting, which is why there are as few as can be.)
 *
 * Running. A command that makes the program run does so after its response has been read
 * (lbx_bridge_go): where it stops, the commands of a breakpoint may call the plugin, whose response
 * would else come in the place of what gdb has still to read of this one. What is to be done after
 * the stop stands in a file of its own, which never changes. So does a call of the program (definitions.c,
 * _lb_eval): what gdb says of one that does not return becomes part of the request that follows it.
 *
 * A stop's commands. After each line of a file that is sourced, but not of a `define`, gdb runs the commands
 * of the breakpoints that it has stopped at. Those of catches call the plugin, whose response would come in
 * the place of the one that is being read. They may still have to run when a command begins: in a `define` of
 * the user's, after its `continue`; in gdb 18 also where a stop's commands continue, in a script, and another
 * thread stops next. So each command begins by sourcing an empty line (LBX_SETTLE_FILE).
 *
 * Stops. gdb's hook-stop may call too (_tensor_stopped). A script that is sourced there would run the
 * commands of the breakpoints that were hit, and an error would make gdb forget them. So the hook asks
 * all that the plugin must know before it calls, and nothing is sourced but an empty response when the
 * breakpoints have commands.
 *
 * The parts. files.c has the files; questions.c notes what is asked, puts it and takes the answers; definitions.c is
 * gdb's side of all this, in gdb's language, to which script.c adds the commands; text.c writes gdb's lines; hooks.c is
 * what gdb calls by itself; here requests are taken and served.
 *
 * Ctrl-C. gdb's handler makes its next target access throw a C++ exception through our frames.
 * So while a request is served SIGINT is ours: it sets a flag that long work polls. Where nothing has asked for that, gdb gets the
 * signal when the work has ended, as it does SIGTERM. SIGBUS is ours, too (cut.c). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/bridge/bridge.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "plugin/bridge/files.h"
#include "plugin/bridge/front_end.h"
#include "plugin/bridge/lines.h"
#include "plugin/bridge/questions.h"
#include "plugin/bridge/text.h"
#include "target/cut.h"

enum { LINE_SIZE = LBX_BRIDGE_LINE, PATH_SIZE = 4096 };

static struct {
	bool open, serving, too_long;
	struct sigaction before_int, before_term; /* what the signals did before the service */
	void (*run)(const char *line);
	lbx_bridge_read *read;
	char line[LINE_SIZE], next[LINE_SIZE], go[128];
	struct text response;
	char language[32];
	struct settings { /* as gdb writes them; what it has not written is 0 */
		struct lbx_bridge_place place; /* 0 when there is no frame */
		uint64_t inferior, styled, width, radix;
	} settings;
	char sysroot[PATH_SIZE];
	bool follows; /* the line is one that another asked for, which may have selected a frame */
} bridge;

static volatile sig_atomic_t interrupted, terminated;
static bool has_noticed; /* that it was interrupted: who works ends, and says so */

static void note_interrupt(int signal)
{
	terminated |= signal == SIGTERM;
	interrupted = 1;
}

bool lbx_bridge_open(void (*run)(const char *line))
{
	if (!bridge.open)
		bridge.open = lbx_file_open(LBX_REQUEST_FD, "lazybones-request", "") &&
			      lbx_file_open(LBX_RESPONSE_FD, "lazybones-response", "") &&
			      lbx_file_open(LBX_QUESTION_FD, "lazybones-question", "") &&
			      lbx_file_open(LBX_INDEXED_FD, "lazybones-indexed", "") &&
			      lbx_file_open(LBX_LANGUAGE_FD, "lazybones-language", "") &&
			      lbx_file_open(LBX_SETTINGS_FD, "lazybones-settings", "") &&
			      lbx_file_open(LBX_SYSROOT_FD, "lazybones-sysroot", "") &&
			      lbx_file_open(LBX_SETTLE_FD, "lazybones-settle", "\n") &&
			      lbx_file_open(LBX_LEVEL_FD, "lazybones-level", "0");
	bridge.run = run;
	return bridge.open;
}

bool lbx_bridge_offer(const char *script, size_t n)
{
	return lbx_file_write(LBX_RESPONSE_FD, script, n) ||
	       lb_fail("cannot write the command script: %s", strerror(errno));
}

/* ---- what a running command calls ---- */

const char *lbx_bridge_language(void)
{
	return bridge.language;
}

bool lbx_bridge_styled(void)
{
	return bridge.settings.styled;
}

int lbx_bridge_width(void)
{
	return bridge.settings.width;
}

int lbx_bridge_inferior(void)
{
	return bridge.settings.inferior;
}

const char *lbx_bridge_sysroot(void)
{
	if (!lbx_file_read(LBX_SYSROOT_FD, bridge.sysroot, sizeof bridge.sysroot))
		bridge.sysroot[0] = '\0';
	return bridge.sysroot;
}

int lbx_bridge_radix(void)
{
	return bridge.settings.radix <= 36 ? (int)bridge.settings.radix : 10; /* as far as there are digits */
}

bool lbx_bridge_place(struct lbx_bridge_place *ret)
{
	*ret = bridge.settings.place;
	return bridge.read && !bridge.follows && ret->sp;
}

lbx_bridge_read *lbx_bridge_reader(void)
{
	return bridge.read;
}

void lbx_bridge_echo(const char *text, size_t n)
{
	text_echo(&bridge.response, text, n);
}

void lbx_bridge_echo_whole(const char *text, size_t n)
{
	text_end_echo(&bridge.response);
	text_printf(&bridge.response, "with pagination off -- ");
	text_echo(&bridge.response, text, n);
	text_end_echo(&bridge.response);
}

void lbx_bridge_script(const char *format, ...)
{
	va_list args;

	text_end_echo(&bridge.response);
	va_start(args, format);
	text_vprintf(&bridge.response, format, args);
	va_end(args);
	text_append(&bridge.response, "\n", 1);
}

void lbx_bridge_then(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(bridge.next, sizeof(bridge.next), format, args);
	va_end(args);
}

void lbx_bridge_go(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(bridge.go, sizeof(bridge.go), format, args);
	va_end(args);
}

bool lbx_bridge_interrupted(void)
{
	has_noticed |= interrupted;
	return interrupted || lbx_cut_seen();
}

/* ---- requests ---- */

/* A stop, with the answers to what is always asked then. */
static bool take_stop(bool unarmed)
{
	lbx_questions_begin();
	if (!lbx_questions_expect("info program") || !lbx_questions_expect("info breakpoints") ||
	    (lbx_front_end_shows_stops() &&
	     (!lbx_questions_expect(LBX_STOP_FRAMES) || !lbx_questions_expect(LBX_STOP_LIBRARIES))) ||
	    !lbx_questions_take())
		return false;
	strcpy(bridge.line, unarmed ? LBX_STOPPED " unarmed" : LBX_STOPPED);
	return true;
}

/* A call of the program has ended, or not; what gdb said of it is the answer to LBX_CALL. */
static bool take_call(const char *said, size_t n)
{
	const char *end = memmem(said, n, LBX_CALLED, strlen(LBX_CALLED));

	lbx_questions_begin();
	if (!lbx_questions_tell(LBX_CALL, said, end ? (size_t)(end - said) : n))
		return false;
	strcpy(bridge.line, LBX_CALL);
	return true;
}

/* Whether the script waits for a response now. What it asked may have made gdb forget its frames; it then
 * looks at them for reasons of its own, while answers are written, or the last response is still read. */
static bool is_awaited(void)
{
	char now[sizeof LBX_SILENCE];

	return lbx_file_read(LBX_RESPONSE_FD, now, sizeof now) == sizeof LBX_SILENCE - 1 &&
	       strcmp(now, LBX_SILENCE) == 0;
}

/* From gdb 14 on a string's value ends with its NUL, so that one lies after each piece of a line. */
static void take_line(const char *head, size_t n)
{
	size_t length = 0;

	for (size_t i = 0; i < n && length < LINE_SIZE; i++)
		if (head[i])
			bridge.line[length++] = head[i];
	bridge.too_long = length == LINE_SIZE;
	bridge.line[bridge.too_long ? 0 : length] = '\0';
}

static void take_settings(void)
{
	char bytes[sizeof bridge.settings + 1];
	size_t n = lbx_file_read(LBX_SETTINGS_FD, bytes, sizeof bytes);

	memset(&bridge.settings, 0, sizeof bridge.settings);
	if (n == sizeof bridge.settings)
		memcpy(&bridge.settings, bytes, n);
}

/* Takes what the request file holds: a line, or answers. False when there is nothing. */
static bool take_request(void)
{
	char head[2 * LINE_SIZE]; /* with the NULs */
	size_t n = lbx_file_read(LBX_REQUEST_FD, head, sizeof head);

	if (n == 0 || !is_awaited())
		return false;
	bridge.too_long = false;
	bool follows = bridge.next[0];
	if (lbx_file_ends_with(LBX_REQUEST_FD, LBX_CALLED)) {
		if (!take_call(head, n))
			return false;
	} else if (strstr(head, LBX_MARK "answers")) {
		return lbx_questions_take();
	} else if (strstr(head, LBX_MARK "stopped")) {
		if (!take_stop(strstr(head, LBX_MARK "stopped_unarmed")))
			return false;
	} else {
		lbx_questions_begin();
		take_line(head, n);
		bridge.follows = follows;
	}
	if (!lbx_file_read(LBX_LANGUAGE_FD, bridge.language, sizeof bridge.language))
		strcpy(bridge.language, "auto");
	take_settings();
	return true;
}

/* ---- responses ---- */

/* In the place of what was answered. */
static void tell_cut(void)
{
	text_clear(&bridge.response);
	text_printf(&bridge.response, "echo a file that was being read became shorter, or its disk failed: "
				      "load it again (core-file, file)\\n\nset $tensor_failed = 1\n");
	bridge.next[0] = bridge.go[0] = '\0';
	lbx_questions_begin();
}

static void refuse_line(void)
{
	text_printf(&bridge.response,
		    "echo the line is longer than %d bytes: nothing was done\\n\nset $tensor_failed = 1\n",
		    LINE_SIZE - 1);
}

static void end_service(bool **serving)
{
	if (!**serving)
		return;
	lbx_cut_end();
	sigaction(SIGINT, &bridge.before_int, NULL);
	sigaction(SIGTERM, &bridge.before_term, NULL);
	bool is_owed = interrupted && !has_noticed && !terminated;
	interrupted = 0;
	if (is_owed)
		raise(SIGINT);
	if (terminated) {
		terminated = 0;
		raise(SIGTERM);
	}
	**serving = false;
	bridge.read = NULL;
}

static void serve_request(lbx_bridge_read *read)
{
	static const char unwritten[] =
	    "echo the answer could not be written: is the disk full?\\n\nset $tensor_failed = 1\n";
	struct sigaction ours = { .sa_handler = note_interrupt, .sa_flags = SA_RESTART };
	/* cleanup: gdb may throw through us when a target access fails badly */
	bool *serving __attribute__((cleanup(end_service))) = &bridge.serving;

	interrupted = 0;
	has_noticed = false;
	sigaction(SIGINT, &ours, &bridge.before_int);
	sigaction(SIGTERM, &ours, &bridge.before_term);
	lbx_cut_guard();
	*serving = true;
	bridge.read = read;
	lbx_questions_run(read);
	bridge.next[0] = bridge.go[0] = '\0';
	text_clear(&bridge.response);
	if (bridge.too_long)
		refuse_line();
	else if (lbx_questions_let_run())
		bridge.run(bridge.line);
	if (lbx_cut_seen())
		tell_cut();
	text_end_echo(&bridge.response);
	if (!interrupted && lbx_questions_are_open() && lbx_questions_put()) {
		text_clear(&bridge.response);
		text_printf(&bridge.response, "_lba\n");
	} else if (bridge.next[0]) {
		text_printf(&bridge.response,
			    LBX_CARRIER " %s\n"
					"dump binary value " LBX_REQUEST_FILE " $_gdb_maint_setting_str($_lb_setting)\n"
					"set $_lb_more = 1\n",
			    bridge.next);
	} else if (bridge.go[0]) {
		text_printf(&bridge.response, "set $_lb_go = \"%s\"\nset $_lb_going = 1\n", bridge.go);
	}
	if (bridge.response.failed) {
		text_clear(&bridge.response);
		text_printf(&bridge.response, "echo out of memory for the answer\\n\nset $tensor_failed = 1\n");
	}
	if (!lbx_file_write(LBX_RESPONSE_FD, bridge.response.bytes, bridge.response.n))
		lbx_file_write(LBX_RESPONSE_FD, unwritten, sizeof unwritten - 1);
}

void lbx_bridge_serve(lbx_bridge_read *read)
{
	bool *serving = &bridge.serving;

	if (!bridge.open || !take_request() || ftruncate(LBX_REQUEST_FD, 0) != 0)
		return;
	/* A request is emptied before it is served: if there is another, the last one was left
	 * by an exception that has skipped its cleanup. */
	end_service(&serving);
	serve_request(read);
}
