#include "io/npy.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* ---- element types ---- */

static const struct {
	char kind;
	int width;
	enum lb_dtype dtype;
} types[] = {
	{ 'b', 1, LB_BOOL }, { 'u', 1, LB_U8 },  { 'u', 2, LB_U16 }, { 'u', 4, LB_U32 }, { 'u', 8, LB_U64 },
	{ 'i', 1, LB_I8 },   { 'i', 2, LB_I16 }, { 'i', 4, LB_I32 }, { 'i', 8, LB_I64 }, { 'f', 2, LB_F16 },
	{ 'f', 4, LB_F32 },  { 'f', 8, LB_F64 }, { 'c', 8, LB_C64 },
};
enum { TYPES = sizeof types / sizeof *types };

static const char *why_not(char kind, int width)
{
	if (kind == 'V' && width == 2)
		return "raw 2-byte items, as NumPy writes a bfloat16 array; save it as float32, or as safetensors";
	switch (kind) {
	case 'O': return "Python objects, which are never loaded";
	case 'V': return "raw or structured items";
	case 'U':
	case 'S': return "strings";
	case 'M':
	case 'm': return "dates or times";
	case 'c': return "complex numbers wider than complex64; save them as complex64";
	case 'f': return "floats wider than float64";
	}
	return "a type that NumPy does not have";
}

static bool parse_descr(const struct lb_cursor *c, const char *what, const uint8_t *text, uint64_t n,
			struct lb_array *ret)
{
	char quoted[LB_QUOTED];
	bool order = n >= 2 && memchr("<>=|", text[0], 4), good = order && n >= 3 && n <= 5;
	int width = 0;
	for (uint64_t i = 2; i < n && good; i++) {
		good = text[i] >= '0' && text[i] <= '9';
		width = width * 10 + (text[i] - '0');
	}
	for (int i = 0; i < TYPES && good; i++) {
		if (types[i].kind != text[1] || types[i].width != width)
			continue;
		ret->dtype = types[i].dtype;
		ret->encoding = text[0] == '>' ? LB_BIG_ENDIAN : LB_LITTLE_ENDIAN;
		return true;
	}
	return lb_fail("%s: %s: descr '%s': %s", c->path, what, lb_quoted(text, n, quoted),
		       why_not(order ? (char)text[1] : '\0', width));
}

/* ---- the dict, in the part of Python's syntax that NumPy writes ---- */

struct dict {
	struct lb_cursor c;
	struct lb_npy_shape shape;
	int max_rank;
	const char *what;
};

static int peek_byte(struct dict *d)
{
	while (d->c.at < d->c.size && memchr(" \t\n", d->c.data[d->c.at], 3))
		d->c.at++;
	return d->c.at < d->c.size ? d->c.data[d->c.at] : -1;
}

static bool wrong(const struct dict *d, const char *field)
{
	return lb_fail("%s: %s: header: %s at byte %llu of it", d->c.path, d->what, field, (unsigned long long)d->c.at);
}

static bool expect(struct dict *d, char wanted, const char *field)
{
	if (peek_byte(d) != wanted)
		return wrong(d, field);
	d->c.at++;
	return true;
}

static bool string(struct dict *d, const uint8_t **text, uint64_t *n)
{
	int quote = peek_byte(d);
	if (quote == '[')
		return wrong(d, "a structured dtype, which is not supported,");
	if (quote != '\'' && quote != '"')
		return wrong(d, "expected a string");
	d->c.at++;
	*text = d->c.data + d->c.at;
	const uint8_t *end = memchr(*text, quote, lb_cursor_left(&d->c));
	if (!end)
		return wrong(d, "a string that does not end");
	*n = (uint64_t)(end - *text);
	d->c.at += *n + 1;
	return true;
}

static bool word(struct dict *d, const char *wanted)
{
	size_t n = strlen(wanted);
	peek_byte(d);
	if (n > lb_cursor_left(&d->c) || memcmp(d->c.data + d->c.at, wanted, n) != 0)
		return false;
	d->c.at += n;
	return true;
}

static bool parse_shape(struct dict *d)
{
	if (!expect(d, '(', "shape: expected '('"))
		return false;
	for (d->shape.rank = 0; peek_byte(d) != ')';) {
		int64_t size = 0;
		if (peek_byte(d) < '0' || peek_byte(d) > '9')
			return wrong(d, "shape: expected a size");
		for (int c; d->c.at < d->c.size && (c = d->c.data[d->c.at]) >= '0' && c <= '9'; d->c.at++) {
			if (__builtin_mul_overflow(size, 10, &size) || __builtin_add_overflow(size, c - '0', &size))
				return wrong(d, "shape: a size that does not fit 63 bits");
		}
		if (d->shape.rank == d->max_rank)
			return wrong(d, d->max_rank == LB_NPY_AXES ? "shape: more than 64 axes"
								   : "shape: more than 8 axes");
		d->shape.sizes[d->shape.rank++] = size;
		if (peek_byte(d) == 'L') /* Python 2's long */
			d->c.at++;
		if (peek_byte(d) == ',')
			d->c.at++;
		else if (peek_byte(d) != ')')
			return wrong(d, "shape: expected ',' or ')'");
	}
	d->c.at++;
	return true;
}

static bool parse_dict(struct dict *d, struct lb_array *ret)
{
	enum { DESCR = 1, ORDER = 2, SHAPE = 4 };
	int seen = 0;
	const uint8_t *text;
	uint64_t n;
	if (!expect(d, '{', "expected a dict"))
		return false;
	while (peek_byte(d) != '}') {
		if (!string(d, &text, &n) || !expect(d, ':', "expected ':'"))
			return false;
		int key = n == 5 && !memcmp(text, "descr", 5)             ? DESCR
			  : n == 13 && !memcmp(text, "fortran_order", 13) ? ORDER
			  : n == 5 && !memcmp(text, "shape", 5)           ? SHAPE
									  : 0;
		if (!key || (seen & key))
			return wrong(d, key ? "a key twice" : "an unknown key");
		seen |= key;
		if (key == DESCR && (!string(d, &text, &n) || !parse_descr(&d->c, d->what, text, n, ret)))
			return false;
		if (key == SHAPE && !parse_shape(d))
			return false;
		if (key == ORDER) {
			d->shape.fortran = word(d, "True");
			if (!d->shape.fortran && !word(d, "False"))
				return wrong(d, "fortran_order: expected True or False");
		}
		if (peek_byte(d) == ',')
			d->c.at++;
		else if (peek_byte(d) != '}')
			return wrong(d, "expected ',' or '}'");
	}
	d->c.at++;
	if (seen != (DESCR | ORDER | SHAPE))
		return wrong(d, "descr, fortran_order or shape is missing");
	return peek_byte(d) == -1 || wrong(d, "something after the dict");
}

/* ---- the file ---- */

/* Up to the dict, whose length it gives. */
static bool prefix(struct lb_cursor *c, const char *what, uint64_t *ret)
{
	const uint8_t *magic;
	uint8_t major, minor;
	uint16_t short_length;
	uint32_t length;
	if (!lb_cursor_take(c, "magic", 6, &magic) || !lb_cursor_u8(c, "version", &major) ||
	    !lb_cursor_u8(c, "version", &minor))
		return false;
	if (memcmp(magic, "\x93NUMPY", 6) != 0)
		return lb_fail("%s: %s: not an .npy array: its magic is wrong", c->path, what);
	if (major < 1 || major > 3 || minor != 0)
		return lb_fail("%s: %s: unknown version %d.%d of .npy", c->path, what, major, minor);
	if (major == 1) {
		if (!lb_cursor_u16(c, "header length", &short_length))
			return false;
		length = short_length;
	} else if (!lb_cursor_u32(c, "header length", &length)) {
		return false;
	}
	if (length > LB_NPY_HEADER_MAX)
		return lb_fail("%s: %s: header length: %u bytes are more than %d", c->path, what, length,
			       LB_NPY_HEADER_MAX);
	*ret = length;
	return true;
}

bool lb_npy_header_size(struct lb_cursor c, const char *what, uint64_t *ret)
{
	uint64_t length;
	if (!prefix(&c, what, &length))
		return false;
	*ret = c.at + length;
	return true;
}

/* The shape as the array's; or, of more axes, all elements as one row. False: they are too many. */
static bool take_shape(const struct lb_npy_shape *shape, struct lb_array *ret)
{
	ret->rank = shape->rank;
	if (shape->rank <= LB_MAX_RANK) {
		memcpy(ret->shape, shape->sizes, (size_t)shape->rank * sizeof *ret->shape);
		ret->fortran = shape->fortran;
		return true;
	}
	ret->rank = 1;
	ret->shape[0] = 1;
	/* a size of 0 anywhere, and there are none, however large the others */
	for (int i = 0; i < shape->rank; i++)
		if (shape->sizes[i] == 0) {
			ret->shape[0] = 0;
			return true;
		}
	for (int i = 0; i < shape->rank; i++)
		if (!lb_mul(ret->shape[0], shape->sizes[i], &ret->shape[0]))
			return false;
	return true;
}

bool lb_npy_parse(struct lb_cursor *c, const char *what, struct lb_array *ret, struct lb_npy_shape *shape)
{
	uint64_t length;
	struct lb_cursor from = *c;
	struct dict d = { .what = what, .max_rank = shape ? LB_NPY_AXES : LB_MAX_RANK };
	*ret = (struct lb_array){ 0 };
	if (!prefix(&from, what, &length) || !lb_cursor_part(&from, "header", from.at, length, &d.c) ||
	    !parse_dict(&d, ret))
		return false;
	if (!take_shape(&d.shape, ret))
		return wrong(&d, "shape: more elements than fit 63 bits");
	if (shape) {
		*shape = d.shape;
		shape->rank = d.shape.rank > LB_MAX_RANK ? d.shape.rank : 0;
	}
	c->at = from.at + length;
	ret->at = c->at;
	return true;
}

bool lb_npy_type(enum lb_dtype dtype, char *kind, int *width)
{
	for (int i = 0; i < TYPES; i++) {
		if (types[i].dtype != dtype)
			continue;
		*kind = types[i].kind;
		*width = types[i].width;
		return true;
	}
	return false;
}

bool lb_npy_write_header(enum lb_dtype dtype, int rank, const int64_t *shape, char to[LB_NPY_WRITTEN], size_t *ret)
{
	enum { START = 10 };
	char kind;
	int width;
	if (!lb_npy_type(dtype, &kind, &width))
		return lb_fail("save: .npy has no %s; lb_astype() it to float32, or save as safetensors",
			       lb_dtypes[dtype].name);
	if (rank > LB_NPY_AXES)
		return lb_fail("save: .npy has at most %d axes, not %d; save as safetensors", LB_NPY_AXES, rank);
	size_t n = START;
	n += (size_t)snprintf(to + n, LB_NPY_WRITTEN - n, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (",
			      width == 1 ? '|' : '<', kind, width);
	for (int i = 0; i < rank; i++)
		n += (size_t)snprintf(to + n, LB_NPY_WRITTEN - n, i ? " %lld," : "%lld,", (long long)shape[i]);
	n -= rank > 1; /* (3,) but (3, 4) */
	n += (size_t)snprintf(to + n, LB_NPY_WRITTEN - n, "), }");
	while ((n + 1) % 64)
		to[n++] = ' ';
	to[n++] = '\n';
	memcpy(to, "\x93NUMPY\1\0", 8);
	to[8] = (char)((n - START) & 0xff);
	to[9] = (char)((n - START) >> 8);
	*ret = n;
	return true;
}
