#include "inspect/measure/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/measure/crew.h"

enum { PART = 1 << 18, ROUND = 1 << 12, PIECE = 1 << 16 };

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
	char *parts;
};

/* Elements first … first+n-1, in place or copied to the buffer. */
static const char *elements_of(const struct side *s, int64_t first, int64_t n, char *buffer, bool *ok)
{
	if (s->elements)
		return s->elements + first * s->width;
	*ok = *ok && lbx_array_copy(&s->array, first, n, buffer);
	return buffer;
}

static void add_blocks(const struct walk *w, void *part, const char *x, const char *y, int64_t n,
		       int64_t first)
{
	for (int64_t done = 0; done < n; done += LBX_PAIRS) {
		int m = n - done < LBX_PAIRS ? (int)(n - done) : LBX_PAIRS;
		w->pairs->add(part, x + done * w->a.width, y + done * w->b.width, m, first + done);
	}
}

/* What is copied here is local, so that copying cannot fail. */
static void work(void *context, int64_t i)
{
	struct walk *w = context;
	char x[LBX_PAIRS * 8], y[LBX_PAIRS * 8];
	char *part = w->parts + (size_t)(i % ROUND) * w->pairs->nbytes;
	int64_t begin = i * PART, end = w->size - begin < PART ? w->size : begin + PART;
	bool ok = true;

	for (int64_t first = begin; first < end; first += LBX_PAIRS) {
		int n = end - first < LBX_PAIRS ? (int)(end - first) : LBX_PAIRS;
		w->pairs->add(part, elements_of(&w->a, first, n, x, &ok),
			      elements_of(&w->b, first, n, y, &ok), n, first);
	}
}

/* In rounds of so many parts: a view that repeats its elements may claim to have any number. */
static bool in_parts(struct walk *w, struct lbx_out *out)
{
	const struct lbx_pairs *pairs = w->pairs;
	int64_t n_parts = (w->size - 1) / PART + 1, nbytes = (int64_t)pairs->nbytes;
	char *empty = malloc(pairs->nbytes);
	bool done = true;

	w->parts = malloc((size_t)((n_parts < ROUND ? n_parts : ROUND) * nbytes));
	if (!w->parts || !empty)
		done = lb_fail("out of memory");
	else
		memcpy(empty, pairs->total, pairs->nbytes);
	for (int64_t begin = 0; done && begin < n_parts; begin += ROUND) {
		int64_t n = n_parts - begin < ROUND ? n_parts - begin : ROUND;
		for (int64_t i = 0; i < n; i++)
			memcpy(w->parts + i * nbytes, empty, pairs->nbytes);
		done = lbx_crew_run(out, pairs->doing, begin, begin + n, PART, w->size, work, w);
		for (int64_t i = 0; i < n && done; i++)
			pairs->join(pairs->total, w->parts + i * nbytes);
	}
	free(empty);
	free(w->parts);
	return done;
}

static bool in_pieces(struct walk *w, struct lbx_out *out)
{
	char *x = malloc((size_t)(PIECE * w->a.width)), *y = malloc((size_t)(PIECE * w->b.width));
	bool done = (x && y) || lb_fail("out of memory");

	for (int64_t first = 0; done && first < w->size; first += PIECE) {
		int64_t n = w->size - first < PIECE ? w->size - first : PIECE;
		const char *p = elements_of(&w->a, first, n, x, &done);
		const char *q = elements_of(&w->b, first, n, y, &done);
		if (done)
			add_blocks(w, w->pairs->total, p, q, n, first);
		done = done && lbx_progress(out, w->pairs->doing, first, w->size);
	}
	free(x);
	free(y);
	return done;
}

static bool side_init(struct side *s, const struct lbx_array *array, struct lbx_out *out,
		      const char *doing)
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
		return lb_fail("arrays of %lld and %lld elements", (long long)w.size,
			       (long long)pairs->b->size);
	if (w.size == 0)
		return true;
	done = side_init(&w.a, pairs->a, out, pairs->doing) &&
	       side_init(&w.b, pairs->b, out, pairs->doing);
	if (done)
		done = w.a.array.local && w.b.array.local ? in_parts(&w, out) : in_pieces(&w, out);
	free(w.a.own);
	free(w.b.own);
	return done;
}
