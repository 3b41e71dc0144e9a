/* Scopes, views, long chains, raw pointers, values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sanitizer.h"
#include "probe.h"

static const char *program;

/* ---- scopes ---- */

static void scope_frees(void **state)
{
	(void)state;
	int64_t live = live_tensors();
	uint64_t active = lb_active_memory();
	LB_SCOPE {
		lb_tensor *x = lb_exp(lb_full(LB_SHAPE(1000), 1, LB_F32));
		assert_true(lb_eval(x));
		assert_true(lb_active_memory() >= active + 4000);
		assert_true(live_tensors() > live);
	}
	assert_int_equal(live_tensors(), live);
	assert_int_equal(lb_active_memory(), active);
}

static void keep_and_release(void **state)
{
	(void)state;
	int64_t live = live_tensors();
	lb_tensor *x = NULL;
	LB_SCOPE
		x = lb_keep(lb_keep(lb_add(lb_scalar(1), counting(LB_SHAPE(4)))));
	lb_release(x);
	LB_SCOPE
		assert_true(lb_item(lb_sum(x, LB_ALL_AXES, false)) == 10);
	lb_release(x);
	lb_release(NULL);
	assert_int_equal(live_tensors(), live);
}

static void escape(void **state)
{
	(void)state;
	int64_t live = live_tensors();
	LB_SCOPE {
		lb_tensor *x = NULL;
		LB_SCOPE {
			LB_SCOPE
				x = lb_escape(counting(LB_SHAPE(3)));
			x = lb_escape(lb_add(x, x));
		}
		assert_true(lb_item(lb_slice(x, LB_AT(2))) == 4);
	}
	assert_int_equal(live_tensors(), live);
}

static lb_tensor *from_the_middle(int depth)
{
	LB_SCOPE {
		lb_tensor *x = counting(LB_SHAPE(5));
		for (int i = 0; i < depth; i++)
			LB_SCOPE {
				lb_tensor *y = lb_multiply(x, lb_scalar(2));
				if (i == depth - 1)
					return lb_keep(y);
			}
	}
	return NULL;
}

static void return_from_the_middle(void **state)
{
	(void)state;
	int64_t live = live_tensors();
	for (int depth = 0; depth < 5; depth++) {
		lb_tensor *x = from_the_middle(depth);
		assert_true(depth == 0 ? x == NULL : lb_is_ready(x) || lb_eval(x));
		lb_release(x);
		assert_int_equal(live_tensors(), live);
	}
}

static void break_and_continue(void **state)
{
	(void)state;
	int64_t live = live_tensors();
	int ended = 0;
	for (int i = 0; i < 10; i++) {
		LB_SCOPE {
			counting(LB_SHAPE(3));
			if (i % 2)
				break;
			if (i % 3)
				continue;
			ended++;
		}
		assert_int_equal(live_tensors(), live);
	}
	assert_int_equal(ended, 2);
}

static void outer_end_closes_inner(void **state)
{
	(void)state;
	int64_t live = live_tensors();
	lb_scope outer = lb_scope_begin(), inner = lb_scope_begin();
	counting(LB_SHAPE(3));
	lb_scope_end(&outer);
	assert_int_equal(live_tensors(), live);
	LB_SCOPE {
		lb_tensor *x = counting(LB_SHAPE(3));
		lb_scope_end(&outer); /* has ended already */
		assert_true(lb_item(lb_sum(x, LB_ALL_AXES, false)) == 3);
	}
	(void)inner;
	lb_scope never = { (void *)(intptr_t)-1, 1 };
	lb_scope_end(&never);
	assert_int_equal(live_tensors(), live);
}

static void nest(int depth)
{
	if (depth)
		LB_SCOPE {
			lb_scalar(depth);
			nest(depth - 1);
		}
}

static void many_scopes(void **state)
{
	(void)state;
	int64_t live = live_tensors();
	nest(10000);
	assert_int_equal(live_tensors(), live);
	LB_SCOPE
		for (int i = 0; i < 100000; i++)
			lb_scalar(i);
	assert_int_equal(live_tensors(), live);
}

/* What a scope's temporaries were is still to be had after a result was computed from them. */
static void temporaries_keep_their_values(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *a = counting(LB_SHAPE(1000));
		lb_tensor *b = lb_add(a, lb_scalar(1)), *c = lb_multiply(b, b);
		lb_tensor *d = lb_softmax(c, LB_ALL_AXES), *e = lb_negative(d);
		lb_tensor *total = lb_sum(e, LB_ALL_AXES, false);
		assert_true(fabs(lb_item(total) + 1) < 1e-5);
		assert_true(lb_item(lb_slice(b, LB_AT(3))) == 4);
		assert_true(lb_item(lb_slice(c, LB_AT(5))) == 36);
		assert_true(lb_item(lb_slice(a, LB_AT(7))) == 7);
		assert_true(fabs(lb_item(lb_sum(d, LB_ALL_AXES, false)) - 1) < 1e-5);
		lb_tensor *f = lb_add(b, lb_scalar(1));
		assert_true(lb_eval(f));
		assert_true(lb_item(lb_slice(b, LB_AT(3))) == 4);
		assert_true(lb_item(lb_slice(f, LB_AT(3))) == 5);
	}
}

static void names(void **state)
{
	(void)state;
	char name[400];
	memset(name, 'n', sizeof name);
	name[sizeof name - 1] = 0;
	LB_SCOPE {
		lb_tensor *x = counting(LB_SHAPE(3));
		assert_null(lb_name(x));
		char passing[] = "first";
		assert_ptr_equal(lb_named(passing, x), x);
		passing[0] = 'X';
		assert_string_equal(lb_name(x), "first");
		lb_named("second", x);
		assert_string_equal(lb_name(x), "second");
		lb_named(name, x);
		assert_true(strlen(lb_name(x)) == 255 && lb_ok());
		lb_tensor *y = counting(LB_SHAPE(3));
		assert_true(lb_id(x) && lb_id(y) && lb_id(x) != lb_id(y));
	}
}

/* Names lie close together, whatever else is made between; what one has left another gets, and none writes over
 * its neighbours. */
static void names_lie_together(void **state)
{
	enum { N = 2000, ROUNDS = 3 };
	static lb_tensor *x[N];
	char name[300];

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		uintptr_t first = UINTPTR_MAX, last = 0;
		LB_SCOPE {
			for (int i = 0; i < N; i++) {
				x[i] = lb_ones(LB_SHAPE(100), LB_F32);
				snprintf(name, sizeof name, "layers.%0*d", (i * 7 + round) % (i % 50 ? 16 : 248), i);
				lb_eval(lb_named(name, x[i]));
			}
			for (int i = 0; i < N; i++) {
				snprintf(name, sizeof name, "layers.%0*d", (i * 7 + round) % (i % 50 ? 16 : 248), i);
				assert_string_equal(lb_name(x[i]), name);
				first = (uintptr_t)lb_name(x[i]) < first ? (uintptr_t)lb_name(x[i]) : first;
				last = (uintptr_t)lb_name(x[i]) > last ? (uintptr_t)lb_name(x[i]) : last;
			}
			if (!LB_SANITIZES_ADDRESSES) /* then they are malloc's */
				assert_true(last - first < N * 64);
		}
	}
}

/* What an operation gives back unchanged has the name of the input only until it is named. */
static void names_of_inputs_stay(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = counting(LB_SHAPE(3, 4)), *bare = counting(LB_SHAPE(3, 4));
		assert_ptr_equal(lb_astype(bare, LB_F32), bare);
		lb_named("x", x);
		lb_tensor *ys[] = { lb_contiguous(x), lb_astype(x, LB_F32), lb_einsum("ij->ij", 1, &x),
				    lb_astype(lb_named("t", lb_transpose(x, LB_ALL_AXES)), LB_F32) };
		for (int i = 0; i < 4; i++) {
			assert_null(lb_name(ys[i]));
			lb_named("y", ys[i]);
			assert_string_equal(lb_name(x), "x");
		}
		assert_true(lb_eval(x) && lb_eval_n(4, ys));
		const int64_t *strides, *transposed;
		assert_ptr_equal(lb_strided_data(ys[0], &strides), lb_strided_data(x, &strides));
		lb_strided_data(ys[3], &transposed);
		assert_true(transposed[0] == 1 && transposed[1] == 4 && lb_ok());
	}
}

/* ---- views ---- */

static void views_share(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_contiguous(counting(LB_SHAPE(100, 200)));
		assert_true(lb_eval(x));
		uint64_t active = lb_active_memory();
		lb_tensor *y = lb_slice(lb_transpose(x, LB_ALL_AXES), LB_REVERSED, LB_AT(3));
		lb_tensor *z = lb_broadcast_to(lb_expand_dims(y, LB_AXES(0)), LB_SHAPE(1000, 200));
		assert_true(lb_eval(y, z));
		assert_int_equal(lb_active_memory(), active);
		const int64_t *strides;
		const float *from = lb_strided_data(x, &strides);
		assert_true(strides[0] == 200 && strides[1] == 1);
		const float *at = lb_strided_data(z, &strides);
		assert_true(strides[0] == 0 && strides[1] == -1);
		assert_ptr_equal(at, from + 3 * 200 + 199);
		assert_ptr_equal(lb_contiguous(x), x);
		assert_true(lb_is_row_contiguous(x) && !lb_is_row_contiguous(z));
		lb_tensor *same = lb_flatten(x, 0, 1);
		assert_true(lb_eval(same));
		assert_ptr_equal(lb_strided_data(same, &strides), from);
	}
}

static void view_outlives_its_base(void **state)
{
	(void)state;
	uint64_t active = lb_active_memory();
	lb_tensor *view = NULL;
	LB_SCOPE {
		lb_tensor *x = lb_add(counting(LB_SHAPE(50)), lb_scalar(1));
		assert_true(lb_eval(x));
		view = lb_keep(lb_slice(x, LB_RANGE(10, 20)));
		assert_true(lb_eval(view));
	}
	LB_SCOPE
		assert_true(lb_item(lb_slice(view, LB_AT(-1))) == 20);
	lb_release(view);
	assert_int_equal(lb_active_memory(), active);
}

/* ---- long chains ---- */

enum { CHAIN = 1000000 };

/* All on a stack that a recursion of that depth would leave at once. */
static void *long_chain(void *result)
{
	bool *ok = result;
	LB_SCOPE {
		lb_tensor *one = lb_ones(LB_SHAPE(2), LB_F64), *y = one;
		for (int i = 1; i < CHAIN; i++)
			y = lb_add(y, one);
		ok[0] = lb_item(lb_slice(y, LB_AT(1))) == CHAIN;
	}
	/* links that only the next one holds; evaluated, then freed */
	lb_tensor *y = lb_keep(lb_zeros(LB_SHAPE(2), LB_F64));
	for (int i = 0; i < CHAIN; i++) {
		LB_SCOPE {
			lb_tensor *next = lb_keep(i % 2 ? lb_add(y, lb_scalar(1)) : lb_transpose(y, LB_ALL_AXES));
			lb_release(y);
			y = next;
		}
	}
	ok[1] = lb_eval(y) && lb_item(lb_max(y, LB_ALL_AXES, false)) == CHAIN / 2;
	lb_release(y);
	/* and freed without having been evaluated */
	y = lb_keep(lb_zeros(LB_SHAPE(2), LB_F64));
	for (int i = 0; i < CHAIN; i++) {
		LB_SCOPE {
			lb_tensor *next = lb_keep(lb_negative(y));
			lb_release(y);
			y = next;
		}
	}
	lb_release(y);
	ok[2] = lb_ok();
	return NULL;
}

static void chain_of_a_million(void **state)
{
	(void)state;
	int64_t live = live_tensors();
	uint64_t active = lb_active_memory();
	bool ok[3] = { false };
	pthread_t thread;
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 256 << 10);
	assert_int_equal(pthread_create(&thread, &attributes, long_chain, ok), 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
	assert_true(ok[0]);
	assert_true(ok[1]);
	assert_true(ok[2]);
	assert_int_equal(live_tensors(), live);
	assert_int_equal(lb_active_memory(), active);
}

/* Sixty diamonds: 2^60 paths, sixty operations. */
static void diamonds(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *y = lb_ones(LB_SHAPE(3), LB_F64), *z = y;
		for (int i = 0; i < 60; i++)
			y = lb_add(y, y);
		assert_true(lb_item(lb_slice(y, LB_AT(0))) == 0x1p60);
		for (int i = 0; i < 60; i++)
			z = lb_matmul(lb_expand_dims(z, LB_AXES(0)),
				      lb_multiply(lb_eye(3, 3, 0, LB_F64), lb_max(z, LB_ALL_AXES, false))),
			z = lb_squeeze(z, LB_AXES(0));
		assert_true(lb_item(lb_slice(z, LB_AT(0))) == 1);
	}
}

static void wide_graph(void **state)
{
	(void)state;
	enum { WIDTH = 5000 };
	static lb_tensor *xs[WIDTH];
	LB_SCOPE {
		lb_tensor *x = counting(LB_SHAPE(4));
		for (int i = 0; i < WIDTH; i++)
			xs[i] = lb_multiply(x, lb_scalar(i));
		lb_tensor *all = lb_stack(WIDTH, xs, 0);
		assert_true(lb_item(lb_slice(all, LB_AT(-1), LB_AT(3))) == 3.0 * (WIDTH - 1));
		assert_true(lb_eval_n(WIDTH, xs));
	}
}

/* ---- raw pointers ---- */

static void raw_of_lazy(void **state)
{
	(void)state;
	const int64_t *strides = NULL;
	LB_SCOPE {
		lb_tensor *x = lb_exp(counting(LB_SHAPE(2, 3)));
		assert_null(lb_raw_data(x));
		assert_true(error_has("raw_data exp lb_eval"));
		assert_null(lb_strided_data(x, &strides));
		assert_true(error_has("strided_data exp lb_eval"));
		assert_false(lb_is_ready(x));
		assert_true(lb_eval(x));
		assert_non_null(lb_raw_data(x));
	}
}

static uint64_t misuse_of(lb_tensor *x)
{
	const int64_t *strides;
	uint64_t before = counters()->raw_misuse;
	assert_true(lb_eval(x));
	const void *raw = lb_raw_data(x);
	assert_non_null(raw);
	assert_ptr_equal(raw, lb_strided_data(x, &strides));
	return counters()->raw_misuse - before;
}

static void raw_of_views(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = counting(LB_SHAPE(4, 6));
		assert_int_equal(misuse_of(x), 0);
		assert_int_equal(misuse_of(lb_slice(x, LB_RANGE(1, 3))), 0);
		assert_int_equal(misuse_of(lb_slice(x, LB_AT(2))), 0);
		assert_int_equal(misuse_of(lb_slice(x, LB_ALL, LB_AT(2))), 1);
		assert_int_equal(misuse_of(lb_transpose(x, LB_ALL_AXES)), 1);
		assert_int_equal(misuse_of(lb_slice(x, LB_REVERSED)), 1);
		assert_int_equal(misuse_of(lb_broadcast_to(lb_slice(x, LB_AT(0)), LB_SHAPE(4, 6))), 1);
		assert_int_equal(misuse_of(lb_slice(x, LB_RANGE(0, 1, 7), LB_RANGE(0, 6))), 0);
		assert_int_equal(misuse_of(lb_transpose(lb_slice(x, LB_RANGE(0, 1)), LB_ALL_AXES)), 0);
		assert_int_equal(misuse_of(lb_contiguous(lb_transpose(x, LB_ALL_AXES))), 0);
	}
}

/* Runs this program again as `--raw` or `--nan`, with that set in the environment; returns its wait status. */
static int run_child(const char *as, const char *name, const char *value, char *output, size_t size)
{
	int ends[2], status;
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		setenv(name, value, 1);
		execl(program, program, as, NULL);
		_exit(127);
	}
	close(ends[1]);
	size_t used = 0;
	for (ssize_t n; used < size - 1 && (n = read(ends[0], output + used, size - 1 - used)) > 0;)
		used += (size_t)n;
	output[used] = 0;
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static int raw_child(const char *strided, char *output, size_t size)
{
	return run_child("--raw", "LAZYBONES_STRIDED", strided, output, size);
}

__attribute__((noinline)) static const void *careless_reader(lb_tensor *x)
{
	const void *data = lb_raw_data(x);
	__asm__ volatile("" ::: "memory"); /* no tail call: the caller's frame is what is asked */
	return data;
}

static int raw_main(void)
{
	lb_tensor *x = lb_named("tiled", lb_transpose(counting(LB_SHAPE(2, 3)), LB_ALL_AXES));
	return lb_eval(x) && careless_reader(x) && lb_ok() ? 0 : 1;
}

/* One operation makes NaN in the middle of what would be fused; others pass it on, and a mask has -Inf by intent. */
static int nan_main(void)
{
	lb_tensor *x = counting(LB_SHAPE(2, 3));
	lb_tensor *bad = lb_named("bad", lb_sqrt(lb_subtract(x, lb_scalar(2))));
	lb_tensor *passed = lb_named("passed", lb_exp(lb_add(bad, lb_scalar(1))));
	lb_tensor *masked = lb_named("masked", lb_add(x, lb_full(LB_SHAPE(3), -INFINITY, LB_F32)));

	return lb_eval(passed, masked) && lb_ok() ? 0 : 1;
}

static void nan_off_warn_stop(void **state)
{
	char output[4096];
	int status;

	(void)state;
	status = run_child("--nan", "LAZYBONES_NAN", "off", output, sizeof output);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_string_equal(output, "");
	status = run_child("--nan", "LAZYBONES_NAN", "warn", output, sizeof output);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_non_null(strstr(output, "sqrt makes NaN or Inf of finite values"));
	assert_non_null(strstr(output, " bad, shape (2,3), 2 of 6 elements, the first is element 0"));
	assert_non_null(strstr(output, "test_runtime"));
	assert_null(strstr(output, "passed"));
	assert_null(strstr(output, "masked"));
	status = run_child("--nan", "LAZYBONES_NAN", "stop", output, sizeof output);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP);
	assert_non_null(strstr(output, " bad, "));
}

static void misuse_off_warn_stop(void **state)
{
	(void)state;
	char output[4096];
	int status = raw_child("off", output, sizeof output);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_string_equal(output, "");
	status = raw_child("warn", output, sizeof output);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_non_null(strstr(output, "tiled"));
	assert_non_null(strstr(output, "(3,2)"));
	assert_non_null(strstr(output, "test_runtime"));
	assert_ptr_equal(strchr(output, '\n'), output + strlen(output) - 1);
	status = raw_child("stop", output, sizeof output);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP);
}

/* ---- values ---- */

static void items(void **state)
{
	(void)state;
	LB_SCOPE {
		for (int d = 0; d < LB_DTYPES; d++) {
			lb_tensor *x = lb_full(LB_SHAPE(1, 1), 1, (lb_dtype)d);
			assert_true(lb_item(x) == 1);
			assert_int_equal(lb_item_int(x), 1);
		}
		assert_true(lb_item(lb_full(LB_SHAPE(), 0.1, LB_F64)) == 0.1);
		assert_true(lb_item(lb_full(LB_SHAPE(), 0.1, LB_F32)) == (double)0.1f);
		assert_int_equal(lb_item_int(lb_full(LB_SHAPE(), -2.75, LB_F16)), -2);
		int64_t big = INT64_MAX - 1;
		assert_int_equal(lb_item_int(lb_from_data(&big, 8, LB_SHAPE(), LB_I64)), big);
		assert_int_equal(lb_item_int(lb_scalar_int(big)), big);
		assert_true(isnan(lb_item(lb_scalar((double)NAN))));
		assert_true(lb_ok());
	}
}

static void data_of_views(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = counting(LB_SHAPE(2, 3));
		const float *dense = lb_data(x), *turned = NULL;
		const int64_t *strides;
		assert_ptr_equal(dense, lb_strided_data(x, &strides));
		lb_tensor *y = lb_transpose(x, LB_ALL_AXES);
		turned = lb_data(y);
		float expected[6] = { 0, 3, 1, 4, 2, 5 }, copy[6];
		assert_memory_equal(turned, expected, sizeof expected);
		assert_true(lb_copy_out(y, copy, sizeof copy));
		assert_memory_equal(copy, expected, sizeof expected);
		assert_ptr_equal(lb_strided_data(y, &strides), dense);
		assert_true(lb_copy_out(lb_zeros(LB_SHAPE(0, 3), LB_F32), copy, 0));
	}
}

static void implicit_evaluations_count(void **state)
{
	(void)state;
	LB_SCOPE {
		uint64_t before = counters()->implicit_evals;
		lb_tensor *x = lb_exp(counting(LB_SHAPE(3)));
		assert_true(lb_eval(x));
		assert_int_equal(counters()->implicit_evals, before);
		assert_non_null(lb_data(x));
		assert_int_equal(counters()->implicit_evals, before);
		assert_true(lb_item(lb_sum(x, LB_ALL_AXES, false)) > 0);
		assert_int_equal(counters()->implicit_evals, before + 1);
	}
}

/* An operation that fails while others are evaluated leaves those in order. */
/* As can_cast() and issubdtype() of MLX 0.32.4 have them. */
static void dtypes(void **state)
{
	static const struct {
		const char *casts, *kinds;
	} wanted[LB_DTYPES] = {
		{ "xxxxxxxxxxxxxx", ".......x" }, { ".xxxx.xxxxxxxx", ".xx...xx" }, { "..xxx..xxxxxxx", ".xx...xx" },
		{ "...xx...xxxxxx", ".xx...xx" }, { "....x....xxxxx", ".xx...xx" }, { ".....xxxxxxxxx", "x.x...xx" },
		{ "......xxxxxxxx", "x.x...xx" }, { ".......xxxxxxx", "x.x...xx" }, { "........xxxxxx", "x.x...xx" },
		{ ".........x.xxx", "...x.xxx" }, { "..........xxxx", "...x.xxx" }, { "...........xxx", "...x.xxx" },
		{ "............xx", "...x.xxx" }, { ".............x", "....xxxx" },
	};

	(void)state;
	for (int i = 0; i < LB_DTYPES; i++) {
		for (int k = 0; k < LB_DTYPES; k++)
			assert_int_equal(lb_can_cast((lb_dtype)i, (lb_dtype)k), wanted[i].casts[k] == 'x');
		for (int k = LB_SIGNEDINTEGER; k <= LB_GENERIC; k++)
			assert_int_equal(lb_issubdtype((lb_dtype)i, (lb_category)k), wanted[i].kinds[k] == 'x');
		assert_false(lb_can_cast(LB_DTYPES, (lb_dtype)i) || lb_can_cast((lb_dtype)i, LB_DTYPES));
		assert_false(lb_issubdtype((lb_dtype)i, (lb_category)(LB_GENERIC + 1)));
	}
	assert_false(lb_issubdtype(LB_DTYPES, LB_GENERIC));
}

static void failed_evaluation(void **state)
{
	(void)state;
	int64_t live = live_tensors();
	LB_SCOPE {
		lb_tensor *x = counting(LB_SHAPE(4));
		lb_tensor *good = lb_exp(x), *bad = lb_take(x, lb_full(LB_SHAPE(2), 9, LB_I32), 0);
		lb_tensor *after = lb_add(bad, lb_scalar(1)), *later = lb_softmax(x, LB_ALL_AXES);
		assert_false(lb_eval(good, after, later));
		assert_true(error_has("take 9 4"));
		assert_false(lb_is_ready(after));
		assert_true(lb_eval(good, later));
		assert_true(lb_item(lb_slice(good, LB_AT(0))) == 1);
		assert_false(lb_eval(bad));
		assert_true(error_has("take 9 4"));
		assert_true(isnan(lb_item(lb_max(after, LB_ALL_AXES, false))));
		assert_true(error_has("take"));
		assert_true(lb_item(lb_sum(x, LB_ALL_AXES, false)) == 6);
	}
	assert_int_equal(live_tensors(), live);
}

int main(int argc, char **argv)
{
	program = argv[0];
	if (argc > 1 && strcmp(argv[1], "--raw") == 0)
		return raw_main();
	if (argc > 1 && strcmp(argv[1], "--nan") == 0)
		return nan_main();
	const struct CMUnitTest tests[] = {
		TEST(scope_frees),
		TEST(keep_and_release),
		TEST(escape),
		TEST(return_from_the_middle),
		TEST(break_and_continue),
		TEST(outer_end_closes_inner),
		TEST(many_scopes),
		TEST(temporaries_keep_their_values),
		TEST(names),
		TEST(names_lie_together),
		TEST(names_of_inputs_stay),
		TEST(views_share),
		TEST(view_outlives_its_base),
		TEST(chain_of_a_million),
		TEST(diamonds),
		TEST(wide_graph),
		TEST(raw_of_lazy),
		TEST(raw_of_views),
		TEST(misuse_off_warn_stop),
		TEST(nan_off_warn_stop),
		TEST(items),
		TEST(data_of_views),
		TEST(implicit_evaluations_count),
		TEST(dtypes),
		TEST(failed_evaluation),
	};
	return cmocka_run_group_tests_name("runtime", tests, NULL, NULL);
}
