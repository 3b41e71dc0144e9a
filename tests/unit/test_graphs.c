/* Random graphs, evaluated in random pieces, against the same graphs evaluated one
 * operation at a time: fusion, reuse of buffers, values that are dropped and computed
 * anew, and evaluations that fail halfway must not show in any bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "compare.h"
#include "probe.h"

enum { NODES = 60, SIZE_MOST = 4000, THREADS = 4 };

struct graph {
	uint64_t state; /* of the generator */
	int n;
	lb_tensor *nodes[NODES];
};

/* xorshift64* (Vigna 2016), below `limit`. */
static int pick(uint64_t *state, int limit)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (int)((*state * 0x2545f4914f6cdd1dULL >> 33) % (uint64_t)limit);
}

static uint64_t seeded(uint64_t seed)
{
	uint64_t state = seed * 0x9e3779b97f4a7c15ULL + 1;
	for (int i = 0; i < 8; i++)
		pick(&state, 2);
	return state;
}

static lb_tensor *any(struct graph *g)
{
	/* near the end more often, so that chains grow long */
	int back = pick(&g->state, pick(&g->state, 2) ? 4 : g->n);
	return g->nodes[back < g->n ? g->n - 1 - back : 0];
}

static lb_tensor *like(struct graph *g, lb_tensor *x)
{
	for (int tries = 0; tries < 6; tries++) {
		lb_tensor *y = any(g);
		if (lb_rank(y) != lb_rank(x))
			continue;
		bool fits = true;
		for (int i = 0; i < lb_rank(x); i++)
			fits = fits && (lb_dim(y, i) == lb_dim(x, i) || lb_dim(y, i) == 1);
		if (fits)
			return y;
	}
	lb_list shape = { lb_rank(x), lb_shape(x) };
	switch (pick(&g->state, 3)) {
	case 0: return lb_scalar(pick(&g->state, 5) - 2);
	case 1: return lb_full(LB_SHAPE(), pick(&g->state, 7) + 0.5, LB_F32);
	default: return lb_full(shape, pick(&g->state, 3), lb_dtype_of(x));
	}
}

static lb_tensor *floating(lb_tensor *x)
{
	lb_dtype dtype = lb_dtype_of(x);
	return dtype >= LB_F16 && dtype <= LB_F64 ? x : lb_astype(x, LB_F32);
}

static lb_tensor *unary_node(struct graph *g, lb_tensor *x)
{
	static lb_tensor *(*const ops[])(lb_tensor *) = {
		lb_negative, lb_abs,     lb_exp,         lb_tanh,  lb_sqrt, lb_square,
		lb_floor,    lb_sigmoid, lb_logical_not, lb_isnan, lb_sin,  lb_rsqrt,
	};
	return ops[pick(&g->state, sizeof ops / sizeof *ops)](x);
}

static lb_tensor *binary_node(struct graph *g, lb_tensor *x)
{
	static lb_tensor *(*const ops[])(lb_tensor *, lb_tensor *) = {
		lb_add,  lb_subtract, lb_multiply,   lb_divide, lb_maximum,  lb_minimum,
		lb_less, lb_equal,    lb_logical_or, lb_add,    lb_multiply,
	};
	lb_tensor *y = like(g, x);
	bool swap = pick(&g->state, 2);
	return ops[pick(&g->state, sizeof ops / sizeof *ops)](swap ? y : x, swap ? x : y);
}

static lb_tensor *view_node(struct graph *g, lb_tensor *x)
{
	int rank = lb_rank(x), axis = rank ? pick(&g->state, rank) : 0;
	lb_index index[LB_MAX_RANK];
	switch (pick(&g->state, 6)) {
	case 0: return lb_transpose(x, LB_ALL_AXES);
	case 1:
		for (int i = 0; i < rank; i++)
			index[i] = i == axis ? LB_REVERSED : LB_ALL;
		return lb_slice_n(x, rank, index);
	case 2:
		for (int i = 0; i < rank; i++)
			index[i] = i == axis && lb_dim(x, i) > 2 ? LB_RANGE(1, LB_END, 2) : LB_ALL;
		return lb_slice_n(x, rank, index);
	case 3: return lb_reshape(x, LB_SHAPE(-1, 1));
	case 4:
		if (rank < 4)
			return lb_expand_dims(x, LB_AXES(axis));
		return lb_flatten(x, 0, 1);
	default:
		if (rank == 2 && lb_dim(x, 0) == 1)
			return lb_broadcast_to(x, LB_SHAPE(3, lb_dim(x, 1)));
		return lb_squeeze(x, LB_ALL_AXES);
	}
}

static lb_tensor *whole_node(struct graph *g, lb_tensor *x)
{
	int rank = lb_rank(x), axis = rank ? pick(&g->state, rank) : 0;
	lb_tensor *pair[2] = { x, x };
	switch (pick(&g->state, rank ? 9 : 3)) {
	case 0: return lb_max(x, LB_ALL_AXES, false);
	case 1: return lb_contiguous(x);
	case 2: return lb_random_uniform((lb_list){ rank, lb_shape(x) }, -2, 2, LB_F32, lb_key((uint64_t)g->n));
	case 3: return lb_sum(x, LB_AXES(axis), true);
	case 4: return lb_mean(x, LB_AXES(axis), pick(&g->state, 2));
	case 5: return lb_softmax(x, LB_AXES(axis));
	case 6: return lb_concatenate(2, pair, axis);
	case 7: return lb_take(x, lb_arange((double)lb_dim(x, axis) - 1, -1, -2, LB_I32), axis);
	default: x = floating(x); return rank == 2 ? lb_matmul(x, lb_transpose(x, LB_ALL_AXES)) : lb_square(x);
	}
}

static lb_tensor *next_node(struct graph *g)
{
	static const lb_dtype dtypes[] = { LB_F32, LB_F16, LB_BF16, LB_F64, LB_F32, LB_I32, LB_U8 };
	lb_tensor *x = any(g), *y;
	switch (pick(&g->state, 10)) {
	case 0:
	case 1: return unary_node(g, x);
	case 2:
	case 3:
	case 4: return binary_node(g, x);
	case 5: y = like(g, x); return lb_where(lb_greater(x, y), y, x);
	case 6:
		/* integers of what surely fits them */
		x = lb_clip(x, lb_scalar_int(0), lb_scalar_int(100));
		return lb_astype(lb_where(lb_isnan(x), lb_scalar_int(1), x),
				 dtypes[pick(&g->state, sizeof dtypes / sizeof *dtypes)]);
	case 7:
	case 8: return view_node(g, x);
	default: return whole_node(g, x);
	}
}

static void add_node(struct graph *g)
{
	lb_tensor *x = g->n ? next_node(g) : counting(LB_SHAPE(6, 7));
	if (lb_size(x) > SIZE_MOST || lb_rank(x) > 5)
		x = counting(LB_SHAPE(1, 9));
	g->nodes[g->n++] = x;
}

/* Builds, and meanwhile evaluates this and that; some nodes are kept by the program. */
static void build_in_pieces(struct graph *g, uint64_t seed, bool failing)
{
	uint64_t state = seeded(seed + 12345);
	bool kept[NODES] = { false };
	while (g->n < NODES) {
		add_node(g);
		if (pick(&state, 5) == 0) {
			lb_keep(g->nodes[g->n - 1]);
			kept[g->n - 1] = true;
		}
		if (pick(&state, 8))
			continue;
		lb_tensor *some[3];
		for (int i = 0; i < 3; i++)
			some[i] = g->nodes[pick(&state, g->n)];
		if (failing)
			lb_set_memory_limit(lb_active_memory() + (uint64_t)pick(&state, 20000));
		lb_eval_n(1 + pick(&state, 3), some);
		if (failing) {
			lb_set_memory_limit(UINT64_MAX);
			lb_clear_error();
		}
	}
	for (int i = 0; i < NODES; i++)
		if (kept[i])
			lb_release(g->nodes[i]);
}

static void build_one_by_one(struct graph *g)
{
	while (g->n < NODES) {
		add_node(g);
		lb_eval(lb_keep(g->nodes[g->n - 1]));
	}
}

static bool same_node(lb_tensor *a, lb_tensor *b, int node, uint64_t seed)
{
	struct tolerance exact = { .kind = TOLERANCE_EXACT };
	struct comparison comparison;
	size_t nbytes = (size_t)lb_nbytes(a);
	char *one = malloc(nbytes + 1), *other = malloc(nbytes + 1);
	bool ok = one && other && lb_nbytes(b) == lb_nbytes(a) && lb_copy_out(a, one, nbytes) &&
		  lb_copy_out(b, other, nbytes) &&
		  compare_elements(one, other, lb_dtype_of(a), lb_size(a), &exact, &comparison);
	if (!ok)
		print_message("seed %" PRIu64 ", node %d, element %" PRId64 ": %s\n", seed, node, comparison.first,
			      lb_error_message());
	free(one);
	free(other);
	return ok;
}

static bool same_graphs(uint64_t seed, bool failing)
{
	bool ok = true;
	LB_SCOPE {
		struct graph a = { .state = seeded(seed) }, b = a;
		build_one_by_one(&a);
		build_in_pieces(&b, seed, failing);
		uint64_t state = seeded(seed + 99);
		for (int i = 0; i < NODES; i++) {
			int node = pick(&state, 3) ? i : pick(&state, NODES);
			ok = ok && same_node(a.nodes[node], b.nodes[node], node, seed);
		}
		for (int i = 0; i < NODES; i++)
			lb_release(a.nodes[i]);
	}
	return ok && lb_ok();
}

static int rounds(int n)
{
	return is_instrumented() ? n / 10 : n;
}

static void pieces(void **state)
{
	(void)state;
	int64_t live = live_tensors();
	uint64_t active = lb_active_memory();
	for (int seed = 0; seed < rounds(400); seed++)
		assert_true(same_graphs((uint64_t)seed, false));
	assert_int_equal(live_tensors(), live);
	assert_int_equal(lb_active_memory(), active);
}

static void failing_pieces(void **state)
{
	(void)state;
	int64_t live = live_tensors();
	uint64_t limit = lb_set_memory_limit(UINT64_MAX), active = lb_active_memory();
	for (int seed = 0; seed < rounds(200); seed++)
		assert_true(same_graphs((uint64_t)(1000 + seed), true));
	lb_set_memory_limit(limit);
	assert_int_equal(live_tensors(), live);
	assert_int_equal(lb_active_memory(), active);
}

/* ---- one graph, evaluated by several threads ---- */

struct job {
	struct graph *graph;
	pthread_barrier_t *start;
	uint64_t seed;
	bool ok;
};

static void *evaluate_some(void *argument)
{
	struct job *job = argument;
	uint64_t state = seeded(job->seed);
	pthread_barrier_wait(job->start);
	job->ok = true;
	for (int i = 0; i < NODES; i++)
		LB_SCOPE {
			lb_tensor *x = job->graph->nodes[pick(&state, NODES)];
			lb_tensor *y = lb_isnan(floating(lb_reshape(x, LB_SHAPE(-1))));
			job->ok = job->ok && lb_eval(y, job->graph->nodes[pick(&state, NODES)]);
		}
	return NULL;
}

static void threads_on_one_graph(void **state)
{
	(void)state;
	for (int seed = 0; seed < rounds(100); seed++)
		LB_SCOPE {
			struct graph a = { .state = seeded((uint64_t)seed) }, b = a;
			pthread_t threads[THREADS];
			struct job jobs[THREADS];
			pthread_barrier_t start;
			build_one_by_one(&a);
			while (b.n < NODES)
				add_node(&b);
			pthread_barrier_init(&start, NULL, THREADS);
			for (int i = 0; i < THREADS; i++) {
				jobs[i] = (struct job){ &b, &start, (uint64_t)(seed * 7 + i), false };
				pthread_create(&threads[i], NULL, evaluate_some, &jobs[i]);
			}
			for (int i = 0; i < THREADS; i++)
				pthread_join(threads[i], NULL);
			pthread_barrier_destroy(&start);
			for (int i = 0; i < THREADS; i++)
				assert_true(jobs[i].ok);
			for (int i = 0; i < NODES; i++) {
				assert_true(same_node(a.nodes[i], b.nodes[i], i, (uint64_t)seed));
				lb_release(a.nodes[i]);
			}
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pieces),
		TEST(failing_pieces),
		TEST(threads_on_one_graph),
	};
	return cmocka_run_group_tests_name("graphs", tests, NULL, NULL);
}
