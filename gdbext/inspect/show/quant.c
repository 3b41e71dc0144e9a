/* A quantised tensor is several tensors. What is checked here is what lb_dequantize() would check;
 * values are what it would give, replayed outside the program. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/findings.h"
#include "inspect/operand/value.h"
#include "inspect/show/quant_blocks.h"
#include "inspect/show/quant_figure.h"
#include "inspect/show/quant_parts.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"
#include "inspect/tensor/json.h"
#include "inspect/texts.h"
#include "kernels/codes.h"

struct quant {
	struct lbx_quant_parts p;
	struct lbx_findings problems;
	int64_t columns;           /* values along the last axis; 0: not known */
	struct lbx_quant_figure scales; /* as numbers */
};

/* ---- the format ---- */

static bool is_float(enum lb_dtype dtype)
{
	return dtype == LB_F16 || dtype == LB_BF16 || dtype == LB_F32;
}

static void guess(struct lbx_quant_parts *p)
{
	size_t used = strlen(p->how);

	if (lbx_quant_guess(p))
		snprintf(p->how + used, sizeof p->how - used, "%sformat guessed from the shapes", used ? "; " : "");
}

static bool complete(struct quant *q)
{
	struct lbx_quant_parts *p = &q->p;

	if (p->has[LBX_QUANT_SCALES] && (p->mode < 0 || !p->bits || !p->group))
		guess(p);
	if (p->mode < 0)
		p->mode = LB_QUANT_AFFINE;
	const struct lbx_quant_mode *m = &lbx_quant_modes[p->mode];
	p->bits = p->bits ? p->bits : m->bits;
	p->group = p->group ? p->group : m->group;
	if (!m->affine && (p->bits != m->bits || p->group != m->group))
		return lb_fail("%s has codes of %d bits in groups of %d, not %d in %d", m->name, m->bits, m->group,
			       p->bits, p->group);
	if (p->bits < 2 || p->bits > 8 || p->bits == 7)
		return lb_fail("codes of %d bits: affine has 2, 3, 4, 5, 6 or 8", p->bits);
	return true;
}

/* ---- what is wrong ---- */

__attribute__((format(printf, 3, 4))) static bool problem(struct quant *q, enum lbx_quant_part part, const char *format,
							  ...)
{
	char text[LBX_FINDING_TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return lbx_findings_add(&q->problems, lbx_quant_part_names[part], q->p.parts[part].id, 0, "%s", text);
}

static bool check_shape(struct quant *q, enum lbx_quant_part part)
{
	const struct lbx_tensor *w = &q->p.parts[LBX_QUANT_WORDS], *t = &q->p.parts[part];
	char right[LBX_LIST_MAX], is[LBX_LIST_MAX], label[LBX_DESCRIPTION_MAX];
	int64_t shape[LBX_RANK_MAX];

	memcpy(shape, lbx_shape(w), (size_t)w->rank * sizeof *shape);
	shape[w->rank - 1] = q->columns / q->p.group;
	lbx_format_list(shape, w->rank, right, sizeof right);
	if (!q->p.has[part])
		return problem(q, part, "no %s: %s needs them, of shape %s; say which by --%s",
			       lbx_quant_part_names[part], lbx_quant_modes[q->p.mode].name, right,
			       lbx_quant_part_names[part]);
	if (t->rank == w->rank && memcmp(lbx_shape(t), shape, (size_t)w->rank * sizeof *shape) == 0)
		return true;
	lbx_format_list(lbx_shape(t), t->rank, is, sizeof is);
	lbx_describe(t, label, sizeof label);
	return problem(q, part,
		       "the %s %s have shape %s; %s would be right: a scale is for %d of the %lld "
		       "value%s of a row",
		       lbx_quant_part_names[part], label, is, right, q->p.group, (long long)q->columns,
		       LB_S(q->columns));
}

static bool check(struct quant *q)
{
	const struct lbx_quant_parts *p = &q->p;
	const struct lbx_tensor *w = &p->parts[LBX_QUANT_WORDS], *scales = &p->parts[LBX_QUANT_SCALES];
	const struct lbx_quant_mode *m = &lbx_quant_modes[p->mode];
	int64_t bits = 0;
	bool ok = true;

	if (w->dtype != LB_U32)
		ok = problem(q, LBX_QUANT_WORDS, "packed words are uint32, not %s", lbx_tensor_dtype_name(w));
	if (w->rank == 0 || !lb_mul(lbx_shape(w)[w->rank - 1], 32, &bits) || bits % p->bits ||
	    bits / p->bits % p->group)
		return ok && problem(q, LBX_QUANT_WORDS,
				     "a row of %lld word%s is not a whole number of groups "
				     "of %d code%s of %d bits",
				     w->rank ? (long long)lbx_shape(w)[w->rank - 1] : 0LL,
				     LB_S(w->rank ? (long long)lbx_shape(w)[w->rank - 1] : 0LL), p->group,
				     LB_S(p->group), p->bits);
	q->columns = bits / p->bits;
	ok = ok && check_shape(q, LBX_QUANT_SCALES);
	if (p->has[LBX_QUANT_SCALES] && (m->affine ? !is_float(scales->dtype) : scales->dtype != LB_U8))
		ok = ok && problem(q, LBX_QUANT_SCALES, "the scales are %s: %s has %s", lbx_tensor_dtype_name(scales),
				   m->name, m->affine ? "float16, bfloat16 or float32" : "uint8");
	if (m->affine)
		ok = ok && check_shape(q, LBX_QUANT_BIASES);
	else if (p->has[LBX_QUANT_BIASES])
		ok = ok && problem(q, LBX_QUANT_BIASES, "%s has no biases", m->name);
	return ok || (lb_ok() && q->problems.n > 0);
}

/* ---- scales ---- */

struct scan {
	struct quant *q;
	enum lb_dtype dtype;
	bool again; /* for what is compared with all */
};

static float scale_value(const struct quant *q, const void *element, enum lb_dtype dtype)
{
	uint8_t code = *(const uint8_t *)element;

	if (dtype != LB_U8)
		return (float)lbx_element_double(element, dtype);
	return q->p.mode == LB_QUANT_NVFP4 ? lb_e4m3_to_float(code) : lb_e8m0_to_float(code);
}

static bool add_scales(void *context, const void *elements, int64_t n, int64_t first)
{
	struct scan *s = context;
	float values[LBX_QUANT_PIECE];

	for (int64_t i = 0; i < n; i++)
		values[i] = scale_value(s->q, (const char *)elements + i * lbx_dtype_bytes(s->dtype), s->dtype);
	(s->again ? lbx_quant_figure_compare(&s->q->scales, values, n, first)
		  : lbx_quant_figure_add(&s->q->scales, values, n, first));
	return true;
}

/* By magnitude, for affine's may be negative; outliers lie far beyond the median. */
static bool look_at_scales(struct lbx_context *context, struct quant *q)
{
	struct lbx_selection s = { .tensor = q->p.parts[LBX_QUANT_SCALES] };
	struct scan scan = { .q = q, .dtype = s.tensor.dtype };
	struct lbx_sight sight;

	if (!q->p.has[LBX_QUANT_SCALES] || (!is_float(s.tensor.dtype) && s.tensor.dtype != LB_U8))
		return true;
	if (!lbx_sight_begin(context, &s, &sight))
		return false;
	bool ok = lbx_quant_figure_init(&q->scales, scan.dtype, sight.array.size) &&
		  lbx_array_walk(&sight.array, context->out, "looking at scales", LBX_QUANT_PIECE, add_scales, &scan) &&
		  lbx_quant_figure_settle(&q->scales, &scan.again);
	if (ok && scan.again)
		ok =
		    lbx_array_walk(&sight.array, context->out, "looking at scales", LBX_QUANT_PIECE, add_scales, &scan);
	lbx_sight_end(&sight);
	return ok;
}

/* ---- values ---- */

/* A set of one tensor, whose inputs are the parts. */
struct of_parts {
	struct lbx_tensors tensors; /* first */
	const struct lbx_quant_parts *p;
};

static const struct lbx_tensor *part(struct lbx_tensors *tensors, uint32_t i)
{
	const struct lbx_quant_parts *p = ((struct of_parts *)tensors)->p;

	for (int k = 0; k < LBX_QUANT_PARTS; k++)
		if (p->has[k] && i-- == 0)
			return &p->parts[k];
	return NULL;
}

static bool input(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i, struct lbx_tensor *ret)
{
	const struct lbx_tensor *found = part(tensors, i);

	if (!found)
		return lb_fail("no input %u of %u", i, t->n_inputs);
	*ret = *found;
	return true;
}

static uint64_t input_id(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i)
{
	const struct lbx_tensor *found = part(tensors, i);

	(void)t;
	return found ? found->id : 0;
}

/* The lazy tensor that lb_dequantize() would make. */
static bool print_values(struct lbx_context *context, const struct quant *q, struct lbx_selection *s,
			 const struct lbx_format_options *options)
{
	const struct lbx_quant_parts *p = &q->p;
	struct lbx_selection values = *s;
	struct lbx_tensor *t = &values.tensor;
	static const struct lbx_tensors_ops ops = { .input = input, .input_id = input_id };
	struct of_parts parts = { .tensors = *t->of, .p = p };
	struct lbx_sight sight;
	char note[160];

	parts.tensors.ops = &ops;
	if (q->problems.n)
		return lb_fail("no values: %s", q->problems.list[0].text);
	if (!lbx_can_replay(t))
		return false;
	t->state = LBX_LAZY;
	t->op = "dequantize";
	t->op_class = LB_CLASS_QUANT;
	t->dtype = is_float(p->parts[LBX_QUANT_SCALES].dtype) ? p->parts[LBX_QUANT_SCALES].dtype : LB_F32;
	t->axes.few.shape[t->rank - 1] = q->columns;
	t->flags = 0;
	t->offset = 0;
	t->of = &parts.tensors;
	t->address = 0;
	t->params[0] = p->mode;
	t->params[1] = p->bits;
	t->params[2] = p->group;
	t->params[3] = 0;
	t->n_inputs = 0;
	for (int i = 0; i < LBX_QUANT_PARTS; i++)
		t->n_inputs += p->has[i];
	int64_t size = 1;
	for (int i = t->rank; i-- > 0;) {
		t->axes.few.strides[i] = size;
		if (!lb_mul(size, lbx_shape(t)[i], &size))
			return lb_fail("the values are too many");
	}
	t->size = size;
	if (!lbx_sight_begin(context, &values, &sight))
		return false;
	snprintf(note, sizeof note, "dequantised from %s of %d bits in groups of %d", lbx_quant_modes[p->mode].name,
		 p->bits, p->group);
	bool ok = lbx_print_value(context, &values, &sight.array, options, note);
	lbx_sight_end(&sight);
	return ok;
}

/* ---- text and JSON ---- */

static int64_t parts_bytes(const struct quant *q)
{
	int64_t bytes = 0;

	for (int i = 0; i < LBX_QUANT_PARTS; i++)
		if (q->p.has[i] && !lb_sum_of(bytes, lbx_tensor_nbytes(&q->p.parts[i]), &bytes))
			return INT64_MAX;
	return bytes;
}

static void values_shape(const struct quant *q, int64_t shape[LBX_RANK_MAX])
{
	const struct lbx_tensor *w = &q->p.parts[LBX_QUANT_WORDS];

	memcpy(shape, lbx_shape(w), (size_t)w->rank * sizeof *shape);
	if (w->rank)
		shape[w->rank - 1] = q->columns;
}

static void place(const void *context, int64_t i, char *ret, size_t size)
{
	const struct lbx_tensor *t = &((const struct quant *)context)->p.parts[LBX_QUANT_SCALES];
	int64_t at[LBX_RANK_MAX];

	lbx_coordinates(t->rank, lbx_shape(t), i, at);
	lbx_format_place(at, t->rank, ret, size);
}

/* What the quantised words stand for. */
static void tell_values(struct lbx_out *out, const struct quant *q)
{
	int rank = q->p.parts[LBX_QUANT_WORDS].rank;
	int64_t values[LBX_RANK_MAX], bytes = parts_bytes(q);
	double n = 1;

	if (!q->columns) {
		LBX_KEYS(out, json_pack("{s:n,s:I}", "shape", "nbytes", (json_int_t)bytes));
		return;
	}
	values_shape(q, values);
	for (int i = 0; i < rank; i++)
		n *= (double)values[i];
	lbx_tell(out, "  values     %pF, in %pF", LBX_LIST("shape", values, rank), LBX_SIZE("nbytes", bytes));
	lbx_printf(out, n > 0 ? ": %.3g bits each\n" : "\n", 8 * (double)bytes / n);
}

static void tell(struct lbx_out *out, const struct quant *q)
{
	static const char *const keys[] = { "words", "scales", "biases", "global_scale" };
	const struct lbx_quant_parts *p = &q->p;
	const struct lbx_tensor *words = &p->parts[LBX_QUANT_WORDS];
	char label[LBX_DESCRIPTION_MAX];

	lbx_begin(out, NULL);
	lbx_describe(words, label, sizeof label);
	lbx_wrap(out, 0, 4);
	lbx_styled(out, LBX_NAME, "%s", label);
	if (words->dtype != LB_U32 && words->dtype != LB_U8 && !p->has[LBX_QUANT_SCALES])
		lbx_printf(out, " is not quantised: codes are uint32, and have scales. Taken as");
	else
		lbx_printf(out, ":");
	lbx_tell(out, " %pF, %pF bits, groups of %pF", LBX_TEXT("mode", lbx_quant_modes[p->mode].name),
		 LBX_INT("bits", p->bits), LBX_INT("group", p->group));
	LBX_KEY(out, "how", lbx_json_text(p->how));
	lbx_printf(out, "%s%s\n", p->how[0] ? "; " : "", p->how);
	for (int i = 0; i < LBX_QUANT_PARTS; i++) {
		LBX_KEY(out, keys[i], p->has[i] ? lbx_json_tensor(&p->parts[i]) : json_null());
		if (!p->has[i] || i == LBX_QUANT_WORDS)
			continue;
		lbx_describe(&p->parts[i], label, sizeof label);
		lbx_wrap(out, 0, 13);
		lbx_printf(out, "  %-10s %s\n", lbx_quant_part_names[i], label);
	}
	tell_values(out, q);
	lbx_quant_figure_tell(out, "  scales     ", "scale_values", &q->scales, place, q);
	lbx_findings_tell(out, "problems", &q->problems);
	lbx_end(out);
}

/* ---- the command ---- */

static bool told(struct lbx_context *context, const struct lbx_args *args, const char *option, enum lbx_quant_part part,
		 struct lbx_quant_parts *p)
{
	const char *text = lbx_args_option(args, option);
	struct lbx_selection s;

	if (!text)
		return true;
	if (!lbx_select(context, text, &s))
		return false;
	p->has[part] = true;
	p->parts[part] = s.tensor;
	return true;
}

static bool parse(struct lbx_context *context, const struct lbx_args *args, struct lbx_quant_parts *p)
{
	const char *mode = lbx_args_option(args, "mode");
	int64_t bits = 0, group = 0;

	if (!lbx_args_int(args, "bits", 2, 8, &bits) || !lbx_args_int(args, "group", 16, 128, &group) ||
	    !told(context, args, "scales", LBX_QUANT_SCALES, p) ||
	    !told(context, args, "biases", LBX_QUANT_BIASES, p) || !told(context, args, "global", LBX_QUANT_GLOBAL, p))
		return false;
	if (mode || bits || group) { /* the rest by these */
		p->mode = -1;
		p->bits = (int)bits;
		p->group = (int)group;
	}
	for (int i = 0; mode && i < LBX_QUANT_MODES; i++)
		if (strcmp(lbx_quant_modes[i].name, mode) == 0) {
			p->mode = i;
			mode = NULL;
		}
	return !mode || lbx_misuse("quant: no mode '%s': there are affine, mxfp4, mxfp8 and nvfp4", mode);
}

/* Blocks have all within. */
static bool run_blocks(struct lbx_context *context, const struct lbx_args *args, const struct lbx_selection *s,
		       const struct lbx_format_options *options)
{
	static const char *const of_others[] = { "scales", "biases", "global", "mode", "bits", "group" };
	struct lbx_sight sight;
	char note[LBX_NOTE_MAX + 64];

	for (size_t i = 0; i < sizeof of_others / sizeof *of_others; i++)
		if (lbx_args_option(args, of_others[i]))
			return lbx_misuse("quant: --%s is not for %s, whose blocks have their scales within",
					  of_others[i], s->tensor.encoding->name);
	if (!s->slice.n && !lbx_args_option(args, "values"))
		return lbx_quant_tell_blocks(context, s);
	if (!lbx_sight_begin(context, s, &sight))
		return false;
	snprintf(note, sizeof note, "dequantised from %s%s%s", s->tensor.encoding->name, sight.note[0] ? ", " : "",
		 sight.note);
	bool ok = lbx_print_value(context, s, &sight.array, options, note);
	lbx_sight_end(&sight);
	return ok;
}

static bool run_quant(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_format_options options;
	struct lbx_selection s;
	struct quant q = { .columns = 0 };

	if (!lbx_print_options(context, args, &options) || !lbx_select(context, args->v[0], &s))
		return false;
	if (lbx_quant_is_blocks(&s.tensor))
		return run_blocks(context, args, &s, &options);
	if (s.tensor.encoding)
		return lb_fail("'%s' is %s, whose scales %s: `info` tells what is known of them", args->v[0],
			       s.tensor.encoding->name,
			       s.tensor.encoding->n_scales ? "lie elsewhere" : "are not known");
	if (!lbx_quant_find(context, &s.tensor, &q.p) || !parse(context, args, &q.p) || !complete(&q))
		return false;
	bool ok = check(&q);
	if (ok && (s.slice.n || lbx_args_option(args, "values"))) {
		ok = print_values(context, &q, &s, &options);
	} else if (ok && (ok = look_at_scales(context, &q))) {
		tell(context->out, &q);
		lbx_set_int(context->out, "tensor_count", q.problems.n);
	}
	lbx_quant_figure_deinit(&q.scales);
	lbx_findings_deinit(&q.problems);
	return ok && lb_ok();
}

const struct lbx_command lbx_command_quant = {
	.name = "quant",
	.arguments = "T[slice]",
	.summary = "show how a tensor is quantised, whether its parts fit, and its values",
	.help = "T holds the packed words. Scales and biases are those of an operation that uses T, of\n"
		"the lb_quantize() that made it, or by name (layers.0.wq.scales beside\n"
		"layers.0.wq.weight); or you name them. What is missing or has the wrong shape is\n"
		"named, with the shape that would be right. With a slice, or --values, the values are\n"
		"computed outside the program. Of a format of ggml's blocks, such as q4_K, which have\n"
		"their scales within, it shows those and how often each code occurs.\n"
		LBX_T_HELP "\n"
		"Example: quant wq, quant wq[0, :8], quant wq --scales s --biases b --bits 4 --group 64",
	.min_args = 1,
	.max_args = 1,
	.needs = LBX_NEEDS_TENSORS,
	.options = {
		{ "values", NULL, "print the values" },
		{ "scales", "S", "the tensor of its scales" },
		{ "biases", "B", "the tensor of its biases (affine)" },
		{ "global", "G", "the tensor of its global scale (nvfp4)" },
		{ "mode", "MODE", "affine, mxfp4, mxfp8 or nvfp4" },
		{ "bits", "N", "bits in each code" },
		{ "group", "N", "values that share a scale" },
		LBX_PRINT_OPTIONS,
	},
	.run = run_quant,
};
