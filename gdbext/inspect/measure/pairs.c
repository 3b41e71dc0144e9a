#include "inspect/measure/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "inspect/measure/crew.h"

enum { PART = 1 << 18, PIECE = 1 << 15 };

struct side {
	struct lbx_array array;
	const char *elements; /* dense, in place; or NULL */
	char *own;            /* what was read of it before */
	int64_t width;
};

struct walk {
	const struct lbx_pairs *pairs;
	struct side a, b;
	int64_t size;
	char *empty, *parts; /* what is gathered: of nothing, and of each part of a round */
};

/* Elements first … first+n-1, in place or copied to the buffer. */
static const char *elements_of(const struct side *s, int64_t first, int64_t n, char *buffer, bool *ok)
{
	if (s->elements)
		return s->elements + first * s->width;
	*ok = *ok && lbx_array_copy(&s->array, first, n, buffer);
	return buffer;
}

static void add_blocks(const struct walk *w, void *part, const char *x, const char *y, int64_t n, int64_t first)
{
	for (int64_t done = 0; done < n; done += LBX_PAIRS) {
		int m = n - done < LBX_PAIRS ? (int)(n - done) : LBX_PAIRS;
		w->pairs->add(part, x + done * w->a.width, y + done * w->b.width, m, first + done);
	}
}

/* Elements begin … end-1; without `out` there is no progress to tell. */
static bool add_range(const struct walk *w, void *part, int64_t begin, int64_t end, struct lbx_out *out)
{
	lb_auto_free char *x = malloc((size_t)(PIECE * w->a.width)), *y = malloc((size_t)(PIECE * w->b.width));
	bool done = (x && y) || lb_fail("out of memory");

	for (int64_t first = begin; done && first < end; first += PIECE) {
		int64_t n = end - first < PIECE ? end - first : PIECE;
		const char *p = elements_of(&w->a, first, n, x, &done);
		const char *q = elements_of(&w->b, first, n, y, &done);
		if (done)
			add_blocks(w, part, p, q, n, first);
		if (out)
			done = done && lbx_progress(out, w->pairs->doing, first, w->size);
	}
	return done;
}

static bool work(void *context, int64_t i)
{
	struct walk *w = context;
	char *part = w->parts + (size_t)(i % LBX_CREW_ROUND) * w->pairs->nbytes;
	int64_t begin = i * PART, end = w->size - begin < PART ? w->size : begin + PART;

	memcpy(part, w->empty, w->pairs->nbytes);
	return add_range(w, part, begin, end, NULL);
}

static void join(void *context, int64_t i)
{
	struct walk *w = context;

	w->pairs->join(w->pairs->total, w->parts + (size_t)(i % LBX_CREW_ROUND) * w->pairs->nbytes);
}

static bool in_parts(struct walk *w, struct lbx_out *out)
{
	struct lbx_crew crew = {
		.doing = w->pairs->doing, .size = w->size, .per_part = PART, .work = work, .join = join, .context = w
	};
	int64_t n = lbx_crew_parts(&crew);
	size_t nbytes = w->pairs->nbytes;
	bool done = false;

	w->empty = malloc(nbytes);
	w->parts = malloc((size_t)(n < LBX_CREW_ROUND ? n : LBX_CREW_ROUND) * nbytes);
	if (w->empty && w->parts) {
		memcpy(w->empty, w->pairs->total, nbytes);
		done = lbx_crew_run(&crew, out);
	} else {
		lb_fail("out of memory");
	}
	free(w->empty);
	free(w->parts);
	return done;
}

static bool side_init(struct side *s, const struct lbx_array *array, struct lbx_out *out, const char *doing)
{
	*s = (struct side){ .array = *array, .width = lbx_dtype_bytes(array->dtype) };
	lbx_array_join_axes(&s->array);
	if (!lbx_array_fetch(&s->array, out, doing, &s->own))
		return false;
	s->elements = lbx_array_in_place(&s->array);
	return true;
}

bool lbx_pairs_walk(const struct lbx_pairs *pairs, struct lbx_out *out)
{
	struct walk w = { .pairs = pairs, .size = pairs->a->size };
	bool done = true;

	if (w.size != pairs->b->size)
		return lb_fail("arrays of %lld and %lld element%s", (long long)w.size, (long long)pairs->b->size,
			       LB_S(pairs->b->size));
	if (w.size == 0)
		return true;
	done = side_init(&w.a, pairs->a, out, pairs->doing) && side_init(&w.b, pairs->b, out, pairs->doing);
	if (done)
		done = w.a.array.shared && w.b.array.shared ? in_parts(&w, out)
							    : add_range(&w, pairs->total, 0, w.size, out);
	free(w.a.own);
	free(w.b.own);
	return done;
}
