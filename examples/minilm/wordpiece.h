/* WordPiece, as BERT's uncased models have it: words in lower case without accents, each taken
 * apart into the longest pieces that the vocabulary has, those behind the first marked by "##". */
#ifndef MINILM_WORDPIECE_H
#define MINILM_WORDPIECE_H

#include <stddef.h>
#include <stdint.h>

struct wordpiece;

/* Of a vocab.txt, a token a line, in UTF-8; NULL, having complained. */
struct wordpiece *wordpiece_open(const char *path);
void wordpiece_close(struct wordpiece *w); /* NULL is fine */
int64_t wordpiece_count(const struct wordpiece *w);

/* The tokens of a text between [CLS] and [SEP], as many as there is room for (2 or more): what goes
 * beyond is missing at its end. Returns how many all are. Bytes that are no UTF-8 are left out. */
int64_t wordpiece_encode(struct wordpiece *w, const char *text, size_t nbytes, int32_t *ret,
			 int64_t room);

#endif
