/* Streams that do not run ahead, or fail. */
#include "scene.h"

enum { TURNS = 60 };

static lb_tensor *step(lb_tensor *x)
{
	return lb_tanh(lb_matmul(x, lb_transpose(x, LB_AXES(1, 0))));
}

/* Work that takes long enough to be waited for. */
static void run_ahead(bool sick, int64_t size)
{
	lb_stream stream = lb_stream_new("generate");
	lb_tensor *last = NULL, *x = lb_keep(normal(size, size, 1));

	lb_eval(x);
	LB_ON_STREAM(stream)
	{
		for (int i = 0; i < TURNS; i++) {
			lb_tensor *next = NULL;
			LB_SCOPE {
				next = lb_keep(lb_mean(step(lb_add(x, lb_scalar(i))), LB_ALL_AXES, false));
			}
			lb_async_eval(next);
			if (sick || last)
				lb_item(sick ? next : last);
			lb_release(last);
			last = next;
		}
	}
	lb_item(last);
}

void play_stalled_stream(bool sick)
{
	run_ahead(sick, 256);
}

void play_stalled_larger(bool sick)
{
	run_ahead(sick, 400);
}

/* Each turn ends with a wait for the stream, though the next one could have been queued. */
void play_synchronized_stream(bool sick)
{
	lb_stream stream = lb_stream_new("work");
	lb_tensor *x = lb_keep(normal(300, 300, 2)), *kept[TURNS];

	lb_eval(x);
	LB_ON_STREAM(stream)
	{
		for (int i = 0; i < TURNS; i++) {
			kept[i] = lb_sum(step(lb_multiply(x, lb_scalar(i))), LB_ALL_AXES, false);
			lb_async_eval(kept[i]);
			if (sick)
				lb_synchronize(stream);
		}
	}
	lb_synchronize(stream);
}

void play_failing_job(bool sick)
{
	lb_stream stream = lb_stream_new("loader");
	static float values[16];
	static uint32_t places[4] = { 0, 1, 2, 3 };

	places[3] = sick ? 40 : 3;
	LB_ON_STREAM(stream)
	{
		lb_tensor *x = lb_from_data(values, sizeof values, LB_SHAPE(16), LB_F32);
		lb_tensor *y =
		    lb_keep(lb_named("y", lb_take(x, lb_from_data(places, sizeof places, LB_SHAPE(4), LB_U32), 0)));
		lb_async_eval(y);
		lb_synchronize(stream);
	}
}
