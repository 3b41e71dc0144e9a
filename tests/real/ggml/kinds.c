/* What llama.cpp makes of a model and of texts, to compare with examples/llama. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "operations.h"

enum { TOKENS = 4096 };

/* Of any version: passed on the stack, where the library takes as many bytes as it knows. */
struct any {
	char bytes[1024];
};
struct llama_model;
struct llama_vocab;

static struct llama_model *load(const char *path)
{
	struct any (*params)(void) = NULL;
	struct llama_model *(*open)(const char *, struct any) = NULL;
	void (*begin)(void) = NULL;

	*(void **)&begin = function("llama_backend_init");
	*(void **)&params = function("llama_model_default_params");
	*(void **)&open = function("llama_load_model_from_file");
	begin();
	struct llama_model *model = open(path, params());
	stop_if(!model, "llama could not read the model");
	return model;
}

static const struct llama_vocab *vocabulary_of(const struct llama_model *model)
{
	const struct llama_vocab *(*get)(const struct llama_model *) = NULL;

	*(void **)&get = function("llama_model_get_vocab");
	return get(model);
}

void print_logits(const char *path, const char *ids)
{
	struct any (*params)(void) = NULL, (*batch)(int32_t *, int32_t) = NULL;
	void *(*make)(struct llama_model *, struct any) = NULL;
	int32_t (*decode)(void *, struct any) = NULL, (*size)(const struct llama_vocab *) = NULL;
	const float *(*get)(void *, int32_t) = NULL;
	struct llama_model *model = load(path);

	*(void **)&params = function("llama_context_default_params");
	*(void **)&batch = function("llama_batch_get_one");
	*(void **)&make = function("llama_new_context_with_model");
	*(void **)&decode = function("llama_decode");
	*(void **)&get = function("llama_get_logits_ith");
	*(void **)&size = function("llama_vocab_n_tokens");
	void *context = make(model, params());
	stop_if(!context, "llama could not make a context");
	set_threads(context, getenv("THREADS"));
	int32_t n = size(vocabulary_of(model));
	for (char *end; *ids; ids = *end ? end + 1 : end) {
		int32_t token = (int32_t)strtol(ids, &end, 10);
		stop_if(end == ids, "numbers of tokens are separated by commas");
		stop_if(decode(context, batch(&token, 1)) != 0, "llama could not decode");
		const float *logits = get(context, -1);
		for (int32_t i = 0; i < n; i++)
			printf("%.9g%c", logits[i], i == n - 1 ? '\n' : ' ');
	}
}

void print_tokens(const char *path)
{
	static int32_t tokens[TOKENS];
	int32_t (*encode)(const struct llama_vocab *, const char *, int32_t, int32_t *, int32_t, bool, bool) = NULL;
	const struct llama_vocab *vocabulary = vocabulary_of(load(path));
	char *line = NULL;
	size_t room = 0;

	*(void **)&encode = function("llama_tokenize");
	for (ssize_t got; (got = getline(&line, &room, stdin)) > 0;) {
		int32_t n = encode(vocabulary, line, (int32_t)got - 1, tokens, TOKENS, true, false);
		stop_if(n < 0, "a line of too many tokens");
		for (int32_t i = 0; i < n; i++)
			printf(i ? " %d" : "%d", tokens[i]);
		puts("");
	}
	free(line);
}
