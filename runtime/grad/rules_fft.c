/* Fourier transforms: the adjoint of each is its inverse, which is divided where it is not, and the other way round. */
#include "grad/rule.h"

static lb_fft_norm other_norm(lb_fft_norm norm)
{
	return norm == LB_FFT_BACKWARD ? LB_FFT_FORWARD : norm == LB_FFT_FORWARD ? LB_FFT_BACKWARD : norm;
}

/* half, along the axis n numbers of which half is there: those that stand for two times the factor. */
static struct lb_tensor *with_halves(struct lb_tensor *half, int axis, int64_t n, double factor)
{
	int64_t shape[LB_MAX_RANK];
	for (int i = 0; i < half->rank; i++)
		shape[i] = i == axis ? half->shape[i] : 1;
	struct lb_tensor *k =
	    lb_reshape(lb_arange(0, (double)half->shape[axis], 1, LB_I64), (lb_list){ half->rank, shape });
	struct lb_tensor *single = lb_logical_or(lb_equal(k, lb_scalar_int(0)),
						 lb_greater_equal(lb_multiply(k, lb_scalar_int(2)), lb_scalar_int(n)));
	return lb_multiply(half, lb_where(single, lb_scalar(1), lb_scalar(factor)));
}

bool lb_rule_fft(const struct lb_vjp *v)
{
	struct lb_tensor *x = lb_vjp_input(v, 0), *d;
	int64_t axes[LB_MAX_RANK];
	int count = 0, last = (int)v->t->params[1];
	lb_fft_norm norm = other_norm((lb_fft_norm)v->t->params[3]);
	for (int i = 0; i < x->rank; i++)
		if (i != last && v->t->params[0] >> i & 1)
			axes[count++] = i;
	axes[count++] = last;
	lb_list along = { count, axes };
	switch (v->t->op) {
	case LB_OP_FFT: return lb_vjp_give(v, 0, lb_ifftn(v->g, LB_SHAPE(), along, norm));
	case LB_OP_IFFT: return lb_vjp_give(v, 0, lb_fftn(v->g, LB_SHAPE(), along, norm));
	case LB_OP_IRFFT:
		d = lb_rfftn(v->g, LB_SHAPE(), along, norm);
		return d && lb_vjp_give(v, 0, with_halves(d, last, v->t->shape[last], 2));
	default:
		d = with_halves(v->g, last, x->shape[last], 0.5);
		int64_t sizes[LB_MAX_RANK] = { 0 };
		sizes[count - 1] = x->shape[last];
		return lb_vjp_give(v, 0, lb_irfftn(d, (lb_list){ count, sizes }, along, norm));
	}
}
