/* 300 children, several at a time, that evaluate once and are gone. */
#include <lazybones.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 300 };

int main(void)
{
	for (int i = 0; i < CHILDREN; i++) {
		if (fork() == 0) {
			LB_SCOPE
				lb_item(lb_sum(lb_ones(LB_SHAPE(10), LB_F32), LB_ALL_AXES, false));
			_exit(0);
		}
		while (i % 8 == 7 && waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	return 0;
}
