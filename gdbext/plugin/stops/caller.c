#include "plugin/stops/caller.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "ggml/modules.h"
#include "plugin/bridge/bridge.h"
#include "target/exports.h"
#include "target/loader.h"

enum { MAX_FRAMES = 64, MAX_THREADS = 4096 };

/* Whether it takes functions of ggml. */
static bool is_built_on_ggml(struct lbx_target *target, const struct lbx_loaded *m)
{
	struct lbx_exports exports = { 0 };
	char name[LBX_EXPORT_NAME];
	bool found = false;

	if (!lbx_exports_open(target, m, &exports))
		lb_clear_error();
	for (size_t i = 0; i < exports.n_imports && !found; i++)
		found = lbx_exports_import(&exports, i, name) && strncmp(name, "ggml_", 5) == 0;
	lbx_exports_close(&exports);
	return found;
}

/* Where ggml is part of the program itself, its functions have its names. */
static bool is_of_ggml(struct lbx_context *context, const struct lbx_loaded *modules, int n, uint64_t code,
		       const struct lbx_frame *frame, const struct lbx_source_line *line)
{
	int module = lbx_loaded_at(modules, n, lbx_frame_code(frame));

	if (module < 0)
		return false;
	if (module > 0)
		return module == lbx_loaded_at(modules, n, code) || is_built_on_ggml(context->target, &modules[module]);
	return lbx_ggml_is_of_library(line->function) || (lbx_loaded_at(modules, n, code) == 0 && !line->function[0]);
}

int lbx_caller_level(struct lbx_context *context, uint64_t code)
{
	int n_modules, theirs = -1, named = -1, with_line = -1;
	struct lbx_stack stack = { 0 };
	struct lbx_source_line line;
	uint64_t tid;

	if (!context->stacks || context->stacks->ops->threads(context->stacks, &tid, 1) < 1 ||
	    !context->stacks->ops->walk(context->stacks, tid, MAX_FRAMES, 0, &stack))
		return -1;
	lb_auto_free struct lbx_loaded *modules = lbx_loaded_all(context->target, &n_modules);
	for (int i = 0; modules && i < stack.n && with_line < 0; i++) {
		const struct lbx_frame *frame = &stack.frames[i];
		if (!context->stacks->ops->line(context->stacks, frame, &line))
			memset(&line, 0, sizeof line);
		if (named < 0 && is_of_ggml(context, modules, n_modules, code, frame, &line))
			theirs = frame->level;
		else if (line.line)
			with_line = frame->level;
		else if (named < 0 && line.function[0] && line.function[0] != '?')
			named = frame->level;
	}
	lbx_stack_release(&stack);
	return with_line >= 0 ? with_line : named >= 0 ? named : theirs;
}

/* ---- the call that computes ---- */

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
