#include "mlx/node.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

int lbx_mlx_input(const struct lbx_mlx_node *n, uint32_t i)
{
	if (i < n->n_inputs)
		return n->inputs[i] == LBX_FAIL ? LBX_FAIL : lbx_step_input(n->r, n->inputs[i]);
	return lbx_mlx_no_recipe(n, "so few inputs");
}

/* "; it is computed from #4, #7" */
static void tell_inputs(const struct lbx_mlx_node *n, char *ret, size_t size)
{
	enum { FEW = 4 };
	size_t used = 0;

	ret[0] = '\0';
	for (uint32_t i = 0; i < n->record.inputs.n && i < FEW && used < size; i++) {
		uint64_t at = lbx_mlx_array_at(lbx_mlx_set_target(n->set), &n->record.inputs, i);
		size_t id = lbx_mlx_number(n->set, at);
		if (id)
			used += (size_t)snprintf(ret + used, size - used, "%s#%zu",
						 used ? ", " : "; it is computed from ", id);
	}
}

int lbx_mlx_no_recipe(const struct lbx_mlx_node *n, const char *what)
{
	char upstream[160];

	if (strcmp(n->op, "Load") == 0) {
		lb_fail("the values of #%" PRIu64 " (Load) are still in a file, which is not read here", n->id);
		return LBX_FAIL;
	}
	tell_inputs(n, upstream, sizeof upstream);
	lb_fail("how MLX computes #%" PRIu64 " (%s%s%s) is not known here%s", n->id, n->op, what ? ", with " : "",
		what ? what : "", upstream);
	return LBX_FAIL;
}

static bool field(const struct lbx_mlx_node *n, uint32_t at, void *ret, size_t size)
{
	return lbx_target_try_read(lbx_mlx_set_target(n->set), n->record.primitive + at, ret, size) ||
	       lbx_mlx_no_recipe(n, "a primitive that cannot be read") != LBX_FAIL;
}

bool lbx_mlx_int(const struct lbx_mlx_node *n, uint32_t at, int32_t *ret)
{
	return field(n, at, ret, sizeof *ret);
}

bool lbx_mlx_word(const struct lbx_mlx_node *n, uint32_t at, int64_t *ret)
{
	return field(n, at, ret, sizeof *ret);
}

bool lbx_mlx_flag(const struct lbx_mlx_node *n, uint32_t at, bool *ret)
{
	unsigned char byte;

	if (!field(n, at, &byte, sizeof byte))
		return false;
	*ret = byte;
	return byte <= 1 || lbx_mlx_no_recipe(n, "a flag that is none") != LBX_FAIL;
}

bool lbx_mlx_float(const struct lbx_mlx_node *n, uint32_t at, float *ret)
{
	return field(n, at, ret, sizeof *ret);
}

bool lbx_mlx_double(const struct lbx_mlx_node *n, uint32_t at, double *ret)
{
	return field(n, at, ret, sizeof *ret);
}

static bool numbers(const struct lbx_mlx_node *n, uint32_t at, bool is_small, size_t width, int *ret_n, int64_t *ret)
{
	int64_t list[LBX_MLX_AXES];

	*ret_n = -1;
	if (!lbx_mlx_vector_read(lbx_mlx_set_target(n->set), is_small, n->record.primitive + at, width, ret_n, list) ||
	    *ret_n > LB_MAX_RANK)
		return lbx_mlx_no_recipe(n, "such a list of numbers") != LBX_FAIL;
	for (int i = 0; i < *ret_n; i++)
		ret[i] = list[i];
	return true;
}

bool lbx_mlx_ints(const struct lbx_mlx_node *n, uint32_t at, int *ret_n, int64_t ret[LB_MAX_RANK])
{
	return numbers(n, at, false, sizeof(int32_t), ret_n, ret);
}

bool lbx_mlx_shape(const struct lbx_mlx_node *n, uint32_t at, int *ret_n, int64_t ret[LB_MAX_RANK])
{
	return numbers(n, at, n->set->layout->is_small, sizeof(int32_t), ret_n, ret);
}

bool lbx_mlx_strides(const struct lbx_mlx_node *n, uint32_t at, int *ret_n, int64_t ret[LB_MAX_RANK])
{
	return numbers(n, at, n->set->layout->is_small, sizeof *ret, ret_n, ret);
}

bool lbx_mlx_words(const struct lbx_mlx_node *n, uint32_t at, int *ret_n, int64_t ret[LB_MAX_RANK])
{
	return numbers(n, at, false, sizeof *ret, ret_n, ret);
}

bool lbx_mlx_list(const struct lbx_mlx_node *n, uint32_t at, struct lbx_mlx_arrays *ret)
{
	return lbx_mlx_arrays_read(lbx_mlx_set_target(n->set), n->record.primitive + at, ret) ||
	       lbx_mlx_no_recipe(n, "such a list of arrays") != LBX_FAIL;
}

bool lbx_mlx_axis(const struct lbx_mlx_node *n, uint32_t at, int value, int *ret)
{
	int32_t axis;

	if (value == LBX_FAIL || !lbx_mlx_int(n, at, &axis))
		return false;
	int rank = lbx_step(n->r, value)->rank;
	*ret = axis < 0 ? axis + rank : axis;
	return (*ret >= 0 && *ret < rank) || lbx_mlx_no_recipe(n, "such an axis") != LBX_FAIL;
}
