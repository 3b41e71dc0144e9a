/* Windows that move over an input. */
#include "base/error.h"
#include "ggml/parts/element.h"

/* Where a window's place lies along an axis of the input; false: beside it, where there is nothing. Parameters of an axis:
 * how far apart windows are, what is put in front, and how far apart places are. */
static bool window_at(const struct lbx_ggml_element *e, int d, int axis, int64_t window, int64_t place)
{
	int64_t at, further;

	if (!lb_mul(window, e->t->params[axis], &at) || !lb_mul(place, e->t->params[4 + axis], &further) ||
	    !lb_sum_of(at, further, &at) || !lb_sum_of(at, -(int64_t)e->t->params[2 + axis], &at))
		return false;
	lbx_ggml_one_at(e, d, at);
	return at >= 0 && at < e->x->ne[d];
}

/* Rows of channels, each with what lies under the kernel, of which only the sizes matter. */
bool lbx_ggml_part_im2col(struct lbx_ggml_element *e)
{
	struct lbx_ggml_record kernel;
	bool is_plane = e->t->params[6] != 0;

	if (e->source == 0)
		return lbx_ggml_nothing(e);
	if (e->source > 1 || !lbx_ggml_set_read(e->g, e->t->sources[0], &kernel) || kernel.ne[0] < 1 ||
	    kernel.ne[1] < 1)
		return false;
	int64_t across = kernel.ne[0], down = is_plane ? kernel.ne[1] : 1, number = e->at[0];
	bool is_in = window_at(e, 0, 0, e->at[1], number % across);
	if (is_plane)
		is_in &= window_at(e, 1, 1, e->at[2], number / across % down);
	lbx_ggml_one_at(e, is_plane ? 2 : 1, number / across / down);
	lbx_ggml_one_at(e, is_plane ? 3 : 2, e->at[is_plane ? 3 : 2]);
	if (!is_plane)
		lbx_ggml_one_at(e, 3, 0);
	e->ret->nothing = !is_in;
	return true;
}

/* Of each channel, as many states as the kernel has taps. */
bool lbx_ggml_part_ssm_conv(struct lbx_ggml_element *e)
{
	struct lbx_ggml_record taps;

	if (e->t->sources[2] || !lbx_ggml_set_read(e->g, e->t->sources[1], &taps))
		return false;
	for (int d = 0; d < LBX_GGML_AXES; d++)
		lbx_ggml_one_at(e, d, 0);
	lbx_ggml_one_at(e, 1, e->at[0]);
	if (e->source == 1) {
		lbx_ggml_all_of(e, 0);
		return true;
	}
	lbx_ggml_some_at(e, 0, e->at[1], taps.ne[0]);
	lbx_ggml_one_at(e, 2, e->at[2]);
	return true;
}
