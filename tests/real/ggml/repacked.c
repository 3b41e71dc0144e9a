/* Weights in the buffer in which the CPU's back end repacks them (CPU_REPACK), of each type that it does that with, beside
 * the same blocks as they were ("repacked.q4_0", "plain.q4_0"), and products of the repacked ones ("block.q4_0"). Those
 * that it leaves alone lie in such a buffer, too, without a value: "left.q8_0". */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "operations.h"

enum { F32 = 0, COLUMNS = 512, ROWS = 24, EXPERTS = 2, TOKENS = 3, PLACE = 256 /* of a tensor's alignment */ };

struct ggml_init_params {
	size_t mem_size;
	void *mem_buffer;
	bool no_alloc;
};
typedef struct ggml_context C;
typedef struct ggml_tensor T;

#define FUNCTIONS(X) \
	X(C *, ggml_init, (struct ggml_init_params)) \
	X(T *, ggml_new_tensor_3d, (C *, int, int64_t, int64_t, int64_t)) \
	X(T *, ggml_set_name, (T *, const char *)) \
	X(void *, ggml_get_data, (const T *)) \
	X(size_t, ggml_nbytes, (const T *)) \
	X(const char *, ggml_type_name, (int)) \
	X(size_t, ggml_quantize_chunk, (int, const float *, void *, int64_t, int64_t, int64_t, const float *)) \
	X(T *, ggml_mul_mat, (C *, T *, T *)) \
	X(T *, ggml_mul_mat_id, (C *, T *, T *, T *)) \
	X(struct ggml_cgraph *, ggml_new_graph, (C *)) \
	X(void, ggml_build_forward_expand, (struct ggml_cgraph *, T *)) \
	X(int, ggml_graph_compute_with_ctx, (C *, struct ggml_cgraph *, int)) \
	X(void *, ggml_backend_dev_by_type, (int)) \
	X(void *, ggml_backend_dev_backend_reg, (void *)) \
	X(void *, ggml_backend_reg_get_proc_address, (void *, const char *)) \
	X(bool, ggml_backend_dev_supports_op, (void *, const T *)) \
	X(const char *, ggml_backend_buft_name, (void *)) \
	X(void *, ggml_backend_buft_alloc_buffer, (void *, size_t)) \
	X(void *, ggml_backend_buffer_get_base, (void *)) \
	X(void, ggml_backend_buffer_set_usage, (void *, int)) \
	X(int, ggml_backend_tensor_alloc, (void *, T *, void *)) \
	X(void, ggml_backend_tensor_set, (T *, const void *, size_t, size_t))
#define DECLARE(type, name, arguments) static type(*name) arguments;
FUNCTIONS(DECLARE)

static C *c, *apart; /* of what ggml allocates, and of what lies in buffers */
static void *device, *kind;
static struct ggml_cgraph *graph;
static T *x, *of_experts, *ids;

static float uniform(void)
{
	static uint64_t state = 3;

	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (float)(int32_t)(state >> 32) / 2147483648.0F;
}

static void fill(float *to, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		to[i] = uniform();
}

static T *name(T *t, const char *what, int type, int experts)
{
	char text[64];

	snprintf(text, sizeof text, "%s.%s%s", what, ggml_type_name(type), experts > 1 ? ".experts" : "");
	return ggml_set_name(t, text);
}

/* The kind of buffer; NULL: the back end has none. */
static void *repacking(void)
{
	enum { CPU = 0 };
	void **(*list)(void *) = NULL;

	device = ggml_backend_dev_by_type(CPU);
	*(void **)&list =
	    ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(device), "ggml_backend_dev_get_extra_bufts");
	for (void **all = list ? list(device) : NULL; all && *all; all++)
		if (strcmp(ggml_backend_buft_name(*all), "CPU_REPACK") == 0)
			return *all;
	return NULL;
}

static T *allocated(int type, int experts)
{
	T *w = ggml_new_tensor_3d(apart, type, COLUMNS, ROWS, experts);
	void *buffer = ggml_backend_buft_alloc_buffer(kind, ggml_nbytes(w) + PLACE);
	uintptr_t base = (uintptr_t)ggml_backend_buffer_get_base(buffer);

	ggml_backend_buffer_set_usage(buffer, 1 /* weights */);
	ggml_backend_tensor_alloc(buffer, w, (void *)((base + PLACE - 1) / PLACE * PLACE));
	return w;
}

/* Random blocks, as they were; `named` gives it the type's name. */
static T *plain_blocks(int type, int named, int experts)
{
	T *plain = name(ggml_new_tensor_3d(c, type, COLUMNS, ROWS, experts), "plain", named, experts);
	float *from = malloc((size_t)(experts * ROWS * COLUMNS) * sizeof *from);

	stop_if(!from, "no memory");
	fill(from, experts * ROWS * COLUMNS);
	ggml_quantize_chunk(type, from, ggml_get_data(plain), 0, (int64_t)experts * ROWS, COLUMNS, NULL);
	free(from);
	return plain;
}

static T *product(T *w, int experts)
{
	return experts > 1 ? ggml_mul_mat_id(c, w, of_experts, ids) : ggml_mul_mat(c, w, x);
}

static bool add(int type, int experts)
{
	T *w = allocated(type, experts), *y = product(w, experts);

	if (!ggml_backend_dev_supports_op(device, y)) {
		name(w, "left", type, experts);
		return false;
	}
	T *plain = plain_blocks(type, type, experts);
	ggml_backend_tensor_set(name(w, "repacked", type, experts), ggml_get_data(plain), 0, ggml_nbytes(w));
	ggml_build_forward_expand(graph, name(y, "block", type, experts));
	return true;
}

/* In 2024-12 blocks were interleaved on ARM alone. The function that does it is there anywhere, and so it is called here, as
 * a buffer does: with the number of a type, which `extra` keeps. */
static bool repack_by_hand(void)
{
	static const struct {
		int type, as;
	} types[] = { { 2, 31 }, { 2, 32 }, { 2, 33 }, { 20, 36 } };
	enum { EXTRA = 0x140 };
	void *(*buffer_type)(void) = NULL;
	int (*repack)(T *, int, const void *, size_t) = NULL;

	*(void **)&buffer_type = dlsym(RTLD_DEFAULT, "ggml_backend_cpu_aarch64_buffer_type");
	*(void **)&repack = dlsym(RTLD_DEFAULT, "ggml_aarch64_repack_tensor");
	if (!buffer_type || !repack)
		return false;
	kind = buffer_type();
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		T *w = name(allocated(types[i].type, 1), "repacked", types[i].as, 1);
		T *plain = plain_blocks(types[i].type, types[i].as, 1);
		intptr_t as = types[i].as;
		memcpy((char *)w + EXTRA, &as, sizeof as);
		if (repack(w, types[i].as, ggml_get_data(plain), ggml_nbytes(w)) == 0)
			printf("%s ", ggml_type_name(types[i].as));
	}
	puts("");
	fflush(stdout);
	return true;
}

void compute_repacked(void)
{
	static const struct {
		int number;
		const char *name;
	} types[] = { { 2, "q4_0" },  { 3, "q4_1" },  { 6, "q5_0" },  { 8, "q8_0" },    { 10, "q2_K" }, { 11, "q3_K" },
		      { 12, "q4_K" }, { 13, "q5_K" }, { 14, "q6_K" }, { 20, "iq4_nl" }, { 39, "mxfp4" } };

#define FIND(type, name, arguments) name = (type(*) arguments)function(#name);
	FUNCTIONS(FIND)
	kind = repacking();
	c = ggml_init((struct ggml_init_params){ 1 << 24, NULL, false });
	apart = ggml_init((struct ggml_init_params){ 1 << 20, NULL, true });
	if (!kind && repack_by_hand())
		return;
	stop_if(!kind, "nothing is repacked");
	graph = ggml_new_graph(c);
	/* by one matrix: with more, 2025-06 leaves those behind the first undone */
	x = ggml_new_tensor_3d(c, F32, COLUMNS, TOKENS, 1);
	fill(ggml_get_data(x), (int64_t)COLUMNS * TOKENS);
	of_experts = ggml_new_tensor_3d(c, F32, COLUMNS, EXPERTS, TOKENS);
	fill(ggml_get_data(of_experts), (int64_t)COLUMNS * EXPERTS * TOKENS);
	ids = ggml_new_tensor_3d(c, 26 /* i32 */, EXPERTS, TOKENS, 1);
	memcpy(ggml_get_data(ids), (int32_t[]){ 1, 0, 0, 1, 1, 0 }, EXPERTS * TOKENS * sizeof(int32_t));
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (strcmp(ggml_type_name(types[i].number), types[i].name) != 0)
			continue; /* it is newer than the library */
		for (int experts = 1; experts <= EXPERTS; experts++)
			if (add(types[i].number, experts))
				printf("%s%s ", types[i].name, experts > 1 ? ".experts" : "");
	}
	puts("");
	fflush(stdout);
	stop_if(ggml_graph_compute_with_ctx(c, graph, 1) != 0, "ggml could not multiply");
}
