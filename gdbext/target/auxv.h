/* A process's auxiliary vector, as the kernel left it in /proc/PID/auxv or a core's note. */
#ifndef LBX_AUXV_H
#define LBX_AUXV_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The value of an entry; 0 when there is none. */
static inline uint64_t lbx_auxv(const void *vector, size_t size, uint64_t type)
{
	Elf64_auxv_t entry;

	for (size_t at = 0; size - at >= sizeof entry; at += sizeof entry) {
		memcpy(&entry, (const char *)vector + at, sizeof entry);
		if (entry.a_type == AT_NULL)
			break;
		if (entry.a_type == type)
			return entry.a_un.a_val;
	}
	return 0;
}

#endif
