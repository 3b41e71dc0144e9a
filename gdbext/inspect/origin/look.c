#include "inspect/origin/look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "base/vector.h"
#include "inspect/forensics/freed.h"
#include "inspect/replay/replay.h"
#include "inspect/tensor/array.h"
#include "inspect/tensor/slice.h"

enum { PIECE = 1 << 16 };

static struct lbx_origin_link *remember(struct lbx_search *s, const struct lbx_tensor *t)
{
	bool is_new;
	struct lbx_number *entry = lbx_number_of_tensor(&s->known, t, &is_new);

	if (!entry)
		return NULL;
	if (!is_new)
		return &s->links[entry->value];
	if (!lb_reserve(s->links, s->room, s->n + 1)) {
		lb_fail("out of memory for %u tensors", s->n);
		return NULL;
	}
	entry->value = s->n;
	struct lbx_origin_link *link = &s->links[s->n++];
	memset(link, 0, sizeof *link);
	link->id = t->id;
	link->recorded = true;
	link->tensor = *t;
	return link;
}

static bool add_piece(void *summary, const void *elements, int64_t n, int64_t first)
{
	lbx_summary_add(summary, elements, n, first);
	return true;
}

static bool sum_up(struct lbx_search *s, const struct lbx_array *array, struct lbx_summary *ret)
{
	lbx_summary_init(ret, array->dtype);
	return lbx_array_walk(array, s->context->out, "looking for NaN", PIECE, add_piece, ret);
}

static bool read_value(struct lbx_search *s, const struct lbx_tensor *t, struct lbx_summary *ret)
{
	struct lbx_array array;

	return lbx_array_of_tensor(s->context->target, t, &array) && sum_up(s, &array, ret);
}

static bool replay_value(struct lbx_search *s, const struct lbx_tensor *t)
{
	struct lbx_ranges ranges;

	if (!lbx_replay_ranges(s->context, t, s->limit, &ranges)) {
		s->capped |= lb_error_cause() == LB_TOO_LARGE;
		return false;
	}
	bool ok = true;
	for (uint32_t i = 0; ok && i < ranges.graph.n; i++) {
		struct lbx_origin_link *link = remember(s, &ranges.graph.nodes[i].tensor);
		ok = link != NULL;
		if (ok && !link->known) {
			link->known = true;
			link->summary = ranges.nodes[i];
		}
	}
	lbx_ranges_deinit(&ranges);
	return ok;
}

bool lbx_look(struct lbx_search *s, const struct lbx_tensor *t, struct lbx_origin_link *ret)
{
	struct lbx_origin_link *link = remember(s, t);

	if (!link || !lbx_progress(s->context->out, "looking for the origin", (int64_t)s->looked_at, 0))
		return false;
	if (!link->known && !link->why[0]) {
		uint32_t at = (uint32_t)(link - s->links);
		struct lbx_summary summary;
		bool ready = t->state == LBX_READY;
		s->looked_at++;
		bool ok = ready ? read_value(s, t, &summary) : replay_value(s, t);
		link = &s->links[at];
		if (!ok) {
			if (lb_error_cause() == LB_INTERRUPTED)
				return false;
			snprintf(link->why, sizeof link->why, "%s", lb_error_message());
			lb_clear_error();
		} else if (ready) {
			link->known = true;
			link->summary = summary;
		}
	}
	*ret = *link;
	return true;
}

/* An input that no longer exists: its record, and sometimes its bytes, may still be there. */
static bool look_at_gone(struct lbx_search *s, const struct lbx_tensors *of, uint64_t id, struct lbx_origin_link *ret)
{
	struct lbx_tensor t;

	*ret = (struct lbx_origin_link){ .id = id };
	if (!lbx_freed_find(s->context, of, id, &t)) {
		snprintf(ret->why, sizeof ret->why, "it is gone, and its record too");
		return lb_ok();
	}
	ret->recorded = true;
	ret->tensor = t;
	if (t.data) {
		t.state = LBX_READY;
		ret->known = read_value(s, &t, &ret->summary);
		if (!ret->known && lb_error_cause() == LB_INTERRUPTED)
			return false;
		lb_clear_error();
	}
	if (!ret->known)
		snprintf(ret->why, sizeof ret->why, "it was freed, and its memory used again");
	return true;
}

bool lbx_look_at_input(struct lbx_search *s, const struct lbx_tensor *t, uint32_t i, struct lbx_origin_link *ret)
{
	struct lbx_tensor found;

	if (lbx_tensor_input(t, i, &found))
		return lbx_look(s, &found, ret);
	lb_clear_error();
	return look_at_gone(s, t->of, lbx_tensor_input_id(t, i), ret);
}

/* ---- parts ---- */

static void as_slice(const struct lbx_region *region, int rank, struct lbx_slice *ret)
{
	*ret = (struct lbx_slice){ .n = rank };
	for (int i = 0; i < rank; i++)
		ret->items[i] = (struct lbx_slice_item){
			.kind = LBX_RANGE,
			.has_start = true,
			.has_stop = true,
			.start = region->first[i],
			.stop = region->first[i] + (region->count[i] - 1) * region->step[i] + 1,
			.step = region->step[i],
		};
}

/* *ret is to be released after the array's last use. */
static bool read_part(struct lbx_search *s, const struct lbx_tensor *t, const struct lbx_region *region,
		      struct lbx_array *array, struct lbx_replayed *ret)
{
	struct lbx_slice slice;

	as_slice(region, t->rank, &slice);
	if (t->state == LBX_READY)
		return lbx_array_of_tensor(s->context->target, t, array) && lbx_slice_apply(&slice, array);
	if (!lbx_progress(s->context->out, "looking for the origin", (int64_t)s->looked_at, 0) ||
	    !lbx_replay(s->context, t, &slice, ret))
		return false;
	*array = ret->array;
	return true;
}

/* What a summary of the whole tells of one element: only whether it is the first of a kind. */
static bool known_by_the_whole(const struct lbx_origin_link *link, const struct lbx_region *region,
			       struct lbx_summary *ret)
{
	const struct lbx_summary *whole = &link->summary;
	const struct lbx_tensor *t = &link->tensor;
	int64_t at = 0, n = lbx_region_size(region, t->rank);
	bool later = false;

	if (lbx_region_is_all(region, t->rank, lbx_shape(t))) {
		*ret = *whole;
		return true;
	}
	for (int i = 0; i < t->rank; i++)
		at = at * lbx_shape(t)[i] + region->first[i];
	lbx_summary_init(ret, t->dtype);
	ret->count = n;
	for (int k = LBX_NAN; k <= LBX_NEGATIVE_INF; k++) {
		bool here = n == 1 && whole->special[k] && whole->first[k] == at;
		later |= whole->special[k] && whole->first[k] <= at && !here;
		later |= whole->special[k] && n > 1;
		ret->special[k] = here;
		ret->first[k] = here ? 0 : -1;
		if (here)
			return true;
	}
	return !later;
}

bool lbx_walk_part(struct lbx_search *s, const struct lbx_tensor *t, const struct lbx_region *region,
		   lbx_piece_fn visit, void *context)
{
	struct lbx_replayed replayed = { .map = NULL };
	struct lbx_array array;
	bool ok = read_part(s, t, region, &array, &replayed) &&
		  lbx_array_walk(&array, s->context->out, "looking for NaN", PIECE, visit, context);

	lbx_replay_release(&replayed);
	return ok;
}

bool lbx_look_failed(struct lbx_origin_link *link)
{
	if (lb_error_cause() == LB_INTERRUPTED)
		return false;
	snprintf(link->why, sizeof link->why, "%s", lb_error_message());
	lb_clear_error();
	return true;
}

bool lbx_look_at_part(struct lbx_search *s, struct lbx_origin_link *link, const struct lbx_region *region)
{
	link->part_known = link->known && known_by_the_whole(link, region, &link->part);
	if (!link->known || link->part_known)
		return true;
	lbx_summary_init(&link->part, link->tensor.dtype);
	link->part_known = lbx_walk_part(s, &link->tensor, region, add_piece, &link->part);
	return link->part_known || lbx_look_failed(link);
}

bool lbx_look_at_choice(struct lbx_search *s, const struct lbx_origin_link *link, const struct lbx_region *region,
			bool *known, struct lbx_choice *ret)
{
	struct lbx_replayed replayed = { .map = NULL };
	struct lbx_region element = *region;
	struct lbx_array array;
	uint64_t bits;

	*known = false;
	if (!link->recorded || !link->known || link->tensor.dtype >= LB_F16 || link->tensor.size == 0)
		return true;
	for (int i = 0; i < link->tensor.rank; i++)
		element.count[i] = element.step[i] = 1;
	*known = read_part(s, &link->tensor, &element, &array, &replayed) && lbx_array_copy(&array, 0, 1, &bits);
	if (*known)
		ret->value = lbx_element_int(&bits, link->tensor.dtype);
	lbx_replay_release(&replayed);
	if (!*known && lb_error_cause() == LB_INTERRUPTED)
		return false;
	lb_clear_error();
	return true;
}

struct places {
	struct lbx_choice *choice;
	enum lb_dtype dtype;
	int64_t place, size;
};

static bool add_places(void *context, const void *elements, int64_t n, int64_t first)
{
	struct places *p = context;
	int width = lb_dtypes[p->dtype].bytes;
	const char *element = elements;

	for (int64_t i = 0; i < n; i++, element += width) {
		uint64_t bits = 0;
		memcpy(&bits, element, (size_t)width);
		int64_t index = lbx_element_int(&bits, p->dtype);
		if ((index < 0 ? index + p->size : index) != p->place)
			continue;
		p->choice->last = first + i;
		if (p->choice->n++ == 0)
			p->choice->first = first + i;
	}
	return true;
}

bool lbx_look_at_places(struct lbx_search *s, const struct lbx_origin_link *link, const struct lbx_region *region,
			int64_t place, int64_t size, bool *known, struct lbx_choice *ret)
{
	struct places places = { .choice = ret, .dtype = link->tensor.dtype, .place = place, .size = size };

	*known = false;
	*ret = (struct lbx_choice){ .n = 0 };
	if (!link->recorded || !link->known || link->tensor.dtype >= LB_F16)
		return true;
	*known = link->tensor.size == 0 || lbx_walk_part(s, &link->tensor, region, add_places, &places);
	if (!*known && lb_error_cause() == LB_INTERRUPTED)
		return false;
	lb_clear_error();
	return true;
}

void lbx_search_deinit(struct lbx_search *s)
{
	lbx_number_map_deinit(&s->known);
	free(s->links);
}
