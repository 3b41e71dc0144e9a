/* Gradients that vanish or explode from layer to layer. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/diagnose/family.h"
#include "inspect/diagnose/rule.h"

enum { LAYERS_LEAST = 4, FAMILIES_MOST = 256 };

static const double ratio_medium = 1e5, ratio_high = 1e8;

/* Parameters of the same place in each layer: "layers.*.fc.weight.grad". */
struct family {
	char name[LB_NAME_MAX + 1];
	size_t n;
	const struct lbx_gradient *least, *largest;
};

static void take(struct family *families, int *n, const struct lbx_gradient *x)
{
	char name[LB_NAME_MAX + 1];
	int i = 0;

	if (x->is_zero || !x->is_finite || !lbx_family_of(x->name, name))
		return;
	while (i < *n && strcmp(families[i].name, name) != 0)
		i++;
	if (i == FAMILIES_MOST)
		return;
	if (i == *n) {
		families[(*n)++] = (struct family){ .least = x, .largest = x };
		memcpy(families[i].name, name, sizeof name);
	}
	struct family *f = &families[i];
	f->n++;
	f->least = x->rms < f->least->rms ? x : f->least;
	f->largest = x->rms > f->largest->rms ? x : f->largest;
}

static bool conclude(struct lbx_case *c, void *state)
{
	const struct lbx_gradients *g = &c->gradients;
	struct family *families = calloc(FAMILIES_MOST, sizeof *families), *worst = NULL;
	int n = 0;

	(void)state;
	if (!families)
		return lb_fail("out of memory");
	for (size_t i = 0; i < g->n; i++)
		take(families, &n, &g->list[i]);
	for (int i = 0; i < n; i++)
		if (families[i].n >= LAYERS_LEAST && (!worst || families[i].largest->rms / families[i].least->rms >
								    worst->largest->rms / worst->least->rms))
			worst = &families[i];
	double ratio = worst ? worst->largest->rms / worst->least->rms : 1;
	struct lbx_diagnosed *f =
	    ratio >= ratio_medium ? lbx_case_found(c, ratio >= ratio_high ? LBX_HIGH : LBX_MEDIUM, 0.7) : NULL;
	if (f) {
		LBX_SAY(f->title, "gradients of %s differ by a factor of %.1g between layers", worst->name, ratio);
		LBX_SAY(f->evidence, "Root mean squares, of %zu layers: %.3g of %s, %.3g of %s.", worst->n,
			worst->largest->rms, worst->largest->name, worst->least->rms, worst->least->name);
		lbx_diagnosed_tensor(f, &worst->largest->key);
		lbx_diagnosed_tensor(f, &worst->least->key);
		LBX_SAY(
		    f->advice,
		    "Norms, residual connections, an initialisation that keeps the scale; where they explode, clip them.");
	}
	free(families);
	return lb_ok();
}

const struct lbx_rule lbx_rule_uneven_gradients = {
	.id = "G2",
	.name = "uneven-gradients",
	.title = "gradients that vanish or explode from layer to layer",
	.sees = LBX_SEES_TENSORS | LBX_SEES_VALUES | LBX_SEES_GRADIENTS,
	.meaning =
	    "Where each layer makes the gradient a little smaller, the first layers of a deep model hardly learn;\n"
	    "where larger, they are torn about.",
	.example = "Fifty sigmoid layers in a row: each passes a quarter of the gradient at most.",
	.demands =
	    "Gradients of the same parameter in at least 4 layers (names that differ in their first number), finite\n"
	    "and not zero, whose root mean squares differ by a factor of 1e5 or more. High from 1e8 on.",
	.cure = "Norms, residual connections, an initialisation that keeps the scale, clipping.",
	.conclude = conclude,
};
