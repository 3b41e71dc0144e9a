#define _GNU_SOURCE
#include "inspect/near.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

bool lbx_find_near(const char *variable, const char *const *places, int mode, char ret[PATH_MAX])
{
	const char *named = getenv(variable), *name = strrchr(places[0], '/') + 1;
	Dl_info info;
	char own[PATH_MAX];

	if (named && *named) {
		snprintf(ret, PATH_MAX, "%s", named);
		return access(ret, mode) == 0 ||
		       lb_fail("%s=%s cannot be %s", variable, named, mode & X_OK ? "run" : "read");
	}
	/* of the program itself the dynamic linker knows only argv[0] */
	if (!dladdr((void *)(uintptr_t)lbx_find_near, &info) ||
	    !realpath(strchr(info.dli_fname, '/') ? info.dli_fname : "/proc/self/exe", own))
		return lb_fail("cannot tell where %s is; name it in %s", name, variable);
	*strrchr(own, '/') = '\0';
	for (; *places; places++)
		if (snprintf(ret, PATH_MAX, "%s/%s", own, *places) < PATH_MAX && access(ret, mode) == 0)
			return true;
	return lb_fail("there is no %s near %s; name it in %s", name, own, variable);
}

bool lbx_find_loader(char ret[PATH_MAX])
{
	static const char *const places[] = { "../lazybones.gdb", "../share/lazybones/lazybones.gdb", NULL };

	return lbx_find_near("LAZYBONES_GDB", places, R_OK, ret);
}
