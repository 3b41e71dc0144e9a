/* Dies in a function that others have called with variables of the same name, while another thread waits with its own. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "lazybones.h"

static pthread_barrier_t barrier;

static lb_tensor *ones(const char *name)
{
	return lb_keep(lb_named(name, lb_ones(LB_SHAPE(2), LB_F32)));
}

static void inner(lb_tensor *x)
{
	(void)x;
	abort();
}

static void outer(lb_tensor *x, lb_tensor *only)
{
	inner(ones("deep"));
	(void)x, (void)only;
}

static void *wait(void *unused)
{
	lb_tensor *x = ones("waiting");

	pthread_barrier_wait(&barrier);
	pause();
	(void)x;
	return unused;
}

int main(void)
{
	lb_tensor *x = ones("shallow");
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, wait, NULL);
	pthread_barrier_wait(&barrier);
	outer(ones("middle"), x);
}
