/* std::make_shared() puts an array's record behind the counts of who holds it, an object whose class is named by the record's:
 * so its virtual table is told from all others by that name, which every module that makes arrays has. */
#include "mlx/find.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vector.h"
#include "mlx/mlx.h"
#include "mlx/version.h"
#include "target/search.h"
#include "tensors/fit.h"

enum {
	MAX_OBJECTS = 1 << 24,
	SAMPLE = 500,
	WORD = 8,
	COUNT_MAX = 1 << 30,
	INPUTS = 4 /* of one, that must be arrays */
};

static bool look(void *context, const char *bytes, size_t n, uint64_t address)
{
	struct lbx_mlx_set *s = context;
	uint64_t word;

	for (size_t at = (size_t)(-address & (WORD - 1)); at + WORD <= n; at += WORD) {
		memcpy(&word, bytes + at, sizeof word);
		if (!lbx_cxx_may_be_class(&s->classes, word) || !lbx_cxx_class_at(&s->classes, word))
			continue;
		if (s->n >= MAX_OBJECTS || !lb_reserve(s->objects, s->room, s->n + 1))
			return lb_fail("%s for the arrays of MLX, of which there are more than %zu",
				       s->n >= MAX_OBJECTS ? "there are too many" : "out of memory", s->n);
		s->objects[s->n++] = address + at + LBX_MLX_FRONT;
	}
	return true;
}

/* ---- the layout ---- */

/* Whether an object is there: of one that was freed, whatever the layout, nobody holds it, or the allocator has put an
 * address there; and a word on a stack may be such an address, too. */
static bool is_counted(struct lbx_target *target, uint64_t address)
{
	uint32_t counts[2];
	uint64_t word;
	char byte;

	if (!lbx_target_try_read(target, address - LBX_MLX_FRONT + LBX_MLX_COUNTS, counts, sizeof counts))
		return false;
	memcpy(&word, counts, sizeof word);
	return counts[0] > 0 && counts[0] < COUNT_MAX && counts[1] > 0 && counts[1] < COUNT_MAX &&
	       !lbx_target_try_read(target, word, &byte, 1);
}

static bool are_arrays(struct lbx_mlx_set *s, const struct lbx_mlx_arrays *arrays)
{
	struct lbx_target *target = lbx_mlx_set_target(s);
	uint64_t vtable;

	for (uint32_t i = 0; i < arrays->n && i < INPUTS; i++) {
		uint64_t address = lbx_mlx_array_at(target, arrays, i);
		if (!address || !lbx_target_try_read(target, address - LBX_MLX_FRONT, &vtable, sizeof vtable) ||
		    !lbx_cxx_class_at(&s->classes, vtable))
			return false;
	}
	return true;
}

/* What a layout makes of an object: nothing; an array; one whose elements lie within its buffer. */
enum fit { NO_FIT, FITS, TELLS };

static enum fit fit(struct lbx_mlx_set *s, const struct lbx_mlx_layout *layout, uint64_t address)
{
	struct lbx_target *target = lbx_mlx_set_target(s);
	struct lbx_mlx_buffer buffer;
	struct lbx_mlx_record r;
	int64_t offset;

	if (!lbx_mlx_record_read(target, &s->classes, layout, address, &r) || !are_arrays(s, &r.inputs) ||
	    !are_arrays(s, &r.siblings))
		return NO_FIT;
	if (!r.data)
		return r.status <= LBX_MLX_SCHEDULED || r.size == 0 ? FITS : NO_FIT;
	if (!lbx_mlx_buffer_read(target, r.data, r.data_counts, &buffer) ||
	    (buffer.data && !lbx_mlx_offset(layout, &r, &buffer, &offset)))
		return NO_FIT;
	return buffer.bytes && (!layout->has_scheduled || r.status == LBX_MLX_AVAILABLE) ? TELLS : FITS;
}

/* Of some of the objects, spread over all. */
static struct lbx_fit fit_all(struct lbx_mlx_set *s, const struct lbx_mlx_layout *layout)
{
	size_t step = s->n / SAMPLE + 1;
	struct lbx_fit ret = { 0 };

	for (size_t i = 0; i < s->n; i += step) {
		if (!is_counted(lbx_mlx_set_target(s), s->objects[i]))
			continue;
		enum fit how = fit(s, layout, s->objects[i]);
		ret.n++;
		ret.n_fits += how != NO_FIT;
		ret.n_tell += how == TELLS;
	}
	return ret;
}

/* By what the library exports; NULL: that does not tell. */
static const struct lbx_mlx_layout *known_layout(struct lbx_mlx_set *s)
{
	const struct lbx_mlx_layout *layout = NULL;
	int version = lbx_mlx_version(s);

	for (int i = 0; version != LBX_MLX_UNKNOWN && (layout = lbx_mlx_layout(i)); i++)
		if (version >= layout->since)
			break;
	return layout;
}

/* That of the version, if most objects bear it out: the others are being made, or were freed. Where the version does not tell,
 * one that nearly all objects have, and no other; of layouts that differ only in what no object tells, any will do. */
static bool decide_layout(struct lbx_mlx_set *s)
{
	const struct lbx_mlx_layout *layout = known_layout(s);
	struct lbx_fit best = { 0 };
	bool has_told = false;
	int n = 0;

	if (layout) {
		s->layout = layout;
		best = fit_all(s, layout);
		if (!best.n)
			return lbx_fit_fail("MLX", "arrays", 0, &best);
		return (best.n_fits && best.n_fits >= best.n / 2) ||
		       lb_fail("the program has MLX, in a version whose arrays cannot be read: most are not as in %s",
			       layout->versions);
	}
	for (int i = 0; (layout = lbx_mlx_layout(i)); i++) {
		struct lbx_fit f = fit_all(s, layout);
		if (i == 0 || f.n_fits > best.n_fits)
			best = f;
		if (!lbx_fit_is_good(&f))
			continue;
		if (n && layout->size == s->layout->size && !(has_told && f.n_tell)) {
			s->layout = f.n_tell ? layout : s->layout;
		} else {
			n++;
			s->layout = layout;
		}
		has_told |= f.n_tell > 0;
	}
	return n == 1 || lbx_fit_fail("MLX", "arrays", n, &best);
}

/* ---- those that are arrays ---- */

static bool keep_buffer(struct lbx_mlx_set *s, const struct lbx_mlx_record *r)
{
	if (!r->data)
		return true;
	if (!lb_reserve(s->buffers, s->buffers_room, s->n_buffers + 1))
		return lb_fail("out of memory for the buffers of MLX");
	s->buffers[s->n_buffers++] = (struct lbx_mlx_held_buffer){ r->data, r->data_counts };
	return true;
}

/* Whose objects were freed, or are being made, are none. */
static bool keep_arrays(struct lbx_mlx_set *s)
{
	struct lbx_mlx_record r;
	size_t n = 0;

	lbx_walk_begin(&s->walk, lbx_mlx_set_target(s));
	for (size_t i = 0; i < s->n; i++) {
		uint64_t at = s->objects[i];
		struct lbx_target *target = lbx_walk_target(&s->walk, lbx_mlx_set_target(s), i);
		if (lbx_mlx_record_read(target, &s->classes, s->layout, at, &r)) {
			s->objects[n++] = at;
			s->n_by_status[r.status]++;
			if (!keep_buffer(s, &r))
				return false;
		} else if (is_counted(target, at)) {
			s->first_bad = s->n_other++ ? s->first_bad : at;
			s->last_bad = at;
		}
	}
	s->n = n;
	return true;
}

static int by_address(const void *a, const void *b)
{
	const struct lbx_mlx_held_buffer *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static void sort_buffers(struct lbx_mlx_set *s)
{
	size_t n = 0;

	if (s->n_buffers)
		qsort(s->buffers, s->n_buffers, sizeof *s->buffers, by_address);
	for (size_t i = 0; i < s->n_buffers; i++)
		if (n == 0 || s->buffers[n - 1].address != s->buffers[i].address)
			s->buffers[n++] = s->buffers[i];
	s->n_buffers = n;
}

/* Of a program that ran meanwhile: some of what was read of an array may be of another moment than the rest. Who holds it may
 * change at any time. */
static bool is_as_before(struct lbx_mlx_set *s, struct lbx_target *now, uint64_t address)
{
	struct lbx_mlx_record r, again;

	if (!lbx_mlx_record_read(lbx_mlx_set_target(s), &s->classes, s->layout, address, &r) ||
	    !lbx_mlx_record_read(now, &s->classes, s->layout, address, &again))
		return false;
	return r.rank == again.rank && r.dtype == again.dtype && r.status == again.status && r.data == again.data &&
	       r.begin == again.begin && r.primitive == again.primitive && r.inputs.n == again.inputs.n &&
	       memcmp(r.sizes, again.sizes, sizeof r.sizes) == 0 &&
	       memcmp(r.strides, again.strides, sizeof r.strides) == 0;
}

static void drop_changed(struct lbx_mlx_set *s)
{
	struct lbx_window now;
	size_t n = 0;

	lbx_window_init(&now, lbx_target_now(s->tensors.target));
	for (size_t i = 0; i < s->n; i++)
		if (is_as_before(s, &now.target, s->objects[i]))
			s->objects[n++] = s->objects[i];
	lbx_target_changed(s->tensors.target, s->n - n);
	s->n = n;
}

/* ---- all of it ---- */

bool lbx_mlx_is_there(struct lbx_target *target)
{
	struct lbx_target *direct = lbx_target_direct(target);

	return lbx_loaded_named(direct ? direct : target, "libmlx");
}

bool lbx_mlx_set_search(struct lbx_mlx_set *s, bool (*progress)(void *context, int64_t done), void *context)
{
	static const char *const bases[] = { "_ZTISt16_Sp_counted_baseILN9__gnu_cxx12_Lock_policyE2EE", NULL };
	static const struct lbx_cxx_sought sought = { .bases = bases,
						      .begins =
							  "St23_Sp_counted_ptr_inplaceIN3mlx4core5array9ArrayDescE" };
	const struct lbx_search search = {
		.bytes = WORD, .look = look, .context = s, .progress = progress, .progress_context = context
	};

	s->modules = lbx_loaded_all(s->tensors.target, &s->n_modules);
	if (!s->modules)
		return lb_fail("out of memory");
	if (!lbx_cxx_classes_find(lbx_mlx_set_target(s), s->modules, s->n_modules, &sought, &s->classes))
		return false;
	return lbx_search(s->tensors.target, &search) && (s->n || lb_fail("the program has MLX, but no arrays of it"));
}

bool lbx_mlx_set_take(struct lbx_mlx_set *s)
{
	if (!decide_layout(s) || !keep_arrays(s))
		return false;
	sort_buffers(s);
	if (s->is_torn)
		drop_changed(s);
	return true;
}
