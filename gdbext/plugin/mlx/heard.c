/* Several catches may stop where an evaluation begins, each by a breakpoint of its own. The first of these that speaks is answered for all
 * catches: if nobody wants to stop, the program goes on, and gdb forgets the others' commands; else they find that the stop has been
 * told.
 *
 * What is computed for a catch of values is noted when it begins (watched.c), and looked at where the call returns to the
 * program's own code, since then it is complete; of async_eval(), where a later call does. */
#include "plugin/mlx/heard.h"

#include <stdlib.h>

#include "base/error.h"
#include "mlx/mlx.h"
#include "plugin/bridge/bridge.h"
#include "plugin/mlx/armed.h"
#include "plugin/mlx/asked.h"
#include "plugin/mlx/known.h"
#include "plugin/mlx/provider.h"
#include "plugin/mlx/watched.h"
#include "plugin/stops/catch_nodes.h"
#include "plugin/stops/catch_stop.h"
#include "plugin/stops/catches.h"
#include "plugin/stops/hits.h"
#include "plugin/stops/node_look.h"
#include "plugin/stops/said.h"
#include "torch/torch.h"

static bool is_told; /* that its arrays cannot be read */
static uint64_t stood; /* lbx_target_moment() where it last stopped in front of an evaluation; 0: not known */
static bool is_loaded;
static bool is_met,
    has_stopped; /* the stop that the program stands at has been dealt with; some catch has told of it */

bool lbx_heard_stands(struct lbx_context *context)
{
	uint64_t now;

	return context->target && stood && lbx_target_moment(context->target, &now) && now == stood;
}

bool lbx_heard_load(void)
{
	return is_loaded;
}

void lbx_heard_forget(void)
{
	is_told = is_loaded = is_met = false;
	stood = 0;
}

/* Those that go with the stop that is being told. */
static struct text once;

static void tell(struct lbx_context *context, struct lbx_catch_stop *stop)
{
	lbx_catch_stop_at_node(context, &lbx_mlx_nodes, stop);
	if (stop->catch->once)
		text_printf(&once, " %d", stop->catch->number);
}

static void end_once(void)
{
	if (once.n)
		lbx_bridge_then("uncatch%.*s", (int)once.n, once.bytes);
	text_clear(&once);
}

/* ---- in front of it ---- */

/* The record for which a catch stops in front of what is asked for; 0: none. False while the answer is awaited. */
static bool find_reason(struct lbx_context *context, const struct lbx_catch *c, const struct lbx_asked *asked,
			uint64_t *ret)
{
	uint64_t found[LBX_MLX_NEAR_FOUND];
	struct lbx_watched *w = NULL;
	int n;

	*ret = 0;
	if (!c->record && !c->name[0]) {
		*ret = asked->n ? asked->list[0] : 0;
	} else if (c->is_glob) {
		w = lbx_watched_of(c->number);
		if (!w || !lbx_watched_begin(context, c, &asked->order))
			return false;
		for (size_t i = 0; i < w->n && !*ret; i++)
			*ret = lbx_asked_computes(asked, &w->list[i], 1);
		lbx_watched_forget(c->number);
	} else {
		if (!lbx_known_meant(context, c, found, &n))
			return false;
		if (lbx_armed_is_implicit(c)) /* it is the one that is read */
			for (int i = 0; i < n && !*ret; i++)
				*ret = asked->n && found[i] == asked->list[0] ? found[i] : 0;
		else
			*ret = lbx_asked_computes(asked, found, n);
	}
	return true;
}

/* Stops for a catch, if it wants to. */
static bool stop_before(struct lbx_context *context, struct lbx_catch *c, const struct lbx_asked *asked, bool *stops)
{
	struct lbx_node_place place = { .done = 0 };
	struct lbx_catch_stop stop = { .catch = c };
	bool wants;

	if (!find_reason(context, c, asked, &place.next) || lbx_bridge_waits())
		return false;
	if (!place.next)
		return true;
	if (!lbx_node_look(context, &lbx_mlx_nodes, c, &place, &stop, &wants))
		return false;
	if (wants)
		tell(context, &stop);
	*stops |= wants;
	return true;
}

static bool has_near(struct lbx_context *context, bool *ret)
{
	const struct lbx_mlx_near *near;

	if (!lbx_known_near(context, &near))
		return false;
	*ret = near;
	if (!near && !is_told) {
		lbx_wrap(context->out, 0, 4);
		lbx_printf(context->out, "The program's arrays of MLX are not caught: %s.\n", lbx_known_why());
		is_told = true;
	}
	return true;
}

/* Each catch that is of what is asked for. */
static bool meet_all(struct lbx_context *context, const char *words, bool is_async, bool is_value, bool *stops)
{
	char *at;
	uint64_t argument, stack;
	const struct lbx_asked *asked;
	bool known;
	int n;
	struct lbx_catch *catches = lbx_catches(&n);

	strtol(words, &at, 10); /* whose it is */
	argument = strtoull(at, &at, 16);
	stack = strtoull(at, NULL, 16);
	if (!has_near(context, &known))
		return false;
	if (!known)
		return true;
	asked = lbx_asked_read(context, argument, is_async, is_value);
	if (!asked)
		return false;
	for (int i = 0; i < n && asked->n; i++) {
		if (!lbx_armed_is_on(&catches[i]) || is_value != lbx_armed_is_implicit(&catches[i]))
			continue;
		if (catches[i].kind->evaluation == LBX_AFTER_EVALUATION
			? !lbx_watched_begin(context, &catches[i], &asked->order)
			: !stop_before(context, &catches[i], asked, stops))
			return false;
	}
	return !lbx_watched_any() || (is_value && asked->n) || lbx_armed_add_end(context, stack);
}

static bool meet(struct lbx_context *context, const char *words, bool is_async, bool is_value)
{
	bool stops = false;

	if (!lbx_hits_are_same()) {
		is_met = false;
	} else if (is_met) {
		if (has_stopped)
			lbx_catch_stop_select();
		return true;
	}
	text_clear(&once);
	if (!meet_all(context, words, is_async, is_value, &stops) || lbx_bridge_waits())
		return false;
	end_once();
	if (stops &&
	    (is_value || !lbx_target_moment(context->target, &stood))) /* who reads a value calls eval() next */
		stood = 0;
	is_met = stops || lbx_hits_go_on();
	has_stopped = stops;
	return is_met;
}

static bool hear_evaluates(struct lbx_context *context, const char *words)
{
	return meet(context, words, false, false);
}

static bool hear_begins(struct lbx_context *context, const char *words)
{
	return meet(context, words, true, false);
}

static bool hear_reads(struct lbx_context *context, const char *words)
{
	return meet(context, words, false, true);
}

static bool stop_behind(struct lbx_context *context, struct lbx_catch *c, bool *stops)
{
	const struct lbx_watched *w = lbx_watched_of(c->number);
	struct lbx_catch_stop stop = { .catch = c };
	struct lbx_node_place place = { .done = 0 };
	bool wants = false;

	for (size_t at = 0; w && !wants && (place.done = lbx_watched_done(context, w, &at));) {
		if (!lbx_node_look(context, &lbx_mlx_nodes, c, &place, &stop, &wants))
			return false;
		if (wants)
			tell(context, &stop);
	}
	*stops |= wants;
	return !lbx_bridge_waits();
}

static bool hear_ends(struct lbx_context *context, const char *words)
{
	int which = (int)strtol(words, NULL, 10), n;
	bool known, stops = false;
	struct lbx_catch *catches = lbx_catches(&n);

	text_clear(&once);
	if (!has_near(context, &known))
		return false;
	for (int i = 0; i < n && known; i++)
		if (lbx_armed_is_on(&catches[i]) && catches[i].kind->evaluation == LBX_AFTER_EVALUATION &&
		    !stop_behind(context, &catches[i], &stops))
			return false;
	for (int i = 0; i < n && known; i++)
		if (catches[i].number && catches[i].kind->evaluation == LBX_AFTER_EVALUATION)
			lbx_watched_drop(context, lbx_watched_of(catches[i].number));
	end_once();
	lbx_armed_delete_end(which);
	lbx_armed_watch(); /* of async_eval(): whoever reads the value waits for it */
	return stops || lbx_hits_go_on();
}

/* The library has come, or PyTorch's. */
static bool hear_loaded(struct lbx_context *context, const char *words)
{
	(void)words;
	is_loaded = lbx_mlx_is_there(context->target) || !lbx_torch_is_there(context->target);
	return lbx_catch_arm_nodes(context);
}

bool lbx_heard(struct lbx_context *context, const char *words)
{
	static const struct lbx_said rows[] = { { "evaluates", hear_evaluates, true }, { "begins", hear_begins, true },
						{ "reads", hear_reads, true },         { "ends", hear_ends, true },
						{ "loaded", hear_loaded, false },      { NULL, NULL, false } };

	return lbx_said_hear(context, rows, "MLX's evaluations", words);
}
