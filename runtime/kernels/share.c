/* lb_parallel() does not say on which core a piece runs, and scratch memory comes from the
 * calling thread alone. So the pieces here are seats, one for each core, each with its
 * memory; whoever sits at one takes tasks from a common counter: some that follow one another, since
 * what they read and write does, too, and a core that reads every other page foresees none. */
#include "kernels/share.h"

#include "base/error.h"

enum { ALIGN = 64, TURNS = 16 /* of a seat */ };

struct shared {
	void (*work)(void *arg, void *scratch, int64_t task);
	void *arg;
	char *scratch;
	int64_t nbytes, n, each, next;
};

static void take_tasks(void *arg, int64_t begin, int64_t last)
{
	struct shared *s = arg;
	for (int64_t place = begin; place < last; place++) {
		char *scratch = s->scratch ? s->scratch + place * s->nbytes : NULL;
		for (;;) {
			int64_t task = __atomic_fetch_add(&s->next, s->each, __ATOMIC_RELAXED);
			if (task >= s->n)
				return;
			int64_t end = s->n - task < s->each ? s->n : task + s->each;
			for (; task < end; task++)
				s->work(s->arg, scratch, task);
		}
	}
}

bool lb_share(struct lb_exec *exec, int64_t n, int64_t grain, int64_t nbytes,
	      void (*work)(void *arg, void *scratch, int64_t task), void *arg)
{
	if (n <= 0)
		return true;
	int64_t places = n / (grain < 1 ? 1 : grain), most = exec->threads ? lb_parallel_width() : 1;
	places = places < 1 ? 1 : places > most ? most : places;
	struct shared s = { .work = work, .arg = arg, .n = n, .each = n < places * TURNS ? 1 : n / (places * TURNS) };
	int64_t all;
	if (nbytes < 0 || !lb_sum_of(nbytes, ALIGN - 1, &s.nbytes) ||
	    !lb_mul(s.nbytes &= ~(int64_t)(ALIGN - 1), places, &all))
		return lb_fail("scratch memory for %lld cores does not fit 63 bits", (long long)places);
	if (all) {
		s.scratch = exec->scratch(exec, all);
		if (!s.scratch)
			return false;
	}
	lb_parallel(exec, places, 1, take_tasks, &s);
	return true;
}

int64_t lb_bytes_of(int64_t a, int64_t b, int64_t width)
{
	int64_t n;
	return lb_mul(a, b, &n) && lb_mul(n, width, &n) ? n : -1;
}
