/* The rows through the runtime. */
#include "ours.h"

static struct {
	const struct row *row;
	lb_tensor *(*graph)(void);
	lb_tensor *in[5];
	lb_quantized q;
} now;

static const lb_quant formats[] = {
	[Q4... Q4_BIASED] = { .mode = LB_QUANT_AFFINE, .bits = 4, .group = GROUP },
	[MXFP4] = { .mode = LB_QUANT_MXFP4, .bits = 4, .group = GROUP },
	[Q4_I8] = { .mode = LB_QUANT_AFFINE, .bits = 4, .group = GROUP, .activations = LB_I8 },
	[MXFP4_I8] = { .mode = LB_QUANT_MXFP4, .bits = 4, .group = GROUP, .activations = LB_I8 },
};

/* The runtime's own copy, as each peer makes one of its own. */
static lb_tensor *copied(void *data, size_t n, lb_list shape, lb_dtype dtype)
{
	lb_tensor *x = lb_from_data(data, n, shape, dtype);
	free(data);
	return x;
}

lb_tensor *ours_tensor(float *data, lb_list shape)
{
	size_t n = sizeof *data;
	for (int i = 0; i < shape.n; i++)
		n *= (size_t)shape.v[i];
	return copied(data, n, shape, LB_F32);
}

/* The weights are exact in f16, which the scales then have: ggml's do. */
lb_quantized ours_quantize(lb_tensor *w, enum peer_dtype format)
{
	lb_quantized q = lb_quantize(lb_astype(w, LB_F16), formats[format], NULL);
	lb_tensor **members[] = { &q.w, &q.scales, &q.biases };
	for (int i = 0; i < 3; i++)
		if (*members[i]) {
			lb_eval(*members[i]);
			lb_keep(*members[i]);
		}
	return q;
}

lb_tensor *ours_product(lb_tensor *x, lb_quantized w, enum peer_dtype format)
{
	if (format >= Q4)
		return lb_quantized_matmul(x, w, formats[format], true);
	return lb_matmul(x, lb_transpose(w.w, LB_ALL_AXES));
}

static lb_tensor *input(int i, float *data, lb_list shape)
{
	static const lb_dtype dtypes[] = { [F32] = LB_F32, [F16] = LB_F16, [BF16] = LB_BF16 };
	lb_tensor *x = ours_tensor(data, shape);
	if (now.row->dtype <= BF16)
		x = lb_astype(x, dtypes[now.row->dtype]);
	lb_eval(x);
	return now.in[i] = lb_keep(x);
}

static lb_tensor *chain(void)
{
	lb_tensor *y = now.in[0];
	for (int i = 0; i < NODES; i++)
		y = lb_add(y, now.in[1]);
	return y;
}

static lb_tensor *sums(void)
{
	lb_tensor *y = now.in[0];
	for (int i = 0; i < NODES; i++)
		y = lb_sum(y, LB_AXES(-1), true);
	return y;
}

static lb_tensor *single(void)
{
	return lb_add(now.in[0], now.in[1]);
}

static lb_tensor *cheap(void)
{
	return lb_multiply(lb_add(lb_multiply(now.in[0], lb_scalar(2)), now.in[1]), now.in[2]);
}

static lb_tensor *tanh_chain(void)
{
	lb_tensor *sum = lb_add(lb_multiply(now.in[0], lb_scalar(2)), now.in[1]);
	return lb_multiply(lb_tanh(sum), now.in[2]);
}

static lb_tensor *matmul(void)
{
	return ours_product(now.in[0], (lb_quantized){ .w = now.in[1] }, F32);
}

static lb_tensor *quantized(void)
{
	return ours_product(now.in[0], now.q, now.row->dtype);
}

static lb_tensor *softmax(void)
{
	return lb_softmax(now.in[0], LB_AXES(-1));
}

static lb_tensor *layer_norm(void)
{
	return lb_layer_norm(now.in[0], now.in[1], now.in[2], 1e-5);
}

static lb_tensor *rms_norm(void)
{
	return lb_rms_norm(now.in[0], now.in[1], 1e-5);
}

static lb_tensor *attention(void)
{
	double scale = 1 / sqrt((double)now.row->k);
	return lb_attention(now.in[0], now.in[1], now.in[2], scale, true, NULL);
}

static lb_tensor *cumsum(void)
{
	return lb_cumsum(now.in[0], (int)now.row->k, false, true);
}

static lb_tensor *sort(void)
{
	return now.row->kind == SORT ? lb_sort(now.in[0], -1) : lb_argsort(now.in[0], -1);
}

static lb_tensor *take(void)
{
	return now.row->kind == TAKE ? lb_take(now.in[0], now.in[1], 0) : lb_take_along_axis(now.in[0], now.in[1], -1);
}

static lb_tensor *argmax(void)
{
	return lb_argmax(now.in[0], LB_AXES(-1), false);
}

static lb_tensor *astype(void)
{
	return lb_astype(now.in[0], LB_F16);
}

static lb_tensor *transpose(void)
{
	return lb_contiguous(lb_transpose(now.in[0], LB_ALL_AXES));
}

static lb_tensor *normal(void)
{
	return lb_random_normal(LB_SHAPE(now.row->m, now.row->n), LB_F32, lb_key(1));
}

/* With its scales come the others: they are of one operation. */
static lb_tensor *quantize(void)
{
	return lb_quantize(now.in[0], (lb_quant){ .mode = LB_QUANT_AFFINE, .bits = 4, .group = QUANTIZE_GROUP }, NULL)
	    .scales;
}

static lb_tensor *(*const graphs[KINDS])(void) = {
	[CUMSUM] = cumsum, [SORT] = sort,     [ARGSORT] = sort,        [TAKE] = take,     [TAKE_ALONG] = take,
	[ARGMAX] = argmax, [ASTYPE] = astype, [TRANSPOSE] = transpose, [NORMAL] = normal, [QUANTIZE] = quantize,
};

static bool open_row(const struct row *row)
{
	int64_t m = row->m, n = row->n, k = row->k, h = ATTENTION_HEADS;
	now.row = row;
	LB_SCOPE {
		switch (row->kind) {
		case BUILD:
		case GRAPH:
		case SINGLE:
			for (int i = 0; i < 2; i++)
				input(i, peer_data(4, (uint64_t)i), LB_SHAPE(1, 4));
			now.graph = row->kind == SINGLE ? single : chain;
			break;
		case GRAPH_SUM:
			input(0, peer_data(4, 0), LB_SHAPE(4, 1));
			now.graph = sums;
			break;
		case CHAIN:
		case CHEAP:
			for (int i = 0; i < 3; i++)
				input(i, peer_data(m * n, (uint64_t)i), LB_SHAPE(m, n));
			now.graph = row->kind == CHAIN ? tanh_chain : cheap;
			break;
		case MATMUL:
			input(0, peer_data(m * k, 0), LB_SHAPE(m, k));
			input(1, peer_data(n * k, 1), LB_SHAPE(n, k));
			now.graph = matmul;
			break;
		case SOFTMAX:
		case LAYER_NORM:
		case RMS_NORM:
			input(0, peer_data(m * n, 0), LB_SHAPE(m, n));
			input(1, peer_data(n, 1), LB_SHAPE(n));
			input(2, peer_data(n, 2), LB_SHAPE(n));
			now.graph = row->kind == SOFTMAX ? softmax : row->kind == RMS_NORM ? rms_norm : layer_norm;
			break;
		case ATTENTION:
			input(0, peer_data(h * m * k, 0), LB_SHAPE(1, h, m, k));
			input(1, peer_data(h * n * k, 1), LB_SHAPE(1, h, n, k));
			input(2, peer_data(h * n * k, 2), LB_SHAPE(1, h, n, k));
			now.graph = attention;
			break;
		case QUANT:
			input(0, peer_data(m * k, 0), LB_SHAPE(m, k));
			now.q =
			    ours_quantize(ours_tensor(peer_weights(row->dtype, n * k, 1), LB_SHAPE(n, k)), row->dtype);
			now.graph = quantized;
			break;
		case TAKE:
		case TAKE_ALONG:
			n = row->kind == TAKE ? m : m * n;
			now.in[1] = lb_keep(copied(peer_indices(n, row->kind == TAKE ? m : row->n, 1), (size_t)n * 4,
						   row->kind == TAKE ? LB_SHAPE(m) : LB_SHAPE(m, row->n), LB_I32));
			input(0, peer_data(m * row->n, 0), LB_SHAPE(m, row->n));
			now.graph = take;
			break;
		default:
			if (!graphs[row->kind])
				return false;
			input(0, peer_data(m * n, 0), LB_SHAPE(m, n));
			now.graph = graphs[row->kind];
		}
	}
	return lb_ok();
}

static void run_row(void)
{
	LB_SCOPE {
		lb_eval(now.graph());
	}
}

static void run_build(void)
{
	LB_SCOPE {
		now.graph();
	}
}

static void run_singles(void)
{
	for (int i = 0; i < NODES; i++)
		run_row();
}

float *ours_copy(lb_tensor *x, int64_t *n)
{
	*n = lb_size(x);
	float *to = malloc((size_t)*n * sizeof *to);
	if (to && lb_copy_out(lb_astype(x, LB_F32), to, (size_t)*n * sizeof *to))
		return to;
	fprintf(stderr, "ours: %s\n", lb_error_message());
	free(to);
	return NULL;
}

static float *result(int64_t *n)
{
	float *to = NULL;
	LB_SCOPE {
		to = ours_copy(now.graph(), n);
	}
	return now.row->kind == NORMAL ? peer_moments(to, n) : to;
}

static void close_row(void)
{
	for (int i = 0; i < 5; i++)
		lb_release(now.in[i]);
	lb_release(now.q.w);
	lb_release(now.q.scales);
	lb_release(now.q.biases);
	memset(&now, 0, sizeof now);
	lb_clear_cache();
}

void peer_start(int threads)
{
	char text[16];
	snprintf(text, sizeof text, "%d", threads);
	setenv("LAZYBONES_THREADS", text, 1);
}

#define PLAIN { open_row, run_row, result, close_row }
const struct kind peer_kinds[KINDS] = {
	[BUILD] = { open_row, run_build, result, close_row },
	[SINGLE] = { open_row, run_singles, result, close_row },
	[GRAPH] = PLAIN,
	[GRAPH_SUM] = PLAIN,
	[CHAIN] = PLAIN,
	[CHEAP] = PLAIN,
	[MATMUL] = PLAIN,
	[SOFTMAX] = PLAIN,
	[LAYER_NORM] = PLAIN,
	[RMS_NORM] = PLAIN,
	[ATTENTION] = PLAIN,
	[QUANT] = PLAIN,
	[LLAMA] = { ours_llama_open, ours_llama_run, ours_llama_result, ours_llama_close },
	[CUMSUM] = PLAIN,
	[SORT] = PLAIN,
	[ARGSORT] = PLAIN,
	[TAKE] = PLAIN,
	[TAKE_ALONG] = PLAIN,
	[ARGMAX] = PLAIN,
	[ASTYPE] = PLAIN,
	[TRANSPOSE] = PLAIN,
	[NORMAL] = PLAIN,
	[QUANTIZE] = PLAIN,
};
