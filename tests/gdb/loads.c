/* A program that loads a library by a relative path when it has run for a while, and the library. */
#include <dlfcn.h>

#include "lazybones.h"

#ifdef LIBRARY
void evaluate(void)
{
	LB_SCOPE
		lb_eval(lb_named("loaded", lb_exp(lb_ones(LB_SHAPE(3), LB_F32))));
}
#else
int main(void)
{
	LB_SCOPE
		lb_eval(lb_named("own", lb_negative(lb_ones(LB_SHAPE(2), LB_F32))));
	void *library = dlopen("./libloaded.so", RTLD_NOW);
	void (*evaluate)(void) = library ? (void (*)(void))dlsym(library, "evaluate") : NULL;
	if (evaluate)
		evaluate();
	return !evaluate;
}
#endif
