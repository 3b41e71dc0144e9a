#include <inttypes.h>

#include "base/plural.h"
#include "inspect/draw/drawing.h"
#include "inspect/report/parts.h"
#include "inspect/tensor/format.h"

enum { SITES = 16, BAR = 12 /* em */ };

/* A bar of a part of the whole. */
static void print_bar(struct lbx_out *page, double part, double whole)
{
	lbx_printf(page, "<td><span class=\"bar\" style=\"width:%.2fem\"></span></td>",
		   whole > 0 ? part / whole * BAR : 0.0);
}

static void print_use(struct lbx_writer *w, const char *what, uint64_t bytes, double whole)
{
	char text[32];

	lbx_format_bytes((int64_t)bytes, text, sizeof text);
	lbx_printf(w->page, "<tr><th scope=\"row\">%s</th><td class=\"n\">%s</td>", what, text);
	print_bar(w->page, (double)bytes, whole);
	lbx_printf(w->page, "</tr>\n");
}

/* In use, at most, kept for reuse, and how much may be. */
static void print_counters(struct lbx_writer *w)
{
	const struct lb_counters *c = &w->r->root.counters;
	bool is_limited = c->memory_limit && c->memory_limit < UINT64_MAX / 2;
	double whole = (double)(is_limited && c->memory_limit > c->peak_bytes ? c->memory_limit : c->peak_bytes);

	if (!w->r->has_runtime || w->r->root.uncounted[0])
		return;
	lbx_printf(w->page, "<table>\n");
	print_use(w, "in use", c->active_bytes, whole);
	print_use(w, "peak", c->peak_bytes, whole);
	print_use(w, "kept for reuse", c->cache_bytes, whole);
	if (is_limited)
		print_use(w, "limit", c->memory_limit, whole);
	lbx_printf(w->page, "</table>\n");
}

void lbx_part_memory(struct lbx_writer *w)
{
	const struct lbx_report *r = w->r;
	struct lbx_out *page = w->page;
	char bytes[32], where[512];

	lbx_page_missing(page, r->missing[LBX_SECTION_MEMORY]);
	if (r->has_runtime)
		lbx_page_missing(page, r->root.uncounted);
	lbx_printf(page, "<p>%" PRIu64 " tensor%s ready, %" PRIu64 " lazy</p>\n", r->by_state[LBX_READY],
		   LB_S(r->by_state[LBX_READY]), r->by_state[LBX_LAZY]);
	print_counters(w);
	if (!r->groups.n)
		return;
	lbx_printf(page, "<div class=\"wide\"><table>\n");
	if (lbx_describe_usage(r, where, sizeof where))
		lbx_printf(page, "<caption>%s</caption>\n", where);
	lbx_printf(page,
		   "<tr><th scope=\"col\" class=\"n\">memory</th><th scope=\"col\">of all</th>"
		   "<th scope=\"col\" class=\"n\">buffers</th><th scope=\"col\">%s</th></tr>\n",
		   r->by == LBX_BY_SITE ? "made in" : "of");
	for (size_t i = 0; i < r->groups.n && i < SITES && r->groups.list[i].bytes; i++) {
		const struct lbx_holding_group *s = &r->groups.list[i];
		if (r->by == LBX_BY_SITE && s->pc == 0)
			continue; /* no tensor's */
		lbx_format_bytes(s->bytes, bytes, sizeof bytes);
		lbx_describe_group(w->context, s, r->by, where, sizeof where);
		lbx_printf(page, "<tr><td class=\"n\">%s</td>", bytes);
		print_bar(page, (double)s->bytes, (double)r->groups.bytes);
		lbx_printf(page, "<td class=\"n\">%" PRId64 "</td><td>", s->buffers);
		lbx_escape(page, where);
		lbx_printf(page, "</td></tr>\n");
	}
	lbx_printf(page, "</table></div>\n");
}
