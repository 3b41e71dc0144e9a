/* Each operation of ggml that has a recipe, beside values that are worked out here (ggml_recipes.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ggml/recipe.h"
#include "ggml_recipes.h"

/* The last one. */
static void each_recipe_has_a_case(void **state)
{
	const char *name, *near;
	int n = 0;

	(void)state;
	for (size_t i = 0; (name = lbx_ggml_recipe_name(i, &near)); i++)
		if (!was_computed(name)) {
			print_error("%s has no case\n", name);
			n++;
		}
	assert_int_equal(n, 0);
}

/* They are refused by name. */
static void others_have_none(void **state)
{
	const char *name, *why;

	(void)state;
	for (size_t i = 0; (name = lbx_ggml_no_recipe_name(i, &why)); i++) {
		nodes_reset();
		is_without(&(struct node){ .op = name, .ne = { 4, 1, 1, 1 }, .sources = { leaf(4, 1, 1, 1) } }, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recipes_of_moves),    cmocka_unit_test(recipes_of_elements),
		cmocka_unit_test(recipes_of_rows),     cmocka_unit_test(recipes_of_rope),
		cmocka_unit_test(recipes_of_products), cmocka_unit_test(recipes_of_attention),
		cmocka_unit_test(recipes_of_images),   cmocka_unit_test(recipes_of_scans),
		cmocka_unit_test(others_have_none),    cmocka_unit_test(each_recipe_has_a_case),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
