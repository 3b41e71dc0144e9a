/* What a value is looked for by: `> 0.5`, `abs > 3`, `nan`. */
#ifndef LBX_WANTED_H
#define LBX_WANTED_H

#include "tensors/tensor.h"

struct lbx_wanted {
	enum lbx_relation {
		LBX_IS_LESS,
		LBX_IS_AT_MOST,
		LBX_IS_GREATER,
		LBX_IS_AT_LEAST,
		LBX_IS_EQUAL,
		LBX_IS_UNEQUAL,
		LBX_IS_NAN,
		LBX_IS_INF
	} relation;
	bool is_absolute; /* of the value without its sign */
	long double number;
};

/* Fails for what is none, naming what would be. */
bool lbx_wanted_parse(const char *text, struct lbx_wanted *ret);
bool lbx_wanted_holds(const struct lbx_wanted *condition, long double value);
/* An element as a number of which no digit of an integer is lost; c64 by magnitude. */
long double lbx_element_number(const void *element, enum lb_dtype dtype);

#endif
