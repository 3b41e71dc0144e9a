/* From the middle of 2025 on ggml_abort() puts its message together in a variable of its own: "FILE:LINE: " and what it
 * was given. Older ones print it piece by piece, and nothing is left of it. */
#include "ggml/message.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "target/printable.h"

enum { STACK_MAX = 1 << 16 };

/* Whether a text begins with "FILE:LINE: ". */
static bool begins_with_line(const char *text)
{
	const char *colon = strchr(text, ':');

	if (!colon || colon == text || !isdigit((unsigned char)colon[1]) || !memchr(text, '.', (size_t)(colon - text)))
		return false;
	for (colon++; isdigit((unsigned char)*colon); colon++)
		;
	return colon[0] == ':' && colon[1] == ' ' && colon[2];
}

static bool is_character(char c)
{
	return (unsigned char)c >= ' ' || c == '\n' || c == '\t';
}

void lbx_ggml_find_message(struct lbx_target *target, uint64_t start, size_t n, char *ret, size_t size)
{
	char *bytes = n && n <= STACK_MAX ? malloc(n + 1) : NULL;

	*ret = '\0';
	if (bytes && lbx_target_try_read(target, start, bytes, n)) {
		bytes[n] = '\0';
		for (size_t i = 0, end; i < n && !*ret; i = end + 1) {
			for (end = i; end < n && is_character(bytes[end]); end++)
				;
			if (end < n && bytes[end] == '\0' && begins_with_line(bytes + i)) {
				strncpy(ret, bytes + i, size - 1);
				ret[size - 1] = '\0';
			}
		}
	}
	free(bytes);
	lbx_make_printable(ret);
}
