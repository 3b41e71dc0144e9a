#include "inspect/show/quant_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum { OFTEN = 1 << 13, STEM = LB_NAME_MAX + 1 };

const char *const lbx_quant_part_names[LBX_QUANT_PARTS] = { "words", "scales", "biases", "global scale" };

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

/* An operation on them: its inputs after x, which only a product has. */
static bool from_consumer(const struct lbx_tensor *t, uint64_t id, struct lbx_quant_parts *ret)
{
	uint32_t first = strcmp(t->op, "quantized_matmul") == 0;
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

/* "layers.0.wq.scales" beside "layers.0.wq.weight" or "layers.0.wq". */
static void from_name(const struct lbx_tensor *t, const char *stem, struct lbx_quant_parts *ret)
{
	size_t n = strlen(stem);
	const char *rest = t->name + n;

	if (n == 0 || strncmp(t->name, stem, n) != 0 || (*rest != '.' && *rest != '_' && *rest != '/'))
		return;
	rest++;
	enum lbx_quant_part part = strcmp(rest, "scales") == 0 || strcmp(rest, "scale") == 0    ? LBX_QUANT_SCALES
				   : strcmp(rest, "biases") == 0 || strcmp(rest, "bias_q") == 0 ? LBX_QUANT_BIASES
												: LBX_QUANT_PARTS;
	if (part == LBX_QUANT_PARTS)
		return;
	set(ret, part, t);
	snprintf(ret->how, sizeof ret->how, "found by name");
}

static void stem_of(const char *name, char ret[STEM])
{
	static const char *const ends[] = { ".weight", ".w", ".codes" };
	size_t n = strlen(name);

	snprintf(ret, STEM, "%s", name);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		size_t m = strlen(ends[i]);
		if (n > m && strcmp(name + n - m, ends[i]) == 0)
			ret[n - m] = '\0';
	}
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

	stem_of(w->name, stem);
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
