#include "inspect/report/page.h"

#include <stdio.h>
#include <string.h>

#include "inspect/draw/drawing.h"

/* Colours are of good contrast on either ground. What is folded is printed open. */
static const char style[] =
    ":root{color-scheme:light dark;--ground:#fff;--text:#1b1b1b;--dim:#5c5c5c;--line:#d0d0d0;--box:#f4f4f4;--bad:#a8001c;"
    "--warn:#7a4a00;--link:#0b57a4;--bar:#3b6ea8}\n"
    "@media(prefers-color-scheme:dark){:root{--ground:#161616;--text:#e6e6e6;--dim:#a3a3a3;--line:#444;--box:#222;"
    "--bad:#ff8a93;--warn:#ffc36b;--link:#86b9f5;--bar:#7ba6db}}\n"
    "*{box-sizing:border-box}\n"
    "body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:76em;padding:1em;background:var(--ground);"
    "color:var(--text)}\n"
    "h1{font-size:1.5em;margin:.2em 0;overflow-wrap:anywhere}h2{font-size:1.2em;margin:1.6em 0 .4em}\n"
    "pre,code{font:12.5px/1.5 ui-monospace,monospace}\n"
    "pre{background:var(--box);padding:.6em .8em;margin:.3em 0;overflow-x:auto;border-radius:4px}\n"
    "p,li,dd{overflow-wrap:anywhere}\n"
    "a{color:var(--link)}nav{margin:.8em 0}nav a{margin-right:1.1em;white-space:nowrap}\n"
    ".bad{color:var(--bad)}.warn{color:var(--warn)}.dim{color:var(--dim)}\n"
    ".died{font-size:1.1em;font-weight:600;margin:.3em 0}\n"
    "dl.who{display:grid;grid-template-columns:max-content 1fr;gap:.1em 1em;margin:.6em 0}dl.who dt{color:var(--dim)}"
    "dl.who dd{margin:0}\n"
    "details>summary{cursor:pointer}\n"
    ".finding{border-left:5px solid var(--line);background:var(--box);padding:.5em .9em;margin:.5em 0;border-radius:4px}\n"
    ".high{border-color:var(--bad)}.medium{border-color:var(--warn)}\n"
    ".finding p{margin:.35em 0}.grade{font-weight:600;margin-right:.5em}.high .grade{color:var(--bad)}"
    ".medium .grade{color:var(--warn)}\n"
    ".own{font-weight:600}mark{background:none;color:var(--bad);font-weight:600}\n"
    ".cards{display:flex;flex-wrap:wrap;gap:1em}\n"
    ".card{border:1px solid var(--line);border-radius:4px;padding:.7em;margin:0;width:20em;max-width:100%;"
    "overflow-wrap:anywhere}.card:target{outline:3px solid var(--link)}\n"
    "img{image-rendering:pixelated;max-width:100%;background:#fff}svg{max-width:100%}\n"
    "svg text{font:11px ui-monospace,monospace;fill:var(--text)}svg .box text,svg g text{fill:#1b1b1b}\n"
    ".graph{overflow:auto;max-height:60em}.wide{overflow-x:auto}table{border-collapse:collapse}caption{text-align:left;color:var(--dim)}\n"
    "td,th{padding:.15em .9em .15em 0;text-align:left;vertical-align:top}td.n,th.n{text-align:right}\n"
    ".bar{display:inline-block;height:.7em;background:var(--bar);min-width:1px}\n"
    "@media print{body{max-width:none;font-size:11px}nav{display:none}pre{white-space:pre-wrap;overflow:visible}"
    ".wide,.graph{overflow:visible;max-height:none}.finding,.card{break-inside:avoid}"
    "details::details-content{content-visibility:visible;block-size:auto}}\n";

void lbx_page_begin(struct lbx_out *page, const char *title)
{
	lbx_printf(page, "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
			 "<meta charset=\"utf-8\"/>\n"
			 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>");
	lbx_escape(page, title);
	lbx_printf(page, "</title>\n<style>\n");
	page->write(page, style, sizeof style - 1);
	lbx_printf(page, "</style>\n</head>\n<body>\n<main>\n");
}

void lbx_page_links(struct lbx_out *page, const struct lbx_page_part *parts, int n)
{
	lbx_printf(page, "<nav aria-label=\"Sections\">");
	for (int i = 0; i < n; i++)
		if (parts[i].is_there)
			lbx_printf(page, "<a href=\"#%s\">%s</a> ", parts[i].id, parts[i].title);
	lbx_printf(page, "</nav>\n");
}

void lbx_page_end(struct lbx_out *page)
{
	lbx_printf(page, "</main>\n</body>\n</html>\n");
}

void lbx_page_section(struct lbx_out *page, const struct lbx_page_part *part)
{
	lbx_printf(page, "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>\n", part->id, part->id, part->title);
}

void lbx_page_end_section(struct lbx_out *page)
{
	lbx_printf(page, "</section>\n");
}

void lbx_page_paragraph(struct lbx_out *page, const char *kind, const char *text)
{
	if (!text || !*text)
		return;
	lbx_printf(page, kind ? "<p class=\"%s\">" : "<p>", kind);
	lbx_escape(page, text);
	lbx_printf(page, "</p>\n");
}

bool lbx_page_missing(struct lbx_out *page, const char *why)
{
	char text[LBX_WHY_MAX + 16];

	snprintf(text, sizeof text, "not known: %s", why);
	lbx_page_paragraph(page, "bad", *why ? text : NULL);
	return *why;
}

static void write_plain(struct lbx_out *page, const char *text, size_t n)
{
	char piece[256];

	/* in pieces, none of which ends within a character */
	for (size_t done = 0, some; done < n; done += some) {
		some = n - done < sizeof piece - 1 ? n - done : sizeof piece - 1;
		while (done + some < n && some > 4 && (text[done + some] & 0xc0) == 0x80)
			some--;
		memcpy(piece, text + done, some);
		piece[some] = '\0';
		lbx_escape(page, piece);
	}
}

/* A sequence of a terminal's, "\033[31m": a warning is marked until the next one, other styles are left out. */
static void write_style(struct lbx_page_text *to)
{
	bool is_warning = strcmp(to->style, "\033[31m") == 0;

	if (to->is_marked)
		lbx_printf(to->page, "</mark>");
	if (is_warning)
		lbx_printf(to->page, "<mark>");
	to->is_marked = is_warning;
	to->n = 0;
}

static void write_text(struct lbx_out *out, const char *text, size_t n)
{
	struct lbx_page_text *to = out->context;
	size_t from = 0;

	for (size_t i = 0; i < n; i++) {
		if (to->n == 0 && text[i] != '\033')
			continue;
		if (to->n == 0)
			write_plain(to->page, text + from, i - from);
		if (to->n < sizeof to->style - 1)
			to->style[to->n++] = text[i];
		to->style[to->n] = '\0';
		from = i + 1;
		if (text[i] == 'm')
			write_style(to);
	}
	if (n > from)
		write_plain(to->page, text + from, n - from);
}

struct lbx_out *lbx_page_text(struct lbx_page_text *text, struct lbx_out *page)
{
	*text = (struct lbx_page_text){ .page = page };
	text->out = (struct lbx_out){ .colour = true, .whole_lines = true, .context = text, .write = write_text };
	return &text->out;
}
