/* A page that is also well-formed XML: every tag is closed, every text escaped. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/draw/drawing.h"
#include "inspect/forensics/death.h"
#include "inspect/forensics/modules.h"
#include "inspect/forensics/report.h"
#include "inspect/measure/quantile.h"
#include "inspect/measure/summary.h"
#include "inspect/operand/value.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"
#include "inspect/trace/events.h"
#include "target/printable.h"

enum {
	CARDS = 24,
	BINS = 32,
	PIECE = 1 << 16,
	SITES = 16,
	EVENTS = 100,
	LABEL = LBX_DESCRIPTION_MAX,
	SAMPLED = 1 << 20
};

static const char head[] =
    "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
    "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width\"/>\n<title>Lazybones report</title>\n<style>\n"
    "body{font:14px/1.5 system-ui,sans-serif;margin:2em auto;max-width:72em;padding:0 1em}\n"
    "h1{overflow-wrap:anywhere}\n"
    "pre,code{font:12px/1.5 ui-monospace,monospace}\n"
    "pre{background:#f5f5f5;padding:.8em;overflow-x:auto}\n"
    ".bad{color:#b00020}.dim{color:#666}\n"
    ".cards{display:flex;flex-wrap:wrap;gap:1em}\n"
    ".card{border:1px solid #ccc;padding:.7em;max-width:21em;overflow-wrap:anywhere}\n"
    "img{image-rendering:pixelated}svg text{font:11px ui-monospace,monospace}\n"
    "td,th{padding:.1em .8em .1em 0;text-align:left}td.n{text-align:right}\n"
    "</style>\n</head>\n<body>\n";

/* Of which tensors a card was made. */
struct cards {
	int n;
	struct lbx_key keys[CARDS];
};

struct values {
	struct lbx_summary summary;
	struct lbx_sample sample;
};

/* Why a section is not here, or not whole. */
static bool print_missing(struct lbx_out *page, const char *why)
{
	if (!*why)
		return false;
	lbx_printf(page, "<p class=\"bad\">not known: ");
	lbx_escape(page, why);
	lbx_printf(page, "</p>\n");
	return true;
}

static void print_findings(struct lbx_out *page, const struct lbx_findings *findings)
{
	lbx_printf(page, "<ul>\n");
	for (int i = 0; i < findings->n; i++) {
		lbx_printf(page, "<li class=\"bad\">");
		lbx_escape(page, findings->list[i].text);
		lbx_printf(page, "</li>\n");
	}
	lbx_printf(page, findings->n ? "</ul>\n" : "<li>none</li></ul>\n");
}

/* In pieces, none of which ends within a character. */
static void write_escaped(struct lbx_out *out, const char *text, size_t n)
{
	char piece[256];

	for (size_t done = 0, some; done < n; done += some) {
		some = n - done < sizeof piece - 1 ? n - done : sizeof piece - 1;
		while (done + some < n && some > 4 && (text[done + some] & 0xc0) == 0x80)
			some--;
		memcpy(piece, text + done, some);
		piece[some] = '\0';
		lbx_escape(out->context, piece);
	}
}

/* As `threads` tells it. */
static void print_thread(struct lbx_context *context, struct lbx_out *page, const struct lbx_thread_view *view)
{
	struct lbx_out text = { .whole_lines = true, .context = page, .write = write_escaped }, *before = context->out;

	context->out = &text;
	lbx_printf(page, "<pre>");
	lbx_tell_thread(context, view);
	lbx_printf(page, "</pre>\n");
	context->out = before;
}

static void print_threads(struct lbx_context *context, struct lbx_out *page, const struct lbx_report *r)
{
	if (r->missing[LBX_SECTION_THREADS][0]) {
		lbx_printf(page, "<h2>Threads</h2>\n");
		print_missing(page, r->missing[LBX_SECTION_THREADS]);
	}
	if (r->n_threads == 0)
		return;
	lbx_printf(page, "<h2>%s</h2>\n", r->has_death ? "The thread that died" : "The first thread");
	print_thread(context, page, &r->threads[0]);
	if (r->n_threads == 1)
		return;
	lbx_printf(page, "<h2>Other threads</h2>\n<details><summary>%d</summary>\n", r->total_threads - 1);
	for (int i = 1; i < r->n_threads; i++)
		print_thread(context, page, &r->threads[i]);
	if (r->n_threads < r->total_threads)
		lbx_printf(page,
			   "<p>%d more thread%s not shown; <code>lazybones core CORE threads</code> has "
			   "more of them.</p>\n",
			   r->total_threads - r->n_threads, LB_PLURAL(r->total_threads - r->n_threads, " is", "s are"));
	lbx_printf(page, "</details>\n");
}

static void print_id(struct lbx_out *page, const struct lbx_build_id *id)
{
	char text[LBX_BUILD_ID_TEXT];

	lbx_build_id_text(id, text);
	lbx_printf(page, "<td><code>%s</code></td>", text);
}

/* Those whose files are others come first. */
static void print_modules(struct lbx_context *context, struct lbx_out *page)
{
	struct lbx_module m;
	bool some = false;
	char path[4096];

	for (int same = 0; same <= 1; same++) {
		for (size_t i = 0; lbx_target_module(context->target, i, &m); i++) {
			if ((m.verdict == LBX_MODULE_SAME) != same)
				continue;
			if (!some)
				lbx_printf(page, "<h2>Program and libraries</h2>\n<table>\n<tr><th>file here</th>"
						 "<th>path</th><th>build id</th><th>of the file here</th></tr>\n");
			some = true;
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
	lbx_printf(page, some ? "</table>\n" : "");
}

static bool add_piece(void *context, const void *elements, int64_t n, int64_t first)
{
	struct values *v = context;

	lbx_summary_add(&v->summary, elements, n, first);
	lbx_sample_add(&v->sample, elements, n, first);
	return true;
}

/* Of a large tensor the first elements alone: a page is not the place for exact figures. */
static void print_summary(struct lbx_out *page, const struct lbx_summary *summary, bool is_part)
{
	lbx_printf(page, "<div class=\"dim\">%s", is_part ? "of the first part: " : "");
	if (summary->finite)
		lbx_printf(page, "mean %.5g, std %.5g", (double)summary->mean, lbx_summary_std(summary));
	else
		lbx_printf(page, "no finite value");
	lbx_printf(page, ", NaN %lld, Inf %lld</div>\n", (long long)summary->special[LBX_NAN],
		   (long long)(summary->special[LBX_POSITIVE_INF] + summary->special[LBX_NEGATIVE_INF]));
}

static void print_values(struct lbx_context *context, struct lbx_out *page, const struct lbx_array *array)
{
	struct lbx_array part = *array;
	int64_t counts[BINS];
	double low, high;
	struct values v;

	while (part.size > SAMPLED && part.rank > 0) {
		int axis = 0;
		while (part.shape[axis] == 1)
			axis++;
		part.size /= part.shape[axis];
		int64_t keep = SAMPLED / part.size;
		part.shape[axis] = keep < 1 ? 1 : keep < part.shape[axis] ? keep : part.shape[axis];
		part.size *= part.shape[axis];
	}
	lbx_summary_init(&v.summary, part.dtype);
	if (!lbx_sample_init(&v.sample, part.dtype, part.size))
		return;
	if (lbx_array_walk(&part, context->out, "drawing", PIECE, add_piece, &v) && lbx_sample_sort(&v.sample)) {
		int n = lbx_sample_histogram(&v.sample, BINS, counts, &low, &high);
		if (n)
			lbx_draw_histogram(page, counts, n, low, high);
		print_summary(page, &v.summary, part.size < array->size);
	}
	lbx_sample_deinit(&v.sample);
}

static void print_picture(struct lbx_out *page, const struct lbx_array *array)
{
	double low, high;

	if (lbx_draw_picture(page, array, &low, &high)) {
		if (!isnan(low))
			lbx_printf(page, "<div class=\"dim\">from %.5g to %.5g</div>", low, high);
		return;
	}
	lbx_printf(page, "<span class=\"dim\">");
	lbx_escape(page, lb_error_message());
	lbx_printf(page, "</span>");
	lb_clear_error();
}

static void print_card(struct lbx_context *context, struct lbx_out *page, struct cards *cards,
		       const struct lbx_tensor *t)
{
	struct lbx_array array;
	char label[LABEL], where[512];

	for (int i = 0; i < cards->n; i++)
		if (cards->keys[i].of == t->of && cards->keys[i].id == t->id)
			return;
	if (cards->n == CARDS || t->state != LBX_READY || t->size < 2 ||
	    !lbx_array_of_tensor(context->target, t, &array)) {
		lb_clear_error();
		return;
	}
	cards->keys[cards->n++] = lbx_tensor_key(t);
	lbx_describe(t, label, sizeof label);
	lbx_describe_pc(context->target, t->site, where, sizeof where);
	lbx_printf(page, "<div class=\"card\"><b>");
	lbx_escape(page, label);
	lbx_printf(page, "</b>%s<br/><span class=\"dim\">%s in ", lbx_part_note(array.dtype), t->op);
	lbx_escape(page, where);
	lbx_printf(page, "</span><br/>\n");
	print_picture(page, &array);
	print_values(context, page, &array);
	lbx_printf(page, "</div>\n");
	lb_clear_error();
}

/* Those that the dead thread held, then those with NaN or Inf. */
static void print_cards(struct lbx_context *context, struct lbx_out *page, const struct lbx_report *r)
{
	struct cards cards = { 0 };
	struct lbx_tensor t;

	lbx_printf(page, "<h2>Tensors</h2>\n<div class=\"cards\">\n");
	for (int k = 0; r->n_threads && k < r->threads[0].n; k++)
		for (int h = 0; h < r->threads[0].frames[k].n_held; h++)
			print_card(context, page, &cards, &r->threads[0].frames[k].held[h].place.tensor);
	for (int i = 0; i < r->bad.n; i++) {
		if (lbx_tensor_by_key(&r->bad.list[i].key, &t))
			print_card(context, page, &cards, &t);
		lb_clear_error();
	}
	lbx_printf(page, "</div>\n");
}

/* The graph of the last lazy tensor that the dead thread held. */
static void print_graph(struct lbx_context *context, struct lbx_out *page, const struct lbx_report *r)
{
	const struct lbx_tensor *lazy = NULL;

	for (int k = 0; r->n_threads && k < r->threads[0].n; k++)
		for (int h = 0; h < r->threads[0].frames[k].n_held; h++) {
			const struct lbx_place *p = &r->threads[0].frames[k].held[h].place;
			if (p->tensor.of && lbx_tensor_is_pending(&p->tensor) && (!lazy || p->tensor.id > lazy->id))
				lazy = &p->tensor;
		}
	if (!lazy)
		return;
	lbx_printf(page, "<h2>What was still to be computed</h2>\n");
	if (!lbx_draw_graph(context, page, lazy)) {
		lbx_printf(page, "<p>");
		lbx_escape(page, lb_error_message());
		lbx_printf(page, "</p>\n");
		lb_clear_error();
	}
}

static void print_works(struct lbx_out *page, const struct lbx_works *works)
{
	char line[2048];

	for (int i = 0; i < works->n; i++) {
		lbx_printf(page, "<li>");
		for (int k = 0; lbx_describe_work(&works->list[i], k, line, sizeof line); k++) {
			lbx_printf(page, k ? "<br>" : "");
			lbx_escape(page, line + strspn(line, " "));
		}
		lbx_printf(page, "</li>\n");
	}
}

static void print_flights(struct lbx_context *context, struct lbx_out *page, const struct lbx_report *r)
{
	char text[1024];

	lbx_printf(page, "<h2>In flight</h2>\n");
	print_missing(page, r->missing[LBX_SECTION_FLIGHTS]);
	lbx_printf(page, "<ul>\n");
	print_works(page, &r->works);
	for (int i = 0; i < r->n_flights; i++) {
		lbx_describe_run(context, &r->flights[i], text, sizeof text);
		lbx_printf(page, "<li>thread %" PRIu64 ", ", r->flights[i].tid);
		lbx_escape(page, text);
		lbx_printf(page, "</li>\n");
	}
	lbx_printf(page, r->n_flights + r->works.n ? "</ul>\n" : "<li>no thread was evaluating</li></ul>\n");
}

static void print_unknown(struct lbx_out *page, const struct lbx_report *r)
{
	char text[1024];

	lbx_describe_unknown(r, text, sizeof text);
	lbx_printf(page, "<h2>Not known</h2>\n<p>");
	lbx_escape(page, text);
	lbx_printf(page, "</p>\n");
}

static void print_memory(struct lbx_context *context, struct lbx_out *page, const struct lbx_report *r)
{
	char bytes[32], peak[32], where[512];

	lbx_format_bytes((int64_t)r->root.counters.active_bytes, bytes, sizeof bytes);
	lbx_format_bytes((int64_t)r->root.counters.peak_bytes, peak, sizeof peak);
	lbx_printf(page, "<h2>Memory</h2>\n");
	print_missing(page, r->missing[LBX_SECTION_MEMORY]);
	if (r->has_runtime)
		print_missing(page, r->root.uncounted);
	lbx_printf(page, "<p>");
	if (!r->root.uncounted[0])
		lbx_printf(page, "%s in use, peak %s; ", bytes, peak);
	lbx_printf(page, "%" PRIu64 " tensor%s ready, %" PRIu64 " lazy</p>\n<table>\n", r->by_state[LBX_READY],
		   LB_S(r->by_state[LBX_READY]), r->by_state[LBX_LAZY]);
	if (lbx_describe_usage(r, where, sizeof where))
		lbx_printf(page, "<caption>%s</caption>\n", where);
	for (size_t i = 0; i < r->groups.n && i < SITES && r->groups.list[i].bytes; i++) {
		const struct lbx_holding_group *s = &r->groups.list[i];
		if (r->by == LBX_BY_SITE && s->pc == 0)
			continue; /* no tensor's */
		lbx_format_bytes(s->bytes, bytes, sizeof bytes);
		lbx_describe_group(context, s, r->by, where, sizeof where);
		lbx_printf(page, "<tr><td class=\"n\">%s</td><td class=\"n\">%" PRId64 "</td><td>", bytes, s->buffers);
		lbx_escape(page, where);
		lbx_printf(page, "</td></tr>\n");
	}
	lbx_printf(page, "</table>\n");
}

/* As text: the page's writer makes it safe. */
static void print_events(struct lbx_context *context, struct lbx_out *page)
{
	struct lbx_out out = { .width = page->width, .context = page, .write = write_escaped };
	struct lbx_context inner = *context;

	inner.out = &out;
	lbx_printf(page, "<h2>Last events</h2>\n<pre>");
	if (!lbx_events_tell(&inner, NULL, EVENTS)) {
		lbx_escape(page, lb_error_message());
		lb_clear_error();
	}
	lbx_printf(page, "</pre>\n");
}

bool lbx_report_page(struct lbx_context *context, const struct lbx_report *r, struct lbx_out *page)
{
	char text[1024];

	lbx_printf(page, "%s<h1>", head);
	lbx_escape(page, r->death.command[0] ? r->death.command : "A program");
	lbx_describe_death(&r->death, text, sizeof text);
	lbx_printf(page, "</h1>\n<p>Process %" PRIu64 " ", r->death.pid ? r->death.pid : r->death.tid);
	lbx_escape(page, text);
	lbx_printf(page, ". ");
	lbx_escape(page, r->fault);
	lbx_printf(page, "</p>\n");
	if (lbx_describe_damage(r, text, sizeof text))
		lbx_printf(page, "<p class=\"bad\">%s</p>\n", text);
	if (r->has_tensors) {
		lbx_printf(page, "<h2>Suspicions</h2>\n");
		print_missing(page, r->missing[LBX_SECTION_SUSPICIONS]);
		print_findings(page, &r->suspicions);
	}
	print_threads(context, page, r);
	if (!r->has_tensors) {
		lbx_printf(page, "<h2>Tensors</h2>\n<p>");
		lbx_escape(page, r->why);
		lbx_printf(page, "</p>\n");
		print_modules(context, page);
		lbx_printf(page, "</body>\n</html>\n");
		return true;
	}
	if (r->has_runtime || r->works.is_told)
		print_flights(context, page, r);
	lbx_printf(page, "<h2>NaN and Inf</h2>\n");
	print_missing(page, r->missing[LBX_SECTION_VALUES]);
	print_findings(page, &r->bad);
	print_cards(context, page, r);
	print_graph(context, page, r);
	print_memory(context, page, r);
	if (r->has_runtime)
		print_events(context, page);
	else
		print_unknown(page, r);
	print_modules(context, page);
	lbx_printf(page, "</body>\n</html>\n");
	return lb_ok();
}
