/* A core is read at random, and a zstd frame only from its beginning: so it is unpacked once, to a
 * file rather than to memory, for cores are larger than memory may be. The file has no name and
 * goes with the process. Runs of zeros become holes in it: a bomb of zeros takes no disk. */
#define _GNU_SOURCE
#include "target/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if LB_HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/error.h"

bool lbx_is_zstd(int fd)
{
	char magic[4];

	return pread(fd, magic, sizeof magic, 0) == sizeof magic &&
	       memcmp(magic, "\x28\xb5\x2f\xfd", sizeof magic) == 0;
}

#if LB_HAVE_ZSTD
enum { BLOCK = 16384 };

static int nameless_file(void)
{
	const char *dir = getenv("TMPDIR");
	int fd = open(dir && *dir ? dir : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		lb_fail("cannot make a file in %s to unpack to (TMPDIR names another place): %s",
			dir && *dir ? dir : "/var/tmp", strerror(errno));
	return fd;
}

static bool is_zero(const char *bytes, size_t n)
{
	return n == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0);
}

static bool put(int to, const char *bytes, size_t n, int64_t at)
{
	while (n > 0) {
		size_t block = n < BLOCK ? n : BLOCK;
		ssize_t done = is_zero(bytes, block) ? (ssize_t)block : pwrite(to, bytes, block, at);
		if (done <= 0 && errno != EINTR)
			return lb_fail("cannot write what is unpacked: %s", strerror(errno));
		if (done > 0) {
			bytes += done;
			n -= (size_t)done;
			at += done;
		}
	}
	return true;
}

struct stream {
	ZSTD_DStream *zstd;
	char *in, *out;
	size_t in_size, out_size;
};

static bool unpack(struct stream *s, int from, const char *path, int64_t max, int to)
{
	int64_t at = 0;
	ssize_t got;

	if (lseek(from, 0, SEEK_SET) != 0)
		return lb_fail("cannot read %s: %s", path, strerror(errno));
	while ((got = read(from, s->in, s->in_size)) > 0) {
		ZSTD_inBuffer in = { s->in, (size_t)got, 0 };
		ZSTD_outBuffer out = { s->out, s->out_size, s->out_size };
		while (in.pos < in.size || out.pos == out.size) {
			out.pos = 0;
			size_t status = ZSTD_decompressStream(s->zstd, &out, &in);
			if (ZSTD_isError(status))
				return lb_fail("%s cannot be unpacked, zstd says: %s", path,
					       ZSTD_getErrorName(status));
			if ((int64_t)out.pos > max - at)
				return lb_fail("%s unpacks to more than %lld bytes (--unpack allows more)", path,
					       (long long)max);
			if (!put(to, s->out, out.pos, at))
				return false;
			at += (int64_t)out.pos;
		}
	}
	if (got < 0)
		return lb_fail("cannot read %s: %s", path, strerror(errno));
	return ftruncate(to, at) == 0 || lb_fail("cannot write what is unpacked: %s", strerror(errno));
}

bool lbx_unpack_zstd(int from, const char *path, int64_t max, int *ret)
{
	struct stream s = { .zstd = ZSTD_createDStream(), .in_size = ZSTD_DStreamInSize(),
			    .out_size = ZSTD_DStreamOutSize() };
	int to = nameless_file();

	s.in = malloc(s.in_size);
	s.out = malloc(s.out_size);
	bool done = to >= 0 && ((s.zstd && s.in && s.out) || lb_fail("out of memory")) &&
		    unpack(&s, from, path, max, to);
	ZSTD_freeDStream(s.zstd);
	free(s.in);
	free(s.out);
	if (done)
		*ret = to;
	else if (to >= 0)
		close(to);
	return done;
}
#else
bool lbx_unpack_zstd(int from, const char *path, int64_t max, int *ret)
{
	(void)from;
	(void)max;
	(void)ret;
	return lb_fail("%s is compressed: unpack it first, as by `zstd -d CORE.zst -o CORE` (this program "
		       "was built without libzstd)", path);
}
#endif
