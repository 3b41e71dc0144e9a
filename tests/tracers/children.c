/* 300 children, several at a time, that evaluate once and are gone. With an argument: threads make them, ten at once. */
#include <lazybones.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILDREN = 300, THREADS = 10 };

static void make(int n)
{
	for (int i = 0; i < n; i++) {
		if (fork() == 0) {
			LB_SCOPE
				lb_item(lb_sum(lb_ones(LB_SHAPE(10), LB_F32), LB_ALL_AXES, false));
			_exit(0);
		}
		while (i % 8 == 7 && waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}

static void *make_some(void *context)
{
	make(CHILDREN / THREADS);
	return context;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	(void)argv;
	if (argc == 1)
		make(CHILDREN);
	for (int i = 0; argc > 1 && i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, make_some, NULL) != 0)
			return 1;
	for (int i = 0; argc > 1 && i < THREADS; i++)
		pthread_join(threads[i], NULL);
	while (waitpid(-1, NULL, 0) > 0)
		;
	return 0;
}
