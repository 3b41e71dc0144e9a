#include <math.h>
#include <stdlib.h>

#include "common/named.h"
#include "train.h"

/* ---- the weights ---- */

static bool count(void *context, const struct place *place)
{
	++*(int *)context;
	(void)place;
	return true;
}

/* A norm begins with ones, a matrix with what leaves the size of its input as it is; what adds to
 * the residual stream begins smaller, the more layers there are. */
static lb_tensor *first_weight(const struct training *training, const struct place *place)
{
	lb_random_key key = lb_key_split(lb_key(training->options->seed), (uint64_t)training->n);
	double deviation = 1 / sqrt((double)place->inputs);

	if (!place->linear)
		return lb_ones(LB_SHAPE(place->outputs), LB_F32);
	const struct layer *layers = training->model.layers;
	for (int64_t i = 0; i < training->options->layers; i++) {
		if (place->linear == &layers[i].o || place->linear == &layers[i].down)
			deviation /= sqrt(2 * (double)training->options->layers);
	}
	lb_tensor *x = lb_random_normal(LB_SHAPE(place->outputs, place->inputs), LB_F32, key);
	return lb_multiply(x, lb_scalar(deviation));
}

/* The embedding serves as output too, so there is no place for that. */
static bool add(void *context, const struct place *place)
{
	struct training *training = context;

	if (place->optional)
		return true;
	lb_tensor *weight = first_weight(training, place);
	if (!weight)
		return false;
	training->places[training->n] = place->linear ? &place->linear->weight : place->norm;
	training->weights[training->n] = lb_keep(named(weight, "%s", place->name));
	training->n++;
	return true;
}

bool training_init(struct training *training, const struct options *options)
{
	struct config config = {
		.width = options->width * HEAD_SIZE, .layers = options->layers,
			.heads = options->width,
		.kv_heads = options->width, .head_size = HEAD_SIZE,
			.hidden = options->width * HEAD_SIZE * 3,
		.context = options->context, .epsilon = 1e-5, .rope = {.base = 10000, .scale = 1},
	};
	int places = 0;
	bool ok = false;

	*training = (struct training){.options = options};
	if (!text_read(&training->text, options->text, options->context))
		return false;
	config.vocabulary = training->text.alphabet.n;
	if (!config_check(&config) || !model_init(&training->model, &config))
		return false;
	model_visit(&training->model, count, &places);
	training->weights = calloc((size_t)places, sizeof(*training->weights));
	training->gradients = calloc((size_t)places, sizeof(*training->gradients));
	training->places = calloc((size_t)places, sizeof(*training->places));
	if (!training->weights || !training->gradients || !training->places)
		return complain("no memory for %d weights", places);
	LB_SCOPE
		ok = model_visit(&training->model, add, training) &&
			lb_eval_n(training->n, training->weights);
	return ok;
}

void training_release(struct training *training)
{
	for (int i = 0; i < training->n; i++)
		lb_release(training->weights[i]);
	lb_release(training->mean);
	free(training->weights);
	free(training->gradients);
	free(training->places);
	free(training->model.layers); /* of the weights it keeps none */
	free(training->text.tokens);
	*training = (struct training){0};
}

int64_t training_size(const struct training *training)
{
	int64_t total = 0;

	for (int i = 0; i < training->n; i++)
		total += lb_size(training->weights[i]);
	return total;
}

void training_restore(struct training *training)
{
	for (int i = 0; i < training->n; i++)
		*training->places[i] = training->weights[i];
}

/* ---- the loss ---- */

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* Rows from random places, and as targets the same one token further on. */
void training_draw(struct training *training, const struct stretch *from, uint64_t step)
{
	int64_t batch = training->options->batch, context = training->options->context;
	lb_tensor *rows[2][batch];

	for (int64_t b = 0; b < batch; b++) {
		uint64_t draw = step * (uint64_t)batch + (uint64_t)b + 1;
		uint64_t number = mix(training->options->seed * 0x9e3779b97f4a7c15ULL + draw);
		int64_t at = (int64_t)(number % (uint64_t)(from->n - context - 1));
		for (int k = 0; k < 2; k++)
			rows[k][b] = lb_from_data(from->tokens + at + k,
						  (size_t)context * sizeof(int32_t),
						  LB_SHAPE(context), LB_I32);
	}
	training->inputs = lb_named("inputs", lb_stack((int)batch, rows[0], 0));
	training->targets = lb_named("targets", lb_stack((int)batch, rows[1], 0));
}

bool training_loss(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	struct training *training = context;

	(void)n_out;
	for (int i = 0; i < n_in; i++)
		*training->places[i] = in[i];
	lb_tensor *logits = model_forward(&training->model, training->inputs, NULL, false);
	lb_tensor *of_target = lb_take_along_axis(logits,
						  lb_expand_dims(training->targets, LB_AXES(-1)),
							-1);
	lb_tensor *surprise = lb_subtract(lb_logsumexp(logits, LB_AXES(-1), true), of_target);
	out[0] = lb_mean(surprise, LB_ALL_AXES, false);
	return out[0] != NULL;
}

double training_evaluate(struct training *training)
{
	enum { ROUNDS = 4 };
	double total = 0;

	for (int i = 0; i < ROUNDS; i++) {
		LB_SCOPE {
			lb_tensor *loss;
			training_draw(training, &training->text.held_out, (uint64_t)i);
			if (training_loss(training, training->n, training->weights, 1, &loss))
				total += lb_item(loss);
		}
	}
	return total / ROUNDS;
}
