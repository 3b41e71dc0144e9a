#include "io/inflate.h"

#include <stddef.h>

#include "base/error.h"

#if LB_HAVE_ZLIB
#include <stdlib.h>
#include <zlib.h>

struct lb_inflate {
	z_stream z;
	const uint8_t *from;
	uint64_t left; /* packed bytes that zlib has not been given */
	const char *path, *name;
};

enum { PIECE = 1 << 30 }; /* zlib counts in 32 bits */

struct lb_inflate *lb_inflate_begin(const uint8_t *packed, uint64_t n, const char *path, const char *name)
{
	struct lb_inflate *inflate = calloc(1, sizeof *inflate);
	/* a negative window size: no zlib header around the stream */
	if (!inflate || inflateInit2(&inflate->z, -MAX_WBITS) != Z_OK) {
		free(inflate);
		lb_fail("%s: %.64s: out of memory to unpack it", path, name);
		return NULL;
	}
	inflate->from = packed;
	inflate->left = n;
	inflate->path = path;
	inflate->name = name;
	return inflate;
}

bool lb_inflate_read(struct lb_inflate *s, void *to, uint64_t n)
{
	z_stream *z = &s->z;
	uint8_t *at = to;
	while (n) {
		if (z->avail_in == 0) {
			z->next_in = (Bytef *)s->from;
			z->avail_in = s->left < PIECE ? (uInt)s->left : PIECE;
			s->from += z->avail_in;
			s->left -= z->avail_in;
		}
		uInt wanted = n < PIECE ? (uInt)n : PIECE;
		z->next_out = at;
		z->avail_out = wanted;
		int status = inflate(z, Z_NO_FLUSH);
		uInt got = wanted - z->avail_out;
		at += got;
		n -= got;
		bool stuck = status == Z_BUF_ERROR && z->avail_in == 0 && s->left == 0;
		if ((status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) || stuck ||
		    (status == Z_STREAM_END && n))
			return lb_fail("%s: %.64s: the compressed member is %s", s->path, s->name,
				       status == Z_DATA_ERROR ? "damaged" : "shorter than it should be");
	}
	return true;
}

void lb_inflate_end(struct lb_inflate *s)
{
	if (!s)
		return;
	inflateEnd(&s->z);
	free(s);
}

#else

struct lb_inflate *lb_inflate_begin(const uint8_t *packed, uint64_t n, const char *path, const char *name)
{
	(void)packed;
	(void)n;
	lb_fail("%s: %.64s is compressed, and this library was built without zlib; save it with "
		"numpy.savez(), or install zlib1g-dev and build again",
		path, name);
	return NULL;
}

bool lb_inflate_read(struct lb_inflate *s, void *to, uint64_t n)
{
	(void)s;
	(void)to;
	return n == 0;
}

void lb_inflate_end(struct lb_inflate *inflate)
{
	(void)inflate;
}
#endif
