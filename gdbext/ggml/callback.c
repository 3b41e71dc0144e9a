#include "ggml/callback.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "ggml/code.h"
#include "target/registers.h"

enum { PIECE = 1 << 16, CODE_MAX = 1 << 26, MOST = 8 };

static const struct machine {
	unsigned elf;
	size_t n, step;
	const char *returns_true; /* mov $1, %eax; ret */
} machines[] = {
	{ EM_X86_64, 6, 1, "\xb8\x01\x00\x00\x00\xc3" },
	{ EM_AARCH64, 8, 4, "\x20\x00\x80\x52\xc0\x03\x5f\xd6" },
};

static const struct machine *machine_of(unsigned elf)
{
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
		if (machines[i].elf == elf)
			return &machines[i];
	return NULL;
}

bool lbx_ggml_returns_true(struct lbx_target *target, unsigned machine, uint64_t at)
{
	const struct machine *m = machine_of(machine);
	char code[MOST];

	if (!m || !lbx_target_try_read(target, at, code, m->n))
		return false;
	/* int3, or brk #0 */
	bool is_replaced = machine == EM_X86_64 ? *code == '\xcc' : memcmp(code, "\x00\x00\x20\xd4", 4) == 0;
	size_t first = !is_replaced ? 0 : machine == EM_X86_64 ? 1 : 4;
	return memcmp(code + first, m->returns_true + first, m->n - first) == 0;
}

/* ---- code that will serve ---- */

static bool ends_with(const char *code, size_t n, const char *with, size_t n_with)
{
	return n >= n_with && memcmp(code + n - n_with, with, n_with) == 0;
}

/* By what lies before a function, as compilers fill it up. Elsewhere these bytes may be part of other instructions, in
 * which a breakpoint does harm, and the stack cannot be told. */
static bool begins_function(const struct machine *m, const char *code, size_t at, uint64_t address)
{
	static const struct {
		const char *bytes;
		size_t n;
	} before[] = { { "\xc3", 1 },
		       { "\xcc", 1 },
		       { "\x90", 1 },
		       { "\x0f\x1f\x00", 3 },
		       { "\x0f\x1f\x40\x00", 4 },
		       { "\x0f\x1f\x44\x00\x00", 5 },
		       { "\x0f\x1f\x80\x00\x00\x00\x00", 7 },
		       { "\x0f\x1f\x84\x00\x00\x00\x00\x00", 8 } };

	if (m->elf == EM_AARCH64)
		return ends_with(code, at, "\xc0\x03\x5f\xd6", 4); /* ret */
	if (ends_with(code, at, "\xf3\x0f\x1e\xfa", 4)) /* endbr64 */
		return true;
	for (size_t i = 0; address % 16 == 0 && i < sizeof before / sizeof *before; i++)
		if (ends_with(code, at, before[i].bytes, before[i].n))
			return true;
	return false;
}

static bool search_segment(struct lbx_target *target, const struct machine *m, const struct lbx_segment *s,
			   uint64_t *ret)
{
	lb_auto_free char *code = malloc(PIECE + MOST);
	uint64_t end = s->size < CODE_MAX ? s->size : CODE_MAX;

	for (uint64_t done = 0; code && done < end; done += PIECE) {
		size_t n = end - done < PIECE + MOST ? (size_t)(end - done) : PIECE + MOST;
		if (!lbx_target_try_read(target, s->start + done, code, n))
			continue;
		for (size_t i = 0; i + m->n <= n; i++) {
			const char *next = memchr(code + i, *m->returns_true, n - m->n + 1 - i);
			if (!next)
				break;
			i = (size_t)(next - code);
			uint64_t at = s->start + done + i;
			if (at % m->step == 0 && memcmp(next, m->returns_true, m->n) == 0 &&
			    begins_function(m, code, i, at)) {
				*ret = at;
				return true;
			}
		}
	}
	return false;
}

/* ggml's own module first. */
static bool search(struct lbx_target *target, const struct machine *m, const struct lbx_loaded *modules, int n,
		   const struct lbx_loaded *first, uint64_t *ret)
{
	for (int i = -1; i < n; i++) {
		const struct lbx_loaded *module = i < 0 ? first : &modules[i];
		for (int k = 0; k < module->n_segments; k++)
			if (module->segments[k].executable && search_segment(target, m, &module->segments[k], ret))
				return true;
	}
	return false;
}

/* ---- the scheduler ---- */

static bool find_entries(struct lbx_target *target, const struct lbx_loaded *m, struct lbx_ggml_callback *ret)
{
	static const char *const names[LBX_GGML_ENTRIES] = { "ggml_backend_sched_graph_compute_async",
							     "ggml_backend_sched_graph_compute" };

	ret->n_entries = 0;
	for (int i = 0; i < LBX_GGML_ENTRIES; i++)
		ret->n_entries += lbx_loaded_symbol(target, m, names[i], &ret->entries[ret->n_entries]);
	return ret->n_entries > 0;
}

/* The module that has a scheduler; NULL: none, or, with an error, more than one. A program may have a
 * ggml_backend_sched_set_eval_callback of its own, which goes on to ggml's. */
static const struct lbx_loaded *find_module(struct lbx_target *target, const struct lbx_loaded *modules, int n)
{
	const struct lbx_loaded *found = NULL;
	uint64_t at;

	for (int i = 0; i < n; i++) {
		if (!lbx_loaded_symbol(target, &modules[i], "ggml_backend_sched_new", &at))
			continue;
		if (found) {
			lb_fail("the program has more than one ggml");
			return NULL;
		}
		found = &modules[i];
	}
	return found;
}

static bool find_in(struct lbx_target *target, const struct lbx_loaded *modules, int n, const struct lbx_loaded *m,
		    struct lbx_ggml_callback *ret, struct lbx_ggml_anchor *anchor)
{
	uint64_t setter;

	*ret = (struct lbx_ggml_callback){ .machine = LBX_MACHINE };
	lbx_target_machine(target, &ret->machine);
	const struct machine *machine = machine_of(ret->machine);
	if (!machine)
		return lb_fail("nothing is known of the code of its processor");
	if (lbx_ggml_find(target, m, 1, anchor) != 1)
		return lb_fail("its ggml has no tables of operations and types where it has its scheduler");
	lbx_ggml_encode(anchor);
	if (!lbx_ggml_layout_by_code(target, m, &ret->layout))
		return lb_fail("the layout of its ggml's tensors is not told by the code of its functions");
	if (!lbx_loaded_symbol(target, m, "ggml_backend_sched_set_eval_callback", &setter) ||
	    !lbx_code_stores(target, setter, &ret->slot, &ret->data) || ret->slot % 8 || ret->data % 8)
		return lb_fail("its ggml's ggml_backend_sched_set_eval_callback is not of a known form");
	if (!find_entries(target, m, ret))
		return lb_fail("its ggml has no ggml_backend_sched_graph_compute");
	return search(target, machine, modules, n, m, &ret->code) ||
	       lb_fail("none of its functions does nothing but return true");
}

bool lbx_ggml_callback_find(struct lbx_target *target, struct lbx_ggml_callback *ret,
			    struct lbx_ggml_anchor *ret_anchor)
{
	struct lbx_target *direct;
	int n;
	lb_auto_free struct lbx_loaded *modules = lbx_loaded_all(target, &n);

	if (!modules)
		return lb_fail("out of memory");
	const struct lbx_loaded *m = find_module(target, modules, n);
	if (!m)
		return false;
	direct = lbx_target_direct(target);
	if (lbx_target_waits(target) || !find_in(direct ? direct : target, modules, n, m, ret, ret_anchor))
		return false;
	for (int i = 0; i < n && !ret->forward; i++)
		lbx_loaded_symbol(target, &modules[i], "ggml_cpu_extra_compute_forward", &ret->forward);
	return true;
}
