/* Each catch has breakpoints of its own, so that gdb's `disable` and `delete` are of one catch: at eval() and async_eval(), of which
 * every version exports those that take a std::vector of arrays, or at an array's own eval(), which is exported, too. They are by
 * name, and hold in each process that comes. They are made when the library is there: until then gdb stops where that is
 * loaded, and a program without MLX has none of them. */
#include "plugin/mlx/armed.h"

#include <inttypes.h>
#include <stdio.h>

#include "plugin/mlx/keys.h"
#include "plugin/mlx/provider.h"
#include "plugin/mlx/watched.h"
#include "plugin/stops/call_words.h"
#include "plugin/stops/caller.h"
#include "plugin/stops/catches.h"
#include "plugin/stops/guests.h"

/* A call's frame is below that of its caller, on the same stack, and not far away. */
enum { STACK_BETWEEN = 1 << 20 };

/* MLX's; and PyTorch's, of which is told then that nothing of it is caught (torch/provider.c). One breakpoint for both: /lib\(mlx\|c10\)[-.]
 * without a backslash, which gdb would take away where MI is spoken. */
#define LBX_LIBRARIES "/lib[mc][l1][x0][-.]"

struct function {
	const char *name, *word;
};

static const struct function evaluations[LBX_MLX_FUNCTIONS] = {
	{ "_ZN3mlx4core4evalESt6vectorINS0_5arrayESaIS2_EE", "evaluates" },
	{ "_ZN3mlx4core10async_evalESt6vectorINS0_5arrayESaIS2_EE", "begins" },
};
static const struct function readings[LBX_MLX_FUNCTIONS] = { { "_ZN3mlx4core5array4evalEv", "reads" } };

static unsigned machine; /* of the process that was seen last; 0: this one's */

void lbx_armed_look(struct lbx_context *context)
{
	if (context->target && !lbx_target_machine(context->target, &machine))
		machine = 0;
}

static const struct lbx_call_words *call_words(void)
{
#ifdef __aarch64__
	return lbx_call_words(machine ? machine : EM_AARCH64);
#else
	return lbx_call_words(machine ? machine : EM_X86_64);
#endif
}

/* `catch`: whose it is, for who reads the list of breakpoints; 0: of none alone. */
static void need(int key, const struct function *f, int catch)
{
	char words[32];

	snprintf(words, sizeof words, "%s %d", f->word, catch);
	lbx_breakpoint_need(key, LBX_MLX, f->name, words, call_words()->first, call_words()->stack);
}

/* ---- a catch's own ---- */

static int own(int catch, int which)
{
	return LBX_KEY_MLX_OWN + LBX_MLX_FUNCTIONS * catch + which;
}

static const struct function *functions_of(const struct lbx_catch *c)
{
	return lbx_armed_is_implicit(c) ? readings : evaluations;
}

void lbx_armed_add(const struct lbx_catch *c)
{
	const struct function *f = functions_of(c);

	for (int i = 0; i < LBX_MLX_FUNCTIONS && f[i].name; i++)
		need(own(c->number, i), &f[i], c->number);
}

bool lbx_armed_is_whole(const struct lbx_catch *c)
{
	const struct function *f = functions_of(c);

	for (int i = 0; i < LBX_MLX_FUNCTIONS && f[i].name; i++)
		if (!lbx_breakpoint_exists(own(c->number, i)))
			return false;
	return true;
}

bool lbx_armed_remains(int catch)
{
	for (int i = 0; i < LBX_MLX_FUNCTIONS; i++)
		if (lbx_breakpoint_exists(own(catch, i)))
			return true;
	return false;
}

void lbx_armed_suspend(const struct lbx_catch *c)
{
	for (int i = 0; i < LBX_MLX_FUNCTIONS; i++)
		lbx_breakpoint_suspend(own(c->number, i));
}

void lbx_armed_delete(int catch)
{
	for (int i = 0; i < LBX_MLX_FUNCTIONS; i++)
		lbx_breakpoint_delete(own(catch, i));
}

bool lbx_armed_is_on(const struct lbx_catch *c)
{
	if (!lbx_guest_wants(&lbx_mlx_nodes, c))
		return false;

	const struct function *f = functions_of(c);
	const int key = lbx_catch_key(c);
	bool is_so = key == LBX_BREAKPOINT_NONE || lbx_breakpoint_is_enabled(key);

	for (int i = 0; i < LBX_MLX_FUNCTIONS && is_so && f[i].name; i++)
		is_so = lbx_breakpoint_is_enabled(own(c->number, i));
	return is_so;
}

/* ---- until the library is there ---- */

static bool any_waits(void)
{
	int n;
	const struct lbx_catch *catches = lbx_catches(&n);

	for (int i = 0; i < n; i++)
		if (lbx_guest_wants(&lbx_mlx_nodes, &catches[i]) && !lbx_armed_is_whole(&catches[i]))
			return true;
	return false;
}

void lbx_armed_await(void)
{
	if (any_waits())
		lbx_breakpoint_need_library(LBX_KEY_MLX_LOAD, LBX_MLX, LBX_LIBRARIES, "loaded");
}

void lbx_armed_await_no_more(void)
{
	if (!any_waits())
		lbx_breakpoint_delete(LBX_KEY_MLX_LOAD);
}

/* ---- while anything is watched ---- */

bool lbx_armed_add_end(struct lbx_context *context, uint64_t stack)
{
	char condition[128], words[16];
	uint64_t end, within;

	if (!lbx_caller_return(context, &end, &within))
		return false;
	for (int i = 0; i < LBX_MLX_ENDS && end; i++) {
		if (lbx_breakpoint_exists(LBX_KEY_MLX_END + i))
			continue;
		snprintf(condition, sizeof condition, "(unsigned long)%s - 0x%" PRIx64 " < 0x%x", call_words()->stack,
			 stack, (unsigned)STACK_BETWEEN);
		snprintf(words, sizeof words, "ends %d", i);
		lbx_breakpoint_add_code(LBX_KEY_MLX_END + i, LBX_MLX, end, words, NULL, NULL, condition);
		break;
	}
	return true;
}

void lbx_armed_delete_end(int which)
{
	if (which >= 0 && which < LBX_MLX_ENDS)
		lbx_breakpoint_delete(LBX_KEY_MLX_END + which);
}

void lbx_armed_delete_ends(void)
{
	for (int i = 0; i < LBX_MLX_ENDS; i++)
		lbx_breakpoint_delete(LBX_KEY_MLX_END + i);
}

void lbx_armed_watch(void)
{
	if (lbx_watched_any()) {
		need(LBX_KEY_MLX_VALUE, &readings[0], 0);
		return;
	}
	lbx_breakpoint_delete(LBX_KEY_MLX_VALUE);
	lbx_armed_delete_ends();
}

void lbx_armed_suspend_shared(void)
{
	lbx_breakpoint_suspend(LBX_KEY_MLX_VALUE);
	for (int i = 0; i < LBX_MLX_ENDS; i++)
		lbx_breakpoint_suspend(LBX_KEY_MLX_END + i);
}
