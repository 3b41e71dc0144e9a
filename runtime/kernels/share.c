#include "kernels/share.h"

#include "base/error.h"

enum { ALIGN = 64, PIECES_PER_SEAT = 16 };

struct shared {
	void (*work)(void *arg, void *scratch, int64_t task);
	void *arg;
	char *scratch;
	int64_t nbytes; /* of scratch of a seat */
};

static void do_tasks(void *arg, int64_t seat, int64_t begin, int64_t end)
{
	const struct shared *s = arg;
	for (int64_t task = begin; task < end; task++)
		s->work(s->arg, s->scratch ? s->scratch + seat * s->nbytes : NULL, task);
}

bool lb_share(struct lb_exec *exec, int64_t n, int64_t grain, int64_t nbytes,
	      void (*work)(void *arg, void *scratch, int64_t task), void *arg)
{
	if (n <= 0)
		return true;
	int64_t seats = n / (grain < 1 ? 1 : grain), most = exec->threads ? lb_parallel_width() : 1;
	seats = seats < 1 ? 1 : seats > most ? most : seats;
	struct shared s = { .work = work, .arg = arg };
	int64_t all;
	if (nbytes < 0 || !lb_sum_of(nbytes, ALIGN - 1, &s.nbytes) ||
	    !lb_mul(s.nbytes &= ~(int64_t)(ALIGN - 1), seats, &all))
		return lb_fail("scratch memory for %lld cores does not fit 63 bits", (long long)seats);
	if (all) {
		s.scratch = exec->scratch(exec, all);
		if (!s.scratch)
			return false;
	}
	int64_t pieces = seats * PIECES_PER_SEAT;
	lb_parallel_seats(exec, n, n < pieces ? n : pieces, seats, do_tasks, &s);
	return true;
}

int64_t lb_bytes_of(int64_t a, int64_t b, int64_t width)
{
	int64_t n;
	return lb_mul(a, b, &n) && lb_mul(n, width, &n) ? n : -1;
}
