/* A vocabulary out of GGUF's metadata (ggml/docs/gguf.md, "Tokenizer"). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/named.h"
#include "vocabulary.h"

enum { TYPE_UNKNOWN = 2, TYPE_CONTROL = 3, TYPE_USER_DEFINED = 4, TYPE_UNUSED = 5,
      TYPE_BYTE = 6 }; /* of llama.h's llama_token_type */

/* tokenizer.ggml.pre: how byte-level tokenizers split words. */
static const struct {
	const char *name;
	int digits;
	bool whole_words;
} splits[] = {
	{"gpt-2", 0, false},  {"llama-bpe", 3, true}, {"llama3", 3, true},
	{"llama-v3", 3, true}, {"qwen2", 1, false},   {"deepseek-r1-qwen", 1, false},
};

static const char *text_of(lb_file *file, const char *key, const char *otherwise)
{
	const char *text = lb_file_metadata(file, key);

	return text ? text : otherwise;
}

static bool yes(lb_file *file, const char *key, bool otherwise)
{
	return strcmp(text_of(file, key, otherwise ? "true" : "false"), "true") == 0;
}

/* Numbers as doubles, if they are there and as many as tokens. */
static double *numbers(lb_file *file, const char *key, int64_t n)
{
	double *values = NULL;

	if (lb_file_metadata_length(file, key) != n)
		return NULL;
	LB_SCOPE {
		lb_tensor *x = lb_astype(lb_file_metadata_tensor(file, key), LB_F64);
		values = x ? malloc((size_t)n * sizeof(*values)) : NULL;
		if (values && !lb_copy_out(x, values, (size_t)n * sizeof(*values))) {
			free(values);
			values = NULL;
		}
	}
	return values;
}

/* "<0x0A>" */
static bool set_byte(struct tokenizer *t, int64_t i, const char *text)
{
	unsigned byte;

	if (sscanf(text, "<0x%2x>", &byte) != 1)
		return complain("token %lld, '%s', says that it is a byte, and is none", (long long)i, text);
	char c = (char)byte;
	t->byte_tokens[byte] = (int32_t)i;
	return vocabulary_set(t, i, &c, 1, 0, TOKEN_BYTE);
}

static bool set_token(struct tokenizer *t, int64_t i, const char *text, size_t nbytes, double type,
		      double score)
{
	char *copy = strndup(text, nbytes);
	bool ok = copy || complain("no memory for a token of %zu bytes", nbytes);

	if (copy && nbytes)
		memcpy(copy, text, nbytes);
	if (ok && type == TYPE_BYTE) {
		ok = set_byte(t, i, copy);
	} else if (ok && (type == TYPE_CONTROL || type == TYPE_UNKNOWN || type == TYPE_UNUSED)) {
		ok = vocabulary_set(t, i, copy, strlen(copy), 0, TOKEN_CONTROL);
	} else if (ok && type == TYPE_USER_DEFINED && !strstr(copy, "\xe2\x96\x81")) {
		ok = vocabulary_set(t, i, copy, nbytes, 0, TOKEN_WHOLE);
	} else if (ok) {
		nbytes = strlen(copy);
		if (t->byte_level)
			letters_to_bytes(copy, &nbytes); /* added tokens may be plain text */
		else
			marks_to_spaces(copy, &nbytes);
		ok = vocabulary_set(t, i, copy, nbytes, (float)score, TOKEN_NORMAL);
	}
	free(copy);
	return ok;
}

static bool read_tokens(lb_file *file, struct tokenizer *t)
{
	double *types = numbers(file, "tokenizer.ggml.token_type", t->n);
	double *scores = numbers(file, "tokenizer.ggml.scores", t->n);
	bool ok = lb_ok();

	if (ok && !t->byte_level && !scores)
		ok = complain("no tokenizer.ggml.scores, one a token");
	for (int64_t i = 0; ok && i < t->n; i++) {
		size_t nbytes;
		const char *text = lb_file_metadata_string(file, "tokenizer.ggml.tokens", i,
							   &nbytes);
		ok = text && set_token(t, i, text, nbytes, types ? types[i] : 1,
				       scores ? scores[i] : 0);
	}
	free(types);
	free(scores);
	return ok && vocabulary_index(t);
}

/* "left right", in GPT-2's letters, in which a space is none */
static bool read_merges(lb_file *file, struct tokenizer *t)
{
	int64_t n = lb_file_metadata_length(file, "tokenizer.ggml.merges");

	if (n < 0)
		return complain("no tokenizer.ggml.merges");
	if (!vocabulary_begin_merges(t, n))
		return false;
	for (int64_t i = 0; i < n; i++) {
		size_t nbytes;
		const char *text = lb_file_metadata_string(file, "tokenizer.ggml.merges", i,
							   &nbytes);
		if (!text)
			return false;
		vocabulary_add_merge(t, text, nbytes);
	}
	return true;
}

static int64_t special(lb_file *file, const char *key)
{
	return strtoll(text_of(file, key, "-1"), NULL, 10);
}

static bool read_split(lb_file *file, struct tokenizer *t)
{
	const char *name = text_of(file, "tokenizer.ggml.pre", "gpt-2");

	for (size_t i = 0; i < sizeof(splits) / sizeof(*splits); i++) {
		if (strcmp(name, splits[i].name) == 0) {
			t->digits = splits[i].digits;
			t->whole_words = splits[i].whole_words;
			return true;
		}
	}
	return complain("'tokenizer.ggml.pre' is '%.64s', none of gpt-2, llama-bpe, qwen2", name);
}

static void read_specials(lb_file *file, struct tokenizer *t)
{
	static const char *const ends[] = {
		"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id",
	};

	t->space_prefix = !t->byte_level && yes(file, "tokenizer.ggml.add_space_prefix", true);
	if (yes(file, "tokenizer.ggml.add_bos_token", !t->byte_level || t->digits == 3))
		t->bos = special(file, "tokenizer.ggml.bos_token_id");
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		if (lb_file_metadata(file, ends[i]))
			tokenizer_add_end(t, special(file, ends[i]));
	}
}

struct tokenizer *tokenizer_from_gguf(lb_file *file)
{
	const char *model = text_of(file, "tokenizer.ggml.model", "none");

	if (strcmp(model, "llama") != 0 && strcmp(model, "gpt2") != 0) {
		complain("the tokenizer is '%s', not llama or gpt2", model);
		return NULL;
	}
	struct tokenizer *t = vocabulary_new(lb_file_metadata_length(file,
		"tokenizer.ggml.tokens"));
	if (!t)
		return NULL;
	t->byte_level = *model == 'g';
	if (read_tokens(file, t) &&
	    (!t->byte_level || (read_split(file, t) && read_merges(file, t)))) {
		read_specials(file, t);
		if (t->bos >= -1 && t->bos < t->n)
			return t;
		complain("tokenizer.ggml.bos_token_id %lld is not a token", (long long)t->bos);
	}
	tokenizer_free(t);
	return NULL;
}
