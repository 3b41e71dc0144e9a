/* The model again, by loops over arrays: every token attends to all up to itself, so
 * that there is no cache, no mask and no layout to get wrong. */
#include "attention.h"

#include <math.h>

typedef float matrix[WIDTH][WIDTH];

struct weights {
	float embedding[VOCABULARY][WIDTH];
	struct { matrix wq, wk, wv, wo; } layers[LAYERS];
};

static bool read_weights(const struct model *model, struct weights *ret)
{
	bool ok = lb_copy_out(model->embedding, ret->embedding, sizeof(ret->embedding));

	for (int i = 0; i < LAYERS; i++) {
		const struct layer *layer = &model->layers[i];
		ok &= lb_copy_out(layer->wq, ret->layers[i].wq, sizeof(matrix));
		ok &= lb_copy_out(layer->wk, ret->layers[i].wk, sizeof(matrix));
		ok &= lb_copy_out(layer->wv, ret->layers[i].wv, sizeof(matrix));
		ok &= lb_copy_out(layer->wo, ret->layers[i].wo, sizeof(matrix));
	}
	return ok;
}

static void project(const double x[WIDTH], const matrix w, double ret[WIDTH])
{
	for (int j = 0; j < WIDTH; j++) {
		ret[j] = 0;
		for (int i = 0; i < WIDTH; i++)
			ret[j] += x[i] * (double)w[i][j];
	}
}

/* What head `head` of the token at `at` gathers from the tokens up to itself. */
static void attend(int head, int at, double q[TOKENS][WIDTH], double k[TOKENS][WIDTH],
		   double v[TOKENS][WIDTH], double ret[WIDTH])
{
	int first = head * HEAD_SIZE;
	double weight[TOKENS], largest = -INFINITY, total = 0;

	for (int t = 0; t <= at; t++) {
		weight[t] = 0;
		for (int d = first; d < first + HEAD_SIZE; d++)
			weight[t] += q[at][d] * k[t][d] / sqrt(HEAD_SIZE);
		largest = fmax(largest, weight[t]);
	}
	for (int t = 0; t <= at; t++)
		total += weight[t] = exp(weight[t] - largest);
	for (int d = first; d < first + HEAD_SIZE; d++) {
		ret[d] = 0;
		for (int t = 0; t <= at; t++)
			ret[d] += weight[t] / total * v[t][d];
	}
}

static void run_sequence(const struct weights *weights, const int32_t tokens[TOKENS],
			 double x[TOKENS][WIDTH])
{
	double q[TOKENS][WIDTH], k[TOKENS][WIDTH], v[TOKENS][WIDTH];

	for (int t = 0; t < TOKENS; t++)
		for (int i = 0; i < WIDTH; i++)
			x[t][i] = (double)weights->embedding[tokens[t]][i];
	for (int i = 0; i < LAYERS; i++) {
		for (int t = 0; t < TOKENS; t++) {
			project(x[t], weights->layers[i].wq, q[t]);
			project(x[t], weights->layers[i].wk, k[t]);
			project(x[t], weights->layers[i].wv, v[t]);
		}
		for (int t = 0; t < TOKENS; t++) {
			double heads[WIDTH], output[WIDTH];
			for (int head = 0; head < HEADS; head++)
				attend(head, t, q, k, v, heads);
			project(heads, weights->layers[i].wo, output);
			for (int j = 0; j < WIDTH; j++)
				x[t][j] += output[j];
		}
	}
}

bool reference_compare(const struct model *model, const struct run *run, struct difference *ret)
{
	static struct weights weights;

	*ret = (struct difference){0};
	if (!read_weights(model, &weights))
		return false;
	for (int b = 0; b < BATCH; b++) {
		double x[TOKENS][WIDTH];
		run_sequence(&weights, run->tokens[b], x);
		for (int t = 0; t < TOKENS; t++) {
			for (int i = 0; i < WIDTH; i++) {
				double by = fabs(x[t][i] - (double)run->activations[b][t][i]);
				if (!isnan(ret->by) && !(by <= ret->by)) /* a NaN is worst */
					*ret = (struct difference){by, b, t, i};
			}
		}
	}
	return true;
}
