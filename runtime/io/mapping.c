#include "io/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"

static bool map(struct lb_mapping *mapping, int fd)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return lb_fail("%s: %s", mapping->path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return lb_fail("%s: only regular files can be read", mapping->path);
	mapping->size = (uint64_t)st.st_size;
	if (mapping->size == 0)
		return true;
	void *data = mmap(NULL, mapping->size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return lb_fail("%s: cannot be mapped: %s", mapping->path, strerror(errno));
	mapping->data = data;
	return true;
}

static struct lb_mapping *create(const char *path)
{
	struct lb_mapping *mapping = calloc(1, sizeof *mapping + strlen(path) + 1);
	if (!mapping) {
		lb_fail("%s: out of memory", path);
		return NULL;
	}
	strcpy(mapping->path, path);
	mapping->refs = 1;
	return mapping;
}

struct lb_mapping *lb_mapping_open(const char *path)
{
	struct lb_mapping *mapping = create(path);
	if (!mapping)
		return NULL;
	/* O_NONBLOCK: a FIFO must not wait for its writer */
	lb_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool ok = fd >= 0 ? map(mapping, fd) : lb_fail("%s: %s", path, strerror(errno));
	if (!ok) {
		free(mapping);
		return NULL;
	}
	return mapping;
}

struct lb_mapping *lb_mapping_copy(const char *name, const void *bytes, size_t n)
{
	struct lb_mapping *mapping = create(name);
	if (!mapping)
		return NULL;
	void *data = NULL;
	mapping->is_copy = true;
	mapping->size = n;
	if (n && posix_memalign(&data, 64, n) != 0) {
		lb_fail("%s: out of memory for %zu bytes", name, n);
		lb_mapping_drop(mapping);
		return NULL;
	}
	if (n)
		memcpy(data, bytes, n);
	mapping->data = data;
	return mapping;
}

void lb_mapping_retain(struct lb_mapping *mapping)
{
	__atomic_fetch_add(&mapping->refs, 1, __ATOMIC_RELAXED);
}

void lb_mapping_drop(struct lb_mapping *mapping)
{
	if (!mapping || __atomic_sub_fetch(&mapping->refs, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	if (mapping->is_copy)
		free((void *)mapping->data);
	else if (mapping->data)
		munmap((void *)mapping->data, mapping->size);
	free(mapping);
}
