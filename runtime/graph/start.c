#include "graph/start.h"

#include <pthread.h>
#include <unistd.h>

#include "base/alone.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/isa.h"
#include "memory/buffer.h"
#include "memory/names.h"
#include "memory/slab.h"
#include "memory/thread.h"
#include "probes.h"
#include "publish/jit.h"
#include "publish/marker.h"
#include "publish/root.h"
#include "publish/stacks.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static void read_environment(void)
{
	lb_root->want_stack = (uint32_t)lb_environment_number("LAZYBONES_STACKS", 0, LB_STACK_MAX, 0);

	static const char *const modes[] = { "off", "warn", "stop" };
	lb_root->strided = (uint32_t)lb_environment_choice("LAZYBONES_STRIDED", LENGTH(modes), modes, 0);
	lb_root->nan = (uint32_t)lb_environment_choice("LAZYBONES_NAN", LENGTH(modes), modes, 0);
	static const char *const step_modes[] = { "0", "1", "fused" };
	lb_root->step = (uint32_t)lb_environment_choice("LAZYBONES_STEP", LENGTH(step_modes), step_modes, 0);
	static const char *const switches[] = { "0", "1" };
	if (lb_environment_choice("LAZYBONES_STRACE", LENGTH(switches), switches, 0)) {
		lb_marker_start();
		lb_root->event_mode |= LB_EVENTS_MARKED;
	}
	static const char *const times[] = { "0", "1", "memory" };
	int timed = lb_environment_choice("LAZYBONES_TIMES", LENGTH(times), times, 0);
	if (timed)
		lb_root->event_mode |= LB_EVENTS_TIMED | (timed > 1 ? LB_EVENTS_DETAILED : 0);
	if (lb_environment_text("LAZYBONES_LOG", lb_root->log_file, sizeof lb_root->log_file)) {
		lb_environment_text("LAZYBONES_LOG_NAMES", lb_root->log_names, sizeof lb_root->log_names);
		lb_root->log = 1;
	}
	lb_isa_level();
}

static void before_fork(void)
{
	lb_alone_before_fork();
	lb_stacks_lock();
	lb_buffers_lock();
	lb_slab_lock_all();
	lb_names_lock();
}

static void after_fork(void)
{
	lb_names_unlock();
	lb_slab_unlock_all();
	lb_buffers_unlock();
	lb_stacks_unlock();
	lb_alone_after_fork();
}

/* A child of fork() has the parent's tensors, one thread, and its own pid. */
static void after_fork_in_child(void)
{
	after_fork();
	lb_root->pid = (uint64_t)getpid();
}

static void note_error(const void *site, const char *message)
{
	lb_count(&lb_counters.errors, 1);
	lb_probe_error((uint64_t)(uintptr_t)site, (uint64_t)(uintptr_t)lb_flight_text(message));
}

static void start_once(void)
{
	lb_fail_hook = note_error;
	read_environment();
	lb_buffers_start();
	pthread_atfork(before_fork, after_fork, after_fork_in_child);
	lb_flight_start((uint64_t)lb_environment_number("LAZYBONES_EVENTS", 0, LB_FLIGHT_MOST, 4096));
	lb_root_publish((uint64_t)getpid());
	lb_probe_start((uint64_t)(uintptr_t)lb_root);
	lb_jit_register();
}

void lb_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, start_once);
}

__attribute__((constructor)) static void at_load(void)
{
	lb_start();
	if (!lb_self_pointer) /* who loads the program need not be the one who will use it */
		lb_alone_leave();
}
