/* What lb_vmap() promises besides right numbers: where the axes go, what it is mapped, compiled and differentiated with, and
 * what it says when it cannot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "graph/tensor.h"
#include "probe.h"
#include "publish/root.h"

#define FUNCTION(name) static bool name(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
#define UNUSED() (void)context, (void)n_in, (void)n_out

static const lb_compile_options by_default;

static lb_tensor *counted(lb_list shape)
{
	lb_tensor *x = counting(shape);
	return lb_astype(lb_divide(x, lb_scalar(7)), LB_F64);
}

static void same(lb_tensor *got, lb_tensor *expected)
{
	if (!got || !expected)
		fail_msg("%s", lb_error_message());
	assert_int_equal(lb_rank(got), lb_rank(expected));
	assert_memory_equal(lb_shape(got), lb_shape(expected), (size_t)lb_rank(got) * sizeof(int64_t));
	assert_int_equal(lb_dtype_of(got), lb_dtype_of(expected));
	lb_tensor *off = lb_max(lb_abs(lb_subtract(got, expected)), LB_ALL_AXES, false);
	if (!(lb_item(off) <= 1e-10))
		fail_msg("off by %g: %s", lb_item(off), lb_error_message());
}

/* x . y, and x again */
FUNCTION(dot)
{
	UNUSED();
	assert_int_equal(lb_rank(in[0]), 1);
	out[0] = lb_sum(lb_multiply(in[0], in[1]), LB_ALL_AXES, false);
	if (n_out > 1)
		out[1] = in[0];
	if (n_out > 2)
		out[2] = lb_square(in[1]);
	return lb_ok();
}

static void axes(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = counted(LB_SHAPE(4, 3)), *y = counted(LB_SHAPE(3)),
			  *across = lb_transpose(x, LB_ALL_AXES), *out[3];
		lb_tensor *expected = lb_matmul(x, y);
		assert_true(lb_vmap(dot, NULL, 2, (lb_tensor *[]){ x, y }, (int[]){ 0, LB_NO_AXIS }, 1, NULL, out));
		same(out[0], expected);
		assert_true(lb_vmap(dot, NULL, 2, (lb_tensor *[]){ y, across }, (int[]){ LB_NO_AXIS, -1 }, 1, NULL,
				    out));
		same(out[0], expected);
		assert_true(lb_vmap(dot, NULL, 2, (lb_tensor *[]){ x, across }, (int[]){ 0, 1 }, 1, NULL, out));
		same(out[0], lb_sum(lb_square(x), LB_AXES(1), false));
		/* results that are an input, and the same for all elements */
		assert_true(lb_vmap(dot, NULL, 2, (lb_tensor *[]){ x, y }, (int[]){ 0, LB_NO_AXIS }, 3,
				    (int[]){ -1, 1, 1 }, out));
		same(out[0], expected);
		same(out[1], across);
		same(out[2], lb_broadcast_to(lb_expand_dims(lb_square(y), LB_AXES(1)), LB_SHAPE(3, 4)));
		assert_true(lb_vmap(dot, NULL, 2, (lb_tensor *[]){ x, y }, (int[]){ 0, LB_NO_AXIS }, 3,
				    (int[]){ 0, 0, LB_NO_AXIS }, out));
		same(out[2], lb_square(y));
		/* in_axes NULL: all 0 */
		assert_true(lb_vmap(dot, NULL, 2, (lb_tensor *[]){ x, x }, NULL, 1, NULL, out));
		same(out[0], lb_sum(lb_square(x), LB_AXES(1), false));
		/* an input that is a view which overlaps itself */
		lb_tensor *wide = lb_broadcast_to(y, LB_SHAPE(5, 3));
		assert_true(lb_vmap(dot, NULL, 2, (lb_tensor *[]){ wide, wide }, NULL, 1, NULL, out));
		same(out[0], lb_broadcast_to(lb_sum(lb_square(y), LB_ALL_AXES, false), LB_SHAPE(5)));
	}
}

/* ---- maps in maps ---- */

FUNCTION(dot_with_each)
{
	UNUSED();
	return lb_vmap(dot, NULL, 2, in, (int[]){ LB_NO_AXIS, 0 }, 1, NULL, out);
}

/* Of the outer map alone is what the inner function makes of its context. */
FUNCTION(plus_context)
{
	UNUSED();
	lb_tensor *outer = context;
	out[0] = lb_add(in[0], lb_sum(lb_exp(outer), LB_ALL_AXES, false));
	return out[0] != NULL;
}

FUNCTION(with_inner_context)
{
	UNUSED();
	return lb_vmap(plus_context, in[0], 1, in + 1, NULL, 1, NULL, out);
}

static void nested(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = counted(LB_SHAPE(4, 3)), *y = counted(LB_SHAPE(2, 3)), *out;
		assert_true(lb_vmap(dot_with_each, NULL, 2, (lb_tensor *[]){ x, y }, (int[]){ 0, LB_NO_AXIS }, 1, NULL,
				    &out));
		same(out, lb_matmul(x, lb_transpose(y, LB_ALL_AXES)));
		assert_true(lb_vmap(with_inner_context, NULL, 2, (lb_tensor *[]){ x, lb_slice(x, LB_ALL, LB_AT(0)) },
				    (int[]){ 0, LB_NO_AXIS }, 1, NULL, &out));
		lb_tensor *sums = lb_sum(lb_exp(x), LB_AXES(1), true);
		same(out, lb_add(sums, lb_slice(x, LB_ALL, LB_AT(0))));
	}
}

/* ---- with gradients ---- */

FUNCTION(energy)
{
	UNUSED();
	out[0] = lb_sum(lb_multiply(lb_sin(in[0]), lb_square(in[1])), LB_ALL_AXES, false);
	return out[0] != NULL;
}

FUNCTION(forces)
{
	UNUSED();
	return lb_grad(energy, NULL, 2, in, out);
}

FUNCTION(total)
{
	UNUSED();
	lb_tensor *each;
	if (!lb_vmap(energy, NULL, 2, in, (int[]){ 0, LB_NO_AXIS }, 1, NULL, &each))
		return false;
	out[0] = lb_sum(lb_square(each), LB_ALL_AXES, false);
	return out[0] != NULL;
}

FUNCTION(total_by_hand)
{
	UNUSED();
	lb_tensor *each = lb_sum(lb_multiply(lb_sin(in[0]), lb_square(in[1])), LB_AXES(1), false);
	out[0] = lb_sum(lb_square(each), LB_ALL_AXES, false);
	return out[0] != NULL;
}

/* A column of the Jacobian each. */
FUNCTION(column)
{
	lb_tensor *const *at = context, *value[2];
	(void)n_in;
	return lb_jvp(forces, NULL, 2, at, (lb_tensor *[]){ in[0], NULL }, n_out, value, out);
}

static void gradients(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *in[] = { counted(LB_SHAPE(4, 3)), counted(LB_SHAPE(3)) }, *got[2], *expected[2];
		assert_true(lb_grad(total, NULL, 2, in, got) && lb_grad(total_by_hand, NULL, 2, in, expected));
		same(got[0], expected[0]);
		same(got[1], expected[1]);
		/* of each element alone */
		assert_true(lb_vmap(forces, NULL, 2, in, (int[]){ 0, LB_NO_AXIS }, 2, NULL, got));
		same(got[0], lb_multiply(lb_cos(in[0]), lb_square(in[1])));
		same(got[1], lb_multiply(lb_sin(in[0]), lb_multiply(lb_scalar(2), in[1])));
		/* forward through the map, and a Hessian by mapping what is forward */
		lb_tensor *along[] = { lb_ones(LB_SHAPE(4, 3), LB_F64), NULL }, *value;
		assert_true(lb_jvp(total, NULL, 2, in, along, 1, &value, got) &&
			    lb_jvp(total_by_hand, NULL, 2, in, along, 1, &value, expected));
		same(got[0], expected[0]);
		lb_tensor *at[] = { lb_slice(in[0], LB_AT(2)), in[1] }, *unit = lb_eye(3, 3, 0, LB_F64);
		assert_true(lb_vmap(column, at, 1, &unit, NULL, 2, NULL, got));
		same(got[0], lb_diag(lb_multiply(lb_negative(lb_sin(at[0])), lb_square(at[1])), 0));
	}
}

/* ---- with rules of one's own ---- */

/* x y and y^2; the rule says three times x's gradient, and y's by both. */
FUNCTION(two_products)
{
	UNUSED();
	out[0] = lb_multiply(in[0], in[1]);
	out[1] = lb_square(in[1]);
	return lb_ok();
}

static bool three_times(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor *const *out,
			lb_tensor *const *cotangents, lb_tensor **grads)
{
	(void)context, (void)n_in, (void)n_out;
	assert_int_equal(lb_rank(out[0]), 1);
	if (cotangents[0]) {
		grads[0] = lb_multiply(lb_multiply(cotangents[0], in[1]), lb_scalar(3));
		grads[1] = lb_multiply(cotangents[0], in[0]);
	}
	if (cotangents[1]) {
		lb_tensor *more = lb_multiply(cotangents[1], lb_multiply(in[1], lb_scalar(2)));
		grads[1] = grads[1] ? lb_add(grads[1], more) : more;
	}
	return lb_ok();
}

enum { BOTH, FIRST_ALONE, SECOND_ALONE, VIEWED };

FUNCTION(own_rule)
{
	lb_tensor *y[2];
	UNUSED();
	int which = *(const int *)context;
	if (!lb_custom_vjp(two_products, three_times, NULL, 2, in, 2, y))
		return false;
	out[0] = which == FIRST_ALONE    ? y[0]
		 : which == SECOND_ALONE ? y[1]
		 : which == VIEWED ? lb_concatenate(2, (lb_tensor *[]){ lb_slice(y[0], LB_FROM(1)), lb_exp(y[1]) }, 0)
				   : lb_multiply(y[0], lb_sin(y[1]));
	return out[0] != NULL;
}

FUNCTION(checkpointed)
{
	UNUSED();
	return lb_checkpoint(own_rule, context, n_in, in, n_out, out);
}

struct mapped {
	lb_function *fn;
	int which;
	const int *axes;
	bool by_loop;
};

/* The sum over a batch of 4, by a map or a loop, of what fn makes, each element weighted otherwise. */
FUNCTION(summed)
{
	const struct mapped *m = context;
	lb_tensor *all, *parts[4], *one[2];
	UNUSED();
	if (m->by_loop) {
		for (int i = 0; i < 4; i++) {
			for (int k = 0; k < 2; k++)
				one[k] = m->axes[k] == LB_NO_AXIS ? in[k] : lb_slice(in[k], LB_AT(i));
			if (!m->fn((void *)&m->which, 2, one, 1, &parts[i]))
				return false;
		}
		all = lb_stack(4, parts, 0);
	} else if (!lb_vmap(m->fn, (void *)&m->which, 2, in, m->axes, 1, NULL, &all)) {
		return false;
	}
	out[0] = lb_sum(lb_multiply(all, counted((lb_list){ lb_rank(all), lb_shape(all) })), LB_ALL_AXES, false);
	return out[0] != NULL;
}

static void own_rules(void **state)
{
	static const int axes[][2] = { { 0, 0 }, { 0, LB_NO_AXIS }, { LB_NO_AXIS, 0 } };
	(void)state;
	for (int which = BOTH; which <= VIEWED; which++)
		for (int k = 0; k < 6; k++)
			LB_SCOPE {
				const int *along = axes[k / 2];
				struct mapped map = { k % 2 ? checkpointed : own_rule, which, along, false },
					      loop = map;
				lb_tensor *x = counted(LB_SHAPE(4, 3)), *got[2], *expected[2];
				lb_tensor *in[2];
				for (int i = 0; i < 2; i++)
					in[i] = along[i] == LB_NO_AXIS ? lb_slice(x, LB_AT(1)) : i ? lb_cos(x) : x;
				loop.by_loop = true;
				assert_true(lb_grad(summed, &map, 2, in, got) &&
					    lb_grad(summed, &loop, 2, in, expected));
				same(got[0], expected[0]);
				same(got[1], expected[1]);
				lb_tensor *value[2], *d[2], *v[2] = { lb_sin(in[0]), lb_exp(in[1]) };
				assert_true(lb_jvp(summed, &map, 2, in, v, 1, value, d) &&
					    lb_jvp(summed, &loop, 2, in, v, 1, value + 1, d + 1));
				same(value[0], value[1]);
				same(d[0], d[1]);
			}
}

/* A map of a map of what has a rule, and of a gradient of it. */
FUNCTION(own_rule_mapped)
{
	UNUSED();
	return lb_vmap(own_rule, context, 2, in, NULL, 1, NULL, out);
}

FUNCTION(sum_of_own_rule)
{
	UNUSED();
	if (!own_rule(context, n_in, in, n_out, out))
		return false;
	out[0] = lb_sum(out[0], LB_ALL_AXES, false);
	return out[0] != NULL;
}

FUNCTION(gradients_of_own_rule)
{
	UNUSED();
	return lb_grad(sum_of_own_rule, context, n_in, in, out);
}

FUNCTION(sum_of_nested)
{
	lb_tensor *all;
	UNUSED();
	if (!lb_vmap(own_rule_mapped, context, 2, in, NULL, 1, NULL, &all))
		return false;
	out[0] = lb_sum(all, LB_ALL_AXES, false);
	return out[0] != NULL;
}

static void own_rules_nested(void **state)
{
	int which = FIRST_ALONE;
	(void)state;
	LB_SCOPE {
		lb_tensor *in[2] = { counted(LB_SHAPE(2, 4, 3)), lb_cos(counted(LB_SHAPE(2, 4, 3))) }, *d[2];
		assert_true(lb_grad(sum_of_nested, &which, 2, in, d));
		same(d[0], lb_multiply(in[1], lb_scalar(3)));
		same(d[1], in[0]);
		lb_tensor *one[2] = { lb_slice(in[0], LB_AT(0)), lb_slice(in[1], LB_AT(0)) };
		assert_true(lb_vmap(gradients_of_own_rule, &which, 2, one, NULL, 2, NULL, d));
		same(d[0], lb_multiply(one[1], lb_scalar(3)));
		same(d[1], one[0]);
	}
}

/* ---- with compiled functions ---- */

FUNCTION(call_compiled)
{
	UNUSED();
	return lb_call(context, n_in, in, n_out, out);
}

static void compiled(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *in[] = { counted(LB_SHAPE(4, 3)), counted(LB_SHAPE(2, 3)) }, *out;
		lb_compiled *inner = lb_compile("dot", dot, NULL, by_default);
		lb_tensor *pair[] = { in[0], lb_exp(in[0]) };
		assert_true(lb_vmap(call_compiled, inner, 2, pair, NULL, 1, NULL, &out));
		same(out, lb_sum(lb_multiply(pair[0], pair[1]), LB_AXES(1), false));
		lb_compiled *outer = lb_compile("all pairs", dot_with_each, NULL, by_default);
		for (int i = 0; i < 2; i++) {
			lb_tensor *one[] = { lb_slice(in[0], LB_AT(i)), in[1] };
			assert_true(lb_call(outer, 2, one, 1, &out));
			same(out, lb_matmul(in[1], one[0]));
		}
		assert_int_equal(lb_compiled_stats(outer).hits, 1);
		lb_compiled *both = lb_compile("with context", with_inner_context, NULL, by_default);
		for (int i = 0; i < 2; i++) {
			lb_tensor *some[] = { lb_slice(in[0], LB_AT(i)), in[1] };
			assert_true(lb_call(both, 2, some, 1, &out));
			same(out, lb_add(in[1], lb_sum(lb_exp(some[0]), LB_ALL_AXES, false)));
		}
		lb_compiled_free(inner);
		lb_compiled_free(outer);
		lb_compiled_free(both);
	}
}

/* ---- what debuggers see ---- */

__attribute__((noinline)) FUNCTION(named)
{
	UNUSED();
	out[0] = lb_square(lb_named("scores", lb_matmul(in[0], in[1])));
	return out[0] != NULL;
}

static bool is_in(uint64_t site, const void *function)
{
	return site - (uint64_t)(uintptr_t)function < 2048;
}

static void names_sites_streams(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = counted(LB_SHAPE(5, 4, 3)), *w = counted(LB_SHAPE(3, 2)), *out;
		lb_stream stream = lb_stream_new("maps");
		LB_ON_STREAM(stream)
			assert_true(lb_vmap(named, NULL, 2, (lb_tensor *[]){ x, w }, (int[]){ 0, LB_NO_AXIS }, 1, NULL,
					    &out));
		lb_tensor *scores = lb_tensor_input(out, 0);
		assert_string_equal(lb_name(scores), "scores");
		assert_int_equal(lb_rank(scores), 3);
		assert_int_equal(scores->stream, stream.id);
		assert_true(is_in(scores->site, (void *)named) && is_in(out->site, (void *)named));
		same(out, lb_square(lb_matmul(x, w)));
	}
}

/* ---- errors ---- */

enum sin { EVAL, ITEM, ASYNC, FAIL, NOTHING, LOSE_ERROR, LEAK, DEEP };
static lb_tensor *leaked;

FUNCTION(sinful)
{
	lb_tensor *y = lb_exp(in[0]);
	UNUSED();
	out[0] = y;
	switch (*(const enum sin *)context) {
	case EVAL: lb_eval(y); break;
	case ITEM: lb_item(lb_sum(y, LB_ALL_AXES, false)); break;
	case ASYNC: lb_async_eval(y); break;
	case FAIL: return false;
	case NOTHING: out[0] = NULL; break;
	case LOSE_ERROR: lb_reshape(y, LB_SHAPE(77)); break;
	case LEAK: leaked = lb_keep(lb_multiply(y, lb_scalar(2))); break;
	case DEEP: out[0] = lb_reshape(y, LB_SHAPE(1, 1, 1, 1, 1, 1, 1, -1)); break;
	}
	return true;
}

/* The outer function's tensors have no value in the inner one either. */
FUNCTION(evaluates_context)
{
	UNUSED();
	lb_eval((lb_tensor *)context);
	out[0] = in[0];
	return true;
}

FUNCTION(with_evaluating_inner)
{
	UNUSED();
	return lb_vmap(evaluates_context, lb_exp(in[0]), 1, in, NULL, 1, NULL, out);
}

FUNCTION(queues_context)
{
	UNUSED();
	lb_async_eval((lb_tensor *)context);
	out[0] = in[0];
	return true;
}

FUNCTION(with_queueing_inner)
{
	UNUSED();
	return lb_vmap(queues_context, lb_exp(in[0]), 1, in, NULL, 1, NULL, out);
}

static lb_tensor *inner_leak;

FUNCTION(leaks_inside)
{
	UNUSED();
	inner_leak = lb_keep(lb_exp(in[0]));
	out[0] = inner_leak;
	return true;
}

FUNCTION(uses_inner_leak)
{
	UNUSED();
	if (!lb_vmap(leaks_inside, NULL, 1, in, NULL, 1, NULL, out))
		return false;
	out[0] = lb_add(lb_sum(out[0], LB_ALL_AXES, false), inner_leak);
	return out[0] != NULL;
}

static void errors(void **state)
{
	(void)state;
	LB_SCOPE {
		static const char *const words[] = {
			[EVAL] = "vmap: input 0 no value evaluates inside evaluate it outside",
			[ITEM] = "vmap: input 0 no value evaluates inside",
			[ASYNC] = "vmap: async_eval evaluates inside",
			[FAIL] = "vmap: the function failed without an error",
			[NOTHING] = "vmap: the function gave no result 0",
			[LOSE_ERROR] = "reshape 77",
			[DEEP] = "vmap: reshape (1,1,1,1,1,1,1,3) no room batch",
		};
		lb_tensor *x = counted(LB_SHAPE(4, 3)), *y = counted(LB_SHAPE(5, 3)), *one = lb_slice(y, LB_AT(0)),
			  *out;
		for (enum sin k = EVAL; k <= DEEP; k++) {
			if (k == LEAK)
				continue;
			assert_false(lb_vmap(sinful, &k, 1, &x, NULL, 1, NULL, &out));
			assert_null(out);
			assert_true(error_has(words[k]));
		}
		lb_tensor *const pair[] = { x, y };
		assert_false(lb_vmap(dot, NULL, 2, pair, NULL, 1, NULL, &out));
		assert_true(error_has("vmap: input 1 (5,3) with 5 along its axis 0 input 0 has 4"));
		assert_false(lb_vmap(dot, NULL, 2, pair, (int[]){ 0, 2 }, 1, NULL, &out));
		assert_true(error_has("vmap: axis 2 (5,3)"));
		assert_false(lb_vmap(dot, NULL, 2, pair, (int[]){ LB_NO_AXIS, LB_NO_AXIS }, 1, NULL, &out));
		assert_true(error_has("vmap: no input has an axis"));
		assert_false(lb_vmap(dot, NULL, 2, (lb_tensor *[]){ x, one }, (int[]){ 0, LB_NO_AXIS }, 1,
				     (int[]){ LB_NO_AXIS }, &out));
		assert_true(error_has("vmap: result 0 depends on the batch LB_NO_AXIS"));
		assert_false(lb_vmap(dot, NULL, 2, (lb_tensor *[]){ x, one }, (int[]){ 0, LB_NO_AXIS }, 1, (int[]){ 1 },
				     &out));
		assert_true(error_has("vmap: axis 1 ()"));
		assert_false(lb_vmap(dot, NULL, 2, pair, NULL, 0, NULL, &out));
		assert_true(error_has("vmap 0 results"));
		assert_false(lb_vmap(dot, NULL, 2, (lb_tensor *[]){ x, NULL }, NULL, 1, NULL, &out));
		assert_true(error_has("vmap: tensor 1 of 2 is NULL"));
		lb_tensor *square = counted(LB_SHAPE(4, 4));
		assert_false(lb_vmap(with_evaluating_inner, NULL, 1, &square, NULL, 1, NULL, &out));
		assert_true(error_has("vmap: input 0 no value"));
		assert_false(lb_vmap(with_queueing_inner, NULL, 1, &square, NULL, 1, NULL, &out));
		assert_true(error_has("vmap: async_eval"));
		/* nothing of that is in the way of the next */
		assert_true(lb_vmap(dot, NULL, 2, (lb_tensor *[]){ x, one }, (int[]){ 0, LB_NO_AXIS }, 1, NULL, &out));
		same(out, lb_matmul(x, one));
	}
}

/* What escapes has no value, in the function around either: it is not taken for an input of that. */
static void leaks_of_tracers(void **state)
{
	enum sin k = LEAK;
	(void)state;
	LB_SCOPE {
		lb_tensor *x = counted(LB_SHAPE(4, 3)), *out;
		assert_true(lb_vmap(sinful, &k, 1, &x, NULL, 1, NULL, &out));
		same(out, lb_exp(x));
		assert_false(lb_eval(leaked));
		assert_true(error_has("vmap input 0 escaped"));
		lb_release(leaked);
		lb_compiled *f = lb_compile("around", uses_inner_leak, NULL, by_default);
		lb_tensor *row = lb_slice(x, LB_AT(0));
		assert_true(lb_call(f, 1, &row, 1, &out));
		assert_false(lb_eval(out));
		assert_true(error_has("vmap input 0 escaped"));
		lb_compiled_free(f);
		lb_release(inner_leak);
		lb_tensor *square = counted(LB_SHAPE(4, 4));
		assert_true(lb_vmap(uses_inner_leak, NULL, 1, &square, NULL, 1, NULL, &out));
		assert_false(lb_eval(out));
		assert_true(error_has("vmap input 0 escaped"));
		lb_release(inner_leak);
	}
}

/* ---- sizes ---- */

FUNCTION(long_chain)
{
	lb_tensor *x = in[0];
	UNUSED();
	for (int i = 0; i < 100000; i++)
		x = lb_add(x, in[0]);
	out[0] = x;
	return x != NULL;
}

static void long_chains(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = counted(LB_SHAPE(2)), *out;
		assert_true(lb_vmap(long_chain, NULL, 1, &x, NULL, 1, NULL, &out));
		assert_true(fabs(lb_item(lb_slice(out, LB_AT(1))) - 100001.0 / 7) < 1e-3);
	}
}

/* One operation over the batch for each of the function, but for views. */
static void as_many_operations(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *in[] = { counted(LB_SHAPE(4, 3)), counted(LB_SHAPE(4, 3)) }, *out;
		assert_true(lb_vmap(dot, NULL, 2, in, NULL, 1, NULL, &out));
		assert_int_equal(out->op, LB_OP_SUM);
		lb_tensor *product = lb_tensor_input(out, 0);
		assert_int_equal(product->op, LB_OP_MULTIPLY);
		assert_ptr_equal(lb_tensor_input(product, 0), in[0]);
		assert_ptr_equal(lb_tensor_input(product, 1), in[1]);
	}
}

/* What a call makes goes with its scope. */
static void leaks(void **state)
{
	(void)state;
	int which = BOTH;
	uint64_t live = lb_counters.created - lb_counters.freed, bytes = lb_active_memory();
	static const int axes[] = { 0, LB_NO_AXIS };
	for (int i = 0; i < 20; i++)
		LB_SCOPE {
			lb_tensor *in[] = { counted(LB_SHAPE(4, 3)), counted(LB_SHAPE(3)) }, *out, *d[2];
			enum sin k = DEEP;
			struct mapped m = { checkpointed, which, axes, false };
			assert_true(lb_vmap(dot, NULL, 2, in, axes, 1, NULL, &out) && lb_eval(out));
			assert_true(lb_grad(summed, &m, 2, in, d) && lb_eval(d[0], d[1]));
			assert_false(lb_vmap(sinful, &k, 1, in, NULL, 1, NULL, &out));
			lb_clear_error();
		}
	assert_int_equal(lb_counters.created - lb_counters.freed, live);
	assert_int_equal(lb_active_memory(), bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(axes),
		TEST(nested),
		TEST(gradients),
		TEST(own_rules),
		TEST(own_rules_nested),
		TEST(compiled),
		TEST(names_sites_streams),
		TEST(errors),
		TEST(leaks_of_tracers),
		TEST(long_chains),
		TEST(as_many_operations),
		TEST(leaks),
	};
	return cmocka_run_group_tests_name("vmap functions", tests, NULL, NULL);
}
