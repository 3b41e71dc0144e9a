/* Text to tokens and back, with the vocabulary that a model brings along: SentencePiece's as GGUF
 * has it (merged by score, bytes for what is unknown), or byte pairs (merged by rank). */
#ifndef LLAMA_TOKENIZER_H
#define LLAMA_TOKENIZER_H

#include "lazybones.h"

struct tokenizer;

/* From the metadata tokenizer.ggml.*, or from a tokenizer.json. NULL, having complained or with a
 * runtime error, if it cannot be used. */
struct tokenizer *tokenizer_from_gguf(lb_file *file);
/* Needs bos (-1: none) from elsewhere; ends are told by tokenizer_add_end(). */
struct tokenizer *tokenizer_from_json(const char *path, int64_t bos);
void tokenizer_free(struct tokenizer *tokenizer); /* NULL is fine */
void tokenizer_add_end(struct tokenizer *tokenizer, int64_t id);

/* The tokens of a text, which the caller frees; *n of them, with what begins every text in front.
 * NULL, having complained, without memory or when a part of the text has no token. */
int32_t *tokenizer_encode(const struct tokenizer *tokenizer, const char *text, size_t nbytes,
			  int64_t *n);
/* A token's bytes, valid as long as the tokenizer; none for control tokens and foreign numbers. */
const char *tokenizer_decode(const struct tokenizer *tokenizer, int64_t id, size_t *nbytes);
/* Whether the text ends with this token. */
bool tokenizer_is_end(const struct tokenizer *tokenizer, int64_t id);
/* Whether every text gets a space in front, which is not part of it. */
bool tokenizer_adds_space(const struct tokenizer *tokenizer);

#endif
