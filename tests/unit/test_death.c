/* What a core tells of a death, in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <string.h>

#include "inspect/forensics/death.h"

enum { PID = 100, THREAD = 101, OTHER = 4711, USER = 1000 };

static struct lbx_death death_of(int signal, int code, int sender)
{
	struct lbx_death death = { .pid = PID, .tid = THREAD, .signal = signal };
	siginfo_t info;

	memset(&info, 0, sizeof info);
	info.si_signo = signal;
	info.si_code = code;
	if (code <= 0) {
		info.si_pid = sender;
		info.si_uid = USER;
	}
	lbx_death_of_siginfo(&info, sizeof info, &death);
	return death;
}

static void says(struct lbx_death death, enum lbx_cause cause, const char *expected)
{
	char text[256];

	assert_int_equal(lbx_death_cause(&death), cause);
	lbx_describe_death(&death, text, sizeof text);
	assert_string_equal(text, expected);
}

static void says_who_has_sent_it(void **state)
{
	(void)state;
	says(death_of(SIGABRT, SI_USER, OTHER), LBX_CAUSE_OTHER, "died of SIGABRT: sent by process 4711 of user 1000");
	says(death_of(SIGSEGV, SI_QUEUE, OTHER), LBX_CAUSE_OTHER, "died of SIGSEGV: sent by process 4711 of user 1000");
	says(death_of(SIGABRT, SI_TKILL, OTHER), LBX_CAUSE_OTHER, "died of SIGABRT: sent by process 4711 of user 1000");
	says(death_of(SIGTRAP, SI_USER, 0), LBX_CAUSE_OTHER,
	     "died of SIGTRAP: sent by a process outside its container, of user 1000");
	says(death_of(SIGQUIT, SI_KERNEL, 0), LBX_CAUSE_TERMINAL, "died of SIGQUIT: Ctrl-\\ in its terminal");
	says(death_of(SIGXCPU, SI_KERNEL, 0), LBX_CAUSE_LIMIT,
	     "died of SIGXCPU: its limit of processor time is reached");
}

static void says_what_it_has_sent_itself(void **state)
{
	struct lbx_death unknown = death_of(SIGABRT, SI_TKILL, OTHER);

	(void)state;
	says(death_of(SIGABRT, SI_TKILL, PID), LBX_CAUSE_ITSELF, "died of SIGABRT: abort() or raise()");
	says(death_of(SIGABRT, SI_USER, PID), LBX_CAUSE_ITSELF, "died of SIGABRT: it has sent it itself, by kill()");
	unknown.pid = 0; /* without NT_PRPSINFO */
	says(unknown, LBX_CAUSE_ITSELF, "died of SIGABRT: abort() or raise()");
}

/* A fault has an address in the place of a sender. */
static void a_fault_has_no_sender(void **state)
{
	struct lbx_death death = death_of(SIGSEGV, SEGV_MAPERR, 0), damaged = { .signal = SIGSEGV };

	(void)state;
	assert_false(death.has_sender);
	says(death, LBX_CAUSE_FAULT, "died of SIGSEGV: nothing is mapped at 0x0");
	says(death_of(SIGSEGV, SI_KERNEL, 0), LBX_CAUSE_FAULT, "died of SIGSEGV: an address that no memory can have");
	says(damaged, LBX_CAUSE_FAULT, "died of SIGSEGV; the core does not say why (it has no NT_SIGINFO)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_who_has_sent_it),
		cmocka_unit_test(says_what_it_has_sent_itself),
		cmocka_unit_test(a_fault_has_no_sender),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
