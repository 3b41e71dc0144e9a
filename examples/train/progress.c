#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { DEFAULT_WIDTH = 80, BAR_MOST = 40, BAR_LEAST = 5, LINE_MAX = 512 };
#define REDRAW 0.1 /* seconds */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Asked for each time: terminals change. */
static int terminal_width(void)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return columns && atoi(columns) > 0 ? atoi(columns) : DEFAULT_WIDTH;
}

void progress_begin(struct progress *progress, int64_t total)
{
	*progress = (struct progress){
		.total = total > 0 ? total : 1, .terminal = isatty(STDERR_FILENO), .began = now(),
	};
}

/* "1:05", or "1:02:05" */
static void print_time(double seconds, char ret[32])
{
	long s = (long)(seconds + 0.5);

	if (s < 3600)
		snprintf(ret, 32, "%ld:%02ld", s / 60, s % 60);
	else
		snprintf(ret, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
}

/* One column is left free: a full line would wrap. The note gives way first, then the bar. */
static void draw(int64_t percent, const char *eta, const char *note)
{
	char line[LINE_MAX], bar[BAR_MOST + 1];
	int width = terminal_width() - 1, rest = (int)strlen(" 100%  ETA ") + (int)strlen(eta);
	int cells = width - rest - 2 - (int)strlen(note) - 2;

	cells = cells > BAR_MOST ? BAR_MOST : cells < BAR_LEAST ? BAR_LEAST : cells;
	for (int i = 0; i < cells; i++)
		bar[i] = i * 100 < percent * cells ? '#' : '.';
	bar[cells] = '\0';
	snprintf(line, sizeof(line), "[%s] %3d%%  ETA %s  %s", bar, (int)percent, eta, note);
	if (width > 0 && width < LINE_MAX)
		line[width] = '\0';
	fprintf(stderr, "\r%s\033[K", line);
	fflush(stderr);
}

void progress_show(struct progress *progress, int64_t done, const char *note)
{
	double at = now(), passed = at - progress->began;
	int64_t percent = done * 100 / progress->total;
	char eta[32];

	print_time(done > 0 ? passed / (double)done * (double)(progress->total - done) : 0, eta);
	if (progress->terminal) {
		if (done < progress->total && at - progress->drawn < REDRAW)
			return;
		progress->drawn = at;
		draw(percent, eta, note);
	} else if (percent / 10 > progress->told) {
		progress->told = percent / 10;
		fprintf(stderr, "%3d%%  ETA %s  %s\n", (int)percent, eta, note);
	}
}

void progress_end(struct progress *progress)
{
	if (progress->terminal && progress->drawn > 0)
		fputc('\n', stderr);
}
