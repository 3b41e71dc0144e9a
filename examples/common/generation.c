/* The writing is a pipeline. A token is a tensor that the next step takes as it is, so the next
 * step can be described, and set to work, before anyone knows which token it is:
 *
 *	next = step(token)       describe
 *	lb_async_eval(next)      set to work, behind what `token` still needs
 *	lb_eval(token)           wait for the token before
 *
 * and while its text is shown, the machine computes. Reading the token first (`waits`) leaves the
 * machine idle meanwhile. */
#include "common/generation.h"

#include <stdlib.h>
#include <time.h>

#include "common/named.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What has been read and written, where there is no cache. */
struct history {
	lb_tensor *tokens; /* (1, length), kept */
};

struct run {
	const struct model *model;
	const struct generation *how;
	struct cache cache;
	struct history history;
	uint64_t steps;
};

/* The token after `tokens`, (1, 1), described only; the caller releases it. NULL on error. */
static lb_tensor *step(struct run *run, lb_tensor *tokens)
{
	lb_tensor *next = NULL;

	LB_SCOPE {
		struct cache *cache = &run->cache;
		if (run->how->without_cache) {
			lb_tensor *past = run->history.tokens;
			if (past)
				tokens = lb_concatenate(2, (lb_tensor *[]){past, tokens}, 1);
			tokens = lb_replace(&run->history.tokens, tokens);
			cache = NULL;
		}
		lb_tensor *logits = model_forward(run->model, tokens, cache, true);
		next = sample(&run->how->sampling, logits, run->steps++);
		if (next)
			lb_keep(next);
	}
	return next;
}

static double first_call(const struct model *model)
{
	double began = now();

	LB_SCOPE
		lb_eval(model_forward(model, lb_zeros(LB_SHAPE(1, 1), LB_I32), NULL, true));
	return now() - began;
}

static int64_t most_tokens(const struct run *run, int64_t prompt)
{
	int64_t room = run->model->config.context - prompt;

	return run->how->most < room ? run->how->most : room;
}

/* Takes over the first token. */
static bool write_tokens(struct run *run, lb_tensor *token, int64_t most, generation_sink *sink,
			 void *context, int64_t *written)
{
	bool more = token != NULL;

	for (*written = 0; more && *written < most;) {
		bool last = *written + 1 == most;
		int64_t value = run->how->waits ? lb_item_int(token) : 0;
		lb_tensor *next = last ? NULL : step(run, token);
		if (!run->how->waits) {
			if (next)
				lb_async_eval(next);
			value = lb_eval(token) ? lb_item_int(token) : 0;
		}
		lb_release(token);
		token = next;
		more = lb_ok() && sink(context, value) && !last;
		++*written;
	}
	lb_release(token);
	return lb_ok();
}

bool generate(const struct model *model, const struct generation *how, const int32_t *prompt,
	      int64_t n, generation_sink *sink, void *context, struct timing *ret)
{
	struct run run = {.model = model, .how = how};

	*ret = (struct timing){.prompt_tokens = n};
	int64_t most = most_tokens(&run, n);
	if (most < 0)
		return complain("the prompt has %lld tokens, the model's context holds %lld",
				(long long)n,
				(long long)model->config.context);
	if (!cache_init(&run.cache, model->config.layers))
		return false;
	ret->first_call = first_call(model);

	double began = now();
	lb_tensor *token = NULL;
	LB_SCOPE
		token = step(&run, lb_from_data(prompt, (size_t)n * sizeof(*prompt), LB_SHAPE(1, n),
						LB_I32));
	bool ok = token && lb_eval(token);
	ret->prompt = now() - began;

	began = now();
	ok &= write_tokens(&run, token, most, sink, context, &ret->tokens);
	ret->writing = now() - began;
	ret->peak_memory = lb_peak_memory();
	cache_release(&run.cache);
	lb_release(run.history.tokens);
	return ok;
}
