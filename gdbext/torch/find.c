#include "torch/find.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vector.h"
#include "target/search.h"
#include "tensors/fit.h"
#include "torch/history.h"
#include "torch/torch.h"

enum { MAX_OBJECTS = 1 << 24, PLACES_MAX = 1 << 20, SAMPLE = 500, WORD = 8, COUNT_MAX = 1 << 30 };
enum { WEAK_MAX = 1 << 14 /* beside the other in one word: less than the upper half of an address */ };

static bool add(uint64_t **list, size_t *room, size_t *n, uint64_t address)
{
	if (*n >= MAX_OBJECTS || !lb_reserve(*list, *room, *n + 1))
		return lb_fail("%s for the tensors of PyTorch, of which there are more than %zu",
			       *n >= MAX_OBJECTS ? "there are too many" : "out of memory", *n);
	(*list)[(*n)++] = address;
	return true;
}

static bool look(void *context, const char *bytes, size_t n, uint64_t address)
{
	struct lbx_torch_set *s = context;
	uint64_t word;

	for (size_t at = (size_t)(-address & (WORD - 1)); at + WORD <= n; at += WORD) {
		memcpy(&word, bytes + at, sizeof word);
		if (word == LBX_TORCH_NET_WORD && s->nets.n_places < PLACES_MAX &&
		    !add(&s->nets.places, &s->nets.places_room, &s->nets.n_places,
			 address + at - LBX_TORCH_NET_WORD_AT))
			return false;
		if (!lbx_cxx_may_be_class(&s->classes, word))
			continue;
		const struct lbx_cxx_class *class = lbx_cxx_class_at(&s->classes, word);
		if (!class || lbx_torch_kind(class) == LBX_TORCH_UNDEFINED)
			continue;
		bool is_storage = lbx_torch_kind(class) == LBX_TORCH_STORAGE;
		if (!(is_storage ? add(&s->storages, &s->storages_room, &s->n_storages, address + at)
				 : add(&s->objects, &s->room, &s->n, address + at)))
			return false;
	}
	return true;
}

/* ---- the layout ---- */

static bool is_count(uint64_t n)
{
	return n > 0 && n < COUNT_MAX;
}

/* Whether an object is there: of one that was freed, whatever the layout, the references are 0; and a word on a stack may
 * be such an address, too. */
static bool is_counted(struct lbx_target *target, uint64_t address)
{
	uint64_t counts[2];

	if (!lbx_target_try_read(target, address + 8, counts, sizeof counts))
		return false;
	return (is_count(counts[0]) && is_count(counts[1])) ||
	       (is_count(counts[0] & UINT32_MAX) && (counts[0] >> 32 & INT32_MAX) - 1 < WEAK_MAX);
}

/* Whether a tensor's elements lie in its storage. */
static bool fits_storage(const struct lbx_torch_record *r, const struct lbx_torch_storage *s)
{
	int64_t last = r->offset, step, bytes;
	struct lbx_torch_dtype dtype;

	lbx_torch_dtype(r->dtype, &dtype);
	for (int i = 0; i < r->rank; i++)
		if (r->strides[i] < 0 || !lb_mul(r->strides[i], r->sizes[i] ? r->sizes[i] - 1 : 0, &step) ||
		    step > INT64_MAX - last || (last += step) < 0)
			return false;
	return r->size == 0 || (lbx_encoding_bytes(&dtype.encoding, last + 1, &bytes) && (uint64_t)bytes <= s->bytes);
}

/* What a layout makes of an object. One with a storage is hardly such by chance; one with several elements is not. */
enum fit { NO_FIT, FITS, HINTS, TELLS };

static enum fit fit(struct lbx_torch_set *s, struct lbx_target *target, const struct lbx_torch_layout *layout,
		    uint64_t address)
{
	struct lbx_torch_record r;
	struct lbx_torch_storage storage;

	if (!lbx_torch_record_read(target, &s->classes, layout, address, &r))
		return NO_FIT;
	if (!r.storage)
		return FITS;
	if (!lbx_torch_storage_read(target, &s->classes, layout, r.storage, &storage) ||
	    storage.device.type != r.device.type)
		return NO_FIT;
	if (!storage.bytes && !storage.data) /* by resize_(0): parameters that are spread over machines are so */
		return HINTS;
	if (!fits_storage(&r, &storage))
		return NO_FIT;
	return r.size > 1 && storage.data ? TELLS : HINTS;
}

/* Objects that the layouts are tried on, spread over all. */
struct sample {
	size_t n;
	uint64_t objects[SAMPLE];
};

static void take_sample(struct lbx_torch_set *s, struct lbx_target *target, struct sample *ret)
{
	size_t step = s->n / SAMPLE + 1;

	ret->n = 0;
	for (size_t i = 0; i < s->n && ret->n < SAMPLE; i += step)
		if (is_counted(target, s->objects[i]))
			ret->objects[ret->n++] = s->objects[i];
}

/* How many of them have a layout, if no fewer than `least`: most layouts are no one's. */
static struct lbx_fit fit_all(struct lbx_torch_set *s, struct lbx_target *target, const struct lbx_torch_layout *layout,
			      const struct sample *sample, size_t least)
{
	struct lbx_fit ret = { .n = sample->n };

	for (size_t i = 0; i < sample->n && ret.n_fits + (sample->n - i) >= least; i++) {
		enum fit how = fit(s, target, layout, sample->objects[i]);
		ret.n_fits += how != NO_FIT;
		ret.n_hints += how == HINTS;
		ret.n_tell += how == TELLS;
	}
	return ret;
}

/* The version that is known to have a layout; NULL: none. */
static const char *since(const struct lbx_torch_layout *layout)
{
	const struct lbx_torch_layout *row;

	for (int i = 0; (row = lbx_torch_layout(i)); i++)
		if (row->behind == layout->behind && row->rank == layout->rank && row->device == layout->device)
			return row->since;
	return NULL;
}

static bool no_layout(struct lbx_torch_set *s, struct lbx_target *target, const struct sample *sample, int n)
{
	struct lbx_fit best = { .n = sample->n };
	struct lbx_torch_layout guess;

	for (int i = 0; lbx_torch_layout_guess(i, &guess); i++) {
		struct lbx_fit f = fit_all(s, target, &guess, sample, best.n_fits);
		if (f.n_fits > best.n_fits)
			best = f;
	}
	return lbx_fit_fail("PyTorch", "tensors", n, &best);
}

/* One that no known version has is believed only if some tell. */
static bool is_good(const struct lbx_fit *fit, const struct lbx_torch_layout *layout)
{
	return lbx_fit_is_good(fit) && (fit->n_tell || (fit->n_hints && layout->since));
}

static bool decide_layout(struct lbx_torch_set *s, struct lbx_target *target)
{
	struct lbx_torch_layout guess, told = { 0 };
	struct sample sample;
	int n = 0, n_told = 0;

	take_sample(s, target, &sample);
	for (int i = 0; lbx_torch_layout_guess(i, &guess); i++) {
		struct lbx_fit f = fit_all(s, target, &guess, &sample, lbx_fit_least(sample.n));
		guess.since = since(&guess);
		if (is_good(&f, &guess)) {
			n++;
			s->layout = guess;
		} else if (lbx_fit_is_told(&f)) {
			n_told++;
			told = guess;
		}
	}
	if (n == 0 && n_told == 1) {
		s->layout = told;
		return true;
	}
	return n == 1 || no_layout(s, target, &sample, n);
}

/* Where many come and go while a program is copied, too many are half of one moment, half of another; what it has now is not. */
static bool decide(struct lbx_torch_set *s)
{
	bool clean = lb_ok();

	if (decide_layout(s, lbx_torch_set_target(s)))
		return true;
	if (!s->is_torn)
		return false;
	if (clean)
		lb_clear_error();
	return decide_layout(s, lbx_target_now(s->tensors.target));
}

/* Of what is no tensor in the copy: whether it is one by now, or is gone. */
static bool has_changed(struct lbx_torch_set *s, uint64_t address)
{
	struct lbx_target *now = s->is_torn ? lbx_target_now(s->tensors.target) : NULL;
	struct lbx_torch_record r;

	return now && (!is_counted(now, address) || lbx_torch_record_read(now, &s->classes, &s->layout, address, &r));
}

/* Those that are tensors: whose objects were freed, or are being made, are none. */
static void keep_tensors(struct lbx_torch_set *s)
{
	size_t n = 0, n_changed = 0, votes[LBX_TORCH_KEYS_BITS] = { 0 };

	lbx_walk_begin(&s->walk, lbx_torch_set_target(s));
	for (size_t i = 0; i < s->n; i++) {
		struct lbx_torch_record r;
		uint64_t at = s->objects[i];
		struct lbx_target *target = lbx_walk_target(&s->walk, lbx_torch_set_target(s), i);
		if (lbx_torch_record_read(target, &s->classes, &s->layout, at, &r)) {
			s->objects[n++] = at;
			votes[lbx_torch_view_key(r.keys)]++;
		} else if (is_counted(target, at) && has_changed(s, at)) {
			n_changed++;
		} else if (is_counted(target, at)) {
			s->first_bad = s->n_other++ ? s->first_bad : at;
			s->last_bad = at;
		}
	}
	s->n = n;
	lbx_target_changed(s->tensors.target, n_changed);
	for (int i = 1; i < LBX_TORCH_KEYS_BITS; i++)
		if (votes[i] && (!s->view_key || votes[i] > votes[s->view_key]))
			s->view_key = i;
}

/* ---- a second look ---- */

/* What tells of a tensor: who else holds it may change at any time. */
static bool is_same(const struct lbx_torch_record *a, const struct lbx_torch_record *b)
{
	size_t n = (size_t)a->rank * sizeof *a->sizes;

	return a->class == b->class && a->storage == b->storage && a->rank == b->rank && a->offset == b->offset &&
	       a->dtype == b->dtype && a->keys == b->keys && a->device.type == b->device.type &&
	       a->device.index == b->device.index && memcmp(a->sizes, b->sizes, n) == 0 &&
	       memcmp(a->strides, b->strides, n) == 0;
}

/* What the program has now; tensors lie more or less in order, and so do their storages. */
struct again {
	struct lbx_window records, storages;
};

/* Whether a tensor, and the storage that it had, are as they were. */
static bool is_as_before(struct lbx_torch_set *s, struct again *now, uint64_t address)
{
	struct lbx_target *before = lbx_torch_set_target(s);
	struct lbx_torch_storage storage, same;
	struct lbx_torch_record r, again;

	if (!lbx_torch_record_read(before, &s->classes, &s->layout, address, &r) ||
	    !lbx_torch_record_read(&now->records.target, &s->classes, &s->layout, address, &again) ||
	    !is_same(&r, &again))
		return false;
	return !r.storage || !lbx_torch_storage_read(before, &s->classes, &s->layout, r.storage, &storage) ||
	       (lbx_torch_storage_read(&now->storages.target, &s->classes, &s->layout, r.storage, &same) &&
		same.data == storage.data && same.bytes == storage.bytes);
}

/* Of a program that ran meanwhile: some of what was read of a tensor may be of another moment than the rest. */
static void drop_changed(struct lbx_torch_set *s)
{
	struct again now;
	size_t n = 0;

	lbx_window_init(&now.records, lbx_target_now(s->tensors.target));
	lbx_window_init(&now.storages, lbx_target_now(s->tensors.target));
	for (size_t i = 0; i < s->n; i++)
		if (is_as_before(s, &now, s->objects[i]))
			s->objects[n++] = s->objects[i];
	lbx_target_changed(s->tensors.target, s->n - n);
	s->n = n;
}

/* ---- all of it ---- */

bool lbx_torch_is_there(struct lbx_target *target)
{
	struct lbx_target *direct = lbx_target_direct(target);

	return lbx_loaded_named(direct ? direct : target, "libc10.so");
}

bool lbx_torch_set_search(struct lbx_torch_set *s, bool (*progress)(void *context, int64_t done), void *context)
{
	s->modules = lbx_loaded_all(s->tensors.target, &s->n_modules);
	if (!s->modules)
		return lb_fail("out of memory");
	if (!lbx_torch_classes_find(lbx_torch_set_target(s), s->modules, s->n_modules, &s->classes))
		return false;
	const struct lbx_search search = {
		.bytes = WORD, .look = look, .context = s, .progress = progress, .progress_context = context
	};
	return lbx_search(s->tensors.target, &search) &&
	       (s->n || lb_fail("the program has PyTorch, but no tensors of it"));
}

bool lbx_torch_set_decide(struct lbx_torch_set *s)
{
	if (!decide(s))
		return false;
	keep_tensors(s);
	return true;
}

bool lbx_torch_set_take(struct lbx_torch_set *s)
{
	if (!lbx_torch_set_decide(s))
		return false;
	if (s->is_torn)
		drop_changed(s);
	return lbx_torch_history_find(s);
}
