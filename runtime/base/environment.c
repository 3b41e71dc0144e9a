#include "base/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t lb_environment_number(const char *name, int64_t min, int64_t max, int64_t otherwise)
{
	const char *text = getenv(name);
	if (!text || !*text)
		return otherwise;
	char *end;
	long long value = strtoll(text, &end, 10);
	if (end == text || *end || value < min) {
		fprintf(stderr, "lazybones: %s=%s is ignored: it must be a whole number from %lld to %lld\n", name,
			text, (long long)min, (long long)max);
		return otherwise;
	}
	if (value > max) {
		fprintf(stderr, "lazybones: %s=%s is too large: %lld is used\n", name, text, (long long)max);
		return max;
	}
	return value;
}

int lb_environment_choice(const char *name, int n, const char *const *words, int otherwise)
{
	const char *text = getenv(name);
	if (!text || !*text)
		return otherwise;
	for (int i = 0; i < n; i++) {
		if (strcmp(text, words[i]) == 0)
			return i;
	}
	fprintf(stderr, "lazybones: %s=%s is ignored: it must be ", name, text);
	for (int i = 0; i < n; i++)
		fprintf(stderr, "%s%s", words[i], i + 2 < n ? ", " : i + 1 < n ? " or " : "\n");
	return otherwise;
}

bool lb_environment_text(const char *name, char *ret, size_t size)
{
	const char *text = getenv(name);
	size_t n = text ? strlen(text) : 0;

	*ret = '\0';
	if (n >= size) {
		fprintf(stderr, "lazybones: %s is ignored: it has more than %zu bytes\n", name, size - 1);
		return false;
	}
	if (n)
		memcpy(ret, text, n + 1);
	return n > 0;
}
