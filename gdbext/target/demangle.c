/* libiberty's demangler is gdb's own: it leaves the parameters out, as gdb does in a stack, bounds its
 * recursion, and is linked in statically, so that nothing comes to depend on a C++ library. (libstdc++'s
 * __cxa_demangle has the same code without these choices.) */
#include "target/demangle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if LB_HAVE_IBERTY
#include <libiberty/demangle.h>
#endif


enum { MOST = 4096 }; /* of what is demangled: names have a bound, hostile ones have none */

static void copy(const char *name, size_t n, char *ret, size_t size)
{
	static const char dots[] = "…";

	if (n < size) {
		memcpy(ret, name, n);
		ret[n] = '\0';
		return;
	}
	n = size - sizeof dots;
	while (n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80)
		n--;
	memcpy(ret, name, n);
	memcpy(ret + n, dots, sizeof dots);
}

void lbx_demangle(const char *name, char *ret, size_t size)
{
	char *plain = NULL;
	size_t n = strcspn(name, "@");

#if LB_HAVE_IBERTY
	if (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R') && n < MOST) {
		char *mangled = strndup(name, n);
		plain = mangled ? cplus_demangle(mangled, DMGL_ANSI | DMGL_AUTO) : NULL;
		free(mangled);
	}
#endif
	if (plain)
		copy(plain, strlen(plain), ret, size);
	else
		copy(name, n ? n : strlen(name), ret, size);
	free(plain);
}
