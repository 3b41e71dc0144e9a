#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "inspect/draw/drawing.h"
#include "inspect/forensics/death.h"
#include "inspect/report/parts.h"
#include "inspect/tensor/format.h"
#include "target/printable.h"

static void print_fact(struct lbx_out *page, const char *name, const char *text)
{
	if (!text || !*text)
		return;
	lbx_printf(page, "<dt>%s</dt><dd>", name);
	lbx_escape(page, text);
	lbx_printf(page, "</dd>\n");
}

static void print_program(struct lbx_writer *w)
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
static void print_core(struct lbx_writer *w)
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

static void print_identity(struct lbx_writer *w)
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

void lbx_part_head(struct lbx_writer *w)
{
	const struct lbx_report *r = w->r;
	const struct lbx_frame_view *own = r->n_threads ? lbx_thread_view_own(w->context, &r->threads[0]) : NULL;
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
