/* Tensors of op `fused`, and compiled functions, seen from outside: this very process, read as any
 * other would be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <fcntl.h>

#include "base/error.h"
#include "graph/program.h"
#include "inspect/command.h"
#include "inspect/replay/replay.h"
#include "inspect/tensor/expression.h"
#include "lazybones.h"
#include "tensors/program.h"
#include "self.h"

/* What a command prints. */
static const char *shown(const char *command, const char *line, bool json)
{
	char asked[128];

	snprintf(asked, sizeof asked, "%s%s", line, json ? " --json" : "");
	const char *text = session_says(self, command, asked);
	if (self->failed)
		fail_msg("%s %s: %s", command, line, text);
	return text;
}

static void contains(const char *where, const char *what)
{
	if (!strstr(where, what))
		fail_msg("no '%s' in:\n%s", what, where);
}

static bool attention_like(void *unused, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)unused;
	(void)n_in;
	(void)n_out;
	out[0] = lb_tanh(lb_add(lb_multiply(in[0], in[1]), lb_scalar(0.5)));
	return out[0] != NULL;
}

static bool shared(void *unused, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)unused;
	(void)n_in;
	(void)n_out;
	lb_tensor *e = lb_exp(lb_negative(in[0]));
	lb_tensor *low = lb_subtract(in[0], lb_subtract(in[1], e));
	out[0] = lb_where(lb_greater(in[0], in[1]), lb_divide(e, lb_multiply(in[1], low)),
			  lb_astype(lb_astype(in[0], LB_I32), lb_dtype_of(in[0])));
	return out[0] != NULL;
}

static bool many(void *unused, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)unused;
	(void)n_in;
	(void)n_out;
	lb_tensor *y = in[0];
	for (int i = 0; i < 30; i++)
		y = lb_maximum(lb_exp(y), in[1]);
	out[0] = y;
	return y != NULL;
}

static lb_tensor *call(lb_compiled *f, lb_tensor *a, lb_tensor *b)
{
	lb_tensor *y = NULL;
	if (!lb_call(f, 2, (lb_tensor *[]){ a, b }, 1, &y))
		fail_msg("%s", lb_error_message());
	return y;
}

static lb_tensor *numbers(const char *name, lb_list shape, lb_dtype dtype)
{
	lb_tensor *x = lb_astype(lb_random_uniform(shape, 0.5, 9.5, LB_F32, lb_key(7)), dtype);
	lb_eval(x);
	return lb_named(name, x);
}

static const lb_compile_options by_default;

static void its_expression_is_shown(void **state)
{
	char expression[LBX_EXPRESSION_MAX];
	struct lbx_tensor t;
	(void)state;
	LB_SCOPE {
		lb_compiled *f = lb_compile("f", attention_like, NULL, by_default);
		lb_compiled *g = lb_compile("g", shared, NULL, by_default);
		lb_compiled *h = lb_compile("h", many, NULL, by_default);
		lb_tensor *a = numbers("a", LB_SHAPE(2, 3), LB_F32), *b = numbers("b", LB_SHAPE(3), LB_F32);
		lb_tensor *y = lb_named("y", call(f, a, b));
		assert_non_null(look(y, &t));
		assert_string_equal(lbx_expression(&t, expression), "tanh(a * b + 0.5)");
		contains(shown("info", "y", false), "  computes    tanh(a * b + 0.5)\n");
		contains(shown("info", "y", true), "\"computes\":\"tanh(a * b + 0.5)\"");
		contains(shown("graph", "y", false), "  computes tanh(a * b + 0.5)\n");
		char file[] = "/tmp/test_fused-XXXXXX", line[64], dot[4096] = "";
		int fd = mkstemp(file);
		assert_true(fd >= 0);
		snprintf(line, sizeof line, "y --dot %s", file);
		shown("graph", line, false);
		close(fd); /* another file has its name now */
		fd = open(file, O_RDONLY);
		unlink(file);
		assert_true(read(fd, dot, sizeof dot - 1) > 0);
		close(fd);
		contains(dot, "tanh(a * b + 0.5)\\nfloat32");
		contains(shown("print", "y", false), "it computes tanh(a * b + 0.5)\n");
		contains(shown("peek", "y", false), "replayed outside the program (3 nodes): tanh(a * b + 0.5)\n");
		assert_non_null(look(a, &t));
		assert_string_equal(lbx_expression(&t, expression), "");

		lb_tensor *c = numbers("c", LB_SHAPE(3), LB_F32);
		assert_non_null(look(call(g, b, c), &t));
		assert_string_equal(lbx_expression(&t, expression),
				    "t1 = exp(-b); where(b > c, t1 / (c * (b - (c - t1))), float32(int32(b)))");
		look(call(h, c, numbers("a name long enough to be too much for all these times", LB_SHAPE(3), LB_F32)),
		     &t);
		lbx_expression(&t, expression);
		assert_true(strlen(expression) < LBX_EXPRESSION_MAX);
		assert_string_equal(expression + strlen(expression) - strlen("…"), "…");
		lb_compiled_free(f);
		lb_compiled_free(g);
		lb_compiled_free(h);
	}
	assert_true(lb_ok());
}

static bool replay_slice(const lb_tensor *x, const char *text, struct lbx_replayed *ret)
{
	struct lbx_tensor t;
	struct lbx_slice slice;
	return look(x, &t) && lbx_slice_parse(text, &slice) && lbx_replay(&self->context, &t, &slice, ret);
}

static bool replay(const lb_tensor *x, struct lbx_replayed *ret)
{
	return replay_slice(x, "", ret);
}

static void its_replay_gives_the_same_bits(void **state)
{
	(void)state;
	lb_function *const functions[] = { attention_like, shared, many };
	for (int dtype = LB_BOOL; dtype < LB_C64; dtype++) {
		for (int k = 0; k < 3; k++)
			LB_SCOPE {
				lb_compiled *f = lb_compile("f", functions[k], NULL, by_default);
				lb_tensor *a = numbers("a", LB_SHAPE(4, 5), (lb_dtype)dtype);
				lb_tensor *b = numbers("b", LB_SHAPE(4, 1), (lb_dtype)dtype);
				lb_tensor *y = lb_transpose(call(f, a, b), LB_ALL_AXES);
				struct lbx_replayed replayed;
				char slice[16];
				if (!replay_slice(y, "[1:4:2, 3]", &replayed))
					fail_msg("%s", lb_error_message());
				assert_int_equal(replayed.array.size, 2);
				assert_true(lbx_array_copy(&replayed.array, 0, 2, slice));
				lbx_replay_release(&replayed);
				if (!replay(y, &replayed))
					fail_msg("%s", lb_error_message());
				assert_false(lb_is_ready(y));
				size_t n = (size_t)lb_nbytes(y);
				void *computed = malloc(n);
				assert_true(lb_copy_out(y, computed, n));
				assert_memory_equal(computed, replayed.array.local, n);
				lbx_replay_release(&replayed);
				for (size_t i = 0; i < 2; i++)
					assert_memory_equal((char *)computed + ((2 * i + 1) * 4 + 3) * n / 20,
							    slice + i * n / 20, n / 20);
				free(computed);
				lb_compiled_free(f);
			}
	}
	assert_true(lb_ok());
}

/* A replay of a program in which the byte at `offset` is another fails or works, and says which. */
static void damaged_programs_are_refused(void **state)
{
	(void)state;
	char expression[LBX_EXPRESSION_MAX];
	int refused = 0;
	LB_SCOPE {
		lb_compiled *f = lb_compile("f", attention_like, NULL, by_default);
		lb_tensor *a = numbers("a", LB_SHAPE(2, 3), LB_F32), *b = numbers("b", LB_SHAPE(3), LB_F32);
		struct lb_tensor *y = call(f, a, b);
		struct lb_program *program = lb_tensor_program(y), saved = *program;
		const size_t offsets[] = {
			offsetof(struct lb_program, magic),      offsetof(struct lb_program, size),
			offsetof(struct lb_program, n_inputs),   offsetof(struct lb_program, n_constants),
			offsetof(struct lb_program, n_insns),    offsetof(struct lb_program, dtypes),
			offsetof(struct lb_program, dtypes) + 2, offsetof(struct lb_program, dtypes) + 4,
			offsetof(struct lb_program, insns),      offsetof(struct lb_program, insns) + 1,
			offsetof(struct lb_program, insns) + 2,  offsetof(struct lb_program, insns) + 9,
		};
		const unsigned char values[] = { 0, 1, 7, 63, 200, 255 };
		for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
			for (size_t v = 0; v < sizeof values; v++) {
				struct lbx_replayed replayed;
				struct lbx_tensor t;
				((unsigned char *)program)[offsets[i]] = values[v];
				if (replay(y, &replayed)) {
					lbx_replay_release(&replayed);
				} else {
					assert_non_null(strstr(lb_error_message(), "damaged"));
					lb_clear_error();
					assert_non_null(look(y, &t));
					assert_true(strlen(lbx_expression(&t, expression)) > 0);
					assert_true(lb_ok());
					refused++;
				}
				*program = saved;
			}
		}
		assert_true(refused > 30);
		y->params[0] = 8;
		struct lbx_replayed replayed;
		assert_false(replay(y, &replayed));
		lb_clear_error();
		y->params[0] = (int64_t)(uintptr_t)program;
		lb_compiled_free(f);
	}
	assert_true(lb_ok());
}

static void compiled_functions_are_listed(void **state)
{
	(void)state;
	LB_SCOPE {
		assert_string_equal(shown("compiled", "", false), "no compiled functions\n");
		lb_compiled *f = lb_compile("first", attention_like, NULL, by_default);
		lb_compiled *g =
		    lb_compile("second", shared, NULL, (lb_compile_options){ .limit = 1, .shapeless = true });
		lb_tensor *a = numbers("a", LB_SHAPE(2, 3), LB_F32), *b = numbers("b", LB_SHAPE(3), LB_F32);
		call(f, a, b);
		call(f, a, b);
		call(f, b, b);
		call(g, a, a);
		call(g, b, b);
		const char *all = shown("compiled", "", false);
		contains(all, "first: 3 calls, 1 hit, 2 traced; 2 of 16 graphs\n");
		contains(all, "  last     4 tensors traced, a call makes 1: input 0: shape (3), compiled for (2,3)\n");
		contains(all, "second: 2 calls, 0 hits, 2 traced; 1 of 1 graph, shapeless, 1 evicted\n");
		contains(all, "attention_like");
		assert_null(strstr(shown("compiled", "'f*'", false), "second"));
		const char *json = shown("compiled", "'f*'", true);
		contains(json, "\"name\":\"first\"");
		contains(json, "\"reason\":\"input 0: shape (3), compiled for (2,3)\"");
		lb_compiled_free(f);
		assert_null(strstr(shown("compiled", "", false), "first"));
		lb_compiled_free(g);
		assert_string_equal(shown("compiled", "'f*'", false), "no compiled functions match f*\n");
	}
	assert_true(lb_ok());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_self, close_self)
		TEST(its_expression_is_shown),
		TEST(its_replay_gives_the_same_bits),
		TEST(damaged_programs_are_refused),
		TEST(compiled_functions_are_listed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
