/* The words of byte-level tokenizers. The pattern is GPT-2's, or Llama 3's, which Qwen 2 has, too,
 * but for single digits (openai/gpt-2, encoder.py; llama3, tokenizer.py). Alternatives are tried in
 * order:
 *
 *	's 't 're 've 'm 'll 'd               in Llama 3 in capitals, too
 *	 ?\p{L}+                              Llama 3: [^\r\n\p{L}\p{N}]?\p{L}+
 *	 ?\p{N}+                              Llama 3: \p{N}{1,3}, Qwen 2: \p{N}
 *	 ?[^\s\p{L}\p{N}]+                    Llama 3: and [\r\n]* behind
 *	\s*[\r\n]+                            Llama 3 only
 *	\s+(?!\S) | \s+
 */
#include <string.h>
#include <strings.h>

#include "classes.h"
#include "vocabulary.h"

size_t utf8_length(const char *text, size_t nbytes)
{
	unsigned char first = (unsigned char)*text;
	size_t n = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;

	if (first >= 0xf5 || n > nbytes)
		return 1;
	for (size_t i = 1; i < n; i++) {
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			return 1;
	}
	return n;
}

/* The class of the character at `at`, and where the next is. */
static enum class classify(const char *text, size_t nbytes, size_t at, size_t *next)
{
	static const unsigned char lead[] = {0, 0x7f, 0x1f, 0x0f, 0x07};

	*next = at;
	if (at >= nbytes)
		return END;
	size_t n = utf8_length(text + at, nbytes - at);
	uint32_t c = (unsigned char)text[at] & lead[n];
	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)text[at + i] & 0x3f);
	*next = at + n;
	if (n == 1 && (unsigned char)text[at] > 127)
		return OTHER;
	return class_of(c);
}

static size_t run_of(const char *text, size_t nbytes, size_t at, enum class class, int most)
{
	size_t next;

	for (; most != 0 && classify(text, nbytes, at, &next) == class; most--)
		at = next;
	return at;
}

static size_t contraction(const char *text, size_t nbytes, bool capitals)
{
	static const char *const endings[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		size_t n = strlen(endings[i]);
		if (n <= nbytes && (capitals ? strncasecmp : strncmp)(text, endings[i], n) == 0)
			return n;
	}
	return 0;
}

/* Spaces and newlines from the start. */
static size_t split_spaces(const char *text, size_t nbytes, bool llama3)
{
	size_t at = 0, last = 0, next, lines = 0;

	for (enum class c; c = classify(text, nbytes, at, &next), c == SPACE ||
	     c == NEWLINE; at = next) {
		last = at;
		if (c == NEWLINE)
			lines = next;
	}
	if (llama3 && lines)
		return lines;
	/* the last space belongs to the word behind it */
	return at < nbytes && last > 0 ? last : at;
}

size_t split_word(const char *text, size_t nbytes, int digits)
{
	bool llama3 = digits != 0;
	size_t after, next, n = contraction(text, nbytes, llama3);
	enum class first = classify(text, nbytes, 0, &after),
		second = classify(text, nbytes, after, &next);
	bool space = *text == ' ';

	if (n)
		return n;
	if (first == LETTER)
		return run_of(text, nbytes, 0, LETTER, -1);
	if (second == LETTER && (space || (llama3 && first != NEWLINE && first != NUMBER)))
		return run_of(text, nbytes, after, LETTER, -1);
	if (first == NUMBER)
		return run_of(text, nbytes, 0, NUMBER, llama3 ? digits : -1);
	if (second == NUMBER && space && !llama3)
		return run_of(text, nbytes, after, NUMBER, -1);
	if (first == OTHER || (space && second == OTHER)) {
		size_t at = run_of(text, nbytes, first == OTHER ? 0 : after, OTHER, -1);
		return llama3 ? run_of(text, nbytes, at, NEWLINE, -1) : at;
	}
	return split_spaces(text, nbytes, llama3);
}
