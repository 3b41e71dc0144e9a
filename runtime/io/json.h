/* A pull parser for the JSON (RFC 8259) of a safetensors header: no tree, no recursion
 * but a bounded one, numbers that are whole. */
#ifndef LB_IO_JSON_H
#define LB_IO_JSON_H

#include "io/cursor.h"

struct lb_json {
	struct lb_cursor cursor;
	const char *field; /* what the text is, for messages */
};

/* Takes '{' or '['. */
bool lb_json_open(struct lb_json *j, char bracket);
/* Before each element (`n` of them were read): true in *more, or takes the closing bracket. */
bool lb_json_more(struct lb_json *j, char closing, int64_t n, bool *more);
/* A string, unescaped, NUL-terminated UTF-8 without NUL inside; the caller frees it. */
bool lb_json_string(struct lb_json *j, char **ret);
/* An object's next key, before which n of its members were read; NULL where the object ends instead. */
bool lb_json_next(struct lb_json *j, int64_t n, char **ret);
/* A whole number from 0 to INT64_MAX. */
bool lb_json_size(struct lb_json *j, int64_t *ret);
/* Takes `null`, if it is next. */
bool lb_json_null(struct lb_json *j);
/* Any value, of bounded depth. */
bool lb_json_skip(struct lb_json *j);
/* Nothing but white space is left. */
bool lb_json_end(struct lb_json *j);
/* Fails: the header has `what` wrong here. */
bool lb_json_wrong(struct lb_json *j, const char *what);

#endif
