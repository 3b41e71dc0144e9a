/* The rows through libtorch: eager, in inference mode. */
#include "torch.h"

#include <ATen/Parallel.h>

using torch::Tensor;

static struct {
	const struct row *row;
	Tensor in[3];
	weight w;
	Tensor (*compute)();
} now;
static c10::InferenceMode *inference;

Tensor torch_tensor(float *data, at::IntArrayRef shape)
{
	Tensor x = torch::from_blob(data, shape).clone();
	free(data);
	return x;
}

weight torch_weight(enum peer_dtype format, int64_t n, int64_t k, uint64_t seed)
{
	weight w;
	if (format != Q4) {
		w.plain = torch_tensor(peer_weights(Q4, n * k, seed), {n, k});
		return w;
	}
	w.codes = torch::empty({n, k / GROUP, GROUP / 2}, torch::kUInt8);
	w.scales = torch::empty({n, k / GROUP, 1});
	uint8_t *codes = w.codes.data_ptr<uint8_t>();
	float *scales = w.scales.data_ptr<float>();
	for (int64_t i = 0; i < n * k / 2; i++) { /* the first half of a group in the low bits */
		int64_t at = i / (GROUP / 2) * GROUP + i % (GROUP / 2);
		codes[i] = (uint8_t)(peer_code(seed, at) | peer_code(seed, at + GROUP / 2) << 4);
	}
	for (int64_t i = 0; i < n * k / GROUP; i++)
		scales[i] = peer_scale(seed, i);
	return w;
}

Tensor weight::apply(const Tensor &x) const
{
	if (plain.defined())
		return torch::linear(x, plain);
	Tensor w = torch::cat({codes.bitwise_and(15), codes.bitwise_right_shift(4)}, -1);
	w = w.to(torch::kFloat).sub_(8).mul_(scales);
	return torch::linear(x, w.view({codes.size(0), -1}));
}

/* By products and a softmax: version 1.13 has no other way on a CPU. */
Tensor torch_attention(const Tensor &q, const Tensor &k, const Tensor &v, bool open)
{
	int64_t m = q.size(-2), n = k.size(-2);
	Tensor scores = q.mul(1 / sqrt((double)q.size(-1))).matmul(k.transpose(-2, -1));
	if (!open)
		scores.masked_fill_(torch::ones({m, n}, torch::kBool).triu_(n - m + 1), -INFINITY);
	return scores.softmax(-1).matmul(v);
}

static Tensor chain()
{
	Tensor y = now.in[0];
	for (int i = 0; i < NODES; i++)
		y = y + now.in[1];
	return y;
}

static Tensor sums()
{
	Tensor y = now.in[0];
	for (int i = 0; i < NODES; i++)
		y = y.sum(-1, true);
	return y;
}

static Tensor single()
{
	return now.in[0] + now.in[1];
}

static Tensor cheap()
{
	return (now.in[0] * 2 + now.in[1]) * now.in[2];
}

/* In place on the temporaries, as one writes it who wants it fast. */
static Tensor tanh_chain()
{
	return (now.in[0] * 2).add_(now.in[1]).tanh_().mul_(now.in[2]);
}

static Tensor product()
{
	return torch::linear(now.in[0], now.in[1]);
}

static Tensor quantized()
{
	return now.w.apply(now.in[0]);
}

static Tensor softmax()
{
	return now.in[0].softmax(-1);
}

static Tensor layer_norm()
{
	return torch::layer_norm(now.in[0], {now.row->n}, now.in[1], now.in[2], 1e-5);
}

static Tensor rms_norm()
{
	return now.in[0] * now.in[0].square().mean(-1, true).add_(1e-5).rsqrt_() * now.in[1];
}

static Tensor attention()
{
	return torch_attention(now.in[0], now.in[1], now.in[2], now.row->m == 1);
}

static Tensor cumsum()
{
	return now.in[0].cumsum(now.row->k);
}

static Tensor sort()
{
	return now.row->kind == SORT ? std::get<0>(now.in[0].sort(-1)) : now.in[0].argsort(true, -1);
}

static Tensor take()
{
	return now.row->kind == TAKE ? now.in[0].index_select(0, now.in[1]) : now.in[0].gather(-1, now.in[1]);
}

static Tensor argmax()
{
	return now.in[0].argmax(-1);
}

static Tensor astype()
{
	return now.in[0].to(torch::kHalf);
}

static Tensor transpose()
{
	return now.in[0].t().contiguous();
}

static Tensor normal()
{
	return torch::randn({now.row->m, now.row->n});
}

static void input(int i, at::IntArrayRef shape)
{
	int64_t n = 1;
	for (int64_t size : shape)
		n *= size;
	now.in[i] = torch_tensor(peer_data(n, (uint64_t)i), shape);
	if (now.row->dtype == F16 || now.row->dtype == BF16)
		now.in[i] = now.in[i].to(now.row->dtype == F16 ? torch::kHalf : torch::kBFloat16);
}

static bool prepare(const struct row *row)
{
	int64_t m = row->m, n = row->n, k = row->k, h = ATTENTION_HEADS;
	now.row = row;
	switch (row->kind) {
	case GRAPH: case SINGLE:
		input(0, {1, 4});
		input(1, {1, 4});
		now.compute = row->kind == SINGLE ? single : chain;
		break;
	case GRAPH_SUM:
		input(0, {4, 1});
		now.compute = sums;
		break;
	case CHAIN: case CHEAP:
		for (int i = 0; i < 3; i++)
			input(i, {m, n});
		now.compute = row->kind == CHAIN ? tanh_chain : cheap;
		break;
	case MATMUL:
		input(0, {m, k});
		input(1, {n, k});
		now.compute = product;
		break;
	case SOFTMAX: case LAYER_NORM: case RMS_NORM:
		input(0, {m, n});
		input(1, {n});
		input(2, {n});
		now.compute = row->kind == SOFTMAX ? softmax
			: row->kind == RMS_NORM ? rms_norm : layer_norm;
		break;
	case ATTENTION:
		input(0, {1, h, m, k});
		input(1, {1, h, n, k});
		input(2, {1, h, n, k});
		now.compute = attention;
		break;
	case QUANT:
		if (row->dtype != Q4)
			return false;
		input(0, {m, k});
		now.w = torch_weight(Q4, n, k, 1);
		now.compute = quantized;
		break;
	case TAKE: case TAKE_ALONG: {
		int64_t count = row->kind == TAKE ? m : m * n;
		int32_t *indices = peer_indices(count, row->kind == TAKE ? m : n, 1);
		now.in[1] = torch::from_blob(indices, {count}, torch::kInt).to(torch::kLong);
		free(indices);
		if (row->kind == TAKE_ALONG)
			now.in[1] = now.in[1].view({m, n});
		input(0, {m, n});
		now.compute = take;
		break;
	}
	case QUANTIZE:
		return false;
	case NORMAL:
		now.compute = normal;
		break;
	default:
		input(0, {m, n});
		now.compute = row->kind == CUMSUM ? cumsum : row->kind == ARGMAX ? argmax : row->kind == ASTYPE ? astype
			: row->kind == TRANSPOSE ? transpose : sort;
	}
	return true;
}

static void run_row(void)
{
	now.compute();
}

/* Not every operation has every dtype. */
static bool open_row(const struct row *row)
{
	try {
		if (!prepare(row))
			return false;
		run_row();
		return true;
	} catch (const c10::Error &) {
		return false;
	}
}

static void run_singles(void)
{
	for (int i = 0; i < NODES; i++)
		run_row();
}

float *torch_copy(const Tensor &x, int64_t *n)
{
	Tensor y = x.to(torch::kFloat).contiguous();
	*n = y.numel();
	float *to = (float *)malloc((size_t)*n * sizeof *to);
	if (to)
		memcpy(to, y.data_ptr<float>(), (size_t)*n * sizeof *to);
	return to;
}

static float *result(int64_t *n)
{
	float *to = torch_copy(now.compute(), n);
	return now.row->kind == NORMAL ? peer_moments(to, n) : to;
}

static void close_row(void)
{
	now = {};
}

void peer_start(int threads)
{
	at::set_num_threads(threads);
	inference = new c10::InferenceMode;
}

static const struct kind plain = {open_row, run_row, result, close_row};
const struct kind peer_kinds[KINDS] = {
	{}, plain, plain, {open_row, run_singles, result, close_row}, plain, plain, plain, plain,
	plain, plain, plain, plain,
	{torch_llama_open, torch_llama_run, torch_llama_result, torch_llama_close},
	plain, plain, plain, plain, plain, plain, plain, plain, plain, {},
};
