/* Names that differ by one index. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "tensors/alike.h"

static void those_of_a_list_stand_together(void **state)
{
	static const char *const names[] = { "losses[10]", "x",         "losses[9]", "rows[1].w",
					     "losses[2]",  "rows[0].w", "rows[0].b" };
	enum { N = sizeof names / sizeof *names };
	struct lbx_alike list[N] = { { 0 } };
	char told[256] = "", name[64];
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		snprintf(list[i].name, sizeof list[i].name, "%s", names[i]);
		lbx_alike_init(&list[i]);
	}
	lbx_alike_sort(list, N);
	for (size_t at = 0; at < N; at += n) {
		size_t used = strlen(told);
		n = lbx_alike_count(&list[at], N - at);
		lbx_alike_name(&list[at], n, name, sizeof name);
		snprintf(told + used, sizeof told - used, "%s: %zu\n", name, n);
	}
	assert_string_equal(told, "x: 1\nlosses[2…10]: 3\nrows[0].b: 1\nrows[0…1].w: 2\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(those_of_a_list_stand_together) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
