/* Evaluations that somebody leaves in the middle: a debugger that takes its call off the stack, a
 * fork() while another thread computes. A leaf on a page that cannot be read holds an
 * evaluation where the test wants it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lazybones.h"

enum { N = 1024, NBYTES = N * sizeof(float) };

static float *page;
static sigjmp_buf back;
static int entered[2], go_on[2];

static void jump_out(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}

/* Says that the evaluation is here, and waits until the page can be read. */
static void hold(int signal)
{
	char byte = 0;
	(void)signal;
	if (write(entered[1], &byte, 1) != 1 || read(go_on[0], &byte, 1) != 1)
		abort();
}

static void handle_faults(void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler };
	sigaction(SIGSEGV, &action, NULL);
}

static lb_tensor *over_page(void)
{
	return lb_negative(lb_from_memory(page, NBYTES, LB_SHAPE(N), LB_F32, NULL, NULL));
}

static int map_page(void **state)
{
	(void)state;
	page = mmap(NULL, NBYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; page != MAP_FAILED && i < N; i++)
		page[i] = (float)i;
	return page == MAP_FAILED || mprotect(page, NBYTES, PROT_NONE) != 0;
}

static int unmap_page(void **state)
{
	(void)state;
	handle_faults(SIG_DFL);
	return munmap(page, NBYTES);
}

static void debugger_leaves(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = over_page(), *y = lb_exp(x);
		handle_faults(jump_out);
		if (sigsetjmp(back, 1) == 0) {
			lb_debug_eval(lb_id(y));
			fail_msg("the page was read");
		}
		assert_false(lb_is_ready(y));
		mprotect(page, NBYTES, PROT_READ | PROT_WRITE);
		/* the claims of the call that is gone stop nobody */
		assert_true(lb_eval(y));
		assert_true(lb_item(lb_slice(x, LB_AT(5))) == -5);
	}
	assert_true(lb_ok());
}

static void debugger_leaves_and_comes_again(void **state)
{
	(void)state;
	LB_SCOPE {
		lb_tensor *x = over_page();
		handle_faults(jump_out);
		for (volatile int i = 0; i < 3; i++) {
			if (sigsetjmp(back, 1) == 0) {
				lb_debug_eval(lb_id(x));
				fail_msg("the page was read");
			}
		}
		mprotect(page, NBYTES, PROT_READ | PROT_WRITE);
		assert_null(lb_debug_eval(lb_id(x)));
		assert_true(lb_is_ready(x));
		assert_true(lb_item(lb_slice(x, LB_AT(7))) == -7);
	}
	assert_true(lb_ok());
}

static lb_tensor *shared;

static void *evaluate(void *ok)
{
	*(bool *)ok = lb_eval(shared) && lb_item(lb_slice(shared, LB_AT(3))) == -3;
	return NULL;
}

/* The child has no thread that would ever finish what its parent's was computing. */
static void fork_in_the_middle(void **state)
{
	(void)state;
	assert_int_equal(pipe(entered) | pipe(go_on), 0);
	handle_faults(hold);
	shared = lb_keep(over_page());
	bool ok = false;
	char byte = 0;
	pthread_t thread;
	pthread_create(&thread, NULL, evaluate, &ok);
	assert_int_equal(read(entered[0], &byte, 1), 1);

	pid_t child = fork();
	if (child == 0) {
		alarm(30);
		mprotect(page, NBYTES, PROT_READ | PROT_WRITE);
		bool mine = false;
		evaluate(&mine);
		_exit(!mine);
	}
	int status = 0;
	assert_int_equal(waitpid(child, &status, 0), child);
	mprotect(page, NBYTES, PROT_READ | PROT_WRITE);
	assert_int_equal(write(go_on[1], &byte, 1), 1);
	pthread_join(thread, NULL);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_true(ok);
	lb_release(shared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(debugger_leaves, map_page, unmap_page),
		cmocka_unit_test_setup_teardown(debugger_leaves_and_comes_again, map_page, unmap_page),
		cmocka_unit_test_setup_teardown(fork_in_the_middle, map_page, unmap_page),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
