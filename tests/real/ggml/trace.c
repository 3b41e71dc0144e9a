/* What each node of llama's last graph held when it had been computed, whatever became of its memory. libllama calls
 * ggml_backend_sched_set_eval_callback() in ggml's library; the program's own function comes first.
 *
 * With WANTS in the environment it wants to see products alone, and says when the program stops how often it was called.
 * With TRACE=FOLDER in the environment each node is written there as ADDRESS.npy when the program stops. With
 * TRACE_STOP=NAME, too, the program aborts when the n-th node of that name has been computed, n being TRACE_TIMES. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "operations.h"

enum { MOST = 4096, NE = 2 /* words of a tensor before its sizes */ };

struct copy {
	const int64_t *tensor;
	int64_t ne[4];
	char type[32];
	void *bytes;
	size_t n;
};

static struct copy copies[MOST];
static int n_copies, times;

static struct copy *copy_of(const void *tensor)
{
	for (int i = 0; i < n_copies; i++)
		if (copies[i].tensor == tensor)
			return &copies[i];
	stop_if(n_copies == MOST, "the graph has too many nodes");
	copies[n_copies].tensor = tensor;
	return &copies[n_copies++];
}

static bool is_dense(const void *t)
{
	return ((bool (*)(const void *))function("ggml_is_contiguous"))(t);
}

static bool take(void *tensor, bool ask, void *data)
{
	const char *stop = getenv("TRACE_STOP"), *n = getenv("TRACE_TIMES");
	const char *name = ((const char *(*)(const void *))function("ggml_get_name"))(tensor);

	(void)data;
	if (ask || !is_dense(tensor))
		return true;
	struct copy *c = copy_of(tensor);
	c->n = ((size_t (*)(const void *))function("ggml_nbytes"))(tensor);
	c->bytes = realloc(c->bytes, c->n);
	memcpy(c->bytes, ((void *(*)(const void *))function("ggml_get_data"))(tensor), c->n);
	memcpy(c->ne, (const int64_t *)tensor + NE, sizeof c->ne);
	int type = *(const int *)tensor;
	snprintf(c->type, sizeof c->type, "%s", ((const char *(*)(int))function("ggml_type_name"))(type));
	if (stop && strcmp(name, stop) == 0 && ++times == (n ? atoi(n) : 1)) {
		write_trace();
		abort();
	}
	return true;
}

static struct {
	int asked, saw, wrong;
	const void *wanted;
} wants;

/* Wants to see products, and nothing else. */
static bool want(void *tensor, bool ask, void *data)
{
	bool is = strcmp(((const char *(*)(const void *))function("ggml_op_desc"))(tensor), "MUL_MAT") == 0;

	wants.wrong += data != &wants || (!ask && tensor != wants.wanted);
	*(ask ? &wants.asked : &wants.saw) += 1;
	wants.wanted = is ? tensor : NULL;
	return is;
}

void ggml_backend_sched_set_eval_callback(void *sched, void *callback, void *data)
{
	void (*set)(void *, void *, void *) = NULL;

	*(void **)&set = dlsym(RTLD_NEXT, "ggml_backend_sched_set_eval_callback");
	if (!getenv("TRACE")) {
		bool (*products)(void *, bool, void *) = want;
		if (getenv("WANTS"))
			memcpy(&callback, &products, sizeof callback);
		set(sched, callback, getenv("WANTS") ? &wants : data);
		return;
	}
	for (int i = 0; i < n_copies; i++)
		free(copies[i].bytes);
	memset(copies, 0, sizeof copies);
	n_copies = 0;
	bool (*own)(void *, bool, void *) = take;
	memcpy(&callback, &own, sizeof callback);
	set(sched, callback, NULL);
}

/* Leading axes of 1 are left out, as ggml counts them. */
static void write_array(FILE *f, const struct copy *c)
{
	static const char *const types[][2] = {
		{ "f32", "<f4" }, { "f16", "<f2" }, { "i32", "<i4" }, { "i64", "<i8" }
	};
	char header[256], shape[128] = "";
	const char *type = "|u1";
	int rank = 4;

	while (rank > 1 && c->ne[rank - 1] == 1)
		rank--;
	for (int i = rank; i-- > 0;)
		sprintf(shape + strlen(shape), "%lld, ", (long long)c->ne[i]);
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		type = strcmp(types[i][0], c->type) == 0 ? types[i][1] : type;
	int n =
	    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);
	int padded = (n + 10 + 64) / 64 * 64 - 10;
	fprintf(f, "\x93NUMPY%c%c%c%c%-*s\n", 1, 0, padded & 255, padded >> 8, padded - 1, header);
	fwrite(c->bytes, 1, c->n, f);
}

void write_trace(void)
{
	const char *folder = getenv("TRACE");
	char path[4096];

	if (getenv("WANTS"))
		printf("asked %d times, saw %d, %d of them wrong\n", wants.asked, wants.saw, wants.wrong);

	for (int i = 0; folder && i < n_copies; i++) {
		snprintf(path, sizeof path, "%s/0x%llx.npy", folder, (unsigned long long)(uintptr_t)copies[i].tensor);
		FILE *f = fopen(path, "w");
		stop_if(!f, path);
		write_array(f, &copies[i]);
		fclose(f);
	}
}
