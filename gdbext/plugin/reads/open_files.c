#include "plugin/reads/open_files.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "base/mix.h"

enum { DESCRIPTORS = 1024, GAP = 64 };

static struct {
	struct lbx_open_file files[DESCRIPTORS];
	int n;
	uint64_t number;
} now;

enum kind { NO_ELF, AN_ELF, A_CORE };

/* What a descriptor's file is, as remembered when the same file was there before. */
static enum kind kind_of(int fd, const struct stat *st)
{
	static struct {
		dev_t device;
		ino_t inode;
		struct timespec changed;
		enum kind kind;
	} known[DESCRIPTORS];
	Elf64_Ehdr header;

	if (!S_ISREG(st->st_mode))
		return NO_ELF;
	if (known[fd].device == st->st_dev && known[fd].inode == st->st_ino &&
	    memcmp(&known[fd].changed, &st->st_mtim, sizeof(st->st_mtim)) == 0)
		return known[fd].kind;
	known[fd].device = st->st_dev;
	known[fd].inode = st->st_ino;
	known[fd].changed = st->st_mtim;
	bool is_elf =
	    pread(fd, &header, sizeof(header), 0) == sizeof(header) && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
	return known[fd].kind = !is_elf ? NO_ELF : header.e_type == ET_CORE ? A_CORE : AN_ELF;
}

/* Scripts that gdb sources, sources that it lists, its logs. The files of the system have no size. */
static bool is_text(int fd, const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_size > 0 && kind_of(fd, st) == NO_ELF;
}

/* Descriptors are given lowest first; the plugin's own lie far above. */
void lbx_open_files_look(void)
{
	now.n = 0;
	now.number = 0;
	for (int fd = 3, gap = 0; fd < DESCRIPTORS && gap < GAP; fd++) {
		struct lbx_open_file *file = &now.files[now.n];
		if (fstat(fd, &file->st) != 0) {
			gap++;
			continue;
		}
		gap = 0;
		if (is_text(fd, &file->st))
			continue;
		file->fd = fd;
		now.n++;
		now.number = lb_mix(now.number + (uint64_t)fd) + lb_mix((uint64_t)file->st.st_dev + LB_MIX_STEP);
		now.number = lb_mix(now.number + (uint64_t)file->st.st_ino);
	}
}

const struct lbx_open_file *lbx_open_file(int i)
{
	return i < now.n ? &now.files[i] : NULL;
}

uint64_t lbx_open_files_number(void)
{
	return now.number;
}

bool lbx_is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       memcmp(&a->st_mtim, &b->st_mtim, sizeof(a->st_mtim)) == 0;
}

/* gdb keeps the file open from which it has read last. */
int lbx_open_cores(int *ret)
{
	const struct lbx_open_file *file, *first = NULL;
	int n = 0;

	for (int i = 0; (file = lbx_open_file(i)); i++) {
		if (kind_of(file->fd, &file->st) != A_CORE || (first && lbx_is_same_file(&first->st, &file->st)))
			continue;
		if (n++ == 0)
			first = file;
	}
	*ret = first ? first->fd : -1;
	return n;
}
