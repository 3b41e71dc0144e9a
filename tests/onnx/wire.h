/* The wire format of protocol buffers (protobuf.dev/programming-guides/encoding), over the
 * runtime's bounds-checked cursor: nothing outside a message is ever looked at. */
#ifndef TEST_ONNX_WIRE_H
#define TEST_ONNX_WIRE_H

#include "io/cursor.h"

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct wire_field {
	uint32_t number;
	int type;
	uint64_t value;         /* of a varint or a fixed number */
	struct lb_cursor bytes; /* WIRE_BYTES: what is inside */
};

bool wire_varint(struct lb_cursor *c, uint64_t *ret);
/* The next field; false, with an error, if there is no whole one. */
bool wire_field(struct lb_cursor *c, struct wire_field *ret);

/* Appends the values of a repeated number, alone in its field or packed, to the *n that `to`
 * holds already; `type` is the wire type of one. More than `most` are an error. */
bool wire_numbers(const struct wire_field *field, int type, int64_t most, int64_t *n, uint64_t *to);

#endif
