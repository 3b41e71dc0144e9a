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
 *      gdb's own way, whether to a terminal, a log, a pipe, the TUI or MI.
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
 * Their output is logged, which takes no process, or goes through a pipe of gdb's own: in gdb 18, which no
 * longer logs what goes to `pipe` or `frame apply`, and whose pager counts what is logged; and for a front end
 * that speaks MI, which is told of each setting that changes. There the questions are asked in the interpreter
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
 * the stop stands in a file of its own, which never changes. So does a call of the program (script.c,
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
 * Ctrl-C. gdb's handler makes its next target access throw a C++ exception through our frames.
 * So while a request is served SIGINT is ours: it sets a flag that long work polls. SIGTERM, which gdb
 * gets when the work has ended, and SIGBUS (cut.c) are, too. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/bridge/bridge.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "plugin/bridge/lines.h"
#include "plugin/bridge/text.h"
#include "plugin/symbols/graph_files.h"
#include "target/cut.h"

enum {
	REQUEST_FD = 900, RESPONSE_FD, QUESTION_FD, LANGUAGE_FD, STYLE_FD, WIDTH_FD = 906,
	STEP_IN_FD = 909, SETTLE_FD, /* the highest */
	LINE_SIZE = 4096,
	ANSWERS_SIZE = 64 << 20, /* bytes of gdb's output that are read */
	MAX_QUESTIONS = 1 << 16,
	MAX_ROUNDS = 8,
};

#define MARK "@lb "

/* What the loader defines for the responses: `source` reads a script byte by byte, with two
 * system calls each, so that every byte counts. */
const char lbx_bridge_script_head[] =
	"define _lbm\necho \\n" MARK "$arg0\\n\nend\n"
	"define _lbv\nset $tensor_id = $arg0, $tensor_rank = $arg1, $tensor_size = $arg2, "
	"$tensor_nbytes = $arg3, $tensor_data = $arg4\nend\n"
	"define _lbw\nset $tensor_id = $arg0, $tensor_rank = $arg1, $tensor_size = $arg2, "
	"$tensor_nbytes = $arg3, $tensor_data = $arg4, $tensor_count = $arg5\nend\n"
	"alias _lbf = frame apply level 0 -q -c\n"
	/* gdb has no variable for the selected frame's level: look for its stack pointer among
	 * the first frames. Inlined ones share it; then `info frame` must tell. */
	"define _lbk\n"
	"if $sp == $_lb_sp\nset $_lb_level = $_lb_k\nset $_lb_n = $_lb_n + 1\nend\n"
	"set $_lb_k = $_lb_k + 1\n"
	"end\n"
	"define _lbz\n"
	"_lbm answers\n"
	"set $_lb_sp = $sp\nset $_lb_k = 0\nset $_lb_n = 0\n"
	"frame apply 4 -q -s _lb_c _lbk\n"
	"end\n"
	"define _lbl\n"
	"_lbm level\n"
	"if $_lb_n == 1\nprintf \"Stack level %d,\", $_lb_level\nelse\ninfo frame\nend\n"
	"_lbm end\n"
	"end\n"
	"alias _lbg = frame apply level $_lb_level -q -c --\n"
	"define _lbi\nif $_lb_n == 1\n_lbm $arg0\n_lbg $arg1 $arg2\nend\nend\n"
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
	"alias _lbq = with pagination off -- with logging redirect on -- with logging file /dev/null -- with logging enabled on --\n"
	/* in the user's language: no operators */
	"define _lb_quiet\n"
	"if $_lb_logs\n"
	"if $_gdb_setting($_lb_logging)\npipe $arg0 $arg1 | cat >/dev/null\nelse\n_lbq $arg0 $arg1\nend\n"
	"else\n"
	"if $_lb_mi\npipe interpreter-exec console \"$arg0 $arg1\" | grep ^=\n"
	"else\npipe $arg0 $arg1 | cat >/dev/null\nend\nend\nend\n"
	"define _lba\n"
	"set $_lb_more = 1\n"
	"_lb_record source " LBX_QUESTION_FILE "\nend\n";

struct question {
	char *command;
	char *answer;  /* NULL: not known */
	enum lbx_bridge_where where;
	bool asked; /* gdb was asked in an earlier round */
};

static struct {
	bool open, serving;
	struct sigaction before_int, before_term; /* what the signals did before the service */
	void (*run)(const char *line);
	lbx_bridge_read *read;
	char line[LINE_SIZE], next[LINE_SIZE], go[128];
	int round;
	struct text response;
	struct question *questions;
	int n_questions, room; /* room: a power of two, or 0 */
	int *places;           /* of 2 * room: by what is asked, a question's number from 1 on; or 0 */
	bool lacks;            /* gdb would have to be asked more than it is */
	bool waits;
	char language[32];
	bool styled;
	int width;
	char level[16]; /* of the selected frame; "" before it is known */
} bridge;

static volatile sig_atomic_t interrupted, terminated;

static void note_interrupt(int signal)
{
	terminated |= signal == SIGTERM;
	interrupted = 1;
}

bool lbx_bridge_place(int fd, int at)
{
	bool ok = fd >= 0 && dup3(fd, at, O_CLOEXEC) >= 0;

	if (!ok)
		lb_fail("no descriptor %d: %s", at, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok;
}

static bool is_free(int fd)
{
	return (fcntl(fd, F_GETFD) == -1 && errno == EBADF) ||
	       lb_fail("descriptor %d of gdb is in use by something else", fd);
}

static bool open_memory_at(const char *name, int fd)
{
	return is_free(fd) && lbx_bridge_place(memfd_create(name, MFD_CLOEXEC), fd);
}

static bool write_file(int fd, const char *text, size_t n)
{
	size_t done = 0;

	if (ftruncate(fd, 0) != 0)
		return false;
	while (done < n) {
		ssize_t written = pwrite(fd, text + done, n - done, (off_t)done);

		if (written <= 0)
			return false;
		done += (size_t)written;
	}
	return true;
}

static const char tensors_text[] = "Tensors have no source: `tensor list` lists them.\n";

/* A file that is sourced, where gdb runs a stop's commands before it goes on to the next line; in a
 * `define` it runs them when all of it has run. */
static const char step_in[] =
	"_lb_tbreak graph_start\n"
	"set var $_lb_in = $bpnum\n"
	"commands\n"
	"silent\n"
	"with language c -- _lb_enter $_probe_arg1\n"
	"continue\n"
	"end\n"
	"continue\n"
	"with language c -- _lb_step_end\n";

static bool open_folder_at(int fd)
{
	return is_free(fd) &&
	       lbx_bridge_place(open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC), fd);
}

bool lbx_bridge_open(void (*run)(const char *line))
{
	struct rlimit limit, wide;
	bool ok;

	if (bridge.open)
		return true;
	getrlimit(RLIMIT_NOFILE, &limit);
	wide = limit;
	if (wide.rlim_cur <= SETTLE_FD)
		wide.rlim_cur = wide.rlim_max < 1024 ? wide.rlim_max : 1024;
	setrlimit(RLIMIT_NOFILE, &wide);
	ok = open_memory_at("lazybones-request", REQUEST_FD) &&
	     open_memory_at("lazybones-response", RESPONSE_FD) &&
	     open_memory_at("lazybones-question", QUESTION_FD) &&
	     open_memory_at("lazybones-language", LANGUAGE_FD) &&
	     open_memory_at("lazybones-style", STYLE_FD) &&
	     open_memory_at("lazybones-width", WIDTH_FD) && open_folder_at(LBX_GRAPHS_FD) &&
	     open_folder_at(LBX_GRAPHS_BEFORE_FD) &&
	     open_memory_at("lazybones-tensors", LBX_TENSORS_FD) &&
	     write_file(LBX_TENSORS_FD, tensors_text, sizeof tensors_text - 1) &&
	     open_memory_at("lazybones-step-in", STEP_IN_FD) &&
	     write_file(STEP_IN_FD, step_in, sizeof step_in - 1) &&
	     open_memory_at("lazybones-settle", SETTLE_FD) && write_file(SETTLE_FD, "\n", 1);
	setrlimit(RLIMIT_NOFILE, &limit);
	bridge.run = run;
	bridge.open = ok;
	return ok;
}

bool lbx_bridge_offer(const char *script, size_t n)
{
	return write_file(RESPONSE_FD, script, n) ||
	       lb_fail("cannot write the command script: %s", strerror(errno));
}

/* ---- what a running command calls ---- */

const char *lbx_bridge_language(void)
{
	return bridge.language;
}

bool lbx_bridge_styled(void)
{
	return bridge.styled;
}

int lbx_bridge_width(void)
{
	return bridge.width;
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

bool lbx_bridge_waits(void)
{
	return bridge.waits;
}

bool lbx_bridge_lacks(void)
{
	return bridge.lacks;
}

bool lbx_bridge_interrupted(void)
{
	return interrupted || lbx_cut_seen();
}

/* Where a question's number is, or is to be. */
static int *place_of(const char *command)
{
	uint64_t hash = 0xcbf29ce484222325;
	size_t mask = 2 * (size_t)bridge.room - 1;

	for (const char *c = command; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
	size_t at = (hash >> 20) & mask;
	while (bridge.places[at] && strcmp(bridge.questions[bridge.places[at] - 1].command, command) != 0)
		at = (at + 1) & mask;
	return &bridge.places[at];
}

static bool make_room(void)
{
	int room = bridge.room ? 2 * bridge.room : 64;

	if (bridge.n_questions < bridge.room)
		return true;
	if (bridge.room == MAX_QUESTIONS)
		return false;
	struct question *questions = realloc(bridge.questions, (size_t)room * sizeof *questions);
	if (!questions)
		return false;
	bridge.questions = questions;
	int *places = calloc(2 * (size_t)room, sizeof *places);
	if (!places)
		return false;
	free(bridge.places);
	bridge.places = places;
	bridge.room = room;
	for (int i = 0; i < bridge.n_questions; i++)
		*place_of(questions[i].command) = i + 1;
	return true;
}

/* NULL when there are too many, or no memory. */
static struct question *question_of(const char *command, enum lbx_bridge_where where)
{
	int *place = bridge.room ? place_of(command) : NULL;

	if (!place || *place == 0) {
		char *copy = make_room() ? strdup(command) : NULL;
		if (!copy)
			return NULL;
		place = place_of(command);
		bridge.questions[bridge.n_questions++] = (struct question){copy, NULL, where, false};
		*place = bridge.n_questions;
	}
	return &bridge.questions[*place - 1];
}

bool lbx_bridge_ask(const char **ret, enum lbx_bridge_where where, const char *format, ...)
{
	char command[LINE_SIZE];
	struct question *q;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	if ((!bridge.read && where != LBX_WITHOUT_FRAME) || n < 0 || n >= (int)sizeof(command) ||
	    strchr(command, '\n'))
		return false;
	q = question_of(command, where);
	if (!q || (!q->asked && bridge.round >= MAX_ROUNDS)) {
		bridge.lacks = true;
		if (q)
			q->asked = true; /* no longer */
		return false;
	}
	if (q->answer) {
		*ret = q->answer;
		return true;
	}
	if (!q->asked)
		bridge.waits = true;
	return false;
}

/* ---- rounds ---- */

static void forget_questions(void)
{
	for (int i = 0; i < bridge.n_questions; i++) {
		free(bridge.questions[i].command);
		free(bridge.questions[i].answer);
	}
	bridge.n_questions = 0;
	if (bridge.places)
		memset(bridge.places, 0, 2 * (size_t)bridge.room * sizeof *bridge.places);
	bridge.level[0] = '\0';
}

static bool questions_are_open(void)
{
	for (int i = 0; i < bridge.n_questions; i++)
		if (!bridge.questions[i].asked)
			return true;
	return false;
}

/* Writes the open questions into their file. Those for the selected frame are put at once
 * if gdb's script finds its level; otherwise that is asked first. */
static bool write_questions(void)
{
	struct text file = {0};
	bool want_level = false, ok;

	for (int i = 0; i < bridge.n_questions && !bridge.level[0]; i++)
		want_level |= bridge.questions[i].where == LBX_IN_FRAME;
	text_printf(&file, want_level ? "_lbz\n" : "_lbm answers\n");
	for (int i = 0; i < bridge.n_questions; i++) {
		struct question *q = &bridge.questions[i];
		const char *blank = strchr(q->command, ' ');

		if (q->asked)
			continue;
		q->asked = true;
		if (q->where == LBX_WITHOUT_FRAME)
			text_printf(&file, "_lbm %d\n%s\n", i, q->command);
		else if (q->where == LBX_ANYWHERE)
			text_printf(&file, "_lbm %d\n_lbf -- %s\n", i, q->command);
		else if (!want_level)
			text_printf(&file, "_lbm %d\nframe apply level %s -q -c -- %s\n", i,
				    bridge.level, q->command);
		else if (blank && !strpbrk(blank + 1, " \t\"'"))
			text_printf(&file, "_lbi %d %s\n", i, q->command); /* two words */
		else
			text_printf(&file, "if $_lb_n == 1\n_lbm %d\n_lbg %s\nend\n", i,
				    q->command);
	}
	text_printf(&file, want_level ? "_lbl\n" : "_lbm end\n");
	ok = !file.failed && write_file(QUESTION_FD, file.bytes, file.n);
	text_free(&file);
	return ok;
}

/* Notes the level; questions for the selected frame that have no answer are still open. */
static void take_level(const char *answer, size_t n)
{
	const char *level = memmem(answer, n, "Stack level ", 12);

	snprintf(bridge.level, sizeof(bridge.level), "%ld",
		 level ? strtol(level + 12, NULL, 10) : 0);
	for (int i = 0; i < bridge.n_questions; i++)
		if (bridge.questions[i].where == LBX_IN_FRAME && !bridge.questions[i].answer)
			bridge.questions[i].asked = false;
}

static void take_answer(const char *mark, const char *answer, size_t n)
{
	char *end;
	long i = strtol(mark, &end, 10);

	if (strncmp(mark, "level\n", 6) == 0) {
		take_level(answer, n);
		return;
	}
	if (end == mark || *end != '\n' || i < 0 || i >= bridge.n_questions)
		return;
	while (n && (answer[n - 1] == '\n'))
		n--;
	if (!bridge.questions[i].answer)
		bridge.questions[i].answer = strndup(answer, n);
}

static void take_answers(char *text)
{
	char *mark = text;

	text_strip_chatter(text);
	while (mark && (mark = strstr(mark, MARK))) {
		char *answer, *next;

		mark += strlen(MARK);
		answer = strchr(mark, '\n');
		if (!answer)
			return;
		answer++;
		next = strstr(answer, MARK);
		take_answer(mark, answer, next ? (size_t)(next - answer) : strlen(answer));
		mark = next;
	}
}

/* Whether the request's last lines have a mark. With `maint time` some lines follow it. */
static bool ends_with(const char *mark, off_t size)
{
	char tail[1024];
	off_t from = size > (off_t)sizeof(tail) - 1 ? size - (off_t)sizeof(tail) + 1 : 0;
	ssize_t n = pread(REQUEST_FD, tail, sizeof(tail) - 1, from);

	return n > 0 && memmem(tail, (size_t)n, mark, strlen(mark));
}

static bool read_answers(void)
{
	off_t size = lseek(REQUEST_FD, 0, SEEK_END);
	char *all;
	ssize_t n;

	/* answers arrive bit by bit, and gdb may look at frames meanwhile */
	if (!ends_with(MARK "end", size))
		return false;
	size = size < ANSWERS_SIZE ? size : ANSWERS_SIZE;
	all = malloc((size_t)size + 1);
	if (all && (n = pread(REQUEST_FD, all, (size_t)size, 0)) >= 0) {
		all[n] = '\0';
		take_answers(all);
	}
	free(all);
	bridge.round++;
	return true;
}

/* A stop, with the answers to what is always asked then. */
static bool take_stop(bool unarmed)
{
	static const char *const questions[] = {"info program", "info breakpoints"};

	forget_questions();
	for (int i = 0; i < 2; i++) {
		struct question *q = question_of(questions[i], LBX_WITHOUT_FRAME);
		if (!q)
			return false;
		q->asked = true;
	}
	if (!read_answers())
		return false;
	strcpy(bridge.line, unarmed ? LBX_STOPPED " unarmed" : LBX_STOPPED);
	bridge.round = 0;
	return true;
}

/* A call of the program has ended, or not; what gdb said of it is the answer to LBX_CALL. */
static bool take_call(const char *said, size_t n)
{
	const char *end = memmem(said, n, LBX_CALLED, strlen(LBX_CALLED));
	struct question *q;

	forget_questions();
	q = question_of(LBX_CALL, LBX_WITHOUT_FRAME);
	if (!q)
		return false;
	q->asked = true;
	n = end ? (size_t)(end - said) : n;
	while (n && said[n - 1] == '\n')
		n--;
	q->answer = strndup(said, n);
	strcpy(bridge.line, LBX_CALL);
	bridge.round = 0;
	return true;
}

/* Whether the script waits for a response now. What it asked may have made gdb forget its frames; it then
 * looks at them for reasons of its own, while answers are written, or the last response is still read. */
static bool is_awaited(void)
{
	char now[sizeof(LBX_SILENCE) - 1];

	return pread(RESPONSE_FD, now, sizeof now, 0) == (ssize_t)sizeof now &&
	       memcmp(now, LBX_SILENCE, sizeof now) == 0;
}

/* From gdb 14 on a string's value ends with its NUL, so that one lies after each piece of a line. */
static void take_line(const char *head, size_t n)
{
	size_t length = 0;

	for (size_t i = 0; i < n; i++)
		if (head[i])
			bridge.line[length++] = head[i];
	bridge.line[length] = '\0';
}

/* Takes what the request file holds: a line, or answers. False when there is nothing. */
static bool take_request(void)
{
	char head[LINE_SIZE];
	ssize_t n = pread(REQUEST_FD, head, sizeof(head) - 1, 0);

	if (n <= 0 || !is_awaited())
		return false;
	head[n] = '\0';
	if (ends_with(LBX_CALLED, lseek(REQUEST_FD, 0, SEEK_END))) {
		if (!take_call(head, (size_t)n))
			return false;
	} else if (strstr(head, MARK "answers")) {
		return read_answers();
	} else if (strstr(head, MARK "stopped")) {
		if (!take_stop(strstr(head, MARK "stopped_unarmed")))
			return false;
	} else {
		forget_questions();
		bridge.round = 0;
		take_line(head, (size_t)n);
	}
	n = pread(LANGUAGE_FD, bridge.language, sizeof(bridge.language) - 1, 0);
	bridge.language[n > 0 ? n : 0] = '\0';
	if (n <= 0)
		strcpy(bridge.language, "auto");
	char style[4] = "";
	n = pread(STYLE_FD, style, sizeof(style) - 1, 0);
	bridge.styled = n > 0 && strncmp(style, "on", 2) == 0;
	char width[16] = "";
	n = pread(WIDTH_FD, width, sizeof(width) - 1, 0);
	bridge.width = n > 0 ? atoi(width) : 0; /* "unlimited" is no number */
	return true;
}

/* In the place of what was answered. */
static void tell_cut(void)
{
	text_clear(&bridge.response);
	text_printf(&bridge.response, "echo a file that was being read became shorter, or its disk failed: "
		    "load it again (core-file, file)\\n\nset $tensor_failed = 1\n");
	bridge.next[0] = bridge.go[0] = '\0';
	forget_questions();
}

static void end_service(bool **serving)
{
	if (!**serving)
		return;
	lbx_cut_end();
	sigaction(SIGINT, &bridge.before_int, NULL);
	sigaction(SIGTERM, &bridge.before_term, NULL);
	interrupted = 0;
	if (terminated) {
		terminated = 0;
		raise(SIGTERM);
	}
	**serving = false;
	bridge.read = NULL;
}

static void serve_request(lbx_bridge_read *read)
{
	struct sigaction ours = {.sa_handler = note_interrupt, .sa_flags = SA_RESTART};
	/* cleanup: gdb may throw through us when a target access fails badly */
	bool *serving __attribute__((cleanup(end_service))) = &bridge.serving;

	interrupted = 0;
	sigaction(SIGINT, &ours, &bridge.before_int);
	sigaction(SIGTERM, &ours, &bridge.before_term);
	lbx_cut_guard();
	*serving = true;
	bridge.read = read;
	bridge.waits = bridge.lacks = false;
	bridge.next[0] = bridge.go[0] = '\0';
	text_clear(&bridge.response);
	if (bridge.round == 0 || !questions_are_open())
		bridge.run(bridge.line);
	if (lbx_cut_seen())
		tell_cut();
	text_end_echo(&bridge.response);
	if (!interrupted && questions_are_open() && write_questions()) {
		text_clear(&bridge.response);
		text_printf(&bridge.response, "_lba\n");
	} else if (bridge.next[0]) {
		text_printf(&bridge.response, LBX_CARRIER " %s\n"
			    "dump binary value " LBX_REQUEST_FILE " $_gdb_maint_setting_str($_lb_setting)\n"
			    "set $_lb_more = 1\n", bridge.next);
	} else if (bridge.go[0]) {
		text_printf(&bridge.response, "set $_lb_go = \"with language %s -- %s\"\nset $_lb_going = 1\n",
			    bridge.language, bridge.go);
	}
	if (bridge.response.failed) {
		text_clear(&bridge.response);
		text_printf(&bridge.response, "echo out of memory for the answer\\n\n");
	}
	write_file(RESPONSE_FD, bridge.response.bytes, bridge.response.n);
}

void lbx_bridge_serve(lbx_bridge_read *read)
{
	bool *serving = &bridge.serving;

	if (!bridge.open || !take_request() || ftruncate(REQUEST_FD, 0) != 0)
		return;
	/* A request is emptied before it is served: if there is another, the last one was left
	 * by an exception that has skipped its cleanup. */
	end_service(&serving);
	serve_request(read);
}
