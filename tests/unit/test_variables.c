/* What the plugin makes of gdb's texts of variables. */
#include "plugin/variables.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct found {
	char text[4096];
	int most; /* stops after so many */
};

static bool note(void *context, const struct lbx_pointer *pointer)
{
	struct found *found = context;
	size_t n = strlen(found->text);

	snprintf(found->text + n, sizeof found->text - n, "%s=%llx ", pointer->expression,
		 (unsigned long long)pointer->value);
	return --found->most != 0;
}

static void finds(const char *text, const char *expected)
{
	struct found found = { .text = "" };

	assert_true(lbx_variables_parse(text, false, note, &found));
	assert_string_equal(found.text, expected);
}

static void variables_are_taken_apart(void **state)
{
	(void)state;
	finds("", "");
	finds("No locals.\n", "");
	finds("x = 0x10\ny = (lb_tensor *) 0x20\nn = 5\n", "x=10 y=20 ");
	finds("f = {void (int)} 0x55 <main>\np = 0x66 <cache+8>\nq = 0x77", "p=66 q=77 ");
	finds("s = 0x10 \"a \\\"quoted\\\" = 0x99, }\"\nt = 0x20\n", "s=10 t=20 ");
	finds("layer = {w = 0x1, b = 0x2, inner = {x = (float *) 0x3, n = 7}}\nz = 0x4\n",
	      "layer.w=1 layer.b=2 layer.inner.x=3 z=4 ");
	finds("cache = {0x0, 0x5, 0x6 <repeats 3 times>, 0x7}\n",
	      "cache[0]=0 cache[1]=5 cache[2]=6 cache[5]=7 ");
	finds("many = {0x1, 0x2...}\nlast = 0x3\n", "many[0]=1 many[1]=2 last=3 ");
	finds("layers = {{w = 0x1}, {w = 0x2}}\n", "layers[0].w=1 layers[1].w=2 ");
	finds("r = (lb_tensor *&) @0x7ffe: 0x10\nv = @0x7fff: {a = 0x20}\n", "r=10 v.a=20 ");
	finds("c = 97 'a'\nq = 34 '\"'\nx = <optimized out>\ny = <error: Cannot access memory at address 0x1>\n"
	      "d = 1.5\nz = 0x9\n", "z=9 ");
	finds("text = \"abc 0x44\", '\\000' <repeats 12 times>\nz = 0x9\n", "z=9 ");
}

static void pointees_are_taken_apart(void **state)
{
	struct found found = { .text = "" };

	(void)state;
	assert_true(lbx_variables_parse_pointee("{w = 0x1, n = 4, list = {0x2, 0x3}}", "layer", true, note,
						&found));
	assert_string_equal(found.text, "layer->w=1 layer->list[0]=2 layer->list[1]=3 ");
	found.text[0] = '\0';
	assert_true(lbx_variables_parse_pointee("<incomplete type>", "t", true, note, &found));
	assert_true(lbx_variables_parse_pointee("(lb_tensor *) 0x55", "t", true, note, &found));
	assert_true(lbx_variables_parse_pointee("{1, 2}", "t", true, note, &found));
	assert_true(lbx_variables_parse_pointee("Attempt to take contents of a non-pointer value.", "t",
						true, note, &found));
	assert_string_equal(found.text, "");
}

static void a_search_stops(void **state)
{
	struct found found = { .text = "", .most = 2 };

	(void)state;
	assert_false(lbx_variables_parse("a = {0x1, 0x2, 0x3}\nb = 0x4\n", false, note, &found));
	assert_string_equal(found.text, "a[0]=1 a[1]=2 ");
}

/* Every beginning of a text, and every text with one character changed: an end, and within
 * bounds. */
static void nonsense_comes_to_an_end(void **state)
{
	static const char whole[] = "layer = {w = (x *) 0x1 <a+1>, b = @0x2: {0x3 <repeats 9 times>...}, "
				    "s = 0x4 \"t\\\"\"}\nc = 'c'\n";
	static const char other[] = "{}()<>\"'\\@=,. \n0x";
	char text[sizeof whole];
	struct found found;

	(void)state;
	for (size_t i = 0; i < sizeof whole; i++) {
		memcpy(text, whole, sizeof whole);
		text[i] = '\0';
		found = (struct found){ .text = "" };
		lbx_variables_parse(text, false, note, &found);
		lbx_variables_parse_pointee(text + 8 * (i > 8), "p", false, note, &found);
		for (size_t k = 0; k + 1 < sizeof other && i + 1 < sizeof whole; k++) {
			memcpy(text, whole, sizeof whole);
			text[i] = other[k];
			found = (struct found){ .text = "" };
			lbx_variables_parse(text, false, note, &found);
			lbx_variables_parse_pointee(text + 8, "p", false, note, &found);
		}
	}
	char deep[1024];
	memset(deep, '{', sizeof deep);
	memcpy(deep, "x = ", 4);
	deep[sizeof deep - 1] = '\0';
	assert_true(lbx_variables_parse(deep, false, note, &found));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_are_taken_apart),
		cmocka_unit_test(pointees_are_taken_apart),
		cmocka_unit_test(a_search_stops),
		cmocka_unit_test(nonsense_comes_to_an_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
