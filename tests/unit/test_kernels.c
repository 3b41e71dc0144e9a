/* Elementwise kernels: halves, single operations against their definitions, chains
 * against single operations, instruction sets against each other, conversions. */
#include "kernel_support.h"

#include "kernels/simd/tiles.h"

static void halves_round_trip(void **state)
{
	(void)state;
	for (int level = LB_ISA_BASE; level <= (int)lb_isa_level(); level++) {
		const struct lb_tiles *tiles = lb_tiles_of((enum lb_isa)level);
		uint16_t *halves = keep(65536 * 2), *back = keep(65536 * 2);
		float *wide = keep(65536 * 4);
		for (int i = 0; i < 65536; i++)
			halves[i] = (uint16_t)i;
		tiles->convert(LB_F32, LB_F16)(65536, wide, halves, NULL, NULL);
		tiles->convert(LB_F16, LB_F32)(65536, back, wide, NULL, NULL);
		for (int i = 0; i < 65536; i++) {
			int exponent = i >> 10 & 31, mantissa = i & 1023;
			double value = exponent == 31  ? (mantissa ? NAN : INFINITY)
				       : exponent == 0 ? ldexp(mantissa, -24)
						       : ldexp(1024 + mantissa, exponent - 25);
			if (isnan(value)) {
				assert_true(isnan(wide[i]) && (back[i] & 0x7fff) > 0x7c00);
				continue;
			}
			assert_true((double)wide[i] == (i & 0x8000 ? -value : value));
			assert_int_equal(back[i], i);
			assert_int_equal(lb_float_to_f16(lb_f16_to_float((uint16_t)i)), i);
		}
		tiles->convert(LB_F32, LB_BF16)(65536, wide, halves, NULL, NULL);
		tiles->convert(LB_BF16, LB_F32)(65536, back, wide, NULL, NULL);
		for (int i = 0; i < 65536; i++) {
			assert_int_equal(lb_float_to_bits(wide[i]), (uint32_t)i << 16);
			assert_int_equal(back[i], (i & 0x7fff) > 0x7f80 ? i | 0x40 : i);
		}
	}
}

static void halves_round_to_even(void **state)
{
	(void)state;
	for (int h = 0; h < 0x7bff; h++) { /* h and its successor, the middle, and its sides */
		double low = (double)lb_f16_to_float((uint16_t)h);
		double high = (double)lb_f16_to_float((uint16_t)(h + 1));
		float middle = (float)((low + high) / 2);
		float three[8] = { nextafterf(middle, 0), middle, nextafterf(middle, INFINITY) };
		uint16_t wanted[3] = { (uint16_t)h, (uint16_t)(h + (h & 1)), (uint16_t)(h + 1) };
		double middles[8] = { nextafter((low + high) / 2, 0), (low + high) / 2,
				      nextafter((low + high) / 2, INFINITY) };
		for (int level = LB_ISA_BASE; level <= (int)lb_isa_level(); level++) {
			uint16_t got[8];
			const struct lb_tiles *tiles = lb_tiles_of((enum lb_isa)level);
			tiles->convert(LB_F16, LB_F32)(8, got, three, NULL, NULL);
			assert_memory_equal(got, wanted, sizeof wanted);
			tiles->convert(LB_F16, LB_F64)(8, got, middles, NULL, NULL);
			assert_memory_equal(got, wanted, sizeof wanted);
		}
	}
	assert_int_equal(lb_float_to_f16(65519.996f), 0x7bff);
	assert_int_equal(lb_float_to_f16(65520.0f), 0x7c00);
}

static int arity(int op)
{
	return lb_op_class(op) == LB_CLASS_UNARY ? 1 : lb_op_class(op) == LB_CLASS_BINARY ? 2 : 3;
}

static bool gives_bool(int op)
{
	return (op >= LB_OP_EQUAL && op <= LB_OP_LOGICAL_OR) || (op >= LB_OP_ISNAN && op <= LB_OP_ISNEGINF) ||
	       op == LB_OP_LOGICAL_NOT;
}

/* By Newton's steps: from the complement, where erf itself is near 1. */
static double erfinv(double x)
{
	double size = fabs(x), y = 0, slope = 1.12837916709551257390;
	if (size >= 1 || x == 0 || isnan(x))
		return size > 1 ? NAN : size == 1 ? copysign(INFINITY, x) : x;
	for (int i = 0; i < 200; i++) {
		double off = size < 0.5 ? size - erf(y) : erfc(y) - (1 - size);
		double step = off / (slope * exp(-y * y));
		y += step > 0.5 ? 0.5 : step;
		if (fabs(step) <= 1e-17 * y)
			break;
	}
	return copysign(y, x);
}

/* What a real operation is, in double; halves' and floats' results are then rounded. */
static double real_result(int op, double a, double b, double c)
{
	switch (op) {
	case LB_OP_NEGATIVE: return -a;
	case LB_OP_ABS: return fabs(a);
	case LB_OP_EXP: return exp(a);
	case LB_OP_LOG: return log(a);
	case LB_OP_SQRT: return sqrt(a);
	case LB_OP_RSQRT: return 1 / sqrt(a);
	case LB_OP_SIN: return sin(a);
	case LB_OP_COS: return cos(a);
	case LB_OP_TANH: return tanh(a);
	case LB_OP_SIGMOID: return 1 / (1 + exp(-a));
	case LB_OP_ERF: return erf(a);
	case LB_OP_ERFINV: return erfinv(a);
	case LB_OP_TAN: return tan(a);
	case LB_OP_ARCSIN: return asin(a);
	case LB_OP_ARCCOS: return acos(a);
	case LB_OP_ARCTAN: return atan(a);
	case LB_OP_SINH: return sinh(a);
	case LB_OP_COSH: return cosh(a);
	case LB_OP_ARCSINH: return asinh(a);
	case LB_OP_ARCCOSH: return acosh(a);
	case LB_OP_ARCTANH: return atanh(a);
	case LB_OP_EXPM1: return expm1(a);
	case LB_OP_LOG1P: return log1p(a);
	case LB_OP_LOG2: return log2(a);
	case LB_OP_LOG10: return log10(a);
	case LB_OP_SQUARE: return a * a;
	case LB_OP_SIGN: return (a > 0) - (a < 0);
	case LB_OP_FLOOR: return floor(a);
	case LB_OP_CEIL: return ceil(a);
	case LB_OP_ROUND: return rint(a);
	case LB_OP_ISNAN: return isnan(a);
	case LB_OP_ISINF: return isinf(a) != 0;
	case LB_OP_ISFINITE: return !isnan(a) && !isinf(a);
	case LB_OP_ISPOSINF: return isinf(a) && a > 0;
	case LB_OP_ISNEGINF: return isinf(a) && a < 0;
	case LB_OP_LOGICAL_NOT: return a == 0;
	case LB_OP_ADD: return a + b;
	case LB_OP_SUBTRACT: return a - b;
	case LB_OP_MULTIPLY: return a * b;
	case LB_OP_DIVIDE: return a / b;
	case LB_OP_POWER: return pow(a, b);
	case LB_OP_MAXIMUM: return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
	case LB_OP_MINIMUM: return isnan(a) || isnan(b) ? NAN : a < b ? a : b;
	case LB_OP_REMAINDER: {
		double r = fmod(a, b);
		return r != 0 && (r < 0) != (b < 0) ? r + b : r;
	}
	case LB_OP_FLOOR_DIVIDE: return floor(a / b);
	case LB_OP_ARCTAN2: return atan2(a, b);
	case LB_OP_LOGADDEXP: return a == b ? a + log(2) : fmax(a, b) + log1p(exp(-fabs(a - b)));
	case LB_OP_EQUAL: return a == b;
	case LB_OP_NOT_EQUAL: return a != b;
	case LB_OP_LESS: return a < b;
	case LB_OP_LESS_EQUAL: return a <= b;
	case LB_OP_GREATER: return a > b;
	case LB_OP_GREATER_EQUAL: return a >= b;
	case LB_OP_LOGICAL_AND: return a != 0 && b != 0;
	case LB_OP_LOGICAL_OR: return a != 0 || b != 0;
	case LB_OP_WHERE: return a != 0 ? b : c;
	case LB_OP_CLIP:
		a = isnan(a) || isnan(b) ? NAN : a > b ? a : b;
		return isnan(a) || isnan(c) ? NAN : a < c ? a : c;
	default: fail_msg("%s: real_result() has no reference for it", lb_ops[op].name); return NAN;
	}
}

static __int128 wide_of(const void *at, int dtype)
{
	return dtype == LB_U64 ? (__int128)*(const uint64_t *)at : int_of(at, dtype);
}

/* Of a dtype of so many bits; bool has 1. */
static __int128 int_result(int op, int bits, __int128 a, __int128 b, __int128 c)
{
	switch (op) {
	case LB_OP_NEGATIVE: return -a;
	case LB_OP_ABS: return a < 0 ? -a : a;
	case LB_OP_SQUARE: return (__int128)((unsigned __int128)a * (unsigned __int128)a);
	case LB_OP_FLOOR:
	case LB_OP_CEIL:
	case LB_OP_ROUND: return a;
	case LB_OP_SIGN: return (a > 0) - (a < 0);
	case LB_OP_ISFINITE: return 1;
	case LB_OP_ISPOSINF:
	case LB_OP_ISNEGINF:
	case LB_OP_ISNAN:
	case LB_OP_ISINF: return 0;
	case LB_OP_BITWISE_INVERT: return bits == 1 ? !a : ~a;
	case LB_OP_LOGICAL_NOT: return a == 0;
	case LB_OP_ADD: return a + b;
	case LB_OP_SUBTRACT: return a - b;
	case LB_OP_MULTIPLY: return (__int128)((unsigned __int128)a * (unsigned __int128)b);
	case LB_OP_POWER: {
		if (b < 0)
			return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
		uint64_t result = 1, base = (uint64_t)a;
		for (uint64_t e = (uint64_t)b; e; e >>= 1, base *= base)
			if (e & 1)
				result *= base;
		return result;
	}
	case LB_OP_REMAINDER: return b == 0 ? 0 : (a % b + b) % b;
	case LB_OP_FLOOR_DIVIDE: return b == 0 ? 0 : (a - (a % b + b) % b) / b;
	case LB_OP_MAXIMUM: return a > b ? a : b;
	case LB_OP_MINIMUM: return a < b ? a : b;
	case LB_OP_WHERE: return a ? b : c;
	case LB_OP_CLIP: a = a > b ? a : b; return a < c ? a : c;
	case LB_OP_BITWISE_AND: return a & b;
	case LB_OP_BITWISE_OR: return a | b;
	case LB_OP_BITWISE_XOR: return a ^ b;
	case LB_OP_LEFT_SHIFT: return b >= 0 && b < bits ? (__int128)((unsigned __int128)a << b) : 0;
	case LB_OP_RIGHT_SHIFT: return b >= 0 && b < bits ? a >> b : a < 0 ? -1 : 0;
	case LB_OP_EQUAL: return a == b;
	case LB_OP_NOT_EQUAL: return a != b;
	case LB_OP_LESS: return a < b;
	case LB_OP_LESS_EQUAL: return a <= b;
	case LB_OP_GREATER: return a > b;
	case LB_OP_GREATER_EQUAL: return a >= b;
	case LB_OP_LOGICAL_AND: return a && b;
	case LB_OP_LOGICAL_OR: return a || b;
	default: fail_msg("%s: int_result() has no reference for it", lb_ops[op].name); return 0;
	}
}

static void *run_one(struct lb_exec *exec, int op, const struct lb_view *inputs, int n_inputs, int to)
{
	struct lb_fuse fuse = { .rank = inputs[0].rank, .n_inputs = n_inputs, .n_insns = 1, .n_outputs = 1 };
	memcpy(fuse.shape, inputs[0].shape, sizeof fuse.shape);
	for (int i = 0; i < n_inputs; i++) {
		fuse.inputs[i] = inputs[i];
		fuse.dtypes[i] = (uint8_t)inputs[i].dtype;
	}
	fuse.insns[0] = (struct lb_fuse_insn){ (uint8_t)op, (uint8_t)n_inputs, 0, 1, 2 };
	fuse.dtypes[n_inputs] = (uint8_t)to;
	fuse.outputs[0].reg = (uint8_t)n_inputs;
	fuse.outputs[0].data = keep(size_of(&inputs[0]) * width(to));
	check_ok(lb_kernel_fused(exec, &fuse));
	return fuse.outputs[0].data;
}

/* By how much more a result may be off that is a difference of larger numbers. */
static double cancelled(int op, double wanted)
{
	return op == LB_OP_LOGADDEXP && fabs(wanted) < 1 ? 1 / fmax(fabs(wanted), 1e-12) : 1;
}

static void check_one(int op, int dtype, int rank, const int64_t *shape)
{
	struct lb_view in[3];
	int n = arity(op), to = gives_bool(op) ? LB_BOOL : dtype;
	for (int i = 0; i < n; i++)
		in[i] = make_strided(op == LB_OP_WHERE && i == 0 ? LB_BOOL : dtype, rank, shape);
	char *out = run_one(&exec_all, op, in, n, to);
	bool approximate =
	    (op >= LB_OP_EXP && op <= LB_OP_ERF) || op == LB_OP_POWER || op == LB_OP_LOGADDEXP || op == LB_OP_ARCTAN2;
	for (int64_t i = 0; i < size_of(&in[0]); i++) {
		const char *at[3];
		for (int k = 0; k < 3; k++)
			at[k] = element(&in[k < n ? k : 0], i);
		const char *got = out + i * width(to);
		if (lb_dtype_is_float(dtype)) {
			double x[3];
			for (int k = 0; k < 3; k++)
				x[k] = real_of(at[k], in[k < n ? k : 0].dtype, 0);
			double wanted = real_result(op, x[0], x[1], x[2]);
			if (op == LB_OP_FLOOR_DIVIDE && dtype != LB_F64) /* of the quotient as it is rounded */
				wanted = (double)floorf((float)x[0] / (float)x[1]);
			/* sigmoid of -100 goes through a float that overflows */
			double slack = op == LB_OP_ERFINV ? 8 : approximate ? 5 : dtype == LB_F64 ? 0 : 0.5001;
			if (op == LB_OP_SIGMOID && wanted < 1e-37)
				continue;
			check_near(real_of(got, to, 0), wanted, dtype, slack * cancelled(op, wanted), lb_ops[op].name,
				   i);
		} else {
			__int128 wanted =
			    int_result(op, dtype == LB_BOOL ? 1 : 8 * (int)width(dtype), wide_of(at[0], in[0].dtype),
				       wide_of(at[1], dtype), wide_of(at[2], dtype));
			uint64_t value = (uint64_t)wanted;
			if (to == LB_BOOL)
				value = wanted != 0;
			if (memcmp(got, &value, (size_t)width(to)) != 0)
				fail_msg("%s of %s, element %lld", lb_ops[op].name, lb_dtypes[dtype].name,
					 (long long)i);
		}
	}
}

static void single_operations(void **state)
{
	(void)state;
	static const int64_t shapes[][3] = { { 3, 5, 7 }, { 1, 1, 1 }, { 2, 3, 700 }, { 4, 0, 3 }, { 40, 60, 3 } };
	for (int op = LB_OP_NEGATIVE; op <= LB_OP_CLIP; op++)
		for (int dtype = LB_BOOL; dtype < LB_C64; dtype++) {
			int to = gives_bool(op) ? LB_BOOL : dtype;
			if (op == LB_OP_ASTYPE || !lb_tiles()->elementwise(op, to, dtype))
				continue;
			for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
				for (int rank = 0; rank <= 3; rank++)
					check_one(op, dtype, rank, shapes[s]);
			free_kept();
		}
}

/* The same bits, or NaN both (its payload is free). */
static bool same_bits(const char *x, const char *y, int dtype)
{
	if (memcmp(x, y, (size_t)width(dtype)) == 0)
		return true;
	if (dtype == LB_C64)
		return same_bits(x, y, LB_F32) && same_bits(x + 4, y + 4, LB_F32);
	return lb_dtype_is_float(dtype) && isnan(real_of(x, dtype, 0)) && isnan(real_of(y, dtype, 0));
}

static void instruction_sets_agree(void **state)
{
	(void)state;
	enum { N = 1003 };
	for (int op = LB_OP_NEGATIVE; op <= LB_OP_CLIP; op++) {
		bool approximate = (op >= LB_OP_EXP && op <= LB_OP_LOG) || (op >= LB_OP_SIN && op <= LB_OP_ERF) ||
				   op == LB_OP_POWER || op == LB_OP_LOGADDEXP || op == LB_OP_ARCTAN2;
		for (int dtype = LB_BOOL; dtype < LB_DTYPES; dtype++)
			for (int to = LB_BOOL; to < LB_DTYPES; to++) {
				if (!lb_tiles()->elementwise(op, to, dtype) ||
				    (approximate && lb_dtype_is_float(dtype)))
					continue;
				struct lb_view in[3];
				char *out[LB_ISA_AMX + 1];
				for (int i = 0; i < 3; i++)
					in[i] =
					    make_view(op == LB_OP_WHERE && !i ? LB_BOOL : dtype, 1, (int64_t[]){ N });
				for (int level = 0; level <= (int)lb_isa_level(); level++) {
					out[level] = keep(N * width(to));
					lb_tiles_of((enum lb_isa)level)
					    ->elementwise(op, to, dtype)(N, out[level], in[0].data, in[1].data,
									 in[2].data);
					for (int64_t i = 0; i < N; i++) {
						char *x = out[0] + i * width(to);
						char *y = out[level] + i * width(to);
						if (!same_bits(x, y, to))
							fail_msg("%s of %s differs at %lld", lb_ops[op].name,
								 lb_dtypes[dtype].name, (long long)i);
					}
				}
				free_kept();
			}
	}
}

static void special_values_of_vector_math(void **state)
{
	(void)state;
	static const int ops[] = { LB_OP_EXP,       LB_OP_LOG,     LB_OP_SIN,   LB_OP_COS,     LB_OP_TANH,
				   LB_OP_SIGMOID,   LB_OP_ERF,     LB_OP_SQRT,  LB_OP_RSQRT,   LB_OP_POWER,
				   LB_OP_LOGADDEXP, LB_OP_ARCTAN2, LB_OP_TAN,   LB_OP_ARCSIN,  LB_OP_ARCCOS,
				   LB_OP_ARCTAN,    LB_OP_SINH,    LB_OP_COSH,  LB_OP_ARCSINH, LB_OP_ARCCOSH,
				   LB_OP_ARCTANH,   LB_OP_EXPM1,   LB_OP_LOG1P, LB_OP_LOG2,    LB_OP_LOG10,
				   LB_OP_ERFINV };
	/* clang-format off */
	static const double values[] = {
		0.0, -0.0, INFINITY, -INFINITY, NAN, 1, -1, 2, -2, 0.5, -0.5, 3, 1.5, 2.5, -2.5, -3,
		1e-45, -1e-45, 1e-40, -1e-40, 1e-38, 88.7, 88.8, 89, -87.4, -100, -103.9, -104, 709.7, -745,
		89.5, 90.5, -89.5, -90.5, 709.9, 710.4, 711.5, -711.5, -745.5, -746.5,
		1e5, -1e5, 1e10, 1e22, -1e22, 3.4e38, -3.4e38, 1e300, 5e-324, 2.2e-308, 33, 65504,
		0x1.fffffep-1, -0x1.fffffep-1, 0x1.000002p0, -0x1.000002p0,
		0x1.fffffffffffffp-1, -0x1.fffffffffffffp-1, 0x1.0000000000001p0, -0x1.0000000000001p0,
		0x1p23, 0x1.000002p23, -0x1.000002p23, 0x1p24, 4194303.5, 8388607.5, -8388607.5,
		0x1p52, 0x1.0000000000001p52, 0x1p53,
	};
	/* clang-format on */
	enum { N = sizeof values / sizeof *values };
	volatile double nothing = 0;
	double own_nan = nothing / nothing; /* its sign depends on the processor */
	for (int level = 0; level <= (int)lb_isa_level(); level++)
		for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
			for (int dtype = LB_F32; dtype <= LB_F64; dtype++) {
				_Alignas(8) char a[N * N * 8], b[N * N * 8], out[N * N * 8];
				for (int i = 0; i < N * N; i++) {
					put_real(a + i * width(dtype), dtype,
						 values[(i / N + i) % N]); /* each with each */
					put_real(b + i * width(dtype), dtype, values[i % N]);
				}
				lb_tiles_of((enum lb_isa)level)
				    ->elementwise(ops[o], dtype, dtype)(N * N, out, a, b, NULL);
				for (int i = 0; i < N * N; i++) {
					double x = real_of(a + i * width(dtype), dtype, 0);
					double y = real_of(b + i * width(dtype), dtype, 0);
					double wanted = real_result(ops[o], x, y, 0);
					double got = real_of(out + i * width(dtype), dtype, 0);
					if (ops[o] == LB_OP_SIGMOID && fmax(wanted, got) < 1e-37)
						continue;
					char what[80];
					snprintf(what, sizeof what, "%s(%g, %g) level %d", lb_ops[ops[o]].name, x, y,
						 level);
					double slack = ops[o] == LB_OP_ERFINV ? 8 : 5;
					check_near(got, wanted, dtype, slack * cancelled(ops[o], wanted), what, i);
					if ((wanted == 0 || isinf(wanted)) && ops[o] != LB_OP_LOGADDEXP &&
					    signbit(got) != signbit(wanted))
						fail_msg("%s: %g, should be %g", what, got, wanted);
					bool is_invalid = isnan(wanted) && !isnan(x) && !isnan(y);
					if (is_invalid && ops[o] != LB_OP_ERFINV && signbit(got) != signbit(own_nan))
						fail_msg("%s: %g, should be %g, as 0 / 0", what, got, own_nan);
				}
			}
}

static void conversions(void **state)
{
	(void)state;
	enum { N = 777 };
	for (int from = 0; from < LB_DTYPES; from++)
		for (int to = 0; to < LB_DTYPES; to++) {
			struct lb_view x = make_view(from, 1, (int64_t[]){ N });
			char *out = run_one(&exec_alone, LB_OP_ASTYPE, &x, 1, to);
			for (int64_t i = 0; i < N; i++) {
				const char *at = element(&x, i), *got = out + i * width(to);
				double value = real_of(at, from, 0);
				if (to == LB_BOOL) {
					bool wanted = value != 0 || (from == LB_C64 && real_of(at, from, 1) != 0);
					assert_int_equal(*got, wanted);
				} else if (lb_dtype_is_inexact(to)) {
					check_near(real_of(got, to, 0), value, to == LB_C64 ? LB_F32 : to, 0.5001,
						   "astype", i);
				} else if (!lb_dtype_is_inexact(from)) {
					int64_t kept_bits = from == LB_BOOL ? value != 0 : int_of(at, from);
					assert_memory_equal(got, &kept_bits, (size_t)width(to));
				} else if (isnan(value)) {
					assert_int_equal(int_of(got, to), 0);
				} else if (width(to) >= 4) {
					bool is_signed = lb_dtype_is_signed_int(to);
					double most = ldexp(1, (int)width(to) * 8 - is_signed);
					double wanted = trunc(value), least = is_signed ? -most : 0;
					wanted = wanted >= most ? most : wanted;
					wanted = wanted < least ? least : wanted;
					assert_true(fabs(real_of(got, to, 0) - wanted) <= (wanted == most ? 1 : 0));
				}
			}
			free_kept();
		}
	int64_t n = 0;
	lb_store_double(&n, LB_I64, 1e30);
	assert_true(n == INT64_MAX);
	assert_true(lb_load_int(&(float){ -INFINITY }, LB_F32) == INT64_MIN);
	assert_true(lb_load_double(&(uint16_t){ 0x3c00 }, LB_F16) == 1.0);
}

static void chains_give_the_bits_of_single_operations(void **state)
{
	(void)state;
	static const int ops[] = { LB_OP_ADD,     LB_OP_MULTIPLY, LB_OP_TANH,      LB_OP_EXP,    LB_OP_SUBTRACT,
				   LB_OP_MAXIMUM, LB_OP_SQRT,     LB_OP_REMAINDER, LB_OP_SIGMOID };
	for (int round = 0; round < 60; round++) {
		int dtype = LB_F16 + round % 4;
		int64_t shape[3] = { 1 + (int64_t)(draw() % 5), 1 + (int64_t)(draw() % 40),
				     1 + (int64_t)(draw() % 1500) };
		struct lb_fuse fuse = { .rank = 3, .n_inputs = 3, .n_outputs = 4 };
		struct lb_view regs[LB_FUSE_REGS];
		memcpy(fuse.shape, shape, sizeof shape);
		memset(fuse.dtypes, dtype, sizeof fuse.dtypes);
		for (int i = 0; i < 3; i++)
			fuse.inputs[i] = regs[i] = i ? make_strided(dtype, 3, shape) : make_view(dtype, 3, shape);
		fuse.n_insns = 4 + (int)(draw() % 12);
		for (int k = 0; k < fuse.n_insns; k++) {
			uint64_t n = (uint64_t)(3 + k);
			struct lb_fuse_insn insn = { .op = (uint8_t)ops[draw() % 9],
						     .dst = (uint8_t)n,
						     .a = (uint8_t)(draw() % n),
						     .b = (uint8_t)(draw() % n) };
			fuse.insns[k] = insn;
			struct lb_view pair[2] = { regs[insn.a], regs[insn.b] };
			regs[n] = make_view(dtype, 3, shape);
			regs[n].data = run_one(&exec_alone, insn.op, pair, arity(insn.op), dtype);
		}
		/* the last ones, one of them twice, and an input; donated memory among them */
		uint8_t outs[4] = { (uint8_t)(2 + fuse.n_insns), (uint8_t)(1 + fuse.n_insns),
				    (uint8_t)(2 + fuse.n_insns), 1 };
		int64_t bytes = size_of(&regs[0]) * width(dtype);
		for (int j = 0; j < 4; j++) {
			fuse.outputs[j].reg = outs[j];
			fuse.outputs[j].data = j == 1 ? regs[0].data : keep(bytes);
		}
		check_ok(lb_kernel_fused(round % 2 ? &exec_all : &exec_alone, &fuse));
		for (int j = 0; j < 4; j++)
			for (int64_t i = 0; i < size_of(&regs[0]); i++)
				assert_true(same_bits((char *)fuse.outputs[j].data + i * width(dtype),
						      element(&regs[outs[j]], i), dtype));
		free_kept();
	}
}

static void wrong_chains_fail(void **state)
{
	(void)state;
	struct lb_view x = make_view(LB_C64, 1, (int64_t[]){ 3 });
	struct lb_fuse fuse = { .rank = 1,
				.shape = { 3 },
				.n_inputs = 1,
				.inputs = { x },
				.n_insns = 1,
				.n_outputs = 1,
				.insns = { { .op = LB_OP_ERF, .dst = 1 } },
				.dtypes = { LB_C64, LB_C64 },
				.outputs = { { 1, x.data } } };
	assert_false(lb_kernel_fused(&exec_all, &fuse));
	assert_non_null(strstr(lb_error_message(), "erf"));
	lb_clear_error();
	fuse.insns[0].op = LB_OP_MATMUL;
	assert_false(lb_kernel_fused(&exec_all, &fuse));
	lb_clear_error();
	fuse.insns[0] = (struct lb_fuse_insn){ .op = LB_OP_NEGATIVE, .dst = 1, .a = 7 };
	assert_false(lb_kernel_fused(&exec_all, &fuse));
	lb_clear_error();
	fuse.n_insns = 1000;
	assert_false(lb_kernel_fused(&exec_all, &fuse));
}

static void complex_arithmetic(void **state)
{
	(void)state;
	struct lb_view a = make_view(LB_C64, 1, (int64_t[]){ 400 });
	struct lb_view b = make_view(LB_C64, 1, (int64_t[]){ 400 });
	struct lb_view pair[2] = { a, b };
	float *product = run_one(&exec_all, LB_OP_MULTIPLY, pair, 2, LB_C64);
	float *quotient = run_one(&exec_all, LB_OP_DIVIDE, pair, 2, LB_C64);
	uint8_t *less = run_one(&exec_all, LB_OP_LESS, pair, 2, LB_BOOL);
	float *magnitude = run_one(&exec_all, LB_OP_ABS, &a, 1, LB_F32);
	for (int64_t i = 0; i < 400; i++) {
		const float *p = (float *)a.data + 2 * i, *q = (float *)b.data + 2 * i;
		double x = (double)p[0], xi = (double)p[1], y = (double)q[0], yi = (double)q[1];
		if (!isfinite(x) || !isfinite(y) || fabs(x) > 1e10 || fabs(y) > 1e10)
			continue;
		double norm = y * y + yi * yi;
		double scale = hypot(x, xi) * hypot(y, yi) * 1e-6;
		assert_true(fabs((double)product[2 * i] - (x * y - xi * yi)) <= scale);
		assert_true(fabs((double)product[2 * i + 1] - (x * yi + xi * y)) <= scale);
		scale = hypot(x, xi) / hypot(y, yi) * 1e-6;
		assert_true(fabs((double)quotient[2 * i] - (x * y + xi * yi) / norm) <= scale);
		assert_true(fabs((double)quotient[2 * i + 1] - (xi * y - x * yi) / norm) <= scale);
		assert_int_equal(less[i], x < y || (x == y && xi < yi));
		check_near((double)magnitude[i], hypot(x, xi), LB_F32, 1, "abs", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(halves_round_trip, reset),
		cmocka_unit_test_teardown(halves_round_to_even, reset),
		cmocka_unit_test_teardown(single_operations, reset),
		cmocka_unit_test_teardown(instruction_sets_agree, reset),
		cmocka_unit_test_teardown(special_values_of_vector_math, reset),
		cmocka_unit_test_teardown(conversions, reset),
		cmocka_unit_test_teardown(chains_give_the_bits_of_single_operations, reset),
		cmocka_unit_test_teardown(wrong_chains_fail, reset),
		cmocka_unit_test_teardown(complex_arithmetic, reset),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
