/* Floats of 8 bits (arXiv:2209.05433, the OCP's MX formats, and ml_dtypes' "fnuz" ones): e5m2 has Inf and NaN as IEEE's do;
 * "fn": no Inf, and NaN only where all bits but the sign are set; "uz": no -0, whose bits are the only NaN, and a bias one
 * higher. e8m0 is a power of two, and 255 is NaN. */
#include "torch/dtypes.h"

#include <math.h>
#include <string.h>

#include "kernels/half.h"

static float float8(unsigned bits, int exponent_bits, bool is_fn, bool is_uz)
{
	int mantissa_bits = 7 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1 + is_uz;
	unsigned most = (1U << exponent_bits) - 1, exponent = bits >> mantissa_bits & most,
		 mantissa = bits & ((1U << mantissa_bits) - 1);
	float sign = bits & 0x80 ? -1.0f : 1.0f;

	if (is_uz && bits == 0x80)
		return NAN;
	if (!is_uz && is_fn && (bits & 0x7f) == 0x7f)
		return NAN;
	if (!is_fn && !is_uz && exponent == most)
		return mantissa ? NAN : sign * INFINITY;
	if (exponent == 0)
		return sign * ldexpf((float)mantissa, 1 - bias - mantissa_bits);
	return sign * ldexpf((float)(mantissa | 1U << mantissa_bits), (int)exponent - bias - mantissa_bits);
}

static void decode_float8(const struct lbx_encoding *e, const void *blocks, int64_t n, float *to)
{
	const unsigned char *bytes = blocks;
	int exponent_bits = strstr(e->name, "e5m2") ? 5 : strstr(e->name, "e8m0") ? 8 : 4;
	bool is_uz = strstr(e->name, "fnuz"), is_fn = !is_uz && exponent_bits == 4;

	for (int64_t i = 0; i < n; i++)
		to[i] = exponent_bits < 8  ? float8(bytes[i], exponent_bits, is_fn, is_uz)
			: bytes[i] == 0xff ? NAN
					   : ldexpf(1, bytes[i] - 127);
}

/* Two floats each: a number of 64 bits is rounded. */
static void decode_complex(const struct lbx_encoding *e, const void *blocks, int64_t n, float *to)
{
	const uint8_t *bytes = blocks;
	double part;

	for (int64_t i = 0; i < 2 * n; i++)
		if (e->bytes == 4) {
			to[i] = lb_f16_at(bytes + 2 * i);
		} else {
			memcpy(&part, bytes + i * (int64_t)sizeof part, sizeof part);
			to[i] = (float)part;
		}
}

enum kind { PLAIN, FLOAT8, COMPLEX, QINT, PACKED, BITS, SHELL, PAIR };

static const char *const reasons[] = {
	[PACKED] = "several of its elements share a byte, with zero points that are no integers",
	[BITS] = "its elements are bits, and no numbers",
	[SHELL] = "PyTorch gives its dtype no meaning: how the bits lie, its user knows",
	[PAIR] = "each of its elements is two numbers of 4 bits",
};

struct row {
	const char *name;
	enum kind kind;
	int argument;
};

static const struct row rows[] = {
#define DTYPE(number, name, kind, argument) [number] = { #name, kind, argument },
#include "torch/dtypes.def"
#undef DTYPE
};

enum { ROWS = sizeof rows / sizeof *rows };

const char *lbx_torch_dtype_name(unsigned number)
{
	return number < ROWS ? rows[number].name : NULL;
}

void lbx_torch_dtype(unsigned number, struct lbx_torch_dtype *ret)
{
	const struct row *row = &rows[number];

	*ret = (struct lbx_torch_dtype){ .why = row->kind < PACKED ? NULL : reasons[row->kind],
					 .is_plain = row->kind == PLAIN,
					 .is_quantized = row->kind == QINT };
	ret->encoding = (struct lbx_encoding){ .name = row->name, .dtype = LB_F32, .elements = 1, .bytes = 1 };
	if (row->kind == PLAIN)
		ret->encoding = lbx_encoding_of_dtype((enum lb_dtype)row->argument);
	else if (row->kind == FLOAT8)
		ret->encoding.decode = decode_float8;
	else if (row->kind == COMPLEX) {
		ret->encoding.decode = decode_complex;
		ret->encoding.dtype = LB_C64;
		ret->encoding.bytes = 2 * row->argument;
	} else if (row->kind == QINT)
		ret->encoding.bytes = (int)lbx_dtype_bytes(ret->encoding.stored = (enum lb_dtype)row->argument);
	else if (row->kind == PACKED)
		ret->encoding.elements = row->argument;
	else
		ret->encoding.bytes = row->argument;
}
