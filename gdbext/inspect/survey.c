/* Mapped, dense arrays are cut into parts of a fixed size, which threads take in turn; what they found
 * is joined in the order of the parts. The threads touch nothing but the elements and their own
 * part: no target, no output, no errors. They take no signals, for in a debugger those are its own.
 * The calling thread works too, and alone tells progress. */
#define _GNU_SOURCE
#include "inspect/survey.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "kernels/kernels.h"

enum { PIECE = 1 << 16, PART = 1 << 20, THREADS = 64, STACK = 1 << 20 };

static const char doing[] = "computing statistics";

struct part {
	struct lbx_summary summary;
	struct lbx_sample sample;
};

struct survey {
	const char *elements;
	int64_t size, width, per_part, n_parts;
	struct lbx_summary *summary;
	struct lbx_sample *sample;
	struct part *parts;
	_Atomic int64_t next;
};

static bool add_piece(void *context, const void *elements, int64_t n, int64_t first)
{
	struct survey *s = context;

	lbx_summary_add(s->summary, elements, n, first);
	lbx_sample_add(s->sample, elements, n, first);
	return true;
}

/* Takes a part and works on it; false when there is none left. */
static bool work(struct survey *s)
{
	int64_t i = atomic_fetch_add(&s->next, 1);

	if (i >= s->n_parts)
		return false;
	struct part part = { .sample = lbx_sample_part(s->sample, i * s->per_part) };
	int64_t end = (i + 1) * s->per_part < s->size ? (i + 1) * s->per_part : s->size;
	lbx_summary_init(&part.summary, s->summary->dtype);
	for (int64_t first = i * s->per_part; first < end; first += PIECE) {
		int64_t n = end - first < PIECE ? end - first : PIECE;
		const char *elements = s->elements + first * s->width;
		lbx_summary_add(&part.summary, elements, n, first);
		lbx_sample_add(&part.sample, elements, n, first);
	}
	s->parts[i] = part;
	return true;
}

static void *thread_main(void *survey)
{
	while (work(survey))
		;
	return NULL;
}

static int start_threads(struct survey *s, pthread_t *threads)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int n = 0, most = lb_parallel_width() - 1;

	if (most > THREADS)
		most = THREADS;
	if (pthread_attr_init(&attributes) != 0)
		return 0;
	pthread_attr_setstacksize(&attributes, STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (n < most && n + 1 < s->n_parts &&
	       pthread_create(&threads[n], &attributes, thread_main, s) == 0)
		n++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return n;
}

static bool in_parts(struct survey *s, struct lbx_out *out)
{
	pthread_t threads[THREADS];
	bool done = true;

	s->parts = calloc((size_t)s->n_parts, sizeof *s->parts);
	if (!s->parts)
		return lb_fail("out of memory");
	int n = start_threads(s, threads);
	while (done && work(s))
		done = lbx_progress(out, doing, atomic_load(&s->next) * s->per_part, s->size);
	atomic_store(&s->next, s->n_parts);
	while (n > 0)
		pthread_join(threads[--n], NULL);
	for (int64_t i = 0; i < s->n_parts && done; i++) {
		lbx_summary_merge(s->summary, &s->parts[i].summary);
		lbx_sample_join(s->sample, &s->parts[i].sample);
	}
	free(s->parts);
	return done;
}

bool lbx_survey(const struct lbx_array *array, struct lbx_out *out, struct lbx_summary *summary,
		struct lbx_sample *sample)
{
	struct survey s = { .elements = lbx_array_in_place(array), .size = array->size,
			    .width = lbx_dtype_bytes(array->dtype), .summary = summary, .sample = sample };

	s.per_part = (PART + sample->step - 1) / sample->step * sample->step;
	s.n_parts = (s.size + s.per_part - 1) / s.per_part;
	if (s.elements && s.n_parts > 1)
		return in_parts(&s, out);
	return lbx_array_walk(array, out, doing, PIECE, add_piece, &s);
}
