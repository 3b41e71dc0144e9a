/* Which of several tensors of one name is meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "lazybones.h"
#include "says.h"
#include "self.h"

static struct {
	lb_tensor *kept, *others; /* the first of the name, and the last, which another thread has made */
	uint64_t main, other;     /* threads */
} of;

static lb_tensor *number(double value)
{
	return lb_named("w", lb_full(LB_SHAPE(1), value, LB_F32));
}

static void *make_other(void *none)
{
	(void)none;
	of.other = (uint64_t)syscall(SYS_gettid);
	LB_SCOPE
		lb_eval(of.others = lb_keep(number(3)));
	return NULL;
}

static int begin(void **state)
{
	pthread_t thread;

	if (open_self(state))
		return -1;
	of.main = (uint64_t)syscall(SYS_gettid);
	LB_SCOPE
		lb_eval(of.kept = lb_keep(number(1)));
	return pthread_create(&thread, NULL, make_other, NULL) || pthread_join(thread, NULL);
}

static int end(void **state)
{
	lb_release(of.kept);
	lb_release(of.others);
	return close_self(state);
}

static void without_a_scope_the_highest_number(void **state)
{
	(void)state;
	says(self, "print", "w", "[3.]\n2 tensors are 'w': #");
	says(self, "print", "w", " is meant, that of the highest number (w@2)\n");
	says(self, "print", "w@1", "[1.]\n");
	is_silent_about(self, "print", "w@1", "tensors are");
	says(self, "print", "w@2", "[3.]\n");
	says(self, "print", "w@3", "no tensor 'w@3': 2 are called so");
	says(self, "print", "'w'@1", "[1.]\n");
	says(self, "print", "'w@1'", "[1.]\n");
}

static void a_scope_of_the_selected_thread_comes_first(void **state)
{
	lb_tensor *later = NULL;

	(void)state;
	LB_SCOPE {
		lb_ones(LB_SHAPE(1), LB_F32);
		self->context.thread = of.main;
		says(self, "print", "w", "[3.]\n2 tensors are 'w'"); /* the scope holds none of them */
		lb_eval(number(2));
		says(self, "print", "w", "[2.]\n3 tensors are 'w': #");
		says(self, "print", "w", "is meant, that of the innermost scope (w@2)\n");
		LB_SCOPE {
			lb_ones(LB_SHAPE(1), LB_F32);
			says(self, "print", "w", "[2.]\n");
			lb_eval(number(4));
			says(self, "print", "w", "[4.]\n");
			LB_SCOPE
				lb_eval(later = lb_keep(number(5)));
			says(self, "print", "w", "[4.]\n"); /* whatever is newer */
			self->context.thread = of.other; /* which has ended */
			says(self, "print", "w", "[3.]\n");
			self->context.thread = of.main;
			lb_eval(lb_escape(number(6))); /* two scopes hold it */
			says(self, "print", "w", "[6.]\n");
		}
		says(self, "print", "w", "[6.]\n");
	}
	says(self, "print", "w", "[3.]\n");
	lb_release(later);
	self->context.thread = 0;
}

static void a_state_and_a_thread_tell(void **state)
{
	char line[64];

	(void)state;
	snprintf(line, sizeof line, "w@thread:%llu", (unsigned long long)of.main);
	says(self, "print", line, "[1.]\n");
	is_silent_about(self, "print", line, "tensors are");
	snprintf(line, sizeof line, "w@thread:%llu + 1", (unsigned long long)of.main);
	says(self, "print", line, "[2.]\n");
	snprintf(line, sizeof line, "of 2 named 'w' none was made by that thread, but by %llu, %llu",
		 (unsigned long long)of.main, (unsigned long long)of.other);
	says(self, "print", "w@thread:1", line);
	LB_SCOPE {
		number(7);
		number(8);
		says(self, "info", "w@lazy", "(w@lazy@2)\n");
		is_silent_about(self, "info", "w@lazy@1", "is meant");
		says(self, "print", "w@ready", "[3.]\n2 tensors are 'w@ready'");
		says(self, "print", "w@ready * 2", "[6.]\n2 tensors are 'w@ready'");
		says(self, "info", "w@evaluating",
		     "no tensor 'w@evaluating': 4 are called 'w', none of them evaluating (`list w`)");
	}
	says(self, "print", "w@lazier", "no tensor");
	says(self, "print", "0x1230", "no tensor's record is there; `at 0x1230` tells whose memory that is");
}

static void what_was_chosen_is_told_once(void **state)
{
	(void)state;
	says(self, "print", "w * w - w@1", "[8.]\n2 tensors are 'w': #");
	const char *text = session_says(self, "print", "w + w");
	assert_null(strstr(strstr(text, "is meant") + 1, "is meant"));
	says(self, "print", "w --json", "\"chosen\":[{\"name\":\"w\",\"id\":");
	says(self, "print", "w --json", "\"nth\":2,\"of\":2,\"why\":\"that of the highest number\"}]");
	is_silent_about(self, "print", "w@1 --json", "chosen");
	says(self, "diff", "w w@1", "\n2 tensors are 'w': #");
	says(self, "stats", "w", "is meant, that of the highest");
	says(self, "graph", "w", "is meant, that of the highest");
	says(self, "origin", "w", "is meant, that of the highest");
	is_silent_about(self, "status", "", "is meant");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_a_scope_the_highest_number, begin, end),
		cmocka_unit_test_setup_teardown(a_scope_of_the_selected_thread_comes_first, begin, end),
		cmocka_unit_test_setup_teardown(a_state_and_a_thread_tell, begin, end),
		cmocka_unit_test_setup_teardown(what_was_chosen_is_told_once, begin, end),
	};
	return cmocka_run_group_tests_name("which", tests, NULL, NULL);
}
