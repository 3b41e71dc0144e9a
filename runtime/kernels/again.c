#include "kernels/again.h"

#include "kernels/layout.h"

static void *take_again(struct lb_exec *exec, int64_t nbytes)
{
	struct lb_again *again = (struct lb_again *)exec;
	if (again->next == LB_AGAIN_PIECES)
		return again->around->scratch(again->around, nbytes);
	int i = again->next++;
	if (!again->pieces[i].memory || again->pieces[i].nbytes < nbytes) {
		again->pieces[i].memory = again->around->scratch(again->around, nbytes);
		again->pieces[i].nbytes = nbytes;
	}
	return again->pieces[i].memory;
}

void lb_again_begin(struct lb_again *again, struct lb_exec *around)
{
	*again = (struct lb_again){ .exec = *around, .around = around };
	again->exec.scratch = take_again;
}

struct lb_exec *lb_again_next(struct lb_again *again)
{
	again->next = 0;
	return &again->exec;
}

struct lb_view lb_matrix_at(const struct lb_view *x, int64_t at)
{
	struct lb_view ret = { .data = x->data, .dtype = x->dtype, .rank = 2 };
	int64_t index[LB_MAX_RANK];
	int axes = x->rank - 2;
	lb_index_of(axes, x->shape, at, index);
	ret.data = (char *)x->data + lb_offset_of(axes, index, x->strides) * lb_width_of(x->dtype);
	for (int i = 0; i < 2; i++) {
		ret.shape[i] = x->shape[axes + i];
		ret.strides[i] = x->strides[axes + i];
	}
	return ret;
}
