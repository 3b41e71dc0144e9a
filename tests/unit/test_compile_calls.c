/* What a call of a compiled function promises wherever it is made: inside a gradient, where the
 * function is called as it is, and on streams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "graph/tensor.h"
#include "probe.h"

static const char *const kinds[] = { "silent", "says why", "gives NULL" };

static bool bad(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	const char *kind = *(const char *const *)context;
	(void)n_in;
	(void)n_out;
	out[0] = lb_exp(in[0]);
	out[1] = kind == kinds[2] ? NULL : out[0];
	if (kind == kinds[1])
		lb_reshape(in[0], LB_SHAPE(5));
	return kind == kinds[2];
}

struct inner {
	lb_compiled *compiled;
	bool ok;
	lb_tensor *out[2];
	char message[256];
};

static bool calls(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	struct inner *inner = context;
	(void)n_out;
	inner->ok = lb_call(inner->compiled, n_in, in, 2, inner->out);
	strncpy(inner->message, lb_error_message(), sizeof inner->message - 1);
	lb_clear_error();
	out[0] = lb_sum(in[0], LB_ALL_AXES, false);
	return true;
}

static void failures_are_alike_inlined_and_not(void **state)
{
	(void)state;
	for (int k = 0; k < 3; k++)
		LB_SCOPE {
			lb_tensor *x = lb_ones(LB_SHAPE(3), LB_F32), *g, *out;
			lb_compiled *f = lb_compile("bad", bad, (void *)&kinds[k], (lb_compile_options){ 0 });
			struct inner plain = { .compiled = f }, inlined = { .compiled = f };
			assert_true(calls(&plain, 1, &x, 1, &out));
			assert_true(lb_grad(calls, &inlined, 1, &x, &g));
			assert_false(plain.ok);
			assert_false(inlined.ok);
			for (int i = 0; i < 2; i++) {
				assert_null(plain.out[i]);
				assert_null(inlined.out[i]);
			}
			assert_true(*plain.message);
			assert_string_equal(plain.message, inlined.message);
			lb_compiled_free(f);
		}
}

static bool sideways(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)n_in;
	(void)n_out;
	LB_ON_STREAM(*(lb_stream *)context) {
		out[0] = lb_sum(in[0], LB_ALL_AXES, false);
		out[1] = lb_exp(in[0]);
	}
	return out[0] && out[1];
}

/* Of whatever sizes: results are on the streams where the function has made them. */
static void shapeless_keeps_streams(void **state)
{
	(void)state;
	lb_stream side = lb_stream_new("side");
	LB_SCOPE {
		lb_compiled *f = lb_compile("f", sideways, &side, (lb_compile_options){ .shapeless = true });
		for (int n = 3; n < 5; n++) {
			lb_tensor *x = lb_zeros(LB_SHAPE(n), LB_F32), *out[2];
			assert_true(lb_call(f, 1, &x, 2, out));
			assert_int_equal(((const struct lb_tensor *)out[0])->stream, side.id);
			assert_int_equal(((const struct lb_tensor *)out[1])->stream, side.id);
			assert_int_equal(lb_size(out[1]), n);
			assert_true(lb_item(lb_sum(out[1], LB_ALL_AXES, false)) == n);
		}
		assert_int_equal(lb_compiled_stats(f).compiles, 1);
		lb_compiled_free(f);
	}
	assert_true(lb_ok());
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(failures_are_alike_inlined_and_not),
		cmocka_unit_test(shapeless_keeps_streams),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
