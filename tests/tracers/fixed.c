/* Waits for the end of its input; NAMED is the name of a function at an address that is the same each time. */
#include <stdio.h>

__attribute__((noinline)) int NAMED(void)
{
	return getchar();
}

int main(void)
{
	puts("ready");
	return fflush(stdout) != 0 || NAMED() == 0;
}
