/* What is in a str, an int, a list, a tuple: PyUnicodeObject, PyLongObject and their like. */
#include <string.h>

#include "python/python.h"

enum { MAX_ITEMS = 1 << 28, MAX_CHARACTERS = 1 << 30, DIGIT_BITS = 30, DIGITS = 3, LAST_DIGIT_BITS = 4, TAG_BITS = 3 };

static bool is_kind(struct lbx_python *py, uint64_t object, enum lbx_py_kind kind)
{
	const struct lbx_py_type *type = lbx_py_type_of(py, object);

	return type && type->kind == kind;
}

/* ---- str ---- */

enum { STATE = 0x20, KIND_SHIFT = 2, KIND_MASK = 7, COMPACT = 1 << 5, ASCII = 1 << 6, PIECE = 64 };

/* One character, in UTF-8; how many bytes. One that cannot be is U+FFFD. */
static size_t encode(uint32_t c, char ret[4])
{
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		ret[0] = (char)c;
		return 1;
	}
	size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (size_t i = n; i-- > 1; c >>= 6)
		ret[i] = (char)(0x80 | (c & 0x3f));
	ret[0] = (char)((0xf00 >> n & 0xff) | c);
	return n;
}

static uint32_t character(const unsigned char *bytes, unsigned width)
{
	uint32_t c = 0;

	memcpy(&c, bytes, width);
	return c;
}

/* As they lie there, which most do; false: they are to be read one by one. */
static bool read_ascii(struct lbx_python *py, uint64_t at, uint64_t n, char *ret, size_t size)
{
	size_t some = n < size ? (size_t)n : size - 1;

	if (!lbx_py_read(py, at, ret, some))
		return false;
	for (size_t i = 0; i < some; i++)
		if (ret[i] & 0x80)
			return false;
	ret[some] = '\0';
	return true;
}

static bool read_characters(struct lbx_python *py, uint64_t at, uint64_t n, unsigned width, char *ret, size_t size)
{
	unsigned char bytes[PIECE * 4];
	size_t used = 0;

	for (uint64_t done = 0; done < n; done += PIECE) {
		size_t some = n - done < PIECE ? (size_t)(n - done) : PIECE;
		if (!lbx_py_read(py, at + done * width, bytes, some * width))
			return false;
		for (size_t i = 0; i < some; i++) {
			char utf8[4];
			size_t length = encode(character(bytes + i * width, width), utf8);
			if (used + length >= size) {
				ret[used] = '\0';
				return true;
			}
			memcpy(ret + used, utf8, length);
			used += length;
		}
	}
	ret[used] = '\0';
	return true;
}

bool lbx_py_text(struct lbx_python *py, uint64_t object, char *ret, size_t size)
{
	uint64_t n;
	uint32_t state;

	ret[0] = '\0';
	if (!is_kind(py, object, LBX_PY_STR) || !lbx_py_read(py, object + LBX_PY_SIZE, &n, sizeof n) ||
	    !lbx_py_read(py, object + STATE, &state, sizeof state))
		return false;
	unsigned width = state >> KIND_SHIFT & KIND_MASK;
	bool is_ascii = state & ASCII;
	if (n > MAX_CHARACTERS || (width != 1 && width != 2 && width != 4) || (is_ascii && width != 1))
		return false;
	uint64_t at = object + (is_ascii && state & COMPACT ? py->layout.short_text : py->layout.text);
	if (!(state & COMPACT)) /* of a class derived from str: elsewhere */
		at = lbx_py_word(py, at);
	return (is_ascii && read_ascii(py, at, n, ret, size)) || read_characters(py, at, n, width, ret, size);
}

bool lbx_py_text_is(struct lbx_python *py, uint64_t object, const char *text)
{
	char own[LBX_PY_TEXT];
	uint64_t n, characters = 0;

	for (const char *c = text; *c; c++)
		characters += (*c & 0xc0) != 0x80;
	return lbx_py_read(py, object + LBX_PY_SIZE, &n, sizeof n) && n == characters &&
	       lbx_py_text(py, object, own, sizeof own) && strcmp(own, text) == 0;
}

/* ---- int ---- */

/* Until 3.11 the number of digits has the sign of the int; from 3.12 on its lowest bits tell it: 0, 1 (it is 0), 2 (negative). */
bool lbx_py_int(struct lbx_python *py, uint64_t object, int64_t *ret)
{
	uint32_t digits[DIGITS];
	int64_t tag;
	uint64_t value = 0;

	if (!is_kind(py, object, LBX_PY_INT) || !lbx_py_read(py, object + LBX_PY_SIZE, &tag, sizeof tag) ||
	    tag == INT64_MIN)
		return false;
	bool is_tagged = py->layout.minor >= 12, is_negative = is_tagged ? (tag & 3) == 2 : tag < 0;
	int64_t n = is_tagged ? (int64_t)((uint64_t)tag >> TAG_BITS) : tag < 0 ? -tag : tag;
	if (n > DIGITS || !lbx_py_read(py, object + LBX_PY_DIGITS, digits, (size_t)n * sizeof *digits) ||
	    (n == DIGITS && digits[DIGITS - 1] >> LAST_DIGIT_BITS))
		return false;
	for (int64_t i = 0; i < n; i++)
		value |= (uint64_t)digits[i] << (i * DIGIT_BITS);
	if (value > (uint64_t)INT64_MAX + is_negative)
		return false;
	*ret = (int64_t)(is_negative ? -value : value);
	return true;
}

/* ---- list, tuple ---- */

bool lbx_py_items(struct lbx_python *py, uint64_t object, uint64_t *ret, int64_t *ret_n)
{
	const struct lbx_py_type *type = lbx_py_type_of(py, object);
	bool is_list = type && type->kind == LBX_PY_LIST;

	if (!type || (!is_list && type->kind != LBX_PY_TUPLE) ||
	    !lbx_py_read(py, object + LBX_PY_SIZE, ret_n, sizeof *ret_n) || *ret_n < 0 || *ret_n > MAX_ITEMS)
		return false;
	*ret = is_list ? lbx_py_word(py, object + LBX_PY_LIST_ITEMS) : object + py->layout.tuple_items;
	return *ret != 0 || *ret_n == 0;
}
