/* The list of providers, a row each. */
#include "ggml/ggml.h"
#include "inspect/context.h"
#include "inspect/out.h"
#include "mlx/mlx.h"
#include "torch/torch.h"

static bool open_runtime(struct lbx_context *context, struct lbx_tensors **ret)
{
	struct lbx_table *table;

	if (!lbx_context_table(context, &table))
		return false;
	*ret = lbx_table_tensors(table);
	return true;
}

static bool searching_ggml(void *out, int64_t done)
{
	return lbx_progress(out, "looking for ggml's tensors", done, 0);
}

static bool searching_torch(void *out, int64_t done)
{
	return lbx_progress(out, "looking for PyTorch's tensors", done, 0);
}

static bool searching_mlx(void *out, int64_t done)
{
	return lbx_progress(out, "looking for MLX's arrays", done, 0);
}

static bool ggml_is_there(struct lbx_context *context)
{
	return lbx_ggml_is_there(context->target);
}

/* What all threads do tells what has been computed. */
static bool open_ggml(struct lbx_context *context, struct lbx_tensors **ret)
{
	struct lbx_stacks *stacks = context->all_stacks ? context->all_stacks : context->stacks;

	return lbx_ggml_open(context->target, stacks, searching_ggml, context->out, ret);
}

static bool torch_is_there(struct lbx_context *context)
{
	return lbx_torch_is_there(context->target);
}

static bool open_torch(struct lbx_context *context, struct lbx_tensors **ret)
{
	return lbx_torch_open(context->target, context->lets_go && context->n_sets == 0, searching_torch, context->out,
			      ret);
}

static bool open_torch_near(struct lbx_context *context, struct lbx_python *py, struct lbx_tensors **ret)
{
	return lbx_torch_open_near(context->target, py, ret);
}

static bool mlx_is_there(struct lbx_context *context)
{
	return lbx_mlx_is_there(context->target);
}

static bool open_mlx(struct lbx_context *context, struct lbx_tensors **ret)
{
	bool let_go = context->lets_go && context->n_sets == 0 && !context->of_one_moment;

	if (context->of_one_moment && !lbx_stacks_hold(context->stacks, context->target))
		return false;
	return lbx_mlx_open(context->target, let_go, searching_mlx, context->out, ret);
}

const struct lbx_provider lbx_providers[] = {
	{ .name = "lazybones", .handle = "lb_tensor", .article = "an", .open = open_runtime },
	{ .name = "ggml",
	  .handle = "ggml_tensor",
	  .article = "a",
	  .is_there = ggml_is_there,
	  .open = open_ggml,
	  .is_costly = true },
	{ .name = "torch",
	  .handle = "c10::TensorImpl",
	  .article = "a",
	  .is_there = torch_is_there,
	  .open = open_torch,
	  .copies = true,
	  .has_objects = true,
	  .open_near = open_torch_near,
	  .is_costly = true },
	{ .name = "mlx",
	  .handle = "mlx::core::array::ArrayDesc",
	  .article = "an",
	  .is_there = mlx_is_there,
	  .open = open_mlx,
	  .copies = true,
	  .has_objects = true,
	  .is_costly = true },
	{ 0 },
};
