#include "eval/failure.h"

#include <string.h>

#include "eval/stream.h"

enum { KEPT = 16 };

static struct list {
	int n;
	struct lb_failure all[KEPT];
} lists[LB_STREAMS];

uint64_t lb_failure_origin(void)
{
	static uint64_t last;
	return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

static void remove_at(struct list *list, int i)
{
	list->n--;
	memmove(&list->all[i], &list->all[i + 1], (size_t)(list->n - i) * sizeof *list->all);
}

static int find_failed(const struct list *list, uint64_t id)
{
	for (int i = 0; i < list->n; i++) {
		if (list->all[i].id == id)
			return i;
	}
	return -1;
}

void lb_failure_keep(struct lb_tensor *t, const struct lb_failure *failure)
{
	struct list *list = &lists[t->stream];
	int old = find_failed(list, t->id);
	if (old >= 0)
		remove_at(list, old);
	else if (list->n == KEPT)
		remove_at(list, 1);
	struct lb_failure *f = &list->all[list->n++];
	*f = *failure;
	f->id = t->id;
	__atomic_fetch_or(&t->flags, LB_FLAG_FAILED, __ATOMIC_RELAXED);
}

const struct lb_failure *lb_failure_of(struct lb_tensor *t)
{
	int i = find_failed(&lists[t->stream], t->id);
	if (i >= 0)
		return &lists[t->stream].all[i];
	__atomic_fetch_and(&t->flags, ~(uint32_t)LB_FLAG_FAILED, __ATOMIC_RELAXED);
	return NULL;
}

const struct lb_failure *lb_failure_oldest(uint32_t stream, uint64_t upto)
{
	const struct list *list = &lists[stream];
	for (int i = 0; i < list->n; i++) {
		if (list->all[i].job <= upto)
			return &list->all[i];
	}
	return NULL;
}

void lb_failure_forget(uint64_t origin)
{
	for (uint32_t stream = 0; stream < LB_STREAMS; stream++) {
		for (int i = lists[stream].n; i-- > 0;) {
			if (lists[stream].all[i].origin == origin)
				remove_at(&lists[stream], i);
		}
	}
}
