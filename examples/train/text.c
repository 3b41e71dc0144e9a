#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/named.h"
#include "train.h"

enum { TEXT_MOST = 1 << 28 };

/* The whole file, which the caller frees. */
static char *read_file(const char *path, size_t *n)
{
	FILE *file = fopen(path, "rb");
	char *text = NULL;

	*n = 0;
	for (size_t room = 0, got = 1; file && got && *n < TEXT_MOST; *n += got) {
		room = *n + (1 << 16) + *n / 2;
		char *grown = realloc(text, room);
		if (!grown)
			break;
		text = grown;
		got = fread(text + *n, 1, room - *n, file);
	}
	if (!file || ferror(file)) {
		complain("%s: %s", path, strerror(errno));
		free(text);
		text = NULL;
	}
	if (file)
		fclose(file);
	return text;
}

bool text_read(struct text *text, const char *path, int64_t context)
{
	bool used[256] = {false};
	size_t n;
	char *bytes = read_file(path, &n);

	if (!bytes)
		return false;
	for (size_t i = 0; i < n; i++)
		used[(unsigned char)bytes[i]] = true;
	alphabet_init(&text->alphabet, used);
	text->tokens = alphabet_encode(&text->alphabet, bytes, n);
	free(bytes);
	int64_t held_out = (int64_t)n / 10;
	if (text->tokens && held_out < context + 2) {
		free(text->tokens);
		text->tokens = NULL;
		return complain("%s: %zu characters are too few for a context of %lld", path, n,
				(long long)context);
	}
	text->train = (struct stretch){text->tokens, (int64_t)n - held_out};
	text->held_out = (struct stretch){text->tokens + text->train.n, held_out};
	return text->tokens != NULL;
}
