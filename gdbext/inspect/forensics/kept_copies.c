#include "inspect/forensics/kept_copies.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/operand/python_stack.h"
#include "python/walk.h"

struct finder {
	struct lbx_python *py;
	struct lbx_kept_copy *copies;
	size_t n;
};

/* The first that lies in it; n: none does. */
static size_t first_within(const struct finder *f, const struct lbx_py_memory *m)
{
	size_t low = 0, high = f->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (f->copies[middle].address < m->data)
			low = middle + 1;
		else
			high = middle;
	}
	bool is_start = low < f->n && f->copies[low].address == m->data;
	bool is_within = low < f->n && m->rank < 0 && f->copies[low].address - m->data < m->nbytes;
	return is_start || is_within ? low : f->n;
}

static bool is_wanted(void *context, uint64_t object)
{
	const struct finder *f = context;
	struct lbx_py_memory m;

	return lbx_py_memory_of(f->py, object, &m) && first_within(f, &m) < f->n;
}

/* One with a shape tells more than one without. */
static bool is_better(const struct lbx_py_memory *m, const struct lbx_py_memory *than)
{
	return !than->type || m->rank > than->rank;
}

static void take(const struct finder *f, const struct lbx_py_walk *walk, uint32_t node)
{
	struct lbx_py_memory m;
	char path[LBX_PY_PATH];

	if (!lbx_py_memory_of(f->py, walk->nodes[node].object, &m) || !lbx_py_path(walk, node, path))
		return;
	for (size_t i = first_within(f, &m); i < f->n; i++) {
		struct lbx_kept_copy *c = &f->copies[i];
		if (c->address != m.data && (m.rank >= 0 || c->address - m.data >= m.nbytes))
			break;
		if (!is_better(&m, &c->memory))
			continue;
		c->memory = m;
		snprintf(c->path, sizeof c->path, "%s", path);
		if (!lbx_py_path_function(walk, node, c->function, sizeof c->function))
			c->function[0] = '\0';
	}
}

bool lbx_find_kept_copies(struct lbx_context *context, struct lbx_kept_copy *copies, size_t n, bool *ret_known)
{
	const char *why;
	struct finder f = { .py = n ? lbx_context_python(context, &why) : NULL, .copies = copies, .n = n };
	struct lbx_py_rules rules = { .is_wanted = is_wanted, .context = &f };
	struct lbx_py_walk walk = { .n = 0 };

	*ret_known = f.py;
	if (!f.py)
		return true;
	bool ok = lbx_py_walk_start(f.py, &rules, &walk);
	for (uint32_t i = 0; ok && i < walk.n; i++)
		if (walk.nodes[i].is_wanted && lbx_py_walk_find(&walk, walk.nodes[i].object) == i)
			take(&f, &walk, i);
	lbx_py_walk_end(&walk);
	return ok;
}
