/* Nobody keeps the number of lazy tensors. When a debugger sets a limit they are counted, by a walk
 * over the slots; and counted anew only after as many have become lazy as were missing then, since
 * fewer cannot have passed the limit. So a program pays for a few walks on its way there, and it is
 * told at the very tensor that passes it.
 *
 * `room` is never too large: what becomes lazy while a thread counts is taken from it, whether that
 * thread has met it or not. */
#include "graph/lazy.h"

#include "graph/tensor.h"
#include "memory/slab.h"
#include "probes.h"

static struct {
	uint64_t limit; /* that the rest is for */
	int64_t room;   /* so many may become lazy before the limit can have been passed */
	uint64_t again; /* when that was told: the number to tell next; else 0 */
	int64_t excess; /* and after so many are computed there may be no more than the limit */
	bool counting;  /* a thread is at it */
} lazy;

static uint64_t count_lazy(void)
{
	const struct lb_tensor *t;
	uint64_t n = 0;

	for (uint64_t slot = 0; (t = lb_slab_at(LB_KIND_TENSOR, slot)); slot++)
		n += lb_tensor_state(t) == LB_STATE_LAZY;
	return n;
}

/* Once passed, the limit is told again when there are twice as many, or when it is passed anew. */
static bool is_news(uint64_t n, uint64_t limit)
{
	bool news = n > limit && n >= lazy.again;

	if (n <= limit)
		lazy.again = 0;
	else if (news)
		lazy.again = 2 * n;
	uint64_t next = lazy.again ? lazy.again : limit + 1, room = next - n - 1;
	__atomic_store_n(&lazy.excess, n > limit ? (int64_t)(n - limit) : 0, __ATOMIC_RELAXED);
	__atomic_fetch_add(&lazy.room, room < INT64_MAX / 2 ? (int64_t)room : INT64_MAX / 2, __ATOMIC_ACQ_REL);
	return news;
}

void lb_lazy_made(const struct lb_tensor *made)
{
	uint64_t limit = __atomic_load_n(&lb_root->watch_graph, __ATOMIC_RELAXED);
	bool is_new = __atomic_load_n(&lazy.limit, __ATOMIC_RELAXED) != limit;

	if (limit == UINT64_MAX || lb_tensor_state(made) != LB_STATE_LAZY ||
	    (__atomic_fetch_sub(&lazy.room, 1, __ATOMIC_ACQ_REL) > 0 && !is_new) ||
	    __atomic_exchange_n(&lazy.counting, true, __ATOMIC_ACQUIRE))
		return;
	if (is_new)
		lazy.again = 0;
	__atomic_store_n(&lazy.limit, limit, __ATOMIC_RELAXED);
	__atomic_exchange_n(&lazy.room, 0, __ATOMIC_ACQ_REL);
	uint64_t n = count_lazy();
	bool news = is_news(n, limit);
	__atomic_store_n(&lazy.counting, false, __ATOMIC_RELEASE);
	if (news)
		lb_probe_graph(made->id, (uint64_t)(uintptr_t)made, made->site, n, 0);
}

void lb_lazy_again(void)
{
	__atomic_fetch_sub(&lazy.room, 1, __ATOMIC_ACQ_REL);
}

bool lb_lazy_claimed(uint64_t n)
{
	int64_t claimed = n < INT64_MAX / 2 ? (int64_t)n : INT64_MAX / 2;

	if (__atomic_load_n(&lazy.excess, __ATOMIC_RELAXED) > 0 &&
	    __atomic_sub_fetch(&lazy.excess, claimed, __ATOMIC_RELAXED) <= 0)
		__atomic_store_n(&lazy.room, 0, __ATOMIC_RELEASE);
	return n > __atomic_load_n(&lb_root->watch_graph, __ATOMIC_RELAXED);
}

void lb_lazy_after_fork(void)
{
	lazy.counting = false;
}
