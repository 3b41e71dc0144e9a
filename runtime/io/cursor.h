/* The one way to read bytes that somebody else wrote.
 *
 * Every read names the field it is for, is checked against the end, and leaves the
 * position alone when it fails; so nothing outside [data, data + size) is ever looked
 * at, and the message says which file and which field. Integers are little endian. */
#ifndef LB_IO_CURSOR_H
#define LB_IO_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

struct lb_cursor {
	const uint8_t *data;
	uint64_t size, at;
	const char *path; /* for messages; not owned */
};

static inline uint64_t lb_cursor_left(const struct lb_cursor *c)
{
	return c->size - c->at;
}

/* The next n bytes, valid as long as what the cursor reads. */
bool lb_cursor_take(struct lb_cursor *c, const char *field, uint64_t n, const uint8_t **ret);
bool lb_cursor_u8(struct lb_cursor *c, const char *field, uint8_t *ret);
bool lb_cursor_u16(struct lb_cursor *c, const char *field, uint16_t *ret);
bool lb_cursor_u32(struct lb_cursor *c, const char *field, uint32_t *ret);
bool lb_cursor_u64(struct lb_cursor *c, const char *field, uint64_t *ret);
bool lb_cursor_seek(struct lb_cursor *c, const char *field, uint64_t at);
/* A cursor over the n bytes from `at` on, wherever this one stands. */
bool lb_cursor_part(const struct lb_cursor *c, const char *field, uint64_t at, uint64_t n, struct lb_cursor *ret);

/* Bytes as text that is fit for a message: at most 40, unprintable ones as '?'. */
enum { LB_QUOTED = 48 };
const char *lb_quoted(const void *bytes, uint64_t n, char text[LB_QUOTED]);

#endif
