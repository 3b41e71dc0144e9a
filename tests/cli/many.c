/* Dies while a hundred threads wait. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 100 };

static pthread_barrier_t all;

static void *wait_for_ever(void *unused)
{
	pthread_barrier_wait(&all);
	for (;;)
		pause();
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_barrier_init(&all, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0)
			return 1;
	pthread_barrier_wait(&all);
	abort();
}
