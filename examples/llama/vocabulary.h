/* What a tokenizer knows. Texts are bytes as they come out: a space is a space, whatever the file
 * writes for it. */
#ifndef LLAMA_VOCABULARY_H
#define LLAMA_VOCABULARY_H

#include "tokenizer.h"

/* TOKEN_WHOLE: found in a text before all else, as it is. */
enum token_kind { TOKEN_NORMAL, TOKEN_CONTROL, TOKEN_BYTE, TOKEN_WHOLE };
enum { TOKENS_MOST = 1 << 24, ENDS_MOST = 16, UNKNOWN = -1 };

struct token {
	char *text; /* NULL: nothing */
	size_t nbytes;
	float score;
	enum token_kind kind;
};

struct pair {
	int32_t left, right;
};

struct tokenizer {
	int64_t n;
	struct token *tokens;
	uint32_t *by_text; /* open addressing; token + 1, or 0 */
	size_t by_text_size;

	int64_t n_merges; /* by rank; 0: by score */
	struct pair *merges;
	uint32_t *by_pair;
	size_t by_pair_size;

	int64_t n_whole; /* the longest first */
	int32_t *whole;

	int32_t byte_tokens[256]; /* what is written for a byte without a token of its own */
	bool byte_level;          /* begins with bytes, in words; otherwise with characters */
	int digits;               /* how words are split: see split.c */
	bool whole_words;         /* a word that is a token needs no merges */
	bool space_prefix;
	int64_t bos;              /* put in front; -1: none */
	int n_ends;
	int64_t ends[ENDS_MOST];
};

/* One with n empty tokens. */
struct tokenizer *vocabulary_new(int64_t n);
/* Copies the text. */
bool vocabulary_set(struct tokenizer *t, int64_t id, const char *text, size_t nbytes, float score,
		    enum token_kind kind);
/* When all tokens are there: makes them findable. */
bool vocabulary_index(struct tokenizer *t);
/* The normal token with this text, or UNKNOWN. */
int32_t vocabulary_find(const struct tokenizer *t, const char *text, size_t nbytes);
/* Room for n merges; then each, in order of rank: "left right", as files write them. One of what is
 * no token is skipped. */
bool vocabulary_begin_merges(struct tokenizer *t, int64_t n);
void vocabulary_add_merge(struct tokenizer *t, const char *text, size_t nbytes);
/* The rank of a merge, or -1. */
int64_t vocabulary_rank(const struct tokenizer *t, int32_t left, int32_t right);

/* The text in GPT-2's letters for bytes as bytes, in place; false if it holds another character. */
bool letters_to_bytes(char *text, size_t *nbytes);
/* SentencePiece's mark for a space as a space, in place. */
void marks_to_spaces(char *text, size_t *nbytes);

/* split.c: bytes of the first word of a text, not empty, as byte-level tokenizers split it: in
 * GPT-2's way (digits 0), or in Llama 3's, with numbers of so many digits at most. */
size_t split_word(const char *text, size_t nbytes, int digits);
/* Bytes of the UTF-8 character at the start, 1 if it is none. */
size_t utf8_length(const char *text, size_t nbytes);

#endif
