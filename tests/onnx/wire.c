#include "wire.h"

#include "base/error.h"

bool wire_varint(struct lb_cursor *c, uint64_t *ret)
{
	uint64_t value = 0, start = c->at;
	for (int shift = 0; shift < 64; shift += 7) {
		uint8_t byte;
		if (!lb_cursor_u8(c, "varint", &byte))
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret = value;
			return true;
		}
	}
	c->at = start;
	return lb_fail("%s: a varint at byte %ju does not end", c->path, (uintmax_t)start);
}

static bool wire_number(struct lb_cursor *c, int type, uint64_t *ret)
{
	uint32_t narrow;
	if (type == WIRE_64)
		return lb_cursor_u64(c, "fixed64", ret);
	if (type != WIRE_32)
		return wire_varint(c, ret);
	if (!lb_cursor_u32(c, "fixed32", &narrow))
		return false;
	*ret = narrow;
	return true;
}

bool wire_field(struct lb_cursor *c, struct wire_field *ret)
{
	uint64_t key, n;
	if (!wire_varint(c, &key))
		return false;
	*ret = (struct wire_field){ .number = (uint32_t)(key >> 3), .type = (int)(key & 7) };
	switch (ret->type) {
	case WIRE_VARINT:
	case WIRE_32:
	case WIRE_64: return wire_number(c, ret->type, &ret->value);
	case WIRE_BYTES:
		if (!wire_varint(c, &n) || !lb_cursor_part(c, "field", c->at, n, &ret->bytes))
			return false;
		c->at += n;
		return true;
	default: return lb_fail("%s: wire type %d of field %u is unknown", c->path, ret->type, ret->number);
	}
}

bool wire_numbers(const struct wire_field *field, int type, int64_t most, int64_t *n, uint64_t *to)
{
	struct lb_cursor bytes = field->bytes;
	if (field->type == type) {
		if (*n == most)
			return lb_fail("field %u has more than %jd values", field->number, (intmax_t)most);
		to[(*n)++] = field->value;
		return true;
	}
	if (field->type != WIRE_BYTES)
		return lb_fail("field %u has wire type %d", field->number, field->type);
	while (lb_cursor_left(&bytes)) {
		if (*n == most)
			return lb_fail("%s: field %u has more than %jd values", bytes.path, field->number,
				       (intmax_t)most);
		if (!wire_number(&bytes, type, &to[*n]))
			return false;
		++*n;
	}
	return true;
}
