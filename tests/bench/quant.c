/* quantized_matmul against dequantize, then matmul ("apart"), and against matmul with a weight
 * that was never quantised ("plain"), all through the runtime: us of wall time for weights of
 * N x N, and MiB of tensors beyond the inputs at the peak (scratch memory, which quantized_matmul
 * bounds by some MiB, is not in it). Keys: FORMAT_DTYPE_ORDER_ROWS, of x; order t: w transposed. */
#include "bench.h"

#include <lazybones.h>

enum { N = 4096, ROUNDS = 5 };

static const struct {
	const char *name;
	lb_quant how;
} formats[] = {
	{ "affine2", { .mode = LB_QUANT_AFFINE, .bits = 2, .group = 64 } },
	{ "affine3", { .mode = LB_QUANT_AFFINE, .bits = 3, .group = 64 } },
	{ "affine4", { .mode = LB_QUANT_AFFINE, .bits = 4, .group = 64 } },
	{ "affine5", { .mode = LB_QUANT_AFFINE, .bits = 5, .group = 64 } },
	{ "affine6", { .mode = LB_QUANT_AFFINE, .bits = 6, .group = 64 } },
	{ "affine8", { .mode = LB_QUANT_AFFINE, .bits = 8, .group = 64 } },
	{ "mxfp4", { .mode = LB_QUANT_MXFP4 } },
	{ "mxfp8", { .mode = LB_QUANT_MXFP8 } },
	{ "nvfp4", { .mode = LB_QUANT_NVFP4 } },
};
enum { FORMATS = sizeof formats / sizeof *formats };
static const int rows[] = { 1, 2, 4, 8, 16, 64, 256 };

enum way { FUSED, APART, PLAIN };

static double microseconds(enum way way, lb_tensor *x, lb_quantized q, lb_quant how, lb_tensor *w, bool transpose,
			   uint64_t *peak)
{
	double seconds[ROUNDS];
	for (int i = -1; i < ROUNDS; i++) {
		LB_SCOPE {
			uint64_t before = lb_active_memory();
			lb_reset_peak_memory();
			if (way == APART)
				w = lb_dequantize(q, how, lb_dtype_of(x));
			lb_tensor *y = way == FUSED ? lb_quantized_matmul(x, q, how, transpose)
						    : lb_matmul(x, transpose ? lb_transpose(w, LB_ALL_AXES) : w);
			double t = bench_now();
			lb_eval(y);
			if (i >= 0)
				seconds[i] = bench_now() - t;
			*peak = lb_peak_memory() - before;
		}
	}
	return 1e6 * bench_median(seconds, ROUNDS);
}

static void measure(int format, int m, bool transpose, lb_dtype dtype, lb_tensor *w)
{
	LB_SCOPE {
		uint64_t peaks[2], none;
		lb_quant how = formats[format].how;
		lb_quantized q = lb_quantize(w, how, NULL);
		lb_tensor *x = lb_random_normal(LB_SHAPE(m, N), dtype, lb_key(2));
		lb_eval(q.w, q.scales, x);
		if (q.biases)
			lb_eval(q.biases);
		double fused = microseconds(FUSED, x, q, how, NULL, transpose, &peaks[0]);
		double apart = microseconds(APART, x, q, how, NULL, transpose, &peaks[1]);
		double plain = microseconds(PLAIN, x, q, how, w, transpose, &none);
		const char *name = formats[format].name, *type = lb_dtype_name(dtype);
		char order = transpose ? 't' : 'n';
		printf("%s_%s_%c_%d_us %g\n", name, type, order, m, fused);
		printf("%s_%s_%c_%d_apart_us %g\n", name, type, order, m, apart);
		printf("%s_%s_%c_%d_plain_us %g\n", name, type, order, m, plain);
		printf("%s_%s_%c_%d_mib %g\n", name, type, order, m, (double)peaks[0] / (1 << 20));
		printf("%s_%s_%c_%d_apart_mib %g\n", name, type, order, m, (double)peaks[1] / (1 << 20));
	}
}

/* One row of x for each format, and a 4-bit weight for more rows. */
int main(void)
{
	LB_SCOPE {
		lb_tensor *w = lb_random_normal(LB_SHAPE(N, N), LB_F32, lb_key(1));
		lb_tensor *half = lb_astype(w, LB_BF16);
		lb_eval(w, half);
		for (int i = 0; i < FORMATS; i++)
			measure(i, 1, true, LB_F32, w);
		for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
			measure(2, rows[i], true, LB_F32, w);
			measure(2, rows[i], false, LB_F32, w);
			measure(2, rows[i], true, LB_BF16, half);
		}
	}
	if (!lb_ok())
		fprintf(stderr, "quant: %s\n", lb_error_message());
	return lb_ok() ? 0 : 1;
}
