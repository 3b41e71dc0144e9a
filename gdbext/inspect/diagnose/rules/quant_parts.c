/* Scales or biases of a quantised weight that do not fit its packed words: each of them is of another weight or format. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "base/vector.h"
#include "inspect/diagnose/rule.h"
#include "inspect/show/quant_parts.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"

enum { PARTS_MOST = 1 << 17 };

struct part {
	char stem[LB_NAME_MAX + 1];
	enum lbx_quant_part part;
	struct lbx_key key;
};

struct parts {
	size_t n, room;
	struct part *list;
};

static bool is_float(enum lb_dtype dtype)
{
	return dtype == LB_F16 || dtype == LB_BF16 || dtype == LB_F32;
}

/* Whether it can be what its name says. */
static bool may_be(const struct lbx_tensor *t, enum lbx_quant_part part)
{
	switch (part) {
	case LBX_QUANT_WORDS: return t->dtype == LB_U32;
	case LBX_QUANT_SCALES: return is_float(t->dtype) || t->dtype == LB_U8;
	default: return is_float(t->dtype);
	}
}

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t)
{
	struct parts *p = state;
	struct part x;

	(void)c;
	if (t->torn || t->encoding || t->is_shapeless || t->rank < 1 || !t->name[0] || p->n == PARTS_MOST)
		return true;
	x.part = lbx_quant_part_of(t->name, x.stem);
	x.key = lbx_tensor_key(t);
	if (!may_be(t, x.part))
		return true;
	if (!lb_reserve(p->list, p->room, p->n + 1))
		return lb_fail("out of memory for %zu quantised weights", p->n);
	p->list[p->n++] = x;
	return true;
}

static int by_stem(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	int order = strcmp(x->stem, y->stem);

	return order ? order : (int)x->part - (int)y->part;
}

/* Of the same rows, which are all axes but the last. */
static bool has_rows_of(const struct lbx_tensor *t, const struct lbx_tensor *w)
{
	return t->rank == w->rank && memcmp(lbx_shape(t), lbx_shape(w), ((size_t)w->rank - 1) * sizeof(int64_t)) == 0;
}

/* Whether there is a format in which the words of a row have as many scales. */
static bool has_format(const struct lbx_quant_parts *found)
{
	struct lbx_quant_parts p = *found;

	return lbx_quant_guess(&p) || p.mode > LB_QUANT_AFFINE;
}

/* The part that is wrong; LBX_QUANT_PARTS: none. */
static enum lbx_quant_part find_wrong(const struct lbx_quant_parts *p)
{
	const struct lbx_tensor *w = &p->parts[LBX_QUANT_WORDS], *scales = &p->parts[LBX_QUANT_SCALES];
	const struct lbx_tensor *biases = &p->parts[LBX_QUANT_BIASES];

	if (p->has[LBX_QUANT_SCALES] && (!has_rows_of(scales, w) || !has_format(p)))
		return LBX_QUANT_SCALES;
	if (p->has[LBX_QUANT_SCALES] && p->has[LBX_QUANT_BIASES] &&
	    (!has_rows_of(biases, scales) ||
	     lbx_shape(biases)[biases->rank - 1] != lbx_shape(scales)[scales->rank - 1]))
		return LBX_QUANT_BIASES;
	return LBX_QUANT_PARTS;
}

/* What is wrong about its shape. */
static void say_shape(struct lbx_diagnosed *f, const struct lbx_quant_parts *p, enum lbx_quant_part wrong)
{
	const struct lbx_tensor *w = &p->parts[LBX_QUANT_WORDS], *scales = &p->parts[LBX_QUANT_SCALES];
	const struct lbx_tensor *t = &p->parts[wrong];
	char of_words[LBX_LIST_MAX], of_scales[LBX_LIST_MAX], own[LBX_LIST_MAX];

	lbx_format_list(lbx_shape(w), w->rank, of_words, sizeof of_words);
	lbx_format_list(lbx_shape(scales), scales->rank, of_scales, sizeof of_scales);
	lbx_format_list(lbx_shape(t), t->rank, own, sizeof own);
	if (wrong == LBX_QUANT_BIASES)
		LBX_SAY(f->evidence, "Its shape is %s, that of the scales %s: each group has one of both.", own,
			of_scales);
	else if (!has_rows_of(scales, w))
		LBX_SAY(f->evidence, "Its shape is %s, that of the words %s: all axes but the last should be the same.",
			own, of_words);
	else
		LBX_SAY(f->evidence,
			"Its shape is %s, that of the words %s: no format has %" PRId64 " scale%s for the %" PRId64
			" bits of a row.",
			own, of_words, lbx_shape(t)[t->rank - 1], LB_S(lbx_shape(t)[t->rank - 1]),
			32 * lbx_shape(w)[w->rank - 1]);
}

/* keys: those of the parts. */
static bool tell(struct lbx_case *c, const struct lbx_quant_parts *p, const struct lbx_key *keys,
		 enum lbx_quant_part wrong)
{
	const char *words = p->parts[LBX_QUANT_WORDS].name;
	struct lbx_tensor t;
	struct lbx_diagnosed *f = lbx_case_found_of(c, LBX_HIGH, 0.85, &keys[wrong], &t);

	if (!f)
		return lb_ok();
	LBX_SAY(f->title, "%s does not fit the packed words of %s", t.name, words);
	say_shape(f, p, wrong);
	lbx_diagnosed_tensor(f, &keys[LBX_QUANT_WORDS]);
	LBX_SAY(
	    f->advice,
	    "Take the parts of a weight from one file, as they were quantised; `%squant %s` tells which shapes would be "
	    "right.",
	    c->context->prefix ? c->context->prefix : "", words);
	return lb_ok();
}

/* n parts of one stem. Where there are two of a kind it is not known which belong together. */
static bool judge(struct lbx_case *c, const struct part *list, size_t n)
{
	struct lbx_quant_parts p = { .mode = -1 };
	struct lbx_key keys[LBX_QUANT_PARTS];
	enum lbx_quant_part wrong;
	bool clean = lb_ok();

	for (size_t i = 0; i < n; i++) {
		enum lbx_quant_part part = list[i].part;
		if (p.has[part] || !lbx_tensor_by_key(&list[i].key, &p.parts[part])) {
			if (clean)
				lb_clear_error();
			return true;
		}
		p.has[part] = true;
		keys[part] = list[i].key;
	}
	wrong = p.has[LBX_QUANT_WORDS] ? find_wrong(&p) : LBX_QUANT_PARTS;
	return wrong == LBX_QUANT_PARTS || tell(c, &p, keys, wrong);
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct parts *p = state;

	if (p->n)
		qsort(p->list, p->n, sizeof *p->list, by_stem);
	for (size_t i = 0, n; i < p->n; i += n) {
		for (n = 1; i + n < p->n && strcmp(p->list[i].stem, p->list[i + n].stem) == 0; n++)
			;
		if (n > 1 && !judge(c, p->list + i, n))
			return false;
	}
	return lb_ok();
}

static void forget(void *state)
{
	struct parts *p = state;

	free(p->list);
}

const struct lbx_rule lbx_rule_quant_parts = {
	.id = "Q1",
	.name = "quant-parts",
	.title = "scales or biases that do not fit the packed words",
	.sees = LBX_SEES_TENSORS,
	.meaning =
	    "A quantised weight is several tensors: packed words, and a scale, maybe a bias, for each group of values. Parts\n"
	    "of another weight, or of another format, are refused by the first product, or give what nobody trained.",
	.example = "layers.0.wq.weight of 64 rows, layers.0.wq.scales of 128",
	.demands =
	    "One tensor each is called NAME.weight, of uint32, and NAME.scales or NAME.biases, of floats or of uint8: their axes\n"
	    "but the last differ; or no number of bits and no group of affine, mxfp4, mxfp8 and nvfp4 gives a row of words as\n"
	    "many scales; or the biases have another shape than the scales.",
	.cure = "`quant NAME.weight` tells which shapes would be right; `weights FILE` compares with the file.",
	.state = sizeof(struct parts),
	.tensor = see,
	.conclude = conclude,
	.deinit = forget,
};
