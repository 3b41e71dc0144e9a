/* The order of a report's page: what died and where, what is wrong, then the evidence. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/draw/drawing.h"
#include "inspect/forensics/modules.h"
#include "inspect/report/parts.h"
#include "target/printable.h"

static void print_findings(struct lbx_out *page, const struct lbx_findings *findings)
{
	bool folds = findings->n > LBX_BAD_SHOWN;

	for (int i = 0; i < findings->n; i++) {
		if (folds && i == LBX_BAD_SHOWN)
			lbx_printf(page, "<details><summary>%d more</summary>\n", findings->n - i);
		lbx_page_paragraph(page, "bad", findings->list[i].text);
	}
	lbx_printf(page, "%s", folds ? "</details>\n" : "");
}

static void print_stack(struct lbx_writer *w)
{
	if (!lbx_page_missing(w->page, w->r->missing[LBX_SECTION_THREADS]) && w->r->n_threads)
		lbx_page_thread(w->context, w->page, &w->r->threads[0]);
}

static void print_threads(struct lbx_writer *w)
{
	const struct lbx_report *r = w->r;

	lbx_printf(w->page, "<details><summary>%d</summary>\n", r->total_threads - 1);
	for (int i = 1; i < r->n_threads; i++)
		lbx_page_thread(w->context, w->page, &r->threads[i]);
	if (r->n_threads < r->total_threads)
		lbx_printf(w->page,
			   "<p>%d more thread%s not shown; <code>lazybones core CORE threads</code> has "
			   "more of them.</p>\n",
			   r->total_threads - r->n_threads, LB_PLURAL(r->total_threads - r->n_threads, " is", "s are"));
	lbx_printf(w->page, "</details>\n");
}

static void print_works(struct lbx_out *page, const struct lbx_works *works)
{
	char line[2048];

	for (int i = 0; i < works->n; i++) {
		lbx_printf(page, "<li>");
		for (int k = 0; lbx_describe_work(&works->list[i], k, line, sizeof line); k++) {
			lbx_printf(page, "%s", k ? "<br/>" : "");
			lbx_escape(page, line + strspn(line, " "));
		}
		lbx_printf(page, "</li>\n");
	}
}

static void print_flights(struct lbx_writer *w)
{
	const struct lbx_report *r = w->r;
	char text[1024];

	lbx_page_missing(w->page, r->missing[LBX_SECTION_FLIGHTS]);
	lbx_printf(w->page, "<ul>\n");
	print_works(w->page, &r->works);
	for (int i = 0; i < r->n_flights; i++) {
		lbx_describe_run(w->context, &r->flights[i], text, sizeof text);
		lbx_printf(w->page, "<li>thread %" PRIu64 ", ", r->flights[i].tid);
		lbx_escape(w->page, text);
		lbx_printf(w->page, "</li>\n");
	}
	lbx_printf(w->page, "</ul>\n");
}

static void print_values(struct lbx_writer *w)
{
	print_findings(w->page, &w->r->diagnosis.bad);
}

static void print_tensors(struct lbx_writer *w)
{
	lbx_page_cards(w->context, w->page, &w->cards);
}

/* The last lazy tensor that the dead thread held. */
static const struct lbx_tensor *find_lazy(const struct lbx_report *r)
{
	const struct lbx_tensor *lazy = NULL;

	for (int k = 0; r->n_threads && k < r->threads[0].n; k++)
		for (int h = 0; h < r->threads[0].frames[k].n_held; h++) {
			const struct lbx_place *p = &r->threads[0].frames[k].held[h].place;
			if (p->tensor.of && lbx_tensor_is_pending(&p->tensor) && (!lazy || p->tensor.id > lazy->id))
				lazy = &p->tensor;
		}
	return lazy;
}

static void print_graph(struct lbx_writer *w)
{
	if (lbx_draw_graph(w->context, w->page, w->lazy))
		return;
	lbx_page_paragraph(w->page, NULL, lb_error_message());
	lb_clear_error();
}

static void print_suspicions(struct lbx_writer *w)
{
	lbx_page_missing(w->page, w->r->missing[LBX_SECTION_SUSPICIONS]);
	print_findings(w->page, &w->r->suspicions);
}

static void print_unknown(struct lbx_writer *w)
{
	char text[1024];

	lbx_describe_unknown(w->r, text, sizeof text);
	lbx_page_paragraph(w->page, NULL, w->r->has_tensors ? text : w->r->why);
}

static void print_id(struct lbx_out *page, const struct lbx_build_id *id)
{
	char text[LBX_BUILD_ID_TEXT];

	lbx_build_id_text(id, text);
	lbx_printf(page, "<td><code>%s</code></td>", text);
}

/* Those whose files are others come first. */
static void print_modules(struct lbx_writer *w)
{
	struct lbx_out *page = w->page;
	struct lbx_module m;
	char path[4096];

	lbx_printf(page, "<div class=\"wide\"><table>\n<tr><th scope=\"col\">file here</th><th scope=\"col\">path</th>"
			 "<th scope=\"col\">build id</th><th scope=\"col\">of the file here</th></tr>\n");
	for (int same = 0; same <= 1; same++) {
		for (size_t i = 0; lbx_target_module(w->context->target, i, &m); i++) {
			if ((m.verdict == LBX_MODULE_SAME) != same)
				continue;
			lbx_printf(page, "<tr><td%s>%s</td><td>", same ? "" : " class=\"bad\"",
				   lbx_verdict_name(m.verdict));
			snprintf(path, sizeof path, "%s", m.path);
			lbx_make_printable(path);
			lbx_escape(page, path);
			lbx_printf(page, "%s</td>", m.is_program ? " (the program)" : "");
			print_id(page, &m.wanted);
			print_id(page, &m.found);
			lbx_printf(page, "</tr>\n");
		}
	}
	lbx_printf(page, "</table></div>\n");
}

/* ---- all of it ---- */

static void plan(struct lbx_writer *w)
{
	const struct lbx_report *r = w->r;
	bool t = r->has_tensors, stacks = r->n_threads > 0;
	struct lbx_module m;
	const struct lbx_page_part parts[LBX_PARTS] = {
		[LBX_PART_WRONG] = { "wrong", "What is wrong", true },
		[LBX_PART_STACK] = { "stack", r->has_death ? "The thread that died" : "The first thread",
				     stacks || r->missing[LBX_SECTION_THREADS][0] },
		[LBX_PART_THREADS] = { "threads", "Other threads", r->n_threads > 1 },
		[LBX_PART_FLIGHTS] = { "flights", "In flight",
				       t && (r->n_flights || r->works.n || r->missing[LBX_SECTION_FLIGHTS][0]) },
		[LBX_PART_VALUES] = { "values", "NaN and Inf", r->diagnosis.bad.n > 0 },
		[LBX_PART_TENSORS] = { "tensors", "Tensors", w->cards.n > 0 },
		[LBX_PART_GRAPH] = { "graph", "What was still to be computed", w->lazy },
		[LBX_PART_MEMORY] = { "memory", "Memory", t },
		[LBX_PART_EVENTS] = { "events", "Last events", r->has_runtime },
		[LBX_PART_SUSPICIONS] = { "suspicions", "Suspicions",
					  t && (r->suspicions.n || r->missing[LBX_SECTION_SUSPICIONS][0]) },
		[LBX_PART_UNKNOWN] = { "unknown", "Not known", !r->has_runtime },
		[LBX_PART_MODULES] = { "modules", "Program and libraries",
				       lbx_target_module(w->context->target, 0, &m) },
	};

	memcpy(w->parts, parts, sizeof parts);
}

bool lbx_report_page(struct lbx_context *context, const struct lbx_report *r, struct lbx_out *page)
{
	static void (*const print[LBX_PARTS])(struct lbx_writer *) = {
		[LBX_PART_WRONG] = lbx_part_wrong,   [LBX_PART_STACK] = print_stack,
		[LBX_PART_THREADS] = print_threads,  [LBX_PART_FLIGHTS] = print_flights,
		[LBX_PART_VALUES] = print_values,    [LBX_PART_TENSORS] = print_tensors,
		[LBX_PART_GRAPH] = print_graph,      [LBX_PART_MEMORY] = lbx_part_memory,
		[LBX_PART_EVENTS] = lbx_part_events, [LBX_PART_SUSPICIONS] = print_suspicions,
		[LBX_PART_UNKNOWN] = print_unknown,  [LBX_PART_MODULES] = print_modules,
	};
	struct lbx_writer w = { .context = context, .page = page, .r = r };

	if (r->has_tensors) {
		lbx_cards_choose(context, r, &w.cards);
		w.lazy = find_lazy(r);
	}
	plan(&w);
	lbx_part_head(&w);
	lbx_page_links(page, w.parts, LBX_PARTS);
	for (int i = 0; i < LBX_PARTS; i++) {
		if (!w.parts[i].is_there)
			continue;
		lbx_page_section(page, &w.parts[i]);
		print[i](&w);
		lbx_page_end_section(page);
	}
	lbx_page_end(page);
	return lb_ok();
}
