/* The threads take no signals, for in a debugger those are its own. */
#define _GNU_SOURCE
#include "inspect/measure/crew.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "kernels/kernels.h"

enum { THREADS = 64, STACK = 1 << 20 };

struct crew {
	void (*work)(void *context, int64_t part);
	void *context;
	int64_t end;
	_Atomic int64_t next;
};

/* Takes a part and works on it; false when there is none left. */
static bool work(struct crew *crew)
{
	int64_t i = atomic_fetch_add(&crew->next, 1);

	if (i >= crew->end)
		return false;
	crew->work(crew->context, i);
	return true;
}

static void *thread_main(void *crew)
{
	while (work(crew))
		;
	return NULL;
}

static int start_threads(struct crew *crew, pthread_t *threads)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int64_t most = crew->end - crew->next - 1;
	int n = 0;

	if (most > lb_parallel_width() - 1)
		most = lb_parallel_width() - 1;
	if (most > THREADS)
		most = THREADS;
	if (pthread_attr_init(&attributes) != 0)
		return 0;
	pthread_attr_setstacksize(&attributes, STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (n < most &&
	       pthread_create(&threads[n], &attributes, thread_main, crew) == 0)
		n++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return n;
}

bool lbx_crew_run(struct lbx_out *out, const char *doing, int64_t begin, int64_t end,
		  int64_t per_part, int64_t total, void (*fn)(void *context, int64_t part),
		  void *context)
{
	struct crew crew = { .work = fn, .context = context, .end = end,
			     .next = begin };
	pthread_t threads[THREADS];
	bool done, more;
	int n = start_threads(&crew, threads);

	do {
		more = work(&crew);
		int64_t at = atomic_load(&crew.next) * per_part;
		done = lbx_progress(out, doing, at < total ? at : total, total);
	} while (done && more);
	atomic_store(&crew.next, end);
	while (n > 0)
		pthread_join(threads[--n], NULL);
	return done;
}
