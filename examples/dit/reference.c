/* The blocks again, by loops over arrays; each part of the modulation is found by its place
 * alone. */
#include "dit.h"

#include <math.h>
#include <string.h>

typedef double hidden[BATCH][TOKENS][WIDTH];

struct weights {
	float modulation[PARTS * WIDTH][WIDTH], modulation_bias[PARTS * WIDTH];
	float qkv[3 * WIDTH][WIDTH], proj[WIDTH][WIDTH], up[HIDDEN][WIDTH], down[WIDTH][HIDDEN];
};

static bool read_weights(const struct block_weights *w, struct weights *ret)
{
	return lb_copy_out(w->modulation, ret->modulation, sizeof(ret->modulation)) &&
	       lb_copy_out(w->modulation_bias, ret->modulation_bias,
			   sizeof(ret->modulation_bias)) &&
	       lb_copy_out(w->qkv, ret->qkv, sizeof(ret->qkv)) &&
	       lb_copy_out(w->proj, ret->proj, sizeof(ret->proj)) &&
	       lb_copy_out(w->up, ret->up, sizeof(ret->up)) &&
	       lb_copy_out(w->down, ret->down, sizeof(ret->down));
}

/* ret = weight x, for a weight of (rows, columns) */
static void project(int rows, int columns, const float *weight, const double *x, double *ret)
{
	for (int i = 0; i < rows; i++) {
		ret[i] = 0;
		for (int j = 0; j < columns; j++)
			ret[i] += (double)weight[i * columns + j] * x[j];
	}
}

static void modulation(const struct weights *w, const float conditioning[BATCH][WIDTH],
		       double parts[STAGES][ELEMENTS])
{
	for (int b = 0; b < BATCH; b++) {
		double x[WIDTH], all[PARTS * WIDTH];
		for (int i = 0; i < WIDTH; i++)
			x[i] = (double)conditioning[b][i] / (1 + exp(-(double)conditioning[b][i]));
		project(PARTS * WIDTH, WIDTH, w->modulation[0], x, all);
		for (int i = 0; i < PARTS * WIDTH; i++)
			parts[i / WIDTH][b * WIDTH + i % WIDTH] =
				all[i] + (double)w->modulation_bias[i];
	}
}

static void norm(const double *x, const double *shift, const double *scale, double *ret)
{
	double mean = 0, variance = 0;

	for (int i = 0; i < WIDTH; i++)
		mean += x[i] / WIDTH;
	for (int i = 0; i < WIDTH; i++)
		variance += (x[i] - mean) * (x[i] - mean) / WIDTH;
	for (int i = 0; i < WIDTH; i++)
		ret[i] = (x[i] - mean) / sqrt(variance + EPSILON) * (1 + scale[i]) + shift[i];
}

static void modulate(const hidden x, const double *shift, const double *scale, hidden ret)
{
	for (int b = 0; b < BATCH; b++)
		for (int t = 0; t < TOKENS; t++)
			norm(x[b][t], shift + b * WIDTH, scale + b * WIDTH, ret[b][t]);
}

/* What one query gathers of its head; qkv are the projections of one sequence. */
static void attend(double qkv[TOKENS][3 * WIDTH], int query, int head, double *ret)
{
	int first = head * HEAD_SIZE;
	double weight[TOKENS], largest = -INFINITY, total = 0;

	for (int t = 0; t < TOKENS; t++) {
		weight[t] = 0;
		for (int d = first; d < first + HEAD_SIZE; d++)
			weight[t] += qkv[query][d] * qkv[t][WIDTH + d] / sqrt(HEAD_SIZE);
		largest = fmax(largest, weight[t]);
	}
	for (int t = 0; t < TOKENS; t++)
		total += weight[t] = exp(weight[t] - largest);
	for (int d = first; d < first + HEAD_SIZE; d++) {
		ret[d] = 0;
		for (int t = 0; t < TOKENS; t++)
			ret[d] += weight[t] / total * qkv[t][2 * WIDTH + d];
	}
}

static void attention(const struct weights *w, const hidden x, hidden ret)
{
	for (int b = 0; b < BATCH; b++) {
		double qkv[TOKENS][3 * WIDTH], heads[WIDTH];
		for (int t = 0; t < TOKENS; t++)
			project(3 * WIDTH, WIDTH, w->qkv[0], x[b][t], qkv[t]);
		for (int t = 0; t < TOKENS; t++) {
			for (int head = 0; head < HEADS; head++)
				attend(qkv, t, head, heads);
			project(WIDTH, WIDTH, w->proj[0], heads, ret[b][t]);
		}
	}
}

static void mlp(const struct weights *w, const hidden x, hidden ret)
{
	for (int b = 0; b < BATCH; b++) {
		for (int t = 0; t < TOKENS; t++) {
			double between[HIDDEN];
			project(HIDDEN, WIDTH, w->up[0], x[b][t], between);
			for (int i = 0; i < HIDDEN; i++) {
				double v = between[i], cubic = v + 0.044715 * v * v * v;
				between[i] = v / 2 * (1 + tanh(sqrt(2 / M_PI) * cubic));
			}
			project(WIDTH, HIDDEN, w->down[0], between, ret[b][t]);
		}
	}
}

static void add_gated(hidden x, const double *gate, const hidden branch)
{
	for (int b = 0; b < BATCH; b++)
		for (int t = 0; t < TOKENS; t++)
			for (int i = 0; i < WIDTH; i++)
				x[b][t][i] += gate[b * WIDTH + i] * branch[b][t][i];
}

static void run_block(const struct weights *w, const float conditioning[BATCH][WIDTH], hidden x,
		      double stages[STAGES][ELEMENTS])
{
	static hidden input, output;

	modulation(w, conditioning, stages);
	modulate(x, stages[ATTENTION_SHIFT], stages[ATTENTION_SCALE], input);
	attention(w, input, output);
	memcpy(stages[ATTENTION_INPUT], input, sizeof(hidden));
	memcpy(stages[ATTENTION_OUTPUT], output, sizeof(hidden));
	add_gated(x, stages[ATTENTION_GATE], output);

	modulate(x, stages[MLP_SHIFT], stages[MLP_SCALE], input);
	mlp(w, input, output);
	memcpy(stages[MLP_INPUT], input, sizeof(hidden));
	memcpy(stages[MLP_OUTPUT], output, sizeof(hidden));
	add_gated(x, stages[MLP_GATE], output);
	memcpy(stages[BLOCK_OUTPUT], x, sizeof(hidden));
}

bool reference_run(const struct model *model, struct reference *ret)
{
	static struct weights weights;
	static hidden x;
	float latents[BATCH][TOKENS][WIDTH], conditioning[BATCH][WIDTH];

	if (!lb_copy_out(model->latents, latents, sizeof(latents)) ||
	    !lb_copy_out(model->conditioning, conditioning, sizeof(conditioning)))
		return false;
	for (int i = 0; i < ELEMENTS; i++)
		((double *)x)[i] = (double)((float *)latents)[i];
	for (int i = 0; i < BLOCKS; i++) {
		if (!read_weights(&model->blocks[i], &weights))
			return false;
		run_block(&weights, conditioning, x, ret->stages[i]);
	}
	return true;
}
