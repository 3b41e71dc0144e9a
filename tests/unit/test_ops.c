/* Runs the cases of build/tests/fixtures/manifest: every operation against NumPy.
 *
 *	test_ops [-v] [FIXTURES] [PREFIX]
 *
 * PREFIX chooses the cases whose names begin so; -v prints a line for each, as TAP does.
 * Each case runs with its inputs dense, and again with the same elements as strided
 * views of larger buffers, in one of the layouts of layout.h by turns. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/op.h"
#include "compare.h"
#include "graph/tensor.h"
#include "layout.h"
#include "manifest.h"
#include "op_table.h"

static const char *fixtures;
static bool verbose;
static int passed, failed, skipped;

static const char *const layout_names[LAYOUTS] = { "dense", "reversed", "padded", "repeated" };

/* Prints "# NAME (LAYOUT): " and what is wrong; always false. */
__attribute__((format(printf, 3, 4))) static bool wrong(const struct test_case *test, enum layout layout,
							const char *format, ...)
{
	va_list args;
	printf("# %s (%s): ", test->name, layout_names[layout]);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	return false;
}

static bool read_array(const char *word, struct npy *ret)
{
	char path[4200];
	bool bfloat16 = strncmp(word, "bfloat16:", 9) == 0;
	snprintf(path, sizeof path, "%s/%s", fixtures, bfloat16 ? word + 9 : word);
	return npy_read(path, bfloat16, ret);
}

static bool read_input(const char *word, enum layout layout, lb_tensor **ret)
{
	*ret = NULL;
	if (strcmp(word, "null") == 0)
		return true;
	if (strncmp(word, "weak:", 5) == 0)
		return (*ret = lb_scalar(strtod(word + 5, NULL))) != NULL;
	if (strncmp(word, "weakint:", 8) == 0)
		return (*ret = lb_scalar_int(strtoll(word + 8, NULL, 10))) != NULL;
	struct npy npy;
	if (!read_array(word, &npy))
		return false;
	*ret = layout_tensor(&npy, layout);
	npy_deinit(&npy);
	return *ret != NULL;
}

static void coordinates(const struct npy *npy, int64_t index, char *to, size_t size)
{
	int64_t at[LB_MAX_RANK];
	size_t used = 0;
	for (int k = npy->rank - 1; k >= 0; k--) {
		at[k] = index % npy->shape[k];
		index /= npy->shape[k];
	}
	used += (size_t)snprintf(to, size, "(");
	for (int k = 0; k < npy->rank && used < size; k++)
		used += (size_t)snprintf(to + used, size - used, k ? ", %" PRId64 : "%" PRId64, at[k]);
	if (used < size)
		snprintf(to + used, size - used, ")");
}

static bool check_metadata(const struct test_case *test, enum layout layout, lb_tensor *y, const struct npy *expected)
{
	if (lb_dtype_of(y) != expected->dtype)
		return wrong(test, layout, "dtype %s, expected %s", lb_dtype_name(lb_dtype_of(y)),
			     lb_dtype_name(expected->dtype));
	if (lb_rank(y) != expected->rank)
		return wrong(test, layout, "rank %d, expected %d", lb_rank(y), expected->rank);
	for (int k = 0; k < expected->rank; k++)
		if (lb_shape(y)[k] != expected->shape[k] || lb_dim(y, k) != expected->shape[k])
			return wrong(test, layout, "axis %d has size %" PRId64 ", expected %" PRId64, k, lb_shape(y)[k],
				     expected->shape[k]);
	if (lb_size(y) != expected->size || lb_nbytes(y) != (int64_t)expected->nbytes)
		return wrong(test, layout, "size %" PRId64 ", %" PRId64 " bytes, expected %" PRId64 ", %zu", lb_size(y),
			     lb_nbytes(y), expected->size, expected->nbytes);
	return true;
}

/* A view shares its input's buffer, where and with the strides that NumPy says. */
static bool check_view(const struct test_case *test, enum layout layout, lb_tensor *x, lb_tensor *y)
{
	const char *at = args_find(&test->args, "view"), *text = args_find(&test->args, "vstrides");
	int64_t strides[LB_MAX_RANK] = { 0 };
	const int64_t *got;
	if (!at || layout != LAYOUT_DENSE)
		return true;
	const char *from = lb_strided_data(x, &got), *to = lb_strided_data(y, &got);
	int64_t bytes = lb_dtype_bytes(lb_dtype_of(y)), offset = strtoll(at, NULL, 10);
	if (!from || !to || to - from != offset * bytes)
		return wrong(test, layout, "element 0 is %td bytes from the input's, expected %" PRId64, to - from,
			     offset * bytes);
	if (text)
		list_parse(text, LB_MAX_RANK, strides);
	for (int k = 0; k < lb_rank(y); k++)
		if (lb_shape(y)[k] > 1 && (got[k] != strides[k] || lb_strides(y)[k] != strides[k]))
			return wrong(test, layout, "stride %" PRId64 " on axis %d, expected %" PRId64, got[k], k,
				     strides[k]);
	return true;
}

static bool check_values(const struct test_case *test, enum layout layout, lb_tensor *y, const struct npy *expected)
{
	struct tolerance tolerance;
	struct comparison comparison;
	char where[256], got_text[64], expected_text[64];
	if (!tolerance_parse(args_find(&test->args, "tol"), &tolerance))
		return wrong(test, layout, "the manifest has a bad tolerance");
	char *got = malloc(expected->nbytes + 1);
	if (!got || !lb_copy_out(y, got, expected->nbytes)) {
		free(got);
		return wrong(test, layout, "%s", lb_error_message());
	}
	bool ok = compare_elements(got, expected->data, expected->dtype, expected->size, &tolerance, &comparison);
	if (!ok) {
		coordinates(expected, comparison.first, where, sizeof where);
		element_text(got, expected->dtype, comparison.first, got_text, sizeof got_text);
		element_text(expected->data, expected->dtype, comparison.first, expected_text, sizeof expected_text);
		wrong(test, layout, "at %s got %s, expected %s; %" PRId64 " of %" PRId64 " differ, the worst by %g%s",
		      where, got_text, expected_text, comparison.differing, expected->size, comparison.worst_error,
		      tolerance.kind == TOLERANCE_ULP ? " ulp" : "");
	}
	free(got);
	return ok;
}

static bool compared[LB_OPS];

static int by_address(const void *a, const void *b)
{
	return (a > b) - (a < b);
}

static void leave(void *tensor)
{
	(void)tensor;
}

/* Once for each tensor, by however many ways it is reached. */
static void note_ops_of(const struct lb_tensor *x, void **seen)
{
	if (!x || tfind(x, seen, by_address) || !tsearch(x, seen, by_address))
		return;
	compared[x->op] = true;
	for (uint32_t i = 0; i < x->n_inputs; i++)
		note_ops_of(lb_tensor_input(x, i), seen);
}

/* What a case compares: the operations that its result is made by. */
static void note_ops(const struct lb_tensor *x)
{
	void *seen = NULL;

	note_ops_of(x, &seen);
	tdestroy(seen, leave);
}

/* All have a case but those that NumPy has nothing like. */
static bool is_exception(int op)
{
	switch (op) {
	case LB_OP_UNIFORM:
	case LB_OP_NORMAL: return true; /* numbers of our own: test_random */
	case LB_OP_DECODE: return true; /* blocks of a file: test_files */
	case LB_OP_TRACER: return true; /* never has a value */
	case LB_OP_FUSED: return true;  /* several that have: test_compile, test_fused */
	default: return false;
	}
}

static void check_all_compared(void)
{
	for (int op = 0; op < LB_OPS; op++) {
		if (compared[op] == !is_exception(op))
			continue;
		printf(compared[op] ? "not ok - %s has cases now, and is still among the exceptions\n"
				    : "not ok - no case compares %s with NumPy: add one in tests/unit/cases\n",
		       lb_ops[op].name);
		failed++;
	}
}

static bool run_layout(const struct test_case *test, enum layout layout, const struct npy *expected)
{
	lb_tensor *in[CASE_INPUTS] = { NULL };
	op_function run = op_find(test->op);
	if (!run)
		return wrong(test, layout, "no operation is called %s", test->op);
	for (int i = 0; i < test->n_inputs; i++)
		if (!read_input(test->inputs[i], layout, &in[i]))
			return wrong(test, layout, "input %d: %s", i, lb_error_message());
	struct call call = { &test->args, test->n_inputs, in };
	lb_tensor *y = run(&call);
	if (!y)
		return wrong(test, layout, "%s", lb_error_message());
	note_ops(y);
	if (!check_metadata(test, layout, y, expected))
		return false;
	if (!lb_eval(y))
		return wrong(test, layout, "%s", lb_error_message());
	if (!lb_is_ready(y) || !lb_ok())
		return wrong(test, layout, "not ready after lb_eval: %s", lb_error_message());
	return check_metadata(test, layout, y, expected) && check_view(test, layout, in[0], y) &&
	       check_values(test, layout, y, expected);
}

static bool run_case(const struct test_case *test, int turn)
{
	struct npy expected;
	enum layout layouts[2] = { LAYOUT_DENSE, (enum layout)(1 + turn % (LAYOUTS - 1)) };
	bool ok = true;
	const char *out = args_find(&test->args, "out");
	if (!out || !read_array(out, &expected))
		return wrong(test, LAYOUT_DENSE, "no expected result");
	for (int i = 0; i < (test->n_inputs ? 2 : 1); i++) {
		LB_SCOPE
			ok = run_layout(test, layouts[i], &expected) && ok;
		lb_clear_error();
	}
	npy_deinit(&expected);
	return ok;
}

static void run_manifest(FILE *manifest, const char *prefix)
{
	char *line = NULL;
	size_t size = 0;
	for (int turn = 0; getline(&line, &size, manifest) > 0; turn++) {
		struct test_case test;
		if (!case_parse(line, &test)) {
			fprintf(stderr, "line %d of the manifest is not a case\n", turn + 1);
			failed++;
			continue;
		}
		if (strncmp(test.name, prefix, strlen(prefix)) != 0)
			continue;
		bool ok = run_case(&test, turn);
		*(ok ? &passed : &failed) += 1;
		if (verbose || !ok)
			printf("%s %d - %s\n", ok ? "ok" : "not ok", passed + failed, test.name);
	}
	free(line);
}

/* The folder `fixtures` beside this program. */
static const char *default_fixtures(const char *program)
{
	static char path[4096];
	const char *slash = strrchr(program, '/');
	int folder = slash ? (int)(slash - program) : 1;
	snprintf(path, sizeof path, "%.*s/fixtures", folder, slash ? program : ".");
	return path;
}

int main(int argc, char **argv)
{
	const char *output = getenv("CMOCKA_MESSAGE_OUTPUT");
	int at = 1;
	verbose = output && strcmp(output, "TAP") == 0;
	if (at < argc && strcmp(argv[at], "-v") == 0)
		verbose = at++;
	fixtures = at < argc ? argv[at++] : default_fixtures(argv[0]);
	const char *prefix = at < argc ? argv[at] : "";
	char path[4200];
	snprintf(path, sizeof path, "%s/manifest", fixtures);
	FILE *manifest = fopen(path, "r");
	if (manifest) {
		run_manifest(manifest, prefix);
		fclose(manifest);
	} else {
		printf("not ok - no %s: run tests/unit/fixtures.py %s\n", path, fixtures);
		failed++;
	}
	if (manifest && !*prefix)
		check_all_compared();
	if (manifest && passed + failed == 0)
		failed++;
	if (verbose)
		printf("1..%d\n", passed + failed);
	printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
	return failed ? 1 : 0;
}
