/* What queries and keys make of attention. */
#include "scene.h"

enum { HEADS = 4, TOKENS = 48, FEATURES = 64 };

static lb_tensor *heads(uint64_t key, double scale)
{
	lb_tensor *x = lb_random_normal(LB_SHAPE(1, HEADS, TOKENS, FEATURES), LB_F32, lb_key(key));

	return scale == 1 ? x : lb_multiply(x, lb_scalar(scale));
}

static lb_tensor *product(lb_tensor *q, lb_tensor *k)
{
	return lb_matmul(q, lb_transpose(k, LB_AXES(0, 1, 3, 2)));
}

static void keep_weights(lb_tensor *scores)
{
	lb_eval(lb_keep(lb_named("weights", lb_softmax(scores, LB_AXES(-1)))));
}

void play_unscaled(bool sick)
{
	lb_tensor *scores = product(heads(200, 1), heads(201, 1));

	keep_weights(sick ? scores : lb_multiply(scores, lb_scalar(0.125)));
}

/* The factor is on the queries, and there is a mask. */
void play_unscaled_masked(bool sick)
{
	static float mask[TOKENS * TOKENS];

	for (int i = 0; i < TOKENS; i++)
		for (int k = 0; k < TOKENS; k++)
			mask[TOKENS * i + k] = k > i ? -__builtin_inff() : 0;
	lb_tensor *m = lb_from_data(mask, sizeof mask, LB_SHAPE(TOKENS, TOKENS), LB_F32);
	keep_weights(lb_add(product(heads(202, sick ? 1 : 0.125), heads(203, 1)), m));
}

void play_unscaled_fused(bool sick)
{
	lb_tensor *q = heads(204, 1), *k = heads(205, 1), *v = heads(206, 1);

	lb_eval(lb_keep(q), lb_keep(k),
		lb_keep(lb_named("attended", lb_attention(q, k, v, sick ? 1 : 0.125, true, NULL))));
}

void play_collapsed(bool sick)
{
	keep_weights(product(heads(207, sick ? 40 : 0.125), heads(208, 1)));
}

/* Queries that are all zero. */
void play_uniform(bool sick)
{
	lb_tensor *q = lb_add(heads(209, sick ? 0 : 1), lb_scalar(0)), *k = heads(210, 1), *v = heads(211, 1);

	lb_eval(lb_keep(q), lb_keep(k), lb_keep(lb_named("attended", lb_attention(q, k, v, 0.125, false, NULL))));
}

/* The words of a language model are chosen, too, and may be certain. */
void play_certain_words(bool sick)
{
	lb_tensor *hidden = lb_random_normal(LB_SHAPE(1, TOKENS, FEATURES), LB_F32, lb_key(212));

	(void)sick;
	lb_eval(lb_keep(lb_named("words",
				 lb_softmax(lb_matmul(hidden, lb_multiply(normal(FEATURES, 100, 213), lb_scalar(9))),
					    LB_AXES(-1)))));
}
