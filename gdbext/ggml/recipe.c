#include "ggml/recipe.h"

#include <string.h>

#include "base/error.h"

static const struct {
	const char *name, *near;
	int (*cook)(struct lbx_ggml_node *n);
} recipes[] = {
#define RECIPE(name, function, near) { #name, #near, lbx_ggml_recipe_##function },
#include "ggml/recipes.def"
};

enum { RECIPES = sizeof recipes / sizeof *recipes };

const char *lbx_ggml_recipe_name(size_t i, const char **ret_near)
{
	*ret_near = i < RECIPES ? recipes[i].near : NULL;
	return i < RECIPES ? recipes[i].name : NULL;
}

const char *lbx_ggml_no_recipe_name(size_t i, const char **ret_why)
{
	static const struct {
		const char *name, *why;
	} without[] = {
#define NO_RECIPE(name, why) { #name, #why },
#include "ggml/recipes.def"
	};
	bool is_one = i < sizeof without / sizeof *without;

	*ret_why = is_one ? without[i].why : NULL;
	return is_one ? without[i].name : NULL;
}

/* As the tensor has it: its dtype, and without the axes that its rank leaves out. */
static int finish(struct lbx_ggml_node *n, int value)
{
	if (value == LBX_FAIL)
		return LBX_FAIL;
	if (n->tensor->encoding)
		return lbx_ggml_no_recipe(n, "blocks");
	if (!n->has_gaps && lb_dtype_is_float((int)lbx_step(n->r, value)->dtype)) {
		int of[LBX_GGML_SOURCES];
		for (int i = 0; i < LBX_GGML_SOURCES; i++)
			of[i] = n->sources[i] >= 0 ? n->sources[i] : LBX_FAIL;
		lbx_step_has_no_gap(n->r, value, LBX_GGML_SOURCES, of);
	}
	return lbx_step_reshape(n->r, lbx_step_cast(n->r, value, n->tensor->dtype), n->tensor->rank,
				lbx_shape(n->tensor));
}

int lbx_ggml_recipe(struct lbx_ggml_node *n)
{
	for (int i = 0; i < LBX_GGML_AXES; i++)
		n->shape[i] = n->record.ne[LBX_GGML_AXES - 1 - i];
	for (size_t i = 0; i < RECIPES; i++)
		if (strcmp(recipes[i].name, n->tensor->op) == 0)
			return finish(n, recipes[i].cook(n));
	return lbx_ggml_no_recipe(n, NULL);
}
