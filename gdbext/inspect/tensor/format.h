/* Arrays as NumPy prints them: nested brackets, lines of a width, edge items with … in the
 * middle of long axes; or as nested JSON lists. */
#ifndef LBX_FORMAT_H
#define LBX_FORMAT_H

#include "inspect/command.h"
#include "inspect/figures.h"
#include "inspect/tensor/array.h"

struct lbx_format_options {
	int64_t edge_items, threshold;
	int precision;
	bool full; /* all elements, however many */
};

struct lbx_format_options lbx_format_options(const struct lbx_settings *settings);
/* Whether the middle of some axis will be left out. */
bool lbx_format_summarises(const struct lbx_array *array, const struct lbx_format_options *options);
/* As JSON: nested lists, of which the outer ones are written at once; what is left out of an axis is not marked
 * inside them. */
bool lbx_format_array(struct lbx_out *out, const char *key, const struct lbx_array *array,
		      const struct lbx_format_options *options);
json_t *lbx_json_element(const void *element, enum lb_dtype dtype);

#endif
