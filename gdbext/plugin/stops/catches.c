#include "plugin/stops/catches.h"

#include <string.h>

#include "plugin/stops/catch_forms.h"
#include "plugin/stops/guests.h"

static struct {
	struct lbx_catch v[LBX_CATCHES];
	int gone[LBX_CATCHES];
	int n_gone;
} catches;

struct lbx_catch *lbx_catches(int *ret_n)
{
	*ret_n = LBX_CATCHES;
	return catches.v;
}

const struct lbx_catch *lbx_catch_numbered(int number)
{
	for (int i = 0; i < LBX_CATCHES && number > 0; i++)
		if (catches.v[i].number == number)
			return &catches.v[i];
	return NULL;
}

const struct lbx_catch *lbx_catch_of_guard(uint64_t id, const char *name)
{
	for (int i = 0; i < LBX_CATCHES; i++) {
		const struct lbx_catch *c = &catches.v[i];
		bool wanted = c->id ? c->id == id : !c->name[0] || strcmp(c->name, name) == 0;

		if (c->number && !c->kind->probe && wanted)
			return c;
	}
	return NULL;
}

bool lbx_catches_are_set(bool accesses_only)
{
	for (int i = 0; i < LBX_CATCHES; i++)
		if (catches.v[i].number && !(accesses_only && catches.v[i].kind->probe))
			return true;
	return false;
}

/* ---- their breakpoints ---- */

int lbx_catch_key(const struct lbx_catch *c)
{
	return !c->kind->probe ? LBX_BREAKPOINT_FAULT : c->record ? LBX_BREAKPOINT_NONE : c->number;
}

static bool exists(const struct lbx_catch *c)
{
	int key = lbx_catch_key(c);

	return (key == LBX_BREAKPOINT_NONE ? lbx_guests_have(c) : lbx_breakpoint_exists(key)) &&
	       lbx_guests_are_whole(c);
}

/* A catch without its breakpoint is none. */
bool lbx_catch_refresh(void)
{
	if (!lbx_breakpoints_refresh())
		return false;
	for (int i = 0; i < LBX_CATCHES; i++) {
		if (!catches.v[i].number || exists(&catches.v[i]))
			continue;
		if (catches.n_gone < LBX_CATCHES)
			catches.gone[catches.n_gone++] = catches.v[i].number;
		catches.v[i].number = 0;
	}
	return true;
}

int lbx_catches_gone(const int **ret)
{
	*ret = catches.gone;
	return catches.n_gone;
}

void lbx_catches_forget_gone(void)
{
	catches.n_gone = 0;
}

void lbx_catch_suspend(void)
{
	for (int i = 0; i < LBX_CATCHES; i++) {
		const struct lbx_catch *c = &catches.v[i];
		if (!c->number)
			continue;
		lbx_breakpoint_suspend(lbx_catch_key(c));
		lbx_guests_suspend(c);
	}
}

/* What gdb calls it: there are commands of gdb's that take that number. */
static void tell_breakpoint(const struct lbx_catch *c, struct lbx_out *out)
{
	int key = lbx_catch_key(c), number = key == LBX_BREAKPOINT_NONE ? 0 : lbx_breakpoint_number(key);

	LBX_KEY(out, "breakpoint", lbx_json_int_if(number > 0, number));
	if (number)
		lbx_printf(out, " (gdb's breakpoint %d%s)", number, lbx_breakpoint_is_enabled(key) ? "" : ", disabled");
}

void lbx_catches_tell(struct lbx_out *out)
{
	lbx_begin_list(out, "catches");
	for (int i = 0; i < LBX_CATCHES; i++) {
		struct text text = { 0 };

		if (!catches.v[i].number)
			continue;
		lbx_begin(out, NULL);
		lbx_catch_keys(&catches.v[i], out);
		lbx_catch_describe(&catches.v[i], &text);
		lbx_printf(out, "catch %d: %.*s", catches.v[i].number, (int)text.n, text.bytes);
		text_free(&text);
		tell_breakpoint(&catches.v[i], out);
		lbx_printf(out, "\n");
		lbx_end(out);
	}
	lbx_end(out);
}
