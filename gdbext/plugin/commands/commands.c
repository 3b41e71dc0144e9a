#define _GNU_SOURCE
#include "plugin/commands/commands.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.h"
#include "inspect/draw/pixels.h"
#include "inspect/memory/memory.h"
#include "inspect/operand/select.h"
#include "inspect/tensor/describe.h"
#include "lazybones.h"
#include "plugin/bridge/bridge.h"
#include "plugin/bridge/front_end.h"
#include "plugin/commands/gdb_commands.h"
#include "plugin/reads/stacks_gdb.h"
#include "plugin/reads/target_gdb.h"
#include "plugin/stops/catch.h"
#include "plugin/stops/catch_watch.h"
#include "plugin/stops/step.h"
#include "plugin/symbols/address_names.h"
#include "plugin/symbols/symbol_file.h"
#include "target/ascii.h"

static struct lbx_settings settings;
static struct lbx_memory_marks marks;
static bool have_settings;

/* What the command tells scripts, beside what is set at once. */
static struct {
	bool has_tensor;
	struct lbx_tensor tensor;
	char count[24]; /* in hexadecimal, after a blank; "": none */
} about;

/* ---- output ---- */

static void write_echo(struct lbx_out *out, const char *text, size_t n)
{
	(void)out;
	lbx_bridge_echo(text, n);
}

/* gdb's TUI goes by the locale; gdb alone hands bytes to the terminal, which may know more than the locale. */
static bool shows_ascii_only(void)
{
	void **screen = dlsym(RTLD_DEFAULT, "stdscr");
	bool (*has_ended)(void) = (bool (*)(void))dlsym(RTLD_DEFAULT, "isendwin");

	return screen && *screen && has_ended && !has_ended() && !lbx_locale_is_utf8();
}

static void write_ascii(struct lbx_out *out, const char *text, size_t n)
{
	char piece[1024];

	(void)out;
	for (size_t done = 0, m; done < n; done += m) {
		m = n - done < sizeof piece ? n - done : sizeof piece;
		while (m < n - done && m > 1 && ((unsigned char)text[done + m] & 0xc0) == 0x80)
			m--; /* no character is cut */
		memcpy(piece, text + done, m);
		lbx_bridge_echo(piece, lbx_to_ascii(piece, m));
	}
}

static void write_whole(struct lbx_out *out, const char *text, size_t n)
{
	(void)out;
	lbx_bridge_echo_whole(text, n);
}

/* gdb reads digits in the user's `input-radix`, but not those after 0x, in C or what reads like it. */
static void set_int(struct lbx_out *out, const char *name, int64_t value)
{
	(void)out;
	if (strcmp(name, "tensor_count") == 0)
		snprintf(about.count, sizeof about.count, " %#" PRIx64, value);
	else
		lbx_bridge_script("set $%s = %s%#" PRIx64, name, value < 0 ? "(long)" : "", value);
}

static void set_double(struct lbx_out *out, const char *name, double value)
{
	(void)out;
	if (isnan(value))
		lbx_bridge_script("set $%s = 0.0 / 0.0", name);
	else if (isinf(value))
		lbx_bridge_script("set $%s = %s1.0 / 0.0", name, value < 0 ? "-" : "");
	else
		lbx_bridge_script("set $%s = (double)%a", name, value);
}

static void set_tensor(struct lbx_out *out, const struct lbx_tensor *t)
{
	(void)out;
	about.tensor = *t;
	about.has_tensor = true;
}

/* All in one line: gdb reads it byte by byte. */
static void write_about(void)
{
	const struct lbx_tensor *t = &about.tensor;

	if (about.has_tensor)
		lbx_bridge_script("%s %#" PRIx64 " %#x %#" PRIx64 " %#" PRIx64 " %#" PRIx64 "%s",
				  about.count[0] ? "_lbw" : "_lbv", t->id, (unsigned)t->rank, t->size,
				  lbx_tensor_nbytes(t), lbx_tensor_data(t), about.count);
	else if (about.count[0])
		lbx_bridge_script("set $tensor_count =%s", about.count);
}

static bool progress(struct lbx_out *out, const char *what, int64_t done, int64_t total)
{
	(void)out;
	(void)what;
	(void)done;
	(void)total;
	/* an unanswered question: the command runs again, with its long work then */
	return !lbx_bridge_interrupted() && !lbx_bridge_waits();
}

/* The last column stays empty: a full line gets an empty one below it in the TUI, and counts twice for
 * gdb's pager. */
static int columns(void)
{
	struct winsize size;
	int width = lbx_bridge_width();

	if (width > 0)
		return width > 20 ? width - 1 : 20;
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

/* As gdb breaks its own: never where the user has set no width, as in batch mode, nor for a program. */
static bool lines_stay_whole(void)
{
	return lbx_bridge_width() <= 0 || lbx_front_end_speaks_mi();
}

static void write_failure(struct lbx_out *out, const char *name)
{
	const char *message = lb_error_message();
	size_t n = strlen(name);

	if (!*message)
		message = "failed, without saying why";
	if (out->json) {
		lbx_json(out, json_pack("{s:o}", "error", lbx_json_string(message)));
		return;
	}
	lbx_wrap(out, 0, 4);
	if (*name == '_') /* not what the user has typed */
		lbx_printf(out, "tensor: %s\n", message);
	else if (strncmp(message, name, n) == 0 && message[n] == ':')
		lbx_printf(out, "tensor %s\n", message);
	else
		lbx_printf(out, "tensor %s: %s\n", name, message);
}

/* ---- running a line ---- */

bool lbx_commands_tensor(struct lbx_context *context, const char *text, struct lbx_tensor *ret)
{
	struct lbx_selection selection;

	if (!lbx_select(context, text, &selection))
		return false;
	if (selection.slice_text[0])
		return lb_fail("'%s' is a slice: a tensor is wanted", text);
	*ret = selection.tensor;
	return true;
}

static bool meet_needs(struct lbx_context *context, const struct lbx_command *command)
{
	if (!command->needs)
		return true;
	if (!context->target)
		return lb_fail("no program is being debugged, or no thread of it is selected: "
			       "`run`, `attach` or `core-file` first");
	if (command->needs & LBX_NEEDS_LIVE) {
		enum lbx_liveness liveness = lbx_target_gdb_liveness();

		if (lbx_bridge_waits())
			return false;
		if (liveness == LBX_CORE)
			return lb_fail("a core file cannot run anything: `tensor peek` computes "
				       "values outside the program");
	}
	return lbx_command_open(context, command);
}

/* A terminal that is gdb's own: the TUI draws characters only. */
static bool shows_pixels(const struct lbx_out *out)
{
	const char *windows;

	return out->colour && lbx_terminal_pixels() != LBX_PIXELS_NONE && !lbx_front_end_speaks_mi() &&
	       lbx_bridge_ask(&windows, LBX_ANYWHERE, "info win") &&
	       (strstr(windows, "not active") || strstr(windows, "Undefined"));
}

static bool run_row(struct lbx_context *context, const struct lbx_command *command,
		    const char *words)
{
	struct lbx_args args;

	if (!lbx_args_parse(command, words, &args))
		return false;
	context->out->json = lbx_args_option(&args, "json") != NULL;
	return meet_needs(context, command) && command->run(context, &args);
}

/* A script that gdb sources inside its hook-stop would run the commands of the breakpoints that were
 * hit, before gdb has told of the stop, and once more inside this when they continue. So then there is
 * none: an empty response. A catch's own command refreshes later. */
static bool stopped(struct lbx_context *context, const char *words)
{
	if (lbx_symbol_file_stop_has_commands())
		return true;
	return (!*words || lbx_catch_arm(context)) && lbx_symbol_file_refresh(context);
}

static bool run_words(struct lbx_context *context, const char *name, const char *words)
{
	const struct lbx_command *command;
	bool changed;

	if (strcmp(name, LBX_HIT) == 0) {
		lbx_symbol_file_refresh_then();
		return lbx_catch_hit(context, words);
	}
	if (strcmp(name, LBX_LEAVE) == 0)
		return lbx_watch_leave(context);
	if (strcmp(name, LBX_BEGIN) == 0)
		return lbx_step_begin() && lbx_symbol_file_begin(context);
	if (strcmp(name, LBX_DELETED) == 0)
		return lbx_catch_deleted(context, &changed);
	if (strcmp(name, LBX_CALL) == 0)
		return lbx_evaluated(context);
	if (strcmp(name, LBX_STOPPED) == 0)
		return stopped(context, words);
	if (strcmp(name, LBX_REFRESH) == 0)
		return lbx_symbol_file_refresh(context);
	if (strcmp(name, LBX_TOO_MANY_WORDS) == 0)
		return lb_fail("more words than gdb can pass on (16): leave out blanks in slices "
			       "and expressions");
	command = lbx_command_find(lbx_commands, name);
	if (!command)
		command = lbx_command_find(lbx_gdb_commands, name);
	if (!command || (command->needs & LBX_GDB_LACKS))
		return lb_fail("there is no such command: `help tensor` lists them");
	if (strcmp(name, "where") == 0 && context->target) /* whose clock is it? */
		lbx_target_gdb_liveness();
	if (strcmp(name, "status") == 0) {
		if (context->target)
			lbx_target_gdb_liveness();
		if (!lbx_catch_deleted(context, &changed) && lbx_bridge_waits())
			return false;
		if (changed) {
			lbx_bridge_then("status %s", words);
			return true;
		}
	}
	if (strcmp(name, "symbols") == 0)
		lbx_symbol_file_words(words);
	if (strcmp(name, "image") == 0)
		context->out->pixels = shows_pixels(context->out);
	return run_row(context, command, words);
}

/* No silent limit. */
static void tell_lack(struct lbx_out *out)
{
	if (out->json || !lbx_bridge_lacks())
		return;
	lbx_wrap(out, 0, 4);
	lbx_styled(out, LBX_WARNING, "Some source lines or variables are missing here: gdb would have to be asked "
		   "too many questions.");
	lbx_printf(out, "\n");
}

void lbx_commands_run(const char *line)
{
	lbx_bridge_read *read = lbx_bridge_reader();
	bool styled = lbx_bridge_styled() && isatty(STDOUT_FILENO);
	struct lbx_out out = {
		.colour = styled, .colours = styled ? lbx_terminal_colours() : 0,
		.width = columns(), .whole_lines = lines_stay_whole(), .write = shows_ascii_only() ? write_ascii : write_echo,
		.write_whole = write_whole, .set_int = set_int,
		.set_double = set_double,
		.set_tensor = set_tensor, .progress = progress,
	};
	struct lbx_context context = {
		.target = read ? lbx_target_gdb(read) : NULL,
		.stacks = read ? lbx_stacks_gdb() : NULL,
		.out = &out,
		.prefix = "tensor ",
		.settings = &settings,
		.marks = &marks,
		.debugger = &lbx_debugger_gdb,
		.catches = lbx_catch_list,
	};
	size_t n = strcspn(line, " ");
	static int failed = -1;
	char name[32];
	bool ok;

	snprintf(name, sizeof(name), "%.*s", (int)n, line);
	if (!have_settings)
		settings = lbx_default_settings;
	have_settings = true;
	lb_clear_error();
	lbx_symbol_file_take_changed();
	about.has_tensor = false;
	about.count[0] = '\0';
	ok = run_words(&context, name, line[n] ? line + n + 1 : "");
	/* who looks for tensors may look at their addresses next */
	if (ok && context.table && (strcmp(name, "list") == 0 || strcmp(name, "at") == 0) &&
	    lbx_address_names_are_stale(context.table))
		lbx_symbol_file_reload_names();
	lbx_context_close(&context);
	if (lbx_bridge_waits() && !lbx_bridge_interrupted()) {
		lb_clear_error();
		return;
	}
	if (strcmp(name, "eval") != 0)
		lbx_catch_resume();
	if (strcmp(name, LBX_CALL) == 0)
		strcpy(name, "eval"); /* its second half */
	if (strcmp(name, LBX_STOPPED) == 0 || strcmp(name, LBX_REFRESH) == 0) {
		if (ok) {
			lb_clear_error();
			return; /* nobody has asked for it: no news */
		}
		strcpy(name, "symbols");
	}
	if (strcmp(name, LBX_DELETED) == 0 && ok) {
		lb_clear_error();
		return;
	}
	if (!ok || lbx_bridge_waits()) {
		ok = lb_fail("interrupted");
		write_failure(&out, name);
	} else {
		lbx_tell_notice(&out, context.target);
		tell_lack(&out);
	}
	write_about();
	lb_clear_error();
	if (lbx_symbol_file_take_changed())
		lbx_bridge_script("_lb_look");
	if (failed != !ok) /* the variable's value so far: a line less for gdb to read */
		lbx_bridge_script("set $tensor_failed = %d", !ok);
	failed = !ok;
}
