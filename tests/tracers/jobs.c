/* 20 temporaries of 4 MiB, one after the other; and 30 jobs of a stream that the program waits for, each
 * of which needs one of another stream. */
#include <fcntl.h>
#include <lazybones.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TEMPORARIES = 20, JOBS = 30 };

/* Whether the main thread, which waits for nothing else, sleeps. */
static int sleeps(void)
{
	char path[64], stat[512] = "";
	snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
	int fd = open(path, O_RDONLY);
	ssize_t n = fd >= 0 ? read(fd, stat, sizeof stat - 1) : 0;
	close(fd);
	stat[n > 0 ? n : 0] = '\0';
	const char *name = strrchr(stat, ')');
	return name && name[2] == 'S';
}

/* Called on the stream's thread, which has computed what was made of these bytes. */
static void await_main(void *data, void *context)
{
	(void)data;
	(void)context;
	for (int n = 0; n < 50; n = sleeps() ? n + 1 : 0)
		sched_yield();
}

int main(void)
{
	static float bytes[JOBS][4];
	lb_stream one = lb_stream_new("one"), two = lb_stream_new("two");

	for (int i = 0; i < TEMPORARIES; i++)
		LB_SCOPE
			lb_eval(lb_ones(LB_SHAPE(1 << 20), LB_F32));
	for (int i = 0; i < JOBS; i++) {
		LB_SCOPE {
			lb_tensor *x = NULL, *y = NULL;
			LB_ON_STREAM(one)
				LB_SCOPE { /* after which the stream alone holds these bytes */
					lb_tensor *memory = lb_from_memory(bytes[i], sizeof bytes[i], LB_SHAPE(4),
									   LB_F32, await_main, NULL);
					x = lb_keep(lb_add(lb_add(memory, memory), lb_scalar(1)));
				}
			LB_ON_STREAM(two)
				y = lb_add(x, lb_scalar(1));
			lb_async_eval(y);
			lb_synchronize(two);
			lb_release(x);
		}
	}
	return !lb_ok();
}
