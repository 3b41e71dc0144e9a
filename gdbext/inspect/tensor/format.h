/* Arrays as NumPy prints them: nested brackets, lines of a width, edge items with … in the
 * middle of long axes; or as nested JSON lists. */
#ifndef LBX_FORMAT_H
#define LBX_FORMAT_H

#include "inspect/command.h"
#include "inspect/tensor/array.h"

struct lbx_format_options {
	int64_t edge_items, threshold;
	int precision;
	bool full; /* all elements, however many */
};

struct lbx_format_options lbx_format_options(const struct lbx_settings *settings);
/* Whether the middle of some axis will be left out. */
bool lbx_format_summarises(const struct lbx_array *array, const struct lbx_format_options *options);
bool lbx_format_array(struct lbx_out *out, const struct lbx_array *array, const struct lbx_format_options *options);
/* Nested lists; what is left out of an axis is not marked inside them. */
bool lbx_format_json(struct lbx_out *out, const struct lbx_array *array, const struct lbx_format_options *options);
/* "(2, 3)", "(2,)", "()": those of a tensor's axes fit LBX_LIST_MAX. */
enum { LBX_LIST_MAX = LBX_RANK_MAX * 22 + 4 };
void lbx_format_list(const int64_t *values, int n, char *ret, size_t size);
/* "[2, 3]": the coordinates of an element */
void lbx_format_place(const int64_t *coordinates, int n, char *ret, size_t size);
/* "1.5 MiB" */
void lbx_format_bytes(int64_t bytes, char *ret, size_t size);
json_t *lbx_json_element(const void *element, enum lb_dtype dtype);
json_t *lbx_json_list(const int64_t *values, int n);

#endif
