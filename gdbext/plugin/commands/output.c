#define _GNU_SOURCE
#include "plugin/commands/output.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.h"
#include "inspect/progress_line.h"
#include "inspect/tensor/describe.h"
#include "lazybones.h"
#include "plugin/bridge/answers.h"
#include "plugin/bridge/bridge.h"
#include "plugin/bridge/front_end.h"
#include "plugin/commands/terminal.h"
#include "target/ascii.h"

/* What the command tells scripts, beside what is set at once. */
static struct {
	bool has_tensor;
	struct lbx_tensor tensor;
	char count[24]; /* in hexadecimal, after a blank; "": none */
} about;

static void write_echo(struct lbx_out *out, const char *text, size_t n)
{
	if (!out->json || !lbx_answers_take(text, n))
		lbx_bridge_echo(text, n);
}

/* gdb's TUI goes by the locale; gdb alone hands bytes to the terminal, which may know more than the locale. */
static bool shows_ascii_only(void)
{
	return lbx_front_end_draws_screen() && !lbx_locale_is_utf8();
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

/* What the plugin prints gdb reads when the command has ended. */
static struct lbx_progress_line line;

static bool progress(struct lbx_out *out, const char *what, int64_t done, int64_t total)
{
	if (!out->json)
		lbx_progress_line_tell(&line, what, done, total);
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

/* A terminal, and somebody in front of it, who sees gdb's lines one after the other. In batch mode gdb has no width. */
static int terminal(void)
{
	bool is_one = isatty(STDOUT_FILENO) && isatty(STDIN_FILENO) && tcgetpgrp(STDOUT_FILENO) == getpgrp();

	return is_one && !lines_stay_whole() && !lbx_front_end_draws_screen() ? STDOUT_FILENO : -1;
}

static bool takes_terminal(struct lbx_out *out)
{
	static const char instead[] = "`tensor print` shows values anywhere";

	(void)out;
	if (lbx_front_end_speaks_mi() || lbx_front_end_is_batch() || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return lb_fail("gdb has none for itself here: %s", instead);
	if (lbx_front_end_draws_screen())
		return lb_fail("gdb's TUI has it: `tui disable` first, or %s", instead);
	if (tcgetpgrp(STDOUT_FILENO) != getpgrp() || lbx_terminal_is_shared())
		return lb_fail("another process has it, too: %s", instead);
	return true;
}

struct lbx_out lbx_gdb_out(bool is_typed)
{
	bool styled = lbx_bridge_styled() && isatty(STDOUT_FILENO);

	/* where a line runs again, with gdb's answers, what it took before counts, too; at a stop the cursor may stand behind what
	 * the program has written */
	if (lbx_bridge_is_new())
		lbx_progress_line_begin(&line, is_typed && !lbx_terminal_is_shared() ? terminal() : -1, columns());

	about.has_tensor = false;
	about.count[0] = '\0';
	lbx_answers_begin();
	return (struct lbx_out){
		.colour = styled,
		.colours = styled ? lbx_terminal_colours() : 0,
		.width = columns(),
		.whole_lines = lines_stay_whole(),
		.write = shows_ascii_only() ? write_ascii : write_echo,
		.write_whole = write_whole,
		.set_int = set_int,
		.set_double = set_double,
		.set_tensor = set_tensor,
		.progress = progress,
		.takes_terminal = takes_terminal,
	};
}

void lbx_gdb_out_failure(struct lbx_out *out, const char *name)
{
	const char *message = lb_error_message();
	size_t n = name ? strlen(name) : 0;

	if (!*message)
		message = "failed, without saying why";
	lbx_begin(out, NULL);
	lbx_wrap(out, 0, 4);
	if (!name)
		lbx_printf(out, "tensor: ");
	else if (strncmp(message, name, n) == 0 && message[n] == ':')
		lbx_printf(out, "tensor ");
	else
		lbx_printf(out, "tensor %s: ", name);
	lbx_tell(out, "%pF\n", LBX_TEXT("error", message));
	lbx_end(out);
}

void lbx_gdb_out_erase(void)
{
	lbx_progress_line_erase(&line);
}

/* All in one line: gdb reads it byte by byte. */
bool lbx_gdb_out_end(void)
{
	const struct lbx_tensor *t = &about.tensor;

	if (about.has_tensor)
		lbx_bridge_script("%s %#" PRIx64 " %#x %#" PRIx64 " %#" PRIx64 " %#" PRIx64 "%s",
				  about.count[0] ? "_lbw" : "_lbv", t->id, (unsigned)t->rank, t->size,
				  lbx_tensor_nbytes(t), lbx_tensor_data(t), about.count);
	else if (about.count[0])
		lbx_bridge_script("set $tensor_count =%s", about.count);
	return about.has_tensor;
}
