/* Encoding begins with characters or bytes and merges neighbours, the best pair first: the one
 * whose union has the highest score, or the lowest rank; the leftmost of equals. */
#define _GNU_SOURCE /* memmem() */
#include "tokenizer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/named.h"
#include "vocabulary.h"

/* A stretch of the text, which may be a token. */
struct symbol {
	size_t at, nbytes;
	int32_t token;   /* or UNKNOWN */
	double with_next; /* how good merging it with the next is; -INFINITY: not at all */
};

struct encoder {
	const struct tokenizer *t;
	char *text; /* what is being encoded, maybe behind a space */
	int64_t n;
	struct symbol *symbols;
	int64_t n_out, room;
	int32_t *out;
};

static double goodness(const struct encoder *e, int64_t i)
{
	const struct tokenizer *t = e->t;
	const struct symbol *a = &e->symbols[i], *b = a + 1;

	if (i + 1 >= e->n)
		return -INFINITY;
	if (t->by_pair) {
		int64_t rank = a->token == UNKNOWN || b->token == UNKNOWN ? -1
			: vocabulary_rank(t, a->token, b->token);
		return rank < 0 ? -INFINITY : -(double)rank;
	}
	int32_t both = vocabulary_find(t, e->text + a->at, a->nbytes + b->nbytes);
	return both == UNKNOWN ? -INFINITY : (double)t->tokens[both].score;
}

static void merge(struct encoder *e, int64_t i)
{
	struct symbol *a = &e->symbols[i];

	a->nbytes += a[1].nbytes;
	a->token = vocabulary_find(e->t, e->text + a->at, a->nbytes);
	e->n--;
	memmove(a + 1, a + 2, (size_t)(e->n - i - 1) * sizeof(*a));
	a->with_next = goodness(e, i);
	if (i > 0)
		a[-1].with_next = goodness(e, i - 1);
}

static bool put(struct encoder *e, int32_t token)
{
	if (e->n_out == e->room) {
		int64_t room = 2 * e->room + 64;
		int32_t *grown = realloc(e->out, (size_t)room * sizeof(*grown));
		if (!grown)
			return complain("no memory for %lld tokens", (long long)room);
		e->out = grown;
		e->room = room;
	}
	e->out[e->n_out++] = token;
	return true;
}

static bool put_symbol(struct encoder *e, const struct symbol *s)
{
	bool ok = true;

	if (s->token != UNKNOWN)
		return put(e, s->token);
	for (size_t i = 0; ok && i < s->nbytes; i++) {
		unsigned char byte = (unsigned char)e->text[s->at + i];
		int32_t token = e->t->byte_tokens[byte];
		ok = token == UNKNOWN ? complain("the vocabulary has no token for the byte 0x%02x",
						 byte)
				      : put(e, token);
	}
	return ok;
}

/* The tokens of one word. */
static bool encode_word(struct encoder *e, size_t from, size_t to)
{
	e->n = 0;
	for (size_t at = from, n; at < to; at += n) {
		n = e->t->byte_level ? 1 : utf8_length(e->text + at, to - at);
		e->symbols[e->n++] = (struct symbol){at, n, vocabulary_find(e->t, e->text + at, n),
						     0};
	}
	for (int64_t i = 0; i < e->n; i++)
		e->symbols[i].with_next = goodness(e, i);
	while (e->n > 1) {
		int64_t best = 0;
		for (int64_t i = 1; i < e->n; i++) {
			if (e->symbols[i].with_next > e->symbols[best].with_next)
				best = i;
		}
		if (e->symbols[best].with_next == -INFINITY)
			break;
		merge(e, best);
	}
	bool ok = true;
	for (int64_t i = 0; ok && i < e->n; i++)
		ok = put_symbol(e, &e->symbols[i]);
	return ok;
}

/* What has no whole tokens in it. */
static bool encode_words(struct encoder *e, const char *text, size_t nbytes)
{
	const struct tokenizer *t = e->t;
	bool ok = true, prefix = t->space_prefix && nbytes;

	e->text[0] = ' ';
	memcpy(e->text + prefix, text, nbytes);
	nbytes += prefix;
	if (!t->byte_level)
		marks_to_spaces(e->text, &nbytes);
	for (size_t at = 0, n; ok && at < nbytes; at += n) {
		n = t->byte_level ? split_word(e->text + at, nbytes - at, t->digits) : nbytes - at;
		int32_t word = t->whole_words ? vocabulary_find(t, e->text + at, n) : UNKNOWN;
		ok = word == UNKNOWN ? encode_word(e, at, at + n) : put(e, word);
	}
	return ok;
}

/* Whole tokens from number `first` on: wherever the longest is, then the others between. */
static bool encode(struct encoder *e, const char *text, size_t nbytes, int64_t first)
{
	const struct tokenizer *t = e->t;
	const char *end = text + nbytes, *at = NULL;
	bool ok = true;

	for (; ok && first < t->n_whole && text < end; first++) {
		int32_t id = t->whole[first];
		const struct token *token = &t->tokens[id];
		while (ok && (at = memmem(text, (size_t)(end - text), token->text,
					  token->nbytes))) {
			ok = encode(e, text, (size_t)(at - text), first + 1) && put(e, id);
			text = at + token->nbytes;
		}
	}
	return ok && encode_words(e, text, (size_t)(end - text));
}

int32_t *tokenizer_encode(const struct tokenizer *t, const char *text, size_t nbytes, int64_t *n)
{
	struct encoder e = {.t = t, .text = malloc(nbytes + 2)};

	e.symbols = calloc(nbytes + 2, sizeof(*e.symbols));
	bool ok = (e.text && e.symbols) || complain("no memory for a text of %zu bytes", nbytes);
	/* a place to begin, even without a token */
	ok = ok && (t->bos == UNKNOWN || put(&e, (int32_t)t->bos)) && encode(&e, text, nbytes, 0) &&
	     (e.out || (e.out = calloc(1, sizeof(*e.out))));
	free(e.text);
	free(e.symbols);
	*n = e.n_out;
	if (ok)
		return e.out;
	free(e.out);
	return NULL;
}

const char *tokenizer_decode(const struct tokenizer *t, int64_t id, size_t *nbytes)
{
	*nbytes = 0;
	if (id < 0 || id >= t->n || !t->tokens[id].text || t->tokens[id].kind == TOKEN_CONTROL)
		return "";
	*nbytes = t->tokens[id].nbytes;
	return t->tokens[id].text;
}

void tokenizer_add_end(struct tokenizer *t, int64_t id)
{
	if (t->n_ends < ENDS_MOST)
		t->ends[t->n_ends++] = id;
}

bool tokenizer_is_end(const struct tokenizer *t, int64_t id)
{
	for (int i = 0; i < t->n_ends; i++) {
		if (t->ends[i] == id)
			return true;
	}
	return false;
}

bool tokenizer_adds_space(const struct tokenizer *t)
{
	return t->space_prefix;
}
