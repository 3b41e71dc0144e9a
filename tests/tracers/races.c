/* Takes 100000 buffers from the system and gives them back, in each of two threads at once, and one of 1 MiB that it
 * had before: begins, and ends, when it reads a line. */
#include <lazybones.h>
#include <pthread.h>
#include <stdio.h>

enum { TIMES = 100000 };

static void *work(void *context)
{
	for (int i = 0; i < TIMES; i++)
		LB_SCOPE
			lb_eval(lb_ones(LB_SHAPE(1000), LB_F32));
	return context;
}

int main(void)
{
	lb_tensor *before = NULL;
	pthread_t other;

	lb_set_cache_limit(0);
	LB_SCOPE {
		before = lb_keep(lb_ones(LB_SHAPE(512, 512), LB_F32));
		lb_eval(before);
	}
	puts("ready");
	fflush(stdout);
	getchar();
	if (pthread_create(&other, NULL, work, NULL) != 0)
		return 1;
	work(NULL);
	pthread_join(other, NULL);
	lb_release(before);
	puts(lb_ok() ? "done" : lb_error_message());
	fflush(stdout);
	getchar();
	return !lb_ok();
}
