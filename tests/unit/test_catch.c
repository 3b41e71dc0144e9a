/* The list of catches, without a gdb: what fails leaves nothing behind. */
#include "plugin/stops/catch.c"
#include "plugin/stops/catches.c"
#include "plugin/stops/guests.c"
#include "plugin/bridge/text.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static bool short_of_memory;
static int n_breakpoints, n_written;
static const struct lbx_catch_kind nan_kind = { .name = "nan", .probe = "nan", .watch = LB_WATCH_NAN };

/* ---- what surrounds the list ---- */

void lbx_catch_condition(const struct lbx_catch *c, struct lbx_table *table, struct text *ret)
{
	(void)c;
	(void)table;
	text_printf(ret, "1");
	ret->failed = short_of_memory;
}

void lbx_catch_sieve(const struct lbx_catch *c, struct lbx_table *table, struct text *ret)
{
	(void)c;
	(void)table;
	(void)ret;
}

bool lbx_watch_find(struct lbx_context *context, struct lbx_watch_place *ret)
{
	(void)context;
	*ret = (struct lbx_watch_place){ .found = true };
	return true;
}

bool lbx_watch_write(struct lbx_context *context, const struct lbx_watch_place *place, const struct lbx_watch *want)
{
	(void)context;
	(void)place;
	(void)want;
	n_written++;
	return true;
}

void lbx_breakpoint_add(int key, const char *probe, int n_args, bool may_go_on)
{
	(void)key;
	(void)probe;
	(void)n_args;
	(void)may_go_on;
	n_breakpoints++;
}

void lbx_breakpoint_need_start(enum lbx_start_for who)
{
	(void)who;
	n_breakpoints++;
}

bool lbx_watch_check(const struct lbx_watch_place *place, const struct lbx_watch *want)
{
	return place->found && (want->all & LB_WATCH_NAN);
}

struct lbx_watch lbx_watch_wanted(const struct lbx_catch *list, int n)
{
	struct lbx_watch want = { 0 };

	for (int i = 0; i < n; i++)
		want.all |= list[i].number ? list[i].kind->watch : 0;
	return want;
}

bool lbx_breakpoints_refresh(void)
{
	return true;
}

bool lbx_breakpoints_look(void)
{
	return true;
}

void lbx_hits_settle(void)
{
}

bool lbx_breakpoint_exists(int key)
{
	return key > 0;
}

bool lbx_breakpoint_is_enabled(int key)
{
	return key > 0;
}

bool lbx_hooks_ask(void)
{
	return true;
}

bool lbx_probes_exist(void)
{
	return true;
}

bool lbx_probes_lack_runtime(void)
{
	return false;
}

bool lbx_probes_are_of_python(void)
{
	return false;
}

void lbx_breakpoint_probes_are_there(bool are)
{
	(void)are;
}

bool lbx_bridge_waits(void)
{
	return false;
}

/* The rest is not called, or does nothing. */
void lbx_catch_forget_nodes(void)
{
}

void lbx_hooks_define(void)
{
}

void lbx_bridge_script(const char *format, ...)
{
	(void)format;
}

void lbx_catch_note(struct lbx_context *context, const struct lbx_catch *c, struct text *ret)
{
	(void)context;
	(void)c;
	(void)ret;
}

void lbx_catch_describe(const struct lbx_catch *c, struct text *ret)
{
	text_printf(ret, "%s", c->kind->name);
}

void lbx_catch_keys(const struct lbx_catch *c, struct lbx_out *out)
{
	(void)c;
	(void)out;
}

bool lbx_watch_is_passed(const struct lbx_watch_place *place, uint64_t limit)
{
	(void)place;
	(void)limit;
	return false;
}

#define UNUSED(type, name, arguments) \
	type name arguments \
	{ \
		abort(); \
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
UNUSED(bool, lbx_catch_check_nodes, (const struct lbx_nodes_ops *of, const struct lbx_catch *c))
UNUSED(enum lbx_liveness, lbx_target_gdb_liveness, (void))
UNUSED(void, lbx_breakpoint_add_fault, (void))

UNUSED(void, lbx_breakpoint_delete, (int key))
UNUSED(void, lbx_breakpoint_release_start, (enum lbx_start_for who))
UNUSED(int, lbx_breakpoint_number, (int key))
UNUSED(void, lbx_breakpoint_suspend, (int key))
UNUSED(bool, lbx_watch_has_closed_guards, (struct lbx_context * context))
UNUSED(const struct lbx_catch_kind *, lbx_catch_kind, (const char *name))
UNUSED(const char *, lbx_catch_word, (int i))
UNUSED(bool, lbx_catch_parse, (struct lbx_context * context, const struct lbx_args *args, struct lbx_catch *ret))
#pragma GCC diagnostic pop

static void no_text(struct lbx_out *out, const char *bytes, size_t n)
{
	(void)out;
	(void)bytes;
	(void)n;
}

static void a_catch_is_whole_or_none(void **state)
{
	struct lbx_out out = { .width = 80, .write = no_text };
	struct lbx_context context = { .out = &out };
	const struct lbx_catch wanted = { .kind = &nan_kind };

	(void)state;
	short_of_memory = true;
	assert_false(lbx_catch_set(&context, &wanted));
	assert_string_equal(lb_error_message(), "out of memory");
	lb_clear_error();
	assert_int_equal(n_breakpoints, 0);
	assert_int_equal(n_written, 0);
	assert_null(lbx_catch_numbered(1));

	short_of_memory = false;
	assert_true(lbx_catch_set(&context, &wanted));
	assert_int_equal(n_breakpoints, 2); /* one at the start */
	assert_int_equal(n_written, 1);
	assert_non_null(lbx_catch_numbered(1));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_catch_is_whole_or_none),
	};
	return cmocka_run_group_tests_name("catch", tests, NULL, NULL);
}
