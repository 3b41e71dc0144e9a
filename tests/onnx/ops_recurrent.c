/* Recurrent layers, a step at a time, and what turns sequences round. */
#include <string.h>

#include "ops.h"

/* What all layers have: inputs X, W, R, B, sequence_lens, initial_h, with the steps first and a direction first. */
struct layer {
	lb_tensor *x;         /* (steps, batch, inputs) */
	lb_tensor *w, *r;     /* (gates * hidden, inputs), (…, hidden) */
	lb_tensor *bw, *br;   /* (gates * hidden), or zeros */
	lb_tensor *h, *c;     /* (batch, hidden) */
	lb_tensor *lengths;   /* (batch, 1), or NULL: all steps */
	int64_t steps, batch, hidden;
	int gates;
	bool batch_first;
};

static lb_tensor *state(struct onnx_call *c, int i, const struct layer *l)
{
	if (!c->in[i])
		return lb_zeros(LB_SHAPE(l->batch, l->hidden), lb_dtype_of(l->x));
	return lb_reshape(c->in[i], LB_SHAPE(l->batch, l->hidden));
}

static lb_tensor *layer_of(struct onnx_call *c, int gates, struct layer *l)
{
	onnx_int(c, "hidden_size", 0);
	const char *direction = onnx_text(c, "direction", "forward");
	if (strcmp(direction, "forward") != 0)
		return onnx_refuse(c, "direction %s", direction);
	l->batch_first = onnx_int(c, "layout", 0);
	l->x = l->batch_first ? lb_swapaxes(c->in[0], 0, 1) : c->in[0];
	l->gates = gates;
	l->steps = lb_dim(l->x, 0);
	l->batch = lb_dim(l->x, 1);
	l->w = lb_squeeze(c->in[1], LB_AXES(0));
	l->r = lb_squeeze(c->in[2], LB_AXES(0));
	l->hidden = lb_dim(l->r, 1);
	lb_tensor *b =
	    c->in[3] ? lb_squeeze(c->in[3], LB_AXES(0)) : lb_zeros(LB_SHAPE(2 * gates * l->hidden), lb_dtype_of(l->x));
	l->bw = onnx_part(b, 0, 0, gates * l->hidden);
	l->br = onnx_part(b, 0, gates * l->hidden, 2 * gates * l->hidden);
	l->lengths = c->in[4] ? lb_reshape(c->in[4], LB_SHAPE(-1, 1)) : NULL;
	l->h = state(c, 5, l);
	return l->h;
}

static lb_tensor *gate(lb_tensor *all, int k, const struct layer *l)
{
	return onnx_part(all, 1, k * l->hidden, (k + 1) * l->hidden);
}

/* The steps of rnn, gru and lstm: each gives l->h, and l->c. */
static lb_tensor *tanh_step(lb_tensor *x, lb_tensor *h)
{
	return lb_tanh(lb_add(x, h));
}

static lb_tensor *gru_step(struct layer *l, lb_tensor *x, lb_tensor *h, bool linear_first)
{
	lb_tensor *z = lb_sigmoid(lb_add(gate(x, 0, l), gate(h, 0, l))),
		  *r = lb_sigmoid(lb_add(gate(x, 1, l), gate(h, 1, l)));
	lb_tensor *own = gate(h, 2, l);
	if (!linear_first) {
		lb_tensor *of = lb_transpose(onnx_part(l->r, 0, 2 * l->hidden, 3 * l->hidden), LB_ALL_AXES);
		own = lb_add(lb_matmul(lb_multiply(r, l->h), of), onnx_part(l->br, 0, 2 * l->hidden, 3 * l->hidden));
	} else {
		own = lb_multiply(r, own);
	}
	lb_tensor *n = lb_tanh(lb_add(gate(x, 2, l), own));
	return lb_add(lb_multiply(lb_subtract(lb_scalar(1), z), n), lb_multiply(z, l->h));
}

static lb_tensor *lstm_step(struct layer *l, lb_tensor *x, lb_tensor *h, lb_tensor *peepholes)
{
	lb_tensor *all = lb_add(x, h), *in = gate(all, 0, l), *out = gate(all, 1, l), *forget = gate(all, 2, l);
	lb_tensor *p[3] = { NULL };
	for (int k = 0; k < 3 && peepholes; k++)
		p[k] = onnx_part(peepholes, 0, k * l->hidden, (k + 1) * l->hidden);
	in = lb_sigmoid(p[0] ? lb_add(in, lb_multiply(p[0], l->c)) : in);
	forget = lb_sigmoid(p[2] ? lb_add(forget, lb_multiply(p[2], l->c)) : forget);
	l->c = lb_add(lb_multiply(forget, l->c), lb_multiply(in, lb_tanh(gate(all, 3, l))));
	out = lb_sigmoid(p[1] ? lb_add(out, lb_multiply(p[1], l->c)) : out);
	return lb_multiply(out, lb_tanh(l->c));
}

enum kind { RNN, GRU, LSTM };

static lb_tensor *recurrent(struct onnx_call *c, enum kind kind)
{
	static const int gates[] = { [RNN] = 1, [GRU] = 3, [LSTM] = 4 };
	struct layer l = { 0 };
	lb_tensor *steps[ONNX_MOST_VALUES];
	if (!layer_of(c, gates[kind], &l))
		return NULL;
	if (l.steps > ONNX_MOST_VALUES)
		return onnx_refuse(c, "%lld steps", (long long)l.steps);
	bool linear_first = kind == GRU && onnx_int(c, "linear_before_reset", 0);
	lb_tensor *peepholes = kind == LSTM && c->in[7] ? lb_squeeze(c->in[7], LB_AXES(0)) : NULL;
	l.c = kind == LSTM ? state(c, 6, &l) : NULL;
	for (int64_t t = 0; t < l.steps; t++) {
		lb_tensor *x = lb_linear(lb_slice(l.x, LB_AT(t)), l.w, l.bw), *h = lb_linear(l.h, l.r, l.br),
			  *c_before = l.c;
		lb_tensor *next = kind == RNN   ? tanh_step(x, h)
				  : kind == GRU ? gru_step(&l, x, h, linear_first)
						: lstm_step(&l, x, h, peepholes);
		steps[t] = next;
		if (l.lengths) { /* a sequence that has ended stays as it is, and gives zeros */
			lb_tensor *goes_on = lb_greater(l.lengths, lb_scalar_int(t));
			steps[t] = lb_where(goes_on, next, lb_scalar(0));
			next = lb_where(goes_on, next, l.h);
			l.c = l.c ? lb_where(goes_on, l.c, c_before) : NULL;
		}
		l.h = next;
	}
	int direction = l.batch_first ? 1 : 0;
	c->out[1] = lb_expand_dims(l.h, LB_AXES(direction));
	if (kind == LSTM)
		c->out[2] = lb_expand_dims(l.c, LB_AXES(direction));
	lb_tensor *y = lb_stack((int)l.steps, steps, l.batch_first ? 1 : 0);
	return lb_expand_dims(y, LB_AXES(l.batch_first ? 2 : 1));
}

static lb_tensor *rnn(struct onnx_call *c)
{
	return recurrent(c, RNN);
}

static lb_tensor *gru(struct onnx_call *c)
{
	return recurrent(c, GRU);
}

static lb_tensor *lstm(struct onnx_call *c)
{
	return recurrent(c, LSTM);
}

/* Place i of a sequence of n comes from n - 1 - i, as far as that reaches. */
static lb_tensor *reverse_sequence(struct onnx_call *c)
{
	lb_tensor *x = c->in[0];
	int batch = (int)onnx_int(c, "batch_axis", 1), time = (int)onnx_int(c, "time_axis", 0), rank = lb_rank(x);
	int64_t along[LB_MAX_RANK], across[LB_MAX_RANK];
	for (int k = 0; k < rank; k++) {
		along[k] = k == time ? lb_dim(x, k) : 1;
		across[k] = k == batch ? lb_dim(x, k) : 1;
	}
	lb_tensor *at = lb_reshape(onnx_iota(lb_dim(x, time)), (lb_list){ rank, along });
	lb_tensor *n = lb_reshape(c->in[1], (lb_list){ rank, across });
	at = lb_where(lb_less(at, n), lb_subtract(lb_subtract(n, lb_scalar_int(1)), at), at);
	return lb_take_along_axis(x, at, time);
}

const struct onnx_op onnx_recurrent[] = {
	{ "GRU", .run = gru }, { "LSTM", .run = lstm },
	{ "RNN", .run = rnn }, { "ReverseSequence", .run = reverse_sequence },
	{ .name = NULL },
};
