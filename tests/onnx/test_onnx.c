/* Runs the node tests of ONNX's backend test suite, as Debian's libonnx-testdata has them.
 *
 *	test_onnx [-v] [PREFIX]
 *
 * PREFIX chooses the tests whose names begin so; -v prints a line for each, as TAP does. Each
 * runs with its inputs dense, and again with the same elements as strided views, in one of the
 * layouts of layout.h by turns. ONNX_TESTDATA is the folder of the tests.
 *
 * A test that needs what the runtime has not is refused, with the operator, attribute or type
 * that it lacks; not_applicable.inc lists these and says why. A refusal that is not listed
 * fails, and so does one that is listed and that no test needs any more. Each machine has another
 * version of the data: a line may say from which of ONNX's operator sets on it is needed, and up
 * to which. A line "values of TEST" is for data that is wrong. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "compare.h"
#include "graph.h"

static const struct {
	const char *what, *why;
	int64_t since, until;
} not_applicable[] = {
#define X(what, why, since, until) { what, why, since, until },
#include "not_applicable.inc"
#undef X
};
enum { LISTED = sizeof not_applicable / sizeof *not_applicable };
static int refusals[LISTED]; /* how many tests each line is for */

static const char *folder;
static bool verbose;
static int passed, failed, refused;
static int64_t newest; /* operator set of all models */

static const char *const layout_names[LAYOUTS] = { "dense", "reversed", "padded", "repeated" };

/* As ONNX's own runner: relative 1e-3, absolute 1e-7; halves by their precision. */
static struct tolerance tolerance_of(lb_dtype dtype)
{
	struct tolerance close = { TOLERANCE_CLOSE, 1e-3, 1e-7 };
	if (dtype == LB_F16)
		close = (struct tolerance){ TOLERANCE_CLOSE, 2e-3, 1e-5 };
	if (dtype == LB_BF16)
		close = (struct tolerance){ TOLERANCE_CLOSE, 1.6e-2, 1e-5 };
	return close;
}

static bool compare(lb_tensor *y, const struct npy *expected)
{
	if (lb_dtype_of(y) != expected->dtype)
		return lb_fail("dtype %s, expected %s", lb_dtype_name(lb_dtype_of(y)), lb_dtype_name(expected->dtype));
	if (lb_rank(y) != expected->rank)
		return lb_fail("rank %d, expected %d", lb_rank(y), expected->rank);
	for (int k = 0; k < expected->rank; k++)
		if (lb_dim(y, k) != expected->shape[k])
			return lb_fail("axis %d has size %jd, expected %jd", k, (intmax_t)lb_dim(y, k),
				       (intmax_t)expected->shape[k]);
	struct tolerance tolerance = tolerance_of(expected->dtype);
	struct comparison found;
	char *got = malloc(expected->nbytes + 1), is[64], wanted[64];
	bool ok = got && lb_copy_out(y, got, expected->nbytes);
	if (ok && !compare_elements(got, expected->data, expected->dtype, expected->size, &tolerance, &found)) {
		element_text(got, expected->dtype, found.first, is, sizeof is);
		element_text(expected->data, expected->dtype, found.first, wanted, sizeof wanted);
		ok =
		    lb_fail("element %jd is %s, expected %s; %jd of %jd differ, the worst by %g", (intmax_t)found.first,
			    is, wanted, (intmax_t)found.differing, (intmax_t)expected->size, found.worst_error);
	}
	free(got);
	return ok;
}

/* Files of ONNX 1.12 hold bfloat16 as uint16: the model knows which of them it is. */
static bool read_array(struct onnx_arena *arena, const char *test, int set, const char *kind, int i,
		       const struct onnx_value *value, struct npy *ret)
{
	struct onnx_tensor tensor;
	lb_dtype dtype;
	const char *name;
	char *path = onnx_alloc(arena, strlen(folder) + strlen(test) + 64);
	if (!path)
		return false;
	sprintf(path, "%s/%s/test_data_set_%d/%s_%d.pb", folder, test, set, kind, i);
	if (!onnx_read_tensor(arena, path, &tensor))
		return false;
	if (tensor.unknown_dtype)
		return lb_fail("%s: dtype %s", path, tensor.unknown_dtype);
	if (tensor.array.dtype == LB_U16 && onnx_dtype(value->data_type, &dtype, &name) && dtype == LB_BF16)
		tensor.array.dtype = LB_BF16;
	*ret = tensor.array;
	return true;
}

static bool run_set(struct onnx_arena *arena, const struct onnx_model *model, const char *test, int set,
		    enum layout layout, struct onnx_graph *graph)
{
	struct npy array;
	graph->n = 0;
	int i = 0;
	for (const struct onnx_value *in = model->in; in; in = in->next)
		if (!read_array(arena, test, set, "input", i++, in, &array) ||
		    !onnx_graph_add(graph, in->name, layout_tensor(&array, layout)))
			return false;
	if (!onnx_graph_run(graph, model))
		return false;
	i = 0;
	for (const struct onnx_value *out = model->out; out; out = out->next) {
		lb_tensor *y = onnx_graph_find(graph, out->name);
		if (!y)
			return lb_fail("nothing makes the output %s", out->name);
		if (!read_array(arena, test, set, "output", i++, out, &array) || !compare(y, &array))
			return lb_fail_within("output %s", out->name), false;
	}
	return true;
}

static bool has_set(const char *test, int set)
{
	char path[4200];
	snprintf(path, sizeof path, "%s/%s/test_data_set_%d", folder, test, set);
	DIR *directory = opendir(path);
	if (directory)
		closedir(directory);
	return directory;
}

/* All sets of data in two layouts. False with an error, or with graph->refused. */
static bool run_model(struct onnx_arena *arena, const struct onnx_model *model, const char *test, enum layout other,
		      struct onnx_graph *graph)
{
	enum layout layouts[] = { LAYOUT_DENSE, other };
	if (!model->out || !has_set(test, 0))
		return lb_fail("the test has no data");
	if (!onnx_graph_check(graph, model))
		return false;
	for (int set = 0; has_set(test, set); set++)
		for (int i = 0; i < 2; i++) {
			bool ok = false;
			LB_SCOPE
				ok = run_set(arena, model, test, set, layouts[i], graph);
			if (graph->refused[0])
				return false;
			if (!ok || !lb_ok()) {
				lb_fail("failed without an error");
				lb_fail_within("data set %d, %s", set, layout_names[layouts[i]]);
				return false;
			}
		}
	return true;
}

/* The line of a refusal, or -1. */
static int listed(const char *what)
{
	for (int i = 0; i < LISTED; i++)
		if (strcmp(not_applicable[i].what, what) == 0)
			return i;
	return -1;
}

static void result(bool ok, const char *name)
{
	*(ok ? &passed : &failed) += 1;
	if (verbose || !ok)
		printf("%s %d - %s\n", ok ? "ok" : "not ok", passed + failed, name);
}

static void run_test(const char *name, int turn)
{
	struct onnx_arena arena = { 0 };
	struct onnx_model model;
	struct onnx_graph *graph = calloc(1, sizeof *graph);
	char *path = onnx_alloc(&arena, strlen(folder) + strlen(name) + 64);
	bool ok = graph && path && sprintf(path, "%s/%s/model.onnx", folder, name) > 0 &&
		  onnx_read_model(&arena, path, &model);
	if (ok) {
		newest = model.opset > newest ? model.opset : newest;
		ok = run_model(&arena, &model, name, (enum layout)(1 + turn % (LAYOUTS - 1)), graph);
		if (!ok && !graph->refused[0] && strstr(lb_error_message(), " differ, the worst by ")) {
			snprintf(graph->refused, sizeof graph->refused, "values of %s", name);
			if (listed(graph->refused) < 0)
				graph->refused[0] = 0;
		}
	}
	if (graph && graph->refused[0] && listed(graph->refused) >= 0) {
		refusals[listed(graph->refused)]++;
		refused++;
		if (verbose)
			printf("# %s does not apply: %s\n", name, graph->refused);
	} else {
		if (!ok)
			printf("# %s: %s%s\n", name,
			       graph && graph->refused[0] ? "does not apply, which is not listed: " : "",
			       graph && graph->refused[0] ? graph->refused : lb_error_message());
		result(ok, name);
	}
	lb_clear_error();
	free(graph);
	onnx_arena_deinit(&arena);
}

static void check_list(void)
{
	bool ok = true;
	for (int i = 0; i < LISTED; i++) {
		if (verbose)
			printf("# %3d tests need %s: %s\n", refusals[i], not_applicable[i].what, not_applicable[i].why);
		if (newest < not_applicable[i].since || (not_applicable[i].until && newest > not_applicable[i].until))
			continue;
		if (!refusals[i]) {
			printf("# no test is refused for %s: take it off the list\n", not_applicable[i].what);
			ok = false;
		}
	}
	result(ok, "each line of the list is needed");
}

static int is_test(const struct dirent *entry)
{
	return strncmp(entry->d_name, "test_", 5) == 0;
}

int main(int argc, char **argv)
{
	const char *output = getenv("CMOCKA_MESSAGE_OUTPUT"), *chosen = getenv("ONNX_TESTDATA");
	struct dirent **entries;
	int at = 1;
	verbose = output && strcmp(output, "TAP") == 0;
	if (at < argc && strcmp(argv[at], "-v") == 0)
		verbose = at++;
	const char *prefix = at < argc ? argv[at] : "";
	folder = chosen ? chosen : "/usr/share/libonnx-testdata/data/node";
	int n = scandir(folder, &entries, is_test, alphasort);
	if (n <= 0) {
		printf("ok 1 - ONNX node tests # SKIP no tests in %s: install libonnx-testdata, or "
		       "set ONNX_TESTDATA\n1..1\n",
		       folder);
		return 0;
	}
	for (int i = 0; i < n; i++) {
		if (strncmp(entries[i]->d_name, prefix, strlen(prefix)) == 0)
			run_test(entries[i]->d_name, i);
		free(entries[i]);
	}
	free(entries);
	if (!*prefix)
		check_list();
	if (passed + failed == 0)
		result(false, "no test has this name");
	if (verbose)
		printf("1..%d\n", passed + failed);
	printf("%d passed, %d failed, %d do not apply\n", passed, failed, refused);
	return failed ? 1 : 0;
}
