/* Waits, or dies, while variables that each thread has for itself hold its tensors. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "lazybones.h"

void keep_in_library(lb_tensor *x);

#ifdef LIBRARY
_Thread_local lb_tensor *in_library;

void keep_in_library(lb_tensor *x)
{
	in_library = x;
}
#else
_Thread_local char odd = 1;
_Thread_local lb_tensor *current;
static _Alignas(64) _Thread_local lb_tensor *rows[3];
static pthread_barrier_t ready;

static lb_tensor *ones(const char *name)
{
	return lb_keep(lb_named(name, lb_ones(LB_SHAPE(2), LB_F32)));
}

static void step(lb_tensor *x)
{
	static _Thread_local lb_tensor *last;
	last = x;
}

static void *work(void *unused)
{
	(void)unused;
	current = ones("worker_current");
	rows[1] = ones("worker_row");
	step(ones("worker_last"));
	pthread_barrier_wait(&ready);
	pthread_barrier_wait(&ready);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	(void)argv;
	pthread_barrier_init(&ready, NULL, 2);
	pthread_create(&thread, NULL, work, NULL);
	current = ones("main_current");
	rows[2] = ones("main_row");
	keep_in_library(ones("library"));
	pthread_barrier_wait(&ready);
	puts("ready");
	fflush(stdout);
	if (argc > 1)
		getchar();
	else
		abort();
	pthread_barrier_wait(&ready);
	return odd - 1;
}
#endif
