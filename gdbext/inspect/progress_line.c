#include "base/clock.h"
#include "inspect/progress_line.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_MS = 1000, AGAIN_MS = 200, WIDEST = 200, ECHO = 2 /* "^C", which the terminal itself has written */ };

/* What the terminal does not take is lost: nothing depends on it. */
static void put(const struct lbx_progress_line *line, const char *text, size_t n)
{
	while (n > 0) {
		ssize_t done = write(line->fd, text, n);
		if (done <= 0)
			return;
		text += done;
		n -= (size_t)done;
	}
}

void lbx_progress_line_begin(struct lbx_progress_line *line, int fd, int width)
{
	*line = (struct lbx_progress_line){ .fd = fd, .width = width, .began_ms = lb_clock_ms() };
}

void lbx_progress_line_tell(struct lbx_progress_line *line, const char *what, int64_t done, int64_t total)
{
	char text[WIDEST + 2], share[16] = "";

	if (line->fd < 0)
		return;
	int64_t now = lb_clock_ms();
	if (now - line->began_ms < FIRST_MS || (line->shown && now - line->last_ms < AGAIN_MS))
		return;
	if (total > 0 && done >= 0 && done <= total)
		snprintf(share, sizeof share, "%d %%, ", (int)(100 * (double)done / (double)total));
	int n = snprintf(text, sizeof text, "\r%s: %s%lld s (Ctrl-C ends it)", what, share,
			 (long long)(now - line->began_ms) / 1000);
	int most =
	    line->width > WIDEST ? WIDEST : line->width - 1; /* in the last column a terminal may begin a new line */
	int columns = n - 1 < most ? n - 1 : most;
	if (columns < 1)
		return;
	if (columns < line->shown)
		lbx_progress_line_erase(line);
	line->shown = columns; /* first: a signal may erase it */
	line->last_ms = now;
	put(line, text, (size_t)columns + 1);
}

void lbx_progress_line_erase(struct lbx_progress_line *line)
{
	char text[WIDEST + ECHO + 2];
	int columns = line->shown + ECHO < line->width ? line->shown + ECHO : line->shown;
	size_t n = (size_t)columns;

	if (line->fd < 0 || line->shown == 0)
		return;
	memset(text, ' ', sizeof text);
	text[0] = text[n + 1] = '\r';
	put(line, text, n + 2);
	line->shown = 0;
}
