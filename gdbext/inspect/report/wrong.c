#include <stdio.h>

#include "inspect/diagnose/rule.h"
#include "inspect/draw/drawing.h"
#include "inspect/report/parts.h"

static void print_line(struct lbx_out *page, const char *name, const char *text)
{
	if (!*text)
		return;
	lbx_printf(page, "<p><span class=\"dim\">%s</span> ", name);
	lbx_escape(page, text);
	lbx_printf(page, "</p>\n");
}

static void print_finding(struct lbx_writer *w, const struct lbx_diagnosed *f)
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

void lbx_part_wrong(struct lbx_writer *w)
{
	const struct lbx_diagnosis *d = &w->r->diagnosis;
	char text[2048] = "";

	if (lbx_page_missing(w->page, w->r->missing[LBX_SECTION_DIAGNOSIS]))
		return;
	for (size_t i = 0; i < d->n; i++)
		print_finding(w, &d->list[i]);
	lbx_describe_diagnosis(d, text, sizeof text);
	lbx_page_paragraph(w->page, "dim", text);
	lbx_describe_unchecked(d, text, sizeof text);
	lbx_page_paragraph(w->page, "dim", text);
}
