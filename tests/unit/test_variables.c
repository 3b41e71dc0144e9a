/* What the plugin makes of gdb's texts of variables. */
#include "plugin/reads/variables.c"

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
	finds("cache = {[0] = 0x0, [1] = 0x5, [2] = 0x6 <repeats 3 times>, [5] = 0x7}\n",
	      "cache[0]=0 cache[1]=5 cache[2]=6 cache[5]=7 ");
	finds("many = {[0] = 0x1, [1] = 0x2...}\nlast = 0x3\n", "many[0]=1 many[1]=2 last=3 ");
	finds("layers = {[0] = {w = 0x1}, [1] = {w = 0x2}}\n", "layers[0].w=1 layers[1].w=2 ");
	finds("r = (lb_tensor *&) @0x7ffe: 0x10\nv = @0x7fff: {a = 0x20}\n", "r=10 v.a=20 ");
	finds("c = 97 'a'\nq = 34 '\"'\nx = <optimized out>\ny = <error: Cannot access memory at address 0x1>\n"
	      "d = 1.5\nz = 0x9\n",
	      "z=9 ");
	finds("text = \"abc 0x44\", '\\000' <repeats 12 times>\nz = 0x9\n", "z=9 ");
}

/* What is said is an expression that means the same to gdb; what cannot be said is left out. */
static void members_without_a_name_are_those_of_the_whole(void **state)
{
	struct found found = { .text = "" };

	(void)state;
	finds("L = {w = 0x1, v = std::vector of length 2, capacity 3 = {0x2, 0x3}, z = 1, b = 0x4}\nx = 0x5\n",
	      "L.w=1 L.b=4 x=5 ");
	finds("d = {<Base> = {bt = 0x1}, <A<int, B<1> >> = {<No data fields>}, dt = 0x2}\nx = 0x3\n",
	      "d.bt=1 d.dt=2 x=3 ");
	finds("d = {<A> = {<B> = {x = 0x1, y = 0x2}, s = {x = 0x3}}, x = 5, z = 0x4}\n", "d.y=2 d.s.x=3 d.z=4 ");
	finds("d = {<A> = {x = 0x1, y = 0x2}, <B> = {x = 0x3, z = 0x4}, <No data fields>}\n", "d.y=2 d.z=4 ");
	finds("d = {_vptr.Base = 0x1 <vtable for Base+16>, t = 0x2, static s = 0x3, u = 0x4}\n", "d.t=2 d.u=4 ");
	finds("a = {[0] = {k = 0, {u = 0x1, n = 1}, {p = 0x2, q = 0}}, [1] = {{u = 0x3, n = 3}, {p = 0x4}}}\n",
	      "a[0].u=1 a[0].p=2 a[1].u=3 a[1].p=4 ");
	assert_true(lbx_variables_parse_pointee("{<Base> = {bt = 0x1, s = {m = 0x2}}, {u = 0x3}, dt = 0x4}", "p", true,
						note, &found));
	assert_string_equal(found.text, "p->bt=1 p->s.m=2 p->u=3 p->dt=4 ");
	/* a name that is too long to be said */
	char text[512];
	snprintf(text, sizeof text, "s = {%0*d = 0x1, b = 0x2}\nx = 0x3\n", LBX_VARIABLE_MAX, 0);
	finds(text, "s.b=2 x=3 ");
}

static void pointees_are_taken_apart(void **state)
{
	struct found found = { .text = "" };

	(void)state;
	assert_true(lbx_variables_parse_pointee("{w = 0x1, n = 4, list = {[0] = 0x2, [1] = 0x3}}", "layer", true, note,
						&found));
	assert_string_equal(found.text, "layer->w=1 layer->list[0]=2 layer->list[1]=3 ");
	found.text[0] = '\0';
	assert_true(lbx_variables_parse_pointee("<incomplete type>", "t", true, note, &found));
	assert_true(lbx_variables_parse_pointee("(lb_tensor *) 0x55", "t", true, note, &found));
	assert_true(lbx_variables_parse_pointee("{1, 2}", "t", true, note, &found));
	assert_true(lbx_variables_parse_pointee("Attempt to take contents of a non-pointer value.", "t", true, note,
						&found));
	assert_string_equal(found.text, "");
}

static void a_search_stops(void **state)
{
	struct found found = { .text = "", .most = 2 };

	(void)state;
	assert_false(lbx_variables_parse("a = {[0] = 0x1, [1] = 0x2, [2] = 0x3}\nb = 0x4\n", false, note, &found));
	assert_string_equal(found.text, "a[0]=1 a[1]=2 ");
}

/* Every beginning of a text, and every text with one character changed: an end, and within
 * bounds. */
static void nonsense_comes_to_an_end(void **state)
{
	static const char whole[] =
	    "layer = {<B<1>> = {w = (x *) 0x1 <a+1>}, {k = 1}, b = @0x2: {[0] = 0x3 <repeats 9 times>...}, "
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
		cmocka_unit_test(members_without_a_name_are_those_of_the_whole),
		cmocka_unit_test(pointees_are_taken_apart),
		cmocka_unit_test(a_search_stops),
		cmocka_unit_test(nonsense_comes_to_an_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
