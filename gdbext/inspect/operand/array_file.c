#define _GNU_SOURCE
#include "inspect/operand/array_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "inspect/replay/replayer.h"
#include "io/mapping.h"
#include "kernels/kernels.h"
#include "replay/wire.h"
#include "target/printable.h"
#include "target/target.h"

enum { PIECE = 1 << 26 };

_Static_assert((int)LBX_WIRE_AXES <= (int)LBX_ARRAY_RANK, "an array holds what the answer may have");

bool lbx_is_array_path(const char *path)
{
	static const char *const ends[] = { ".npy", ".npz", ".safetensors", ".gguf" };
	size_t n = strlen(path);

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (n > strlen(ends[i]) && strcmp(path + n - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

/* The bytes that the answer speaks of, checked: the process that gave it may have been misled. */
static bool lay_over(const char *path, const struct lbx_wire_place *place, const int64_t *shape, const char *data,
		     uint64_t size, struct lbx_array *ret)
{
	const struct lbx_encoding *blocks = NULL;
	int64_t strides[LBX_WIRE_AXES], stride = 1;

	if (place->encoding < LB_ENCODINGS && lb_blocks[place->encoding].elements)
		blocks = lbx_encoding_of_blocks(lb_blocks[place->encoding].ggml);
	if (place->dtype >= LB_DTYPES || (place->encoding != LB_LITTLE_ENDIAN && !blocks) ||
	    place->rank > LBX_WIRE_AXES || place->at > size || size - place->at < place->nbytes ||
	    place->nbytes > INT64_MAX)
		return lb_fail("%s changed while it was read", path);
	for (int i = 0; i < place->rank; i++) {
		int axis = place->fortran ? i : place->rank - 1 - i;
		strides[axis] = stride;
		if (shape[axis] && !lb_mul(stride, shape[axis], &stride))
			return lb_fail("%s: its shape is too large", path);
	}
	const void *elements = data ? data + place->at : NULL;
	return blocks ? lbx_array_encoded(elements, (int64_t)place->nbytes, blocks, place->rank, shape, strides, 0, ret)
		      : lbx_array_local(elements, (int64_t)place->nbytes, (enum lb_dtype)place->dtype, place->rank,
					shape, strides, 0, ret);
}

/* The elements as they are now: who reads on in a mapped file that became shorter dies by SIGBUS. */
static bool copy_elements(struct lbx_out *out, const char *path, int fd, struct lbx_wire_place place,
			  const int64_t *shape, struct lbx_array_file *ret)
{
	struct stat st;
	uint64_t n = place.nbytes, done = 0;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size < place.at ||
	    (uint64_t)st.st_size - place.at < n)
		return lb_fail("%s changed while it was read", path);
	if (n) {
		void *map = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (map == MAP_FAILED)
			return lb_fail("no room for %llu byte%s of %s", (unsigned long long)n, LB_S(n), path);
		ret->map = map;
		ret->map_bytes = n;
	}
	while (done < n) {
		ssize_t got =
		    pread(fd, (char *)ret->map + done, n - done < PIECE ? n - done : PIECE, (off_t)(place.at + done));
		if (got <= 0)
			return lb_fail("%s changed while it was read", path);
		done += (uint64_t)got;
		if (!lbx_progress(out, "reading the file", (int64_t)done, (int64_t)n))
			return false;
	}
	place.at = 0;
	return lay_over(path, &place, shape, ret->map, n, &ret->array);
}

static bool in_place(struct lbx_context *context, const char *path, const struct lbx_wire_place *place,
		     const int64_t *shape, struct lbx_array_file *ret)
{
	if (!context->debugger) { /* the command has a process of its own for this */
		ret->mapping = lb_mapping_open(path);
		return ret->mapping &&
		       lay_over(path, place, shape, (const char *)ret->mapping->data, ret->mapping->size, &ret->array);
	}
	lb_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return lb_fail("%s: %s", path, strerror(errno));
	return copy_elements(context->out, path, fd, *place, shape, ret);
}

/* What the answer holds behind its head; NULL, with an error, without room. */
static void *map_answer(int fd, size_t *ret_bytes)
{
	off_t size = lseek(fd, 0, SEEK_END);
	void *map;

	*ret_bytes = size > 0 ? (size_t)size : 0;
	map = mmap(NULL, *ret_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (map != MAP_FAILED)
		return map;
	lb_fail("no room to map %zu byte%s", *ret_bytes, LB_S(*ret_bytes));
	return NULL;
}

/* `path` is as it was asked for; names and messages hold what is in the file. */
static bool take(struct lbx_context *context, const char *path, struct lbx_wire_file *answer, int fd,
		 struct lbx_array_file *ret)
{
	answer->name[sizeof answer->name - 1] = '\0';
	lbx_make_printable(answer->name);
	snprintf(ret->name, sizeof ret->name, "%.511s", answer->name);
	ret->is_only = answer->is_only;
	ret->group = answer->group;
	if (answer->place.in_place)
		return in_place(context, path, &answer->place, answer->shape, ret);
	ret->map = map_answer(fd, &ret->map_bytes);
	return ret->map && lay_over(path, &answer->place, answer->shape, ret->map, ret->map_bytes, &ret->array);
}

static bool begin(struct lbx_context *context, const char *path, struct lbx_wire_file *ret)
{
	*ret = (struct lbx_wire_file){
		.magic = LBX_WIRE_FILE_MAGIC,
		.version = LBX_WIRE_VERSION,
		.max_memory = (uint64_t)context->settings->replay_memory,
		.max_seconds = (uint64_t)context->settings->replay_seconds,
	};
	if (strlen(path) >= sizeof ret->path)
		return lb_fail("a path that is too long");
	strcpy(ret->path, path);
	return true;
}

/* Asks the reader of files, by a shared memory file. */
static bool ask(struct lbx_context *context, int fd, struct lbx_wire_file *request)
{
	if (fd < 0)
		return lb_fail("cannot create a shared memory file");
	if (pwrite(fd, request, sizeof *request, 0) != (ssize_t)sizeof *request)
		return lb_fail("cannot write to shared memory");
	if (!lbx_replayer_run(context->out, fd, context->settings->replay_seconds, "reading the file",
			      "reading the file"))
		return false;
	if (pread(fd, request, sizeof *request, 0) != (ssize_t)sizeof *request)
		return lb_fail("cannot read from shared memory");
	request->error[sizeof request->error - 1] = '\0';
	lbx_make_printable(request->error);
	return request->status == LBX_WIRE_DONE ||
	       lb_fail("%s", request->error[0] ? request->error : "the file's reader gave no answer");
}

bool lbx_array_file_open(struct lbx_context *context, const char *path, const char *name, const char *like,
			 struct lbx_array_file *ret)
{
	struct lbx_wire_file request;

	*ret = (struct lbx_array_file){ .mapping = NULL };
	if (!begin(context, path, &request))
		return false;
	if (strlen(name) >= sizeof request.name)
		return lb_fail("a name that is too long");
	strcpy(request.name, name);
	snprintf(request.like, sizeof request.like, "%.511s", like);
	lb_auto_close int fd = memfd_create("lazybones-file", MFD_CLOEXEC);
	bool done = ask(context, fd, &request) && take(context, path, &request, fd, ret);
	if (!done)
		lbx_array_file_close(ret);
	return done;
}

void lbx_array_file_close(struct lbx_array_file *file)
{
	if (file->map)
		munmap(file->map, file->map_bytes);
	lb_mapping_drop(file->mapping);
	file->map = NULL;
	file->mapping = NULL;
}

/* ---- all arrays of a file ---- */

static bool take_list(const char *path, const struct lbx_wire_file *answer, int fd, struct lbx_array_list *ret)
{
	uint64_t at = answer->place.at, n = answer->place.nbytes, names = at + answer->n * sizeof *ret->entries;

	ret->map = map_answer(fd, &ret->map_bytes);
	if (!ret->map)
		return false;
	bool fits = at % _Alignof(struct lbx_wire_entry) == 0 && at <= ret->map_bytes && n <= ret->map_bytes - at &&
		    answer->n <= n / sizeof *ret->entries;
	ret->n = fits ? answer->n : 0;
	ret->entries = (const struct lbx_wire_entry *)(const void *)(ret->map + at);
	for (size_t i = 0; i < ret->n && fits; i++)
		fits = ret->entries[i].name_at >= names && ret->entries[i].name_at < at + n;
	if (!fits || (ret->n && ret->map[at + n - 1]))
		return lb_fail("%s changed while it was read", path);
	for (size_t i = 0; i < ret->n; i++)
		lbx_make_printable(ret->map + ret->entries[i].name_at);
	return true;
}

bool lbx_array_list_open(struct lbx_context *context, const char *path, struct lbx_array_list *ret)
{
	struct lbx_wire_file request;

	*ret = (struct lbx_array_list){ .context = context };
	if (!begin(context, path, &request))
		return false;
	request.lists = true;
	lb_auto_close int fd = memfd_create("lazybones-file", MFD_CLOEXEC);
	ret->path = strdup(path);
	bool done =
	    ret->path ? ask(context, fd, &request) && take_list(path, &request, fd, ret) : lb_fail("out of memory");
	if (!done)
		lbx_array_list_close(ret);
	return done;
}

void lbx_array_list_close(struct lbx_array_list *list)
{
	if (list->map)
		munmap(list->map, list->map_bytes);
	free(list->path);
	*list = (struct lbx_array_list){ .n = 0 };
}

const char *lbx_array_list_name(const struct lbx_array_list *list, size_t i)
{
	return list->map + list->entries[i].name_at;
}

bool lbx_array_list_describe(const struct lbx_array_list *list, size_t i, struct lbx_array *ret)
{
	struct lbx_wire_place place = list->entries[i].place;
	bool clean = lb_ok();

	place.at = 0;
	bool known = place.in_place && place.rank <= LB_MAX_RANK &&
		     lay_over(list->path, &place, list->entries[i].shape, NULL, place.nbytes, ret);
	if (clean)
		lb_clear_error();
	return known;
}

bool lbx_array_list_get(const struct lbx_array_list *list, size_t i, struct lbx_array_file *ret)
{
	const struct lbx_wire_place *place = &list->entries[i].place;

	if (!place->in_place || place->rank > LB_MAX_RANK)
		return lbx_array_file_open(list->context, list->path, lbx_array_list_name(list, i), "", ret);
	*ret = (struct lbx_array_file){ .mapping = NULL };
	snprintf(ret->name, sizeof ret->name, "%.511s", lbx_array_list_name(list, i));
	ret->is_only = list->n == 1;
	ret->group = place->encoding < LB_ENCODINGS ? lb_blocks[place->encoding].elements : 0;
	bool done = in_place(list->context, list->path, place, list->entries[i].shape, ret);
	if (!done)
		lbx_array_file_close(ret);
	return done;
}
