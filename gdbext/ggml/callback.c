#include "ggml/callback.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "target/code.h"
#include "target/registers.h"

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
	if (!lbx_true_code_knows(ret->machine))
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
	return lbx_true_code_find(target, ret->machine, modules, n, m, &ret->code) ||
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
	return !lbx_target_waits(target) && find_in(direct ? direct : target, modules, n, m, ret, ret_anchor);
}
