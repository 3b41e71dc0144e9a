#define _GNU_SOURCE
#include "base/caller.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

const char *lb_describe_caller(const void *site, char *text, size_t size)
{
	Dl_info info = { 0 };
	uintptr_t pc = (uintptr_t)site;
	if (!dladdr(site, &info) || !info.dli_fname) {
		snprintf(text, size, "%p", site);
		return text;
	}
	const char *file = strrchr(info.dli_fname, '/');
	file = file ? file + 1 : info.dli_fname;
	uintptr_t base = info.dli_sname ? (uintptr_t)info.dli_saddr : (uintptr_t)info.dli_fbase;
	snprintf(text, size, "%s(%s+%#lx) [%p]", file, info.dli_sname ? info.dli_sname : "", (unsigned long)(pc - base),
		 site);
	return text;
}
