/* A bias of another length than its brothers in the other layers, while its own weight is as theirs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vector.h"
#include "inspect/diagnose/family.h"
#include "inspect/diagnose/rule.h"
#include "inspect/tensor/format.h"

enum { BROTHERS_LEAST = 5, PARTS_MOST = 1 << 16 };

/* One with a bias' name, or a weight's. */
struct part {
	char family[LB_NAME_MAX + 1]; /* without that word at its end */
	int64_t number; /* in its place */
	bool is_bias;
	struct lbx_key key;
	int rank;
	int64_t shape[LB_MAX_RANK];
};

struct parts {
	size_t n, room;
	struct part *list;
};

/* Takes the word off the end of a name. */
static bool take_word(char *name, const char *word)
{
	size_t n = strlen(name), length = strlen(word);

	if (n <= length || strcmp(name + n - length, word) != 0)
		return false;
	name[n - length] = '\0';
	return true;
}

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t)
{
	struct parts *p = state;
	struct part x = { .key = lbx_tensor_key(t), .rank = t->rank };

	(void)c;
	if (t->torn || t->encoding || !t->name[0] || t->is_shapeless || t->rank > LB_MAX_RANK || p->n == PARTS_MOST ||
	    !lbx_family_of(t->name, x.family))
		return true;
	x.number = strtoll(t->name + strcspn(x.family, "*"), NULL, 10);
	x.is_bias = t->rank == 1 && take_word(x.family, "bias");
	if (!x.is_bias && (t->rank < 2 || !take_word(x.family, "weight")))
		return true;
	memcpy(x.shape, lbx_shape(t), (size_t)t->rank * sizeof *x.shape);
	if (!lb_reserve(p->list, p->room, p->n + 1))
		return lb_fail("out of memory for %zu weights", p->n);
	p->list[p->n++] = x;
	return true;
}

static int by_layer(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	int order = strcmp(x->family, y->family);

	order = order ? order : (int)x->is_bias - (int)y->is_bias;
	return order ? order : x->number < y->number ? -1 : x->number > y->number;
}

static bool is_same_shape(const struct part *x, const struct part *y)
{
	return x->rank == y->rank && memcmp(x->shape, y->shape, sizeof x->shape) == 0;
}

/* What a layer puts out: along the first axis of a weight, or along its last. */
static bool fits(const struct part *bias, const struct part *weight)
{
	return bias->shape[0] == weight->shape[0] || bias->shape[0] == weight->shape[weight->rank - 1];
}

static bool tell(struct lbx_case *c, const struct part *bias, const struct part *brother, const struct part *weight,
		 size_t n)
{
	struct lbx_tensor t;
	struct lbx_diagnosed *f = lbx_case_found_of(c, LBX_MEDIUM, 0.8, &bias->key, &t);
	char shape[LBX_LIST_MAX];

	if (!f)
		return lb_ok();
	lbx_format_list(weight->shape, weight->rank, shape, sizeof shape);
	LBX_SAY(f->title, "%s has %" PRId64 " elements, the same bias of the other layers %" PRId64, t.name,
		bias->shape[0], brother->shape[0]);
	LBX_SAY(f->evidence,
		"The %zu others of %sbias have %" PRId64
		" each. Its own weight is %s, as theirs are, and puts out %" PRId64 ".",
		n - 1, bias->family, brother->shape[0], shape, brother->shape[0]);
	LBX_SAY(
	    f->advice,
	    "Look where it is made, or loaded: it is of another layer, or cut; where it is broadcast, nothing fails.");
	return true;
}

/* n layers, each with one weight and one bias, in their order: the only bias that is not as all others, within. */
static bool judge(struct lbx_case *c, const struct part *weights, const struct part *biases, size_t n)
{
	size_t odd = 0;

	if (n <= BROTHERS_LEAST || !fits(&biases[0], &weights[0]))
		return true;
	for (size_t i = 0; i < n; i++) {
		if (weights[i].number != biases[i].number || !is_same_shape(&weights[i], &weights[0]) ||
		    (i && biases[i].number == biases[i - 1].number))
			return true;
		if (is_same_shape(&biases[i], &biases[0]))
			continue;
		if (odd || i + 1 == n || fits(&biases[i], &weights[i]))
			return true;
		odd = i;
	}
	return !odd || tell(c, &biases[odd], &biases[0], &weights[odd], n);
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct parts *p = state;

	if (p->n)
		qsort(p->list, p->n, sizeof *p->list, by_layer);
	for (size_t i = 0, n, weights; i < p->n; i += n) {
		for (n = 0, weights = 0; i + n < p->n && strcmp(p->list[i].family, p->list[i + n].family) == 0; n++)
			weights += !p->list[i + n].is_bias;
		if (2 * weights == n && !judge(c, p->list + i, p->list + i + weights, weights))
			return false;
	}
	return lb_ok();
}

static void forget(void *state)
{
	struct parts *p = state;

	free(p->list);
}

const struct lbx_rule lbx_rule_odd_bias = {
	.id = "W2",
	.name = "odd-bias",
	.title = "a bias of another length than the same one of the other layers",
	.sees = LBX_SEES_TENSORS,
	.meaning =
	    "A bias of one element is broadcast, and nothing fails; one of another length fails when its layer runs, which may be\n"
	    "seldom. It was cut, or is of another layer.",
	.example =
	    "layers.0.fc.bias … layers.13.fc.bias are (512,), layers.5.fc.bias is (1,); all their weights are (512, 64)",
	.demands =
	    "Six layers or more whose names differ in their first number only, each with one weight and one bias of one axis, not\n"
	    "quantised: all weights are of one shape, all biases but one have one length, along which the weights lie, and that one, of\n"
	    "neither the first nor the last layer, has a length that its own weight has not.",
	.cure = "Make it as long as what its weight puts out; `weights FILE` compares it with a checkpoint.",
	.state = sizeof(struct parts),
	.tensor = see,
	.conclude = conclude,
	.deinit = forget,
};
