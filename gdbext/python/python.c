#include "python/python.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "lazybones.h"
#include "python/dict.h"
#include "target/cache.h"

enum { MAX_INTERPRETERS = 64, READS_OF_A_LOOK = 1 << 12 };

void lbx_py_allow(struct lbx_python *py, uint64_t reads)
{
	py->allowance->left = reads;
}

bool lbx_py_is_spent(const struct lbx_python *py)
{
	return py->allowance->left == 0;
}

void lbx_python_watch(struct lbx_python *py, bool (*progress)(void *context, int64_t done), void *context)
{
	py->allowance->progress = progress;
	py->allowance->context = context;
	py->allowance->is_stopped = false;
	py->allowance->done = 0;
}

bool lbx_python_goes_on(const struct lbx_python *py)
{
	return !py->allowance->is_stopped || lb_fail_because(LB_INTERRUPTED, "interrupted");
}

static bool may_read(struct lbx_py_allowance *a)
{
	bool clean = lb_ok();

	if (a->left == 0 || a->is_stopped)
		return false;
	a->left--;
	if (++a->done % READS_OF_A_LOOK == 0 && a->progress && !a->progress(a->context, (int64_t)a->done)) {
		a->is_stopped = true;
		if (clean)
			lb_clear_error();
	}
	return !a->is_stopped;
}

static bool read_by(const struct lbx_python *py, struct lbx_cache *cache, uint64_t address, void *to, size_t n)
{
	bool clean = lb_ok();

	if (!may_read(py->allowance))
		return false;
	bool is_read = lbx_cache_read(cache, address, to, n);

	if (!is_read && clean)
		lb_clear_error();
	return is_read;
}

bool lbx_py_read(const struct lbx_python *py, uint64_t address, void *to, size_t n)
{
	return read_by(py, py->cache, address, to, n);
}

bool lbx_py_glance(const struct lbx_python *py, uint64_t address, void *to, size_t n)
{
	return read_by(py, py->glances ? py->glances : py->cache, address, to, n);
}

uint64_t lbx_py_word(const struct lbx_python *py, uint64_t address)
{
	uint64_t word;

	return lbx_py_read(py, address, &word, sizeof word) ? word : 0;
}

bool lbx_python_is_code(const struct lbx_python *py, uint64_t address)
{
	const struct lbx_segment *segment = lbx_loaded_segment_at(&py->module, address);

	return segment && segment->executable;
}

uint64_t lbx_py_interpreter(const struct lbx_python *py, int i)
{
	uint64_t at = i < MAX_INTERPRETERS ? lbx_py_word(py, py->runtime + py->layout.interpreters) : 0;

	for (; at && i > 0; i--)
		at = lbx_py_word(py, at + py->layout.next_interpreter);
	return at;
}

uint64_t lbx_py_modules(const struct lbx_python *py, uint64_t interpreter)
{
	return lbx_py_word(py, interpreter + py->layout.modules);
}

uint64_t lbx_py_globals(struct lbx_python *py, uint64_t interpreter, const char *name)
{
	struct lbx_py_dict dict;
	uint64_t module =
	    lbx_py_dict_open(py, lbx_py_modules(py, interpreter), &dict) ? lbx_py_dict_find(py, &dict, name) : 0;
	const struct lbx_py_type *type = module ? lbx_py_type_of(py, module) : NULL;

	return type && type->kind == LBX_PY_MODULE ? lbx_py_word(py, module + type->dict_at) : 0;
}

static void forget(struct lbx_python *py)
{
	lbx_py_types_clear(&py->types);
	free(py->threads);
	py->threads = NULL;
	py->n_threads = 0;
}

void lbx_python_refresh(struct lbx_python *py)
{
	lbx_cache_clear(py->cache);
	if (py->glances)
		lbx_cache_clear(py->glances);
	forget(py);
}

void lbx_python_use(struct lbx_python *py, struct lbx_target *target)
{
	py->target = target;
	lbx_cache_use(py->cache, target);
	if (py->glances)
		lbx_cache_use(py->glances, lbx_target_glance(target));
}

/* ---- finding it ---- */

static bool symbol(struct lbx_python *py, const struct lbx_loaded *m, const char *name, uint64_t *ret)
{
	return lbx_loaded_symbol(py->target, m, name, ret);
}

/* Since 3.13 the runtime tells it, in 3.11 and 3.12 a variable does. */
static bool find_version(struct lbx_python *py, const struct lbx_loaded *m, uint64_t *ret)
{
	uint64_t at;

	if (lbx_py_layout_is_told(py->target, py->runtime, ret))
		return true;
	if (symbol(py, m, "Py_Version", &at))
		*ret = lbx_py_word(py, at);
	return *ret || lb_fail("it is older than Python 3.11; known are 3.11 to 3.14");
}

/* Whether the offsets are right: the type of types is its own, and each interpreter has a module that it knows by name. */
static bool is_confirmed(struct lbx_python *py)
{
	uint64_t interpreter = lbx_py_interpreter(py, 0);
	const struct lbx_py_type *type = lbx_py_type_of(py, py->type_type);

	return (type && type->kind == LBX_PY_TYPES && interpreter && lbx_py_globals(py, interpreter, "sys")) ||
	       lb_fail("Python %s's objects are not where they are in the version that is known", py->version);
}

static bool open_at(struct lbx_python *py, const struct lbx_loaded *m)
{
	uint64_t version = 0;

	py->module = *m;
	if (!find_version(py, m, &version) || !lbx_py_layout_of(py->target, py->runtime, version, &py->layout))
		return false;
	snprintf(py->version, sizeof py->version, "%u.%u.%u", (unsigned)(version >> 24 & 0xff),
		 (unsigned)(version >> 16 & 0xff), (unsigned)(version >> 8 & 0xff));
	if (!symbol(py, m, "PyType_Type", &py->type_type))
		return lb_fail("Python %s does not export its types", py->version);
	return is_confirmed(py);
}

struct lbx_python *lbx_python_open(struct lbx_target *target, const struct lbx_loaded *modules, int n)
{
	struct lbx_python *py = calloc(1, sizeof *py);
	const struct lbx_loaded *found = NULL;

	struct lbx_target *glance = lbx_target_glance(target);

	if (!py || !(py->allowance = calloc(1, sizeof *py->allowance)) || !(py->cache = lbx_cache_create(target)) ||
	    (glance != target && !(py->glances = lbx_cache_create(glance)))) {
		lb_fail("out of memory");
		lbx_python_close(py);
		return NULL;
	}
	py->target = target;
	lbx_py_allow(py, LBX_PY_READS);
	for (int i = 0; i < n && !found; i++)
		if (symbol(py, &modules[i], "_PyRuntime", &py->runtime))
			found = &modules[i];
	if (found && open_at(py, found))
		return py;
	lbx_python_close(py);
	return NULL;
}

void lbx_python_close(struct lbx_python *py)
{
	if (!py)
		return;
	forget(py);
	lbx_cache_destroy(py->cache);
	lbx_cache_destroy(py->glances);
	free(py->allowance);
	free(py);
}
