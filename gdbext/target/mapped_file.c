#define _GNU_SOURCE
#include "target/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/cleanup.h"

bool lbx_mapped_file_open(const char *path, struct lbx_mapped_file *ret)
{
	struct stat st;
	/* O_NONBLOCK: a FIFO must not wait for its writer */
	lb_auto_close int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;

	*ret = (struct lbx_mapped_file){ .bytes = NULL };
	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
		return false;
	void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return false;
	*ret = (struct lbx_mapped_file){ bytes, (uint64_t)st.st_size, st.st_mtim };
	return true;
}

void lbx_mapped_file_close(struct lbx_mapped_file *file)
{
	if (file->bytes)
		munmap((void *)(uintptr_t)file->bytes, file->size);
	file->bytes = NULL;
}
