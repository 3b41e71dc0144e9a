/* When graphs are evaluated: never, too often, one by one. */
#include "scene.h"

enum { TURNS = 700, ROWS = 64 };

static lb_tensor *step(lb_tensor *x, lb_tensor *a)
{
	return lb_add(lb_multiply(lb_tanh(x), a), lb_sin(x));
}

void play_growing_state(bool sick)
{
	lb_tensor *a = lb_keep(normal(ROWS, 3, 1)), *x = lb_keep(normal(ROWS, 3, 2));

	for (int i = 0; i < TURNS; i++) {
		LB_SCOPE {
			lb_replace(&x, step(x, a));
			if (!sick)
				lb_eval(x);
		}
	}
	lb_named("state", x);
}

/* Each turn evaluates its loss, but not the sum of all losses. */
void play_growing_sum(bool sick)
{
	lb_tensor *w = lb_keep(normal(3, 3, 3)), *total = lb_keep(lb_full(LB_SHAPE(1), 0, LB_F32));

	for (int i = 0; i < TURNS; i++) {
		LB_SCOPE {
			lb_tensor *x = normal(ROWS, 3, 100 + (uint64_t)i);
			lb_tensor *loss = lb_mean(lb_square(lb_matmul(x, w)), LB_ALL_AXES, true);
			lb_replace(&total, lb_add(total, lb_reshape(loss, LB_SHAPE(1))));
			lb_eval(sick ? loss : total);
		}
	}
	lb_named("total", total);
}

void play_two_evaluations(bool sick)
{
	lb_tensor *w = lb_keep(normal(3, 3, 4));

	for (int i = 0; i < 100; i++) {
		LB_SCOPE {
			lb_tensor *y = lb_tanh(lb_matmul(normal(ROWS, 3, 200 + (uint64_t)i), w));
			lb_tensor *loss = lb_mean(lb_square(y), LB_ALL_AXES, false);
			lb_tensor *next = lb_multiply(lb_add(w, lb_sin(w)), lb_scalar(0.5));
			if (sick) {
				lb_eval(loss);
				lb_eval(next);
			} else {
				lb_eval(loss, next);
			}
			lb_replace(&w, next);
		}
	}
}

void play_evaluation_in_loop(bool sick)
{
	lb_tensor *x = lb_keep(normal(300, 4, 5)), *rows[300];

	for (int i = 0; i < 300; i++) {
		rows[i] = lb_exp(lb_slice(x, LB_AT(i)));
		if (sick)
			lb_eval(rows[i]);
	}
	lb_keep(lb_named("all", lb_exp(x)));
	lb_eval_n(300, rows);
}

void play_items_in_loop(bool sick)
{
	lb_tensor *x = lb_keep(normal(300, 4, 6)), *y = lb_exp(x);
	double sum = 0;

	lb_eval(y);
	const float *values = sick ? NULL : lb_data(y);
	for (int i = 0; i < 300; i++)
		sum += sick ? lb_item(lb_slice(lb_multiply(x, lb_scalar(2)), LB_AT(i), LB_AT(0))) : values[4 * i];
	lb_keep(lb_named("sum", lb_scalar(sum)));
}

/* A deep model, built and not yet evaluated: its layers are alike, and each has weights of its own. */
void play_layers(bool sick)
{
	lb_tensor *x = normal(8, 16, 7);

	(void)sick;
	for (int i = 0; i < TURNS; i++)
		x = lb_add(x, lb_tanh(lb_matmul(x, lb_keep(normal(16, 16, 300 + (uint64_t)i)))));
	lb_keep(lb_named("logits", x));
}

/* A recurrence over a sequence, built before it is computed. */
void play_recurrence(bool sick)
{
	lb_tensor *w = normal(16, 16, 8), *h = normal(8, 16, 9), *sequence = normal(100, 16, 10);

	(void)sick;
	for (int i = 0; i < 100; i++)
		h = lb_tanh(lb_add(lb_matmul(h, w), lb_slice(sequence, LB_AT(i))));
	lb_keep(lb_named("h", h));
}

/* A training loop that evaluates once a turn and logs its loss. */
void play_training(bool sick)
{
	lb_tensor *w = lb_keep(normal(4, 1, 11));
	double last = 0;

	(void)sick;
	for (int i = 0; i < 200; i++) {
		LB_SCOPE {
			lb_tensor *x = normal(32, 4, 400 + (uint64_t)i);
			lb_tensor *error = lb_matmul(x, w), *loss = lb_mean(lb_square(error), LB_ALL_AXES, false);
			lb_tensor *step = lb_matmul(lb_transpose(x, LB_AXES(1, 0)), error);
			lb_replace(&w, lb_subtract(w, lb_multiply(step, lb_scalar(0.001))));
			lb_eval(w, loss);
			last = lb_item(loss);
		}
	}
	lb_keep(lb_named("last", lb_scalar(last)));
}

/* The state is two tensors that depend on one another, of half precision. */
void play_growing_pair(bool sick)
{
	lb_tensor *x = lb_keep(lb_astype(normal(8, 8, 12), LB_F16)), *v = lb_keep(lb_zeros(LB_SHAPE(8, 8), LB_F16));

	for (int i = 0; i < TURNS; i++) {
		LB_SCOPE {
			lb_replace(&v, lb_subtract(v, lb_multiply(x, lb_scalar(0.1))));
			lb_replace(&x, lb_add(x, v));
			if (!sick)
				lb_eval(x, v);
		}
	}
	lb_named("position", x);
}

void play_three_evaluations(bool sick)
{
	lb_tensor *x = lb_keep(lb_astype(normal(32, 32, 13), LB_F16));

	lb_eval(x);
	for (int i = 0; i < 80; i++) {
		LB_SCOPE {
			lb_tensor *a = lb_exp(lb_matmul(x, x)), *b = lb_softmax(lb_matmul(x, x), LB_AXES(-1));
			lb_tensor *d = lb_sum(lb_tanh(lb_matmul(x, x)), LB_ALL_AXES, false);
			if (sick) {
				lb_eval(a);
				lb_eval(b);
				lb_eval(d);
			} else {
				lb_eval(a, b, d);
			}
		}
	}
}

/* A number is read in the middle of a turn, whose end evaluates the rest. */
void play_read_in_between(bool sick)
{
	lb_tensor *w = lb_keep(normal(16, 16, 14));
	double sum = 0;

	for (int i = 0; i < 80; i++) {
		LB_SCOPE {
			lb_tensor *y = lb_tanh(lb_matmul(normal(8, 16, 500 + (uint64_t)i), w));
			lb_tensor *loss = lb_mean(lb_square(y), LB_ALL_AXES, false);
			lb_tensor *next = lb_multiply(lb_add(w, lb_sin(w)), lb_scalar(0.5));
			if (sick)
				sum += lb_item(loss);
			lb_eval(next, loss);
			sum += sick ? 0 : lb_item(loss);
			lb_replace(&w, next);
		}
	}
	lb_keep(lb_named("sum", lb_scalar(sum)));
}

void play_elements_in_loop(bool sick)
{
	lb_tensor *x = lb_keep(lb_astype(normal(1, 200, 15), LB_F16));

	lb_eval(x);
	for (int i = 0; i < 200; i++) {
		LB_SCOPE {
			lb_tensor *y = lb_sin(lb_slice(x, LB_AT(0), LB_AT(i)));
			if (sick)
				lb_eval(y);
		}
	}
	lb_eval(lb_keep(lb_named("y", lb_sin(x))));
}

void play_copies_in_loop(bool sick)
{
	lb_tensor *x = lb_keep(normal(200, 4, 16)), *y = lb_sqrt(lb_abs(x));
	float row[4], all[800];

	lb_eval(x);
	if (!sick)
		lb_copy_out(y, all, sizeof all);
	for (int i = 0; i < 200 && sick; i++)
		lb_copy_out(lb_slice(y, LB_AT(i)), row, sizeof row);
}
