/* Frames that have variables of one name: of a function that calls itself, of one that is inlined, of a handler of signals and
 * of what it has interrupted, and of another thread. */
#include <lazybones.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

struct pair {
	lb_tensor *first, *second;
	struct pair *next;
};

__attribute__((noinline)) void checkpoint(void)
{
	__asm__ volatile("" : : : "memory");
}

static lb_tensor *make(const char *name, int n)
{
	char text[32];

	snprintf(text, sizeof text, "%s %d", name, n);
	return lb_keep(lb_named(text, lb_full(LB_SHAPE(2), n, LB_F32)));
}

static void handle(int signal)
{
	lb_tensor *volatile t = make("handler", signal);

	checkpoint();
	lb_release(t);
}

static inline __attribute__((always_inline)) lb_tensor *inner(lb_tensor *x)
{
	lb_tensor *volatile t = make("inner", 1);

	raise(SIGUSR1);
	lb_release(t);
	return x;
}

__attribute__((noinline)) int descend(int n, struct pair *above)
{
	lb_tensor *volatile t = make("descend", n);
	struct pair pair = { t, above ? above->first : NULL, above };
	int ret;

	__asm__ volatile("" : : "r"(&pair) : "memory");
	if (n == 0) {
		inner(t);
		ret = 1;
	} else {
		char *room = __builtin_alloca((size_t)n * 16);
		{
			lb_tensor *volatile t = make("block", n); /* hides the other */
			__asm__ volatile("" : : "r"(room) : "memory");
			ret = n % 3 ? descend(n - 1, &pair) + 1 : ({ lb_tensor *volatile t = make("deeper", n); int r = descend(n - 1, &pair) + 1; lb_release(t); r; });
			lb_release(t);
		}
	}
	lb_release(t);
	return ret;
}

static void *work(void *unused)
{
	lb_tensor *volatile t = make("worker", 0);

	descend(8, NULL);
	lb_release(t);
	return unused;
}

int main(void)
{
	lb_tensor *volatile t = make("main", 0);
	pthread_t thread;

	signal(SIGUSR1, handle);
	if (pthread_create(&thread, NULL, work, NULL) != 0)
		abort();
	pthread_join(thread, NULL);
	descend(40, NULL);
	lb_release(t);
}
