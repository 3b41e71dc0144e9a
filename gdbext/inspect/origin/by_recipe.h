/* What an element of another runtime's tensor is made of, by the recipe that computes it (tensors/recipe.h): back through its steps,
 * each of which is an operation of ours (inspect/replay/sources.h). So each recipe can be followed without more being said. */
#ifndef LBX_ORIGIN_BY_RECIPE_H
#define LBX_ORIGIN_BY_RECIPE_H

#include "inspect/origin/look.h"

/* `graph` has the tensor first, then its inputs, one after the other, of which *ret are as many. Where it has no recipe they stay as
 * they are. False, with an error, only when the search must end. */
bool lbx_sources_by_recipe(struct lbx_search *search, const struct lbx_graph *graph, const int64_t *at,
			   struct lbx_source *ret);

#endif
