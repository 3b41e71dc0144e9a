/* PNG (ISO/IEC 15948) with stored deflate blocks (RFC 1951, 3.2.4): the pictures are small, and so
 * no library is needed. */
#include "inspect/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/zip.h"

enum {
	SIDE = LBX_PICTURE_SIDE, RAW = SIDE * (SIDE * 3 + 1), /* a filter byte begins each row */
	PNG = RAW + 256,
};

struct bytes {
	unsigned char data[PNG];
	size_t n;
};

static void put(struct bytes *b, const void *from, size_t n)
{
	memcpy(b->data + b->n, from, n);
	b->n += n;
}

static void put32(struct bytes *b, uint32_t value)
{
	unsigned char big[4] = { (unsigned char)(value >> 24), (unsigned char)(value >> 16),
				 (unsigned char)(value >> 8), (unsigned char)value };
	put(b, big, sizeof big);
}

static size_t begin_chunk(struct bytes *b, const char *type, size_t n)
{
	put32(b, (uint32_t)n);
	put(b, type, 4);
	return b->n - 4;
}

static void end_chunk(struct bytes *b, size_t begin)
{
	put32(b, lb_crc32(0, b->data + begin, b->n - begin));
}

static uint32_t adler32(const unsigned char *bytes, size_t n)
{
	uint32_t a = 1, b = 0;

	for (size_t i = 0; i < n; i++) {
		a = (a + bytes[i]) % 65521;
		b = (b + a) % 65521;
	}
	return b << 16 | a;
}

static void encode(const struct lbx_picture *p, struct bytes *b)
{
	unsigned char raw[RAW], header[5] = { 8, 2, 0, 0, 0 }; /* 8 bits, RGB */
	size_t row = (size_t)p->width * 3, n = 0;

	for (int y = 0; y < p->height; y++) {
		raw[n++] = 0;
		memcpy(raw + n, p->rgb + (size_t)y * row, row);
		n += row;
	}
	b->n = 0;
	put(b, "\x89PNG\r\n\x1a\n", 8);
	size_t at = begin_chunk(b, "IHDR", 13);
	put32(b, (uint32_t)p->width);
	put32(b, (uint32_t)p->height);
	put(b, header, sizeof header);
	end_chunk(b, at);
	/* zlib's header, one final stored block (n is below 65536), checksum */
	at = begin_chunk(b, "IDAT", 2 + 5 + n + 4);
	unsigned char block[7] = { 0x78, 0x01, 1, (unsigned char)n, (unsigned char)(n >> 8),
				   (unsigned char)~n, (unsigned char)(~n >> 8) };
	put(b, block, sizeof block);
	put(b, raw, n);
	put32(b, adler32(raw, n));
	end_chunk(b, at);
	end_chunk(b, begin_chunk(b, "IEND", 0));
}

static void write_base64(struct lbx_out *out, const unsigned char *from, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		uint32_t word = (uint32_t)from[i] << 16 | (i + 1 < n ? (uint32_t)from[i + 1] << 8 : 0) |
				(i + 2 < n ? from[i + 2] : 0);
		char four[4] = { digits[word >> 18], digits[word >> 12 & 63],
				 i + 1 < n ? digits[word >> 6 & 63] : '=',
				 i + 2 < n ? digits[word & 63] : '=' };
		out->write(out, four, sizeof four);
	}
}

void lbx_picture_write(struct lbx_out *page, const struct lbx_picture *picture, const char *alt)
{
	struct bytes b;

	encode(picture, &b);
	lbx_printf(page, "<img alt=\"%s\" width=\"%d\" height=\"%d\" src=\"data:image/png;base64,", alt,
		   picture->width * 2, picture->height * 2);
	write_base64(page, b.data, b.n);
	lbx_printf(page, "\"/>");
}

/* Five points of matplotlib's viridis, with straight lines between them. */
static void colour(double x, unsigned char *rgb)
{
	static const unsigned char points[][3] = {
		{ 68, 1, 84 }, { 59, 82, 139 }, { 33, 145, 140 }, { 94, 201, 98 }, { 253, 231, 37 },
	};
	enum { LAST = sizeof points / sizeof *points - 1 };

	x = x < 0 ? 0 : x > 1 ? 1 : x;
	int i = (int)(x * LAST);
	i = i == LAST ? LAST - 1 : i;
	for (int c = 0; c < 3; c++)
		rgb[c] = (unsigned char)(points[i][c] + (x * LAST - i) *
					 (points[i + 1][c] - points[i][c]) + 0.5);
}

static void paint(const double *values, struct lbx_picture *p)
{
	int n = p->width * p->height;

	p->low = INFINITY;
	p->high = -INFINITY;
	for (int i = 0; i < n; i++) {
		if (!isfinite(values[i]))
			continue;
		p->low = values[i] < p->low ? values[i] : p->low;
		p->high = values[i] > p->high ? values[i] : p->high;
	}
	for (int i = 0; i < n; i++) {
		unsigned char *rgb = &p->rgb[3 * i];
		if (isnan(values[i]))
			memcpy(rgb, "\xff\x00\xff", 3);
		else if (isinf(values[i]))
			memcpy(rgb, "\x00\xff\xff", 3);
		else /* halves: the distance of two finite numbers may not be finite */
			colour(p->high > p->low ? (values[i] / 2 - p->low / 2) /
			       (p->high / 2 - p->low / 2) : 0.5, rgb);
	}
	if (p->low > p->high)
		p->low = p->high = NAN;
}

bool lbx_picture_of_array(const struct lbx_array *array, struct lbx_picture *ret)
{
	int64_t at[LBX_ARRAY_RANK] = { 0 }, height = 1, width = 1;
	int rank = array->rank, channels = 1;
	double *values = malloc(SIDE * SIDE * sizeof *values);
	unsigned char element[8];
	bool done = values || lb_fail("out of memory");

	ret->is_colour = array->dtype == LB_U8 && rank >= 3 && array->shape[rank - 1] == 3;
	if (ret->is_colour) {
		rank--;
		channels = 3;
	}
	if (rank >= 1)
		width = array->shape[rank - 1];
	if (rank >= 2)
		height = array->shape[rank - 2];
	ret->width = (int)(width < SIDE ? width : SIDE);
	ret->height = (int)(height < SIDE ? height : SIDE);
	for (int y = 0; y < ret->height && done; y++) {
		for (int x = 0; x < ret->width && done; x++) {
			if (rank >= 1)
				at[rank - 1] = (int64_t)((double)x * (double)width / ret->width);
			if (rank >= 2)
				at[rank - 2] = (int64_t)((double)y * (double)height / ret->height);
			for (int c = 0; c < channels && done; c++) {
				int i = y * ret->width + x;
				if (ret->is_colour)
					at[rank] = c;
				done = lbx_array_get(array, at, element);
				if (done && ret->is_colour)
					ret->rgb[3 * i + c] = element[0];
				else if (done)
					values[i] = lbx_element_double(element, array->dtype);
			}
		}
	}
	if (done && !ret->is_colour)
		paint(values, ret);
	free(values);
	return done;
}
