#include "inspect/show/quant_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum { OFTEN = 1 << 13, STEM = LB_NAME_MAX + 1 };

const struct lbx_quant_mode lbx_quant_modes[LBX_QUANT_MODES] = {
	[LB_QUANT_AFFINE] = { "affine", 4, 64, 2, true },
	[LB_QUANT_MXFP4] = { "mxfp4", 4, 32, 1, false },
	[LB_QUANT_MXFP8] = { "mxfp8", 8, 32, 1, false },
	[LB_QUANT_NVFP4] = { "nvfp4", 4, 16, 1, false },
};

const char *const lbx_quant_part_names[LBX_QUANT_PARTS] = { "words", "scales", "biases", "global scale" };

/* ---- the format ---- */

/* Bits of a word's row that one scale is for: bits times group; 0: they do not fit. */
static int64_t bits_a_scale(const struct lbx_tensor *w, const struct lbx_tensor *scales)
{
	int64_t bits, last = w->rank ? lbx_shape(w)[w->rank - 1] : 0;
	int64_t n = scales->rank ? lbx_shape(scales)[scales->rank - 1] : 0;

	return n > 0 && lb_mul(last, 32, &bits) && bits % n == 0 ? bits / n : 0;
}

bool lbx_quant_guess(struct lbx_quant_parts *p)
{
	static const int bits[] = { 4, 8, 2, 3, 5, 6 }, groups[] = { 64, 32, 128 };
	int64_t a_scale = bits_a_scale(&p->parts[LBX_QUANT_WORDS], &p->parts[LBX_QUANT_SCALES]);
	bool affine = p->parts[LBX_QUANT_SCALES].dtype != LB_U8, known = p->bits && p->group;

	for (int mode = 0; mode < LBX_QUANT_MODES && p->mode < 0; mode++) {
		const struct lbx_quant_mode *m = &lbx_quant_modes[mode];
		if (affine ? m->affine : !m->affine && m->bits * m->group == a_scale)
			p->mode = mode;
	}
	for (size_t i = 0; p->mode == LB_QUANT_AFFINE && i < sizeof bits / sizeof *bits; i++)
		for (size_t k = 0; k < sizeof groups / sizeof *groups; k++) {
			if ((p->bits && p->bits != bits[i]) || (p->group && p->group != groups[k]) ||
			    bits[i] * groups[k] != a_scale)
				continue;
			p->bits = bits[i];
			p->group = groups[k];
		}
	return !known && p->bits && p->group;
}

/* ---- the parts ---- */

static void set(struct lbx_quant_parts *p, enum lbx_quant_part part, const struct lbx_tensor *t)
{
	if (p->has[part])
		return;
	p->has[part] = true;
	p->parts[part] = *t;
}

static void set_format(struct lbx_quant_parts *p, const struct lbx_tensor *t)
{
	if (t->params[0] < LB_QUANT_AFFINE || t->params[0] > LB_QUANT_NVFP4)
		return;
	p->mode = (int)t->params[0];
	p->bits = (int)(t->params[1] & 0xff);
	p->group = (int)(t->params[2] & 0xffff);
}

uint32_t lbx_quant_first(const char *op)
{
	return strcmp(op, "quantized_matmul") == 0 ? 1 : strcmp(op, "gather_qmm") == 0 ? 3 : 0;
}

/* An operation on them. */
static bool from_consumer(const struct lbx_tensor *t, uint64_t id, struct lbx_quant_parts *ret)
{
	uint32_t first = lbx_quant_first(t->op);
	struct lbx_tensor input;

	if ((!first && strcmp(t->op, "dequantize") != 0) || t->n_inputs <= first || lbx_tensor_input_id(t, first) != id)
		return false;
	set_format(ret, t);
	snprintf(ret->how, sizeof ret->how, "found as input of #%" PRIu64 " %s", t->id, t->op);
	for (uint32_t i = 1; i < 3 && first + i < t->n_inputs; i++) {
		enum lbx_quant_part part = i == 1                         ? LBX_QUANT_SCALES
					   : ret->mode == LB_QUANT_AFFINE ? LBX_QUANT_BIASES
									  : LBX_QUANT_GLOBAL;
		if (lbx_tensor_input(t, first + i, &input))
			set(ret, part, &input);
		lb_clear_error();
	}
	return true;
}

/* Another result of the lb_quantize() that made w. */
static void from_sibling(const struct lbx_tensor *t, const struct lbx_tensor *w, struct lbx_quant_parts *ret)
{
	uint64_t of = lbx_tensor_input_id(w, 0);

	if (strcmp(t->op, "quantize") != 0 || memcmp(t->params, w->params, 3 * sizeof *t->params) != 0 || of == 0 ||
	    lbx_tensor_input_id(t, 0) != of)
		return;
	if (t->params[3] == 1 || t->params[3] == 2)
		set(ret, t->params[3] == 1 ? LBX_QUANT_SCALES : LBX_QUANT_BIASES, t);
	set_format(ret, w);
	snprintf(ret->how, sizeof ret->how, "found by the lb_quantize() that made it");
}

enum lbx_quant_part lbx_quant_part_of(const char *name, char stem[STEM])
{
	static const struct {
		const char *end;
		enum lbx_quant_part part;
	} ends[] = { { "scales", LBX_QUANT_SCALES }, { "scale", LBX_QUANT_SCALES }, { "biases", LBX_QUANT_BIASES },
		     { "bias_q", LBX_QUANT_BIASES }, { "weight", LBX_QUANT_WORDS }, { "w", LBX_QUANT_WORDS },
		     { "codes", LBX_QUANT_WORDS } };
	size_t n = strnlen(name, STEM - 1);

	memcpy(stem, name, n);
	stem[n] = '\0';
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		size_t m = strlen(ends[i].end);
		if (n < m + 2 || strcmp(stem + n - m, ends[i].end) != 0 ||
		    !strchr(ends[i].part == LBX_QUANT_WORDS ? "." : "._/", stem[n - m - 1]))
			continue;
		stem[n - m - 1] = '\0';
		return ends[i].part;
	}
	return LBX_QUANT_WORDS;
}

/* "layers.0.wq.scales" beside "layers.0.wq.weight" or "layers.0.wq". */
static void from_name(const struct lbx_tensor *t, const char *stem, struct lbx_quant_parts *ret)
{
	char own[STEM];
	enum lbx_quant_part part = lbx_quant_part_of(t->name, own);

	if (part == LBX_QUANT_WORDS || strcmp(own, stem) != 0)
		return;
	set(ret, part, t);
	snprintf(ret->how, sizeof ret->how, "found by name");
}

/* One walk looks for all three; the surest wins. */
bool lbx_quant_find(struct lbx_context *context, const struct lbx_tensor *w, struct lbx_quant_parts *ret)
{
	struct lbx_quant_parts used = { .mode = -1 }, made = used, named = used;
	struct lbx_tensors *tensors = w->of; /* a number is of its own set */
	bool is_used = false, is_made = strcmp(w->op, "quantize") == 0;
	uint64_t slot = 0, bad = 0, seen = 0;
	struct lbx_tensor t;
	enum lbx_next next;
	char stem[STEM];

	lbx_quant_part_of(w->name, stem);
	while ((next = lbx_tensors_next(tensors, &slot, &t, &bad)) == LBX_NEXT_TENSOR) {
		if (++seen % OFTEN == 0 && !lbx_progress(context->out, "looking for scales", (int64_t)seen, 0))
			return false;
		if (t.id == w->id)
			continue;
		if (!is_used && t.op_class == LB_CLASS_QUANT)
			is_used = from_consumer(&t, w->id, &used);
		if (is_made && t.op_class == LB_CLASS_QUANT)
			from_sibling(&t, w, &made);
		if (t.name[0])
			from_name(&t, stem, &named);
	}
	*ret = is_used ? used : made.how[0] ? made : named;
	if (is_made && ret->mode < 0)
		set_format(ret, w);
	set(ret, LBX_QUANT_WORDS, w);
	return next == LBX_NEXT_END;
}

bool lbx_quant_words_of(const struct lbx_tensor *scales, struct lbx_quant_parts *ret)
{
	char stem[STEM], own[STEM];
	uint64_t slot = 0, bad = 0;
	struct lbx_tensor t;

	*ret = (struct lbx_quant_parts){ .mode = -1 };
	if (!scales->name[0] || lbx_quant_part_of(scales->name, stem) == LBX_QUANT_WORDS)
		return false;
	while (!ret->has[LBX_QUANT_WORDS] && lbx_tensors_next(scales->of, &slot, &t, &bad) == LBX_NEXT_TENSOR)
		if (t.dtype == LB_U32 && t.name[0] && lbx_quant_part_of(t.name, own) == LBX_QUANT_WORDS &&
		    strcmp(own, stem) == 0)
			set(ret, LBX_QUANT_WORDS, &t);
	lb_clear_error();
	if (!ret->has[LBX_QUANT_WORDS])
		return false;
	set(ret, LBX_QUANT_SCALES, scales); /* biases have their shape */
	lbx_quant_guess(ret);
	return true;
}
