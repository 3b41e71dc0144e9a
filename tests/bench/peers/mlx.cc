/* The rows through MLX, on its processor backend, as its own documentation writes them. */
#include "mlx.h"

static struct {
	const struct row *row;
	std::vector<mx::array> in;
	weight w;
	mx::array (*graph)();
} now;

mx::array mlx_tensor(float *data, mx::Shape shape)
{
	mx::array x(data, std::move(shape), mx::float32);
	free(data);
	return x;
}

weight mlx_weight(enum peer_dtype format, bool plain, int n, int k, uint64_t seed)
{
	weight ret;
	mx::array w = mlx_tensor(peer_weights(format, (int64_t)n * k, seed), {n, k});

	if (plain) {
		ret.parts = {w};
	} else {
		ret.format = format;
		ret.parts = mx::quantize(mx::astype(w, mx::float16), GROUP, 4, format == MXFP4 ? "mxfp4" : "affine");
	}
	mx::eval(ret.parts);
	return ret;
}

mx::array weight::apply(const mx::array &x) const
{
	if (format == F32)
		return mx::matmul(x, mx::transpose(parts[0]));
	std::optional<mx::array> biases;
	if (parts.size() > 2)
		biases = parts[2];
	return mx::quantized_matmul(x, parts[0], parts[1], biases, true, GROUP, 4, format == MXFP4 ? "mxfp4" : "affine");
}

static mx::array chain()
{
	mx::array y = now.in[0];
	for (int i = 0; i < NODES; i++)
		y = y + now.in[1];
	return y;
}

static mx::array sums()
{
	mx::array y = now.in[0];
	for (int i = 0; i < NODES; i++)
		y = mx::sum(y, -1, true);
	return y;
}

static mx::array single()
{
	return now.in[0] + now.in[1];
}

/* Fused by compile(), as one writes it who wants it fast. */
static std::vector<mx::array> cheap_of(const std::vector<mx::array> &in)
{
	return {(in[0] * mx::array(2.0f) + in[1]) * in[2]};
}

static std::vector<mx::array> tanh_of(const std::vector<mx::array> &in)
{
	return {mx::tanh(in[0] * mx::array(2.0f) + in[1]) * in[2]};
}

static mx::array cheap()
{
	return cheap_of(now.in)[0];
}

static mx::array tanh_chain()
{
	return tanh_of(now.in)[0];
}

static mx::array product()
{
	return mx::matmul(now.in[0], mx::transpose(now.in[1]));
}

static mx::array quantized()
{
	return now.w.apply(now.in[0]);
}

static mx::array softmax()
{
	return mx::softmax(now.in[0], std::vector<int>{-1});
}

static mx::array layer_norm()
{
	return mx::fast::layer_norm(now.in[0], now.in[1], now.in[2], 1e-5f);
}

static mx::array rms_norm()
{
	return mx::fast::rms_norm(now.in[0], now.in[1], 1e-5f);
}

static mx::array attention()
{
	return mx::fast::scaled_dot_product_attention(now.in[0], now.in[1], now.in[2], 1 / std::sqrt((float)now.row->k),
						      now.row->m == 1 ? "" : "causal");
}

static mx::array cumsum()
{
	return mx::cumsum(now.in[0], (int)now.row->k);
}

static mx::array sort()
{
	return now.row->kind == SORT ? mx::sort(now.in[0], -1) : mx::argsort(now.in[0], -1);
}

static mx::array take()
{
	return now.row->kind == TAKE ? mx::take(now.in[0], now.in[1], 0) : mx::take_along_axis(now.in[0], now.in[1], -1);
}

static mx::array argmax()
{
	return mx::argmax(now.in[0], -1);
}

static mx::array astype()
{
	return mx::astype(now.in[0], mx::float16);
}

static mx::array transpose()
{
	return mx::contiguous(mx::transpose(now.in[0]));
}

static mx::array normal()
{
	return mx::random::normal({(int)now.row->m, (int)now.row->n});
}

/* With its scales come the others: they are of one operation. */
static mx::array quantize()
{
	return mx::quantize(now.in[0], QUANTIZE_GROUP, 4)[1];
}

static void input(uint64_t seed, mx::Shape shape)
{
	int64_t n = 1;
	for (int size : shape)
		n *= size;
	mx::array x = mlx_tensor(peer_data(n, seed), std::move(shape));
	if (now.row->dtype == F16 || now.row->dtype == BF16)
		x = mx::astype(x, now.row->dtype == F16 ? mx::float16 : mx::bfloat16);
	mx::eval(x);
	now.in.push_back(x);
}

static bool prepare(const struct row *row)
{
	int m = (int)row->m, n = (int)row->n, k = (int)row->k, h = ATTENTION_HEADS;

	now.row = row;
	now.in.clear();
	switch (row->kind) {
	case BUILD: case GRAPH: case SINGLE:
		input(0, {1, 4});
		input(1, {1, 4});
		now.graph = row->kind == SINGLE ? single : chain;
		break;
	case GRAPH_SUM:
		input(0, {4, 1});
		now.graph = sums;
		break;
	case CHAIN: case CHEAP:
		for (uint64_t i = 0; i < 3; i++)
			input(i, {m, n});
		now.graph = row->kind == CHAIN ? tanh_chain : cheap;
		break;
	case MATMUL:
		input(0, {m, k});
		input(1, {n, k});
		now.graph = product;
		break;
	case SOFTMAX: case LAYER_NORM: case RMS_NORM:
		input(0, {m, n});
		input(1, {n});
		input(2, {n});
		now.graph = row->kind == SOFTMAX ? softmax : row->kind == RMS_NORM ? rms_norm : layer_norm;
		break;
	case ATTENTION:
		input(0, {1, h, m, k});
		input(1, {1, h, n, k});
		input(2, {1, h, n, k});
		now.graph = attention;
		break;
	case QUANT:
		if (row->dtype > MXFP4)
			return false;
		input(0, {m, k});
		now.w = mlx_weight(row->dtype, false, n, k, 1);
		now.graph = quantized;
		break;
	case TAKE: case TAKE_ALONG: {
		int64_t count = row->kind == TAKE ? m : (int64_t)m * n;
		int32_t *indices = peer_indices(count, row->kind == TAKE ? m : n, 1);
		input(0, {m, n});
		now.in.push_back(mx::array(indices, row->kind == TAKE ? mx::Shape{m} : mx::Shape{m, n}, mx::int32));
		free(indices);
		now.graph = take;
		break;
	}
	case LLAMA: case KINDS:
		return false;
	default:
		input(0, {m, n});
		now.graph = row->kind == CUMSUM ? cumsum : row->kind == ARGMAX ? argmax : row->kind == ASTYPE ? astype
			: row->kind == TRANSPOSE ? transpose : row->kind == NORMAL ? normal
			: row->kind == QUANTIZE ? quantize : sort;
	}
	return true;
}

static void run_row(void)
{
	mx::eval(now.graph());
}

static void run_build(void)
{
	now.graph();
}

/* Not every operation has every dtype. */
static bool open_row(const struct row *row)
{
	try {
		if (!prepare(row))
			return false;
		run_row();
		return true;
	} catch (const std::exception &) {
		return false;
	}
}

static void run_singles(void)
{
	for (int i = 0; i < NODES; i++)
		run_row();
}

float *mlx_copy(const mx::array &x, int64_t *n)
{
	mx::array y = mx::contiguous(mx::astype(x, mx::float32));
	mx::eval(y);
	*n = (int64_t)y.size();
	float *to = (float *)malloc((size_t)*n * sizeof *to);
	if (to)
		memcpy(to, y.data<float>(), (size_t)*n * sizeof *to);
	return to;
}

static float *result(int64_t *n)
{
	float *to = mlx_copy(now.graph(), n);
	return now.row->kind == NORMAL ? peer_moments(to, n) : to;
}

static void close_row(void)
{
	now = {};
	mx::clear_cache();
}

/* How many threads its products take, BLAS is told by the environment; the rest of a stream runs on one. */
void peer_start(int threads)
{
	(void)threads;
	mx::set_default_device(mx::Device::cpu);
}

static const struct kind plain = {open_row, run_row, result, close_row};
const struct kind peer_kinds[KINDS] = {
	{open_row, run_build, result, close_row}, plain, plain, {open_row, run_singles, result, close_row},
	plain, plain, plain, plain, plain, plain, plain, plain,
	{mlx_llama_open, mlx_llama_run, mlx_llama_result, mlx_llama_close},
	plain, plain, plain, plain, plain, plain, plain, plain, plain, plain,
};
