#include "plugin/stops/guests.h"

#include <string.h>

static const struct lbx_nodes_ops *guests[LBX_GUESTS + 1];

void lbx_guests_give(const struct lbx_nodes_ops *const *list)
{
	for (int i = 0; i < LBX_GUESTS && list[i]; i++)
		guests[i] = list[i];
}

const struct lbx_nodes_ops *lbx_guest(int i)
{
	return guests[i];
}

const struct lbx_nodes_ops *lbx_guest_named(const char *words, const char **ret_rest)
{
	for (int i = 0; guests[i]; i++) {
		size_t n = strlen(guests[i]->name);
		if (strncmp(words, guests[i]->name, n) != 0 || words[n] != ' ')
			continue;
		*ret_rest = words + n + 1;
		return guests[i];
	}
	return NULL;
}

bool lbx_guest_wants(const struct lbx_nodes_ops *guest, const struct lbx_catch *c)
{
	if (!c->number || c->id || (c->record && c->of != guest))
		return false;
	return guest->by_evaluation ? c->kind->evaluation != LBX_NOT_AT_EVALUATIONS : c->kind->node != LBX_NOT_AT_NODES;
}

bool lbx_guests_have(const struct lbx_catch *c)
{
	for (int i = 0; guests[i]; i++)
		if (c->how[i])
			return true;
	return false;
}

bool lbx_guests_are_whole(const struct lbx_catch *c)
{
	for (int i = 0; guests[i]; i++)
		if (c->how[i] && !guests[i]->is_whole(c, c->how[i]))
			return false;
	return true;
}

/* One after the other: what one does when it knows is done once. */
bool lbx_guests_find(struct lbx_context *context, enum lbx_nodes_there ret[LBX_GUESTS])
{
	for (int i = 0; guests[i]; i++)
		if (!guests[i]->find(context, &ret[i]))
			return false;
	return true;
}

bool lbx_guests_any(const enum lbx_nodes_there there[LBX_GUESTS], enum lbx_nodes_there what)
{
	for (int i = 0; guests[i]; i++)
		if (there[i] == what)
			return true;
	return false;
}

bool lbx_guests_remain(int catch)
{
	for (int i = 0; guests[i]; i++)
		if (guests[i]->remains(catch))
			return true;
	return false;
}

bool lbx_guests_mend(struct lbx_context *context)
{
	bool any = false;

	for (int i = 0; guests[i]; i++)
		any |= guests[i]->mend && guests[i]->mend(context);
	return any;
}

void lbx_guests_suspend(const struct lbx_catch *c)
{
	for (int i = 0; guests[i]; i++)
		if (c->how[i])
			guests[i]->suspend(c);
}

void lbx_guests_disarm(int catch)
{
	for (int i = 0; guests[i]; i++)
		guests[i]->disarm(catch);
}

static bool is_wanted(const struct lbx_nodes_ops *guest, const struct lbx_catch *catches, int n)
{
	for (int i = 0; i < n; i++)
		if (lbx_guest_wants(guest, &catches[i]))
			return true;
	return false;
}

bool lbx_guests_release(struct lbx_context *context, const struct lbx_catch *catches, int n)
{
	for (int i = 0; guests[i]; i++)
		if (guests[i]->release && !is_wanted(guests[i], catches, n) && !guests[i]->release(context))
			return false;
	return true;
}

bool lbx_guests_tidy(struct lbx_context *context, const struct lbx_catch *catches, int n, bool *ret)
{
	bool changed;

	*ret = false;
	for (int i = 0; guests[i]; i++) {
		if (!guests[i]->tidy || is_wanted(guests[i], catches, n))
			continue;
		if (!guests[i]->tidy(context, &changed))
			return false;
		*ret |= changed;
	}
	return true;
}
