/* Eight threads that build and evaluate until the program is killed, and wait for each other: gdb stops it
 * anywhere, often in the C library's locks. */
#include <pthread.h>
#include <stdlib.h>

#include "lazybones.h"

enum { THREADS = 8, STEPS = 4 };

static char names[THREADS][4] = { "by0", "by1", "by2", "by3", "by4", "by5", "by6", "by7" };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long steps;

static lb_tensor *step(lb_tensor *x, int i)
{
	pthread_mutex_lock(&lock);
	steps++;
	pthread_mutex_unlock(&lock);
	return lb_multiply(lb_add(lb_matmul(x, x), lb_scalar(i)), lb_scalar(0.01));
}

static void *work(void *name)
{
	for (;;) {
		LB_SCOPE {
			lb_tensor *x = lb_ones(LB_SHAPE(4, 4), LB_F32);

			for (int i = 0; i < STEPS; i++)
				x = step(x, i);
			if (!lb_eval(lb_named(name, x)))
				abort();
		}
	}
	return 0;
}

int main(void)
{
	pthread_t thread;

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, 0, work, names[i]))
			return 1;
	pthread_join(thread, 0);
}
