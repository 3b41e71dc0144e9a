/* A weight unlike its brothers in the other layers: still random where they were loaded, or of another dtype. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vector.h"
#include "inspect/diagnose/family.h"
#include "inspect/diagnose/ops.h"
#include "inspect/diagnose/rule.h"
#include "inspect/tensor/describe.h"

enum { BROTHERS_LEAST = 4, WEIGHTS_MOST = 1 << 16 };

struct weight {
	char family[LB_NAME_MAX + 1];
	struct lbx_key key;
	enum lb_dtype dtype;
	int rank;
	int64_t shape[LB_MAX_RANK];
	bool is_made; /* by a random number or a constant; otherwise it came from a file */
};

struct weights {
	size_t n, room;
	struct weight *list;
};

/* Of a file, mapped or read, or of the program's own memory. */
static bool is_loaded(const struct lbx_tensor *t)
{
	return t->op_class == LB_CLASS_LEAF &&
	       (t->buffer_flags & (LB_BUFFER_FOREIGN | LB_BUFFER_CONTENT) || t->usage == LBX_USAGE_WEIGHTS);
}

static bool is_made(const struct lbx_tensor *t)
{
	return lbx_made_by(t, "random_normal") || lbx_made_by(t, "random_uniform") || lbx_made_by(t, "full");
}

/* Through what changes a dtype alone. */
static bool find_origin(const struct lbx_tensor *t, struct lbx_tensor *ret)
{
	struct lbx_tensor before;

	*ret = *t;
	if (lbx_made_by(t, "astype") && lbx_input_of(t, 0, &before))
		*ret = before;
	return is_loaded(ret) || is_made(ret);
}

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t)
{
	struct weights *w = state;
	struct lbx_tensor origin;
	char family[LB_NAME_MAX + 1];

	(void)c;
	if (t->torn || t->encoding || t->dtype < LB_F16 || !t->name[0] || t->is_shapeless || t->rank > LB_MAX_RANK ||
	    w->n == WEIGHTS_MOST || !find_origin(t, &origin) || !lbx_family_of(t->name, family))
		return true;
	if (!lb_reserve(w->list, w->room, w->n + 1))
		return lb_fail("out of memory for %zu weights", w->n);
	struct weight *x = &w->list[w->n++];
	*x = (struct weight){
		.key = lbx_tensor_key(t), .dtype = t->dtype, .rank = t->rank, .is_made = is_made(&origin)
	};
	memcpy(x->family, family, sizeof x->family);
	memcpy(x->shape, lbx_shape(t), (size_t)t->rank * sizeof *x->shape);
	return true;
}

/* Of the same place, and of the same shape: a norm between two layers is no brother of theirs. */
static int compare(const struct weight *x, const struct weight *y)
{
	int order = strcmp(x->family, y->family);

	order = order ? order : x->rank - y->rank;
	return order ? order : memcmp(x->shape, y->shape, sizeof x->shape);
}

static int by_family(const void *a, const void *b)
{
	const struct weight *x = a, *y = b;
	int order = compare(x, y);

	return order ? order : x->key.id < y->key.id ? -1 : x->key.id > y->key.id;
}

static bool tell_made(struct lbx_case *c, const struct weight *x, size_t loaded)
{
	struct lbx_tensor t;
	struct lbx_diagnosed *f = lbx_case_found_of(c, LBX_HIGH, 0.85, &x->key, &t);

	if (!f)
		return lb_ok();
	LBX_SAY(f->title, "%s was not loaded: it is as it was made", t.name);
	LBX_SAY(f->evidence, "The %zu others of %s came from a file; this one is made by %s.", loaded, x->family, t.op);
	LBX_SAY(f->advice, "Look whether the file has it, by what name: `lazybones weights FILE` compares them.");
	return true;
}

static bool tell_dtype(struct lbx_case *c, const struct weight *x, const struct weight *brother, size_t n)
{
	struct lbx_tensor t;
	struct lbx_diagnosed *f = lbx_case_found_of(c, LBX_MEDIUM, 0.7, &x->key, &t);

	if (!f)
		return lb_ok();
	LBX_SAY(f->title, "%s is %s, unlike the same weight of the other layers", t.name, lbx_dtype_name(x->dtype));
	LBX_SAY(f->evidence, "The %zu others of %s are %s.", n, x->family, lbx_dtype_name(brother->dtype));
	LBX_SAY(f->advice,
		"Convert it where it is loaded, unless it is meant so: what it meets takes the wider dtype.");
	return true;
}

/* The only one of n that differs from all others; NULL: there is none, or there are several. */
static const struct weight *find_odd(const struct weight *list, size_t n,
				     bool (*differs)(const struct weight *x, const struct weight *y))
{
	const struct weight *odd = NULL;

	/* two of the first three are as all but one are */
	const struct weight *like = !differs(&list[0], &list[1]) || !differs(&list[0], &list[2]) ? &list[0] : &list[1];
	for (size_t i = 0; i < n; i++) {
		if (!differs(&list[i], like))
			continue;
		if (odd)
			return NULL;
		odd = &list[i];
	}
	return odd;
}

static bool has_other_origin(const struct weight *x, const struct weight *y)
{
	return x->is_made != y->is_made;
}

static bool has_other_dtype(const struct weight *x, const struct weight *y)
{
	return x->dtype != y->dtype;
}

/* n brothers. */
static bool judge(struct lbx_case *c, const struct weight *list, size_t n)
{
	const struct weight *made, *other;

	if (n <= BROTHERS_LEAST)
		return true;
	made = find_odd(list, n, has_other_origin);
	other = find_odd(list, n, has_other_dtype);
	return (!made || !made->is_made || tell_made(c, made, n - 1)) &&
	       (!other || tell_dtype(c, other, &list[other == list], n - 1));
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct weights *w = state;

	if (w->n)
		qsort(w->list, w->n, sizeof *w->list, by_family);
	for (size_t i = 0, n; i < w->n; i += n) {
		for (n = 1; i + n < w->n && compare(&w->list[i], &w->list[i + n]) == 0; n++)
			;
		if (!judge(c, w->list + i, n))
			return false;
	}
	return lb_ok();
}

static void forget(void *state)
{
	struct weights *w = state;

	free(w->list);
}

const struct lbx_rule lbx_rule_odd_weights = {
	.id = "W1",
	.name = "odd-weights",
	.title = "a weight unlike the same one of the other layers",
	.sees = LBX_SEES_TENSORS,
	.meaning =
	    "A weight that the file has under another name stays as it was initialised, and nothing fails. One that is\n"
	    "of another dtype makes what it meets that dtype, too.",
	.example = "layers.0.fc.weight … layers.31.fc.weight come from a file, layers.7.fc.weight is random",
	.demands =
	    "Five weights or more of one shape whose names differ in their first number only, not quantised: all but one came from\n"
	    "a file or memory of the program, and that one is random or constant (high); or all but one are of one dtype.",
	.cure = "`weights FILE` lists what is missing and what was not used, with likely renames.",
	.state = sizeof(struct weights),
	.tensor = see,
	.conclude = conclude,
	.deinit = forget,
};
