/* Step mode: the same values as without it, through code that a debugger knows, which does not
 * grow with the number of evaluations. The graphs are read as from outside: this very process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "between.h"
#include "inspect/graph/listings.h"
#include "lazybones.h"
#include "publish/records.h"
#include "publish/root.h"
#include "target/process.h"

/* gdb's own declarations. */
struct entry {
	struct entry *next, *prev;
	const char *symfile;
	uint64_t bytes;
};
extern struct {
	uint32_t version, action;
	struct entry *relevant, *first;
} __jit_debug_descriptor;

static int count_entries(void)
{
	int n = 0;

	for (struct entry *e = __jit_debug_descriptor.first, *before = NULL; e; before = e, e = e->next) {
		assert_ptr_equal(e->prev, before);
		n++;
	}
	return n;
}

/* ---- this process, read as any other ---- */

static struct lbx_target *target;
static struct lbx_table *table;

static int open_self(void **state)
{
	(void)state;
	lb_clear_error();
	lb_set_step_mode(LB_STEP_OFF);
	return !lbx_process_open(getpid(), &target);
}

static int close_self(void **state)
{
	(void)state;
	lb_set_step_mode(LB_STEP_OFF);
	lbx_table_destroy(table);
	lbx_target_destroy(target);
	table = NULL;
	return 0;
}

static void look(void)
{
	lbx_table_destroy(table);
	if (!lbx_table_create(target, &table))
		fail_msg("%s", lb_error_message());
}

/* All graphs there are; returns how many, the last one in *ret. */
static int find_graphs(struct lbx_eval_graph *ret)
{
	struct lbx_eval_graph graph;
	uint64_t slot = 0, last = 0;
	int n = 0;

	look();
	for (; lbx_table_graph(table, &slot, &graph); n++) {
		if (graph.id > last)
			*ret = graph;
		last = graph.id > last ? graph.id : last;
	}
	return n;
}

struct sink {
	char *text;
	size_t n;
};

static void write_text(struct lbx_out *out, const char *bytes, size_t n)
{
	struct sink *sink = out->context;

	sink->text = realloc(sink->text, sink->n + n + 1);
	memcpy(sink->text + sink->n, bytes, n);
	sink->n += n;
	sink->text[sink->n] = '\0';
}

static bool no_line(void *context, uint64_t pc, struct lbx_source_line *ret)
{
	(void)context;
	assert_int_not_equal(pc, 0);
	snprintf(ret->file, sizeof ret->file, "dir/file.c");
	ret->line = 7;
	return true;
}

static char *listing_text(const struct lbx_eval_graph *graph)
{
	struct sink sink = { calloc(1, 1), 0 };
	struct lbx_out out = { .context = &sink, .write = write_text, .width = 80 };
	struct lbx_listing listing;
	struct lbx_listing_text text = { .graph = graph->id, .listing = &listing, .line = no_line };

	if (!lbx_table_listing(table, graph, &listing) || !lbx_listing_write(&out, &text, 0, listing.n_lines))
		fail_msg("%s", lb_error_message());
	lbx_listing_deinit(&listing);
	return sink.text;
}

/* ---- graphs ---- */

static bool gate(void *unused, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)unused, (void)n_in, (void)n_out;
	lb_tensor *e = lb_exp(lb_negative(in[0]));
	out[0] = lb_where(lb_greater(in[0], in[1]), lb_divide(e, lb_add(in[1], lb_scalar(3))), e);
	return out[0] != NULL;
}

enum { VALUES = 4 };

/* Views, a product, chains with a member that stays, a reduction, a fused tensor. */
static void compute(lb_compiled *f, double ret[VALUES])
{
	LB_SCOPE {
		lb_tensor *x = lb_named("x", lb_arange(0, 12, 1, LB_F32));
		lb_tensor *m = lb_reshape(x, LB_SHAPE(3, 4));
		lb_tensor *p = lb_named("p", lb_matmul(m, lb_transpose(m, LB_SHAPE(1, 0))));
		lb_tensor *a = lb_add(p, lb_scalar(1.5));
		lb_tensor *y = lb_named("y", lb_tanh(lb_multiply(a, lb_scalar(0.01))));
		lb_tensor *in[] = { y, lb_full(LB_SHAPE(3), 0.25, LB_F32) }, *g;
		assert_true(lb_call(f, 2, in, 1, &g));
		lb_tensor *all[] = { lb_sum(g, LB_ALL_AXES, false), lb_max(y, LB_ALL_AXES, false) };
		assert_true(lb_eval_n(2, all));
		ret[0] = lb_item(all[0]);
		ret[1] = lb_item(all[1]);
		ret[2] = lb_item(lb_sum(a, LB_ALL_AXES, false));
		ret[3] = lb_item(lb_sum(p, LB_ALL_AXES, false));
	}
	if (!lb_ok())
		fail_msg("%s", lb_error_message());
}

static void the_values_are_the_same(void **state)
{
	static const lb_step_mode modes[] = { LB_STEP_OPS, LB_STEP_FUSED };
	lb_compiled *f = lb_compile("gate", gate, NULL, (lb_compile_options){ 0 });
	struct lbx_eval_graph graph;
	double plain[VALUES], stepped[VALUES];

	(void)state;
	compute(f, plain);
	assert_int_equal(find_graphs(&graph), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(lb_set_step_mode(modes[i]), LB_STEP_OFF);
		for (int round = 0; round < 3; round++) {
			compute(f, stepped);
			assert_memory_equal(plain, stepped, sizeof plain);
		}
		/* the two of eval_n, and two sums */
		assert_int_equal(find_graphs(&graph), 3);
		assert_int_equal(graph.runs, 3);
		assert_int_equal(graph.running, 0);
		assert_int_equal(count_entries(), 1 + 3);
		assert_int_equal(lb_set_step_mode(LB_STEP_OFF), modes[i]);
		assert_int_equal(count_entries(), 1);
	}
	lb_compiled_free(f);
}

/* A debugger looks at each operation: a fused tensor's are computed one by one, or never fused. */
static void watched_values_are_the_same(void **state)
{
	static const uint32_t words[] = { LB_WATCH_EVAL, LB_WATCH_EVAL | LB_WATCH_CALLS };
	lb_compiled *f = lb_compile("gate", gate, NULL, (lb_compile_options){ 0 });
	double plain[VALUES], watched[VALUES];

	(void)state;
	compute(f, plain);
	int64_t calls = (int64_t)lb_compiled_stats(f).calls;
	for (int i = 0; i < 2; i++) {
		for (int mode = LB_STEP_OFF; mode <= LB_STEP_FUSED; mode++) {
			lb_set_step_mode((lb_step_mode)mode);
			lb_root->watch_all = words[i];
			uint64_t fused = lb_counters.fused;
			compute(f, watched);
			assert_int_equal(lb_counters.fused, fused);
			lb_root->watch_all = 0;
			assert_memory_equal(plain, watched, sizeof plain);
		}
		/* the function itself is called then, not its graph */
		assert_int_equal(lb_compiled_stats(f).calls, calls + 3);
	}
	lb_compiled_free(f);
}

static void evaluate_one(lb_step_mode mode)
{
	lb_compiled *f = lb_compile("gate", gate, NULL, (lb_compile_options){ 0 });

	lb_set_step_mode(mode);
	LB_SCOPE {
		lb_tensor *x = lb_named("x", lb_arange(0, 4, 1, LB_F32));
		lb_tensor *y = lb_named("y", lb_multiply(lb_add(x, x), lb_scalar(0.5)));
		lb_tensor *in[] = { y, lb_full(LB_SHAPE(4), 1, LB_F32) }, *g;
		assert_true(lb_call(f, 2, in, 1, &g));
		assert_true(lb_eval(lb_named("g", g)));
		/* the last graph: from outside come g, a root before, and y, which has a name */
		lb_tensor *h = lb_maximum(g, y);
		assert_true(lb_eval(h));
	}
	lb_compiled_free(f);
}

static void listings_say_what_runs(void **state)
{
	struct lbx_eval_graph graph;
	char *text;

	(void)state;
	evaluate_one(LB_STEP_OPS);
	assert_true(find_graphs(&graph) >= 2);
	assert_true(lbx_table_graph_by_id(table, graph.id - 1, &graph));
	text = listing_text(&graph);
	assert_string_equal(text, "x = arange()           float32 (4,)  # file.c:7\n"
				  "%2 = add(x, x)         float32 (4,)  # file.c:7\n"
				  "y = multiply(%2, 0.5)  float32 (4,)  # file.c:7\n"
				  "%4 = full(1.0)         float32 (4,)  # file.c:7\n"
				  "%5 = greater(y, %4)    bool (4,)     # file.c:7\n"
				  "%6 = negative(y)       float32 (4,)  # file.c:7\n"
				  "%7 = exp(%6)           float32 (4,)  # file.c:7\n"
				  "%8 = add(%4, 3.0)      float32 (4,)  # file.c:7\n"
				  "%9 = divide(%7, %8)    float32 (4,)  # file.c:7\n"
				  "g = where(%5, %9, %7)  float32 (4,)  # file.c:7\n");
	free(text);
	/* what stays comes from outside of the next */
	find_graphs(&graph);
	text = listing_text(&graph);
	assert_string_equal(text, "%1 = maximum(g, y)  float32 (4,)  # file.c:7\n"
				  "\n"
				  "# from outside:\n"
				  "#   g: float32 (4,)  # file.c:7\n"
				  "#   y: float32 (4,)  # file.c:7\n");
	free(text);
}

static struct lbx_tensors_ops counting;
static const struct lbx_tensors_ops *counted;
static int walks;

static enum lbx_next next_counted(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_tensor *ret, uint64_t *bad)
{
	walks += *slot == 0;
	return counted->next(tensors, slot, ret, bad);
}

static bool by_id_counted(struct lbx_tensors *tensors, uint64_t id, struct lbx_tensor *ret)
{
	walks++;
	return counted->by_id(tensors, id, ret);
}

static int progress_left;

static bool progress_ends(struct lbx_out *out, const char *what, int64_t done, int64_t total)
{
	(void)out, (void)what, (void)done, (void)total;
	return progress_left-- > 0;
}

/* The values of many lines take one walk over the tensors, not one each; and they can be interrupted. */
static void values_take_one_walk(void **state)
{
	enum { OPS = 200 };
	struct lbx_eval_graph graph = { 0 };
	struct lbx_settings settings = lbx_default_settings;
	struct sink sink = { calloc(1, 1), 0 };
	struct lbx_out out = { .context = &sink, .write = write_text, .width = 200 };
	struct lbx_context context = { .out = &out, .settings = &settings };
	struct lbx_args args;
	char line[64];
	int n = 0;

	(void)state;
	lb_set_step_mode(LB_STEP_OPS);
	LB_SCOPE {
		lb_tensor *x = lb_arange(0, 4, 1, LB_F32);
		for (int i = 0; i < OPS; i++)
			x = lb_sin(x);
		assert_true(lb_eval(x));
		find_graphs(&graph);
		context.target = target;
		context.table = table;
		counted = lbx_table_tensors(table)->ops;
		counting = *counted;
		counting.next = next_counted;
		counting.by_id = by_id_counted;
		lbx_table_tensors(table)->ops = &counting;
		walks = 0;
		snprintf(line, sizeof line, "%" PRIu64 " --ranges", graph.id);
		assert_true(lbx_args_parse_line(&lbx_command_listing, line, &args));
		assert_true(lbx_command_listing.run(&context, &args));
		assert_int_equal(walks, 1);
		for (const char *at = sink.text; (at = strstr(at, " = sin(")); at++)
			n++;
		assert_int_equal(n, OPS);
		assert_non_null(strstr(sink.text, " = ["));
		out.progress = progress_ends;
		progress_left = 3;
		assert_false(lbx_command_listing.run(&context, &args));
		assert_string_equal(lb_error_message(), "interrupted");
		lb_clear_error();
		lbx_table_tensors(table)->ops = counted;
	}
	free(sink.text);
}

/* The sum takes the constant's value as it is; only then the product needs it as a tensor. */
static void constants_may_come_later(void **state)
{
	struct lbx_eval_graph graph = { 0 }; /* there may be none yet */
	char *text;

	(void)state;
	find_graphs(&graph);
	uint64_t before = graph.id;
	lb_set_step_mode(LB_STEP_OPS);
	LB_SCOPE {
		lb_tensor *x = lb_named("x", lb_arange(0, 4, 1, LB_F32));
		lb_tensor *ones = lb_ones(LB_SHAPE(4, 4), LB_F32);
		lb_tensor *sums = lb_named("sums", lb_add(x, ones));
		assert_true(lb_eval(lb_matmul(sums, ones)));
	}
	lb_set_step_mode(LB_STEP_OPS);
	find_graphs(&graph);
	assert_true(graph.id > before);
	text = listing_text(&graph);
	assert_non_null(strstr(text, "sums = add(x, 1.0)"));
	assert_non_null(strstr(text, "matmul(sums, %"));
	free(text);
}

/* The lines that a chain holds, of which the last has the call. */
static void chains_are_listed_as_their_ops(void **state)
{
	struct lbx_eval_graph graph;
	struct lbx_listing listing;

	(void)state;
	evaluate_one(LB_STEP_FUSED);
	find_graphs(&graph);
	assert_true(lbx_table_graph_by_id(table, graph.id - 1, &graph));
	assert_true(lbx_table_listing(table, &graph, &listing));
	assert_int_equal(listing.n_lines, 10);
	/* x; add and multiply; full; the fused tensor, whose instructions are lines */
	assert_int_equal(listing.n_calls, 4);
	assert_true(listing.lines[0].code && listing.lines[2].code && listing.lines[3].code && listing.lines[9].code);
	assert_int_equal(listing.lines[1].code, 0);
	assert_int_equal(listing.lines[8].code, 0);
	assert_int_equal(lbx_listing_line_at(&listing, 0), 1);
	assert_int_equal(lbx_listing_line_at(&listing, listing.lines[2].code), 3);
	assert_int_equal(lbx_listing_line_at(&listing, listing.lines[3].code - 1), 3);
	assert_int_equal(lbx_listing_line_at(&listing, graph.code_bytes - 1), 10);
	lbx_listing_deinit(&listing);
}

/* A compiled function's trace is listed when it is traced, and no more. */
static void traces_are_listed(void **state)
{
	lb_compiled *f = lb_compile("gate", gate, NULL, (lb_compile_options){ 0 });
	struct lbx_eval_graph graph;
	struct lbx_listing listing;
	char *text;

	(void)state;
	lb_set_step_mode(LB_STEP_OPS);
	for (int64_t n = 3; n < 5; n++) {
		for (int round = 0; round < 2; round++) {
			LB_SCOPE {
				lb_tensor *in[] = { lb_ones(LB_SHAPE(n), LB_F32), lb_ones(LB_SHAPE(n), LB_F32) }, *g;
				assert_true(lb_call(f, 2, in, 1, &g));
			}
		}
		assert_int_equal(find_graphs(&graph), n - 2);
	}
	assert_int_equal(graph.code, 0);
	assert_int_equal(count_entries(), 1);
	assert_true(lbx_table_listing(table, &graph, &listing));
	assert_string_equal(listing.title, "gate");
	lbx_listing_deinit(&listing);
	text = listing_text(&graph);
	/* in the order in which the result needs them */
	assert_non_null(strstr(text, "= greater(in1, in2)"));
	assert_non_null(strstr(text, "bool (4,)"));
	assert_non_null(strstr(text, "= where("));
	free(text);
	lb_compiled_free(f);
}

/* ---- what does not grow ---- */

enum { GRAPHS_MOST = 256 };

/* This process's mappings for code of no file; those that can be written and executed. */
static void count_mappings(int *ret, int *both)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	*ret = *both = 0;
	while (fgets(line, sizeof line, maps)) {
		*ret += strstr(line, " r-xp ") && !strpbrk(line, "/[");
		*both += strstr(line, " rwx") != NULL;
	}
	fclose(maps);
}

static void one_graph(int64_t n)
{
	LB_SCOPE {
		lb_tensor *x = lb_full(LB_SHAPE(n), 1, LB_F32);
		lb_tensor *y = lb_exp(lb_multiply(x, lb_scalar(0)));
		assert_true(lb_item(lb_sum(y, LB_ALL_AXES, false)) == (double)n);
	}
}

static size_t heap_bytes(void)
{
	lb_clear_cache(); /* of buffers, which are of other sizes */
	return mallinfo2().uordblks;
}

static void ten_thousand_evaluations_leave_nothing(void **state)
{
	struct lbx_eval_graph graph;
	int mappings[2], both;
	size_t heap[2] = { 0 };

	(void)state;
	lb_set_step_mode(LB_STEP_OPS);
	for (int i = 0; i < 10000; i++) {
		one_graph(3);
		if (i == 500 || i == 1000) /* the first look clears the cache: the heap lies otherwise then */
			heap[0] = heap_bytes();
	}
	heap[1] = heap_bytes();
	/* the allocator counts what a thread keeps to hand out again as used: that may differ a little */
	assert_between(heap[1], 0, heap[0] + 4096); /* that is less than half a byte an evaluation */
	assert_int_equal(find_graphs(&graph), 1);
	assert_int_equal(graph.runs, 10000);
	for (int i = 0; i < 10000; i++) {
		if (i == 1000) {
			count_mappings(&mappings[0], &both);
			heap[0] = heap_bytes();
		}
		one_graph(1 + i);
	}
	heap[1] = heap_bytes();
	count_mappings(&mappings[1], &both);
	assert_between(heap[1], 0, heap[0] + 4096); /* that is less than a byte a graph */
	if (!getenv("VALGRIND")) /* its own code is both */
		assert_int_equal(both, 0);
	assert_int_not_equal(mappings[0], 0);
	/* one more rests till the next graph */
	assert_true(mappings[1] <= GRAPHS_MOST + 1);
	assert_int_equal(mappings[0], mappings[1]);
	assert_int_equal(find_graphs(&graph), GRAPHS_MOST);
	assert_int_equal(count_entries(), 1 + GRAPHS_MOST);
	lb_set_step_mode(LB_STEP_OFF);
	assert_int_equal(find_graphs(&graph), 0);
	assert_int_equal(count_entries(), 1);
}

/* ---- what goes wrong, and what happens inside ---- */

static void failures_are_the_same(void **state)
{
	struct lbx_eval_graph graph;
	uint64_t limit = lb_set_memory_limit(1 << 20);

	(void)state;
	lb_set_step_mode(LB_STEP_OPS);
	LB_SCOPE {
		lb_tensor *x = lb_full(LB_SHAPE(1 << 16), 1, LB_F32);
		lb_tensor *big = lb_broadcast_to(x, LB_SHAPE(16, 1 << 16));
		assert_false(lb_eval(lb_exp(big)));
		assert_false(lb_ok());
		lb_clear_error();
		lb_set_memory_limit(limit);
		assert_true(lb_eval(lb_exp(big)));
	}
	assert_true(find_graphs(&graph) >= 1);
	assert_int_equal(graph.running, 0);
}

struct inner {
	int released;
	double value;
};

static void release(void *data, void *context)
{
	struct inner *inner = context;

	(void)data;
	inner->released++;
	LB_SCOPE
		inner->value = lb_item(lb_add(lb_scalar(20), lb_scalar(22)));
}

static void an_evaluation_inside_another(void **state)
{
	static float data[4] = { 1, 2, 3, 4 };
	struct inner inner = { 0 };
	struct lbx_eval_graph graph;

	(void)state;
	lb_set_step_mode(LB_STEP_OPS);
	LB_SCOPE {
		lb_tensor *y = NULL;
		LB_SCOPE {
			lb_tensor *x = lb_from_memory(data, sizeof data, LB_SHAPE(4), LB_F32, release, &inner);
			y = lb_keep(lb_exp(x));
		}
		assert_true(lb_eval(y));
		lb_release(y);
	}
	assert_int_equal(inner.released, 1);
	assert_true(inner.value == 42);
	assert_int_equal(find_graphs(&graph), 2);
}

static void *work(void *failures)
{
	for (int i = 0; i < 300; i++) {
		LB_SCOPE {
			/* one graph for all, then one of this round's own */
			lb_tensor *x = lb_arange(0, 5 + i % 2 * (i / 2), 1, LB_F32);
			double n = (double)lb_size(x);
			lb_tensor *y = lb_sum(lb_multiply(x, lb_scalar(2)), LB_ALL_AXES, false);
			if (lb_item(y) != n * (n - 1))
				__atomic_fetch_add((int *)failures, 1, __ATOMIC_RELAXED);
		}
	}
	return NULL;
}

static void threads_share_graphs(void **state)
{
	enum { THREADS = 4 };
	pthread_t threads[THREADS];
	struct lbx_eval_graph graph;
	int failures = 0;

	(void)state;
	lb_set_step_mode(LB_STEP_OPS);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, &failures), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(failures, 0);
	find_graphs(&graph);
	assert_int_equal(graph.running, 0);
	assert_int_equal(count_entries(), 1 + find_graphs(&graph));
}

static void a_child_goes_on(void **state)
{
	int status;

	(void)state;
	lb_set_step_mode(LB_STEP_OPS);
	one_graph(5);
	pid_t child = fork();
	if (child == 0) {
		one_graph(5);
		one_graph(6);
		_exit(lb_ok() ? 42 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 42);
}

/* Forks while an op of a graph runs, and another thread's evaluation of it is under way. */
static void fork_inside(void *data, void *child)
{
	(void)data;
	*(pid_t *)child = fork();
}

static void a_child_forgets_what_others_run(void **state)
{
	static float few[4] = { 1, 2, 3, 4 };
	struct lbx_eval_graph graph;
	pid_t child = -1;
	int status;

	(void)state;
	lb_set_step_mode(LB_STEP_OPS);
	one_graph(5);
	assert_int_equal(find_graphs(&graph), 1);
	((struct lb_graph_record *)(uintptr_t)graph.address)->running++; /* as another thread's */
	LB_SCOPE {
		lb_tensor *x = lb_from_memory(few, sizeof few, LB_SHAPE(4), LB_F32, fork_inside, &child);
		lb_eval(lb_sum(x, LB_ALL_AXES, false));
	}
	assert_true(child >= 0);
	if (child == 0) {
		/* that of the fork has ended since; the other does not go on */
		bool first = true;
		uint64_t slot = 0;
		lbx_table_destroy(table);
		lbx_target_destroy(target);
		if (!lbx_process_open(getpid(), &target) || !lbx_table_create(target, &table))
			_exit(1);
		while (lbx_table_graph(table, &slot, &graph))
			first &= graph.running == 0;
		lb_set_step_mode(LB_STEP_OFF); /* drops all that do not run */
		look();
		slot = 0;
		_exit(first && !lbx_table_graph(table, &slot, &graph) ? 42 : 2);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 42);
	find_graphs(&graph);
	((struct lb_graph_record *)(uintptr_t)graph.address)->running = 0;
}

/* A system that gives no memory for code: the evaluation runs, and the reason can be read. */
static void refusals_can_be_read(void **state)
{
	const struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mprotect, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof filter / sizeof *filter, (struct sock_filter *)filter };
	char why[LB_FLIGHT_TEXT_BYTES];
	struct lbx_root root;
	uint64_t before = lb_counters.unstepped;
	struct lbx_eval_graph graph;
	pid_t child;
	int status;

	(void)state;
	lb_set_step_mode(LB_STEP_OPS);
	one_graph(5);
	assert_int_equal(lb_counters.unstepped, before);
	child = fork();
	if (child == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
			_exit(43);
		one_graph(5); /* known already */
		bool none = lb_counters.unstepped == before;
		one_graph(7);
		lbx_table_destroy(table);
		lbx_target_destroy(target);
		if (!none || !lb_ok() || !lbx_process_open(getpid(), &target) || !lbx_table_create(target, &table) ||
		    !lbx_table_root(table, &root))
			_exit(1);
		_exit(root.counters.unstepped == before + 1 &&
			      lbx_step_refusal(&(struct lbx_context){ .target = target }, &root, why, sizeof why) &&
			      strcmp(why, "cannot get memory for code: Permission denied") == 0
			  ? 42
			  : 2);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 43)
		skip();
	assert_int_equal(WEXITSTATUS(status), 42);
	assert_int_equal(find_graphs(&graph), 1);
}

static void no_such_mode(void **state)
{
	(void)state;
	lb_set_step_mode(LB_STEP_FUSED);
	assert_int_equal(lb_set_step_mode((lb_step_mode)3), LB_STEP_FUSED);
	assert_false(lb_ok());
	lb_clear_error();
	assert_int_equal(lb_set_step_mode(LB_STEP_OFF), LB_STEP_FUSED);
}

static void damaged_listings_are_refused(void **state)
{
	struct lbx_eval_graph graph;
	struct lbx_listing listing;

	(void)state;
	lb_set_step_mode(LB_STEP_OPS);
	one_graph(5);
	assert_int_equal(find_graphs(&graph), 1);
	struct lb_listing *head = (struct lb_listing *)(uintptr_t)graph.listing, whole = *head;
	struct lb_listing_line *line = (struct lb_listing_line *)(head + 1), first = *line;
	uint32_t *operands = (uint32_t *)(line + whole.n_lines + whole.n_inputs), operand = operands[0];
#define REFUSED(...) \
	do { \
		__VA_ARGS__; \
		look(); \
		assert_false(lbx_table_listing(table, &graph, &listing)); \
		assert_non_null(strstr(lb_error_message(), "listing")); \
		lb_clear_error(); \
		*head = whole; \
		*line = first; \
		operands[0] = operand; \
	} while (0)
	REFUSED(head->magic++);
	REFUSED(head->size = 8);
	REFUSED(head->size = UINT64_MAX);
	REFUSED(head->title = UINT32_MAX);
	REFUSED(head->n_lines = 0);
	REFUSED(head->n_lines = UINT32_MAX);
	REFUSED(head->n_operands = UINT32_MAX);
	REFUSED(line->rank = LB_MAX_RANK + 1);
	REFUSED(line->dtype = 200);
	REFUSED(line->name = UINT32_MAX);
	REFUSED(operands[0] = 0);
	REFUSED(operands[0] = 1); /* itself */
	REFUSED(operands[0] = whole.n_lines + whole.n_inputs + 1);
	REFUSED(line->operands = 1, line->n_operands = UINT32_MAX);
	REFUSED(line->code = UINT32_MAX);
#undef REFUSED
	/* operands that several lines claim: were they allowed, a small listing could be endless work */
	struct lb_listing_line *end = &line[whole.n_lines - 1], before = *end;
	assert_true(end->n_operands < whole.n_operands);
	end->operands = 0;
	end->n_operands = whole.n_operands;
	look();
	assert_false(lbx_table_listing(table, &graph, &listing));
	assert_non_null(strstr(lb_error_message(), "has operands 0 to"));
	lb_clear_error();
	*end = before;
	look();
	if (!lbx_table_listing(table, &graph, &listing))
		fail_msg("%s", lb_error_message());
	lbx_listing_deinit(&listing);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_self, close_self)
		TEST(the_values_are_the_same),
		TEST(watched_values_are_the_same),
		TEST(listings_say_what_runs),
		TEST(values_take_one_walk),
		TEST(constants_may_come_later),
		TEST(chains_are_listed_as_their_ops),
		TEST(traces_are_listed),
		TEST(ten_thousand_evaluations_leave_nothing),
		TEST(failures_are_the_same),
		TEST(an_evaluation_inside_another),
		TEST(threads_share_graphs),
		TEST(a_child_goes_on),
		TEST(a_child_forgets_what_others_run),
		TEST(refusals_can_be_read),
		TEST(no_such_mode),
		TEST(damaged_listings_are_refused),
#undef TEST
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
