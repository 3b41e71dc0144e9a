/* Python's object of a tensor leads to it, it leads back, and its first word leads to a virtual table whose type_info says what
 * it is: no class need be known before. */
#include "torch/near.h"

#include "base/error.h"
#include "base/vector.h"
#include "python/variables.h"
#include "target/cache.h"
#include "torch/decode.h"
#include "torch/find.h"

/* Of an object of Python's: where the tensor's address may be. */
enum { TENSOR = 0x10, PLACES = 2, ENOUGH = 500, STORAGES = 2 };

struct finder {
	struct lbx_torch_set *s;
	struct lbx_python *py;
};

/* Whether the class of what lies there is a tensor's, or a storage's; it is remembered. */
static bool has_class(struct lbx_torch_set *s, uint64_t address, bool is_storage)
{
	struct lbx_target *target = lbx_torch_set_target(s);
	uint64_t vtable;

	if (!address || address % sizeof vtable || !lbx_target_try_read(target, address, &vtable, sizeof vtable) ||
	    !lbx_torch_classes_add(target, s->modules, s->n_modules, vtable, &s->classes))
		return false;
	enum lbx_torch_kind kind = lbx_torch_kind(lbx_cxx_class_at(&s->classes, vtable));
	return kind != LBX_TORCH_UNDEFINED && (kind == LBX_TORCH_STORAGE) == is_storage;
}

/* 0: none. */
static uint64_t tensor_of(struct lbx_torch_set *s, struct lbx_python *py, uint64_t object)
{
	const struct lbx_py_type *type = lbx_py_type_of(py, object);
	uint64_t words[PLACES];

	if (!type || (type->kind != LBX_PY_INSTANCE && type->kind != LBX_PY_PLAIN) ||
	    type->size < TENSOR + sizeof words || !lbx_py_read(py, object + TENSOR, words, sizeof words))
		return 0;
	for (int i = 0; i < PLACES; i++)
		if (has_class(s, words[i], false))
			return words[i];
	return 0;
}

static bool take(void *context, const char *name, uint64_t object)
{
	struct finder *f = context;
	struct lbx_torch_set *s = f->s;
	uint64_t tensor = s->n < ENOUGH ? tensor_of(s, f->py, object) : 0, words[STORAGES];

	(void)name;
	if (!tensor || !lb_reserve(s->objects, s->room, s->n + 1))
		return false;
	s->objects[s->n++] = tensor;
	/* where its storage may be, in both kinds of versions */
	if (lbx_target_try_read(lbx_torch_set_target(s), tensor + LBX_TORCH_BEHIND_SHORT, words, sizeof words))
		for (int i = 0; i < STORAGES; i++)
			has_class(s, words[i], true);
	return true;
}

bool lbx_torch_near_find(struct lbx_torch_set *s, struct lbx_python *py)
{
	struct finder f = { .s = s, .py = py };
	struct lbx_py_thread thread;
	struct lbx_py_frame frame;
	bool clean = lb_ok();

	s->reader = lbx_cache_view(py->cache); /* tensors lie among objects of Python's */
	for (int i = 0; lbx_py_thread(py, i, &thread); i++)
		for (bool more = lbx_py_frame_first(py, &thread, &frame); more && s->n < ENOUGH;
		     more = lbx_py_frame_next(py, &frame, &frame))
			lbx_py_look_at_variables(py, &frame, take, &f);
	bool found = s->n == 0 || (lbx_torch_set_decide(s) && s->layout.since);
	if (clean)
		lb_clear_error();
	s->near = found ? py : NULL;
	return found;
}

bool lbx_torch_near_by_object(struct lbx_torch_set *s, uint64_t object, struct lbx_tensor *ret)
{
	struct lbx_torch_record r;
	uint64_t tensor = s->layout.rank ? tensor_of(s, s->near, object) : 0;
	struct lbx_target *target = lbx_torch_set_target(s);

	if (!tensor)
		return false;
	/* its storage's class may be one that was not met before */
	uint64_t storage;
	if (lbx_target_try_read(target, tensor + s->layout.behind, &storage, sizeof storage))
		has_class(s, storage, true);
	return lbx_torch_record_read(target, &s->classes, &s->layout, tensor, &r) && r.pyobj == object &&
	       lbx_torch_decode(s, 0, &r, ret);
}
