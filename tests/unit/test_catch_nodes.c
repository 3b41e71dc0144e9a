/* The catches at nodes of a program that goes, without a gdb. */
#include "plugin/stops/catch_nodes.c"
#include "plugin/stops/guests.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static struct lbx_catch list[2];
static int n_disarmed;

struct lbx_catch *lbx_catches(int *ret_n)
{
	*ret_n = 2;
	return list;
}

bool lbx_node_look(struct lbx_context *context, const struct lbx_nodes_ops *of, struct lbx_catch *c,
		   const struct lbx_node_place *place, struct lbx_catch_stop *ret_stop, bool *ret)
{
	(void)context;
	(void)of;
	(void)c;
	(void)place;
	(void)ret_stop;
	(void)ret;
	return false;
}

void lbx_node_look_forget(void)
{
}

static void disarm(int catch)
{
	(void)catch;
	n_disarmed++;
}

static bool leave(struct lbx_context *context, enum lbx_leaving how)
{
	(void)context;
	(void)how;
	return true;
}

static void forget(void)
{
}

static const struct lbx_nodes_ops ops = { .name = "made up", .disarm = disarm, .leave = leave, .forget = forget };

/* What could not be looked at in one process may be in the next, and is said there once more. */
static void each_process_is_looked_at_anew(void **state)
{
	static const struct lbx_catch_kind kind = { .name = "nan" };
	struct lbx_context context = { 0 };

	(void)state;
	lbx_guests_give((const struct lbx_nodes_ops *[]){ &ops, NULL });
	for (int i = 0; i < 2; i++) {
		list[0] = (struct lbx_catch){ .number = 1, .kind = &kind, .how = { 1 }, .is_blind = true };
		if (i)
			lbx_catch_forget_nodes();
		else
			assert_true(lbx_catch_leave_nodes(&context, LBX_LEAVES));
		assert_int_equal(n_disarmed, i + 1);
		assert_false(list[0].is_blind || list[0].how[0]);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(each_process_is_looked_at_anew) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
