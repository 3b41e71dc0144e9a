/* Arrays are cut into parts of a fixed size, which threads take in turn; what they found is joined in
 * the order of the parts. */
#include "inspect/measure/survey.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "inspect/measure/crew.h"

enum { PIECE = 1 << 16, PART = 1 << 20 };
/* What stays in the first-level cache; and its lines, which vectors must not lie across. */
enum { COPIED = 1 << 12, LINE = 64 };

static const char doing[] = "computing statistics";

struct part {
	struct lbx_summary summary;
	struct lbx_sample sample;
};

struct survey {
	struct lbx_array array;
	const char *elements; /* dense, in place; or NULL */
	int64_t size, width, per_part;
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

static bool work(void *context, int64_t i)
{
	struct survey *s = context;
	struct part part = { .sample = lbx_sample_part(s->sample, i * s->per_part) };
	int64_t end = (i + 1) * s->per_part < s->size ? (i + 1) * s->per_part : s->size;
	lb_auto_free char *own = s->elements ? NULL : aligned_alloc(LINE, (size_t)(COPIED * s->width));
	bool done = s->elements || own || lb_fail("out of memory");

	lbx_summary_init(&part.summary, s->summary->dtype);
	int64_t piece = own ? COPIED : s->per_part;
	for (int64_t first = i * s->per_part, n; done && first < end; first += n) {
		n = piece - first % piece; /* so that blocks are seldom cut */
		n = end - first < n ? end - first : n;
		const char *elements = own ? own : s->elements + first * s->width;
		done = !own || lbx_array_copy(&s->array, first, n, own);
		if (!done)
			break;
		lbx_summary_add(&part.summary, elements, n, first);
		lbx_sample_add(&part.sample, elements, n, first);
	}
	s->parts[i % LBX_CREW_ROUND] = part;
	return done;
}

static void join(void *context, int64_t i)
{
	struct survey *s = context;
	struct part *part = &s->parts[i % LBX_CREW_ROUND];

	lbx_summary_merge(s->summary, &part->summary);
	lbx_sample_join(s->sample, &part->sample);
}

static bool in_parts(struct survey *s, const struct lbx_crew *crew, struct lbx_out *out)
{
	int64_t n = lbx_crew_parts(crew);

	s->parts = calloc((size_t)(n < LBX_CREW_ROUND ? n : LBX_CREW_ROUND), sizeof *s->parts);
	bool done = s->parts ? lbx_crew_run(crew, out) : lb_fail("out of memory");
	free(s->parts);
	return done;
}

bool lbx_survey(const struct lbx_array *array, struct lbx_out *out, struct lbx_summary *summary,
		struct lbx_sample *sample)
{
	struct survey s = { .array = *array,
			    .size = array->size,
			    .width = lbx_dtype_bytes(array->dtype),
			    .summary = summary,
			    .sample = sample };
	lb_auto_free char *own = NULL;
	bool done;

	lbx_array_join_axes(&s.array);
	if (s.size && !lbx_array_fetch(&s.array, out, doing, &own))
		return false;
	s.elements = lbx_array_in_place(&s.array);
	s.per_part = (PART + sample->step - 1) / sample->step * sample->step;
	struct lbx_crew crew = {
		.doing = doing, .size = s.size, .per_part = s.per_part, .work = work, .join = join, .context = &s
	};
	if (s.array.shared && s.size > s.per_part)
		done = in_parts(&s, &crew, out);
	else
		done = lbx_array_walk(&s.array, out, doing, PIECE, add_piece, &s);
	return done;
}
