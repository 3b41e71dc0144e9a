/* Expressions over tensors: of this process, what a command says of them; their values beside NumPy's are compared by
 * tests/formula. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "base/error.h"
#include "inspect/formula/formula.h"
#include "inspect/formula/syntax.h"
#include "lazybones.h"
#include "says.h"

static lb_tensor *counted(const char *name, int64_t rows, int64_t columns)
{
	lb_tensor *x = lb_reshape(lb_arange(0, (double)(rows * columns), 1, LB_F32), LB_SHAPE(rows, columns));

	return lb_keep(lb_named(name, x));
}

static int start(void **state)
{
	lb_tensor *x = counted("x", 3, 4), *flags = lb_keep(lb_named("flags", lb_greater(x, lb_scalar(5))));

	lb_eval(x, flags);
	lb_keep(lb_named("lazy", lb_multiply(x, lb_scalar(2))));
	lb_eval(lb_keep(lb_named("l_out-3", lb_add(x, lb_scalar(100)))));
	lb_eval(lb_keep(lb_named("x[0]", lb_scalar(7))));
	assert_true(lb_ok());
	*state = session_of_self();
	return *state ? 0 : -1;
}

static int stop(void **state)
{
	session_destroy(*state);
	return 0;
}

static void values(void **state)
{
	struct session *s = *state;

	says(s, "print", "(x * 2 + 1).sum()", "144.0");
	says(s, "print", "x.T @ x", "[[ 80.  92. 104. 116.]");
	says(s, "print", "(lazy - x).max(axis=1)", "[ 3.  7. 11.]");
	says(s, "print", "x[x > 9]", "[10. 11.]");
	says(s, "print", "lazy[flags].mean()", "17.0");
	says(s, "print", "x[1:, ::2].astype(int32) % 3", "[[1 0]\n [2 1]]");
	says(s, "stats", "x - x", "(100%)");
	says(s, "diff", "x*2 lazy", "all 12 elements are equal");
	says(s, "print", "x.shape", "[3 4]");
	says(s, "print", "1 + 2", "names no tensor");
}

/* What is only another look at memory is not computed, and says nothing of it. */
static void looks(void **state)
{
	struct session *s = *state;

	says(s, "print", "x.T", "x.T: float32 (4, 3)\n");
	says(s, "print", "x.reshape(2, 6)[1]", "x.reshape(2, 6)[1]: float32 (6,)\n");
	says(s, "print", "(x + 0).T", "computed outside the program");
	says(s, "print", "--json (x + 0)[0]", "\"data\":null");
}

/* A name comes first, whatever else it may look like. */
static void names(void **state)
{
	struct session *s = *state;

	says(s, "print", "l_out-3", "l_out-3: float32 (3, 4)\n[[100.");
	says(s, "print", "'l_out-3' - 100 - x", "[[0. 0. 0. 0.]");
	says(s, "print", "x[0]", "x[0]: float32 ()\n7.0");
	says(s, "print", "x[1]", "[4. 5. 6. 7.]");
	says(s, "info", "x + 1", "'x + 1' is computed: it has values (`print`, `stats`), and no record");
}

/* What the bounds of slices come to, here of tensors; of a program's variables: tests/gdb/sliced.c. */
static void bounds(void **state)
{
	struct session *s = *state;

	says(s, "print", "x[x.shape[0] - 1:]", "x[x.shape[0] - 1:]: float32 (1, 4)\n[[ 8.");
	says(s, "print", "x[1:x.argmin() + 2, 7 % 4:]", "float32 (1, 1)\n[[7.]]");
	says(s, "print", "x[:, ::minimum(2, 3)][1, maximum(0, 1)]", "\n6.0");
	says(s, "print", "(x + 0)[1:, -5 % 4:]", "[[ 7.]\n [11.]]");
	says(s, "print", "lazy[x.ndim:, 0]", "it has no value yet");
	says(s, "peek", "lazy[x.ndim:, 0]", "[16.]");
	says(s, "print", "x[1, x > 3]", "a mask stands alone");
	says(s, "print", "x[:x]", "this is float32 (3, 4)\n    x[:x]\n       ^");
	says(s, "print", "x[:5 % 0]", "\n    x[:5 % 0]\n       ^");
	says(s, "print", "x[1, x.size]",
	     "index 12 is out of range for axis 1 with size 4\n    x[1, x.size]\n         ^");
	says(s, "print", "x[x[x[x[x[x[x[x[x[x[x[x[x[x[x[x[nobody:]]]]]]]]]]]]]]]]", "no tensor 'nobody'");
}

static void mistakes(void **state)
{
	struct session *s = *state;

	says(s, "print", "x @ x", "do not go together");
	says(s, "print", "x @ x", "\n    x @ x\n      ^");
	says(s, "print", "x.mena()", "did you mean 'mean'?");
	says(s, "print", "x +", "missing at the end\n    x +\n       ^");
	says(s, "print", "nobody * 2", "no tensor 'nobody'");
	says(s, "print", "'foo<int> (x)'", "'foo<int>' is of C++");
	says(s, "print", "2 * foo<int>(x)", "'foo<int>' is of C++, and none of what is computed here");
	says(s, "print", "2 * std::get<0, int>::x", "\n    2 * std::get<0, int>::x\n        ^");
	says(s, "print", "x < 3 > (x)", "comparisons are not chained");
	says(s, "print", "x<3<(x)", "comparisons are not chained");
	says(s, "print", "where(x<3, x>(x), mean(x 1))",
	     "where(x<3, x>(x), mean(x 1))\n                             ^");
	says(s, "print", "x[flags, 0]", "a mask stands alone");
	says(s, "print", "x.reshape(5, 5)", "do not fill that shape");
	says(s, "print", "größe + x", "    größe + x\n    ^"); /* columns, not bytes */
	says(s, "print", "x + größe", "    x + größe\n        ^");
}

static void sorts(void **state)
{
	static const struct {
		const char *text;
		enum lbx_formula_sort sort;
	} rows[] = {
		{ "x", LBX_FORMULA_IS_NONE },
		{ "layers.0.weight[1, :]", LBX_FORMULA_IS_NONE },
		{ "#12", LBX_FORMULA_IS_NONE },
		{ "0x7f0012345678[0, :3]", LBX_FORMULA_IS_NONE },
		{ "0x7f0012345678[0] * 2", LBX_FORMULA_IS_ONE },
		{ "12", LBX_FORMULA_IS_NONE },
		{ "net->rows[2].w", LBX_FORMULA_IS_NONE },
		{ "a::b", LBX_FORMULA_IS_NONE },
		{ "*p", LBX_FORMULA_IS_NONE },
		{ "%12", LBX_FORMULA_IS_NONE },
		{ "weights[i]", LBX_FORMULA_IS_LOOKUP },
		{ "cache[1 + 1][0]", LBX_FORMULA_IS_LOOKUP },
		{ "w[i:, *p]", LBX_FORMULA_IS_LOOKUP },
		{ "w[:n - 1:c->step][0]", LBX_FORMULA_IS_LOOKUP },
		{ "w[len(x):]", LBX_FORMULA_IS_ONE },
		{ "w[i:n", LBX_FORMULA_IS_BROKEN },
		{ "w[*(p + 1)]", LBX_FORMULA_IS_LOOKUP },
		{ "w[*(p > 1)]", LBX_FORMULA_IS_BROKEN },
		{ "x.T", LBX_FORMULA_IS_LOOKUP },
		{ "(cache).kv[0]", LBX_FORMULA_IS_LOOKUP },
		{ "get_weight(3)", LBX_FORMULA_IS_LOOKUP },
		{ "net.layer(0)->weight[1]", LBX_FORMULA_IS_LOOKUP },
		{ "get()->w.T", LBX_FORMULA_IS_LOOKUP },
		{ "m[\"key\"].w", LBX_FORMULA_IS_LOOKUP },
		{ "get(3) + 1", LBX_FORMULA_IS_ONE },
		{ "net.layer(0)->weight.sum()", LBX_FORMULA_IS_LOOKUP },
		{ "x.sum().T", LBX_FORMULA_IS_ONE },
		{ "(*it).second", LBX_FORMULA_IS_BROKEN },
		{ "static_cast<lb_tensor *>(p)", LBX_FORMULA_IS_BROKEN },
		{ "x[x > 3]", LBX_FORMULA_IS_ONE },
		{ "w[i] + 1", LBX_FORMULA_IS_ONE },
		{ "-x", LBX_FORMULA_IS_ONE },
		{ "abs(x)", LBX_FORMULA_IS_ONE },
		{ "x.sum()", LBX_FORMULA_IS_ONE },
		{ "x +", LBX_FORMULA_IS_BROKEN },
		{ "two words", LBX_FORMULA_IS_BROKEN },
		{ "", LBX_FORMULA_IS_NONE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (lbx_formula_sort(rows[i].text) != rows[i].sort)
			fail_msg("'%s' is of sort %d, not %d", rows[i].text, lbx_formula_sort(rows[i].text),
				 rows[i].sort);
		lb_clear_error();
	}
}

/* By what brackets would do if they were all written. */
static void operators_bind_as_in_python(void **state)
{
	static const char *const pairs[][2] = {
		{ "x + x * x", "x + (x * x)" },
		{ "-x ** 2", "-(x ** 2)" },
		{ "x * -x", "x * (-x)" },
		{ "x - x - 1", "(x - x) - 1" },
		{ "2 ** x ** 0.5", "2 ** (x ** 0.5)" },
		{ "x > 1 + 1", "x > (1 + 1)" },
		{ "x @ x.T * 2", "(x @ x.T) * 2" },
		{ "x / 2 * x", "(x / 2) * x" },
		{ "(x > 1) & (x < 5) | flags", "((x > 1) & (x < 5)) | flags" },
	};
	struct session *s = *state;
	char line[256];

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		snprintf(line, sizeof line, "(%s) (%s)", pairs[i][0], pairs[i][1]);
		says(s, "diff", line, "elements are equal");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(looks),
		cmocka_unit_test(names),
		cmocka_unit_test(bounds),
		cmocka_unit_test(mistakes),
		cmocka_unit_test(sorts),
		cmocka_unit_test(operators_bind_as_in_python),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
