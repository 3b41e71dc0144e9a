/* Arrays are cut into parts of a fixed size, which threads take in turn; what they found is joined in
 * the order of the parts. */
#include "inspect/measure/survey.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "inspect/measure/blocks.h"
#include "inspect/measure/codes.h"
#include "inspect/measure/crew.h"

enum { PIECE = 1 << 16, PART = 1 << 20 };
/* What stays in the first-level cache; and its lines, which vectors must not lie across. */
enum { COPIED = 1 << 12, LINE = 64, BLOCK_WIDTH = 2 /* bytes of an element, and more */ };

static const char doing[] = "computing statistics";

struct part {
	struct lbx_summary summary;
	struct lbx_sample sample;
};

struct survey {
	struct lbx_array array;
	const char *elements; /* dense, in place; or NULL */
	bool is_blocks; /* measured by their codes */
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

/* Elements first … end-1, as numbers. */
static bool add_numbers(const struct survey *s, int64_t first, int64_t end, struct part *part)
{
	lb_auto_free char *own = s->elements ? NULL : aligned_alloc(LINE, (size_t)(COPIED * s->width));
	int64_t piece = own ? COPIED : s->per_part;

	if (!s->elements && !own)
		return lb_fail("out of memory");
	for (int64_t n; first < end; first += n) {
		n = piece - first % piece; /* so that blocks are seldom cut */
		n = end - first < n ? end - first : n;
		const char *elements = own ? own : s->elements + first * s->width;
		if (own && !lbx_array_copy(&s->array, first, n, own))
			return false;
		lbx_summary_add(&part->summary, elements, n, first);
		lbx_sample_add(&part->sample, elements, n, first);
	}
	return true;
}

/* Likewise as blocks: numbers are made of the sample alone. */
static bool add_blocks(const struct survey *s, int64_t first, int64_t end, struct part *part)
{
	const struct lbx_encoding *e = s->array.encoding;
	char own[LBX_CODES_AT_ONCE * BLOCK_WIDTH];
	float value;

	for (int64_t at = first, n; at < end; at += n) {
		n = end - at < LBX_CODES_AT_ONCE ? end - at : LBX_CODES_AT_ONCE;
		const void *blocks = lbx_array_blocks(&s->array, at, n, own);
		if (!blocks)
			return false;
		lbx_summary_add_blocks(&part->summary, e, blocks, n, at);
	}
	for (int64_t at; (at = lbx_sample_next(&part->sample)) < end;) {
		if (!lbx_array_copy(&s->array, at, 1, &value))
			return false;
		lbx_sample_add(&part->sample, &value, 1, at);
	}
	return true;
}

static bool work(void *context, int64_t i)
{
	struct survey *s = context;
	struct part part = { .sample = lbx_sample_part(s->sample, i * s->per_part) };
	int64_t end = (i + 1) * s->per_part < s->size ? (i + 1) * s->per_part : s->size;

	lbx_summary_init(&part.summary, s->summary->dtype);
	bool done = (s->is_blocks ? add_blocks : add_numbers)(s, i * s->per_part, end, &part);
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

/* As many elements as whole blocks and steps of a sample have. */
static int64_t part_of(int64_t step, int64_t elements)
{
	int64_t unit = step;

	while (unit % elements)
		unit *= 2; /* blocks have a power of two */
	return (PART + unit - 1) / unit * unit;
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
	s.is_blocks = sample->step >= LBX_BLOCK_MAX && lbx_array_is_blocks(&s.array);
	s.per_part = part_of(sample->step, s.is_blocks ? s.array.encoding->elements : 1);
	struct lbx_crew crew = {
		.doing = doing, .size = s.size, .per_part = s.per_part, .work = work, .join = join, .context = &s
	};
	if (s.array.shared && s.size > s.per_part)
		done = in_parts(&s, &crew, out);
	else
		done = lbx_array_walk(&s.array, out, doing, PIECE, add_piece, &s);
	return done;
}
