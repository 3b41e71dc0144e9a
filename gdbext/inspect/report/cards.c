#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "inspect/draw/drawing.h"
#include "inspect/report/page.h"
#include "inspect/measure/quantile.h"
#include "inspect/operand/value.h"
#include "inspect/tensor/describe.h"

enum {
	PICTURES_MOST = 1 << 20 /* bytes of the page, of which there may be twice as many */,
	BINS = 32,
	PIECE = 1 << 16,
	SAMPLED = 1 << 20,
	LABEL = LBX_DESCRIPTION_MAX
};

struct values {
	struct lbx_summary summary;
	struct lbx_sample sample;
};

static int find(const struct lbx_cards *cards, const struct lbx_key *key)
{
	for (int i = 0; i < cards->n; i++)
		if (cards->list[i].of == key->of && cards->list[i].id == key->id)
			return i;
	return -1;
}

static void choose(struct lbx_context *context, struct lbx_cards *cards, const struct lbx_tensor *t)
{
	struct lbx_key key = lbx_tensor_key(t);
	struct lbx_array array;

	if (cards->n < LBX_CARDS && t->of && find(cards, &key) < 0 && t->state == LBX_READY && t->size > 1 &&
	    lbx_array_of_tensor(context->target, t, &array))
		cards->list[cards->n++] = *t;
	lb_clear_error();
}

static void choose_key(struct lbx_context *context, struct lbx_cards *cards, const struct lbx_key *key)
{
	struct lbx_tensor t;

	if (lbx_tensor_by_key(key, &t))
		choose(context, cards, &t);
	lb_clear_error();
}

void lbx_cards_choose(struct lbx_context *context, const struct lbx_report *r, struct lbx_cards *ret)
{
	const struct lbx_diagnosis *d = &r->diagnosis;

	ret->n = 0;
	for (size_t i = 0; i < d->n; i++)
		for (int k = 0; d->list[i].severity > LBX_LOW && k < d->list[i].n_tensors; k++)
			choose_key(context, ret, &d->list[i].tensors[k]);
	for (int k = 0; r->n_threads && k < r->threads[0].n; k++)
		for (int h = 0; h < r->threads[0].frames[k].n_held; h++)
			choose(context, ret, &r->threads[0].frames[k].held[h].place.tensor);
	for (int i = 0; i < d->bad.n; i++)
		choose_key(context, ret, &d->bad.list[i].key);
}

void lbx_page_tensor(struct lbx_out *page, const struct lbx_cards *cards, const struct lbx_key *key)
{
	char number[LBX_ID_TEXT_MAX];
	struct lbx_tensor t;
	int i = find(cards, key);

	if (!lbx_tensor_by_key(key, &t)) {
		lb_clear_error();
		return;
	}
	lbx_tensor_id_text(&t, number);
	if (i >= 0)
		lbx_printf(page, "<a href=\"#tensor-%d\">", i + 1);
	lbx_escape(page, *t.name ? t.name : number);
	lbx_printf(page, i >= 0 ? "</a> " : " ");
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

static void print_picture(struct lbx_out *page, const struct lbx_array *array, const char *what, size_t *room)
{
	double low, high;

	if (lbx_draw_picture(page, array, what, room, &low, &high)) {
		if (!isnan(low))
			lbx_printf(page, "<div class=\"dim\">dark %.5g, light %.5g%s</div>", low, high,
				   array->dtype >= LB_F16 ? ", magenta NaN or Inf" : "");
		return;
	}
	lbx_printf(page, "<span class=\"dim\">");
	lbx_escape(page, lb_error_message());
	lbx_printf(page, "</span>");
	lb_clear_error();
}

static void print_card(struct lbx_context *context, struct lbx_out *page, const struct lbx_tensor *t, int number,
		       size_t *room)
{
	struct lbx_array array;
	char label[LABEL], where[512];

	if (!lbx_array_of_tensor(context->target, t, &array))
		return;
	lbx_describe(t, label, sizeof label);
	lbx_describe_pc(context->target, t->site, where, sizeof where);
	lbx_printf(page, "<figure class=\"card\" id=\"tensor-%d\"><figcaption><b>", number);
	lbx_escape(page, label);
	lbx_printf(page, "</b>%s<br/><span class=\"dim\">%s in ", lbx_part_note(array.dtype), t->op);
	lbx_escape(page, where);
	lbx_printf(page, "</span></figcaption>\n");
	print_picture(page, &array, label, room);
	print_values(context, page, &array);
	lbx_printf(page, "</figure>\n");
}

void lbx_page_cards(struct lbx_context *context, struct lbx_out *page, const struct lbx_cards *cards)
{
	size_t room = PICTURES_MOST;

	lbx_printf(page, "<div class=\"cards\">\n");
	for (int i = 0; i < cards->n; i++) {
		print_card(context, page, &cards->list[i], i + 1, &room);
		lb_clear_error();
	}
	lbx_printf(page, "</div>\n");
}
