#include "io/zip_write.h"

#include <string.h>

#include "io/zip.h"

enum { ALIGNMENT = 64, NEEDS = 45 /* version 4.5: 64-bit sizes */ };

/* A record under construction; 64-bit fields and all, none is longer. */
struct record {
	uint8_t bytes[128];
	size_t n;
};

static void put(struct record *r, uint64_t value, size_t width)
{
	memcpy(r->bytes + r->n, &value, width);
	r->n += width;
}

/* What local and central headers have in common, up to the lengths. */
static void put_common(struct record *r, const struct lb_zip_member *m)
{
	enum { UTF8_NAMES = 1 << 11, DATE_1980_01_01 = 0x21 };
	put(r, NEEDS, 2);
	put(r, UTF8_NAMES, 2);
	put(r, LB_ZIP_STORED, 2);
	put(r, 0, 2);
	put(r, DATE_1980_01_01, 2);
	put(r, m->crc, 4);
	put(r, UINT32_MAX, 4);
	put(r, UINT32_MAX, 4);
	put(r, strlen(m->name) + 4, 2);
}

static bool write_name(struct lb_writer *w, const char *name)
{
	return lb_writer_put(w, name, strlen(name)) && lb_writer_put(w, ".npy", 4);
}

bool lb_zip_begin_member(struct lb_writer *w, struct lb_zip_member *m)
{
	static const uint8_t zeros[ALIGNMENT];
	enum { EXTRA64 = 4 + 16, PADDING = 4 };
	m->at = w->at;
	uint64_t start = w->at + LB_ZIP_LOCAL_BYTES + strlen(m->name) + 4 + EXTRA64 + PADDING;
	size_t padding = (size_t)(-start % ALIGNMENT);
	struct record local = { .n = 0 }, extra = { .n = 0 };
	put(&local, LB_ZIP_LOCAL, 4);
	put_common(&local, m);
	put(&local, EXTRA64 + PADDING + padding, 2);
	put(&extra, LB_ZIP_EXTRA64, 2);
	put(&extra, 16, 2);
	put(&extra, m->size, 8);
	put(&extra, m->size, 8);
	put(&extra, LB_ZIP_PADDING, 2);
	put(&extra, padding, 2);
	return lb_writer_put(w, local.bytes, local.n) && write_name(w, m->name) &&
	       lb_writer_put(w, extra.bytes, extra.n) && lb_writer_put(w, zeros, padding);
}

static bool write_central(struct lb_writer *w, const struct lb_zip_member *m)
{
	struct record r = { .n = 0 }, extra = { .n = 0 };
	put(&r, LB_ZIP_CENTRAL, 4);
	put(&r, NEEDS, 2);
	put_common(&r, m);
	put(&r, 4 + 24, 2);
	put(&r, 0, 2);          /* comment */
	put(&r, 0, 4);          /* disk, internal attributes */
	put(&r, 0, 4);          /* external attributes */
	put(&r, UINT32_MAX, 4); /* place: in the extra field */
	put(&extra, LB_ZIP_EXTRA64, 2);
	put(&extra, 24, 2);
	put(&extra, m->size, 8);
	put(&extra, m->size, 8);
	put(&extra, m->at, 8);
	return lb_writer_put(w, r.bytes, r.n) && write_name(w, m->name) && lb_writer_put(w, extra.bytes, extra.n);
}

static bool write_end(struct lb_writer *w, uint64_t n, uint64_t directory_at)
{
	struct record r = { .n = 0 };
	uint64_t end_at = w->at;
	put(&r, LB_ZIP_END64, 4);
	put(&r, 44, 8); /* bytes that follow */
	put(&r, NEEDS, 2);
	put(&r, NEEDS, 2);
	put(&r, 0, 8); /* disks */
	put(&r, n, 8);
	put(&r, n, 8);
	put(&r, end_at - directory_at, 8);
	put(&r, directory_at, 8);
	put(&r, LB_ZIP_LOCATOR64, 4);
	put(&r, 0, 4);
	put(&r, end_at, 8);
	put(&r, 1, 4);
	put(&r, LB_ZIP_END, 4);
	put(&r, 0, 4);
	put(&r, UINT16_MAX, 2);
	put(&r, UINT16_MAX, 2);
	put(&r, UINT32_MAX, 4);
	put(&r, UINT32_MAX, 4);
	put(&r, 0, 2); /* comment */
	return lb_writer_put(w, r.bytes, r.n);
}

bool lb_zip_end(struct lb_writer *w, int n, const struct lb_zip_member *members)
{
	uint64_t directory_at = w->at;
	for (int i = 0; i < n; i++) {
		if (!write_central(w, &members[i]))
			return false;
	}
	return write_end(w, (uint64_t)n, directory_at);
}
