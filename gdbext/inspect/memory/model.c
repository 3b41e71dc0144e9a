/* The size of a model by parts of its names and by dtype, and what it would be in other formats.
 * An estimate quantises what lb_quantize() could: of two axes or more, the last a multiple of the
 * group. What is left, norms and biases, counts as bfloat16. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/memory/holdings.h"
#include "inspect/memory/parameters.h"
#include "inspect/show/quant_parts.h"
#include "inspect/tensor/format.h"

enum {
	DEFAULT_DEPTH = 2,
	DEFAULT_LIMIT = 60,
	MAX_DEPTH = 32,
	LINE = LB_NAME_MAX + 64,
	KINDS = 64, /* more than there are: dtypes, each as scales too, modes with their bits */
};

struct sum {
	uint64_t tensors;
	int64_t count, bytes;
};

static const struct {
	const char *name;
	int mode, bits, group; /* bits of a plain dtype: mode -1 */
} formats[] = {
	{ "float32", -1, 32, 0 },
	{ "float16", -1, 16, 0 },
	{ "bfloat16", -1, 16, 0 },
	{ "8-bit affine", LB_QUANT_AFFINE, 8, 64 },
	{ "4-bit affine", LB_QUANT_AFFINE, 4, 64 },
	{ "mxfp8", LB_QUANT_MXFP8, 8, 32 },
	{ "mxfp4", LB_QUANT_MXFP4, 4, 32 },
	{ "nvfp4", LB_QUANT_NVFP4, 4, 16 },
};
enum { FORMATS = sizeof formats / sizeof *formats };

/* Bytes of all parameters in format f. A group's scale takes a byte, affine's scale and bias two each. */
static int64_t estimate(const struct lbx_parameters *p, int f)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct lbx_parameter *x = &p->list[i];
		bool quantised = formats[f].mode >= 0 && x->rank >= 2 && x->last && x->last % formats[f].group == 0;
		int64_t bits = quantised ? formats[f].bits : formats[f].mode < 0 ? formats[f].bits : 16;
		int64_t codes = 0;
		if (!lb_mul(x->count, bits, &codes))
			return INT64_MAX;
		bytes = lbx_capped_sum(bytes, codes / 8);
		if (quantised) {
			const struct lbx_quant_mode *m = &lbx_quant_modes[formats[f].mode];
			int64_t each = m->affine ? 2 * m->scale_bytes : m->scale_bytes;
			bytes = lbx_capped_sum(bytes, x->count / formats[f].group * each);
		}
	}
	return bytes;
}

static struct sum add_up(const struct lbx_parameters *p, size_t begin, size_t end)
{
	struct sum s = { .tensors = end - begin };

	for (size_t i = begin; i < end; i++) {
		s.count = lbx_capped_sum(s.count, p->list[i].count);
		s.bytes = lbx_capped_sum(s.bytes, p->list[i].bytes);
	}
	return s;
}

/* ---- the tree of names ---- */

/* Where component `level` of a key begins; NULL if there is none. */
static const char *component(const char *key, int level)
{
	for (; level > 0; level--) {
		key = strpbrk(key, "./");
		if (!key)
			return NULL;
		key++;
	}
	return key;
}

static size_t length(const char *component)
{
	return component ? strcspn(component, "./") : 0;
}

static bool same(const struct lbx_parameters *p, size_t a, size_t b, int level)
{
	const char *x = component(p->list[a].key, level), *y = component(p->list[b].key, level);

	return !x || !y ? !x && !y : length(x) == length(y) && memcmp(x, y, length(x)) == 0;
}

/* "0…31" for the numbers that a * stands for. */
static void label(const struct lbx_parameters *p, size_t begin, size_t end, int level, char *ret, size_t size)
{
	const char *c = component(p->list[begin].key, level);
	unsigned long long low = UINT64_MAX, high = 0;

	snprintf(ret, size, "%.*s", c ? (int)length(c) : 8, c ? c : "(itself)");
	if (length(c) != 1 || *c != '*')
		return;
	for (size_t i = begin; i < end; i++) {
		const char *number = component(p->list[i].name, level);
		unsigned long long value = number ? strtoull(number, NULL, 10) : 0;
		low = value < low ? value : low;
		high = value > high ? value : high;
	}
	snprintf(ret, size, low == high ? "%llu" : "%llu…%llu", low, high);
}

/* ---- the answer ---- */

static const char *count_text(int64_t n, char ret[32])
{
	if (n < 100000)
		snprintf(ret, 32, "%lld", (long long)n);
	else if (n < 1000000000)
		snprintf(ret, 32, "%.4g M", (double)n / 1e6);
	else
		snprintf(ret, 32, "%.4g G", (double)n / 1e9);
	return ret;
}

struct rows {
	struct lbx_out *out;
	int64_t bytes;
	int64_t limit, n, left_out; /* of the text */
};

static void tell_row(struct rows *r, int indent, const char *text, const struct sum *s)
{
	char bytes[32], count[32];

	LBX_KEY(r->out, NULL,
		json_pack("{s:o,s:i,s:I,s:I,s:I}", "name", lbx_json_string(text), "level", indent, "tensors",
			  (json_int_t)s->tensors, "parameters", (json_int_t)s->count, "bytes", (json_int_t)s->bytes));
	if (r->n == r->limit) {
		r->left_out++;
		return;
	}
	r->n++;
	lbx_format_bytes(s->bytes, bytes, sizeof bytes);
	lbx_printf(r->out, "  %10s %3.0f%%  %10s  %*s%s", bytes,
		   r->bytes ? 100 * (double)s->bytes / (double)r->bytes : 0.0, count_text(s->count, count), 2 * indent,
		   "", text);
	if (s->tensors > 1)
		lbx_styled(r->out, LBX_DIM, "  %" PRIu64 " tensor%s", s->tensors, LB_S(s->tensors));
	lbx_printf(r->out, "\n");
}

/* One row for each value of component `level`; below it, `depth` times, those of the next that
 * differ. */
static void tell_tree(const struct lbx_parameters *p, size_t begin, size_t end, int level, int indent, int depth,
		      struct rows *rows)
{
	char text[LINE];

	for (size_t i = begin, next; i < end; i = next) {
		int inner = level + 1;
		for (next = i + 1; next < end && same(p, i, next, level);)
			next++;
		struct sum sum = add_up(p, i, next);
		size_t used;
		label(p, i, next, level, text, sizeof text);
		/* what is the same for all is part of the label */
		while (component(p->list[i].key, inner) && same(p, i, next - 1, inner) &&
		       (used = strlen(text)) < LINE / 2) {
			snprintf(text + used, sizeof text - used, ".");
			label(p, i, next, inner++, text + used + 1, sizeof text - used - 1);
		}
		tell_row(rows, indent, text, &sum);
		/* the keys of a group may end together: then names differ by numbers alone */
		if (depth > 1 && !same(p, i, next - 1, inner))
			tell_tree(p, i, next, inner, indent + 1, depth - 1, rows);
	}
}

/* A dtype, or how words are packed. */
static void kind_of(const struct lbx_parameter *x, char *ret, size_t size)
{
	if (x->bits)
		snprintf(ret, size, "%s, %d bits", lbx_quant_modes[x->mode].name, x->bits);
	else
		snprintf(ret, size, "%s%s", x->encoding ? x->encoding->name : lbx_dtype_name(x->dtype),
			 x->overhead ? " (scales, biases)" : "");
}

static void tell_kinds(const struct lbx_parameters *p, struct rows *rows)
{
	struct {
		char name[64];
		struct sum sum;
	} kinds[KINDS];
	char kind[64];
	int n = 0;

	for (size_t i = 0; i < p->n; i++) {
		int k = 0;
		kind_of(&p->list[i], kind, sizeof kind);
		while (k < n && strcmp(kinds[k].name, kind) != 0)
			k++;
		if (k == KINDS)
			continue;
		if (k == n) {
			kinds[n].sum = (struct sum){ 0 };
			strcpy(kinds[n++].name, kind);
		}
		kinds[k].sum.tensors++;
		kinds[k].sum.count = lbx_capped_sum(kinds[k].sum.count, p->list[i].count);
		kinds[k].sum.bytes = lbx_capped_sum(kinds[k].sum.bytes, p->list[i].bytes);
	}
	for (int k = 0; k < n; k++)
		tell_row(rows, 0, kinds[k].name, &kinds[k].sum);
}

static void tell_estimates(struct lbx_out *out, const struct lbx_parameters *p)
{
	lbx_styled(out, LBX_TITLE, "in other formats\n");
	lbx_begin(out, "estimates");
	for (int f = 0; f < FORMATS; f++) {
		int64_t n = estimate(p, f);
		char bytes[32];
		LBX_KEY(out, formats[f].name, json_integer(n));
		lbx_format_bytes(n, bytes, sizeof bytes);
		lbx_printf(out, "  %10s %3.0f%%  %s%s\n", bytes, p->bytes ? 100 * (double)n / (double)p->bytes : 0.0,
			   formats[f].name, formats[f].mode == LB_QUANT_AFFINE ? ", groups of 64" : "");
	}
	lbx_end(out);
}

static void tell(struct lbx_out *out, const struct lbx_parameters *p, int64_t depth, int64_t limit, int64_t max_rows)
{
	struct rows rows = { .out = out, .bytes = p->bytes, .limit = max_rows };
	char count[32];

	lbx_begin(out, NULL);
	LBX_KEYS(out, json_pack("{s:I,s:I,s:I,s:I,s:I}", "parameters", (json_int_t)p->count, "tensors",
				(json_int_t)p->n, "tied", (json_int_t)p->tied, "others", (json_int_t)p->others,
				"memory_limit", (json_int_t)limit));
	lbx_wrap(out, 0, 2);
	lbx_tell(out, "%s parameters in %zu tensor%s, %pF", count_text(p->count, count), p->n, LB_S(p->n),
		 LBX_SIZE("bytes", p->bytes));
	if (limit > 0)
		lbx_printf(out, ": %.1f%% of the program's memory limit", 100 * (double)p->bytes / (double)limit);
	lbx_printf(out, "\n");
	if (p->tied)
		lbx_printf(out, "not counted again: %" PRIu64 " tied to these, or views of them\n", p->tied);
	if (p->others) {
		lbx_wrap(out, 0, 2);
		lbx_printf(out, "not counted: %" PRIu64 " that the program does not keep, as activations and inputs\n",
			   p->others);
	}
	lbx_styled(out, LBX_TITLE, "by name\n");
	lbx_begin_list(out, "names");
	tell_tree(p, 0, p->n, 0, 0, (int)depth, &rows);
	lbx_end(out);
	if (rows.left_out)
		lbx_printf(out, "  … and %lld more (--limit 0 shows all)\n", (long long)rows.left_out);
	rows.limit = INT64_MAX;
	lbx_styled(out, LBX_TITLE, "by dtype\n");
	lbx_begin_list(out, "dtypes");
	tell_kinds(p, &rows);
	lbx_end(out);
	tell_estimates(out, p);
	lbx_end(out);
}

static bool run_model(struct lbx_context *context, const struct lbx_args *args)
{
	int64_t depth = DEFAULT_DEPTH, max_rows = DEFAULT_LIMIT;
	struct lbx_parameters p;
	struct lbx_root root = { .rank = -1 };

	if (!lbx_args_int(args, "depth", 1, MAX_DEPTH, &depth) || !lbx_args_limit(args, &max_rows) ||
	    (context->table && !lbx_table_root(context->table, &root)) ||
	    !lbx_parameters_find(context, args->n ? args->v[0] : NULL, LBX_TIED_ONCE, &p))
		return false;
	int64_t limit = (int64_t)root.counters.memory_limit;
	bool ok = p.n > 0 ||
		  (args->n ? lb_fail("no ready tensor's name matches %s", args->v[0])
			   : lb_fail("no ready tensor has a name%s", context->table ? ": lb_named() gives one" : ""));
	if (ok)
		tell(context->out, &p, depth, limit, max_rows);
	lbx_set_int(context->out, "tensor_count", (int64_t)p.n);
	lbx_set_int(context->out, "tensor_bytes", p.bytes);
	lbx_parameters_deinit(&p);
	return ok && lb_ok();
}

const struct lbx_command lbx_command_model = {
	.name = "model",
	.arguments = "[GLOB]",
	.summary = "show a model's size by name and dtype, and what it would be in other formats",
	.help = "Counts the ready tensors that have a name (GLOB selects them), each value once: those\n"
		"that the program keeps (lb_keep), if it keeps any, or that their runtime calls weights.\n"
		"Packed words of lb_quantize() count as what they hold, their scales and biases\n"
		"as bytes. Numbers in names are put together: layers.0…31. The estimates quantise what\n"
		"has two axes or more, the last a multiple of the group; the rest stays 16 bits.\n"
		"Example: model, model 'layers.*' --depth 3",
	.max_args = 1,
	.needs = LBX_NEEDS_TENSORS | LBX_LETS_GO,
	.options = {
		{ "depth", "N", "show N parts of the names (default 2)" },
		{ "limit", "N", "show N rows of names (default 60, JSON all); 0: all" },
	},
	.run = run_model,
};
