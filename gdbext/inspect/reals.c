#include "inspect/reals.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REAL = 40, EXACT = 17, SURE = 15 /* digits that any normal number keeps */ };

/* 1e-05 as 1e-5, 4 as 4.0: as jansson writes them. */
static void tidy(char text[REAL])
{
	char *e = strchr(text, 'e'), *from;

	if (!e) {
		if (!strchr(text, '.'))
			strcat(text, ".0");
		return;
	}
	from = ++e;
	if (*from == '-')
		e++, from++;
	else if (*from == '+')
		from++;
	from += strspn(from, "0");
	memmove(e, from, strlen(from) + 1);
}

/* The fewest digits. */
static void shortest(double value, char ret[REAL])
{
	int digits = fabs(value) < DBL_MIN ? 1 : SURE;

	while (snprintf(ret, REAL - 2, "%.*g", digits, value), digits < EXACT && strtod(ret, NULL) != value)
		digits++;
	tidy(ret);
}

static bool is_real(const char *number, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (number[i] == '.' || number[i] == 'e' || number[i] == 'E')
			return true;
	return false;
}

/* Behind the quotes of a text. */
static const char *pass_text(const char *at)
{
	for (at++; *at && *at != '"'; at++)
		at += *at == '\\' && at[1];
	return at + (*at == '"');
}

void lbx_shorten_reals(char *json)
{
	char *to = json, text[REAL];

	for (const char *at = json; *at;) {
		const char *end = at + 1;
		size_t n = 1;
		const char *from = at;
		if (*at == '"') {
			end = pass_text(at);
			n = (size_t)(end - at);
		} else if (isdigit((unsigned char)*at) || *at == '-') {
			end = at + strspn(at, "-+.eE0123456789");
			n = (size_t)(end - at);
			if (n > SURE && is_real(at, n)) {
				shortest(strtod(at, NULL), text);
				if (strlen(text) < n) {
					from = text;
					n = strlen(text);
				}
			}
		}
		memmove(to, from, n);
		to += n;
		at = end;
	}
	*to = '\0';
}
