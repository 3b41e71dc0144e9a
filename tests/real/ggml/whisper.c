/* whisper.cpp: a tone is heard, and a word decoded, with a model of make_whisper.py. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "operations.h"

enum { SAMPLES = 16000 }; /* a second */

/* Of any version: passed on the stack, where the library takes as many bytes as it knows. */
struct any_params {
	char bytes[1024];
};

void compute_whisper(const char *model)
{
	struct any_params (*params)(void) = NULL;
	void *(*init)(const char *, struct any_params) = NULL;
	int (*hear)(void *, const float *, int, int) = NULL, (*encode)(void *, int, int) = NULL;
	int (*decode)(void *, const int *, int, int, int) = NULL;
	float *(*logits)(void *) = NULL;
	const int tokens[] = { 3, 1, 2 };
	static float tone[SAMPLES];
	int threads = atoi(getenv("THREADS") ? getenv("THREADS") : "1");

	*(void **)&params = function("whisper_context_default_params");
	*(void **)&init = function("whisper_init_from_file_with_params");
	*(void **)&hear = function("whisper_pcm_to_mel");
	*(void **)&encode = function("whisper_encode");
	*(void **)&decode = function("whisper_decode");
	*(void **)&logits = function("whisper_get_logits");
	for (int i = 0; i < SAMPLES; i++)
		tone[i] = (float)(0.5 * sin(i * 0.17));
	void *whisper = init(model, params());
	stop_if(!whisper, "the model cannot be loaded");
	stop_if(hear(whisper, tone, SAMPLES, threads) != 0, "whisper_pcm_to_mel");
	stop_if(encode(whisper, 0, threads) != 0, "whisper_encode");
	stop_if(decode(whisper, tokens, 3, 0, threads) != 0, "whisper_decode");
	stop_if(!isfinite(logits(whisper)[0]), "the logits are no numbers");
	puts("decoded");
}
