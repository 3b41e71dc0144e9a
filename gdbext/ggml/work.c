#include "ggml/work.h"

#include <stdio.h>
#include <string.h>

/* The thread that a worker helps, where only one has called for a graph. */
static uint64_t caller_of(const struct lbx_ggml_running *running)
{
	uint64_t found = 0;

	for (int i = 0; i < running->n_threads; i++) {
		if (!running->threads[i].computes)
			continue;
		if (found)
			return 0;
		found = running->threads[i].tid;
	}
	return found;
}

static void tell_node(const struct lbx_ggml_set *g, const struct lbx_ggml_thread *t, struct lbx_work *ret)
{
	const struct lbx_ggml_spot *spot = &g->spots.list[t->teller];
	uint64_t next;

	ret->doing = LBX_COMPUTES;
	if (!spot->slot || !spot->id) {
		snprintf(ret->why, sizeof ret->why, "%s",
			 spot->is_several ? "more than one node may be meant by what lies on its stack"
					  : "what lies on its stack leads to no node of that operation");
		return;
	}
	ret->id = spot->id;
	ret->result = spot->last;
	if (strstr(t->function, "_fused") &&
	    lbx_target_try_read(lbx_ggml_set_target(g), spot->slot + sizeof next, &next, sizeof next))
		ret->with = lbx_ggml_set_id(g, next);
	if (spot->n == 0)
		return;
	ret->number = spot->place + 1;
	ret->count = spot->n;
}

/* Of the thread that stands in front of a node, or behind it. */
static bool tell_asked(const struct lbx_ggml_set *g, struct lbx_work *ret)
{
	const struct lbx_ggml_asked *asked = &g->running.asked;
	const struct lbx_ggml_progress *p = &g->progress;
	uint64_t id = asked->node ? lbx_ggml_set_id(g, asked->node) : 0;

	if (!id || asked->thread != ret->thread)
		return false;
	ret->function[0] = '\0'; /* it is in some function that gives true */
	ret->doing = asked->is_done ? LBX_HAS_COMPUTED : LBX_COMES_TO;
	ret->id = id;
	if (p->at && p->at[id - 1] >= 0) {
		ret->number = p->at[id - 1] + 1;
		ret->count = p->n;
	}
	return true;
}

/* Without a function for an operation on its stack. */
static void tell_rest(const struct lbx_ggml_thread *t, struct lbx_work *ret)
{
	ret->doing = t->is_idle ? LBX_IS_IDLE : t->waits ? LBX_WAITS : LBX_IS_WITHIN;
	if (t->why[0])
		snprintf(ret->why, sizeof ret->why, "%s", t->why);
	else if (ret->doing == LBX_IS_WITHIN && (t->computes || t->is_worker))
		snprintf(ret->why, sizeof ret->why, "%s",
			 "it is between two nodes, or its functions have no names: no operation's is on its stack");
}

bool lbx_ggml_work(struct lbx_tensors *tensors, struct lbx_stacks *stacks, uint64_t *slot, struct lbx_work *ret)
{
	struct lbx_ggml_set *g = lbx_ggml_set_of(tensors);

	(void)stacks;
	if (*slot >= (uint64_t)g->running.n_threads)
		return false;
	const struct lbx_ggml_thread *t = &g->running.threads[(*slot)++];
	*ret = (struct lbx_work){ .of = tensors, .thread = t->tid, .caller = t->caller };
	snprintf(ret->function, sizeof ret->function, "%s", t->function);
	snprintf(ret->call, sizeof ret->call, "%s", t->call);
	snprintf(ret->message, sizeof ret->message, "%s", t->message);
	if (t->is_worker)
		ret->helps = caller_of(&g->running);
	if (t->teller >= 0)
		tell_node(g, t, ret);
	else if (!tell_asked(g, ret))
		tell_rest(t, ret);
	return true;
}
