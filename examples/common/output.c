#include "common/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/named.h"

/* ---- in the end ---- */

static double rate(int64_t n, double seconds)
{
	return seconds > 0 ? (double)n / seconds : 0;
}

/* The first token counts as the prompt's: reading the prompt gives it. */
static double writing_rate(const struct timing *t)
{
	return rate(t->tokens > 1 ? t->tokens - 1 : 0, t->writing);
}

static void print_timing(FILE *to, const struct timing *t)
{
	fprintf(to, "First call: %.1f ms\n", t->first_call * 1e3);
	fprintf(to, "Prompt: %lld tokens, %.1f tokens/s\n", (long long)t->prompt_tokens,
		rate(t->prompt_tokens, t->prompt));
	fprintf(to, "Generation: %lld tokens, %.1f tokens/s\n", (long long)t->tokens,
		writing_rate(t));
	fprintf(to, "Peak memory: %.1f MiB\n", (double)t->peak_memory / (1 << 20));
}

/* The length of the UTF-8 sequence that the text begins with; 0 if it begins with none. */
static size_t sequence(const unsigned char *text, size_t n)
{
	size_t length = *text < 0x80 ? 1 : *text >= 0xc2 && *text < 0xe0 ? 2 : *text >= 0xe0 &&
		*text < 0xf0 ? 3
		: *text >= 0xf0 && *text < 0xf5 ? 4 : 0;

	if (length > n)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	}
	bool overlong = (*text == 0xe0 && text[1] < 0xa0) || (*text == 0xf0 && text[1] < 0x90);
	bool beyond = (*text == 0xed && text[1] > 0x9f) || (*text == 0xf4 && text[1] > 0x8f);
	return overlong || beyond ? 0 : length;
}

static void print_string(FILE *to, const char *text, size_t nbytes)
{
	fputc('"', to);
	for (size_t i = 0, n; i < nbytes; i += n) {
		const unsigned char *c = (const unsigned char *)text + i;
		n = sequence(c, nbytes - i);
		if (n == 0) {
			fputs("\\ufffd", to);
			n = 1;
		} else if (*c < ' ') {
			fprintf(to, "\\u%04x", *c);
		} else {
			if (*c == '"' || *c == '\\')
				fputc('\\', to);
			fwrite(c, 1, n, to);
		}
	}
	fputc('"', to);
}

static void print_json(FILE *to, const struct output *output, const struct timing *t)
{
	fputs("{\"text\": ", to);
	print_string(to, output->text, output->nbytes);
	fputs(", \"ids\": [", to);
	for (int64_t i = 0; i < output->n; i++)
		fprintf(to, i ? ", %lld" : "%lld", (long long)output->ids[i]);
	fprintf(to, "], \"first_call_ms\": %.3f, \"prompt_tokens\": %lld, \"prompt_tps\": %.3f",
		t->first_call * 1e3, (long long)t->prompt_tokens,
			rate(t->prompt_tokens, t->prompt));
	fprintf(to,
		", \"generation_tokens\": %lld, \"generation_tps\": %.3f, \"peak_memory\": %llu}\n",
		(long long)t->tokens, writing_rate(t), (unsigned long long)t->peak_memory);
}

/* ---- as it comes ---- */

static bool reserve(void **list, int64_t *room, int64_t wanted, size_t width)
{
	if (wanted <= *room)
		return true;
	void *grown = realloc(*list, (size_t)wanted * 2 * width);
	if (!grown)
		return complain("no memory for what is written");
	*list = grown;
	*room = wanted * 2;
	return true;
}

bool output_put(struct output *output, int64_t id, const char *text, size_t nbytes)
{
	if (!reserve((void **)&output->ids, &output->ids_room, output->n + 1,
		     sizeof(*output->ids)) ||
	    !reserve((void **)&output->text, &output->text_room,
		     (int64_t)(output->nbytes + nbytes + 1), 1))
		return false;
	output->ids[output->n++] = id;
	memcpy(output->text + output->nbytes, text, nbytes);
	output->nbytes += nbytes;
	if (output->json)
		return true;
	fwrite(text, 1, nbytes, stdout);
	return fflush(stdout) == 0 || complain("stdout: %s", strerror(errno));
}

bool output_end(struct output *output, const struct timing *timing)
{
	if (ferror(stdout))
		return false; /* output_put() has said why */
	if (output->json) {
		print_json(stdout, output, timing);
	} else {
		putchar('\n');
		fflush(stdout);
		print_timing(stderr, timing);
	}
	return (fflush(stdout) == 0 && !ferror(stdout)) || complain("stdout: %s", strerror(errno));
}

void output_free(struct output *output)
{
	free(output->text);
	free(output->ids);
	*output = (struct output){0};
}
