#include "cli/terminal.h"

#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.h"
#include "inspect/answer.h"
#include "inspect/progress_line.h"
#include "lazybones.h"
#include "target/printable.h"

enum { LEAST = 20, USUAL = 80 };

static bool written; /* to standard output */
static bool is_in_line; /* the last line has no end yet */
static struct lbx_progress_line line = { .fd = -1 };

static void write_out(struct lbx_out *out, const char *text, size_t n)
{
	lbx_progress_line_erase(&line);
	written |= out->context == stdout;
	is_in_line = n ? text[n - 1] != '\n' : is_in_line;
	fwrite(text, 1, n, out->context);
}

/* What ends the program leaves no half of a line on the terminal. */
static void end_line(int number)
{
	lbx_progress_line_erase(&line);
	signal(number, SIG_DFL);
	raise(number);
}

static bool progress(struct lbx_out *out, const char *what, int64_t done, int64_t total)
{
	if (!out->json && !is_in_line)
		lbx_progress_line_tell(&line, what, done, total);
	return true;
}

void lbx_terminal_begin_progress(struct lbx_out *out)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	bool is_one = isatty(STDOUT_FILENO) && tcgetpgrp(STDOUT_FILENO) == getpgrp();

	lbx_progress_line_begin(&line, is_one ? STDOUT_FILENO : -1, out->width);
	out->progress = progress;
	for (size_t i = 0; is_one && i < sizeof ends / sizeof *ends; i++)
		if (signal(ends[i], end_line) == SIG_IGN)
			signal(ends[i], SIG_IGN);
}

void lbx_terminal_end_progress(void)
{
	lbx_progress_line_erase(&line);
	line.fd = -1;
}

static bool takes_terminal(struct lbx_out *out)
{
	lbx_terminal_end_progress();
	(void)out;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return lb_fail("the input or the output is none: `print` shows values anywhere");
	setlocale(LC_CTYPE, ""); /* which curses goes by */
	return true;
}

struct lbx_out lbx_terminal(FILE *file)
{
	const char *columns = getenv("COLUMNS");
	int wish = columns ? atoi(columns) : 0;
	bool terminal = isatty(fileno(file));
	struct winsize size;
	struct lbx_out out = {
		.context = file,
		.write = write_out,
		.width = USUAL,
		.whole_lines = !terminal && wish <= LEAST,
		.colour = terminal && !getenv("NO_COLOR"),
		.takes_terminal = takes_terminal,
	};

	if (wish > LEAST)
		out.width = wish;
	else if (ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > LEAST)
		out.width = size.ws_col;
	out.colours = out.colour ? lbx_terminal_colours() : 0;
	out.pixels = out.colour;
	return out;
}

void lbx_complain(const char *message)
{
	struct lbx_out out = lbx_terminal(stderr);

	lbx_wrap(&out, 0, 4);
	lbx_printf(&out, "lazybones: %s\n", message);
}

void lbx_tell_error(bool json)
{
	struct lbx_out out = lbx_terminal(stdout);

	if (!json || written) {
		lbx_complain(lbx_error_text());
		return;
	}
	out.json = true;
	lbx_begin(&out, NULL);
	LBX_KEY(&out, "error", lbx_json_string(lb_error_message()));
	lbx_end(&out);
	fflush(stdout);
}
