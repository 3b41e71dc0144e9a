/* Which texts are expressions of C over variables, and which of these can be nothing else. */
#include "target/effect.h"
#include "target/expression.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static bool reads(const char *text, bool *is_way)
{
	*is_way = false;
	return lbx_expression_read(text, is_way);
}

static void what_a_tensor_may_be_called_too_is_no_way(void **state)
{
	static const char *const texts[] = {
		"x",     " x ",  "_x1",   "$p",      "a$b",  "a::b",   "::g",       "(x)",   "x.y",
		"x . y", "x[3]", "x[-1]", "x[0x1f]", "x[i]", "x[i.j]", "x[0][1].y", "x.get", "((x).y)",
	};
	bool is_way;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		assert_true(reads(texts[i], &is_way));
		assert_false(is_way);
	}
}

static void what_only_an_object_has_is_one(void **state)
{
	static const char *const texts[] = {
		"*x",
		"&x",
		"**x",
		"x->y",
		"(*x).y",
		"x[i + 1]",
		"x[i-1]",
		"x[\"key\"]",
		"x[\"a\\\"]b\"]",
		"x['key']",
		"x['a']",
		"x.at('it\\'s]')",
		"x.get()",
		"x->lock()",
		"x.value()",
		"x.front()",
		"x.back()",
		"x.at(3)",
		"x.at(\"k\")",
		"std::get<1>(x)",
		"std::get< 0 >(x.y)->z",
		"x[*p]",
		"x[y->n]",
	};
	bool is_way;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		assert_true(reads(texts[i], &is_way));
		assert_true(is_way);
	}
	/* also where no map has such a key */
	char text[2048] = "x[\"";
	memset(text + 3, 'k', 1024);
	strcpy(text + 3 + 1024, "\"]");
	assert_true(reads(text, &is_way) && is_way);
}

static void all_else_is_none(void **state)
{
	static const char *const texts[] = {
		"",         " ",      "3",          "x y",           "x +",          "x + 1",
		"x[",       "x[]",    "x[1",        "x[1:2]",        "x[0, 1]",      "x[...]",
		"x[\"",     "x[\"a",  "x[\"a\\\"]", "x['",           "x['a",         "x['a\"]",
		"x.",       "x->",    "x.3",        "x.size()",      "x.T()",        "x.get(",
		"x.get(1)", "x.at()", "f(x)",       "std::get<>(x)", "std::get<1>x", "(x",
		"x)",       "*",      "&",          "a::",           "'x'",          "#3",
		"@x",       "-x",     "!x",         "x[i +]",
	};
	char text[4096];
	bool is_way;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (reads(texts[i], &is_way))
			fail_msg("%s", texts[i]);
	memset(text, '(', sizeof text);
	text[sizeof text - 1] = '\0';
	assert_false(reads(text, &is_way));
	memset(text, '*', sizeof text - 2);
	text[sizeof text - 2] = 'x';
	assert_false(reads(text, &is_way));
	memset(text, 'x', sizeof text - 1); /* no name is as long */
	assert_false(reads(text, &is_way));
	memset(text, '[', sizeof text - 1);
	text[0] = 'x';
	assert_false(reads(text, &is_way));
}

static void have(enum lbx_effect effect, const char *const *texts)
{
	for (; *texts; texts++)
		if (lbx_effect_of(*texts) != effect)
			fail_msg("%s: %d", *texts, lbx_effect_of(*texts));
}

static void what_changes_or_calls_the_program_is_seen(void **state)
{
	static const char *const changes[] = {
		"i++", "--i", "x[i++]", "i = 3", "i=3", "i += 3", "i <<= 1", "i >>= 1", "f(i -= 1)", "a == (b = 1)", "x[j = 2]", NULL,
	}, *const calls[] = {
		"f(x)", "f (x)", "x.f()", "x->f()", "f(x)[0]", "a[1](x)", "(f)(x)", "(*f)(x)", "std::get<1>(x)", "abs(x) == 1",
		"foo<int> (x)", "std::get<1>\t(x)",
		"((f))(x)", "x + g()", "puts(\"(int)\")", NULL,
	}, *const nothing[] = {
		"x", "(x)", "*(x)", "&(x)", "x[(1)]", "(int)(x)", "(unsigned long)x", "(unsigned long)(x)", "(struct node *)(x)",
		"(lb_tensor *)(void *)(x)", "(uint64_t)(x)", "sizeof(x)", "sizeof (struct node)", "a == b", "a != b", "a <= b",
		"a >= b", "a < (b)", "a > (b)", "(a < b) > (c)", "static_cast<long> (x)", "a - -b", "reinterpret_cast<lb_tensor *>(x)", "$_strlen(x)", "names[\"f(x)\"]",
		"names[\"a=b\"]", "'='", "x == '('", "", "(", ")(", "\"", "*(unsigned long *)&(x)", NULL,
	};

	(void)state;
	have(LBX_CHANGES, changes);
	have(LBX_CALLS, calls);
	have(LBX_NO_EFFECT, nothing);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_tensor_may_be_called_too_is_no_way),
		cmocka_unit_test(what_only_an_object_has_is_one),
		cmocka_unit_test(all_else_is_none),
		cmocka_unit_test(what_changes_or_calls_the_program_is_seen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
