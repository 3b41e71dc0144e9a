/* Finding FFTW, and making plans. A program that links libfftw3f (a static program must) is served by weak symbols; otherwise
 * libfftw3f.so.3 is opened at the first transform, with its names kept to ourselves.
 *
 * FFTW plans one at a time, so that a lock is held meanwhile; executing needs none. A program that plans transforms of single
 * precision itself, in another thread, calls fftwf_make_planner_thread_safe(), as FFTW asks of it: that holds for the plans
 * here, too. Plans are estimated, not measured, so that each run has the same ones. The last few stay: to plan a
 * short transform takes as long as many of them. */
#include "kernels/fftw.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/fork.h"
#include "base/loader.h"
#include "base/op.h"

struct line {
	ptrdiff_t n, from_stride, to_stride;
};

/* X(result, name, arguments): what is called here. A complex number is two floats. */
#define FUNCTIONS(X) \
	X(void *, plan_guru64_dft, int rank, const struct line *, int n_lines, const struct line *, float *from, \
	  float *to, int sign, unsigned flags) \
	X(void *, plan_guru64_dft_r2c, int rank, const struct line *, int n_lines, const struct line *, float *from, \
	  float *to, unsigned flags) \
	X(void *, plan_guru64_dft_c2r, int rank, const struct line *, int n_lines, const struct line *, float *from, \
	  float *to, unsigned flags) \
	X(void, execute_dft, void *plan, float *from, float *to) \
	X(void, execute_dft_r2c, void *plan, float *from, float *to) \
	X(void, execute_dft_c2r, void *plan, float *from, float *to) \
	X(void, destroy_plan, void *plan)

#define X(result, name, ...) extern result fftwf_##name(__VA_ARGS__) __attribute__((weak));
FUNCTIONS(X)
#undef X

static struct {
#define X(result, name, ...) result (*name)(__VA_ARGS__);
	FUNCTIONS(X)
#undef X
} fftw;

enum { FORWARD = -1, BACKWARD = 1, DESTROY_INPUT = 1 << 0, ESTIMATE = 1 << 6 };
enum { KEPT = 16, LONGEST_KEPT = 1 << 20 };

struct lb_fftw_plan {
	struct lb_fftw_plan *next;
	int op, users;
	int64_t n;
	void *plan;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while anything of FFTW's but a transform runs */
static enum { UNKNOWN, FOUND, ABSENT } state;
static struct lb_fftw_plan *plans; /* the one that was taken last first */

/* A child of fork() must be able to go on. */
__attribute__((constructor)) static void watch_forks(void)
{
	static struct lb_fork_lock entry = { .lock = &lock };
	lb_free_in_child(&entry);
}

static bool find_linked(void)
{
	bool all = true;
#define X(result, name, ...) all &= (fftw.name = fftwf_##name) != NULL;
	FUNCTIONS(X)
#undef X
	return all;
}

static bool open_library(void)
{
	void *library = lb_has_loader() ? dlopen("libfftw3f.so.3", RTLD_NOW | RTLD_LOCAL) : NULL;
	bool all = library != NULL;
#define X(result, name, ...) all = all && (*(void **)&fftw.name = dlsym(library, "fftwf_" #name)) != NULL;
	FUNCTIONS(X)
#undef X
	return all;
}

static bool find_fftw(void)
{
	if (state == UNKNOWN)
		state = find_linked() || open_library() ? FOUND : ABSENT;
	return state == FOUND;
}

static void *make(int op, int64_t n, void *from, void *to)
{
	const struct line line = { (ptrdiff_t)n, 1, 1 };
	switch (op) {
	case LB_OP_RFFT: return fftw.plan_guru64_dft_r2c(1, &line, 0, NULL, from, to, ESTIMATE | DESTROY_INPUT);
	case LB_OP_IRFFT: return fftw.plan_guru64_dft_c2r(1, &line, 0, NULL, from, to, ESTIMATE | DESTROY_INPUT);
	default:
		return fftw.plan_guru64_dft(1, &line, 0, NULL, from, to, op == LB_OP_IFFT ? BACKWARD : FORWARD,
					    ESTIMATE | DESTROY_INPUT);
	}
}

static struct lb_fftw_plan *take_plan(int op, int64_t n, void *from, void *to)
{
	struct lb_fftw_plan **link = &plans, *plan;
	while (*link && ((*link)->op != op || (*link)->n != n))
		link = &(*link)->next;
	plan = *link;
	if (plan) {
		*link = plan->next;
	} else {
		plan = malloc(sizeof *plan);
		if (!plan)
			return NULL;
		*plan = (struct lb_fftw_plan){ .op = op, .n = n, .plan = make(op, n, from, to) };
		if (!plan->plan) {
			free(plan);
			return NULL;
		}
	}
	plan->next = plans;
	plan->users++;
	plans = plan;
	return plan;
}

struct lb_fftw_plan *lb_fftw_take(int op, int64_t n, void *from, void *to)
{
	pthread_mutex_lock(&lock);
	bool found = find_fftw();
	struct lb_fftw_plan *plan = found ? take_plan(op, n, from, to) : NULL;
	pthread_mutex_unlock(&lock);
	if (!found)
		lb_fail(
		    "%s: needs FFTW, and there is none: install that of single precision (libfftw3-single3), or link it "
		    "into the program",
		    lb_ops[op].name);
	else if (!plan)
		lb_fail("%s: FFTW has no plan for %lld elements: there is no memory for it", lb_ops[op].name,
			(long long)n);
	return plan;
}

/* All that nobody uses, but for the last few. */
static void drop_old(void)
{
	int kept = 0;
	for (struct lb_fftw_plan **link = &plans, *plan; (plan = *link);) {
		if (plan->users || (plan->n <= LONGEST_KEPT && kept++ < KEPT)) {
			link = &plan->next;
			continue;
		}
		*link = plan->next;
		fftw.destroy_plan(plan->plan);
		free(plan);
	}
}

void lb_fftw_give_back(struct lb_fftw_plan *plan)
{
	pthread_mutex_lock(&lock);
	plan->users--;
	drop_old();
	pthread_mutex_unlock(&lock);
}

void lb_fftw_run(const struct lb_fftw_plan *plan, void *from, void *to)
{
	switch (plan->op) {
	case LB_OP_RFFT: fftw.execute_dft_r2c(plan->plan, from, to); return;
	case LB_OP_IRFFT: fftw.execute_dft_c2r(plan->plan, from, to); return;
	default: fftw.execute_dft(plan->plan, from, to);
	}
}
