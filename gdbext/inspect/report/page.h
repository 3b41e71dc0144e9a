/* The page of a report: one file of well-formed XHTML that needs no script and no network, for screens of any width, light
 * and dark, paper, and readers that speak. */
#ifndef LBX_PAGE_H
#define LBX_PAGE_H

#include "inspect/report/report.h"

/* A section, and a place that links lead to. */
struct lbx_page_part {
	const char *id, *title;
	bool is_there;
};

/* All up to the first section: what the page is of, and links to those of the parts that are there; n of them. */
void lbx_page_begin(struct lbx_out *page, const char *title);
void lbx_page_links(struct lbx_out *page, const struct lbx_page_part *parts, int n);
void lbx_page_end(struct lbx_out *page);
void lbx_page_section(struct lbx_out *page, const struct lbx_page_part *part);
void lbx_page_end_section(struct lbx_out *page);
/* A paragraph with escaped text; `kind` is a class, or NULL. Nothing where there is no text. */
void lbx_page_paragraph(struct lbx_out *page, const char *kind, const char *text);
/* Why a section is not here, or not whole; false: it is. */
bool lbx_page_missing(struct lbx_out *page, const char *why);
/* What inspections write as text becomes the page's: escaped, with what they style as a warning marked. */
struct lbx_page_text {
	struct lbx_out out, *page;
	bool is_marked;
	size_t n;
	char style[16]; /* a sequence that has begun, of n bytes */
};
struct lbx_out *lbx_page_text(struct lbx_page_text *text, struct lbx_out *page);

/* A stack, of which the frames of libraries that everybody has are folded. */
void lbx_page_thread(struct lbx_context *context, struct lbx_out *page, const struct lbx_thread_view *view);
/* Lines of a source file around one, where it is here and no younger than the program; else nothing. */
void lbx_page_source(struct lbx_context *context, struct lbx_out *page, const struct lbx_source_line *line);

/* The tensors that are shown with their values: those of findings, those that the dead thread held, those with NaN. */
enum { LBX_CARDS = 24 };
struct lbx_cards {
	int n;
	struct lbx_tensor list[LBX_CARDS];
};
void lbx_cards_choose(struct lbx_context *context, const struct lbx_report *report, struct lbx_cards *ret);
/* A tensor's number, a link where it has a card. */
void lbx_page_tensor(struct lbx_out *page, const struct lbx_cards *cards, const struct lbx_key *key);
void lbx_page_cards(struct lbx_context *context, struct lbx_out *page, const struct lbx_cards *cards);

#endif
