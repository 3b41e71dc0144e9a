/* Characters as BERT's uncased models take them: which begin a word of their own, and which letters
 * are left without case and accents. Locale C.UTF-8 must be set. */
#ifndef MINILM_CHARACTERS_H
#define MINILM_CHARACTERS_H

#include <wchar.h>

enum kind {
	KIND_NOTHING, /* control characters, accents, what has no meaning yet: left out */
	KIND_SPACE,
	KIND_ALONE, /* punctuation and ideographs: each is a word */
	KIND_LETTER /* all else */
};

enum { PLAIN_MOST = 3 };

enum kind kind_of(wchar_t c);
/* The letter in lower case, without accents (NFD less the category Mn); a syllable of Hangul as its
 * parts. Returns how many it has become, PLAIN_MOST at most. Accents are told by kind_of(). */
int make_plain(wchar_t c, wchar_t ret[PLAIN_MOST]);

#endif
