#include "plugin/stops/catch_nodes.h"

#include "base/error.h"
#include "plugin/stops/catches.h"
#include "plugin/stops/node_look.h"

bool lbx_catch_check_nodes(const struct lbx_nodes_ops *of, const struct lbx_catch *c)
{
	if (lbx_guest_wants(of, c))
		return of->check(c);
	if (c->record && c->of != of)
		return lb_fail("that is no tensor of %s's", of->name);
	return lb_fail("%s cannot be caught of %s's %s, but %snan, range, eval and breaks can", c->kind->name, of->name,
		       of->by_evaluation ? "arrays" : "nodes", of->by_evaluation ? "implicit, " : "");
}

/* ---- in a program that comes, and that goes ---- */

/* Says what the program has not. */
static bool arm(struct lbx_context *context, int guest, struct lbx_catch *c)
{
	const struct lbx_nodes_ops *of = lbx_guest(guest);

	if (!lbx_guest_wants(of, c) || of->is_armed(c, c->how[guest]))
		return true;
	if (of->check(c))
		return of->arm(c, &c->how[guest]);
	lbx_wrap(context->out, 0, 4);
	lbx_printf(context->out, "Catch %d does not stop at the %s: %s.\n", c->number, of->what, lb_error_message());
	lb_clear_error();
	return true;
}

static bool any_wants(const struct lbx_nodes_ops *of)
{
	int n;
	const struct lbx_catch *catches = lbx_catches(&n);

	for (int i = 0; i < n; i++)
		if (lbx_guest_wants(of, &catches[i]))
			return true;
	return false;
}

static bool arm_of(struct lbx_context *context, int guest, enum lbx_nodes_there there)
{
	const struct lbx_nodes_ops *of = lbx_guest(guest);
	bool ok = true;
	int n;
	struct lbx_catch *catches = lbx_catches(&n);

	if (there == LBX_NODES_REFUSED && any_wants(of)) {
		lbx_wrap(context->out, 0, 4);
		lbx_printf(context->out, "The program's %s are not caught: %s.\n", of->what, of->why());
	}
	for (int i = 0; i < n && ok && there == LBX_NODES_THERE; i++)
		ok = arm(context, guest, &catches[i]);
	return ok;
}

bool lbx_catch_arm_nodes(struct lbx_context *context)
{
	enum lbx_nodes_there there[LBX_GUESTS] = { LBX_NODES_NONE };

	/* all that has to be asked before anything is done */
	for (int i = 0; lbx_guest(i); i++)
		if (any_wants(lbx_guest(i)) && !lbx_guest(i)->find(context, &there[i]))
			return false;
	for (int i = 0; lbx_guest(i); i++)
		if (!arm_of(context, i, there[i]))
			return false;
	return true;
}

static void disarm_all(void)
{
	int n;
	struct lbx_catch *catches = lbx_catches(&n);

	for (int i = 0; i < n; i++) {
		for (int g = 0; lbx_guest(g); g++) {
			if (!catches[i].how[g] || lbx_guest(g)->lasts)
				continue;
			lbx_guest(g)->disarm(catches[i].number);
			catches[i].how[g] = 0;
		}
		catches[i].is_blind = false; /* it says so once in each process */
	}
}

bool lbx_catch_leave_nodes(struct lbx_context *context, enum lbx_leaving how)
{
	for (int g = 0; lbx_guest(g); g++)
		if (!lbx_guest(g)->leave(context, how))
			return false;
	disarm_all();
	return true;
}

void lbx_catch_forget_nodes(void)
{
	disarm_all();
	for (int g = 0; lbx_guest(g); g++)
		lbx_guest(g)->forget();
	lbx_node_look_forget();
	for (int g = 0; lbx_guest(g); g++)
		if (any_wants(lbx_guest(g)))
			lbx_guest(g)->await();
}

/* ---- at a node ---- */

static int number_of(const struct lbx_nodes_ops *of)
{
	int i = 0;

	while (lbx_guest(i) && lbx_guest(i) != of)
		i++;
	return i;
}

bool lbx_catches_look(struct lbx_context *context, const struct lbx_nodes_ops *of, int number,
		      const struct lbx_node_place *place, struct lbx_catch_stop *ret_stop, bool *ret, bool *ret_another)
{
	struct lbx_catch_stop other = { 0 };
	int n, guest = number_of(of);
	struct lbx_catch *catches = lbx_catches(&n);

	*ret = *ret_another = false;
	for (int i = 0; i < n; i++)
		if (catches[i].number == number && !lbx_node_look(context, of, &catches[i], place, ret_stop, ret))
			return false;
	for (int i = 0; i < n && !*ret && !*ret_another; i++)
		if (catches[i].how[guest] && catches[i].number && catches[i].number != number &&
		    !lbx_node_look(context, of, &catches[i], place, &other, ret_another))
			return false;
	return true;
}
