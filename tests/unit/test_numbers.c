/* Arrays printed as NumPy prints them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/tensor/format.h"
#include "inspect/tensor/number.h"
#include "kernels/half.h"

struct text {
	char *bytes;
	size_t n;
};

static void write_text(struct lbx_out *out, const char *bytes, size_t n)
{
	struct text *text = out->context;
	text->bytes = realloc(text->bytes, text->n + n + 1);
	memcpy(text->bytes + text->n, bytes, n);
	text->n += n;
	text->bytes[text->n] = '\0';
}

static const struct print_case {
	enum lb_dtype dtype;
	int rank;
	int64_t shape[4];
	int precision, threshold, edge, width;
	const char *bytes, *expected;
} cases[] = {
#include "numpy_prints.inc"
};

static void same_as_numpy(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct print_case *c = &cases[i];
		struct lbx_format_options options = {
			.edge_items = c->edge,
			.threshold = c->threshold,
			.precision = c->precision,
		};
		struct text text = { NULL, 0 };
		struct lbx_out out = { .context = &text, .write = write_text, .width = c->width };
		struct lbx_array array;
		int64_t strides[4], size = 1;
		for (int axis = c->rank - 1; axis >= 0; axis--) {
			strides[axis] = size;
			size *= c->shape[axis];
		}
		assert_true(lbx_array_local(c->bytes, size * lbx_dtype_bytes(c->dtype), c->dtype, c->rank, c->shape,
					    strides, 0, &array));
		assert_true(lbx_format_array(&out, NULL, &array, &options));
		text.bytes[text.n - 1] = '\0'; /* the newline at the end */
		if (strcmp(text.bytes, c->expected) != 0)
			print_message("case %zu, %s\nexpected\n%s\n", i, lbx_dtype_name(c->dtype), c->expected);
		assert_string_equal(text.bytes, c->expected);
		free(text.bytes);
	}
}

/* Each half's shortest digits read back as that half. */
static void halves_read_back(void **state)
{
	char text[LBX_NUMBER_MAX];

	(void)state;
	for (uint32_t bits = 0; bits < 0x7c00; bits += 7) {
		uint16_t f16 = (uint16_t)bits, bf16 = (uint16_t)(bits * 2);
		lbx_number_scalar(&f16, LB_F16, text);
		assert_int_equal(lb_float_to_f16(strtof(text, NULL)), f16);
		if ((bf16 & 0x7f80) == 0x7f80)
			continue;
		lbx_number_scalar(&bf16, LB_BF16, text);
		assert_int_equal(lb_float_to_bf16(strtof(text, NULL)), bf16);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_as_numpy),
		cmocka_unit_test(halves_read_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
