/* A program that unloads a library and loads another, which comes to lie where the first one was; and the library, each time from
 * other lines, as it seems. */
#include <dlfcn.h>
#include <stdio.h>

#include "lazybones.h"

#if defined LIBRARY
#line LIBRARY "tests/gdb/exchanged.c"
lb_tensor *make(void)
{
	return lb_ones(LB_SHAPE(3), LB_F32);
}
#else
__attribute__((noinline)) static void checkpoint(lb_tensor *made)
{
	__asm__ volatile("" : : "r"(made));
}

int main(void)
{
	const char *const libraries[] = { "./libfirst.so", "./libsecond.so" };
	lb_tensor *(*makes[2])(void);

	for (int i = 0; i < 2; i++) {
		void *library = dlopen(libraries[i], RTLD_NOW);
		makes[i] = library ? (lb_tensor * (*)(void)) dlsym(library, "make") : NULL;
		if (!makes[i])
			return 1;
		LB_SCOPE
			checkpoint(lb_named("made", makes[i]()));
		dlclose(library);
	}
	puts(makes[0] == makes[1] ? "at one place" : "at two places");
	return 0;
}
#endif
