/* The threads take no signals, for in a debugger those are its own. */
#define _GNU_SOURCE
#include "inspect/measure/crew.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/error.h"
#include "kernels/kernels.h"
#include "lazybones.h"

enum { THREADS = 64, STACK = 1 << 20 };

struct round {
	const struct lbx_crew *crew;
	int64_t end;
	_Atomic int64_t next;
	_Atomic bool failed;
	_Atomic bool told;        /* one thread writes `error` and `cause` */
	enum lb_cause cause;
	char error[LB_ERROR_MAX]; /* of another than the calling thread */
};

/* Takes a part and works on it; false when there is none left, or one has failed. */
static bool work(struct round *round)
{
	int64_t i = atomic_fetch_add(&round->next, 1);

	if (i >= round->end || atomic_load(&round->failed))
		return false;
	if (!round->crew->work(round->crew->context, i))
		atomic_store(&round->failed, true);
	return !atomic_load(&round->failed);
}

static void *thread_main(void *context)
{
	struct round *round = context;

	while (work(round))
		;
	if (!lb_ok() && !atomic_exchange(&round->told, true)) {
		round->cause = lb_error_cause();
		snprintf(round->error, sizeof round->error, "%s", lb_error_message());
	}
	return NULL;
}

static int start_threads(struct round *round, pthread_t *threads)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int64_t most = round->end - round->next - 1;
	int n = 0;

	if (most > lb_parallel_width() - 1)
		most = lb_parallel_width() - 1;
	if (most > THREADS)
		most = THREADS;
	if (pthread_attr_init(&attributes) != 0)
		return 0;
	pthread_attr_setstacksize(&attributes, STACK);
	sigfillset(&all);
	sigdelset(&all, SIGBUS); /* is the reading thread's, whoever handles it */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (n < most && pthread_create(&threads[n], &attributes, thread_main, round) == 0)
		n++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return n;
}

static bool run(struct round *round, struct lbx_out *out)
{
	const struct lbx_crew *crew = round->crew;
	pthread_t threads[THREADS];
	bool done, more;
	int n = start_threads(round, threads);

	do {
		more = work(round);
		int64_t parts = atomic_load(&round->next), all = lbx_crew_parts(crew);
		done = lbx_progress(out, crew->doing, parts < all ? parts * crew->per_part : crew->size, crew->size);
	} while (done && more);
	atomic_store(&round->next, round->end);
	while (n > 0)
		pthread_join(threads[--n], NULL);
	if (round->error[0])
		lb_fail_because(round->cause, "%s", round->error);
	return done && !round->failed;
}

int64_t lbx_crew_parts(const struct lbx_crew *crew)
{
	return crew->size ? (crew->size - 1) / crew->per_part + 1 : 0;
}

bool lbx_crew_run(const struct lbx_crew *crew, struct lbx_out *out)
{
	int64_t all = lbx_crew_parts(crew);

	for (int64_t begin = 0; begin < all; begin += LBX_CREW_ROUND) {
		int64_t end = all - begin < LBX_CREW_ROUND ? all : begin + LBX_CREW_ROUND;
		struct round round = { .crew = crew, .next = begin, .end = end };
		if (!run(&round, out))
			return false;
		for (int64_t i = begin; i < end; i++)
			crew->join(crew->context, i);
	}
	return true;
}
