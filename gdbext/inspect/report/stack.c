/* A stack on a page. Frames of the C library, of C++'s and of the runtime are told by their number, and can be unfolded:
 * what one looks for is the program's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "inspect/draw/drawing.h"
#include "inspect/report/page.h"
#include "inspect/operand/python_stack.h"

enum { AROUND = 3 /* lines, before and after */, LINE = 400, FILE_MAX = 16 << 20 };

/* Whether a file was not changed since the program was made. */
static bool is_as_built(struct lbx_context *context, const struct stat *file)
{
	struct lbx_module m;
	struct stat about;

	for (size_t i = 0; lbx_target_module(context->target, i, &m); i++)
		if (m.is_program)
			return m.verdict == LBX_MODULE_SAME && m.file && stat(m.file, &about) == 0 &&
			       (file->st_mtim.tv_sec < about.st_mtim.tv_sec ||
				(file->st_mtim.tv_sec == about.st_mtim.tv_sec &&
				 file->st_mtim.tv_nsec <= about.st_mtim.tv_nsec));
	return false;
}

void lbx_page_source(struct lbx_context *context, struct lbx_out *page, const struct lbx_source_line *line)
{
	char text[LINE];
	struct stat about;
	FILE *f;

	/* what is not a file's path, or has been changed since, would be wrong to show */
	if (line->file[0] != '/' || line->line <= 0 || stat(line->file, &about) != 0 || !S_ISREG(about.st_mode) ||
	    about.st_size > FILE_MAX || !is_as_built(context, &about) || !(f = fopen(line->file, "r")))
		return;
	bool is_open = false;
	for (int i = 1; i <= line->line + AROUND && fgets(text, sizeof text, f);) {
		size_t n = strcspn(text, "\n");
		bool whole = text[n] == '\n' || feof(f);
		text[n] = '\0';
		if (i >= line->line - AROUND) {
			lbx_printf(page, "%s%s%5d  ", is_open ? "" : "<pre aria-label=\"source\">",
				   i == line->line ? "<mark>" : "", i);
			lbx_escape(page, text);
			lbx_printf(page, "%s\n", i == line->line ? "</mark>" : "");
			is_open = true;
		}
		while (!whole && fgets(text, sizeof text, f))
			whole = strchr(text, '\n') || feof(f);
		i++;
	}
	lbx_printf(page, "%s", is_open ? "</pre>\n" : "");
	fclose(f);
}

/* Frames first … end-1, as text. */
static void print_frames(struct lbx_context *context, struct lbx_out *page, const struct lbx_thread_view *view,
			 int first, int end)
{
	char text[1024];
	int times;

	lbx_printf(page, "<pre>");
	for (int i = first; i < end;) {
		int period = lbx_thread_view_fold(view, i, &times), n = period ? period * times : 1;
		if (lbx_describe_left_out(view, i, text, sizeof text))
			lbx_printf(context->out, "  %s\n", text);
		for (int k = 0; k < (period ? period : 1); k++)
			lbx_tell_frame(context, &view->frames[i + k], false);
		if (period) {
			lbx_describe_fold(period, times, text, sizeof text);
			lbx_printf(context->out, "  %s\n", text);
		}
		i += n;
	}
	lbx_printf(page, "</pre>\n");
}

static void print_folded(struct lbx_context *context, struct lbx_out *page, const struct lbx_thread_view *view)
{
	for (int i = 0, end; i < view->n; i = end) {
		bool folded = lbx_is_common_frame(context, &view->frames[i]);
		for (end = i + 1; end < view->n && lbx_is_common_frame(context, &view->frames[end]) == folded; end++)
			;
		if (folded && end - i > 1)
			lbx_printf(page, "<details><summary class=\"dim\">%d frames of libraries</summary>\n", end - i);
		print_frames(context, page, view, i, end);
		if (folded && end - i > 1)
			lbx_printf(page, "</details>\n");
	}
}

void lbx_page_thread(struct lbx_context *context, struct lbx_out *page, const struct lbx_thread_view *view)
{
	struct lbx_out *before = context->out;
	struct lbx_page_text text;
	char run[1024];
	const char *why;

	context->out = lbx_page_text(&text, page);
	if (lbx_context_python(context, &why)) { /* its functions stand among those of C */
		lbx_printf(page, "<pre>");
		lbx_tell_thread(context, view);
		lbx_printf(page, "</pre>\n");
	} else {
		lb_clear_error();
		lbx_describe_run(context, &view->runs, run, sizeof run);
		lbx_printf(page, "<h3>thread %llu%s", (unsigned long long)view->tid, *run ? ", " : "");
		lbx_escape(page, run);
		lbx_printf(page, "</h3>\n");
		print_folded(context, page, view);
		lbx_page_paragraph(page, "dim", view->cut ? "… and maybe more" : NULL);
		lbx_page_paragraph(page, "bad", view->end);
	}
	context->out = before;
}
