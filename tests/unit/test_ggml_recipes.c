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

/* Which input it is that is gone, and what would help. What is not needed may be gone. */
static void inputs_may_be_gone(void **state)
{
	(void)state;
	for (int is_overwritten = 0; is_overwritten < 2; is_overwritten++) {
		nodes_reset();
		int x = leaf(4, 3, 1, 1), w = leaf(4, 3, 1, 1);
		lose(w, is_overwritten);
		int sum = node(&(struct node){ .op = "ADD", .ne = { 4, 3, 1, 1 }, .sources = { x, w } });
		is_refused(&(struct node){ .op = "SQR", .ne = { 4, 3, 1, 1 }, .sources = { sum } },
			   is_overwritten
			       ? "it needs gone (#2, float32 (3, 4), overwritten), which has been overwritten by "
				 "#7: stop the program before that, or node by node"
			       : "it needs gone, #2: no memory at 0x200000");
		/* a copy overwrites what was in its other source */
		for (int i = 0; i < 12; i++)
			want(at(x, i % 4, i / 4, 0, 0));
		if (is_overwritten)
			holds(&(struct node){ .op = "CPY", .ne = { 4, 3, 1, 1 }, .sources = { x, w }, .view_of = w },
			      0);
	}
	nodes_reset();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recipes_of_moves),       cmocka_unit_test(recipes_of_elements),
		cmocka_unit_test(recipes_of_rows),        cmocka_unit_test(recipes_of_rope),
		cmocka_unit_test(recipes_of_products),    cmocka_unit_test(recipes_of_attention),
		cmocka_unit_test(recipes_of_images),      cmocka_unit_test(recipes_of_scans),
		cmocka_unit_test(inputs_may_be_gone),     cmocka_unit_test(others_have_none),
		cmocka_unit_test(each_recipe_has_a_case),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
