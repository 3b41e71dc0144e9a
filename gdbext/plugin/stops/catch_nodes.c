#include "plugin/stops/catch_nodes.h"

#include "base/error.h"
#include "plugin/stops/catch.h"
#include "plugin/stops/catch_forms.h"

bool lbx_catches_want_nodes(const struct lbx_catch *catches, int n)
{
	for (int i = 0; i < n; i++)
		if (catches[i].number && catches[i].kind->node && !catches[i].id)
			return true;
	return false;
}

bool lbx_catch_add_node(struct lbx_catch *c)
{
	bool forward = lbx_nodes_are_forward();
	struct text condition = { 0 };

	(forward ? lbx_catch_forward_condition : lbx_catch_node_condition)(c, lbx_nodes_callback(), lbx_nodes_anchor(),
									   &condition);
	if (condition.failed) {
		text_free(&condition);
		return lb_fail("out of memory");
	}
	(forward ? lbx_nodes_add_forward : lbx_nodes_add)(c, &condition);
	*(forward ? &c->has_forward : &c->has_nodes) = true;
	text_free(&condition);
	return true;
}

/* ---- in a program that comes, and that goes ---- */

/* Says what the program's ggml has not. */
static bool arm(struct lbx_context *context, struct lbx_catch *c)
{
	if (!lbx_catches_want_nodes(c, 1) || (lbx_nodes_are_forward() ? c->has_forward : c->has_nodes))
		return true;
	if (lbx_nodes_check(c))
		return lbx_catch_add_node(c);
	lbx_wrap(context->out, 0, 4);
	lbx_printf(context->out, "Catch %d does not stop at ggml's nodes: %s.\n", c->number, lb_error_message());
	lb_clear_error();
	return true;
}

bool lbx_catch_arm_nodes(struct lbx_context *context, bool *ret)
{
	enum lbx_nodes there;
	bool ok = true;
	int n;
	struct lbx_catch *catches = lbx_catches(&n);

	*ret = false;
	if (!lbx_catches_want_nodes(catches, n))
		return true;
	if (lbx_nodes_are_armed() && !lbx_nodes_are_here(context))
		lbx_catch_forget_nodes();
	if (!lbx_nodes_find(context, &there))
		return false;
	*ret = there != LBX_NODES_NONE;
	if (there == LBX_NODES_REFUSED) {
		lbx_printf(context->out, "The program's nodes of ggml are not caught: %s.\n", lbx_nodes_why());
		lbx_nodes_ask_no_more();
	}
	for (int i = 0; i < n && ok && there == LBX_NODES_THERE; i++)
		ok = arm(context, &catches[i]);
	return ok;
}

bool lbx_catch_arm_forward(struct lbx_context *context)
{
	enum lbx_nodes there;
	bool ok = true;
	int n;
	struct lbx_catch *catches = lbx_catches(&n);

	if (!lbx_nodes_find(context, &there))
		return false;
	lbx_nodes_have_computed();
	for (int i = 0; i < n && ok && there == LBX_NODES_THERE; i++)
		ok = arm(context, &catches[i]);
	return ok;
}

static void remove_all(void)
{
	int n;
	struct lbx_catch *catches = lbx_catches(&n);

	for (int i = 0; i < n; i++) {
		if (catches[i].has_nodes || catches[i].has_forward)
			lbx_nodes_remove(catches[i].number);
		catches[i].has_nodes = catches[i].has_forward = false;
	}
}

bool lbx_catch_leave_nodes(struct lbx_context *context, enum lbx_leaving how)
{
	if (!lbx_nodes_leave(context, how))
		return false;
	remove_all();
	return true;
}

void lbx_catch_forget_nodes(void)
{
	int n;
	struct lbx_catch *catches = lbx_catches(&n);

	remove_all();
	lbx_nodes_forget();
	lbx_node_look_forget();
	if (lbx_catches_want_nodes(catches, n))
		lbx_nodes_need();
}

/* ---- at a node ---- */

bool lbx_catches_look(struct lbx_context *context, int number, const struct lbx_node *node,
		      struct lbx_catch_stop *ret_stop, bool *ret, bool *ret_another)
{
	struct lbx_catch_stop other = { 0 };
	int n;
	struct lbx_catch *catches = lbx_catches(&n);

	*ret = *ret_another = false;
	for (int i = 0; i < n; i++)
		if (catches[i].number == number && !lbx_node_look(context, &catches[i], node, ret_stop, ret))
			return false;
	for (int i = 0; i < n && !*ret && !*ret_another; i++)
		if ((catches[i].has_nodes || catches[i].has_forward) && catches[i].number &&
		    catches[i].number != number && !lbx_node_look(context, &catches[i], node, &other, ret_another))
			return false;
	return true;
}
