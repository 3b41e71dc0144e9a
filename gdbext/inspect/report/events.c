#include "base/error.h"
#include "inspect/draw/drawing.h"
#include "inspect/report/parts.h"
#include "inspect/trace/events.h"

enum { EVENTS = 100 };

void lbx_part_events(struct lbx_writer *w)
{
	struct lbx_context inner = *w->context;
	struct lbx_page_text text;

	inner.out = lbx_page_text(&text, w->page);
	lbx_printf(w->page, "<pre>");
	if (!lbx_events_tell(&inner, NULL, EVENTS)) {
		lbx_escape(w->page, lb_error_message());
		lb_clear_error();
	}
	lbx_printf(w->page, "</pre>\n");
}
