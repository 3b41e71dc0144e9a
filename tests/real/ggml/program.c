/* A program that nobody prepared for being looked at: it computes with ggml and llama.cpp as their packages have them,
 * without debug information, checks what came out, and stops.
 *
 *	program graph FOLDER [HOW]             a graph on the CPU: some dtypes, blocks, views
 *	program llama FOLDER MODEL [HOW]       two sequences through a GGUF file; prints the tokens of one
 *	program whisper FOLDER MODEL [HOW]     hears a tone, and decodes a word (whisper.c)
 *	program operations FOLDER [HOW]        operations on random inputs (operations.c)
 *	program nan FOLDER [HOW]               a logarithm of what is negative, and 0 / 0, each among what is not
 *	program blocks FOLDER                  ggml's formats of blocks, and digests of what random ones decode to
 *	program names FOLDER N                 ggml's names of its first N operations
 *	program logits FOLDER MODEL N,N,...    the logits after each of these tokens (kinds.c)
 *	program tokens FOLDER MODEL            the tokens of each line of stdin (kinds.c)
 *	program repacked FOLDER [HOW]          weights that the CPU's back end puts into another order (repacked.c)
 *
 * It stops in rest(), having printed "resting", until it can read a line. HOW says otherwise: "abort" ends it by
 * abort(). Of a graph "pool" leaves threads that wait for more; "within" rests in the middle of a second run with other
 * inputs, "within-abort" and "worker-abort" end it there, in the thread that computes it or in one that helps; in "op"
 * and "op-abort" the operation itself fails in the middle, by a signal: the one rests then. Of
 * "nan" "one" computes a graph of one node twice more, by threads that stay. Of a
 * model "crash" ends it in llama_decode(), "reading" in a function that only reads; "paused" rests before it decodes, too,
 * and "two" decodes with two contexts; after the prompt "fork" goes on in a child, too, and in the end "exec" begins anew; with "unmapped" the second half of its weights cannot be read any more, with
 * "unmapped-rest" it rests there. Of several libraries for the CPU that of GGML_CPU in the environment is taken,
 * "haswell", else the one for every processor; THREADS there is how many compute a model. FOLDER has the shared libraries,
 * or one add-on of node with everything in it.
 * The prototypes are declared here; what changed between versions is passed as what did not change: parameters by value
 * are copied from the stack by as many bytes as the library knows, so larger ones will do. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <glob.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "operations.h"
#include "stream.h"

struct ggml_tensor;
struct ggml_context;
struct ggml_cgraph;
struct llama_model;
struct llama_context;

struct ggml_init_params {
	size_t mem_size;
	void *mem_buffer;
	bool no_alloc;
};
struct any_params {
	union {
		char bytes[1024];
		uint32_t words[4];
		void *pointers[4];
	};
};
struct llama_batch {
	int32_t n_tokens;
	int32_t *token;
	float *embd;
	int32_t *pos;
	int32_t *n_seq_id;
	int32_t **seq_id;
	int8_t *logits;
	char more[64];
};

typedef void custom_fn(struct ggml_tensor *to, const struct ggml_tensor *from, int thread, int n, void *how);

enum { F32 = 0, F16 = 1, Q4_0 = 2, Q8_0 = 8, BF16 = 30, I32_ONCE = 21, I32 = 26 };

#define GGML_FUNCTIONS(X) \
	X(struct ggml_context *, ggml_init, (struct ggml_init_params)) \
	X(struct ggml_tensor *, ggml_new_tensor_2d, (struct ggml_context *, int, int64_t, int64_t)) \
	X(struct ggml_tensor *, ggml_set_name, (struct ggml_tensor *, const char *)) \
	X(void *, ggml_get_data, (const struct ggml_tensor *)) \
	X(const char *, ggml_type_name, (int)) \
	X(size_t, ggml_type_size, (int)) \
	X(struct ggml_tensor *, ggml_mul_mat, (struct ggml_context *, struct ggml_tensor *, struct ggml_tensor *)) \
	X(struct ggml_tensor *, ggml_add, (struct ggml_context *, struct ggml_tensor *, struct ggml_tensor *)) \
	X(struct ggml_tensor *, ggml_get_rows, (struct ggml_context *, struct ggml_tensor *, struct ggml_tensor *)) \
	X(struct ggml_tensor *, ggml_view_2d, \
	  (struct ggml_context *, struct ggml_tensor *, int64_t, int64_t, size_t, size_t)) \
	X(struct ggml_tensor *, ggml_transpose, (struct ggml_context *, struct ggml_tensor *)) \
	X(struct ggml_tensor *, ggml_cont, (struct ggml_context *, struct ggml_tensor *)) \
	X(struct ggml_cgraph *, ggml_new_graph, (struct ggml_context *)) \
	X(void, ggml_build_forward_expand, (struct ggml_cgraph *, struct ggml_tensor *)) \
	X(struct ggml_tensor *, ggml_map_custom1, \
	  (struct ggml_context *, struct ggml_tensor *, custom_fn *, int, void *)) \
	X(size_t, ggml_nbytes, (const struct ggml_tensor *)) \
	X(struct any_params, ggml_graph_plan, (const struct ggml_cgraph *, int, void *)) \
	X(int, ggml_graph_compute, (struct ggml_cgraph *, struct any_params *)) \
	X(int, ggml_graph_compute_with_ctx, (struct ggml_context *, struct ggml_cgraph *, int))
#define LLAMA_FUNCTIONS(X) \
	X(void, llama_backend_init, (bool)) \
	X(struct any_params, llama_model_default_params, (void)) \
	X(struct any_params, llama_context_default_params, (void)) \
	X(struct llama_model *, llama_load_model_from_file, (const char *, struct any_params)) \
	X(struct llama_context *, llama_new_context_with_model, (struct llama_model *, struct any_params)) \
	X(struct llama_batch, llama_batch_init, (int32_t, int32_t, int32_t)) \
	X(int32_t, llama_decode, (struct llama_context *, struct llama_batch)) \
	X(float *, llama_get_logits_ith, (struct llama_context *, int32_t))
#define DECLARE(type, name, arguments) static type(*name) arguments;
GGML_FUNCTIONS(DECLARE)
LLAMA_FUNCTIONS(DECLARE)

void stop_if(bool failed, const char *what)
{
	if (!failed)
		return;
	fprintf(stderr, "program: %s\n", what);
	exit(1);
}

void *function(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	stop_if(!found, name);
	return found;
}

/* What was made for a processor that this one is not says so. */
static void open_library(const char *path)
{
	void *library = dlopen(path, RTLD_LAZY | RTLD_GLOBAL);
	int (*score)(void) = NULL;

	stop_if(!library, library ? "" : dlerror());
	*(void **)&score = dlsym(library, "ggml_backend_score");
	stop_if(score && score() == 0, "this processor cannot run that library");
}

/* A library comes after those that it needs. */
static void open_libraries(const char *folder)
{
	char cpu[64];
	const char *const names[] = { "libggml-base.so", "libggml-cpu.so", cpu,     "libggml.so", "libggml.*.so",
				      "libllama.so",     "libllama.*.so",  "*.node" };
	void (*load_all)(const char *) = NULL;
	int opened = 0;

	snprintf(cpu, sizeof cpu, "libggml-cpu-%s.so", getenv("GGML_CPU") ? getenv("GGML_CPU") : "x64");
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char pattern[4096];
		glob_t found;
		snprintf(pattern, sizeof pattern, "%s/%s", folder, names[i]);
		if (glob(pattern, 0, NULL, &found) != 0)
			continue;
		if (!strstr(names[i], "node") || opened == 0) {
			opened++;
			open_library(found.gl_pathv[0]);
		}
		globfree(&found);
	}
	stop_if(opened == 0, "no library in the folder");
#define FIND(type, name, arguments) name = (type(*) arguments)function(#name);
	GGML_FUNCTIONS(FIND)
	/* where back ends are libraries of their own, llama looks for them here */
	*(void **)&load_all = dlsym(RTLD_DEFAULT, "ggml_backend_load_all_from_path");
	if (load_all)
		load_all(folder);
}

__attribute__((noinline)) void rest(void)
{
	puts("resting");
	fflush(stdout);
	getchar();
}

static bool is(const char *how, const char *text)
{
	return how && strcmp(how, text) == 0;
}

static int stop(const char *how)
{
	fflush(stdout);
	write_trace();
	if (is(how, "abort"))
		abort();
	rest();
	return 0;
}

/* ---- a graph ---- */

enum { K = 64, ROWS = 16, COLUMNS = 3, FIRST = 4, PART = 8 };

/* Integers, of which each 32 have a 127: ggml's blocks of 8 bits hold them exactly. */
static int a_at(int column, int k)
{
	return k % 32 == column ? 127 : (k * 7 + column * 13) % 100 - 50;
}

static int w_at(int row, int k)
{
	return (row * 5 + k * 3) % 16 - 8;
}

static void put_half(uint8_t *to, uint16_t bits)
{
	memcpy(to, &bits, sizeof bits);
}

/* The integers -8 … 7, of which an f16 has 3 bits of mantissa at most. */
static uint16_t half_of(int x)
{
	uint32_t bits;
	float f = (float)x;

	memcpy(&bits, &f, sizeof bits);
	return (uint16_t)((bits >> 16 & 0x8000) | (x ? (bits >> 13 & 0x3ffff) - (112 << 10) : 0));
}

static void put_weights(int type, void *data)
{
	uint8_t *to = data;

	for (int row = 0; row < ROWS; row++)
		for (int k = 0; k < K; k += 32) {
			const int half = 0x3800; /* 0.5 */
			if (type == Q8_0 || type == Q4_0) {
				put_half(to, (uint16_t)half);
				to += 2;
			}
			for (int i = 0; i < 32; i++) {
				int w = w_at(row, k + i);
				float f = (float)w;
				if (type == Q8_0)
					to[i] = (uint8_t)w;
				else if (type == Q4_0 && i < 16)
					to[i] = (uint8_t)((w + 8) | (w_at(row, k + i + 16) + 8) << 4);
				else if (type == F16)
					put_half(to + 2 * i, half_of(w));
				else if (type == BF16)
					memcpy(to + 2 * i, (char *)&f + 2, 2);
			}
			to += type == Q8_0 ? 32 : type == Q4_0 ? 16 : 64;
		}
}

static bool is_second; /* the graph is computed again */

/* A node in the middle, the same as the one before. */
static void pass_on(struct ggml_tensor *to, const struct ggml_tensor *from, int thread, int n, void *how)
{
	(void)n;
	if (thread == 0)
		memcpy(ggml_get_data(to), ggml_get_data(from), ggml_nbytes(from));
	if (is_second && thread == 0 && is(how, "within"))
		rest();
	if (is_second && thread == (is(how, "worker-abort") ? 1 : 0) && !is(how, "within"))
		abort();
}

static void rest_in_signal(int signal)
{
	(void)signal;
	rest();
	_exit(0);
}

/* An index that leads nowhere. A newer ggml ends by abort(), for which it would have a debugger print the stack. */
static void break_rows(struct ggml_tensor *ids, const char *how)
{
	setenv("GGML_NO_BACKTRACE", "1", 1);
	setenv("PATH", "", 1);
	if (is(how, "op")) {
		signal(SIGSEGV, rest_in_signal);
		signal(SIGABRT, rest_in_signal);
	}
	*(int32_t *)ggml_get_data(ids) = 1 << 28;
}

/* By threads that stay, where this ggml has such. */
static int compute_in_pool(struct ggml_context *c, struct ggml_cgraph *g, int times)
{
	struct any_params (*get_params)(int) = NULL;
	void *(*make)(struct any_params *) = NULL, *pool = NULL;

	*(void **)&get_params = dlsym(RTLD_DEFAULT, "ggml_threadpool_params_default");
	*(void **)&make = dlsym(RTLD_DEFAULT, "ggml_threadpool_new");
	if (get_params && make) {
		struct any_params of_pool = get_params(2);
		pool = make(&of_pool);
	}
	struct any_params plan = ggml_graph_plan(g, 2, pool);
	/* the size of its memory, and where that is */
	struct ggml_tensor *work = ggml_new_tensor_2d(c, F32, (int64_t)(size_t)plan.pointers[0] / 4 + 64, 1);
	plan.pointers[1] = ggml_get_data(ggml_set_name(work, "work"));
	int status = 0;
	while (status == 0 && times-- > 0)
		status = ggml_graph_compute(g, &plan);
	return status;
}

static int graph(const char *how)
{
	static const struct {
		int type;
		float step;
		const char *weights, *product;
	} kinds[] = { { Q8_0, 0.5f, "w.q8_0", "y.q8_0" },
		      { Q4_0, 0.5f, "w.q4_0", "y.q4_0" },
		      { F16, 1, "w.f16", "y.f16" },
		      { BF16, 1, "w.bf16", "y.bf16" } };
	struct ggml_context *c = ggml_init((struct ggml_init_params){ 1 << 24, NULL, false });
	struct ggml_tensor *a = ggml_set_name(ggml_new_tensor_2d(c, F32, K, COLUMNS), "a"), *sum = NULL;
	bool is_old = strcmp(ggml_type_name(I32_ONCE), "i32") == 0;
	struct ggml_tensor *ids = ggml_set_name(ggml_new_tensor_2d(c, is_old ? I32_ONCE : I32, 2, 1), "ids");
	float *data = ggml_get_data(a), step = 0;

	for (int i = 0; i < COLUMNS * K; i++)
		data[i] = (float)a_at(i / K, i % K);
	memcpy(ggml_get_data(ids), (int32_t[]){ 2, 0 }, 8);
	for (size_t i = 0; i < (is_old ? 3 : 4); i++) {
		struct ggml_tensor *w = ggml_new_tensor_2d(c, kinds[i].type, K, ROWS);
		put_weights(kinds[i].type, ggml_get_data(ggml_set_name(w, kinds[i].weights)));
		struct ggml_tensor *y = ggml_set_name(ggml_mul_mat(c, w, a), kinds[i].product);
		sum = sum ? ggml_add(c, sum, y) : y;
		step += kinds[i].step;
	}
	ggml_set_name(sum, "sum");
	if (how && (strstr(how, "within") || strstr(how, "worker")))
		sum = ggml_set_name(ggml_map_custom1(c, sum, pass_on, -1 /* all threads */, (void *)how), "passed");
	struct ggml_tensor *part = ggml_view_2d(c, sum, PART, COLUMNS, ROWS * sizeof(float), FIRST * sizeof(float));
	struct ggml_tensor *turned = ggml_transpose(c, ggml_set_name(part, "part"));
	struct ggml_tensor *result = ggml_set_name(ggml_cont(c, ggml_set_name(turned, "turned")), "result");
	struct ggml_tensor *rows = ggml_set_name(ggml_get_rows(c, a, ids), "rows");
	struct ggml_cgraph *g = ggml_new_graph(c);
	if (how && strncmp(how, "op", 2) == 0) { /* rows come in the middle */
		ggml_build_forward_expand(g, sum);
		ggml_build_forward_expand(g, rows);
	}
	ggml_build_forward_expand(g, result);
	ggml_build_forward_expand(g, rows);
	stop_if((is(how, "pool") ? compute_in_pool(c, g, 1) : ggml_graph_compute_with_ctx(c, g, 2)) != 0,
		"ggml could not compute the graph");
	for (int row = 0; row < PART; row++)
		for (int column = 0; column < COLUMNS; column++) {
			int dot = 0;
			for (int k = 0; k < K; k++)
				dot += w_at(row + FIRST, k) * a_at(column, k);
			float y = ((float *)ggml_get_data(result))[row * COLUMNS + column];
			stop_if(y != step * (float)dot, "the graph's result is wrong");
		}
	stop_if(memcmp(ggml_get_data(rows), data + 2 * K, K * sizeof *data) != 0, "the rows are wrong");
	puts("computed");
	fflush(stdout);
	if (how && (strstr(how, "within") || strstr(how, "worker") || strncmp(how, "op", 2) == 0)) {
		if (strncmp(how, "op", 2) == 0)
			break_rows(ids, how);
		for (int i = 0; i < COLUMNS * K; i++)
			data[i] = -data[i];
		is_second = true;
		stop_if(ggml_graph_compute_with_ctx(c, g, 2) != 0, "ggml could not compute the graph again");
	}
	return stop(how);
}

/* ---- NaN ---- */

static int make_nan(const char *how)
{
	typedef struct ggml_tensor *unary(struct ggml_context *, struct ggml_tensor *);
	typedef struct ggml_tensor *binary(struct ggml_context *, struct ggml_tensor *, struct ggml_tensor *);
	unary *log = NULL, *sqrt = NULL;
	binary *div = NULL;
	*(void **)&log = function("ggml_log");
	*(void **)&sqrt = function("ggml_sqrt");
	*(void **)&div = function("ggml_div");
	struct ggml_context *c = ggml_init((struct ggml_init_params){ 1 << 22, NULL, false });
	struct ggml_tensor *x = ggml_set_name(ggml_new_tensor_2d(c, F32, 8, 3), "x");
	struct ggml_tensor *y = ggml_set_name(ggml_new_tensor_2d(c, F32, 8, 3), "y");
	float *at_x = ggml_get_data(x), *at_y = ggml_get_data(y);
	for (int i = 0; i < 24; i++) {
		at_x[i] = (float)(i + 1);
		at_y[i] = (float)(i + 2);
	}
	at_x[13] = -2;
	at_x[20] = at_y[20] = 0;
	struct ggml_tensor *logs = ggml_set_name(log(c, x), "logs");
	struct ggml_tensor *ratios = ggml_set_name(div(c, x, y), "ratios");
	struct ggml_tensor *moved = ggml_set_name(ggml_cont(c, ggml_transpose(c, logs)), "moved");
	struct ggml_tensor *result = ggml_set_name(ggml_add(c, moved, moved), "result");
	struct ggml_tensor *roots = ggml_set_name(sqrt(c, ratios), "roots");
	struct ggml_cgraph *g = ggml_new_graph(c);
	ggml_build_forward_expand(g, result);
	ggml_build_forward_expand(g, roots);
	stop_if(ggml_graph_compute_with_ctx(c, g, 1) != 0, "ggml could not compute the graph");
	if (is(how, "one")) {
		g = ggml_new_graph(c);
		ggml_build_forward_expand(g, logs);
		stop_if(compute_in_pool(c, g, 2) != 0, "ggml could not compute the graph again");
	}
	return stop(how);
}

/* ---- a model ---- */

enum { VOCABULARY = 384, PROMPT = 9, GREEDY = 12 };

static void add_token(struct llama_batch *batch, int token, int position, int sequence)
{
	int i = batch->n_tokens++;

	batch->token[i] = token;
	batch->pos[i] = position;
	batch->n_seq_id[i] = 1;
	batch->seq_id[i][0] = sequence;
	batch->logits[i] = 1;
}

static int likeliest(const float *logits)
{
	int best = 0;

	for (int i = 1; i < VOCABULARY; i++)
		best = logits[i] > logits[best] ? i : best;
	return best;
}

/* Who reads the second half of the file's mapping gets a signal. */
static void unmap_half(const char *path)
{
	char line[4600], name[4400], *real = realpath(path, NULL);
	unsigned long long start, end, size = 0;
	FILE *maps = fopen("/proc/self/maps", "r");

	stop_if(!real || !maps, "no list of mappings");
	while (fgets(line, sizeof line, maps)) {
		if (sscanf(line, "%llx-%llx %*s %*s %*s %*s %4399s", &start, &end, name) != 3 ||
		    strcmp(name, real) != 0)
			continue;
		size = (end - start) / 2 & ~4095ULL;
		stop_if(mprotect((char *)(uintptr_t)start + size, end - start - size, PROT_NONE) != 0, "mprotect");
	}
	fclose(maps);
	free(real);
	stop_if(size == 0, "the model is not mapped");
}

/* More threads than processors take long, since they spin while they wait for each other. */
void set_threads(void *context, const char *n)
{
	void (*set)(void *, int32_t, int32_t) = NULL;

	*(void **)&set = dlsym(RTLD_DEFAULT, "llama_set_n_threads");
	if (n && set)
		set(context, atoi(n), atoi(n));
}

static int llama(const char *folder, const char *path, const char *how)
{
	static const int prompt[PROMPT] = { 1, 77, 300, 12, 5, 350, 351, 200, 40 };
	LLAMA_FUNCTIONS(FIND)
	llama_backend_init(false);
	struct any_params of_context = llama_context_default_params();
	if (of_context.words[0] == 512) /* once it began with a seed, and took any sequence */
		of_context.words[3] = 2;
	struct llama_model *model = llama_load_model_from_file(path, llama_model_default_params());
	stop_if(!model, "llama could not read the model");
	struct llama_context *context = llama_new_context_with_model(model, of_context);
	stop_if(!context, "llama could not make a context");
	bool unmaps = is(how, "unmapped") || is(how, "unmapped-rest");
	set_threads(context, unmaps ? "1" : getenv("THREADS"));
	struct llama_context *second = is(how, "two") ? llama_new_context_with_model(model, of_context) : NULL;
	if (second)
		set_threads(second, getenv("THREADS"));
	struct llama_batch batch = llama_batch_init(64, 0, 1);

	if (is(how, "paused"))
		rest();
	for (int i = 0; i < PROMPT; i++)
		add_token(&batch, prompt[i], i, 0);
	for (int i = 0; i < PROMPT / 2; i++)
		add_token(&batch, prompt[PROMPT - 1 - i], i, 1);
	stop_if(second && llama_decode(second, batch) != 0, "llama could not decode with another context");
	stop_if(llama_decode(context, batch) != 0, "llama could not decode");
	int token = likeliest(llama_get_logits_ith(context, PROMPT - 1));
	pid_t child = is(how, "fork") ? fork() : -1;
	int status;
	for (int i = 0; i < GREEDY; i++) {
		printf("%s%d", i ? ", " : "", token);
		if (i == GREEDY - 1)
			break;
		batch.n_tokens = 0;
		add_token(&batch, token, PROMPT + i, 0);
		add_token(&batch, token, PROMPT / 2 + i, 1);
		stop_if(llama_decode(context, batch) != 0, "llama could not decode");
		token = likeliest(llama_get_logits_ith(context, 0));
	}
	puts("");
	fflush(stdout);
	if (child == 0)
		_exit(0);
	stop_if(child > 0 && (waitpid(child, &status, 0) != child || status != 0), "the child did not come to its end");
	if (is(how, "exec"))
		execl("/proc/self/exe", "program", "llama", folder, path, NULL);
	if (is(how, "crash")) {
		batch.token = (int32_t *)8;
		llama_decode(context, batch);
	}
	if (unmaps) {
		if (is(how, "unmapped-rest"))
			signal(SIGSEGV, rest_in_signal);
		set_threads(context, getenv("THREADS"));
		unmap_half(path);
		batch.n_tokens = 0;
		add_token(&batch, token, PROMPT + GREEDY - 1, 0);
		add_token(&batch, token, PROMPT / 2 + GREEDY - 1, 1);
		llama_decode(context, batch);
	}
	if (is(how, "reading"))
		llama_get_logits_ith(NULL, 0);
	return stop(how);
}

/* ---- types ---- */

/* The words of a type's traits: name, elements of a block (one word or two), bytes, whether it is quantised, then
 * the decoder. */
static void traits_of(int type, void *words[16])
{
	void *(*get)(int) = NULL;
	struct traits {
		void *words[16];
	} (*get_copy)(int) = NULL;

	*(void **)&get = dlsym(RTLD_DEFAULT, "ggml_get_type_traits");
	if (get) {
		memcpy(words, get(type), 7 * sizeof *words);
		return;
	}
	*(void **)&get_copy = function("ggml_internal_get_type_traits");
	struct traits traits = get_copy(type);
	memcpy(words, traits.words, sizeof traits.words);
}

static int bytes_at(int type, void *const words[16])
{
	return (size_t)words[2] == ggml_type_size(type) ? 2 : 3;
}

enum { TYPES = 43 /* of the newest ggml that is tried */ };

static void end(int signal)
{
	(void)signal;
	_exit(0);
}

/* ggml's own decoder; of what it does not store itself a function alone, if that. */
static void *decoder_of(int type)
{
	void *words[16] = { NULL };
	char name[64];

	traits_of(type, words);
	snprintf(name, sizeof name, "dequantize_row_%s", (char *)words[0]);
	void *to_float = words[bytes_at(type, words) + 2];
	return to_float ? to_float : dlsym(RTLD_DEFAULT, name);
}

/* The line of golden.inc. */
static void print_digest(int type, int64_t elements)
{
	uint64_t state = 0, digest = 0;
	float values[1024];
	uint8_t block[STREAM_BLOCK_MAX];
	size_t bytes = ggml_type_size(type);
	void (*to_float)(const void *, float *, int64_t) = NULL;

	*(void **)&to_float = decoder_of(type);
	if (!to_float || bytes > sizeof block || elements > 1024)
		return;
	for (int i = 0; i < STREAM_BLOCKS; i++) {
		stream_take(&state, type, block, bytes);
		to_float(block, values, elements);
		stream_digest(&digest, values, (size_t)elements);
	}
	printf("{ \"%s\", %d, %d, %d, 0x%016llx },\n", ggml_type_name(type), type, (int)elements, (int)bytes,
	       (unsigned long long)digest);
}

/* An older ggml ends this by abort() where its types end; before that it would have a debugger print the stack. */
static int digests(void)
{
	ggml_init((struct ggml_init_params){ 1 << 16, NULL, false }); /* fills its tables */
	setenv("PATH", "", 1);
	signal(SIGABRT, end);
	for (int type = 0; type < TYPES; type++) {
		void *words[16] = { NULL };
		traits_of(type, words);
		int elements = (int)(intptr_t)words[1];
		if (words[0] && elements > 1)
			print_digest(type, elements);
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	stop_if(argc < 3, "which folder?");
	open_libraries(argv[2]);
	if (strcmp(argv[1], "graph") == 0)
		return graph(argv[3]);
	if (strcmp(argv[1], "operations") == 0) {
		compute_operations();
		return stop(argv[3]);
	}
	if (strcmp(argv[1], "names") == 0) {
		for (int i = 0; argv[3] && i < atoi(argv[3]); i++)
			puts(((const char *(*)(int))function("ggml_op_name"))(i));
		return 0;
	}
	if (strcmp(argv[1], "repacked") == 0) {
		compute_repacked();
		return stop(argv[3]);
	}
	if (strcmp(argv[1], "nan") == 0)
		return make_nan(argv[3]);
	if (strcmp(argv[1], "blocks") == 0)
		return digests();
	stop_if(argc < 4, "which model?");
	if (strcmp(argv[1], "tokens") == 0) {
		print_tokens(argv[3]);
		return 0;
	}
	if (strcmp(argv[1], "logits") == 0) {
		print_logits(argv[3], argv[4] ? argv[4] : "");
		return 0;
	}
	if (strcmp(argv[1], "whisper") == 0) {
		compute_whisper(argv[3]);
		return stop(argv[4]);
	}
	return llama(argv[2], argv[3], argv[4]);
}
