#define _GNU_SOURCE
#include "inspect/operand/array_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "inspect/replay/replayer.h"
#include "io/mapping.h"
#include "replay/wire.h"
#include "target/printable.h"
#include "target/target.h"

enum { PIECE = 1 << 26 };

_Static_assert((int)LBX_WIRE_AXES <= (int)LBX_ARRAY_RANK, "an array holds what the answer may have");

/* The bytes that the answer speaks of, checked: the process that gave it may have been misled. */
static bool lay_over(const char *path, const struct lbx_wire_file *answer, const char *data, uint64_t size,
		     struct lbx_array_file *ret)
{
	int64_t strides[LBX_WIRE_AXES], stride = 1;

	if (answer->dtype >= LB_DTYPES || answer->rank > LBX_WIRE_AXES || answer->at > size ||
	    size - answer->at < answer->nbytes || answer->nbytes > INT64_MAX)
		return lb_fail("%s changed while it was read", path);
	for (int i = 0; i < answer->rank; i++) {
		int axis = answer->fortran ? i : answer->rank - 1 - i;
		strides[axis] = stride;
		if (answer->shape[axis] && !lb_mul(stride, answer->shape[axis], &stride))
			return lb_fail("%s: its shape is too large", path);
	}
	return lbx_array_local(data + answer->at, (int64_t)answer->nbytes, (enum lb_dtype)answer->dtype, answer->rank,
			       answer->shape, strides, 0, &ret->array);
}

/* The elements as they are now: who reads on in a mapped file that became shorter dies by SIGBUS. */
static bool copy_elements(struct lbx_out *out, const char *path, int fd, struct lbx_wire_file *answer,
			  struct lbx_array_file *ret)
{
	struct stat st;
	uint64_t n = answer->nbytes, done = 0;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size < answer->at ||
	    (uint64_t)st.st_size - answer->at < n)
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
		    pread(fd, (char *)ret->map + done, n - done < PIECE ? n - done : PIECE, (off_t)(answer->at + done));
		if (got <= 0)
			return lb_fail("%s changed while it was read", path);
		done += (uint64_t)got;
		if (!lbx_progress(out, "reading the file", (int64_t)done, (int64_t)n))
			return false;
	}
	answer->at = 0;
	return lay_over(path, answer, ret->map, n, ret);
}

static bool in_place(struct lbx_context *context, const char *path, struct lbx_wire_file *answer,
		     struct lbx_array_file *ret)
{
	if (!context->debugger) { /* the command has a process of its own for this */
		ret->mapping = lb_mapping_open(path);
		return ret->mapping &&
		       lay_over(path, answer, (const char *)ret->mapping->data, ret->mapping->size, ret);
	}
	lb_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return lb_fail("%s: %s", path, strerror(errno));
	return copy_elements(context->out, path, fd, answer, ret);
}

/* `path` is as it was asked for; names and messages hold what is in the file. */
static bool take(struct lbx_context *context, const char *path, struct lbx_wire_file *answer, int fd,
		 struct lbx_array_file *ret)
{
	answer->error[sizeof answer->error - 1] = answer->name[sizeof answer->name - 1] = '\0';
	lbx_make_printable(answer->error);
	lbx_make_printable(answer->name);
	if (answer->status != LBX_WIRE_DONE)
		return lb_fail("%s", answer->error[0] ? answer->error : "the file's reader gave no answer");
	snprintf(ret->name, sizeof ret->name, "%.511s", answer->name);
	ret->is_only = answer->is_only;
	ret->group = answer->group;
	if (answer->in_place)
		return in_place(context, path, answer, ret);
	off_t size = lseek(fd, 0, SEEK_END);
	ret->map_bytes = size > 0 ? (size_t)size : 0;
	ret->map = mmap(NULL, ret->map_bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (ret->map == MAP_FAILED) {
		ret->map = NULL;
		return lb_fail("no room to map %zu byte%s", ret->map_bytes, LB_S(ret->map_bytes));
	}
	return lay_over(path, answer, ret->map, ret->map_bytes, ret);
}

static bool ask(struct lbx_context *context, const char *path, int fd, struct lbx_wire_file *request,
		struct lbx_array_file *ret)
{
	return (pwrite(fd, request, sizeof *request, 0) == (ssize_t)sizeof *request ||
		lb_fail("cannot write to shared memory")) &&
	       lbx_replayer_run(context->out, fd, context->settings->replay_seconds, "reading the file",
				"reading the file") &&
	       (pread(fd, request, sizeof *request, 0) == (ssize_t)sizeof *request ||
		lb_fail("cannot read from shared memory")) &&
	       take(context, path, request, fd, ret);
}

bool lbx_array_file_open(struct lbx_context *context, const char *path, const char *name, const char *like,
			 struct lbx_array_file *ret)
{
	struct lbx_wire_file request = {
		.magic = LBX_WIRE_FILE_MAGIC,
		.version = LBX_WIRE_VERSION,
		.max_memory = (uint64_t)context->settings->replay_memory,
		.max_seconds = (uint64_t)context->settings->replay_seconds,
	};

	*ret = (struct lbx_array_file){ .mapping = NULL };
	if (strlen(path) >= sizeof request.path || strlen(name) >= sizeof request.name)
		return lb_fail("a path or a name that is too long");
	strcpy(request.path, path);
	strcpy(request.name, name);
	snprintf(request.like, sizeof request.like, "%.511s", like);
	lb_auto_close int fd = memfd_create("lazybones-file", MFD_CLOEXEC);
	bool done = fd >= 0 ? ask(context, path, fd, &request, ret) : lb_fail("cannot create a shared memory file");
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
