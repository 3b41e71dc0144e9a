/* Characters as the patterns of byte-level tokenizers class them. */
#ifndef LLAMA_CLASSES_H
#define LLAMA_CLASSES_H

#include <stdint.h>

enum class { END, LETTER, NUMBER, SPACE, NEWLINE, OTHER }; /* END: there is none */

/* \p{L}, \p{N}, \s, and of that [\r\n]. Letters are what glibc takes for letters in the locale
 * C.UTF-8, less Unicode's numbers, marks and symbols. */
enum class class_of(uint32_t c);

#endif
