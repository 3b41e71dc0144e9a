/* A view that is not row-contiguous shares its buffer with the tensor it is a view of. A program
 * that takes the view's raw pointer and copies `nbytes` from it gets the elements in the order of
 * storage: the picture comes out tiled. What it leaves behind is a second place in memory with
 * the same bytes. So all that the program can write is searched for the bytes that each view's raw
 * pointer leads to: by eight characteristic bytes of each (one pass over memory for all views),
 * then by comparing the rest.
 *
 * The same bytes are also an honest copy of the tensor below the view. A tensor of the view's own
 * shape, or an array of NumPy's, is a suspicion. So is plain memory while no tensor in that order is alive, where it is known
 * whose values the program has had in its hands; else it may as well be what the tensor was made from, as the bytes of a file
 * are. The rest is told only when asked. */
#include "inspect/forensics/suspect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/plural.h"
#include "base/vector.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/forensics/kept_copies.h"
#include "inspect/tensor/array.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"

enum {
	MAX_VIEWS = 4096,
	MAX_VIEWS_UP = 64,
	MIN_BYTES = 32,
	KEY = 8,
	KEY_WITHIN = 4096,
	BUCKETS = 1 << 16,
	PIECE = 4 << 20,
	COMPARED = 1 << 16,
	MAX_HITS = 10000,
	DEFAULT_SECONDS = 60,
	LABEL = LBX_DESCRIPTION_MAX,
};

struct view {
	struct lbx_tensor tensor;
	uint64_t from, nbytes; /* what its raw pointer leads to */
	uint64_t key, key_at;  /* characteristic bytes, and how far into them */
	int hits, next;        /* the next view with this hash; -1: none */
};

/* A place that holds them, outside the view's own buffer. */
struct hit {
	uint64_t address;
	int view;
};

struct hunt {
	struct lbx_context *context;
	struct lbx_places *places;
	struct lbx_findings *findings;
	struct lbx_suspect *result;
	bool all;
	double end;
	int n, capacity;
	struct view *views;
	int *buckets; /* by hash of the key */
	unsigned step; /* bytes: the narrowest element */
	size_t n_hits, room;
	struct hit *hits;
	bool knows_variables; /* which of Python's lead to memory */
};

static unsigned hash(uint64_t key)
{
	return (unsigned)(key * 0x9e3779b97f4a7c15ULL >> 48);
}

/* Eight bytes are characteristic that have four different ones among them. */
static bool is_characteristic(const unsigned char *bytes)
{
	int different = 0;

	for (int i = 0; i < KEY; i++) {
		bool first = true;
		for (int k = 0; k < i; k++)
			first &= bytes[k] != bytes[i];
		different += first;
	}
	return different >= 4;
}

/* Whether storage order and the view's own are different bytes. */
static bool orders_differ(struct hunt *h, const struct view *v)
{
	char raw[COMPARED], meant[COMPARED];
	int64_t width = lbx_dtype_bytes(v->tensor.dtype);
	int64_t n = (int64_t)(v->nbytes < COMPARED ? v->nbytes : COMPARED) / width;
	struct lbx_array array;
	bool done = lbx_array_of_tensor(h->context->target, &v->tensor, &array) &&
		    lbx_target_read(h->context->target, v->from, raw, (size_t)(n * width)) &&
		    lbx_array_copy(&array, 0, n, meant);

	if (!done)
		lb_clear_error();
	return done && memcmp(raw, meant, (size_t)(n * width)) != 0;
}

/* Whether they are in steps that are all the same, as those of arange() are: many a memory holds such, by chance. */
static bool is_progression(struct hunt *h, const struct view *v)
{
	char raw[KEY_WITHIN];
	enum lb_dtype dtype = v->tensor.dtype;
	size_t width = (size_t)lbx_dtype_bytes(dtype), n = (v->nbytes < sizeof raw ? v->nbytes : sizeof raw) / width;

	if (n < 3 || !lbx_target_try_read(h->context->target, v->from, raw, n * width))
		return false;
	double first = lbx_element_double(raw, dtype), step = lbx_element_double(raw + width, dtype) - first;
	for (size_t i = 2; i < n; i++)
		if (lbx_element_double(raw + i * width, dtype) - lbx_element_double(raw + (i - 1) * width, dtype) !=
		    step)
			return false;
	return true;
}

static bool find_key(struct hunt *h, struct view *v)
{
	unsigned char bytes[KEY_WITHIN];
	unsigned width = (unsigned)lbx_dtype_bytes(v->tensor.dtype);
	uint64_t n = v->nbytes < sizeof bytes ? v->nbytes : sizeof bytes;

	if (!lbx_target_try_read(h->context->target, v->from, bytes, n))
		return false;
	for (uint64_t at = 0; at + KEY <= n; at += width) {
		if (!is_characteristic(bytes + at))
			continue;
		memcpy(&v->key, bytes + at, KEY);
		v->key_at = at;
		return true;
	}
	return false;
}

static bool repeats(const struct lbx_tensor *t)
{
	for (int i = 0; i < t->rank; i++)
		if (lbx_strides(t)[i] == 0 && lbx_shape(t)[i] > 1)
			return true;
	return false;
}

static bool add_view(struct hunt *h, const struct lbx_tensor *t)
{
	struct view v = { .tensor = *t, .from = lbx_tensor_data(t), .nbytes = (uint64_t)lbx_tensor_nbytes(t) };
	uint64_t room = t->data + (uint64_t)t->buffer_bytes - v.from;

	if (v.nbytes > room)
		v.nbytes = room;
	if (v.nbytes < MIN_BYTES || h->n == MAX_VIEWS || !find_key(h, &v) || !orders_differ(h, &v) ||
	    (!t->of->knows_asked && is_progression(h, &v))) {
		h->result->views_skipped++;
		return true;
	}
	if (!lb_reserve(h->views, h->capacity, h->n + 1))
		return lb_fail("out of memory for %d views", h->n);
	/* views of one buffer may say the same: the newest is the one that was read */
	unsigned bucket = hash(v.key), width = (unsigned)lbx_dtype_bytes(t->dtype);
	v.next = h->buckets[bucket];
	h->buckets[bucket] = h->n;
	h->views[h->n++] = v;
	h->result->views++;
	if (h->step == 0 || width < h->step)
		h->step = width;
	return true;
}

static bool collect(struct hunt *h)
{
	struct lbx_tensors *tensors = h->context->tensors;
	struct lbx_tensor t;
	uint64_t slot = 0, bad = 0, seen = 0;
	enum lbx_next next;

	while ((next = lbx_tensors_next(tensors, &slot, &t, &bad)) == LBX_NEXT_TENSOR) {
		if (++seen % 8192 == 0 && !lbx_progress(h->context->out, "looking for views", (int64_t)seen, 0))
			return false;
		if (t.state != LBX_READY || t.torn || t.encoding || t.size < 2 || repeats(&t) ||
		    !lbx_tensor_in_bounds(&t) || lbx_tensor_contiguity(&t) == LBX_ROW_CONTIGUOUS)
			continue;
		if (!add_view(h, &t))
			return false;
	}
	return next == LBX_NEXT_END;
}

/* How the bytes in the order of storage would have to be read. */
struct reading {
	bool is_permutation; /* of the axes of a contiguous array; else nothing is known */
	int64_t order[LBX_RANK_MAX], shape[LBX_RANK_MAX], inverse[LBX_RANK_MAX];
};

static void find_reading(const struct lbx_tensor *t, struct reading *ret)
{
	int64_t dense = 1;

	for (int i = 0; i < t->rank; i++) {
		int k = i;
		for (; k > 0 && lbx_strides(t)[ret->order[k - 1]] < lbx_strides(t)[i]; k--)
			ret->order[k] = ret->order[k - 1];
		ret->order[k] = i;
	}
	ret->is_permutation = true;
	for (int i = t->rank - 1; i >= 0; i--) {
		ret->shape[i] = lbx_shape(t)[ret->order[i]];
		ret->inverse[ret->order[i]] = i;
		ret->is_permutation &= ret->shape[i] <= 1 || lbx_strides(t)[ret->order[i]] == dense;
		dense *= ret->shape[i];
	}
}

/* Whether bytes of the view's shape are none in the order of storage: of a square picture they may as well be that. Axes of one
 * element do not count. */
static bool has_own_shape(const struct lbx_tensor *t)
{
	struct reading r;
	int i = 0, k = 0;

	find_reading(t, &r);
	if (!r.is_permutation)
		return true;
	for (;;) {
		while (i < t->rank && r.shape[i] == 1)
			i++;
		while (k < t->rank && lbx_shape(t)[k] == 1)
			k++;
		if (i == t->rank || k == t->rank)
			return i != k;
		if (r.shape[i++] != lbx_shape(t)[k++])
			return true;
	}
}

/* "memory has its axes in the order (2, 0, 1), as shape (3, 450, 600): transpose that by (1, 2, 0)" */
static void describe_remedy(const struct lbx_tensor *t, char *ret, size_t size)
{
	char orders[LBX_LIST_MAX], shapes[LBX_LIST_MAX], inverses[LBX_LIST_MAX];
	struct reading r;

	find_reading(t, &r);
	if (!r.is_permutation) {
		snprintf(ret, size, "it is not a permutation of a contiguous array: %s",
			 t->of && t->of->strided ? t->of->strided : "use lb_data(), or lb_contiguous() first");
		return;
	}
	lbx_format_list(r.order, t->rank, orders, sizeof orders);
	lbx_format_list(r.shape, t->rank, shapes, sizeof shapes);
	lbx_format_list(r.inverse, t->rank, inverses, sizeof inverses);
	snprintf(ret, size,
		 "these bytes are of shape %s, the view's axes in the order %s; transposed "
		 "by %s they would be right",
		 shapes, orders, inverses);
}

/* The tensor that a view, of a view, is a view of; false when that is gone. */
static bool find_base(const struct lbx_tensor *view, struct lbx_tensor *ret)
{
	struct lbx_tensor t = *view;
	bool found = true;

	for (int i = 0; i < MAX_VIEWS_UP && found && t.op_class == LB_CLASS_VIEW; i++, t = *ret)
		found = lbx_tensor_input(&t, 0, ret);
	if (!found)
		lb_clear_error();
	return found && t.op_class != LB_CLASS_VIEW;
}

/* Whether somebody has asked for its value, or could have: also for one with a name, whose value was
 * there for a while. A temporary of an expression is nothing that a program copies. */
static bool may_be_copied(const struct lbx_tensor *t)
{
	return t->name[0] || (t->state == LBX_READY && !(t->flags & LB_FLAG_UNASKED));
}

/* Whether a tensor in the order of storage is alive, of which the bytes may be a copy. */
static bool has_plain_tensor(struct hunt *h, const struct view *v)
{
	struct lbx_buffer buffer = { .data = v->tensor.data };
	struct lbx_tensor t;

	if (find_base(&v->tensor, &t) && may_be_copied(&t) && t.dtype == v->tensor.dtype && t.size >= v->tensor.size)
		return true;

	for (size_t i = 0; lbx_places_tensor(h->places, &buffer, &i, &t);)
		if (may_be_copied(&t) && lbx_tensor_contiguity(&t) == LBX_ROW_CONTIGUOUS && t.size > 0 &&
		    lbx_tensor_in_bounds(&t) && lbx_tensor_data(&t) <= v->from &&
		    lbx_tensor_data(&t) + (uint64_t)lbx_tensor_nbytes(&t) >= v->from + v->nbytes)
			return true;
	return false;
}

/* Likewise of an object of Python's, whose elements lie one behind the other. */
static bool has_shape_of(const struct lbx_py_memory *m, const struct lbx_tensor *t)
{
	int64_t dense = lbx_dtype_bytes(t->dtype);

	if (m->rank != t->rank)
		return false;
	for (int i = t->rank - 1; i >= 0; i--) {
		if (m->shape[i] != lbx_shape(t)[i] || (m->shape[i] > 1 && m->strides[i] != dense))
			return false;
		dense *= m->shape[i];
	}
	return true;
}

enum worth { EXPLAINED, SUSPICIOUS, UNSURE };

/* UNSURE: it may be what the view's memory was made from. */
static enum worth weigh(struct hunt *h, const struct view *v, const struct lbx_tensor *other,
			const struct lbx_kept_copy *copy)
{
	const struct lbx_tensor *t = &v->tensor;
	bool has_shape = other || copy->memory.rank > 1;
	bool same = other ? lbx_tensors_alike(other, t) : has_shape_of(&copy->memory, t);

	if (t->of->knows_asked)
		return same || (!has_shape && !has_plain_tensor(h, v)) ? SUSPICIOUS : EXPLAINED;
	if (has_shape)
		return same && has_own_shape(t) ? SUSPICIOUS : EXPLAINED;
	return UNSURE;
}

/* "frames[3] in show (numpy.ndarray of shape (4, 3), at 0x…) holds"; "48 bytes at 0x… hold" */
static void describe_place(struct hunt *h, const struct view *v, const struct lbx_kept_copy *copy, char *ret,
			   size_t size)
{
	char shape[LBX_LIST_MAX];

	if (!copy->memory.type) {
		snprintf(ret, size, "%" PRIu64 " byte%s at 0x%" PRIx64 "%s hold", v->nbytes, LB_S(v->nbytes),
			 copy->address, h->knows_variables ? ", to which no variable of Python's leads," : "");
		return;
	}
	lbx_format_list(copy->memory.shape, copy->memory.rank > 0 ? copy->memory.rank : 0, shape, sizeof shape);
	snprintf(ret, size, "%s%s%s (%s%s%s, at 0x%" PRIx64 ") holds", copy->path, copy->function[0] ? " in " : "",
		 copy->function, copy->memory.type, copy->memory.rank >= 0 ? " of shape " : "",
		 copy->memory.rank >= 0 ? shape : "", copy->address);
}

static bool tell(struct hunt *h, const struct view *v, const struct lbx_kept_copy *copy)
{
	char view[LABEL], other[LABEL], site[512], remedy[3 * LBX_LIST_MAX + 256], where[768];
	uint64_t address = copy->address;
	struct lbx_place place;

	lbx_places_find(h->places, address, &place);
	bool is_tensor = place.kind == LBX_PLACE_DATA && place.is_start &&
			 lbx_tensor_contiguity(&place.tensor) == LBX_ROW_CONTIGUOUS;
	enum worth worth = weigh(h, v, is_tensor ? &place.tensor : NULL, copy);
	h->result->unsure += worth == UNSURE;
	if (worth != SUSPICIOUS && !h->all)
		return true;
	const char *as = worth == SUSPICIOUS ? ""
			 : worth == UNSURE   ? ", as a copy of what it is a view of would, or what that was made from"
					     : ", as a copy of what it is a view of would";
	lbx_describe(&v->tensor, view, sizeof view);
	describe_remedy(&v->tensor, remedy, sizeof remedy);
	if (is_tensor) {
		lbx_describe(&place.tensor, other, sizeof other);
		lbx_describe_pc(h->context->target, place.tensor.site, site, sizeof site);
		return lbx_findings_add(h->findings, "storage order", v->tensor.id, address,
					"%s%s%s%s%s, holds the elements of the view %s in storage order%s: %s", other,
					place.tensor.op[0] ? ", made by " : "", place.tensor.op,
					place.tensor.site ? " in " : "", place.tensor.site ? site : "", view, as,
					remedy);
	}
	describe_place(h, v, copy, where, sizeof where);
	return lbx_findings_add(h->findings, "storage order", v->tensor.id, address,
				"%s the elements of the view %s in storage order%s: %s", where, view, as, remedy);
}

static int by_address(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;

	return x->address != y->address ? (x->address > y->address) - (x->address < y->address)
					: (x->view > y->view) - (x->view < y->view);
}

/* What was found, once all of it is: so that Python's variables are gone through once. */
static bool tell_all(struct hunt *h)
{
	lb_auto_free struct lbx_kept_copy *copies = calloc(h->n_hits + 1, sizeof *copies);

	if (!copies)
		return lb_fail("out of memory for %zu places", h->n_hits);
	if (h->n_hits)
		qsort(h->hits, h->n_hits, sizeof *h->hits, by_address);
	for (size_t i = 0; i < h->n_hits; i++)
		copies[i].address = h->hits[i].address;
	if (!lbx_find_kept_copies(h->context, copies, h->n_hits, &h->knows_variables))
		return false;
	for (size_t i = 0; i < h->n_hits; i++)
		if (!tell(h, &h->views[h->hits[i].view], &copies[i]))
			return h->findings->capped;
	return true;
}

static bool equal(struct hunt *h, uint64_t a, uint64_t b, uint64_t n)
{
	char left[COMPARED], right[COMPARED];
	struct lbx_target *target = h->context->target;

	for (uint64_t done = 0; done < n;) {
		size_t part = n - done < COMPARED ? (size_t)(n - done) : COMPARED;
		if (!lbx_target_try_read(target, a + done, left, part) ||
		    !lbx_target_try_read(target, b + done, right, part) || memcmp(left, right, part) != 0)
			return false;
		done += part;
	}
	return true;
}

static bool check(struct hunt *h, uint64_t key, uint64_t address)
{
	for (int i = h->buckets[hash(key)]; i >= 0; i = h->views[i].next) {
		struct view *v = &h->views[i];
		uint64_t start = address - v->key_at;
		if (v->key != key || v->hits >= MAX_HITS)
			continue;
		/* the view's own buffer is no copy */
		if (start + v->nbytes > v->tensor.data && start < v->tensor.data + (uint64_t)v->tensor.buffer_bytes)
			continue;
		v->hits++;
		if (!equal(h, start, v->from, v->nbytes))
			continue;
		if (!lb_reserve(h->hits, h->room, h->n_hits + 1))
			return lb_fail("out of memory for %zu places", h->n_hits);
		h->hits[h->n_hits++] = (struct hit){ start, i };
		return h->n_hits < MAX_HITS;
	}
	return true;
}

static bool search_bytes(struct hunt *h, const char *bytes, size_t n, uint64_t address)
{
	size_t first = (size_t)(-address & (h->step - 1));

	for (size_t at = first; at + KEY <= n; at += h->step) {
		uint64_t key;
		memcpy(&key, bytes + at, KEY);
		if (h->buckets[hash(key)] >= 0 && !check(h, key, address + at))
			return false;
	}
	return true;
}

static bool search_range(struct hunt *h, const struct lbx_range *range, char *scratch)
{
	struct lbx_target *target = h->context->target;

	for (uint64_t done = 0; done < range->size; done += PIECE) {
		uint64_t left = range->size - done;
		/* a key may lie across two pieces */
		size_t n = left < PIECE + KEY - 1 ? (size_t)left : PIECE + KEY - 1;
		const char *bytes = lbx_target_map(target, range->start + done, n);
		if (lb_clock_seconds() > h->end) {
			h->result->late = true;
			return false;
		}
		if (!lbx_progress(h->context->out, "searching memory", (int64_t)h->result->bytes, 0))
			return false;
		if (!bytes && !lbx_target_try_read(target, range->start + done, scratch, n))
			continue;
		h->result->bytes += n;
		if (!search_bytes(h, bytes ? bytes : scratch, n, range->start + done))
			return false;
	}
	return true;
}

/* All that can be written; where a target cannot tell what that is, the buffers. */
static bool search(struct hunt *h)
{
	lb_auto_free char *scratch = malloc(PIECE + KEY);
	struct lbx_range range;
	struct lbx_buffer buffer;
	uint64_t from = 0;
	bool done = scratch || lb_fail("out of memory"), any = false;

	while (done && lbx_target_range(h->context->target, from, &range)) {
		any = true;
		done = search_range(h, &range, scratch);
		from = range.start + range.size;
		if (from == 0)
			break;
	}
	for (bool more = !any && lbx_places_after(h->places, 0, &buffer); more && done;
	     more = lbx_places_after(h->places, buffer.data, &buffer))
		done = search_range(h, &(struct lbx_range){ buffer.data, (uint64_t)buffer.nbytes }, scratch);
	return done || h->result->late || h->n_hits == MAX_HITS;
}

bool lbx_find_storage_order(struct lbx_context *context, struct lbx_places *places, double seconds, bool all,
			    struct lbx_findings *findings, struct lbx_suspect *ret)
{
	struct hunt h = { .context = context,
			  .places = places,
			  .findings = findings,
			  .result = ret,
			  .all = all,
			  .end = lb_clock_seconds() + seconds };
	struct lbx_tensors *tensors;

	memset(ret, 0, sizeof *ret);
	if (!lbx_context_tensors(context, &tensors))
		return false;
	h.buckets = malloc(BUCKETS * sizeof *h.buckets);
	bool done = h.buckets || lb_fail("out of memory");
	if (done) {
		memset(h.buckets, -1, BUCKETS * sizeof *h.buckets);
		done = collect(&h) && (h.n == 0 || (search(&h) && tell_all(&h)));
	}
	free(h.buckets);
	free(h.views);
	free(h.hits);
	return done;
}

static bool run_suspect(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_findings findings = { 0 };
	struct lbx_suspect result;
	struct lbx_places *places;
	int64_t seconds = DEFAULT_SECONDS;
	struct lbx_out *out = context->out;

	if (!lbx_args_int(args, "seconds", 1, 1 << 20, &seconds) || !lbx_places_create(context, &places))
		return false;
	bool done =
	    lbx_find_storage_order(context, places, (double)seconds, lbx_args_option(args, "all"), &findings, &result);
	if (done) {
		lbx_begin(out, NULL);
		lbx_findings_tell(out, "suspicions", &findings);
		lbx_tell(out, "%d suspicion%s: looked for %pF in %pF of memory%s\n", findings.n, LB_S(findings.n),
			 LBX_COUNT("views", result.views, "view"), LBX_SIZE("bytes", result.bytes),
			 result.late ? ", then time was up" : "");
		if (result.unsure && !lbx_args_option(args, "all"))
			lbx_tell(
			    out,
			    "--all shows %pF, without a shape, with such bytes: the view may have been made from these\n",
			    LBX_COUNT("unsure", result.unsure, "more place"));
		LBX_KEYS(out, json_pack("{s:I,s:b}", "views_skipped", (json_int_t)result.views_skipped, "late",
					result.late));
		lbx_end(out);
		lbx_set_int(out, "tensor_count", findings.n);
		done = lb_ok();
	}
	lbx_findings_deinit(&findings);
	lbx_places_destroy(places);
	return done;
}

const struct lbx_command lbx_command_suspect = {
	.name = "suspect",
	.arguments = "",
	.summary = "find memory that holds a view's elements in the order of its storage",
	.help = "Copying from the raw pointer of a view that is not row-contiguous gives its elements\n"
		"in the wrong order: a transposed picture comes out tiled. All\n"
		"memory that the program could write is searched for such copies. Shows the view, the\n"
		"place, the variable of Python's that leads there, and the permutation that would have\n"
		"been right. Of other runtimes' tensors it speaks where a shape says otherwise than the\n"
		"bytes, as of an array of NumPy's; bytes without a shape may be what the view was made from.\n"
		"Example: suspect --seconds 10",
	.needs = LBX_NEEDS_TENSORS,
	.options = {
		{ "all", NULL, "also copies that another tensor explains" },
		{ "seconds", "N", "search for N seconds at most (default 60)" },
	},
	.run = run_suspect,
};
