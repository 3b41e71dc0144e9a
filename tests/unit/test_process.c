/* What is told of a process from outside: whether it has run (lbx_target_moment), what it may write. */
#define _GNU_SOURCE
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/sanitizer.h"
#include "inspect/tensor/array.h"
#include "lazybones.h"
#include "target/copy.h"
#include "target/hold.h"
#include "target/permission.h"
#include "target/process.h"
#include "target/search.h"

static void *sleep_long(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

/* Two threads; the second says that it is there. */
static pid_t start(void)
{
	int pipes[2];
	char byte;

	assert_int_equal(pipe(pipes), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		pthread_t thread;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (pthread_create(&thread, NULL, sleep_long, NULL) != 0 || write(pipes[1], "x", 1) != 1)
			_exit(1);
		sleep_long(NULL);
	}
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	close(pipes[0]);
	close(pipes[1]);
	return pid;
}

static void stop(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
}

static void go(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGCONT), 0);
	assert_int_equal(waitpid(pid, &status, WCONTINUED), pid);
	assert_true(WIFCONTINUED(status));
}

static uint64_t moment_of(struct lbx_target *target)
{
	uint64_t ret = 0;

	assert_true(lbx_target_moment(target, &ret));
	return ret;
}

/* A kernel that does not count leaves it unknown. */
static void skip_without_counts(void)
{
	unsigned long long times = 0;
	FILE *f = fopen("/proc/self/schedstat", "re");

	if (f && fscanf(f, "%*u %*u %llu", &times) != 1)
		times = 0;
	if (f)
		fclose(f);
	if (!times)
		skip();
}

static void a_process_that_stands_still_is_known(void **state)
{
	struct lbx_target *target;
	uint64_t first, unused;
	(void)state;
	skip_without_counts();
	pid_t pid = start();
	assert_true(lbx_process_open(pid, &target));
	assert_false(lbx_target_moment(target, &unused));
	stop(pid);
	first = moment_of(target);
	assert_int_equal(moment_of(target), first);
	for (int i = 0; i < 20; i++) {
		uint64_t before = moment_of(target);
		go(pid);
		stop(pid);
		assert_int_not_equal(moment_of(target), before);
	}
	assert_int_not_equal(moment_of(target), first);
	assert_true(lb_ok());
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(lbx_target_moment(target, &unused));
	lbx_target_destroy(target);
}

/* Who debugs it stops it so. */
static void so_is_one_that_is_held(void **state)
{
	struct lbx_target *target;
	uint64_t first, second;

	(void)state;
	skip_without_counts();
	pid_t pid = start();
	assert_true(lbx_process_open(pid, &target));
	if (!lbx_process_hold(target)) {
		lb_clear_error();
		skip();
	}
	assert_true(lbx_target_moment(target, &first));
	assert_true(lbx_target_moment(target, &second));
	assert_int_equal(first, second);
	lbx_target_destroy(target);
	assert_true(lbx_process_open(pid, &target));
	assert_non_null(lbx_process_hold(target));
	assert_true(lbx_target_moment(target, &second));
	assert_int_not_equal(first, second);
	lbx_target_destroy(target);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Of a gigabyte for each byte that was written to, only what lies around these; of a file's pages all. */
static void untouched_memory_is_left_out(void **state)
{
	enum { TOUCHED = 3 };
	const size_t gib = (size_t)1 << 30, size = 64 * gib;
	const uint64_t places[TOUCHED] = { 5 * gib + 4321, 5 * gib + 987654, 63 * gib };
	struct lbx_target *target;
	struct lbx_range range;
	uint64_t seen = 0, seen_of_file = 0;
	int found = 0;
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	FILE *f = tmpfile();

	(void)state;
	assert_true(at != MAP_FAILED && f);
	assert_int_equal(ftruncate(fileno(f), 1 << 20), 0);
	char *of_file = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(f), 0);
	assert_true(of_file != MAP_FAILED);
	for (int i = 0; i < TOUCHED; i++)
		at[places[i]] = 1;
	assert_true(lbx_process_open(getpid(), &target));
	for (uint64_t from = 0; lbx_target_range(target, from, &range); from = range.start + range.size) {
		assert_true(range.size > 0 && range.start >= from);
		for (int i = 0; i < TOUCHED; i++)
			found += (uintptr_t)at + places[i] - range.start < range.size;
		if (range.start - (uintptr_t)at < size)
			seen += range.size;
		uint64_t start = (uintptr_t)of_file, end = start + (1 << 20);
		if (range.start < end && start < range.start + range.size)
			seen_of_file += (range.start + range.size < end ? range.start + range.size : end) -
					(range.start > start ? range.start : start);
	}
	assert_int_equal(found, TOUCHED);
	assert_true(seen < gib);
	assert_int_equal(seen_of_file, 1 << 20);
	/* a walk may begin anywhere, and again */
	assert_true(lbx_target_range(target, (uintptr_t)at + places[2], &range));
	assert_int_equal(range.start, (uintptr_t)at + places[2]);
	assert_true(lbx_target_range(target, (uintptr_t)at + places[0], &range));
	assert_int_equal(range.start, (uintptr_t)at + places[0]);
	assert_false(lbx_target_range(target, UINT64_MAX - 1, &range));
	lbx_target_destroy(target);
	munmap(of_file, 1 << 20);
	munmap(at, size);
	fclose(f);
}

/* Of pages that were touched, and of parts of them; and of the process as a whole. */
static void what_is_in_memory_is_counted(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct lbx_footprint f, later;
	struct lbx_target *target;
	uint64_t start = (uintptr_t)at, n;

	(void)state;
	assert_true(at != MAP_FAILED);
	/* not more at once than what was written to, and not away again */
	assert_int_equal(madvise(at, 8 * page, MADV_NOHUGEPAGE), 0);
	at[1 * page] = at[2 * page] = at[6 * page] = 1;
	if (mlock(at + page, 2 * page) != 0 || mlock(at + 6 * page, page) != 0)
		skip();
	assert_true(lbx_process_open(getpid(), &target));
	assert_true(lbx_target_resident(target, start, 8 * page, &n));
	assert_int_equal(n, 3 * page);
	assert_true(lbx_target_resident(target, start + page + 10, 20, &n));
	assert_int_equal(n, 20);
	assert_true(lbx_target_resident(target, start + page - 10, 20, &n));
	assert_int_equal(n, 10);
	assert_true(lbx_target_resident(target, start + 2 * page + 1, 5 * page, &n));
	assert_int_equal(n, 2 * page - 1);
	assert_true(lbx_target_resident(target, start, 0, &n));
	assert_int_equal(n, 0);
	assert_false(lbx_target_resident(target, UINT64_MAX - 10, 20, &n));
	assert_true(lbx_target_footprint(target, &f));
	assert_true(f.threads >= 1 && f.own > 3 * page);
	assert_true(f.resident >= f.proportional && f.proportional >= f.own);
	munmap(at, 8 * page);
	/* written to, whatever else has gone meanwhile */
	at = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	assert_true(at != MAP_FAILED);
	assert_true(lbx_target_footprint(target, &later));
	assert_true(later.own + later.swapped > f.own + (32 << 20) && later.cpu_ns >= f.cpu_ns);
	munmap(at, 64 << 20);
	lbx_target_destroy(target);
}

/* ---- a copy of it ---- */

enum { NUMBERS = 1 << 15 };
static volatile uint64_t numbers[NUMBERS];
#define counter numbers[NUMBERS / 2] /* that a child counts up, while it runs */

static pid_t start_counting(void)
{
	counter = 1; /* it has been touched */
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			counter++;
	}
	return pid;
}

static uint64_t counted(struct lbx_target *target)
{
	uint64_t ret = 0;

	assert_true(lbx_target_read(target, (uintptr_t)&counter, &ret, sizeof ret));
	return ret;
}

static void wait_for_change(struct lbx_target *now)
{
	for (uint64_t first = counted(now); counted(now) == first;)
		usleep(100);
}

static bool is_copied(struct lbx_target *target, const char *at)
{
	struct lbx_range range;

	return lbx_target_copied(target, (uintptr_t)at, &range) && range.start == (uintptr_t)at;
}

static uint64_t size_copied(struct lbx_target *target)
{
	struct lbx_range range;
	uint64_t ret = 0;

	for (uint64_t from = 0; lbx_target_copied(target, from, &range); from = range.start + range.size)
		ret += range.size;
	return ret;
}

static bool look_for(void *context, const char *bytes, size_t n, uint64_t address)
{
	uint64_t *sought = context;

	if (*sought - address < n)
		*sought = bytes[*sought - address] == 7 ? 0 : *sought;
	return true;
}

/* Whether a byte of value 7 is among what a search looks at. */
static bool is_searched(struct lbx_target *target, const char *at)
{
	uint64_t sought = (uintptr_t)at;
	const struct lbx_search search = { .bytes = 8, .look = look_for, .context = &sought };

	assert_true(lbx_search(target, &search));
	return sought == 0;
}

/* A large allocation is neither copied nor searched, what lies before and behind it in one range is. */
static void a_copy_leaves_out_large_allocations(void **state)
{
	enum { MIB = 1 << 20, SIZE = 12 * MIB, LARGE = 3 * MIB, LARGE_SIZE = 6 * MIB };
	char *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct lbx_target *target;

	(void)state;
	if (LB_SANITIZES_ADDRESSES || LB_SANITIZES_THREADS)
		skip();
	assert_true(at != MAP_FAILED);
	memset(at, 7, SIZE);
	((uint64_t *)(at + LARGE))[0] = 0;
	((uint64_t *)(at + LARGE))[1] = LARGE_SIZE | 2;
	pid_t pid = start_counting();
	assert_true(lbx_process_open(pid, &target));
	if (!lbx_process_hold(target)) {
		lb_clear_error();
		skip();
	}
	for (int i = 0; i < 2; i++) { /* without a copy, and in one */
		assert_true(is_searched(target, at + LARGE - 1));
		assert_false(is_searched(target, at + LARGE + 4096));
		assert_false(is_searched(target, at + LARGE + LARGE_SIZE - 1));
		assert_true(is_searched(target, at + LARGE + LARGE_SIZE));
		assert_true(is_searched(target, at + SIZE - 1));
		assert_int_equal(lbx_target_copy(target, true), LBX_COPIED_STILL);
	}
	assert_true(is_copied(target, at + LARGE - 1));
	assert_false(is_copied(target, at + LARGE));
	assert_false(is_copied(target, at + LARGE + LARGE_SIZE - 1));
	assert_true(is_copied(target, at + LARGE + LARGE_SIZE));
	/* so the ranges together may be larger than a copy may be, and it is taken all the same, but no larger one */
	uint64_t size = size_copied(target), none;
	assert_true(size > SIZE - LARGE_SIZE);
	struct lbx_target *now = lbx_target_now(target);
	assert_null(lbx_copy_take(now, pid, size / 2));
	assert_null(lbx_copy_take(now, pid, SIZE - LARGE_SIZE));
	struct lbx_copy *copy = lbx_copy_take(now, pid, size + MIB);
	assert_non_null(copy);
	assert_non_null(lbx_copy_at(copy, (uintptr_t)at, &none));
	assert_null(lbx_copy_at(copy, (uintptr_t)at + LARGE, &none));
	lbx_copy_free(copy);
	lbx_target_destroy(target);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	munmap(at, SIZE);
}

/* Of a program that runs, what was asked for stays as it was then; what was only glanced at does not. */
static void what_is_kept_is_what_was_read(void **state)
{
	struct lbx_target *target, *glance, *now;
	static uint64_t seen[NUMBERS];
	struct lbx_range range;

	(void)state;
	if (LB_SANITIZES_ADDRESSES || LB_SANITIZES_THREADS)
		skip();
	pid_t pid = start_counting();
	assert_true(lbx_process_open(pid, &target));
	now = lbx_target_now(target);
	assert_ptr_equal(lbx_target_glance(target), target);
	wait_for_change(target);
	assert_int_equal(lbx_target_copy(target, false), LBX_COPIED_RUNNING);
	assert_false(lbx_target_copied(target, 0, &range));
	glance = lbx_target_glance(target);
	wait_for_change(glance);
	uint64_t kept = counted(target);
	wait_for_change(now);
	assert_int_equal(counted(target), kept);
	assert_int_equal(counted(glance), kept);
	/* what is kept is part of what is larger, by whoever that is read */
	struct lbx_target *readers[] = { target, glance };
	for (int i = 0; i < 2; i++) {
		assert_true(lbx_target_read(readers[i], (uintptr_t)numbers, seen, sizeof seen));
		assert_int_equal(seen[NUMBERS / 2], kept);
	}
	assert_true(counted(now) != kept);
	/* elements are not kept */
	struct lbx_tensor t = { .state = LBX_READY,
				.dtype = LB_U64,
				.size = 1,
				.data = (uintptr_t)&numbers[NUMBERS - 1],
				.buffer_bytes = sizeof *numbers };
	struct lbx_array array;
	assert_true(lbx_array_of_tensor(target, &t, &array));
	assert_ptr_equal(lbx_target_direct(array.target), glance);
	assert_false(lbx_target_try_read(target, 0, seen, sizeof seen));
	assert_false(lbx_target_try_read(glance, 0, seen, 1));
	lbx_target_destroy(target);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* What is read is of one moment, while the program runs on. */
static void a_copy_lets_the_program_go(void **state)
{
	struct lbx_target *target;
	struct lbx_range range;
	uint64_t word = 0;
	char byte, *large = mmap(NULL, 1 << 22, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	/* a sanitizer's own memory, terabytes of addresses, takes half a minute for each copy */
	if (LB_SANITIZES_ADDRESSES || LB_SANITIZES_THREADS)
		skip();
	assert_true(large != MAP_FAILED);
	memset(large, 7, 1 << 22);
	pid_t pid = start_counting();
	assert_true(lbx_process_open(pid, &target));
	if (!lbx_process_hold(target)) {
		lb_clear_error();
		skip();
	}
	assert_false(lbx_target_copied(target, 0, &range));
	assert_int_equal(lbx_target_copy(target, false), LBX_COPIED_STILL);
	assert_false(lbx_target_runs(target));
	assert_int_equal(lbx_target_copy(target, true), LBX_COPIED_STILL);
	assert_true(lbx_target_runs(target));
	/* its threads are still told as they were */
	assert_int_equal(lbx_hold_threads(lbx_process_hold(target))->n, 1);
	assert_true(lbx_target_runs(target));
	uint64_t first = counted(target);
	wait_for_change(lbx_target_now(target));
	assert_int_equal(counted(target), first);
	assert_true(lbx_target_copied(target, (uintptr_t)&counter, &range));
	assert_int_equal(range.start, (uintptr_t)&counter);
	/* a read over its end goes on in the process itself, and fails where there is nothing */
	uint64_t end = range.start + range.size;
	assert_false(lbx_target_try_read(target, end - 4, &word, sizeof word) &&
		     !lbx_target_try_read(lbx_target_now(target), end - 4, &word, sizeof word));
	assert_true(lbx_target_read(target, (uintptr_t)large + 5, &byte, 1));
	assert_int_equal(byte, 7);
	lbx_target_destroy(target);
	/* of one that was not held; when it is, it is read as it is then */
	assert_true(lbx_process_open(pid, &target));
	assert_int_equal(lbx_target_copy(target, true), LBX_COPIED_RUNNING);
	first = counted(target);
	const uint64_t *mapped = lbx_target_map(target, (uintptr_t)&counter, sizeof *mapped);
	assert_non_null(mapped);
	wait_for_change(lbx_target_now(target));
	assert_int_equal(counted(target), first);
	assert_non_null(lbx_process_hold(target));
	assert_false(lbx_target_runs(target));
	assert_int_not_equal(counted(target), first);
	assert_int_equal(*mapped, first);
	assert_int_equal(lbx_target_copy(target, true), LBX_COPIED_STILL);
	first = counted(target);
	wait_for_change(lbx_target_now(target));
	assert_int_equal(counted(target), first);
	lbx_target_destroy(target);
	/* what was prepared while it ran is of the moment when it is held */
	assert_true(lbx_process_open(pid, &target));
	first = counted(target);
	lbx_target_prepare(target);
	assert_false(lbx_target_copied(target, 0, &range));
	wait_for_change(target);
	assert_non_null(lbx_process_hold(target));
	first = counted(target);
	assert_int_equal(lbx_target_copy(target, true), LBX_COPIED_STILL);
	assert_int_equal(counted(target), first);
	wait_for_change(lbx_target_now(target));
	assert_int_equal(counted(target), first);
	lbx_target_destroy(target);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	munmap(large, 1 << 22);
}

/* ---- numbers of threads ---- */

static void *tell_number(void *pipe)
{
	uint64_t own = (uint64_t)gettid();

	if (write(*(int *)pipe, &own, sizeof own) != sizeof own)
		_exit(1);
	return sleep_long(NULL);
}

/* In a container: a process whose threads have numbers of its own. Returns its number here; 0: it may not be. */
static pid_t start_inside(uint64_t *ret_own)
{
	int pipes[2], numbers[2];
	pid_t pid = 0;

	assert_true(pipe(pipes) == 0 && pipe(numbers) == 0);
	pid_t outer = fork();
	assert_true(outer >= 0);
	if (outer == 0) {
		pthread_t thread;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (unshare(CLONE_NEWPID) != 0 || (pid = fork()) < 0)
			_exit(1);
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pthread_create(&thread, NULL, tell_number, &numbers[1]);
			sleep_long(NULL);
		}
		if (write(pipes[1], &pid, sizeof pid) != sizeof pid)
			_exit(1);
		waitpid(pid, NULL, 0);
		_exit(0);
	}
	close(pipes[1]);
	close(numbers[1]);
	bool is_there = read(pipes[0], &pid, sizeof pid) == sizeof pid &&
			read(numbers[0], ret_own, sizeof *ret_own) == sizeof *ret_own;
	close(pipes[0]);
	close(numbers[0]);
	return is_there ? pid : 0;
}

static void threads_of_a_container_are_known(void **state)
{
	struct lbx_target *target;
	uint64_t own = 0;
	char path[64];

	(void)state;
	pid_t pid = start_inside(&own);
	if (!pid)
		skip();
	assert_true(lbx_process_open(pid, &target));
	assert_int_equal(lbx_target_thread(target, 1), pid);
	uint64_t here = lbx_target_thread(target, own);
	assert_int_not_equal(here, own);
	snprintf(path, sizeof path, "/proc/%d/task/%d", (int)pid, (int)here);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(lbx_target_thread(target, 987654), 987654);
	lbx_target_destroy(target);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_true(lbx_process_open(getpid(), &target));
	assert_int_equal(lbx_target_thread(target, (uint64_t)getpid()), getpid());
	lbx_target_destroy(target);
}

static void what_changed_is_told_once(void **state)
{
	struct lbx_target *target;
	char text[128];

	(void)state;
	assert_true(lbx_process_open(getpid(), &target));
	assert_false(lbx_target_notice(target, text, sizeof text));
	lbx_target_changed(target, 2);
	lbx_target_changed(target, 1);
	assert_true(lbx_target_notice(target, text, sizeof text));
	assert_string_equal(text, "3 records changed while they were read, and are left out");
	assert_false(lbx_target_notice(target, text, sizeof text));
	lbx_target_destroy(target);
}

/* Which rule it is that forbids to look, with what to do. */
static void a_rule_is_named(void **state)
{
	static const struct {
		struct lbx_permission permission;
		const char *text;
	} cases[] = {
		{ { 33, 0, false, -1 }, ": look into it as root" },
		{ { 0, 4242424, false, 1 }, "look into it as user 4242424 or as root" },
		{ { 7, 7, true, 1 }, "it is protected (PR_SET_DUMPABLE" },
		{ { 7, 7, false, 1 }, "ptrace_scope is 1: only those that started it may" },
		{ { 7, 7, false, 2 }, "ptrace_scope is 2: only root may" },
		{ { 7, 7, false, 3 }, "ptrace_scope is 3: nobody may" },
		{ { 7, 7, false, 0 }, "CAP_SYS_PTRACE" },
		{ { 7, 7, false, -1 }, "CAP_SYS_PTRACE" },
	};
	char why[256];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		lbx_permission_why(&cases[i].permission, why, sizeof why);
		if (!strstr(why, cases[i].text) || strstr(why, "as root or as root"))
			fail_msg("%zu: %s", i, why);
	}
}

/* A child of root's that is nobody any more. */
static void another_user_s_process_is_refused(void **state)
{
	struct lbx_target *target;
	int status;

	(void)state;
	if (geteuid() != 0)
		skip();
	pid_t of = getpid(), child = fork();
	if (child == 0) {
		bool refused = setuid(65534) == 0 && !lbx_process_open(of, &target) &&
			       strstr(lb_error_message(), "cannot look into process ") &&
			       strstr(lb_error_message(), "it is a process of root's, and you are ");
		_exit(refused ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rule_is_named),
		cmocka_unit_test(another_user_s_process_is_refused),
		cmocka_unit_test(a_process_that_stands_still_is_known),
		cmocka_unit_test(so_is_one_that_is_held),
		cmocka_unit_test(untouched_memory_is_left_out),
		cmocka_unit_test(what_is_in_memory_is_counted),
		cmocka_unit_test(a_copy_leaves_out_large_allocations),
		cmocka_unit_test(what_is_kept_is_what_was_read),
		cmocka_unit_test(a_copy_lets_the_program_go),
		cmocka_unit_test(threads_of_a_container_are_known),
		cmocka_unit_test(what_changed_is_told_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
