/* A thread that is alone changes counts without locks; another one comes meanwhile. Who is alone is said once in a
 * process, so each time is a child's. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alone.h"
#include "lazybones.h"
#include "publish/root.h"

enum { TIMES = 200, ADDS = 2000 };

static uint64_t count;
static atomic_bool come, done;

static void in_children(int times, bool (*body)(int time))
{
	for (int i = 0; i < times; i++) {
		int status = -1;
		pid_t child = fork();
		if (child == 0) {
			alarm(30);
			_exit(body(i) ? 0 : 1);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
}

static void spin(int n)
{
	for (volatile int i = 0; i < n; i++)
		;
}

static void add(void)
{
	enum lb_alone alone = lb_alone_begin();
	lb_fetch_add(alone, &count, 1);
	lb_alone_end(alone);
}

static bool may_be_alone(void)
{
	enum lb_alone alone = lb_alone_begin();
	lb_alone_end(alone);
	return alone == LB_ALONE;
}

#define RUN(times, body) \
	static void test_##body(void **state) \
	{ \
		(void)state; \
		in_children(times, body); \
	}

static void *add_many(void *delay)
{
	while (!come)
		;
	spin((int)(intptr_t)delay);
	for (int i = 0; i < ADDS; i++)
		add();
	done = true;
	return NULL;
}

/* ---- counts ---- */

static bool exact(int time)
{
	uint64_t own = 0;
	pthread_t thread;

	may_be_alone();
	if (pthread_create(&thread, NULL, add_many, (void *)(intptr_t)(time * 7)) != 0)
		return false;
	for (come = true; !done; own++)
		add();
	pthread_join(thread, NULL);
	return count == own + ADDS;
}
RUN(TIMES, exact)

/* What is done inside takes long: whoever came in between would be seen. */
static bool apart(int time)
{
	uint64_t own = 0;
	pthread_t thread;

	may_be_alone();
	if (pthread_create(&thread, NULL, add_many, (void *)(intptr_t)(time * 7)) != 0)
		return false;
	for (come = true; !done; own++) {
		enum lb_alone alone = lb_alone_begin();
		if (alone == LB_ALONE) {
			uint64_t before = __atomic_load_n(&count, __ATOMIC_RELAXED);
			spin(200);
			__atomic_store_n(&count, before + 1, __ATOMIC_RELAXED);
		} else {
			lb_fetch_add(alone, &count, 1);
		}
		lb_alone_end(alone);
	}
	pthread_join(thread, NULL);
	return count == own + ADDS;
}
RUN(TIMES, apart)

static atomic_ulong handled;

static void on_alarm(int number)
{
	(void)number;
	add();
	handled++;
}

/* A signal meets a change made or not made. */
static bool interrupted(int time)
{
	const struct itimerval often = { .it_interval.tv_usec = 50, .it_value.tv_usec = 50 }, never = { 0 };
	uint64_t own = 0;

	(void)time;
	may_be_alone();
	signal(SIGVTALRM, on_alarm);
	setitimer(ITIMER_VIRTUAL, &often, NULL);
	for (; handled < 20; own++)
		add();
	setitimer(ITIMER_VIRTUAL, &never, NULL);
	return count == own + handled;
}

static void test_interrupted(void **state)
{
	(void)state;
	if (LB_SANITIZES_THREADS) {
		print_message("skip: ThreadSanitizer has a load and a store in place of one instruction\n");
		skip();
	}
	in_children(5, interrupted);
}

static bool changes(int time)
{
	uint64_t wide = UINT64_MAX;
	uint32_t narrow = 3;
	uint8_t state = 1, seen = 1;
	bool right = true;

	(void)time;
	for (int i = 0; i < 2; i++) {
		enum lb_alone alone = i ? lb_alone_begin() : LB_NOT_ALONE;
		wide = UINT64_MAX, narrow = 3, state = seen = 1;
		right = right && lb_fetch_add(alone, &wide, 2) == UINT64_MAX && wide == 1;
		right = right && lb_fetch_add(alone, &wide, -(uint64_t)1) == 1 && wide == 0;
		right = right && lb_fetch_add_32(alone, &narrow, UINT32_MAX) == 3 && narrow == 2;
		lb_set_bits(alone, &narrow, 5);
		right = right && narrow == 7;
		right = right && lb_swap(alone, &state, &seen, 2) && state == 2 && seen == 1;
		right = right && !lb_swap(alone, &state, &seen, 3) && state == 2 && seen == 2;
		lb_alone_end(alone);
	}
	return right;
}
RUN(1, changes)

/* ---- who is alone ---- */

static void *say_whether(void *ret)
{
	*(bool *)ret = may_be_alone();
	lb_alone_leave();
	return NULL;
}

static bool has_one(void)
{
	bool alone = false;
	pthread_t thread;
	return pthread_create(&thread, NULL, say_whether, &alone) == 0 && pthread_join(thread, NULL) == 0 && alone;
}

/* One after the other; then two, and never again. */
static bool in_turn(int time)
{
	(void)time;
	if (!may_be_alone())
		return true; /* this machine has it locked always */
	lb_alone_leave();
	return has_one() && has_one() && may_be_alone() && !has_one() && !may_be_alone() && !has_one();
}
RUN(1, in_turn)

static void *come_in(void *unused)
{
	(void)unused;
	come = true;
	lb_alone_meet();
	done = true;
	return NULL;
}

static bool waits(int time)
{
	pthread_t thread;

	(void)time;
	enum lb_alone alone = lb_alone_begin(), again = lb_alone_begin();
	if (alone == LB_NOT_ALONE)
		return true;
	lb_alone_end(again);
	if (pthread_create(&thread, NULL, come_in, NULL) != 0)
		return false;
	while (!come)
		;
	nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	bool waited = !done;
	bool still = lb_alone_begin() == LB_ALONE_AGAIN;
	lb_alone_end(alone);
	pthread_join(thread, NULL);
	return again == LB_ALONE_AGAIN && waited && still && done && !may_be_alone();
}
RUN(1, waits)

/* ---- tensors ---- */

static void *fork_one(void *right)
{
	int status = -1;
	while (!come)
		;
	pid_t child = fork();
	if (child == 0) {
		alarm(10);
		LB_SCOPE
			_exit(lb_item(lb_sum(lb_arange(0, 5, 1, LB_F32), LB_ALL_AXES, false)) == 10 && lb_ok() ? 0 : 1);
	}
	*(bool *)right = waitpid(child, &status, 0) == child && status == 0;
	done = true;
	return NULL;
}

static bool use_tensors(lb_tensor *x, int n)
{
	bool right = true;
	LB_SCOPE {
		lb_tensor *y = x;
		for (int i = 0; i < n; i++)
			y = i % 3 ? lb_add(y, x) : lb_sum(y, LB_AXES(0), true);
		right = lb_eval(y) && lb_ok();
	}
	return right;
}

/* A thread that has never used a tensor forks while another one does. */
static bool forked(int time)
{
	bool right = false;
	pthread_t thread;
	lb_tensor *x = lb_keep(lb_ones(LB_SHAPE(1, 4), LB_F32));

	if (pthread_create(&thread, NULL, fork_one, &right) != 0)
		return false;
	spin(time * 100);
	for (come = true; !done;)
		if (!use_tensors(x, 7))
			return false;
	pthread_join(thread, NULL);
	return right;
}
RUN(20, forked)

static void *use_many(void *x)
{
	bool right = true;
	while (!come)
		;
	for (int i = 0; i < 100; i++)
		right = use_tensors(x, 7) && right;
	done = true;
	return right ? x : NULL;
}

static uint64_t living(void)
{
	return __atomic_load_n(&lb_counters.created, __ATOMIC_RELAXED) -
	       __atomic_load_n(&lb_counters.freed, __ATOMIC_RELAXED);
}

/* References, claims, counters and the cache are right when a thread has come. */
static bool used(int time)
{
	void *right = NULL;
	pthread_t thread;
	lb_tensor *x = lb_keep(lb_ones(LB_SHAPE(1, 4), LB_F32));
	lb_eval(x);
	lb_scope scope = lb_scope_begin();
	bool own = use_tensors(x, 7);
	uint64_t alive = living(), active = lb_active_memory();

	if (pthread_create(&thread, NULL, use_many, x) != 0)
		return false;
	spin(time * 20);
	for (come = true; !done;)
		own = use_tensors(x, 7) && own;
	pthread_join(thread, &right);
	lb_scope_end(&scope);
	uint64_t cached = lb_cache_memory();
	lb_clear_cache();
	return own && right && living() == alive && lb_active_memory() == active && cached && lb_cache_memory() == 0;
}
RUN(100, used)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),   cmocka_unit_test(test_apart),   cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_changes), cmocka_unit_test(test_in_turn), cmocka_unit_test(test_waits),
		cmocka_unit_test(test_forked),  cmocka_unit_test(test_used),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
