/* A vocabulary out of a tokenizer.json of Hugging Face's tokenizers: byte pairs, over bytes or,
 * with byte_fallback, over characters. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/named.h"
#include "vocabulary.h"

/* Whether a part of the file mentions something, however deep. */
static bool mentions(const json_t *part, const char *what)
{
	char *text = json_dumps(part, JSON_ENCODE_ANY);
	bool found = text && strstr(text, what);

	free(text);
	return found;
}

static bool set_token(struct tokenizer *t, const char *text, size_t nbytes, int64_t id)
{
	unsigned byte;
	char end, *copy = malloc(nbytes + 1);

	if (!copy)
		return complain("no memory for a token of %zu bytes", nbytes);
	memcpy(copy, text, nbytes);
	copy[nbytes] = '\0';
	bool ok;
	if (!t->byte_level && nbytes == 6 && sscanf(copy, "<0x%2x%c", &byte, &end) == 2 &&
	    end == '>') {
		*copy = (char)byte;
		t->byte_tokens[byte] = (int32_t)id;
		ok = vocabulary_set(t, id, copy, 1, 0, TOKEN_BYTE);
	} else {
		if (t->byte_level)
			letters_to_bytes(copy, &nbytes);
		else
			marks_to_spaces(copy, &nbytes);
		ok = vocabulary_set(t, id, copy, nbytes, 0, TOKEN_NORMAL);
	}
	free(copy);
	return ok;
}

/* One more than the largest number. */
static int64_t count_tokens(json_t *vocabulary, json_t *added)
{
	int64_t n = 0;
	const char *text;
	json_t *value;
	size_t i;

	json_object_foreach(vocabulary, text, value)
		n = json_integer_value(value) >= n ? json_integer_value(value) + 1 : n;
	json_array_foreach(added, i, value) {
		int64_t id = json_integer_value(json_object_get(value, "id"));
		n = id >= n ? id + 1 : n;
	}
	return n;
}

static bool read_tokens(struct tokenizer *t, json_t *vocabulary, json_t *added)
{
	const char *text;
	json_t *value;
	size_t i, nbytes;
	bool ok = true;

	json_object_keylen_foreach(vocabulary, text, nbytes, value)
		ok = ok && set_token(t, text, nbytes, json_integer_value(value));
	json_array_foreach(added, i, value) {
		json_t *content = json_object_get(value, "content");
		bool control = json_is_true(json_object_get(value, "special"));
		ok = ok && json_is_string(content) &&
		     vocabulary_set(t, json_integer_value(json_object_get(value, "id")),
				    json_string_value(content),
				    json_string_length(content), 0,
					control ? TOKEN_CONTROL : TOKEN_NORMAL);
	}
	return ok && vocabulary_index(t);
}

/* "left right", or ["left", "right"] */
static bool read_merges(struct tokenizer *t, json_t *merges)
{
	json_t *value;
	size_t i;

	if (!vocabulary_begin_merges(t, (int64_t)json_array_size(merges)))
		return false;
	json_array_foreach(merges, i, value) {
		char both[512];
		const char *left = json_string_value(json_array_get(value, 0));
		const char *right = json_string_value(json_array_get(value, 1));
		int n = json_is_string(value) ? snprintf(both, sizeof(both), "%s",
							 json_string_value(value))
			: left && right ? snprintf(both, sizeof(both), "%s %s", left, right) : 0;
		if (n > 0 && n < (int)sizeof(both))
			vocabulary_add_merge(t, both, (size_t)n);
	}
	return true;
}

static struct tokenizer *build(json_t *root, int64_t bos)
{
	json_t *model = json_object_get(root, "model"),
		*vocabulary = json_object_get(model, "vocab");
	json_t *added = json_object_get(root, "added_tokens");
	const char *type = json_string_value(json_object_get(model, "type"));

	if ((type && strcmp(type, "BPE") != 0) || !json_is_object(vocabulary)) {
		complain("tokenizer.json: the model is %s, not BPE with a vocabulary",
			 type ? type : "unknown");
		return NULL;
	}
	struct tokenizer *t = vocabulary_new(count_tokens(vocabulary, added));
	if (!t)
		return NULL;
	t->byte_level = mentions(json_object_get(root, "pre_tokenizer"), "ByteLevel") ||
			mentions(json_object_get(root, "decoder"), "ByteLevel");
	t->digits = mentions(json_object_get(root, "pre_tokenizer"), "{1,3}") ? 3 : 0;
	t->whole_words = json_is_true(json_object_get(model, "ignore_merges"));
	bool prefix = mentions(json_object_get(root, "normalizer"), "Prepend") ||
		      mentions(json_object_get(root, "pre_tokenizer"), "Metaspace");
	t->space_prefix = prefix && !t->byte_level;
	if (!read_tokens(t, vocabulary, added) ||
	    !read_merges(t, json_object_get(model, "merges"))) {
		tokenizer_free(t);
		return NULL;
	}
	if (bos >= 0 && bos < t->n && t->tokens[bos].text &&
	    mentions(json_object_get(root, "post_processor"), t->tokens[bos].text))
		t->bos = bos;
	return t;
}

struct tokenizer *tokenizer_from_json(const char *path, int64_t bos)
{
	json_error_t error;
	json_t *root = json_load_file(path, 0, &error);

	if (!root) {
		if (error.line > 0)
			complain("%s: line %d: %s", path, error.line, error.text);
		else
			complain("%s: %s", path, error.text);
		return NULL;
	}
	struct tokenizer *t = build(root, bos);
	json_decref(root);
	return t;
}
