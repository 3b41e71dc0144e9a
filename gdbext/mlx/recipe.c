#include "mlx/recipe.h"

#include <string.h>

static const struct {
	const char *name;
	int code;
	int (*cook)(struct lbx_mlx_node *n);
} recipes[] = {
#define RECIPE(name, function, operation) { #name, LB_OP_##operation, lbx_mlx_recipe_##function },
#include "mlx/recipes.def"
};

/* Whether a function of floats jumps (tensors/doubt.h); of a compiled one its operations have been asked. */
static bool has_gaps(int code)
{
	return code == LB_OP_FLOOR || code == LB_OP_CEIL || code == LB_OP_ROUND || code == LB_OP_REMAINDER ||
	       code == LB_OP_WHERE || code == LB_OP_PARTITION || code == LB_OP_QUANTIZE || code == LB_OP_FUSED;
}

/* What comes out is what the record says. */
static int finish(const struct lbx_mlx_node *n, int value)
{
	if (value == LBX_FAIL)
		return LBX_FAIL;
	if (!has_gaps(n->code) && lb_dtype_is_inexact((int)lbx_mlx_dtype(n, value)))
		lbx_step_has_no_gap(n->r, value, (int)n->n_inputs, n->inputs);
	if (n->is_traced)
		return lbx_mlx_dtype(n, value) == n->record.dtype ? value : lbx_mlx_no_recipe(n, "such a dtype");
	const struct lbx_step *s = lbx_step(n->r, value);
	bool fits = s->dtype == n->record.dtype && s->rank == n->record.rank;
	for (int i = 0; fits && i < s->rank; i++)
		fits = s->shape[i] == n->record.sizes[i];
	return fits ? value : lbx_mlx_no_recipe(n, "inputs that do not fit it");
}

int lbx_mlx_recipe(struct lbx_mlx_node *n)
{
	if (n->record.rank > LB_MAX_RANK)
		return lbx_mlx_no_recipe(n, "so many axes");
	for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
		if (strcmp(recipes[i].name, n->op) != 0)
			continue;
		n->code = recipes[i].code;
		return finish(n, recipes[i].cook(n));
	}
	return lbx_mlx_no_recipe(n, NULL);
}
