/* Pieces of a page: escaped text, and drawings as inline SVG. */
#ifndef LBX_DRAWING_H
#define LBX_DRAWING_H

#include "inspect/command.h"
#include "inspect/tensor/array.h"

/* Text as HTML and XML want it; what is no UTF-8 becomes '?'. */
void lbx_escape(struct lbx_out *page, const char *text);
/* A small picture, as `image` draws it, of the last axes (the first of the others), which is said to be of `what`; its
 * range is stored when it is a heat map, else NaN. Fails where it is larger than the `room` that there is, of which it
 * takes what it needs: bytes of the page. */
bool lbx_draw_picture(struct lbx_out *page, const struct lbx_array *array, const char *what, size_t *room, double *low,
		      double *high);
void lbx_draw_histogram(struct lbx_out *page, const int64_t *counts, int n, double low, double high);
/* The graph behind a tensor down to the ready ones, by layers; a large one is cut. */
bool lbx_draw_graph(struct lbx_context *context, struct lbx_out *page, const struct lbx_tensor *t);

#endif
