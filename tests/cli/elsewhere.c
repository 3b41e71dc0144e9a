/* Waits. Built twice, with its variables the other way round: which of them a process is, its own files tell. */
#include <stdio.h>
#include <unistd.h>

#include "lazybones.h"

lb_tensor *FIRST, *SECOND;

int main(void)
{
	FIRST = lb_keep(lb_named("one", lb_full(LB_SHAPE(2), 1, LB_F32)));
	SECOND = lb_keep(lb_named("two", lb_full(LB_SHAPE(2), 2, LB_F32)));
	lb_eval(FIRST, SECOND);
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
