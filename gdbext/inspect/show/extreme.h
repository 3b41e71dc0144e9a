/* The least and the greatest of a summary, as a person and as a program read them: of integers exactly. */
#ifndef LBX_EXTREME_H
#define LBX_EXTREME_H

#include <jansson.h>

#include "inspect/measure/summary.h"

/* Where there is one: argmin, argmax. */
void lbx_extreme_text(const struct lbx_summary *s, bool is_max, char *ret, size_t size);
/* null where there is none. */
json_t *lbx_extreme_json(const struct lbx_summary *s, bool is_max);

#endif
