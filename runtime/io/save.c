#include "io/save.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "eval/eval.h"
#include "graph/shape.h"
#include "io/cursor.h"
#include "io/npy.h"

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool check_names(const char *op, int n, const char *const *names)
{
	lb_auto_free const char **sorted = malloc(((size_t)n + 1) * sizeof *sorted);
	bool ok = sorted || lb_fail("%s: out of memory for %d names", op, n);
	for (int i = 0; i < n && ok; i++) {
		sorted[i] = names[i];
		if (!names[i] || !lb_is_text(names[i], strlen(names[i])))
			ok = lb_fail("%s: name %d is missing, or not UTF-8", op, i);
	}
	if (ok && n)
		qsort(sorted, (size_t)n, sizeof *sorted, compare_names);
	for (int i = 1; i < n && ok; i++) {
		if (strcmp(sorted[i - 1], sorted[i]) == 0)
			ok = lb_fail("%s: two tensors have the name '%.64s'", op, sorted[i]);
	}
	return ok;
}

bool lb_save_prepare(const char *op, const char *path, int n, const char *const *names, lb_tensor *const *xs,
		     const void *site)
{
	if (n < 0)
		return lb_fail("%s: a list of %d tensors", op, n);
	if (!LB_GIVEN(op, path) || !LB_GIVEN_LIST(op, n, xs))
		return false;
	for (int i = 0; i < n; i++) {
		if (!xs[i])
			return lb_fail_null_at(op, i, n);
	}
	if (strcmp(op, "save_npy") != 0 && (!LB_GIVEN_LIST(op, n, names) || !check_names(op, n, names)))
		return false;
	return n == 0 || lb_evaluate(n, xs, site);
}

const void *lb_save_data(lb_tensor *x, const void *site)
{
	if (!lb_is_row_major(x->rank, x->shape, x->strides)) {
		x = lb_node(LB_OP_CONTIGUOUS, (enum lb_dtype)x->dtype, x->rank, x->shape, 1, &x, site);
		if (!x || !lb_evaluate(1, &x, site))
			return NULL;
	}
	return lb_tensor_data(x);
}

bool lb_save_elements(struct lb_writer *w, lb_tensor *x, const void *site)
{
	bool ok = false;
	LB_SCOPE { /* a strided view is copied, and that copy goes at once */
		const void *data = lb_save_data(x, site);
		ok = data && lb_writer_put(w, data, (size_t)lb_nbytes(x));
	}
	return ok;
}

bool lb_save_npy(const char *path, lb_tensor *x)
{
	LB_ENTER();
	char header[LB_NPY_WRITTEN];
	size_t n;
	struct lb_writer w;
	if (!LB_GIVEN("save_npy", x) || !lb_save_prepare("save_npy", path, 1, NULL, &x, site) ||
	    !lb_npy_write_header((enum lb_dtype)x->dtype, x->rank, x->shape, header, &n) || !lb_writer_begin(&w, path))
		return false;
	return lb_writer_end(&w, lb_writer_put(&w, header, n) && lb_save_elements(&w, x, site));
}
