#include "inspect/browse/wanted.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "inspect/tensor/array.h"

static const struct {
	const char *text;
	enum lbx_relation relation;
} relations[] = {
	/* the longer ones first */
	{ "<=", LBX_IS_AT_MOST }, { ">=", LBX_IS_AT_LEAST }, { "==", LBX_IS_EQUAL }, { "!=", LBX_IS_UNEQUAL },
	{ "<", LBX_IS_LESS },     { ">", LBX_IS_GREATER },   { "=", LBX_IS_EQUAL },
};

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

/* Whether the text is that word, and nothing else. */
static bool is_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	return strncasecmp(text, word, n) == 0 && !*skip_blanks(text + n);
}

static bool take_relation(const char **text, enum lbx_relation *ret)
{
	for (size_t i = 0; i < sizeof relations / sizeof *relations; i++) {
		size_t n = strlen(relations[i].text);
		if (strncmp(*text, relations[i].text, n) == 0) {
			*ret = relations[i].relation;
			*text = skip_blanks(*text + n);
			return true;
		}
	}
	return false;
}

bool lbx_wanted_parse(const char *text, struct lbx_wanted *ret)
{
	const char *at = skip_blanks(text);
	char *end;

	*ret = (struct lbx_wanted){ 0 };
	if (is_word(at, "nan") || is_word(at, "inf")) {
		ret->relation = tolower((unsigned char)*at) == 'n' ? LBX_IS_NAN : LBX_IS_INF;
		return true;
	}
	if (strncasecmp(at, "abs", 3) == 0) {
		ret->is_absolute = true;
		at = skip_blanks(at + 3);
	}
	if (take_relation(&at, &ret->relation)) {
		ret->number = strtold(at, &end);
		if (end != at && !*skip_blanks(end) && !isnan(ret->number))
			return true;
	}
	return lb_fail("'%s' is no condition: > 0.5, <= 2, == 0, != 0, abs > 3, nan or inf", text);
}

bool lbx_wanted_holds(const struct lbx_wanted *c, long double value)
{
	if (c->is_absolute)
		value = fabsl(value);
	switch (c->relation) {
	case LBX_IS_LESS: return value < c->number;
	case LBX_IS_AT_MOST: return value <= c->number;
	case LBX_IS_GREATER: return value > c->number;
	case LBX_IS_AT_LEAST: return value >= c->number;
	case LBX_IS_EQUAL: return value == c->number;
	case LBX_IS_UNEQUAL: return value != c->number;
	case LBX_IS_NAN: return isnan(value);
	default: return isinf(value);
	}
}

long double lbx_element_number(const void *element, enum lb_dtype dtype)
{
	if (dtype >= LB_F16)
		return lbx_element_magnitude(element, dtype);
	long long value = lbx_element_int(element, dtype);
	return dtype == LB_U64 ? (long double)(unsigned long long)value : (long double)value;
}
