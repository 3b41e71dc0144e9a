/* The order of a report's page: what died and where, what is wrong, then the evidence. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/diagnose/rule.h"
#include "inspect/draw/drawing.h"
#include "inspect/forensics/death.h"
#include "inspect/forensics/modules.h"
#include "inspect/report/page.h"
#include "inspect/tensor/format.h"
#include "inspect/trace/events.h"
#include "target/printable.h"

enum { SITES = 16, EVENTS = 100, SHOWN_BAD = 5, BAR = 12 /* em */ };

enum part {
	WRONG,
	STACK,
	THREADS,
	FLIGHTS,
	VALUES,
	TENSORS,
	GRAPH,
	MEMORY,
	EVENTS_PART,
	SUSPICIONS,
	UNKNOWN,
	MODULES,
	PARTS
};

/* What the parts are printed of. */
struct writer {
	struct lbx_context *context;
	struct lbx_out *page;
	const struct lbx_report *r;
	struct lbx_cards cards;
	const struct lbx_tensor *lazy; /* whose graph is drawn; NULL: none is */
	struct lbx_page_part parts[PARTS];
};

/* ---- what it is of ---- */

static void print_fact(struct lbx_out *page, const char *name, const char *text)
{
	if (!text || !*text)
		return;
	lbx_printf(page, "<dt>%s</dt><dd>", name);
	lbx_escape(page, text);
	lbx_printf(page, "</dd>\n");
}

static void print_program(struct writer *w)
{
	char id[LBX_BUILD_ID_TEXT], text[4096];
	struct lbx_module m;

	for (size_t i = 0; lbx_target_module(w->context->target, i, &m); i++) {
		if (!m.is_program)
			continue;
		lbx_build_id_text(&m.wanted, id);
		snprintf(text, sizeof text, "%s, build id %s", m.path, id);
		lbx_make_printable(text);
		print_fact(w->page, "program", text);
		return;
	}
}

/* The core's file, and when it was written: that is when the program died. */
static void print_core(struct writer *w)
{
	const char *core = w->context->core;
	char text[4096], bytes[32], when[64];
	struct stat about;
	struct tm tm;

	if (!core || stat(core, &about) != 0 || !localtime_r(&about.st_mtime, &tm) ||
	    !strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S %z", &tm))
		return;
	lbx_format_bytes(about.st_size, bytes, sizeof bytes);
	snprintf(text, sizeof text, "%s, %s, written %s", core, bytes, when);
	lbx_make_printable(text);
	print_fact(w->page, "core", text);
}

static void print_identity(struct writer *w)
{
	const struct lbx_report *r = w->r;
	uint64_t pid = r->death.pid ? r->death.pid : r->death.tid;
	char text[512], *end = text, *past = text + sizeof text;

	lbx_printf(w->page, "<dl class=\"who\">\n");
	end += snprintf(text, sizeof text, "%" PRIu64, pid);
	if (r->total_threads > 1)
		end += snprintf(end, (size_t)(past - end), ", %d threads", r->total_threads);
	if (r->has_runtime && r->root.rank >= 0)
		snprintf(end, (size_t)(past - end), ", rank %" PRId64, r->root.rank);
	print_fact(w->page, "process", pid ? text : NULL);
	print_program(w);
	print_core(w);
	*text = '\0';
	for (int i = 0; r->has_tensors && i < w->context->n_sets; i++)
		lbx_say(text, sizeof text, "%s%s", i ? ", " : "", w->context->sets[i]->provider);
	if (r->has_runtime)
		lbx_say(text, sizeof text, "%sthe runtime is Lazybones %s", *text ? "; " : "", r->root.version);
	print_fact(w->page, "tensors of", text);
	lbx_printf(w->page, "</dl>\n");
}

static void print_head(struct writer *w)
{
	const struct lbx_report *r = w->r;
	const struct lbx_frame_view *own = r->n_threads ? lbx_own_frame(w->context, &r->threads[0]) : NULL;
	const char *name = r->death.command[0] ? r->death.command : "A program";
	char text[1024];

	lbx_page_begin(w->page, name);
	lbx_printf(w->page, "<header>\n<h1>");
	lbx_escape(w->page, name);
	lbx_printf(w->page, "</h1>\n");
	lbx_describe_death(&r->death, text, sizeof text);
	lbx_page_paragraph(w->page, "died", text);
	lbx_page_paragraph(w->page, NULL, r->fault);
	if (lbx_describe_damage(r, text, sizeof text))
		lbx_page_paragraph(w->page, "bad", text);
	if (own && r->has_death) {
		lbx_printf(w->page, "<p>%s ",
			   own == r->threads[0].frames ? "It died in" : "The program's own frame is in");
		lbx_escape(w->page, own->line.function);
		snprintf(text, sizeof text, " at %s:%d", own->line.file, own->line.line);
		lbx_escape(w->page, own->line.file[0] ? text : "");
		lbx_printf(w->page, "</p>\n");
		lbx_page_source(w->context, w->page, &own->line);
	}
	print_identity(w);
	lbx_printf(w->page, "</header>\n");
}

/* ---- what is wrong ---- */

static void print_line(struct lbx_out *page, const char *name, const char *text)
{
	if (!*text)
		return;
	lbx_printf(page, "<p><span class=\"dim\">%s</span> ", name);
	lbx_escape(page, text);
	lbx_printf(page, "</p>\n");
}

static void print_finding(struct writer *w, const struct lbx_diagnosed *f)
{
	const char *grade = lbx_severity_name(f->severity);
	struct lbx_out *page = w->page;
	char where[600];

	lbx_printf(page, "<details class=\"finding %s\"%s><summary><span class=\"grade\">%s</span><b>", grade,
		   f->severity > LBX_LOW ? " open=\"open\"" : "", grade);
	lbx_escape(page, f->title);
	lbx_printf(page, "</b> <code>%s</code></summary>\n", f->rule->id);
	lbx_page_paragraph(page, NULL, f->evidence);
	snprintf(where, sizeof where, "%s:%d %s", f->line.file, f->line.line, f->line.function);
	print_line(page, "at", f->line.file[0] ? where : f->line.function);
	lbx_page_source(w->context, page, &f->line);
	print_line(page, "cost", f->cost);
	print_line(page, "try", f->advice);
	if (f->n_tensors) {
		lbx_printf(page, "<p><span class=\"dim\">tensors</span> ");
		for (int i = 0; i < f->n_tensors; i++)
			lbx_page_tensor(page, &w->cards, &f->tensors[i]);
		lbx_printf(page, "</p>\n");
	}
	lbx_printf(page, "</details>\n");
}

static void print_wrong(struct writer *w)
{
	const struct lbx_diagnosis *d = &w->r->diagnosis;
	char text[2048] = "";

	if (lbx_page_missing(w->page, w->r->missing[LBX_SECTION_DIAGNOSIS]))
		return;
	for (size_t i = 0; i < d->n; i++)
		print_finding(w, &d->list[i]);
	lbx_describe_diagnosis(d, text, sizeof text);
	lbx_page_paragraph(w->page, "dim", text);
}

/* ---- the evidence ---- */

static void print_findings(struct lbx_out *page, const struct lbx_findings *findings)
{
	bool folds = findings->n > SHOWN_BAD;

	for (int i = 0; i < findings->n; i++) {
		if (folds && i == SHOWN_BAD)
			lbx_printf(page, "<details><summary>%d more</summary>\n", findings->n - i);
		lbx_page_paragraph(page, "bad", findings->list[i].text);
	}
	lbx_printf(page, "%s", folds ? "</details>\n" : "");
}

static void print_stack(struct writer *w)
{
	if (!lbx_page_missing(w->page, w->r->missing[LBX_SECTION_THREADS]) && w->r->n_threads)
		lbx_page_thread(w->context, w->page, &w->r->threads[0]);
}

static void print_threads(struct writer *w)
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

static void print_flights(struct writer *w)
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

static void print_values(struct writer *w)
{
	print_findings(w->page, &w->r->diagnosis.bad);
}

static void print_tensors(struct writer *w)
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

static void print_graph(struct writer *w)
{
	if (lbx_draw_graph(w->context, w->page, w->lazy))
		return;
	lbx_page_paragraph(w->page, NULL, lb_error_message());
	lb_clear_error();
}

/* A bar of a part of the whole. */
static void print_bar(struct lbx_out *page, double part, double whole)
{
	lbx_printf(page, "<td><span class=\"bar\" style=\"width:%.2fem\"></span></td>",
		   whole > 0 ? part / whole * BAR : 0.0);
}

static void print_use(struct writer *w, const char *what, uint64_t bytes, double whole)
{
	char text[32];

	lbx_format_bytes((int64_t)bytes, text, sizeof text);
	lbx_printf(w->page, "<tr><th scope=\"row\">%s</th><td class=\"n\">%s</td>", what, text);
	print_bar(w->page, (double)bytes, whole);
	lbx_printf(w->page, "</tr>\n");
}

/* In use, at most, kept for reuse, and how much may be. */
static void print_counters(struct writer *w)
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

static void print_memory(struct writer *w)
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

static void print_events(struct writer *w)
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

static void print_suspicions(struct writer *w)
{
	lbx_page_missing(w->page, w->r->missing[LBX_SECTION_SUSPICIONS]);
	print_findings(w->page, &w->r->suspicions);
}

static void print_unknown(struct writer *w)
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
static void print_modules(struct writer *w)
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

static void plan(struct writer *w)
{
	const struct lbx_report *r = w->r;
	bool t = r->has_tensors, stacks = r->n_threads > 0;
	struct lbx_module m;
	const struct lbx_page_part parts[PARTS] = {
		[WRONG] = { "wrong", "What is wrong", t },
		[STACK] = { "stack", r->has_death ? "The thread that died" : "The first thread",
			    stacks || r->missing[LBX_SECTION_THREADS][0] },
		[THREADS] = { "threads", "Other threads", r->n_threads > 1 },
		[FLIGHTS] = { "flights", "In flight",
			      t && (r->n_flights || r->works.n || r->missing[LBX_SECTION_FLIGHTS][0]) },
		[VALUES] = { "values", "NaN and Inf", r->diagnosis.bad.n > 0 },
		[TENSORS] = { "tensors", "Tensors", w->cards.n > 0 },
		[GRAPH] = { "graph", "What was still to be computed", w->lazy },
		[MEMORY] = { "memory", "Memory", t },
		[EVENTS_PART] = { "events", "Last events", r->has_runtime },
		[SUSPICIONS] = { "suspicions", "Suspicions",
				 t && (r->suspicions.n || r->missing[LBX_SECTION_SUSPICIONS][0]) },
		[UNKNOWN] = { "unknown", "Not known", !r->has_runtime },
		[MODULES] = { "modules", "Program and libraries", lbx_target_module(w->context->target, 0, &m) },
	};

	memcpy(w->parts, parts, sizeof parts);
}

bool lbx_report_page(struct lbx_context *context, const struct lbx_report *r, struct lbx_out *page)
{
	static void (*const print[PARTS])(struct writer *) = {
		[WRONG] = print_wrong,           [STACK] = print_stack,     [THREADS] = print_threads,
		[FLIGHTS] = print_flights,       [VALUES] = print_values,   [TENSORS] = print_tensors,
		[GRAPH] = print_graph,           [MEMORY] = print_memory,   [EVENTS_PART] = print_events,
		[SUSPICIONS] = print_suspicions, [UNKNOWN] = print_unknown, [MODULES] = print_modules,
	};
	struct writer w = { .context = context, .page = page, .r = r };

	if (r->has_tensors) {
		lbx_cards_choose(context, r, &w.cards);
		w.lazy = find_lazy(r);
	}
	plan(&w);
	print_head(&w);
	lbx_page_links(page, w.parts, PARTS);
	for (int i = 0; i < PARTS; i++) {
		if (!w.parts[i].is_there)
			continue;
		lbx_page_section(page, &w.parts[i]);
		print[i](&w);
		lbx_page_end_section(page);
	}
	lbx_page_end(page);
	return lb_ok();
}
