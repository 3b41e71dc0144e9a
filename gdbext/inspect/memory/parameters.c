#include "inspect/memory/parameters.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number_map.h"
#include "base/vector.h"
#include "inspect/memory/holdings.h"
#include "inspect/show/quant_parts.h"
#include "inspect/tensor/name.h"

enum { OFTEN = 1 << 13, INPUTS = 3 };

/* An operation over packed words, or one of the tensors that lb_quantize() made. */
struct use {
	uint64_t words, others[2];
	int mode, bits;
};

struct walk {
	struct lbx_tensors *tensors;
	const char *glob;
	struct lbx_parameters *p;
	struct lbx_number_map consumers; /* how many lazy tensors have a record for an input */
	size_t n_uses, room_uses;
	struct use *uses;
};

static bool is_separator(char c)
{
	return c == '.' || c == '/';
}

/* "layers.*.w" of "layers/0/w" */
static char *key_of(const char *name)
{
	char *ret = malloc(strlen(name) + 1), *to = ret;

	if (!ret) {
		lb_fail("out of memory");
		return NULL;
	}
	for (const char *s = name; *s;) {
		size_t n = strcspn(s, "./"), digits = strspn(s, "0123456789");
		if (digits == n && n > 0) {
			*to++ = '*';
		} else {
			memcpy(to, s, n);
			to += n;
		}
		s += n;
		if (is_separator(*s)) {
			*to++ = '.';
			s++;
		}
	}
	*to = '\0';
	return ret;
}

static bool add_use(struct walk *w, const struct lbx_tensor *t)
{
	uint32_t first = lbx_quant_first(t->op);
	bool made = strcmp(t->op, "quantize") == 0;
	struct use use = { .mode = (int)t->params[0], .bits = (int)t->params[1] };

	if (use.mode < LB_QUANT_AFFINE || use.mode > LB_QUANT_NVFP4 || use.bits < 2 || use.bits > 8)
		return true;
	if (made && t->params[3] == 0)
		use.words = t->id;
	else if (made)
		use.others[0] = t->id;
	for (uint32_t i = 0; !made && i < INPUTS && first + i < t->n_inputs; i++)
		*(i ? &use.others[i - 1] : &use.words) = lbx_tensor_input_id(t, first + i);
	if (!lb_reserve(w->uses, w->room_uses, w->n_uses + 1))
		return lb_fail("out of memory for %zu operations", w->n_uses);
	w->uses[w->n_uses++] = use;
	return true;
}

/* What a view repeats counts once; nothing is to be quantised then. */
static void count_once(struct lbx_parameter *x, const struct lbx_tensor *t)
{
	if (x->end == 0 || t->encoding)
		return;
	int64_t width = lbx_dtype_bytes(t->dtype), count = 1, most = (int64_t)((x->end - x->low) / (uint64_t)width);
	for (int i = 0; i < t->rank; i++)
		count *= lbx_strides(t)[i] == 0 ? 1 : lbx_shape(t)[i];
	count = count < most ? count : most;
	if (count == t->size)
		return;
	x->count = count;
	x->bytes = count * width;
	x->last = 0;
}

static bool add(struct lbx_parameters *p, const struct lbx_tensor *t)
{
	if (!lb_reserve(p->list, p->room, p->n + 1))
		return lb_fail("out of memory for %zu parameters", p->n);
	struct lbx_parameter x = { .name = strdup(t->name),
				   .key = key_of(t->name),
				   .id = t->id,
				   .dtype = t->dtype,
				   .encoding = t->encoding,
				   .of = t->of,
				   .record = t->address,
				   .holders = t->of->ops->scope ? (int64_t)t->refs - t->scope_refs : 0,
				   .is_said = t->usage == LBX_USAGE_WEIGHTS,
				   .rank = t->rank,
				   .last = t->rank ? lbx_shape(t)[t->rank - 1] : 1,
				   .count = t->size,
				   .bytes = lbx_tensor_nbytes(t) };
	lbx_tensor_range(t, &x.low, &x.end);
	count_once(&x, t);
	if (!x.name || !x.key) {
		free(x.name);
		free(x.key);
		return lb_fail("out of memory for %zu parameters", p->n);
	}
	p->list[p->n++] = x;
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct lbx_parameter *x = a, *y = b;
	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int by_id(const void *a, const void *b)
{
	const struct lbx_parameter *x = a, *y = b;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Part by part: the separator comes before everything else. */
static int by_key(const void *a, const void *b)
{
	const struct lbx_parameter *x = a, *y = b;
	const char *s = x->key, *t = y->key;

	for (; *s && *s == *t; t++)
		s++;
	int c = *s == '.' ? 1 : (unsigned char)*s, d = *t == '.' ? 1 : (unsigned char)*t;
	return c != d ? c - d : strcmp(x->name, y->name);
}

static void drop(struct lbx_parameter *x)
{
	free(x->name);
	free(x->key);
}

/* Where it is known which are weights, or kept, no others are. */
static void drop_others(struct lbx_parameters *p)
{
	size_t n = 0, said = 0;

	for (size_t i = 0; i < p->n; i++)
		said += p->list[i].is_said;
	for (size_t i = 0; said && i < p->n; i++) {
		if (p->list[i].is_said)
			p->list[n++] = p->list[i];
		else
			drop(&p->list[i]);
	}
	p->others = said ? p->n - n : 0;
	p->n = said ? n : p->n;
}

/* The same bytes under two names count once; a part of them too. */
static void drop_tied(struct lbx_parameters *p)
{
	uint64_t end = 0;
	size_t n = 0;

	if (p->n)
		qsort(p->list, p->n, sizeof *p->list, by_place);
	for (size_t i = 0; i < p->n; i++) {
		struct lbx_parameter *x = &p->list[i];
		if (x->end && x->end <= end) {
			p->tied++;
			drop(x);
			continue;
		}
		end = x->end > end ? x->end : end;
		p->list[n++] = *x;
	}
	p->n = n;
}

static struct lbx_parameter *find(struct lbx_parameters *p, uint64_t id)
{
	struct lbx_parameter key = { .id = id };
	return p->n ? bsearch(&key, p->list, p->n, sizeof *p->list, by_id) : NULL;
}

static void set_packed(struct lbx_parameter *x, int mode, int bits)
{
	int64_t all;

	if (x->bits || x->dtype != LB_U32 || !lb_mul(x->count, 32, &all))
		return;
	x->mode = mode;
	x->bits = bits;
	x->count = all / bits;
	x->last = lb_mul(x->last, 32, &all) ? all / bits : 0;
}

static void apply_uses(struct walk *w)
{
	if (w->p->n)
		qsort(w->p->list, w->p->n, sizeof *w->p->list, by_id);
	for (size_t i = 0; i < w->n_uses; i++) {
		struct lbx_parameter *words = find(w->p, w->uses[i].words);
		if (words)
			set_packed(words, w->uses[i].mode, w->uses[i].bits);
		for (int k = 0; k < 2; k++) {
			struct lbx_parameter *other = find(w->p, w->uses[i].others[k]);
			if (other && other->dtype != LB_U32) {
				other->overhead = true;
				other->count = 0;
			}
		}
	}
}

/* By what its runtime says that it is for, where it does. */
static bool is_no_parameter(const struct lbx_tensor *t)
{
	return t->usage == LBX_USAGE_COMPUTE || t->usage == LBX_USAGE_STATE || t->usage == LBX_USAGE_INPUTS;
}

/* What a lazy tensor holds until it is computed. */
static bool count_inputs(struct walk *w, const struct lbx_tensor *t)
{
	bool is_new;

	if (!t->of->ops->scope || t->flags & LB_FLAG_DETACHED)
		return true;
	for (uint32_t i = 0; i < t->n_inputs; i++) {
		struct lbx_tensor input;
		if (!lbx_tensor_input(t, i, &input)) {
			if (lb_error_cause() == LB_INTERRUPTED)
				return false;
			lb_clear_error();
			continue;
		}
		struct lbx_number *entry = lbx_number_of_tensor(&w->consumers, &input, &is_new);
		if (!entry)
			return false;
		entry->value++;
	}
	return true;
}

/* Where it is known which tensors the program itself holds, beyond scopes and what is still to be computed: a model's
 * parameters are among them, activations and inputs are not. */
static bool find_kept(struct walk *w)
{
	for (size_t i = 0; i < w->p->n; i++) {
		struct lbx_parameter *x = &w->p->list[i];
		bool is_new;
		if (x->holders <= 0)
			continue;
		struct lbx_number *entry = lbx_number_at(&w->consumers, x->of, x->record, &is_new);
		if (!entry)
			return false;
		x->is_said |= x->holders > (int64_t)entry->value;
	}
	return true;
}

static bool walk(struct lbx_context *context, struct walk *w)
{
	struct lbx_tensor t;
	uint64_t slot = 0, bad = 0, seen = 0;
	enum lbx_next next;

	while ((next = lbx_tensors_next(w->tensors, &slot, &t, &bad)) == LBX_NEXT_TENSOR) {
		if (++seen % OFTEN == 0 && !lbx_progress(context->out, "reading parameters", (int64_t)seen, 0))
			return false;
		if (t.op_class == LB_CLASS_QUANT && !add_use(w, &t))
			return false;
		if (lbx_tensor_is_pending(&t) && !count_inputs(w, &t))
			return false;
		if (t.state != LBX_READY || t.torn)
			continue;
		if (is_no_parameter(&t))
			continue;
		if (!t.name[0])
			w->p->unnamed += t.op_class != LB_CLASS_VIEW;
		else if ((!w->glob || lbx_name_matches(w->glob, t.name)) && !add(w->p, &t))
			return false;
	}
	return next == LBX_NEXT_END;
}

/* Whether the runtime says of any that it is a weight. */
static bool is_any_said(const struct lbx_parameters *p)
{
	bool any = false;

	for (size_t i = 0; i < p->n && !any; i++)
		any = p->list[i].is_said;
	return any;
}

bool lbx_parameters_find(struct lbx_context *context, const char *glob, enum lbx_tied tied, struct lbx_parameters *ret)
{
	struct walk w = { .tensors = context->tensors, .glob = glob, .p = ret };

	*ret = (struct lbx_parameters){ .n = 0 };
	bool ok = walk(context, &w);
	if (ok && tied == LBX_TIED_EACH)
		drop_others(ret); /* what is kept is told from them, and stays */
	ok = ok && (is_any_said(ret) || find_kept(&w));
	if (ok) {
		ret->is_known = is_any_said(ret);
		if (tied == LBX_TIED_ONCE) {
			drop_others(ret);
			drop_tied(ret);
		}
		apply_uses(&w);
		if (ret->n)
			qsort(ret->list, ret->n, sizeof *ret->list, by_key);
		for (size_t i = 0; i < ret->n; i++) {
			ret->count = lbx_capped_sum(ret->count, ret->list[i].count);
			ret->bytes = lbx_capped_sum(ret->bytes, ret->list[i].bytes);
		}
	}
	free(w.uses);
	lbx_number_map_deinit(&w.consumers);
	if (!ok)
		lbx_parameters_deinit(ret);
	return ok;
}

void lbx_parameters_deinit(struct lbx_parameters *p)
{
	for (size_t i = 0; i < p->n; i++)
		drop(&p->list[i]);
	free(p->list);
	*p = (struct lbx_parameters){ .n = 0 };
}
