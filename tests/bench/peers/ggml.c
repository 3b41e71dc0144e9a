/* The rows through ggml: graphs on its CPU backend, with a thread pool of its own. */
#include "blocks.h"

static struct {
	const struct row *row;
	struct store store, weight_store;
	struct plan plan;
	struct ggml_tensor *in[4], *out;
	struct ggml_tensor *(*build)(struct ggml_context *ctx);
} now;

static ggml_backend_t backend;
static ggml_backend_set_n_threads_t set_threads;
static int all_threads;

static struct ggml_context *new_context(size_t nbytes)
{
	return ggml_init((struct ggml_init_params){ .mem_size = nbytes, .no_alloc = true });
}

void store_begin(struct store *store)
{
	store->tensors = new_context(1 << 20);
}

void store_allocate(struct store *store)
{
	store->buffer = ggml_backend_alloc_ctx_tensors(store->tensors, backend);
}

void store_free(struct store *store)
{
	ggml_backend_buffer_free(store->buffer);
	ggml_free(store->tensors);
	*store = (struct store){ NULL, NULL };
}

void store_fill(struct ggml_tensor *x, float *data)
{
	int64_t n = ggml_nelements(x);
	void *bytes = malloc(ggml_nbytes(x));
	if (x->type == GGML_TYPE_F32)
		memcpy(bytes, data, ggml_nbytes(x));
	else
		ggml_quantize_chunk(x->type, data, bytes, 0, n / x->ne[0], x->ne[0], NULL);
	ggml_backend_tensor_set(x, bytes, 0, ggml_nbytes(x));
	free(bytes);
	free(data);
}

/* Buffer types beside the plain one keep a weight rearranged. */
static bool takes(ggml_backend_buffer_type_t type, struct ggml_tensor *w)
{
	struct ggml_context *ctx = new_context(1 << 16);
	struct ggml_tensor *x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, w->ne[0], 64);
	w->buffer = ggml_backend_buft_alloc_buffer(type, 0);
	struct ggml_tensor *y = ggml_mul_mat(ctx, w, x);
	bool ok = ggml_backend_dev_supports_op(ggml_backend_get_device(backend), y);
	ggml_backend_buffer_free(w->buffer);
	w->buffer = NULL;
	ggml_free(ctx);
	return ok;
}

struct ggml_tensor *ggml_weight(enum peer_dtype format, int64_t n, int64_t k, uint64_t seed, struct store *ret)
{
	static const enum ggml_type types[] = { GGML_TYPE_F32,  GGML_TYPE_F16,   GGML_TYPE_BF16, GGML_TYPE_Q4_0,
						GGML_TYPE_Q4_1, GGML_TYPE_MXFP4, GGML_TYPE_Q4_0, GGML_TYPE_MXFP4 };
	ggml_backend_dev_t device = ggml_backend_get_device(backend);
	ggml_backend_dev_get_extra_bufts_t extra_types =
	    (ggml_backend_dev_get_extra_bufts_t)ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(device),
										  "ggml_backend_dev_get_extra_bufts");
	ggml_backend_buffer_type_t *type = extra_types ? extra_types(device) : NULL;
	store_begin(ret);
	struct ggml_tensor *w = ggml_new_tensor_2d(ret->tensors, types[format], k, n);
	for (; type && *type && !ret->buffer; type++)
		if (takes(*type, w))
			ret->buffer = ggml_backend_alloc_ctx_tensors_from_buft(ret->tensors, *type);
	if (!ret->buffer)
		store_allocate(ret);
	store_fill(w, peer_weights(format, n * k, seed));
	return w;
}

void plan_begin(struct plan *plan)
{
	plan->nodes = new_context(8 << 20);
	plan->memory = ggml_gallocr_new(ggml_backend_get_default_buffer_type(backend));
}

void plan_reset(struct plan *plan)
{
	ggml_reset(plan->nodes);
	plan->graph = ggml_new_graph_custom(plan->nodes, 2 * NODES + 64, false);
}

void plan_allocate(struct plan *plan, struct ggml_tensor *result)
{
	ggml_set_output(result);
	ggml_build_forward_expand(plan->graph, result);
	ggml_gallocr_alloc_graph(plan->memory, plan->graph);
}

void plan_compute(struct plan *plan)
{
	if (ggml_backend_graph_compute(backend, plan->graph) != GGML_STATUS_SUCCESS)
		fprintf(stderr, "ggml: a graph failed\n");
}

void plan_free(struct plan *plan)
{
	ggml_gallocr_free(plan->memory);
	ggml_free(plan->nodes);
	*plan = (struct plan){ NULL, NULL, NULL };
}

void mask_fill(struct ggml_tensor *mask)
{
	int64_t n = mask->ne[0], m = mask->ne[1];
	ggml_fp16_t *bits = malloc(ggml_nbytes(mask));
	ggml_fp16_t open = ggml_fp32_to_fp16(0), shut = ggml_fp32_to_fp16(-INFINITY);
	for (int64_t i = 0; i < m; i++)
		for (int64_t j = 0; j < n; j++)
			bits[i * n + j] = j <= i + n - m ? open : shut;
	ggml_backend_tensor_set(mask, bits, 0, ggml_nbytes(mask));
	free(bits);
}

static struct ggml_tensor *chain(struct ggml_context *ctx)
{
	struct ggml_tensor *y = now.in[0];
	for (int i = 0; i < NODES; i++)
		y = ggml_add(ctx, y, now.in[1]);
	return y;
}

static struct ggml_tensor *sums(struct ggml_context *ctx)
{
	struct ggml_tensor *y = now.in[0];
	for (int i = 0; i < NODES; i++)
		y = ggml_sum_rows(ctx, y);
	return y;
}

static struct ggml_tensor *single(struct ggml_context *ctx)
{
	return ggml_add(ctx, now.in[0], now.in[1]);
}

static struct ggml_tensor *cheap(struct ggml_context *ctx)
{
	return ggml_mul(ctx, ggml_add(ctx, ggml_scale(ctx, now.in[0], 2), now.in[1]), now.in[2]);
}

static struct ggml_tensor *tanh_chain(struct ggml_context *ctx)
{
	struct ggml_tensor *sum = ggml_add(ctx, ggml_scale(ctx, now.in[0], 2), now.in[1]);
	return ggml_mul(ctx, ggml_tanh(ctx, sum), now.in[2]);
}

static struct ggml_tensor *product(struct ggml_context *ctx)
{
	return ggml_mul_mat(ctx, now.in[1], now.in[0]);
}

static struct ggml_tensor *softmax(struct ggml_context *ctx)
{
	return ggml_soft_max(ctx, now.in[0]);
}

static struct ggml_tensor *layer_norm(struct ggml_context *ctx)
{
	return ggml_add(ctx, ggml_mul(ctx, ggml_norm(ctx, now.in[0], 1e-5f), now.in[1]), now.in[2]);
}

static struct ggml_tensor *rms_norm(struct ggml_context *ctx)
{
	return ggml_mul(ctx, ggml_rms_norm(ctx, now.in[0], 1e-5f), now.in[1]);
}

static struct ggml_tensor *attention(struct ggml_context *ctx)
{
	float scale = 1 / sqrtf((float)now.row->k);
	struct ggml_tensor *y = ggml_flash_attn_ext(ctx, now.in[0], now.in[1], now.in[2], now.in[3], scale, 0, 0);
	return ggml_cont(ctx, ggml_permute(ctx, y, 0, 2, 1, 3)); /* as the others have it */
}

static void declare(int i, enum ggml_type type, int64_t n0, int64_t n1, int64_t n2)
{
	now.in[i] = ggml_new_tensor_3d(now.store.tensors, type, n0, n1, n2);
}

static bool declare_inputs(const struct row *row)
{
	static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16 };
	int64_t m = row->m, n = row->n, k = row->k, h = ATTENTION_HEADS;
	enum ggml_type f32 = GGML_TYPE_F32;
	switch (row->kind) {
	case BUILD:
	case GRAPH:
	case SINGLE:
		declare(0, f32, 4, 1, 1);
		declare(1, f32, 4, 1, 1);
		now.build = row->kind == SINGLE ? single : chain;
		break;
	case GRAPH_SUM:
		declare(0, f32, 1, 4, 1);
		now.build = sums;
		break;
	case CHAIN:
	case CHEAP:
		for (int i = 0; i < 3; i++)
			declare(i, f32, n, m, 1);
		now.build = row->kind == CHAIN ? tanh_chain : cheap;
		break;
	case MATMUL:
		declare(0, f32, k, m, 1);
		declare(1, types[row->dtype], k, n, 1);
		now.build = product;
		break;
	case QUANT:
		declare(0, f32, k, m, 1);
		now.build = product;
		break;
	case SOFTMAX:
	case LAYER_NORM:
	case RMS_NORM:
		declare(0, f32, n, m, 1);
		declare(1, f32, n, 1, 1);
		declare(2, f32, n, 1, 1);
		now.build = row->kind == SOFTMAX ? softmax : row->kind == RMS_NORM ? rms_norm : layer_norm;
		break;
	case ATTENTION:
		declare(0, f32, k, m, h);
		declare(1, f32, k, n, h);
		declare(2, f32, k, n, h);
		declare(3, GGML_TYPE_F16, n, m, 1);
		now.build = attention;
		break;
	default: return false;
	}
	return true;
}

static void build(void)
{
	plan_reset(&now.plan);
	now.out = now.build(now.plan.nodes);
}

static bool open_row(const struct row *row)
{
	now.row = row;
	store_begin(&now.store);
	plan_begin(&now.plan);
	if (!declare_inputs(row))
		return false;
	store_allocate(&now.store);
	for (int i = 0; i < 3; i++)
		if (now.in[i])
			store_fill(now.in[i], peer_data(ggml_nelements(now.in[i]), (uint64_t)i));
	if (now.in[3])
		mask_fill(now.in[3]);
	if (row->kind == QUANT)
		now.in[1] = ggml_weight(row->dtype, row->n, row->k, 1, &now.weight_store);
	/* more threads would only wait for each other at every node */
	set_threads(backend, row->kind <= SINGLE ? 1 : all_threads);
	build();
	plan_allocate(&now.plan, now.out);
	return true;
}

static void run_row(void)
{
	plan_compute(&now.plan);
}

static void run_graph(void)
{
	build();
	plan_allocate(&now.plan, now.out);
	plan_compute(&now.plan);
}

static void run_singles(void)
{
	for (int i = 0; i < NODES; i++)
		run_graph();
}

float *ggml_copy(const struct ggml_tensor *x, int64_t *n)
{
	*n = ggml_nelements(x);
	float *to = malloc((size_t)*n * sizeof *to);
	if (to)
		ggml_backend_tensor_get(x, to, 0, (size_t)*n * sizeof *to);
	return to;
}

static float *result(int64_t *n)
{
	run_graph();
	return ggml_copy(now.out, n);
}

static void close_row(void)
{
	plan_free(&now.plan);
	store_free(&now.store);
	if (now.weight_store.tensors)
		store_free(&now.weight_store);
	memset(&now, 0, sizeof now);
	set_threads(backend, all_threads);
}

static void quiet(enum ggml_log_level level, const char *text, void *unused)
{
	(void)unused;
	if (level == GGML_LOG_LEVEL_ERROR)
		fputs(text, stderr);
}

/* The backend is the library of those in GGML_DIR that suits the CPU best. */
void peer_start(int threads)
{
	ggml_log_set(quiet, NULL);
	ggml_backend_load_all_from_path(GGML_DIR);
	backend = ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_CPU, NULL);
	if (!backend) {
		fprintf(stderr, "ggml: no CPU backend in %s\n", GGML_DIR);
		exit(1);
	}
	ggml_backend_reg_t cpu = ggml_backend_dev_backend_reg(ggml_backend_get_device(backend));
	ggml_threadpool_t (*new_pool)(struct ggml_threadpool_params *);
	void (*set_pool)(ggml_backend_t, ggml_threadpool_t);
	*(void **)&new_pool = ggml_backend_reg_get_proc_address(cpu, "ggml_threadpool_new");
	*(void **)&set_pool = ggml_backend_reg_get_proc_address(cpu, "ggml_backend_cpu_set_threadpool");
	set_threads =
	    (ggml_backend_set_n_threads_t)ggml_backend_reg_get_proc_address(cpu, "ggml_backend_set_n_threads");
	struct ggml_threadpool_params params = ggml_threadpool_params_default(threads);
	if (new_pool && set_pool)
		set_pool(backend, new_pool(&params));
	set_threads(backend, all_threads = threads);
}

#define PLAIN { open_row, run_row, result, close_row }
const struct kind peer_kinds[KINDS] = {
	[BUILD] = { open_row, build, result, close_row },
	[GRAPH] = { open_row, run_graph, result, close_row },
	[GRAPH_SUM] = { open_row, run_graph, result, close_row },
	[SINGLE] = { open_row, run_singles, result, close_row },
	[CHAIN] = PLAIN,
	[CHEAP] = PLAIN,
	[MATMUL] = PLAIN,
	[SOFTMAX] = PLAIN,
	[LAYER_NORM] = PLAIN,
	[RMS_NORM] = PLAIN,
	[ATTENTION] = PLAIN,
	[QUANT] = PLAIN,
	[LLAMA] = { ggml_llama_open, ggml_llama_run, ggml_llama_result, ggml_llama_close },
};
