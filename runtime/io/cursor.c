#include "io/cursor.h"

#include <string.h>

#include "base/error.h"
#include "base/plural.h"

bool lb_cursor_take(struct lb_cursor *c, const char *field, uint64_t n, const uint8_t **ret)
{
	if (n > lb_cursor_left(c))
		return lb_fail("%s: %s: %llu byte%s at %llu %s beyond the end at %llu: the file is truncated "
			       "or damaged",
			       c->path, field, (unsigned long long)n, LB_S(n), (unsigned long long)c->at,
			       LB_PLURAL(n, "goes", "go"), (unsigned long long)c->size);
	*ret = c->data + c->at;
	c->at += n;
	return true;
}

#define LB_CURSOR_INT(name, type) \
	bool name(struct lb_cursor *c, const char *field, type *ret) \
	{ \
		const uint8_t *bytes; \
		if (!lb_cursor_take(c, field, sizeof *ret, &bytes)) \
			return false; \
		memcpy(ret, bytes, sizeof *ret); \
		return true; \
	}
LB_CURSOR_INT(lb_cursor_u8, uint8_t)
LB_CURSOR_INT(lb_cursor_u16, uint16_t)
LB_CURSOR_INT(lb_cursor_u32, uint32_t)
LB_CURSOR_INT(lb_cursor_u64, uint64_t)

bool lb_cursor_seek(struct lb_cursor *c, const char *field, uint64_t at)
{
	if (at > c->size)
		return lb_fail("%s: %s: offset %llu lies beyond the end at %llu: the file is truncated or "
			       "damaged",
			       c->path, field, (unsigned long long)at, (unsigned long long)c->size);
	c->at = at;
	return true;
}

bool lb_cursor_part(const struct lb_cursor *c, const char *field, uint64_t at, uint64_t n, struct lb_cursor *ret)
{
	struct lb_cursor from = *c;
	const uint8_t *data;
	if (!lb_cursor_seek(&from, field, at) || !lb_cursor_take(&from, field, n, &data))
		return false;
	*ret = (struct lb_cursor){ .data = data, .size = n, .path = c->path };
	return true;
}

const char *lb_quoted(const void *bytes, uint64_t n, char text[LB_QUOTED])
{
	enum { SHOWN = 40 };
	const unsigned char *from = bytes;
	size_t shown = n < SHOWN ? (size_t)n : SHOWN;
	for (size_t i = 0; i < shown; i++)
		text[i] = from[i] >= ' ' && from[i] < 0x7f ? (char)from[i] : '?';
	strcpy(text + shown, n > SHOWN ? "..." : "");
	return text;
}
