/* What memory gives at most, over 512 MiB with all cores: read in place, as a core's pages are, and
 * copied out of another process, as a debugger has to. Seconds each. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>

#include "bench.h"

enum { SIZE = 512 << 20, PIECE = 1 << 18, THREADS = 64, TIMES = 5 };

static char *memory;
static pid_t other; /* 0: read in place */
static _Atomic size_t next;
static _Atomic uint64_t sum;
static _Atomic int failures;

static void *work(void *unused)
{
	uint64_t *copy = malloc(PIECE), words = 0;
	size_t at;

	while (copy && (at = atomic_fetch_add(&next, PIECE)) < SIZE) {
		const uint64_t *piece = (const uint64_t *)(memory + at);
		if (other) {
			struct iovec local = { copy, PIECE }, remote = { memory + at, PIECE };
			failures += process_vm_readv(other, &local, 1, &remote, 1, 0) != PIECE;
			continue;
		}
		for (size_t i = 0; i < PIECE / sizeof *piece; i++)
			words += piece[i];
	}
	failures += !copy;
	sum += words;
	free(copy);
	return unused;
}

static double measure(pid_t process)
{
	double seconds[TIMES];
	pthread_t threads[THREADS];
	int width = (int)sysconf(_SC_NPROCESSORS_ONLN);

	other = process;
	width = width > THREADS ? THREADS : width;
	for (int i = 0; i < TIMES; i++) {
		double start = bench_now();
		int n = 0;
		next = 0;
		while (n < width && pthread_create(&threads[n], NULL, work, NULL) == 0)
			n++;
		failures += n == 0;
		while (n > 0)
			pthread_join(threads[--n], NULL);
		seconds[i] = bench_now() - start;
	}
	return bench_median(seconds, TIMES);
}

int main(void)
{
	memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	memset(memory, 1, SIZE);
	pid_t child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	if (child < 0)
		return 1;
	printf("copy_s %g\n", measure(child));
	printf("read_s %g\n", measure(0));
	kill(child, SIGKILL);
	return failures || sum != (uint64_t)TIMES * (SIZE / 8) * 0x0101010101010101;
}
