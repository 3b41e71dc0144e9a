#include "plugin/mlx/watched.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vector.h"
#include "inspect/operand/python_stack.h"
#include "inspect/tensor/name.h"
#include "plugin/bridge/bridge.h"
#include "plugin/mlx/known.h"
#include "plugin/stops/catches.h"

enum { MOST = 1 << 16 };

static struct {
	int catch;
	struct lbx_watched watched;
} lists[LBX_CATCHES];

struct lbx_watched *lbx_watched_of(int catch)
{
	int free_place = -1;

	for (int i = 0; i < LBX_CATCHES; i++) {
		if (lists[i].catch == catch)
			return &lists[i].watched;
		if (!lists[i].catch && free_place < 0)
			free_place = i;
	}
	if (free_place < 0)
		return NULL;
	lists[free_place].catch = catch;
	return &lists[free_place].watched;
}

bool lbx_watched_any(void)
{
	for (int i = 0; i < LBX_CATCHES; i++)
		if (lists[i].catch && lists[i].watched.n)
			return true;
	return false;
}

void lbx_watched_forget(int catch)
{
	for (int i = 0; i < LBX_CATCHES; i++) {
		if (catch && lists[i].catch != catch)
			continue;
		free(lists[i].watched.list);
		memset(&lists[i], 0, sizeof lists[i]);
	}
}

/* ---- what is waited for ---- */

static bool add(struct lbx_watched *w, uint64_t record)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->list[i] == record)
			return true;
	if (w->n == MOST || !lb_reserve(w->list, w->room, w->n + 1))
		return lb_fail("too many arrays to watch");
	w->list[w->n++] = record;
	return true;
}

static bool is_lazy(struct lbx_context *context, uint64_t record)
{
	struct lbx_mlx_record r;

	return lbx_mlx_near_read(lbx_known(), context->target, record, &r) && r.status == LBX_MLX_UNSCHEDULED;
}

struct named {
	uint64_t record;
	size_t place; /* in the order of the evaluation */
};

struct names {
	struct lbx_context *context;
	const struct lbx_catch *c;
	const struct named *places; /* of the order, by record */
	size_t n_places;
	struct named *list;
	size_t n, room;
};

static int by_record(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return (x->record > y->record) - (x->record < y->record);
}

static bool take(void *context, uint64_t address, const char *name)
{
	struct names *names = context;
	const struct lbx_catch *c = names->c;
	const struct named key = { .record = address }, *found;

	if ((c->is_glob && !lbx_name_matches(c->name, name)) || !is_lazy(names->context, address))
		return true;
	found = names->n_places ? bsearch(&key, names->places, names->n_places, sizeof key, by_record) : NULL;
	if (names->n == MOST || !lb_reserve(names->list, names->room, names->n + 1))
		return false;
	names->list[names->n++] = (struct named){ address, found ? found->place : SIZE_MAX };
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return (x->place > y->place) - (x->place < y->place);
}

/* All of the process that variables lead to, and that the name is of. */
static bool begin_named(struct lbx_context *context, const struct lbx_catch *c, const struct lbx_mlx_order *order,
			struct lbx_watched *w)
{
	lb_auto_free struct named *places = calloc(order->n + 1, sizeof *places);
	struct names names = { .context = context, .c = c, .places = places, .n_places = order->n };
	const char *why;
	struct lbx_python *py = lbx_context_python(context, &why);

	if (!places)
		return lb_fail("out of memory for %zu arrays", order->n);
	for (size_t i = 0; i < order->n; i++)
		places[i] = (struct named){ order->list[i], i };
	qsort(places, order->n, sizeof *places, by_record);
	bool ok = !lbx_bridge_waits() && (!py || lbx_mlx_near_each(py, take, &names));

	/* where there is no Python, what was asked for is all that is meant by any */
	for (size_t i = 0; ok && !py && !c->is_glob && i < order->n; i++)
		ok = add(w, order->list[i]);
	if (names.n)
		qsort(names.list, names.n, sizeof *names.list, by_place);
	for (size_t i = 0; ok && i < names.n; i++)
		ok = add(w, names.list[i].record);
	free(names.list);
	return ok;
}

bool lbx_watched_begin(struct lbx_context *context, const struct lbx_catch *c, const struct lbx_mlx_order *order)
{
	struct lbx_watched *w = lbx_watched_of(c->number);
	uint64_t found[LBX_MLX_NEAR_FOUND];
	int n;

	if (!w)
		return lb_fail("too many catches");
	if (!c->record && (!c->name[0] || c->is_glob))
		return begin_named(context, c, order, w);
	if (!lbx_known_meant(context, c, found, &n))
		return false;
	for (int i = 0; i < n; i++)
		if (is_lazy(context, found[i]) && !add(w, found[i]))
			return false;
	return true;
}

/* ---- when they have their values ---- */

static bool is_done(struct lbx_context *context, uint64_t record, bool *ret_is_gone)
{
	struct lbx_target *direct = lbx_target_direct(context->target);
	struct lbx_mlx_record r;

	*ret_is_gone = !lbx_mlx_near_read(lbx_known(), context->target, record, &r);
	return !*ret_is_gone && r.status != LBX_MLX_UNSCHEDULED &&
	       lbx_mlx_is_available(direct ? direct : context->target, &r);
}

uint64_t lbx_watched_done(struct lbx_context *context, const struct lbx_watched *w, size_t *at)
{
	bool is_gone;

	while (*at < w->n)
		if (is_done(context, w->list[(*at)++], &is_gone))
			return w->list[*at - 1];
	return 0;
}

void lbx_watched_drop(struct lbx_context *context, struct lbx_watched *w)
{
	size_t n = 0;
	bool is_gone;

	for (size_t i = 0; i < w->n; i++)
		if (!is_done(context, w->list[i], &is_gone) && !is_gone)
			w->list[n++] = w->list[i];
	w->n = n;
}
