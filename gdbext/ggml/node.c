#include "ggml/node.h"

#include "base/error.h"

int lbx_ggml_no_recipe(const struct lbx_ggml_node *n, const char *what)
{
	lb_fail("ggml's %s%s%s has no recipe here", n->tensor->op, what ? " of " : "", what ? what : "");
	return LBX_FAIL;
}

int64_t lbx_ggml_ne(const struct lbx_ggml_node *n, int value, int d)
{
	const struct lbx_step *s = value == LBX_FAIL ? NULL : lbx_step(n->r, value);

	return s && d < s->rank ? s->shape[s->rank - 1 - d] : 1;
}

int lbx_ggml_source(struct lbx_ggml_node *n, int source)
{
	int64_t shape[LBX_GGML_AXES] = { 1, 1, 1, 1 };

	if (source >= LBX_GGML_SOURCES || n->sources[source] < 0)
		return lbx_ggml_no_recipe(n, "so few sources");
	int x = lbx_step_input(n->r, n->sources[source]);
	if (x == LBX_FAIL)
		return LBX_FAIL;
	const struct lbx_step *s = lbx_step(n->r, x);
	if (s->rank > LBX_GGML_AXES)
		return lbx_ggml_no_recipe(n, "so many axes");
	for (int i = 0; i < s->rank; i++)
		shape[LBX_GGML_AXES - s->rank + i] = s->shape[i];
	return lbx_step_reshape(n->r, x, LBX_GGML_AXES, shape);
}

int lbx_ggml_source_float(struct lbx_ggml_node *n, int source)
{
	return lbx_step_cast(n->r, lbx_ggml_source(n, source), LB_F32);
}

int lbx_ggml_repeat(struct lbx_ggml_node *n, int value, const int64_t *to)
{
	int64_t apart[2 * LBX_GGML_AXES], shape[LBX_GGML_AXES];
	bool tiles = false;

	if (value == LBX_FAIL)
		return LBX_FAIL;
	struct lbx_step s = *lbx_step(n->r, value);
	if (s.rank != LBX_GGML_AXES)
		return lbx_ggml_no_recipe(n, "such axes");
	__builtin_memcpy(shape, to, sizeof shape); /* it may be that of a step, which moves */
	for (int i = 0; i < LBX_GGML_AXES; i++) {
		if (s.shape[i] == 0 || shape[i] % s.shape[i])
			return lbx_ggml_no_recipe(n, "shapes that do not repeat");
		tiles |= s.shape[i] != 1 && s.shape[i] != shape[i];
	}
	if (!tiles)
		return lbx_step_spread(n->r, value, LBX_GGML_AXES, shape);
	/* each axis as two: the outer one repeats */
	int64_t strides[2 * LBX_GGML_AXES];
	for (int i = 0; i < LBX_GGML_AXES; i++) {
		apart[2 * i] = shape[i] / s.shape[i];
		strides[2 * i] = 0;
		apart[2 * i + 1] = s.shape[i];
		strides[2 * i + 1] = s.strides[i];
	}
	return lbx_step_reshape(n->r, lbx_step_view(n->r, value, 2 * LBX_GGML_AXES, apart, strides, s.offset),
				LBX_GGML_AXES, shape);
}
