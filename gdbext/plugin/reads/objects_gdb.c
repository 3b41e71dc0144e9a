#include "plugin/reads/objects_gdb.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lazybones.h"
#include "plugin/bridge/bridge.h"
#include "plugin/reads/debug_info.h"
#include "plugin/reads/lookup_gdb.h"
#include "plugin/reads/selected.h"
#include "plugin/reads/stacks_gdb.h"
#include "plugin/reads/target_gdb.h"
#include "target/expression.h"
#include "target/inlined.h"
#include "target/lines.h"
#include "target/variables.h"

/* "Stack level 1, frame at 0x7fff…:", "Stack frame at 0x7fff…:" */
static bool take_info(const char *answer, int level, struct lbx_frame *ret)
{
	bool is_inner_inlined = false, found = false;

	for (const char *at = answer; (at = strstr(at, "Stack level ")); at++) {
		int number = atoi(at + 12);
		const char *cfa = strstr(at, "frame at 0x"), *next = strstr(at + 1, "Stack level ");
		const char *inlined = strstr(at, "inlined into frame");
		if (!cfa || number > level)
			break;
		ret->depth = is_inner_inlined ? ret->depth + 1 : 0;
		is_inner_inlined = inlined && (!next || inlined < next);
		ret->cfa = strtoull(cfa + 9, NULL, 16);
		found = number == level;
	}
	ret->is_inlined = is_inner_inlined;
	return found;
}

/* False: not known yet, or gdb knows none. */
static bool find_frame(int level, struct lbx_frame *ret)
{
	const char *info, *registers;
	int from = level > LBX_INLINED_MAX ? level - LBX_INLINED_MAX : 0;

	*ret = (struct lbx_frame){ .level = level, .after_call = level > 0 };
	bool known = lbx_bridge_ask(&info, LBX_ANYWHERE, "frame apply level %d-%d -q info frame", from, level);
	known &= lbx_bridge_ask(&registers, LBX_ANYWHERE, "frame apply level %d -q info registers pc %s", level,
				lbx_stacks_gdb_registers());
	return known && take_info(info, level, ret) && lbx_stacks_gdb_take_registers(registers, ret);
}

static bool find_selected(struct lbx_target *target, struct lbx_frame *frame, struct lbx_variables_of *ret)
{
	int level;

	ret->target = target;
	ret->radix = lbx_bridge_radix();
	if (lbx_selected_gdb(target, frame, &ret->lines)) {
		ret->frame = frame;
		ret->near = lbx_frame_code(frame);
		return true;
	}
	bool known = lbx_bridge_ask_level(&level);
	ret->lines = lbx_debug_info_gdb(target);
	if (!known || !find_frame(level, frame) || !ret->lines)
		return false;
	ret->frame = frame;
	ret->near = lbx_frame_code(frame);
	return true;
}

/* The value, and the pointers in it where they are wanted. */
static bool look(const char *expression, struct lbx_evaluated *value, lbx_pointer_fn *fn, void *context, bool *ret_more)
{
	struct lbx_variables_of variables;
	struct lbx_frame frame;
	bool clean = lb_ok();

	*value = (struct lbx_evaluated){ 0 };
	bool known = find_selected(lbx_target_gdb_now(), &frame, &variables);
	if (clean)
		lb_clear_error();
	if (!known)
		return false;
	enum lbx_found found = lbx_expression_value(&variables, expression, value);
	if (found == LBX_NO_VARIABLE) {
		/* it would be looked for in all that is loaded, anew each time */
		if (lbx_gdb_lacks(expression) || lbx_bridge_waits())
			return false;
		variables.frame = NULL;
		found = lbx_expression_value(&variables, expression, value);
	}
	return found == LBX_FOUND && (!fn || lbx_expression_pointers(&variables, expression, fn, context, ret_more));
}

bool lbx_objects_gdb_evaluate(struct lbx_stacks *stacks, const char *expression, struct lbx_evaluated *ret)
{
	(void)stacks;
	return look(expression, ret, NULL, NULL, NULL);
}

bool lbx_objects_gdb_within(struct lbx_stacks *stacks, const char *expression, lbx_pointer_fn *fn, void *context,
			    bool *ret_more)
{
	struct lbx_evaluated unused;

	(void)stacks;
	return look(expression, &unused, fn, context, ret_more);
}

bool lbx_objects_gdb_statics(struct lbx_stacks *stacks, lbx_static_fn *fn, void *context, struct lbx_statics_told *ret)
{
	struct lbx_target *target = lbx_target_gdb_now();
	struct lbx_lines *lines = lbx_debug_info_gdb(target);

	(void)stacks;
	return lines && !lbx_bridge_waits() && lbx_static_pointers(target, lines, NULL, fn, context, ret);
}

bool lbx_objects_gdb_elsewhere(struct lbx_stacks *stacks, const char *name, char *ret, size_t size)
{
	struct lbx_variables_of variables = { .target = lbx_target_gdb_now() };
	struct lbx_frame frames[LBX_INNERMOST_FRAMES];
	struct lbx_functions f;
	bool found = false;

	(void)stacks;
	int n = lbx_innermost_gdb(variables.target, frames, &variables.lines);
	for (int i = 0; i < n && !found; i++) {
		variables.frame = &frames[i];
		struct lbx_value value;
		if (!lbx_find_handle(&variables, name, &value) ||
		    !lbx_functions_at(lbx_lines_dwfl(variables.lines), lbx_frame_code(&frames[i]), &f))
			continue;
		found = lbx_functions_name(&f, 0, ret, size);
		lbx_functions_release(&f);
	}
	return found;
}

bool lbx_objects_gdb_are_known(int level)
{
	struct lbx_frame frame;

	lbx_debug_info_gdb(lbx_target_gdb_now());
	find_frame(level, &frame);
	return !lbx_bridge_waits();
}

struct pointers {
	lbx_pointer_fn *fn;
	void *context;
	bool stopped;
};

static bool take(void *context, const struct lbx_pointer *pointer)
{
	struct pointers *p = context;

	p->stopped = !p->fn(p->context, pointer);
	return !p->stopped;
}

bool lbx_objects_gdb_pointers(int level, lbx_pointer_fn *fn, void *context, bool *ret_whole,
			      struct lbx_variables_told *told)
{
	struct lbx_target *target = lbx_target_gdb_now();
	struct pointers p = { .fn = fn, .context = context };
	struct lbx_lines *lines = lbx_debug_info_gdb(target);
	struct lbx_frame frame;

	*ret_whole = false;
	if (lines && find_frame(level, &frame))
		lbx_variables(target, lines, &frame, take, &p, ret_whole, told);
	return !p.stopped;
}
