#define _GNU_SOURCE /* qsort_r() */
#include "vocabulary.h"

#include <stdlib.h>
#include <string.h>

#include "common/named.h"

struct tokenizer *vocabulary_new(int64_t n)
{
	if (n < 1 || n > TOKENS_MOST) {
		complain("a vocabulary of %lld tokens", (long long)n);
		return NULL;
	}
	struct tokenizer *t = calloc(1, sizeof(*t));
	if (t)
		t->tokens = calloc((size_t)n, sizeof(*t->tokens));
	if (!t || !t->tokens) {
		free(t);
		complain("no memory for a vocabulary of %lld tokens", (long long)n);
		return NULL;
	}
	t->n = n;
	t->bos = UNKNOWN;
	memset(t->byte_tokens, 0xff, sizeof(t->byte_tokens));
	return t;
}

void tokenizer_free(struct tokenizer *t)
{
	if (!t)
		return;
	for (int64_t i = 0; i < t->n; i++)
		free(t->tokens[i].text);
	free(t->tokens);
	free(t->by_text);
	free(t->whole);
	free(t->merges);
	free(t->by_pair);
	free(t);
}

bool vocabulary_set(struct tokenizer *t, int64_t id, const char *text, size_t nbytes, float score,
		    enum token_kind kind)
{
	if (id < 0 || id >= t->n)
		return complain("token %lld is outside a vocabulary of %lld", (long long)id,
				(long long)t->n);
	struct token *token = &t->tokens[id];
	free(token->text);
	*token = (struct token){.text = malloc(nbytes + 1), .nbytes = nbytes, .score = score,
				.kind = kind};
	if (!token->text)
		return complain("no memory for a token of %zu bytes", nbytes);
	memcpy(token->text, text, nbytes);
	token->text[nbytes] = '\0';
	return true;
}

/* ---- finding: FNV-1a, linear probing, at most half full ---- */

static uint64_t hash(const void *bytes, size_t nbytes)
{
	uint64_t h = 14695981039346656037ULL;

	for (size_t i = 0; i < nbytes; i++)
		h = (h ^ ((const unsigned char *)bytes)[i]) * 1099511628211ULL;
	return h ^ h >> 29;
}

static uint32_t *table_new(int64_t n, size_t *size)
{
	*size = 16;
	while (*size < 2 * (size_t)n)
		*size *= 2;
	uint32_t *table = calloc(*size, sizeof(*table));
	if (!table)
		complain("no memory to find %lld tokens or merges", (long long)n);
	return table;
}

/* Where the text is, or would be. */
static uint32_t *text_slot(const struct tokenizer *t, const char *text, size_t nbytes)
{
	for (size_t at = hash(text, nbytes);; at++) {
		uint32_t *slot = &t->by_text[at & (t->by_text_size - 1)];
		const struct token *token = *slot ? &t->tokens[*slot - 1] : NULL;
		if (!token || (token->nbytes == nbytes && memcmp(token->text, text, nbytes) == 0))
			return slot;
	}
}

static int by_length(const void *a, const void *b, void *context)
{
	const struct token *tokens = context;
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	if (tokens[x].nbytes != tokens[y].nbytes)
		return tokens[x].nbytes < tokens[y].nbytes ? 1 : -1;
	return (x > y) - (x < y);
}

static bool list_whole(struct tokenizer *t)
{
	for (int64_t i = 0; i < t->n; i++)
		t->n_whole += t->tokens[i].kind == TOKEN_WHOLE && t->tokens[i].nbytes > 0;
	t->whole = calloc((size_t)t->n_whole + 1, sizeof(*t->whole));
	if (!t->whole)
		return complain("no memory for a list of %lld tokens", (long long)t->n_whole);
	for (int64_t i = 0, n = 0; i < t->n; i++) {
		if (t->tokens[i].kind == TOKEN_WHOLE && t->tokens[i].nbytes > 0)
			t->whole[n++] = (int32_t)i;
	}
	qsort_r(t->whole, (size_t)t->n_whole, sizeof(*t->whole), by_length, t->tokens);
	return true;
}

bool vocabulary_index(struct tokenizer *t)
{
	t->by_text = table_new(t->n, &t->by_text_size);
	for (int64_t i = 0; t->by_text && i < t->n; i++) {
		const struct token *token = &t->tokens[i];
		if (!token->text || token->kind != TOKEN_NORMAL)
			continue;
		uint32_t *slot = text_slot(t, token->text, token->nbytes);
		if (!*slot) /* of two with one text the first counts */
			*slot = (uint32_t)i + 1;
	}
	return t->by_text && list_whole(t);
}

int32_t vocabulary_find(const struct tokenizer *t, const char *text, size_t nbytes)
{
	return (int32_t)*text_slot(t, text, nbytes) - 1;
}

static uint32_t *pair_slot(const struct tokenizer *t, int32_t left, int32_t right)
{
	struct pair pair = {left, right};

	for (size_t at = hash(&pair, sizeof(pair));; at++) {
		uint32_t *slot = &t->by_pair[at & (t->by_pair_size - 1)];
		const struct pair *there = *slot ? &t->merges[*slot - 1] : NULL;
		if (!there || (there->left == left && there->right == right))
			return slot;
	}
}

bool vocabulary_begin_merges(struct tokenizer *t, int64_t n)
{
	if (n < 0 || n > TOKENS_MOST)
		return complain("%lld merges", (long long)n);
	t->merges = calloc((size_t)n + 1, sizeof(*t->merges));
	t->by_pair = table_new(n, &t->by_pair_size);
	return (t->merges && t->by_pair) || complain("no memory for %lld merges", (long long)n);
}

int64_t vocabulary_rank(const struct tokenizer *t, int32_t left, int32_t right)
{
	return (int64_t)*pair_slot(t, left, right) - 1;
}

/* ---- how files write texts ---- */

/* GPT-2 writes a byte that is printable in Latin-1 as that character, the others as those from
 * U+0100 on, in their order (openai/gpt-2, encoder.py, bytes_to_unicode). */
static int byte_of(unsigned letter)
{
	static int16_t others[256];
	static int n;

	if (n == 0) {
		for (int i = 0; i < 256; i++) {
			if (i < 33 || (i > 126 && i < 161) || i == 173)
				others[n++] = (int16_t)i;
		}
	}
	if (letter >= 256)
		return letter - 256 < (unsigned)n ? others[letter - 256] : -1;
	return letter < 33 || (letter > 126 && letter < 161) || letter == 173 ? -1 : (int)letter;
}

bool letters_to_bytes(char *text, size_t *nbytes)
{
	size_t to = 0;

	for (size_t i = 0, n; i < *nbytes; i += n) {
		unsigned letter = (unsigned char)text[i];
		n = utf8_length(text + i, *nbytes - i);
		if (n > 2 || (n == 1 && letter > 127))
			return false;
		if (n == 2)
			letter = (letter & 31) << 6 | ((unsigned char)text[i + 1] & 63);
		int byte = byte_of(letter);
		if (byte < 0)
			return false;
		text[to++] = (char)byte;
	}
	*nbytes = to;
	return true;
}

void marks_to_spaces(char *text, size_t *nbytes)
{
	size_t to = 0;

	for (size_t i = 0; i < *nbytes;) {
		bool mark = *nbytes - i >= 3 && memcmp(text + i, "\xe2\x96\x81",
						       3) == 0; /* U+2581 */
		text[to++] = mark ? ' ' : text[i];
		i += mark ? 3 : 1;
	}
	*nbytes = to;
}

/* The token that half a merge is. */
static int32_t half(const struct tokenizer *t, const char *text, size_t nbytes)
{
	char copy[256];

	if (nbytes > sizeof(copy))
		return UNKNOWN;
	memcpy(copy, text, nbytes);
	if (t->byte_level && !letters_to_bytes(copy, &nbytes))
		return UNKNOWN;
	if (!t->byte_level)
		marks_to_spaces(copy, &nbytes);
	return vocabulary_find(t, copy, nbytes);
}

void vocabulary_add_merge(struct tokenizer *t, const char *text, size_t nbytes)
{
	const char *space = nbytes > 1 ? memchr(text + 1, ' ', nbytes - 1) : NULL;

	if (!space)
		return;
	size_t first = (size_t)(space - text);
	int32_t left = half(t, text, first), right = half(t, space + 1, nbytes - first - 1);
	if (left == UNKNOWN || right == UNKNOWN || *pair_slot(t, left, right))
		return;
	uint32_t *slot = pair_slot(t, left, right);
	t->merges[t->n_merges++] = (struct pair){left, right};
	*slot = (uint32_t)t->n_merges;
}
