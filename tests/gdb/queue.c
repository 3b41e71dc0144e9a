/* A program whose stream stands still, in a release function, with jobs queued behind. */
#include <semaphore.h>

#include "lazybones.h"

static sem_t reached, go;
static float data[3] = { 1, 2, 3 };

__attribute__((noinline)) void checkpoint(void)
{
	__asm__ volatile("" : : : "memory");
}

static void stand(void *memory, void *context)
{
	(void)memory;
	(void)context;
	sem_post(&reached);
	sem_wait(&go);
}

static lb_tensor *gate(void)
{
	lb_tensor *x = lb_from_memory(data, sizeof data, LB_SHAPE(3), LB_F32, stand, 0);
	return lb_keep(lb_named("now", lb_negative(x)));
}

int main(void)
{
	lb_stream copies = lb_stream_new("copies");
	lb_tensor *now = 0, *next, *last, *bad;

	sem_init(&reached, 0, 0);
	sem_init(&go, 0, 0);
	LB_ON_STREAM(copies) {
		bad = lb_named("bad", lb_take(lb_ones(LB_SHAPE(3), LB_F32),
					      lb_full(LB_SHAPE(1), 7, LB_I32), 0));
		lb_async_eval(bad);
		while (!lb_event_is_done(lb_event_record(copies)))
			;
		LB_SCOPE
			now = gate();
		lb_async_eval(now);
		sem_wait(&reached);
		next = lb_named("next", lb_full(LB_SHAPE(4), 2, LB_F32));
		last = lb_named("last", lb_add(next, lb_scalar(1)));
		lb_async_eval(next);
		lb_async_eval(last);
	}
	checkpoint();
	sem_post(&go);
	if (lb_eval(bad))
		return 1;
	lb_clear_error();
	return lb_item(lb_sum(last, LB_ALL_AXES, false)) == 12 && lb_item(lb_sum(now, LB_ALL_AXES,
		false)) == -6 ? 0 : 2;
}
