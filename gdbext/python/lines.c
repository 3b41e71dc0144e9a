/* A code object's table of locations (Objects/locations.md). An entry is for 1 to 8 units of code; its first byte says how
 * many, and of which form it is: most give the line as a difference to the one before. */
#include "python/frames.h"

enum { UNIT = 2, MAX_TABLE = 1 << 20, PIECE = 256, VARINT_BITS = 6, VARINT_MAX = 30 };
enum { ONE_LINE_FIRST = 10, ONE_LINE_LAST = 12, NO_COLUMN = 13, LONG = 14, NOTHING = 15 };

struct table {
	struct lbx_python *py;
	uint64_t at, end, held_at;
	size_t n_held;
	unsigned char held[PIECE];
	bool is_damaged;
};

static unsigned next_byte(struct table *t)
{
	uint64_t within = t->at - t->held_at;

	if (t->at >= t->end) {
		t->is_damaged = true;
		return 0;
	}
	if (within >= t->n_held) {
		t->held_at = t->at;
		t->n_held = t->end - t->at < PIECE ? (size_t)(t->end - t->at) : PIECE;
		within = 0;
		if (!lbx_py_read(t->py, t->at, t->held, t->n_held)) {
			t->n_held = 0;
			t->is_damaged = true;
			return 0;
		}
	}
	t->at++;
	return t->held[within];
}

/* Six bits a byte, the lowest first; a bit says that there are more. */
static uint32_t next_varint(struct table *t)
{
	uint32_t value = 0, byte;
	int shift = 0;

	do {
		byte = next_byte(t);
		value |= (byte & 63) << shift;
		shift += VARINT_BITS;
	} while (byte & 64 && shift < VARINT_MAX && !t->is_damaged);
	return value;
}

static int next_difference(struct table *t)
{
	uint32_t value = next_varint(t);

	return value & 1 ? -(int)(value >> 1) : (int)(value >> 1);
}

/* Goes past the entry; how far its line is from the one before. */
static int difference(struct table *t, unsigned form, bool *ret_known)
{
	int lines = 0;

	*ret_known = form != NOTHING;
	if (form == LONG) {
		lines = next_difference(t);
		for (int i = 0; i < 3; i++)
			next_varint(t);
	} else if (form == NO_COLUMN) {
		lines = next_difference(t);
	} else if (form >= ONE_LINE_FIRST && form <= ONE_LINE_LAST) {
		lines = (int)form - ONE_LINE_FIRST;
		next_byte(t);
		next_byte(t);
	} else if (form < ONE_LINE_FIRST) {
		next_byte(t);
	}
	return lines;
}

int lbx_py_line(struct lbx_python *py, uint64_t code, uint64_t at)
{
	uint64_t table = lbx_py_word(py, code + py->layout.lines);
	uint64_t n = table ? lbx_py_word(py, table + LBX_PY_SIZE) : 0;
	struct table t = { .py = py, .at = table + LBX_PY_BYTES, .end = table + LBX_PY_BYTES + n };
	int32_t first;

	if (n > MAX_TABLE || !lbx_py_read(py, code + py->layout.first_line, &first, sizeof first))
		return 0;
	int64_t line = first;
	for (uint64_t done = 0; t.at < t.end && !t.is_damaged;) {
		unsigned head = next_byte(&t);
		bool is_known;
		line += difference(&t, head >> 3 & 15, &is_known);
		done += ((head & 7) + 1) * UNIT;
		if (at < done)
			return !t.is_damaged && head & 128 && is_known && line > 0 && line < INT32_MAX ? (int)line : 0;
	}
	return 0;
}
