/* Mapped, dense arrays are cut into parts of a fixed size, which threads take in turn; what they found
 * is joined in the order of the parts. */
#include "inspect/measure/survey.h"

#include <stdlib.h>

#include "base/error.h"
#include "inspect/measure/crew.h"

enum { PIECE = 1 << 16, PART = 1 << 20 };

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
};

static bool add_piece(void *context, const void *elements, int64_t n, int64_t first)
{
	struct survey *s = context;

	lbx_summary_add(s->summary, elements, n, first);
	lbx_sample_add(s->sample, elements, n, first);
	return true;
}

static void work(void *context, int64_t i)
{
	struct survey *s = context;
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
}

static bool in_parts(struct survey *s, struct lbx_out *out)
{
	s->parts = calloc((size_t)s->n_parts, sizeof *s->parts);
	if (!s->parts)
		return lb_fail("out of memory");
	bool done = lbx_crew_run(out, doing, 0, s->n_parts, s->per_part, s->size, work, s);
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
