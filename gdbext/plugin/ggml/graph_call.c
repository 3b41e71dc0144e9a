#include "plugin/ggml/graph_call.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "plugin/bridge/bridge.h"
#include "target/exports.h"
#include "target/loader.h"

enum { MAX_THREADS = 4096 };

struct graph_search {
	const struct lbx_loaded *modules;
	int n_modules, own; /* own: which of them is ggml's scheduler's */
	struct lbx_exports exports; /* of that one */
};

static bool is_entry(const struct graph_search *s, const struct lbx_frame *frame)
{
	char name[LBX_EXPORT_NAME];

	return lbx_exports_function(&s->exports, lbx_frame_code(frame), name) &&
	       strncmp(name, "ggml_backend_sched_graph_compute", 32) == 0;
}

/* A worker begins in ggml: what has called it is the system's beginning of a thread, a frame or two. Of a stack that cannot
 * be followed to its beginning nobody knows what lies beyond. */
static void look_at_stack(const struct graph_search *s, const struct lbx_stack *stack, bool *ret, uint64_t *ret_end)
{
	enum { BEGINNING = 2 };
	int outermost = -1, entry = -1;
	bool is_whole = stack->n > 0 && !stack->cut && !stack->damaged && !stack->left_out && !stack->end[0];

	for (int i = 0; i < stack->n; i++) {
		if (lbx_loaded_at(s->modules, s->n_modules, lbx_frame_code(&stack->frames[i])) != s->own)
			continue;
		outermost = i;
		entry = is_entry(s, &stack->frames[i]) ? i : entry;
	}
	if (is_whole && (outermost < 0 || (entry < 0 && stack->n - 1 - outermost <= BEGINNING)))
		return;
	*ret = true;
	if (entry >= 0 && entry + 1 < stack->n)
		*ret_end = stack->frames[entry + 1].pc;
}

static bool look_at_threads(struct lbx_stacks *stacks, const struct graph_search *s, bool *ret, uint64_t *ret_end)
{
	lb_auto_free uint64_t *tids = calloc(MAX_THREADS, sizeof *tids);
	int n = tids ? stacks->ops->threads(stacks, tids, MAX_THREADS) : -1;
	struct lbx_stack stack;

	*ret = n < 0 || n > MAX_THREADS; /* nobody knows */
	for (int i = 0; i < n && i < MAX_THREADS; i++) {
		if (!stacks->ops->walk(stacks, tids[i], LBX_FRAMES_MAX, 0, &stack)) {
			*ret = true;
			continue;
		}
		look_at_stack(s, &stack, ret, ret_end);
		lbx_stack_release(&stack);
	}
	return !lbx_bridge_waits();
}

bool lbx_graph_call(struct lbx_context *context, const struct lbx_ggml_callback *callback, bool *ret, uint64_t *ret_end)
{
	struct lbx_stacks *stacks = context->all_stacks ? context->all_stacks : context->stacks;
	struct graph_search s = { .n_modules = 0 };
	lb_auto_free struct lbx_loaded *modules = lbx_loaded_all(context->target, &s.n_modules);

	*ret = true;
	*ret_end = 0;
	s.modules = modules;
	s.own = modules ? lbx_loaded_at(modules, s.n_modules, callback->entries[0]) : -1;
	if (s.own < 0 || !stacks)
		return !lbx_bridge_waits();
	if (!lbx_exports_open(context->target, &modules[s.own], &s.exports))
		lb_clear_error();
	bool known = look_at_threads(stacks, &s, ret, ret_end);
	lbx_exports_close(&s.exports);
	lb_clear_error();
	return known;
}
