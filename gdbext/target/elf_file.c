#define _GNU_SOURCE
#include "target/elf_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

bool lbx_elf_file(const char *path, bool (*ask)(Elf *elf, void *context), void *context)
{
	struct stat s;
	lb_auto_close int fd = stat(path, &s) == 0 && S_ISREG(s.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	bool answer = elf && elf_kind(elf) == ELF_K_ELF && ask(elf, context);
	elf_end(elf);
	return answer;
}
