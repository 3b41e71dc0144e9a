/* A core is read at random, and a zstd frame only from its beginning: so it is unpacked once, to a
 * file rather than to memory, for cores are larger than memory may be. The file has no name and
 * goes with the process. Runs of zeros become holes in it, and what does not begin as an ELF file is not
 * unpacked any further: a bomb takes neither disk nor time. */
#define _GNU_SOURCE
#include "target/unpack.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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

static bool is_elf(const char *bytes, size_t n)
{
	return n >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0;
}

/* Waits for more; 0: it has ended. */
static ssize_t read_pipe(int from, char *to, size_t n)
{
	for (;;) {
		ssize_t got = read(from, to, n);
		struct pollfd wait = { .fd = from, .events = POLLIN };
		if (got >= 0 || (errno != EAGAIN && errno != EINTR))
			return got;
		poll(&wait, 1, -1);
	}
}

static bool spool(int from, const char *path, int64_t max, int to)
{
	static char block[1 << 16];
	int64_t at = 0;
	ssize_t got;

	while ((got = read_pipe(from, block, sizeof block)) > 0) {
		if (at == 0 && got >= 16 && !is_elf(block, (size_t)got) && memcmp(block, "\x28\xb5\x2f\xfd", 4) != 0)
			return lb_fail("what comes from %s is not a core: neither an ELF file nor one "
				       "compressed by zstd",
				       path);
		if (got > max - at)
			return lb_fail("%s gives more than %lld bytes (--unpack allows more)", path, (long long)max);
		if (!put(to, block, (size_t)got, at))
			return false;
		at += got;
	}
	if (got < 0)
		return lb_fail("cannot read %s: %s", path, strerror(errno));
	if (at == 0)
		return lb_fail("nothing came from %s", path);
	return ftruncate(to, at) == 0 || lb_fail("cannot write what was read: %s", strerror(errno));
}

bool lbx_spool(int from, const char *path, int64_t max, int *ret)
{
	int to = nameless_file();

	if (to < 0)
		return false;
	if (!spool(from, path, max, to)) {
		close(to);
		return false;
	}
	*ret = to;
	return true;
}

#if LB_HAVE_ZSTD
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
				return lb_fail("%s cannot be unpacked, zstd says: %s", path, ZSTD_getErrorName(status));
			if ((int64_t)out.pos > max - at)
				return lb_fail("%s unpacks to more than %lld bytes (--unpack allows more)", path,
					       (long long)max);
			if (at == 0 && out.pos >= SELFMAG && !is_elf(s->out, out.pos))
				return lb_fail("%s is not an ELF file: zstd packed something else", path);
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
	struct stream s = { .zstd = ZSTD_createDStream(),
			    .in_size = ZSTD_DStreamInSize(),
			    .out_size = ZSTD_DStreamOutSize() };
	int to = nameless_file();

	s.in = malloc(s.in_size);
	s.out = malloc(s.out_size);
	bool done =
	    to >= 0 && ((s.zstd && s.in && s.out) || lb_fail("out of memory")) && unpack(&s, from, path, max, to);
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
	return lb_fail("%s is compressed: unpack it first, for instance by `zstd -d CORE.zst -o CORE` (this program "
		       "was built without libzstd)",
		       path);
}
#endif
