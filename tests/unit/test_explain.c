/* Each explanation is found in arrays that NumPy made so, and none in unrelated ones. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/compare/explain.h"
#include "lazybones.h"

static struct lbx_out out = { .width = 80 };

struct pair {
	lb_tensor *x[2];
	struct lbx_array array[2];
	struct lbx_comparison comparison;
	bool same_shape;
	struct lbx_explanations found;
};

static void make_array(lb_tensor *x, struct lbx_array *ret)
{
	const int64_t *strides;
	const void *data = lb_strided_data(x, &strides);

	assert_non_null(data);
	assert_true(lbx_array_local(data, lb_nbytes(x), (enum lb_dtype)lb_dtype_of(x), lb_rank(x), lb_shape(x), strides,
				    0, ret));
}

static void explain(struct pair *p, const struct lbx_explain_options *options)
{
	const struct lbx_array *a = &p->array[0], *b = &p->array[1];
	struct lbx_tolerance tolerance = { 1e-5, 1e-5, 1e-8 };

	p->same_shape = a->rank == b->rank && memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0;
	if (p->same_shape)
		assert_true(lbx_compare(a, b, &tolerance, NULL, &out, &p->comparison));
	assert_true(lbx_explain(a, b, p->same_shape ? &p->comparison : NULL, options, &out, &p->found));
}

static const struct lbx_explain_options defaults = { .rtol = -1, .atol = -1 };

static bool check(const char *directory, const char *name, const char *kind, const char *text)
{
	struct pair p;
	char path[600];
	bool good;

	LB_SCOPE {
		for (int i = 0; i < 2; i++) {
			snprintf(path, sizeof path, "%s/%s.%c.npy", directory, name, "ab"[i]);
			p.x[i] = lb_load_npy(path);
			assert_true(p.x[i] && lb_eval(p.x[i]));
			make_array(p.x[i], &p.array[i]);
		}
		explain(&p, &defaults);
	}
	if (strcmp(kind, "none") == 0)
		good = p.found.n == 0;
	else
		good = p.found.n > 0 && strcmp(p.found.list[0].kind, kind) == 0 && strstr(p.found.list[0].text, text);
	if (good)
		return true;
	fprintf(stderr, "%s: wanted %s: %s; tried %lld\n", name, kind, text, (long long)p.found.tried);
	for (int i = 0; i < p.found.n; i++)
		fprintf(stderr, "\tfound %s: %s (%lld of %lld, %lld before)\n", p.found.list[i].kind,
			p.found.list[i].text, (long long)p.found.list[i].agree, (long long)p.found.list[i].covered,
			(long long)p.found.list[i].before);
	return false;
}

static const char *directory_of(const char *name)
{
	static char path[512];
	const char *slash = strrchr(program_invocation_name, '/');

	snprintf(path, sizeof path, "%.*s/%s", slash ? (int)(slash - program_invocation_name) : 1,
		 slash ? program_invocation_name : ".", name);
	return path;
}

static void numpy_cases(void **state)
{
	char line[1024], path[600];
	const char *directory = directory_of("explain");
	int n = 0, bad = 0;

	(void)state;
	snprintf(path, sizeof path, "%s/cases", directory);
	FILE *cases = fopen(path, "r");
	assert_non_null(cases);
	while (fgets(line, sizeof line, cases)) {
		char *name = strtok(line, "\t"), *kind = strtok(NULL, "\t\n"), *text = strtok(NULL, "\n");
		assert_non_null(kind);
		n++;
		bad += !check(directory, name, kind, text ? text : "");
	}
	fclose(cases);
	assert_true(n > 100);
	assert_int_equal(bad, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(numpy_cases),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
