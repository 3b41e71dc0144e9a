/* A tensor of blocks is walked over as bytes, block by block. What a block's bytes are for is known where its decoder
 * is (kernels/anatomy.h). All scales are looked at; codes are counted in a sample of the blocks when there are many. */
#include "inspect/show/quant_blocks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/convenience.h"
#include "inspect/findings.h"
#include "inspect/operand/value.h"
#include "inspect/show/quant_figure.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/json.h"
#include "kernels/anatomy.h"

enum {
	BLOCKS = LBX_QUANT_PIECE / LB_BLOCK_GROUPS, /* looked at together */
	CODED_MAX = 1 << 16,                        /* blocks whose codes are counted */
	CODES = 256, /* of a sample: from -128 to 127 units */
	BINS = 16,
	FIELD = 17
};

/* What is told of each block, or of each of its groups. */
enum { SCALES, MINIMUMS, BLOCK_SCALES, BLOCK_MINIMUMS, GROUP_SCALES, GROUP_MINIMUMS, FIGURES };
static const struct {
	const char *title, *key;
	bool is_of_block;
} figures[FIGURES] = {
	[SCALES] = { "scales", "scale_values", false },
	[MINIMUMS] = { "minimums", "minimum_values", false },
	[BLOCK_SCALES] = { "block scales", "block_scales", true },
	[BLOCK_MINIMUMS] = { "block minimums", "block_minimums", true },
	[GROUP_SCALES] = { "group scales", "group_scales", false },
	[GROUP_MINIMUMS] = { "group minimums", "group_minimums", false },
};

struct blocks {
	const struct lbx_tensor *tensor;
	const struct lbx_encoding *encoding;
	const struct lb_block_form *form;
	struct lbx_array bytes; /* of which the last axis goes along the blocks */
	int axes[LBX_ARRAY_RANK]; /* which of the tensor's each is */
	int64_t n;
	bool has[FIGURES], again[FIGURES];
	struct lbx_quant_figure figures[FIGURES];
	float *values[FIGURES];
	int64_t step, coded, codes[CODES], n_codes; /* one block of each `step` */
	bool is_second;
};

bool lbx_quant_is_blocks(const struct lbx_tensor *t)
{
	return t->encoding && t->encoding->decode && lb_block_form(t->encoding->kernel);
}

/* ---- bytes ---- */

static bool whole(int64_t elements, const struct lbx_encoding *e, int64_t *ret)
{
	return elements % e->elements == 0 && lb_mul(elements / e->elements, e->bytes, ret);
}

/* The axis along which blocks lie: the last one, but in what has been permuted. */
static int axis_of_blocks(const struct lbx_array *a, const struct lbx_encoding *e)
{
	for (int i = a->rank - 1; i >= 0; i--)
		if (a->strides[i] == 1 && a->shape[i] % e->elements == 0)
			return i;
	return -1;
}

static bool take_bytes(struct blocks *b, const struct lbx_array *a)
{
	const struct lbx_encoding *e = b->encoding;
	int axis = axis_of_blocks(a, e), n = 0;
	bool ok = axis >= 0;

	b->bytes = *a;
	b->bytes.dtype = LB_U8;
	b->bytes.encoding = e->as_bytes;
	ok = ok && whole(a->offset, e, &b->bytes.offset);
	for (int i = 0; i < a->rank && ok; i++) {
		int to = i == axis ? a->rank - 1 : n++;
		b->axes[to] = i;
		b->bytes.shape[to] = a->shape[i];
		b->bytes.strides[to] = 0;
		if (i != axis && a->shape[i] == 1)
			continue;
		ok = whole(i == axis ? a->shape[i] : a->strides[i], e,
			   i == axis ? &b->bytes.shape[to] : &b->bytes.strides[to]);
	}
	if (!ok)
		return lb_fail("its blocks of %d elements do not lie whole along an axis", e->elements);
	b->bytes.strides[a->rank - 1] = 1;
	b->n = a->size / e->elements;
	return lb_mul(b->n, e->bytes, &b->bytes.size) || lb_fail("its blocks are too many");
}

/* Where the first element of the k-th of a block's groups is, of all groups the i-th. */
static void place_of(const struct blocks *b, int64_t i, int groups, char *ret, size_t size)
{
	int64_t shape[LBX_ARRAY_RANK], at[LBX_ARRAY_RANK], of_tensor[LBX_ARRAY_RANK];
	int rank = b->bytes.rank, each = b->encoding->elements / groups;

	memcpy(shape, b->bytes.shape, (size_t)rank * sizeof *shape);
	shape[rank - 1] = shape[rank - 1] / b->encoding->bytes * groups;
	lbx_coordinates(rank, shape, i, at);
	at[rank - 1] *= each;
	for (int k = 0; k < rank; k++)
		of_tensor[b->axes[k]] = at[k];
	lbx_format_place(of_tensor, rank, ret, size);
}

static void place_of_block(const void *context, int64_t i, char *ret, size_t size)
{
	place_of(context, i, 1, ret, size);
}

static void place_of_group(const void *context, int64_t i, char *ret, size_t size)
{
	const struct blocks *b = context;
	place_of(b, i, b->form->groups, ret, size);
}

/* ---- looking ---- */

static int per_block(const struct blocks *b, int figure)
{
	return figures[figure].is_of_block ? 1 : b->form->groups;
}

static void choose(struct blocks *b)
{
	bool minimums = b->form->minimum_at >= 0, groups = b->form->groups > 1;
	bool two = groups && b->form->scale != LB_SCALE_NONE;

	b->has[SCALES] = true;
	b->has[MINIMUMS] = minimums;
	b->has[BLOCK_SCALES] = b->has[GROUP_SCALES] = two;
	b->has[BLOCK_MINIMUMS] = b->has[GROUP_MINIMUMS] = two && minimums;
}

/* A format's own: a scale that is a product has more digits. */
static enum lb_dtype format_of(const struct blocks *b, int figure)
{
	bool is_stored = figures[figure].is_of_block || (b->form->groups == 1 && figure <= MINIMUMS);

	if (!is_stored)
		return LB_U8;
	return b->form->scale == LB_SCALE_F16 || b->form->scale == LB_SCALE_F16_QUARTERS ? LB_F16
	       : b->form->scale == LB_SCALE_F32                                          ? LB_F32
											 : LB_U8;
}

static bool begin(struct blocks *b)
{
	choose(b);
	b->step = b->n / CODED_MAX + 1;
	for (int i = 0; i < FIGURES; i++) {
		if (!b->has[i])
			continue;
		b->values[i] = malloc(LBX_QUANT_PIECE * sizeof *b->values[i]);
		if (!b->values[i])
			return lb_fail("out of memory");
		if (!lbx_quant_figure_init(&b->figures[i], format_of(b, i), b->n * per_block(b, i)))
			return false;
	}
	return true;
}

static void end(struct blocks *b)
{
	for (int i = 0; i < FIGURES; i++) {
		lbx_quant_figure_deinit(&b->figures[i]);
		free(b->values[i]);
	}
}

static void count_codes(struct blocks *b, const void *block, const struct lb_block_scales *s)
{
	int16_t codes[LB_BLOCK_ELEMENTS];
	int each = b->encoding->elements / b->form->groups;

	lb_block_codes(b->encoding->kernel, block, s, codes);
	for (int i = 0; i < b->encoding->elements; i++) {
		if (s->scales[i / each] == 0)
			continue;
		b->codes[(codes[i] + CODES / 2) & (CODES - 1)]++;
		b->n_codes++;
	}
	b->coded++;
}

/* The i-th of a piece. */
static void take_scales(struct blocks *b, int64_t i, const struct lb_block_scales *s)
{
	int groups = b->form->groups;
	float *const *v = b->values;

	for (int k = 0; k < groups; k++) {
		int64_t at = i * groups + k;
		v[SCALES][at] = s->scale * s->scales[k];
		if (b->has[MINIMUMS])
			v[MINIMUMS][at] = s->minimum * s->minimums[k];
		if (b->has[GROUP_SCALES])
			v[GROUP_SCALES][at] = s->scales[k];
		if (b->has[GROUP_MINIMUMS])
			v[GROUP_MINIMUMS][at] = s->minimums[k];
	}
	if (b->has[BLOCK_SCALES])
		v[BLOCK_SCALES][i] = s->scale;
	if (b->has[BLOCK_MINIMUMS])
		v[BLOCK_MINIMUMS][i] = s->minimum;
}

static bool look_at_piece(void *context, const void *bytes, int64_t n, int64_t first)
{
	struct blocks *b = context;
	struct lb_block_scales s;

	n /= b->encoding->bytes;
	first /= b->encoding->bytes;
	for (int64_t i = 0; i < n; i++) {
		const uint8_t *block = (const uint8_t *)bytes + i * b->encoding->bytes;
		lb_block_scales(b->encoding->kernel, block, &s);
		take_scales(b, i, &s);
		if (!b->is_second && (first + i) % b->step == 0)
			count_codes(b, block, &s);
	}
	for (int k = 0; k < FIGURES; k++) {
		int each = per_block(b, k);
		if (b->has[k] && !b->is_second)
			lbx_quant_figure_add(&b->figures[k], b->values[k], n * each, first * each);
		else if (b->has[k] && b->again[k])
			lbx_quant_figure_compare(&b->figures[k], b->values[k], n * each, first * each);
	}
	return true;
}

static bool walk(struct blocks *b, struct lbx_out *out)
{
	return lbx_array_walk(&b->bytes, out, "looking at scales", (int64_t)BLOCKS * b->encoding->bytes, look_at_piece,
			      b);
}

static bool look(struct blocks *b, struct lbx_out *out)
{
	if (!begin(b) || !walk(b, out))
		return false;
	for (int i = 0; i < FIGURES; i++) {
		bool again = false;
		if (b->has[i] && !lbx_quant_figure_settle(&b->figures[i], &again))
			return false;
		b->again[i] = again;
		b->is_second |= again;
	}
	return !b->is_second || walk(b, out);
}

/* ---- telling ---- */

static void code_range(const struct blocks *b, int *ret_low, int *ret_high)
{
	*ret_low = 0;
	*ret_high = CODES - 1;
	while (*ret_low < *ret_high && b->codes[*ret_low] == 0)
		++*ret_low;
	while (*ret_high > *ret_low && b->codes[*ret_high] == 0)
		--*ret_high;
}

static double code_value(const struct blocks *b, int i)
{
	return (double)(i - CODES / 2) / b->form->unit;
}

static double percent(const struct blocks *b, int64_t n)
{
	return 100 * (double)n / (double)b->n_codes;
}

static void bar(struct lbx_out *out, const struct blocks *b, const char *name, double code, int64_t n, int64_t most)
{
	static const char bars[] = "############################################################";
	int room = out->width - 40, length;

	room = room<10 ? 10 : room>(int) sizeof bars - 1 ? (int)sizeof bars - 1 : room;
	length = (int)((double)n / (double)most * room + 0.5);
	length += length == 0 && n;
	lbx_field(out, name, FIELD);
	lbx_printf(out, "%8.6g %.*s %.3g%%\n", code, length, bars, percent(b, n));
}

/* Each code that occurs; or, where there are many, all from the lowest to the highest, in parts. */
static void tell_histogram(struct lbx_out *out, const struct blocks *b, int low, int high, int different)
{
	int64_t most = 1, bins[BINS] = { 0 };
	int width = (high - low) / BINS + 1;
	bool first = true;

	for (int i = low; i <= high; i++) {
		bins[(i - low) / width] += b->codes[i];
		most = different <= BINS && b->codes[i] > most ? b->codes[i] : most;
	}
	for (int i = 0; i < BINS && different > BINS; i++)
		most = bins[i] > most ? bins[i] : most;
	for (int i = low; i <= high; i++) {
		bool is_shown = different <= BINS ? b->codes[i] > 0 : (i - low) % width == 0;
		if (!is_shown)
			continue;
		bar(out, b, first ? "histogram" : "", code_value(b, i),
		    different <= BINS ? b->codes[i] : bins[(i - low) / width], most);
		first = false;
	}
}

static json_t *json_codes(const struct blocks *b, int low, int high)
{
	if (b->n_codes == 0)
		return json_null();
	return json_pack("{s:o,s:o,s:o,s:o}", "low", lbx_json_double(code_value(b, low)), "high",
			 lbx_json_double(code_value(b, high)), "counts", lbx_json_list(b->codes + low, high - low + 1),
			 "sampled", b->step > 1 ? json_integer(b->coded) : json_false());
}

static void tell_codes(struct lbx_out *out, const struct blocks *b)
{
	int low, high, different = 0;

	code_range(b, &low, &high);
	for (int i = low; i <= high; i++)
		different += b->codes[i] > 0;
	LBX_KEY(out, "codes", json_codes(b, low, high));
	lbx_field(out, "codes", FIELD);
	lbx_printf(out, "%s", b->form->codes);
	if (b->n_codes) {
		lbx_printf(out, ": %d different, from %g (%.3g%%) to %g (%.3g%%)", different, code_value(b, low),
			   percent(b, b->codes[low]), code_value(b, high), percent(b, b->codes[high]));
		if (b->step > 1)
			lbx_printf(out, ", in a sample of %lld block%s", (long long)b->coded, LB_S(b->coded));
	}
	lbx_printf(out, "\n");
	if (b->n_codes)
		tell_histogram(out, b, low, high, different);
}

static void tell_format(struct lbx_out *out, const struct blocks *b)
{
	const struct lbx_tensor *t = b->tensor;
	const struct lbx_encoding *e = b->encoding;
	int64_t nbytes = lbx_tensor_nbytes(t);

	lbx_field(out, "blocks", FIELD);
	lbx_tell(out, "of %pF elements in %pF bytes", LBX_INT("block_elements", e->elements),
		 LBX_INT("block_bytes", e->bytes));
	if (b->form->groups > 1)
		lbx_printf(out, ", in %d groups of %d", b->form->groups, e->elements / b->form->groups);
	LBX_KEY(out, "groups", json_integer(b->form->groups));
	lbx_printf(out, "\n");
	lbx_field(out, "values", FIELD);
	lbx_tell(out, "%pF, in %pF: %pF bits each\n", LBX_LIST("shape", lbx_shape(t), t->rank),
		 LBX_SIZE("nbytes", nbytes), LBX_REAL("bits", "%g", 8.0 * e->bytes / e->elements));
}

/* "of 6 bits, from 1 to 63 …" needs the width of what is stored; products have none. */
static int stored_bits(const struct blocks *b, int figure)
{
	if (figure == GROUP_SCALES)
		return b->form->scale_bits;
	return figure == GROUP_MINIMUMS ? b->form->minimum_bits : 0;
}

static void tell_figures(struct lbx_out *out, const struct blocks *b)
{
	char lead[64], bits[32];

	for (int i = 0; i < FIGURES; i++) {
		if (!b->has[i]) {
			LBX_KEY(out, figures[i].key, json_null());
			continue;
		}
		bits[0] = '\0';
		if (stored_bits(b, i))
			snprintf(bits, sizeof bits, "%d bits, ", stored_bits(b, i));
		snprintf(lead, sizeof lead, "  %-*s%s", FIELD - 2, figures[i].title, bits);
		lbx_quant_figure_tell(out, lead, figures[i].key, &b->figures[i],
				      figures[i].is_of_block ? place_of_block : place_of_group, b);
	}
}

/* What no quantisation makes. */
static bool find_problems(const struct blocks *b, struct lbx_findings *ret)
{
	bool ok = true;

	for (int i = 0; i < FIGURES && ok; i++) {
		const struct lbx_summary *s = &b->figures[i].summary;
		int64_t n = s->special[LBX_NAN] + s->special[LBX_POSITIVE_INF];
		bool is_product = i <= MINIMUMS && b->form->groups > 1 && b->form->scale != LB_SCALE_NONE;
		if (b->has[i] && n && !is_product)
			ok = lbx_findings_add(
			    ret, figures[i].key, b->tensor->id, 0,
			    "%lld of the %s %s no finite number%s: all elements of such a %s are NaN or Inf",
			    (long long)n, figures[i].title, LB_PLURAL(n, "is", "are"), LB_S(n),
			    per_block(b, i) == 1 ? "block" : "group");
	}
	return ok;
}

static bool tell(struct lbx_out *out, const struct blocks *b, const char *note)
{
	struct lbx_findings problems = { .n = 0 };
	char label[LBX_DESCRIPTION_MAX];
	bool ok = find_problems(b, &problems);

	lbx_begin(out, NULL);
	lbx_describe(b->tensor, label, sizeof label);
	lbx_wrap(out, 0, 4);
	lbx_styled(out, LBX_NAME, "%s", label);
	lbx_tell(out, ": %pF%s%s\n", LBX_TEXT("mode", b->encoding->name), note[0] ? ", " : "", note);
	LBX_KEY(out, "words", lbx_json_tensor(b->tensor));
	tell_format(out, b);
	tell_figures(out, b);
	lbx_findings_tell(out, "problems", &problems);
	tell_codes(out, b);
	lbx_end(out);
	lbx_set_int(out, "tensor_count", problems.n);
	lbx_findings_deinit(&problems);
	return ok && lb_ok();
}

bool lbx_quant_tell_blocks(struct lbx_context *context, const struct lbx_selection *selection)
{
	struct blocks b = { .tensor = &selection->tensor, .encoding = selection->tensor.encoding };
	struct lbx_array array;
	char note[LBX_NOTE_MAX] = "";

	b.form = lb_block_form(b.encoding->kernel);
	if (!lbx_value_of(context, selection, &array))
		return false;
	lbx_value_note(b.tensor, note);
	bool ok = take_bytes(&b, &array) && look(&b, context->out) && tell(context->out, &b, note);
	end(&b);
	return ok;
}
