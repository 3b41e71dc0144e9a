#include "python/variables.h"

#include <inttypes.h>
#include <stdio.h>

#include "python/dict.h"
#include "python/walk.h"

enum { DEPTH = 6 /* of what is in each other */, ITEMS = LBX_PY_LOOKED / 4 /* of one */ };

struct look {
	struct lbx_python *py;
	lbx_py_take_fn *take;
	void *context;
	int left; /* objects */
	bool is_cut;
};

static void look_at(struct look *l, const char *name, uint64_t object, int depth);

static void look_at_items(struct look *l, const char *name, uint64_t items, int64_t n, int depth)
{
	char item[2 * LBX_PY_HELD_NAME];

	l->is_cut |= n > ITEMS;
	for (int64_t i = 0; i < n && i < ITEMS && l->left > 0; i++) {
		snprintf(item, sizeof item, "%s[%" PRId64 "]", name, i);
		look_at(l, item, lbx_py_word(l->py, items + (uint64_t)i * sizeof items), depth + 1);
	}
}

/* `before`: what stands before a key that is a name; NULL: it is in brackets. */
static void look_at_entries(struct look *l, const char *name, const struct lbx_py_dict *dict, const char *before,
			    int depth)
{
	char text[LBX_PY_HELD_NAME], quoted[2 * LBX_PY_HELD_NAME], item[3 * LBX_PY_HELD_NAME];
	uint64_t key, value;
	int64_t i = 0, number;

	l->is_cut |= dict->n > ITEMS;
	while (l->left > 0 && i < ITEMS && lbx_py_dict_next(l->py, dict, &i, &key, &value)) {
		if (lbx_py_text(l->py, key, text, sizeof text))
			l->is_cut |= !lbx_py_key_text(text, quoted, sizeof quoted);
		else if (!before && lbx_py_int(l->py, key, &number))
			snprintf(quoted, sizeof quoted, "[%" PRId64 "]", number);
		else
			continue;
		snprintf(item, sizeof item, "%s%s%s", name, before ? before : "", before ? text : quoted);
		look_at(l, item, value, depth + 1);
	}
}

static void look_at(struct look *l, const char *name, uint64_t object, int depth)
{
	struct lbx_py_dict dict;
	uint64_t items;
	int64_t n;

	if (--l->left < 0 || l->take(l->context, name, object) || depth == DEPTH)
		return;
	if (lbx_py_items(l->py, object, &items, &n))
		look_at_items(l, name, items, n, depth);
	else if (lbx_py_mapping_open(l->py, object, &dict))
		look_at_entries(l, name, &dict, NULL, depth);
	else if (lbx_py_is_dataclass(l->py, object) && lbx_py_attributes_open(l->py, object, &dict))
		look_at_entries(l, name, &dict, ".", depth);
}

bool lbx_py_look_at_variables(struct lbx_python *py, const struct lbx_py_frame *frame, lbx_py_take_fn *take,
			      void *context)
{
	struct look l = { .py = py, .take = take, .context = context, .left = LBX_PY_LOOKED };
	char text[LBX_PY_HELD_NAME];
	struct lbx_py_dict dict;
	uint64_t name, value;
	int64_t k = 0;
	int i = 0;

	while (l.left > 0 && lbx_py_local_next(py, frame, &i, &name, &value))
		if (lbx_py_text(py, name, text, sizeof text))
			look_at(&l, text, value, 0);
	if (lbx_py_dict_open(py, frame->locals, &dict))
		while (l.left > 0 && lbx_py_dict_next(py, &dict, &k, &name, &value))
			if (lbx_py_text(py, name, text, sizeof text))
				look_at(&l, text, value, 0);
	return l.left > 0 && !l.is_cut;
}
