#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/loader.h"

#include <link.h>

/* The program comes first: a dynamic one names its loader. */
static int find_loader(struct dl_phdr_info *program, size_t size, void *ret)
{
	(void)size;
	for (int i = 0; i < program->dlpi_phnum; i++)
		if (program->dlpi_phdr[i].p_type == PT_INTERP)
			*(bool *)ret = true;
	return 1;
}

bool lb_has_loader(void)
{
	bool has_loader = false;

	dl_iterate_phdr(find_loader, &has_loader);
	return has_loader;
}
