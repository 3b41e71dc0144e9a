#include <string.h>

#include "base/error.h"
#include "inspect/draw/drawing.h"
#include "inspect/report/parts.h"
#include "inspect/trace/events.h"

enum { EVENTS = 100 };

/* Events come a line at a time, or a part of one: those that tell of something wrong are marked. */
struct event_lines {
	struct lbx_out *page;
	char line[4096];
	size_t n;
};

static void end_line(struct event_lines *lines)
{
	static const char *const wrong[] = { " error ", " raw_misuse ", " nan ", " tensor_nan " };
	bool is_wrong = false;

	lines->line[lines->n] = '\0';
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		is_wrong |= strstr(lines->line, wrong[i]) != NULL;
	lbx_printf(lines->page, "%s", is_wrong ? "<mark>" : "");
	lbx_escape(lines->page, lines->line);
	lbx_printf(lines->page, is_wrong ? "</mark>\n" : "\n");
	lines->n = 0;
}

static void write_event(struct lbx_out *out, const char *text, size_t n)
{
	struct event_lines *lines = out->context;

	for (size_t i = 0; i < n; i++) {
		if (text[i] == '\n')
			end_line(lines);
		else if (lines->n < sizeof lines->line - 1)
			lines->line[lines->n++] = text[i];
	}
}

void lbx_part_events(struct lbx_writer *w)
{
	struct event_lines lines = { .page = w->page };
	struct lbx_out out = { .whole_lines = true, .context = &lines, .write = write_event };
	struct lbx_context inner = *w->context;

	inner.out = &out;
	lbx_printf(w->page, "<pre>");
	if (!lbx_events_tell(&inner, NULL, EVENTS)) {
		lbx_escape(w->page, lb_error_message());
		lb_clear_error();
	}
	if (lines.n)
		end_line(&lines);
	lbx_printf(w->page, "</pre>\n");
}
