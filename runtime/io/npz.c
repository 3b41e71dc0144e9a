/* .npz: a ZIP archive of .npy members, stored or deflated.
 *
 * The central directory, at the end, is what counts; each member's local header is checked
 * against it. A stored member is an array in the mapping like any other. A deflated one is
 * unpacked into a buffer when it is asked for: what it claims to hold is compared first with
 * what so many bytes can unpack to (1032 times as much at most), so a small file cannot ask
 * for a large buffer; its checksum is verified. That of a stored one is not: it would mean
 * reading all of it. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/plural.h"
#include "base/text.h"
#include "io/file.h"
#include "io/inflate.h"
#include "io/npy.h"
#include "io/zip.h"

enum { ENCRYPTED = 1 }; /* a member's flag */

struct directory {
	uint64_t at, size, count;
};

/* The end record, which only a comment follows; searched backwards, since that is variable. */
static bool find_end(const struct lb_cursor *file, struct lb_cursor *ret)
{
	uint64_t limit = LB_ZIP_END_BYTES + LB_ZIP_COMMENT_MAX;
	uint64_t first = file->size > limit ? file->size - limit : 0;
	for (uint64_t at = file->size; at-- > first;) {
		if (file->size - at < LB_ZIP_END_BYTES || memcmp(file->data + at, "PK\5\6", 4) != 0)
			continue;
		uint64_t comment = file->data[at + 20] | (uint64_t)file->data[at + 21] << 8;
		if (at + LB_ZIP_END_BYTES + comment != file->size)
			continue;
		*ret = *file;
		return lb_cursor_seek(ret, "end of central directory", at);
	}
	return lb_fail("%s: end of central directory: not found: the file is truncated or damaged", file->path);
}

/* The 64-bit end record, through the locator in front of the end record. */
static bool read_end64(const struct lb_cursor *file, uint64_t end_at, struct directory *ret)
{
	static const char field[] = "zip64 end of central directory";
	struct lb_cursor c = *file;
	uint32_t signature = 0, disks;
	uint64_t at, skipped;
	const uint8_t *versions;
	if (end_at < LB_ZIP_LOCATOR64_BYTES)
		return lb_fail("%s: %s: no room for its locator", file->path, field);
	if (!lb_cursor_seek(&c, field, end_at - LB_ZIP_LOCATOR64_BYTES) || !lb_cursor_u32(&c, field, &signature))
		return false;
	if (signature != LB_ZIP_LOCATOR64)
		return lb_fail("%s: %s: its locator is missing", file->path, field);
	if (!lb_cursor_u32(&c, field, &disks) || !lb_cursor_u64(&c, field, &at) || !lb_cursor_seek(&c, field, at) ||
	    !lb_cursor_u32(&c, field, &signature))
		return false;
	if (signature != LB_ZIP_END64)
		return lb_fail("%s: %s: not where its locator says", file->path, field);
	return lb_cursor_u64(&c, field, &skipped) && lb_cursor_take(&c, field, 12, &versions) &&
	       lb_cursor_u64(&c, field, &skipped) && lb_cursor_u64(&c, field, &ret->count) &&
	       lb_cursor_u64(&c, field, &ret->size) && lb_cursor_u64(&c, field, &ret->at);
}

static bool find_directory(const struct lb_cursor *file, struct directory *ret)
{
	static const char field[] = "end of central directory";
	struct lb_cursor c;
	uint16_t disk, directory_disk, here, count;
	uint32_t signature, size, at;
	if (!find_end(file, &c))
		return false;
	uint64_t end_at = c.at;
	if (!lb_cursor_u32(&c, field, &signature) || !lb_cursor_u16(&c, field, &disk) ||
	    !lb_cursor_u16(&c, field, &directory_disk) || !lb_cursor_u16(&c, field, &here) ||
	    !lb_cursor_u16(&c, field, &count) || !lb_cursor_u32(&c, field, &size) || !lb_cursor_u32(&c, field, &at))
		return false;
	*ret = (struct directory){ .at = at, .size = size, .count = count };
	if (count == UINT16_MAX || size == UINT32_MAX || at == UINT32_MAX)
		return read_end64(file, end_at, ret);
	if (disk || directory_disk || here != count)
		return lb_fail("%s: %s: an archive in several parts cannot be read", file->path, field);
	return true;
}

/* A member's record in the central directory. */
struct member {
	uint16_t flags, method, n_name, n_extra, n_comment;
	uint32_t crc;
	uint64_t packed, unpacked, at;
	const uint8_t *name;
};

/* What did not fit 32 bits stands in an extra field, in this order. */
static bool read_extra64(struct lb_cursor extra, struct member *m)
{
	static const char field[] = "central directory: zip64 sizes";
	uint64_t *const wide[] = { &m->unpacked, &m->packed, &m->at };
	while (lb_cursor_left(&extra) >= 4) {
		uint16_t id, n;
		struct lb_cursor part;
		if (!lb_cursor_u16(&extra, field, &id) || !lb_cursor_u16(&extra, field, &n) ||
		    !lb_cursor_part(&extra, field, extra.at, n, &part) || !lb_cursor_seek(&extra, field, extra.at + n))
			return false;
		for (int i = 0; id == LB_ZIP_EXTRA64 && i < 3; i++) {
			if (*wide[i] == UINT32_MAX && !lb_cursor_u64(&part, field, wide[i]))
				return false;
		}
	}
	return true;
}

static bool read_member(struct lb_cursor *c, struct member *m)
{
	static const char field[] = "central directory";
	uint32_t signature, times, packed, unpacked, external, at;
	uint16_t made_by, needs, disk, internal;
	const uint8_t *skipped;
	struct lb_cursor extra;
	if (!lb_cursor_u32(c, field, &signature))
		return false;
	if (signature != LB_ZIP_CENTRAL)
		return lb_fail("%s: %s: no member where one should be: the file is damaged", c->path, field);
	if (!lb_cursor_u16(c, field, &made_by) || !lb_cursor_u16(c, field, &needs) ||
	    !lb_cursor_u16(c, field, &m->flags) || !lb_cursor_u16(c, field, &m->method) ||
	    !lb_cursor_u32(c, field, &times) || !lb_cursor_u32(c, field, &m->crc) ||
	    !lb_cursor_u32(c, field, &packed) || !lb_cursor_u32(c, field, &unpacked) ||
	    !lb_cursor_u16(c, field, &m->n_name) || !lb_cursor_u16(c, field, &m->n_extra) ||
	    !lb_cursor_u16(c, field, &m->n_comment) || !lb_cursor_u16(c, field, &disk) ||
	    !lb_cursor_u16(c, field, &internal) || !lb_cursor_u32(c, field, &external) ||
	    !lb_cursor_u32(c, field, &at) || !lb_cursor_take(c, field, m->n_name, &m->name) ||
	    !lb_cursor_part(c, field, c->at, m->n_extra, &extra) || !lb_cursor_take(c, field, m->n_extra, &skipped) ||
	    !lb_cursor_take(c, field, m->n_comment, &skipped))
		return false;
	m->packed = packed;
	m->unpacked = unpacked;
	m->at = at;
	return read_extra64(extra, m);
}

/* Where the member's bytes begin, behind its local header. */
static bool find_bytes(const struct lb_cursor *file, const struct member *m, uint64_t *ret)
{
	static const char field[] = "local header";
	struct lb_cursor c = *file;
	uint32_t signature;
	uint16_t n_name, n_extra;
	const uint8_t *skipped, *name;
	char quoted[LB_QUOTED];
	if (!lb_cursor_seek(&c, field, m->at) || !lb_cursor_u32(&c, field, &signature))
		return false;
	if (signature != LB_ZIP_LOCAL)
		return lb_fail("%s: %s of '%s': not at %llu, where the directory has it", c.path, field,
			       lb_quoted(m->name, m->n_name, quoted), (unsigned long long)m->at);
	if (!lb_cursor_take(&c, field, 22, &skipped) || !lb_cursor_u16(&c, field, &n_name) ||
	    !lb_cursor_u16(&c, field, &n_extra) || !lb_cursor_take(&c, field, n_name, &name) ||
	    !lb_cursor_take(&c, field, n_extra, &skipped))
		return false;
	if (n_name != m->n_name || memcmp(name, m->name, n_name) != 0)
		return lb_fail("%s: %s of '%s': it has another name", c.path, field,
			       lb_quoted(m->name, m->n_name, quoted));
	*ret = c.at;
	return lb_cursor_take(&c, "member", m->packed, &skipped);
}

static bool add_member(struct lb_file *file, const struct lb_cursor *c, const struct member *m)
{
	static const char suffix[] = ".npy";
	const size_t n_suffix = sizeof suffix - 1;
	char quoted[LB_QUOTED];
	uint64_t at;
	if (m->n_name < n_suffix || memcmp(m->name + m->n_name - n_suffix, suffix, n_suffix) != 0)
		return true; /* no array */
	lb_quoted(m->name, m->n_name, quoted);
	if (!lb_is_text(m->name, m->n_name))
		return lb_fail("%s: central directory: name '%s' is not UTF-8", c->path, quoted);
	if (m->method == LB_ZIP_STORED && !(m->flags & ENCRYPTED) && m->packed != m->unpacked)
		return lb_fail("%s: member '%s' is stored uncompressed, but has two sizes", c->path, quoted);
	if (!find_bytes(c, m, &at))
		return false;
	char *name = strndup((const char *)m->name, m->n_name - n_suffix);
	struct lb_entry *entry = name ? lb_file_add(file, name) : NULL;
	if (!entry)
		return lb_fail("%s: out of memory", c->path);
	entry->array.at = at;
	entry->array.nbytes = entry->packed = m->packed;
	entry->unpacked = m->unpacked;
	entry->method = m->method;
	entry->encrypted = m->flags & ENCRYPTED;
	entry->crc = m->crc;
	return true;
}

static bool open_npz(struct lb_file *file)
{
	struct lb_cursor c = lb_mapping_cursor(file->mapping), list;
	struct directory directory;
	if (!find_directory(&c, &directory) ||
	    !lb_cursor_part(&c, "central directory", directory.at, directory.size, &list))
		return false;
	for (uint64_t i = 0; i < directory.count; i++) {
		struct member member;
		if (!read_member(&list, &member) || !add_member(file, &c, &member))
			return false;
	}
	return lb_file_check_overlap(file);
}

/* ---- members ---- */

static struct lb_tensor *get_stored(struct lb_file *file, const struct lb_entry *entry, bool raw, const void *site)
{
	struct lb_cursor whole = lb_mapping_cursor(file->mapping), c;
	struct lb_array array;
	const uint8_t *data;
	if (!lb_cursor_part(&whole, "member", entry->array.at, entry->packed, &c) ||
	    !lb_npy_header(&c, entry->name, &array) || !lb_cursor_take(&c, "elements", array.nbytes, &data))
		return NULL;
	array.at += entry->array.at;
	return lb_array_in_file(&array, file->mapping, raw, entry->name, site);
}

/* Unpacks what follows the header, and nothing may be left over or wrong then. */
static struct lb_buffer *unpack_elements(struct lb_inflate *inflate, const struct lb_array *array,
					 const struct lb_entry *entry, const char *path, uint32_t crc)
{
	if (array->nbytes > entry->unpacked - array->at) {
		lb_fail("%s: %.64s: its shape takes %llu byte%s, the member has %llu", path, entry->name,
			(unsigned long long)array->nbytes, LB_S(array->nbytes),
			(unsigned long long)(entry->unpacked - array->at));
		return NULL;
	}
	struct lb_buffer *buffer = lb_buffer_new((int64_t)array->nbytes, 0, false);
	if (!buffer)
		return NULL;
	void *data = (void *)(uintptr_t)buffer->data;
	bool ok = lb_inflate_read(inflate, data, array->nbytes);
	bool whole = ok && array->at + array->nbytes == entry->unpacked;
	if (whole && lb_crc32(crc, data, array->nbytes) != entry->crc)
		ok = lb_fail("%s: %.64s: checksum: the member is damaged", path, entry->name);
	if (ok)
		return buffer;
	lb_buffer_drop(buffer);
	return NULL;
}

static struct lb_tensor *unpack(struct lb_inflate *inflate, const struct lb_entry *entry, const char *path, bool raw,
				const void *site)
{
	uint8_t prefix[LB_NPY_PREFIX];
	struct lb_cursor c = { .data = prefix, .size = sizeof prefix, .path = path };
	uint64_t n;
	if (!lb_inflate_read(inflate, prefix, sizeof prefix) || !lb_npy_header_size(c, entry->name, &n))
		return NULL;
	if (n < sizeof prefix || n > entry->unpacked) {
		lb_fail("%s: %.64s: header length: the header does not fit the member", path, entry->name);
		return NULL;
	}
	lb_auto_free uint8_t *header = malloc(n);
	if (!header) {
		lb_fail("%s: %.64s: out of memory for its header", path, entry->name);
		return NULL;
	}
	memcpy(header, prefix, sizeof prefix);
	c.data = header;
	c.size = n;
	struct lb_array array;
	struct lb_buffer *buffer = NULL;
	if (lb_inflate_read(inflate, header + sizeof prefix, n - sizeof prefix) &&
	    lb_npy_header(&c, entry->name, &array))
		buffer = unpack_elements(inflate, &array, entry, path, lb_crc32(0, header, n));
	return buffer ? lb_array_in_buffer(&array, buffer, raw, entry->name, site) : NULL;
}

static struct lb_tensor *get_member(struct lb_file *file, const struct lb_entry *entry, bool raw, const void *site)
{
	const char *path = file->mapping->path;
	/* the others can be read all the same */
	if (entry->encrypted || (entry->method != LB_ZIP_STORED && entry->method != LB_ZIP_DEFLATED)) {
		if (entry->encrypted)
			lb_fail("%s: member '%.64s' is encrypted", path, entry->name);
		else
			lb_fail("%s: member '%.64s': unknown compression method %d", path, entry->name, entry->method);
		return NULL;
	}
	if (entry->method == LB_ZIP_STORED)
		return get_stored(file, entry, raw, site);
	if (entry->unpacked > INT64_MAX || entry->unpacked / 1032 > entry->packed) {
		lb_fail("%s: %.64s: %llu byte%s cannot unpack to the %llu that the directory claims", path, entry->name,
			(unsigned long long)entry->packed, LB_S(entry->packed), (unsigned long long)entry->unpacked);
		return NULL;
	}
	struct lb_inflate *inflate =
	    lb_inflate_begin(file->mapping->data + entry->array.at, entry->packed, path, entry->name);
	struct lb_tensor *t = inflate ? unpack(inflate, entry, path, raw, site) : NULL;
	lb_inflate_end(inflate);
	return t;
}

static bool recognise(const struct lb_mapping *mapping)
{
	/* a member, or the end of one without any */
	return lb_begins_with(mapping, "PK\3\4", 4) || lb_begins_with(mapping, "PK\5\6", 4);
}

const struct lb_format lb_format_npz = {
	.name = "npz",
	.recognise = recognise,
	.open = open_npz,
	.get = get_member,
};
