/* gdb does not tell. But the other end's system counts how often it has taken each thread off a processor, which it does
 * whenever a thread stops for a debugger; gdb shows such files of processes, and takes a thread's number, too. */
#include "plugin/reads/moment_gdb.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "plugin/bridge/bridge.h"

enum { MAX_THREADS = 256 };

/* "* 1    Thread 4711.4712 "name" main () at …": the next such number, or 0. */
static uint64_t next_thread(const char **at)
{
	static const char title[] = "Thread ";

	while (**at) {
		const char *line = *at, *found;
		size_t n = strcspn(line, "\n");
		*at += n + (line[n] == '\n');
		const char *number = line + strspn(line, "* 0123456789.");
		if (strncmp(number, title, sizeof title - 1) == 0 && (found = strchr(number, '.')) && found < line + n)
			return strtoull(found + 1, NULL, 10);
	}
	return 0;
}

static bool take_count(const char *status, const char *name, uint64_t *sum)
{
	const char *at = strstr(status, name);

	if (at)
		*sum += strtoull(at + strlen(name), NULL, 10);
	return at;
}

/* "State:\tt (tracing stop)" */
static bool stands_still(const char *status)
{
	const char *state = strstr(status, "\nState:\t");

	return state && strchr("tTZ", state[8]);
}

bool lbx_moment_gdb_remote(uint64_t *ret)
{
	const char *threads, *status;
	bool known = true;
	uint64_t tid;
	int n = 0;

	*ret = 0;
	if (!lbx_bridge_ask(&threads, LBX_ANYWHERE, "with print frame-arguments none -- info threads"))
		return false;
	while ((tid = next_thread(&threads)) && known && n++ < MAX_THREADS) {
		uint64_t times = 0;
		if (!lbx_bridge_ask(&status, LBX_ANYWHERE, "info proc status %" PRIu64, tid)) {
			known = lbx_bridge_waits(); /* those of the others are asked at once */
			continue;
		}
		known = stands_still(status) && take_count(status, "\nvoluntary_ctxt_switches:\t", &times) &&
			take_count(status, "\nnonvoluntary_ctxt_switches:\t", &times) && times > 0;
		*ret += lb_mix(lb_mix(tid) + times);
	}
	return known && n > 0 && n <= MAX_THREADS && !lbx_bridge_waits();
}
