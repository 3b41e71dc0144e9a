#include "plugin/stops/catch_nodes.h"

#include "base/error.h"
#include "plugin/stops/catches.h"
#include "plugin/stops/node_look.h"

const struct lbx_nodes_ops *lbx_nodes;

bool lbx_catches_want_nodes(const struct lbx_catch *catches, int n)
{
	for (int i = 0; i < n; i++)
		if (catches[i].number && catches[i].kind->node && !catches[i].id)
			return true;
	return false;
}

bool lbx_catch_check_nodes(const struct lbx_catch *c)
{
	if (!c->kind->node)
		return lb_fail("%s is of Lazybones' own runtime; of %s's nodes nan, range, eval and breaks can be "
			       "caught",
			       c->kind->name, lbx_nodes->name);
	return lbx_nodes->check(c);
}

/* ---- in a program that comes, and that goes ---- */

/* Says what the program has not. */
static bool arm(struct lbx_context *context, struct lbx_catch *c)
{
	if (!lbx_catches_want_nodes(c, 1) || lbx_nodes->is_armed(c))
		return true;
	if (lbx_nodes->check(c))
		return lbx_nodes->arm(c);
	lbx_wrap(context->out, 0, 4);
	lbx_printf(context->out, "Catch %d does not stop at %s's nodes: %s.\n", c->number, lbx_nodes->name,
		   lb_error_message());
	lb_clear_error();
	return true;
}

bool lbx_catch_arm_nodes(struct lbx_context *context)
{
	enum lbx_nodes_there there;
	bool ok = true;
	int n;
	struct lbx_catch *catches = lbx_catches(&n);

	if (!lbx_catches_want_nodes(catches, n))
		return true;
	if (!lbx_nodes->find(context, &there))
		return false;
	if (there == LBX_NODES_REFUSED)
		lbx_printf(context->out, "The program's nodes of %s are not caught: %s.\n", lbx_nodes->name,
			   lbx_nodes->why());
	for (int i = 0; i < n && ok && there == LBX_NODES_THERE; i++)
		ok = arm(context, &catches[i]);
	return ok;
}

static void disarm_all(void)
{
	int n;
	struct lbx_catch *catches = lbx_catches(&n);

	for (int i = 0; i < n; i++) {
		if (catches[i].how)
			lbx_nodes->disarm(catches[i].number);
		catches[i].how = 0;
		catches[i].is_blind = false; /* it says so once in each process */
	}
}

bool lbx_catch_leave_nodes(struct lbx_context *context, enum lbx_leaving how)
{
	if (!lbx_nodes->leave(context, how))
		return false;
	disarm_all();
	return true;
}

void lbx_catch_forget_nodes(void)
{
	int n;
	struct lbx_catch *catches = lbx_catches(&n);

	disarm_all();
	lbx_nodes->forget();
	lbx_node_look_forget();
	if (lbx_catches_want_nodes(catches, n))
		lbx_nodes->await();
}

/* ---- at a node ---- */

bool lbx_catches_look(struct lbx_context *context, int number, const struct lbx_node_place *place,
		      struct lbx_catch_stop *ret_stop, bool *ret, bool *ret_another)
{
	struct lbx_catch_stop other = { 0 };
	int n;
	struct lbx_catch *catches = lbx_catches(&n);

	*ret = *ret_another = false;
	for (int i = 0; i < n; i++)
		if (catches[i].number == number && !lbx_node_look(context, &catches[i], place, ret_stop, ret))
			return false;
	for (int i = 0; i < n && !*ret && !*ret_another; i++)
		if (catches[i].how && catches[i].number && catches[i].number != number &&
		    !lbx_node_look(context, &catches[i], place, &other, ret_another))
			return false;
	return true;
}
