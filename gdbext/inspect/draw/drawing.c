#include "inspect/draw/drawing.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "inspect/draw/base64.h"
#include "inspect/draw/png_file.h"
#include "inspect/draw/raster.h"
#include "inspect/graph/graph.h"
#include "inspect/tensor/format.h"
#include "target/printable.h"

enum {
	SIDE = 192,
	ZOOM = 8,
	MAX_NODES = 1 << 16,
	DRAWN = 120,
	BOX_WIDTH = 150,
	BOX_HEIGHT = 34,
	GAP_X = 16,
	GAP_Y = 30,
};

void lbx_escape(struct lbx_out *page, const char *text)
{
	while (*text) {
		int n = lbx_character(text);
		if (n == 0 || (n == 1 && (unsigned char)*text < ' ' && *text != '\n' && *text != '\t')) {
			lbx_printf(page, "?");
			n = 1;
		} else if (strchr("<>&\"", *text)) {
			lbx_printf(page, "&#%d;", *text);
		} else {
			page->write(page, text, (size_t)n);
		}
		text += n;
	}
}

static void write_base64(struct lbx_out *out, const unsigned char *from, size_t n)
{
	enum { PIECE = 768 };
	char text[LBX_BASE64_SIZE(PIECE)];

	for (size_t at = 0; at < n; at += PIECE) {
		size_t size = n - at < PIECE ? n - at : PIECE;
		lbx_base64(from + at, size, text);
		out->write(out, text, LBX_BASE64_SIZE(size));
	}
}

/* What `image` can draw: two axes, or three of which one may be channels. */
static struct lbx_array flatten(const struct lbx_array *array)
{
	struct lbx_array a = *array;

	while (a.rank < 2) {
		memmove(a.shape + 1, a.shape, (size_t)a.rank * sizeof *a.shape);
		memmove(a.strides + 1, a.strides, (size_t)a.rank * sizeof *a.strides);
		a.shape[0] = 1;
		a.strides[0] = 0;
		a.rank++;
	}
	bool first = a.rank > 2 && (a.shape[a.rank - 3] == 3 || a.shape[a.rank - 3] == 4);
	bool last = a.rank > 2 && (a.shape[a.rank - 1] == 3 || a.shape[a.rank - 1] == 4);
	int drop = a.rank - (first || last ? 3 : 2);
	for (int i = 0; i < drop; i++)
		a.size /= a.shape[i];
	a.rank -= drop;
	memmove(a.shape, a.shape + drop, (size_t)a.rank * sizeof *a.shape);
	memmove(a.strides, a.strides + drop, (size_t)a.rank * sizeof *a.strides);
	return a;
}

static bool write_picture(struct lbx_out *page, const struct lbx_raster *raster, const char *what, size_t *room)
{
	size_t n;
	lb_auto_free unsigned char *png = lbx_png_encode(raster, raster->low, raster->high, &n);

	if (!png)
		return false;
	if (LBX_BASE64_SIZE(n) > *room)
		return lb_fail("no picture: the others have taken the room that the page has for them");
	*room -= LBX_BASE64_SIZE(n);
	lbx_printf(page, "<img alt=\"%s of ", raster->channels == 1 ? "heat map" : "picture");
	lbx_escape(page, what);
	lbx_printf(page, "\" width=\"%d\" height=\"%d\" src=\"data:image/png;base64,", raster->width, raster->height);
	write_base64(page, png, n);
	lbx_printf(page, "\"/>");
	return true;
}

bool lbx_draw_picture(struct lbx_out *page, const struct lbx_array *array, const char *what, size_t *room, double *low,
		      double *high)
{
	struct lbx_array flat = flatten(array);
	struct lbx_raster raster;

	if (!lbx_raster_create(&flat, LBX_CHANNELS_GUESS, SIDE, SIDE, ZOOM, page, &raster))
		return false;
	bool done = write_picture(page, &raster, what, room);
	bool has_range = raster.channels == 1 && raster.finite;
	*low = has_range ? raster.low : NAN;
	*high = has_range ? raster.high : NAN;
	lbx_raster_deinit(&raster);
	return done;
}

void lbx_draw_histogram(struct lbx_out *page, const int64_t *counts, int n, double low, double high)
{
	enum { WIDTH = 192, HEIGHT = 48 };
	int64_t most = 1;

	for (int i = 0; i < n; i++)
		most = counts[i] > most ? counts[i] : most;
	lbx_printf(page,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		   "role=\"img\" aria-label=\"histogram\">",
		   WIDTH, HEIGHT + 14);
	for (int i = 0; i < n; i++) {
		double height = (double)counts[i] / (double)most * HEIGHT;
		/* a bar for whatever is there at all */
		height = counts[i] && height < 1 ? 1 : height;
		lbx_printf(page, "<rect x=\"%g\" y=\"%.4g\" width=\"%g\" height=\"%.4g\" fill=\"#3b528b\"/>",
			   i * (double)WIDTH / n, HEIGHT - height, (double)WIDTH / n - 1, height);
	}
	lbx_printf(page,
		   "<text x=\"0\" y=\"%d\">%.4g</text><text x=\"%d\" y=\"%d\" "
		   "text-anchor=\"end\">%.4g</text></svg>\n",
		   HEIGHT + 12, low, WIDTH, HEIGHT + 12, high);
}

struct box {
	int layer, column;
};

/* A node lies one layer above the highest of its inputs; of the graph, the nodes nearest to the
 * tensor that was asked for are drawn. */
static int lay_out(const struct lbx_graph *g, struct box *boxes, int *columns)
{
	int highest = 0, layers = 0, counts[DRAWN + 1] = { 0 };

	for (uint32_t i = 0; i < g->n_ordered; i++) {
		const struct lbx_graph_node *node = &g->nodes[g->order[i]];
		struct box *box = &boxes[g->order[i]];
		uint32_t n = node->is_leaf ? 0 : node->tensor.n_inputs;
		box->layer = 0;
		for (uint32_t k = 0; k < n; k++) {
			int below = boxes[g->inputs[node->first_input + k]].layer;
			box->layer = below + 1 > box->layer ? below + 1 : box->layer;
		}
		highest = box->layer > highest ? box->layer : highest;
	}
	*columns = 1;
	for (uint32_t i = g->n_ordered; i-- > 0;) {
		struct box *box = &boxes[g->order[i]];
		box->layer = highest - box->layer; /* from above */
		if (box->layer >= DRAWN || counts[box->layer] >= DRAWN) {
			box->column = -1;
			continue;
		}
		box->column = counts[box->layer]++;
		*columns = counts[box->layer] > *columns ? counts[box->layer] : *columns;
		layers = box->layer + 1 > layers ? box->layer + 1 : layers;
	}
	return layers;
}

/* What has no room in a box ends with an ellipsis. */
static void print_line(struct lbx_out *page, char *text)
{
	enum { ROOM = 22 };
	bool cut = strlen(text) > ROOM;

	if (cut)
		text[ROOM - 1] = '\0';
	lbx_escape(page, text);
	lbx_printf(page, "%s", cut ? "…" : "");
}

static void draw_box(struct lbx_out *page, const struct lbx_graph_node *node, int x, int y)
{
	const struct lbx_tensor *t = &node->tensor;
	char text[LB_NAME_MAX + LBX_LIST_MAX], shape[LBX_LIST_MAX];

	lbx_format_list(lbx_shape(t), t->rank, shape, sizeof shape);
	lbx_printf(page,
		   "<g><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" fill=\"%s\" "
		   "stroke=\"#888\"/>",
		   x, y, BOX_WIDTH, BOX_HEIGHT, node->is_leaf ? "#d9f2d9" : "#fff3cd");
	snprintf(text, sizeof text, "%s #%" PRIu64 " %s", t->op, t->id, t->name);
	lbx_printf(page, "<text x=\"%d\" y=\"%d\">", x + 5, y + 14);
	print_line(page, text);
	snprintf(text, sizeof text, "%s %s", lbx_tensor_dtype_name(t), shape);
	lbx_printf(page, "</text><text x=\"%d\" y=\"%d\">", x + 5, y + 28);
	print_line(page, text);
	lbx_printf(page, "</text></g>\n");
}

static void draw(struct lbx_out *page, const struct lbx_graph *g, const struct box *boxes, int layers, int columns)
{
	int drawn = 0, width = columns * (BOX_WIDTH + GAP_X), height = layers * (BOX_HEIGHT + GAP_Y);
#define X(box) ((box)->column * (BOX_WIDTH + GAP_X))
#define Y(box) ((box)->layer * (BOX_HEIGHT + GAP_Y))
	lbx_printf(page,
		   "<div class=\"graph\"><svg "
		   "xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" role=\"img\" "
		   "aria-label=\"graph\">\n",
		   width, height);
	for (uint32_t i = g->n_ordered; i-- > 0 && drawn < DRAWN;) {
		const struct lbx_graph_node *node = &g->nodes[g->order[i]];
		const struct box *box = &boxes[g->order[i]];
		uint32_t n = node->is_leaf ? 0 : node->tensor.n_inputs;
		if (box->column < 0)
			continue;
		for (uint32_t k = 0; k < n && k < DRAWN; k++) {
			const struct box *to = &boxes[g->inputs[node->first_input + k]];
			if (to->column >= 0)
				lbx_printf(page,
					   "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" "
					   "stroke=\"#888\"/>\n",
					   X(box) + BOX_WIDTH / 2, Y(box) + BOX_HEIGHT, X(to) + BOX_WIDTH / 2, Y(to));
		}
		draw_box(page, node, X(box), Y(box));
		drawn++;
	}
#undef X
#undef Y
	lbx_printf(page,
		   "</svg></div>\n<p class=\"dim\">%u operation%s and ready tensors, %d drawn; green "
		   "ones are ready.</p>\n",
		   g->n, LB_S(g->n), drawn);
}

bool lbx_draw_graph(struct lbx_context *context, struct lbx_out *page, const struct lbx_tensor *t)
{
	struct lbx_graph graph;
	int columns, layers;

	if (!lbx_graph_collect(context, t, MAX_NODES, &graph))
		return false;
	struct box *boxes = calloc(graph.n, sizeof *boxes);
	if (boxes) {
		layers = lay_out(&graph, boxes, &columns);
		draw(page, &graph, boxes, layers, columns);
	}
	free(boxes);
	lbx_graph_deinit(&graph);
	return boxes || lb_fail("out of memory");
}
