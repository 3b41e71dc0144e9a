#include "replay/file.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "io/file.h"
#include "io/npy.h"
#include "kernels/kernels.h"
#include "replay/result.h"

/* The names that there are, as far as the message holds them. */
static void fail_for_name(const lb_file *file, const char *name)
{
	enum { SHOWN = 8 };
	char text[400];
	size_t at = 0;
	int64_t n = lb_file_count(file);

	text[0] = '\0';
	for (int64_t i = 0; i < n && i < SHOWN && at + 80 < sizeof text; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%.60s", i ? ", " : "", lb_file_name(file, i));
	if (n == 0)
		lb_fail("%s holds no arrays", file->mapping->path);
	else if (*name)
		lb_fail("%s holds no '%.100s', but %s%s", file->mapping->path, name, text, n > SHOWN ? ", …" : "");
	else
		lb_fail("%s holds %lld array%s: %s%s; say which, as FILE:NAME", file->mapping->path, (long long)n,
			LB_S(n), text, n > SHOWN ? ", …" : "");
}

/* By name, or the only one, or the one of the same name as what it is compared with. */
static const struct lb_entry *choose(const lb_file *file, const struct lbx_wire_file *request)
{
	const char *name = request->name[0] ? request->name : request->like;

	if (file->n == 1 && !request->name[0])
		return &file->entries[0];
	for (int64_t i = 0; i < file->n; i++)
		if (name[0] && strcmp(file->entries[i].name, name) == 0)
			return &file->entries[i];
	fail_for_name(file, request->name);
	return NULL;
}

/* Plain elements, or blocks: whoever asks can decode those, too. */
static bool lies_as_it_is(const lb_file *file, const struct lb_entry *entry)
{
	const struct lb_array *a = &entry->array;

	return file->format != &lb_format_npz && !entry->unknown &&
	       (a->encoding != LB_BIG_ENDIAN || lb_dtypes[a->dtype].bytes == 1);
}

static struct lbx_wire_place place_of(const struct lb_array *a)
{
	return (struct lbx_wire_place){ .dtype = (uint8_t)a->dtype,
					.encoding =
					    a->encoding == LB_BIG_ENDIAN ? LB_LITTLE_ENDIAN : (uint8_t)a->encoding,
					.rank = (uint8_t)a->rank,
					.fortran = a->fortran,
					.in_place = 1,
					.at = a->at,
					.nbytes = a->nbytes };
}

static void describe(struct lbx_wire_file *to, const lb_file *file, const struct lb_entry *entry)
{
	snprintf(to->name, sizeof to->name, "%s", entry->name);
	to->is_only = file->n == 1;
	to->group = (uint32_t)lb_blocks[entry->array.encoding].elements;
}

static bool point_at(struct lbx_wire_file *to, const struct lb_array *a)
{
	to->place = place_of(a);
	memcpy(to->shape, a->shape, (size_t)a->rank * sizeof *to->shape);
	return true;
}

_Static_assert((int)LB_NPY_AXES <= (int)LBX_WIRE_AXES, "what a file may have, an answer holds");

/* Its elements lie in one row, whatever its axes. */
static bool point_at_more_axes(struct lbx_wire_file *to, const struct lb_npy_shape *shape)
{
	to->place.rank = (uint8_t)shape->rank;
	to->place.fortran = shape->fortran;
	memcpy(to->shape, shape->sizes, (size_t)shape->rank * sizeof *to->shape);
	return true;
}

static bool give(struct lbx_wire_file *to, lb_file *file, const struct lb_entry *entry)
{
	describe(to, file, entry);
	if (lies_as_it_is(file, entry))
		return point_at(to, &entry->array);
	lb_tensor *x = file->shape ? lb_file_get_in_place(file, entry, false, NULL) : lb_file_get(file, entry->name);
	if (!x || !lb_eval(x) || !lbx_append_result(x, sizeof *to, &to->place.at, &to->place.nbytes))
		return false;
	to->place.dtype = (uint8_t)lb_dtype_of(x);
	to->place.rank = (uint8_t)lb_rank(x);
	memcpy(to->shape, lb_shape(x), (size_t)lb_rank(x) * sizeof *to->shape);
	return true;
}

/* An array whose axes are elsewhere is asked for by its name. */
static void enter(struct lbx_wire_entry *to, const lb_file *file, const struct lb_entry *entry)
{
	const struct lb_array *a = &entry->array;

	snprintf(to->type, sizeof to->type, "%.15s", entry->type);
	if (file->shape || !lies_as_it_is(file, entry))
		return;
	to->place = place_of(a);
	memcpy(to->shape, a->shape, (size_t)a->rank * sizeof *to->shape);
}

static bool list(struct lbx_wire_file *to, const lb_file *file)
{
	size_t n = (size_t)file->n, entries = n * sizeof(struct lbx_wire_entry), names = 0;

	for (size_t i = 0; i < n; i++)
		names += strlen(file->entries[i].name) + 1;
	if (n > UINT32_MAX)
		return lb_fail("%s holds %zu arrays, more than can be listed", file->mapping->path, n);
	char *room = lbx_append_room(sizeof *to, entries + names, &to->place.at, &to->place.nbytes);
	if (!room)
		return false;
	to->n = (uint32_t)n;
	for (size_t i = 0, at = entries; i < n; i++) {
		struct lbx_wire_entry entry = { .name_at = to->place.at + at };
		size_t length = strlen(file->entries[i].name) + 1;
		enter(&entry, file, &file->entries[i]);
		memcpy(room + i * sizeof entry, &entry, sizeof entry);
		memcpy(room + at, file->entries[i].name, length);
		at += length;
	}
	return true;
}

static bool answer(struct lbx_wire_file *to, lb_file *file)
{
	const struct lb_entry *entry = choose(file, to);

	return entry && give(to, file, entry) && (!file->shape || point_at_more_axes(to, file->shape));
}

bool lbx_answer_file(struct lbx_wire_file *request)
{
	request->path[sizeof request->path - 1] = '\0';
	request->name[sizeof request->name - 1] = '\0';
	request->like[sizeof request->like - 1] = '\0';
	lb_file *file = lb_open(request->path);
	bool done = file && (request->lists ? list(request, file) : answer(request, file));
	lb_file_close(file);
	return done;
}
