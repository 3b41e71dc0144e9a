/* A state that a loop never evaluates: x = step(x), turn after turn, is a graph that grows. From the deepest lazy tensor
 * the longest way down is taken; where the same operations come again and again on it, made at the same places, those
 * are turns. So are the layers of a deep model that was built and not yet evaluated: but each of these has weights of its
 * own, where turns have the same, or none. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "base/vector.h"
#include "inspect/diagnose/rule.h"
#include "inspect/graph/key_map.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"
#include "tensors/held.h"

enum {
	PERIOD_MOST = 512, /* operations of a turn */
	TURNS_LEAST = 64,
	TURNS_MEDIUM = 512,
	TURNS_HIGH = 4096,
	TURNS_LOOKED_AT = 4, /* for what they start from */
	NODES_MOST = 1 << 24,
	SIDE_MOST = 256, /* tensors beside the way that are looked at, of a turn */
	LEAVES_MOST = 64,
	NUMBER_MOST = 4, /* elements */
	NONE = 0xffffffff
};

struct node {
	struct lbx_key key;
	uint64_t like; /* operation, dtype, and where it was made: what the same line of a loop has in common */
	uint32_t first_input, n_inputs; /* into `inputs` */
	uint32_t depth; /* 0: not known yet */
	uint32_t below; /* the deepest of its inputs; NONE: none is lazy */
	bool is_input;
	bool is_number; /* keys of random numbers, counters: many of them in a row are no state */
	bool has_name;
};

struct growth {
	struct lbx_key_map map; /* from ids to nodes */
	uint32_t n, room;
	struct node *nodes;
	uint32_t n_inputs, inputs_room;
	uint64_t *inputs; /* ids */
	bool is_cut;
	uint64_t n_computed, computed_room;
	uint64_t *computed; /* ids of those that evaluations have computed */
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ b) * 0x9e3779b97f4a7c15ULL;
	return x ^ x >> 29;
}

static uint64_t likeness(const struct lbx_tensor *t)
{
	uint64_t h = mix(t->site, t->dtype + 1);

	for (const char *c = t->op; *c; c++)
		h = mix(h, (unsigned char)*c);
	return h;
}

static bool take_lazy(struct growth *g, const struct lbx_tensor *t)
{
	bool is_new;

	if (g->n == NODES_MOST) {
		g->is_cut = true;
		return true;
	}
	struct lbx_key_entry *entry = lbx_key_map_at(&g->map, t->of, t->id, &is_new);
	if (!entry)
		return false;
	if (!lb_reserve(g->nodes, g->room, g->n + 1) ||
	    !lb_reserve(g->inputs, g->inputs_room, g->n_inputs + t->n_inputs))
		return lb_fail("out of memory for %" PRIu32 " lazy tensors", g->n);
	entry->value = g->n;
	g->nodes[g->n++] = (struct node){
		.key = lbx_tensor_key(t),
		.like = likeness(t),
		.first_input = g->n_inputs,
		.n_inputs = t->n_inputs,
		.below = NONE,
		.is_number = t->size <= NUMBER_MOST && t->dtype < LB_F16,
		.has_name = t->name[0],
	};
	for (uint32_t i = 0; i < t->n_inputs; i++)
		g->inputs[g->n_inputs++] = lbx_tensor_input_id(t, i);
	return true;
}

static bool see(struct lbx_case *c, void *state, const struct lbx_tensor *t)
{
	struct growth *g = state;

	(void)c;
	if (t->torn || t->n_inputs > LEAVES_MOST)
		return true;
	if (t->state == LBX_LAZY && t->op_class != LB_CLASS_LEAF)
		return take_lazy(g, t);
	if (t->eval && t->op_class != LB_CLASS_LEAF) {
		if (!lb_reserve(g->computed, g->computed_room, g->n_computed + 1))
			return lb_fail("out of memory");
		g->computed[g->n_computed++] = t->id;
	}
	return true;
}

static uint32_t find(struct growth *g, const struct lbx_tensors *of, uint64_t id)
{
	bool is_new;

	if (!id)
		return NONE;
	struct lbx_key_entry *entry = lbx_key_map_at(&g->map, of, id, &is_new);
	if (entry && is_new)
		entry->value = NONE;
	return entry ? entry->value : NONE;
}

/* Of each node: how deep it is, and by which input. Without recursion: a graph may be a million deep. */
static bool measure(struct lbx_case *c, struct growth *g)
{
	uint32_t *stack = malloc(((size_t)g->n + 1) * sizeof *stack), n = 0;
	uint8_t *open = calloc((size_t)g->n + 1, 1);

	if (!stack || !open) {
		free(stack);
		free(open);
		return lb_fail("out of memory");
	}
	for (uint32_t start = 0; start < g->n; start++) {
		if (start % 65536 == 65535 && !lbx_progress(c->context->out, "measuring the graph", start, g->n))
			break;
		if (!g->nodes[start].depth && !open[start])
			stack[n++] = start, open[start] = 1;
		while (n > 0) {
			struct node *x = &g->nodes[stack[n - 1]];
			uint32_t deepest = 0, next = NONE;
			for (uint32_t i = 0; i < x->n_inputs && next == NONE; i++) {
				uint32_t input = find(g, x->key.of, g->inputs[x->first_input + i]);
				if (input == NONE)
					continue;
				g->nodes[input].is_input = true;
				if (!g->nodes[input].depth && !open[input]) {
					next = input;
				} else if (g->nodes[input].depth > deepest) {
					deepest = g->nodes[input].depth;
					x->below = input;
				}
			}
			if (next != NONE) {
				stack[n++] = next, open[next] = 1; /* each is opened once: a cycle ends */
				continue;
			}
			x->depth = x->is_number ? 1 : deepest + 1;
			x->below = x->is_number ? NONE : x->below;
			n--;
		}
	}
	free(stack);
	free(open);
	return lb_ok();
}

/* ---- turns ---- */

/* The longest way down from a node: *ret is to be freed. */
static uint32_t way_down(struct growth *g, uint32_t root, uint32_t **ret)
{
	uint32_t n = 0;

	*ret = malloc((size_t)g->nodes[root].depth * sizeof **ret);
	for (uint32_t at = root; *ret && at != NONE && n < g->nodes[root].depth; at = g->nodes[at].below)
		(*ret)[n++] = at;
	return n;
}

/* How many operations of the way a turn has, and how many turns there are from its upper end on; 0: there are none. */
static uint32_t find_turns(const struct growth *g, const uint32_t *way, uint32_t n, uint32_t *ret_period)
{
	for (uint32_t period = 1; period <= PERIOD_MOST && period * TURNS_LEAST <= n; period++) {
		uint32_t same = 0;
		while (period + same < n && g->nodes[way[same]].like == g->nodes[way[same + period]].like)
			same++;
		if (same / period + 1 >= TURNS_LEAST) {
			*ret_period = period;
			return same / period + 1;
		}
	}
	return 0;
}

struct leaves {
	int n;
	struct lbx_key keys[LEAVES_MOST];
};

/* What a turn starts from: tensors of some elements that are ready, that have a name, or that are made of none, as random ones
 * are. */
static void take_leaf(struct leaves *ret, const struct lbx_tensor *t)
{
	if (t->size > NUMBER_MOST && ret->n < LEAVES_MOST)
		ret->keys[ret->n++] = lbx_tensor_key(t);
}

static bool is_on_way(const uint32_t *way, uint32_t period, uint32_t number)
{
	for (uint32_t i = 0; i <= period; i++)
		if (way[i] == number)
			return true;
	return false;
}

static void take_leaves(struct growth *g, const uint32_t *way, uint32_t period, struct leaves *ret)
{
	uint32_t stack[SIDE_MOST], n = 0, looked = 0;
	struct lbx_tensor t, input;

	ret->n = 0;
	for (uint32_t i = 0; i < period && n < SIDE_MOST; i++)
		stack[n++] = way[i];
	while (n > 0 && looked++ < SIDE_MOST) {
		const struct node *x = &g->nodes[stack[--n]];
		if (!lbx_tensor_by_key(&x->key, &t)) {
			lb_clear_error();
			continue;
		}
		if (x->n_inputs == 0)
			take_leaf(ret, &t);
		for (uint32_t i = 0; i < x->n_inputs; i++) {
			uint32_t number = find(g, x->key.of, g->inputs[x->first_input + i]);
			if (is_on_way(way, period, number))
				continue;
			bool goes_on = number != NONE && !g->nodes[number].has_name;
			if (goes_on && n < SIDE_MOST)
				stack[n++] = number;
			else if (!goes_on && lbx_tensor_input(&t, i, &input))
				take_leaf(ret, &input);
		}
		lb_clear_error();
	}
}

static bool has(const struct leaves *leaves, const struct lbx_key *key)
{
	for (int i = 0; i < leaves->n; i++)
		if (leaves->keys[i].of == key->of && leaves->keys[i].address == key->address &&
		    leaves->keys[i].id == key->id)
			return true;
	return false;
}

/* Whether each of the last turns starts from tensors that no other one does, and none from the same: layers may be such. */
static bool may_be_layers(struct growth *g, const uint32_t *way, uint32_t period)
{
	struct leaves turns[TURNS_LOOKED_AT];

	for (int k = 0; k < TURNS_LOOKED_AT; k++)
		take_leaves(g, way + (uint32_t)k * period, period, &turns[k]);
	for (int k = 1; k < TURNS_LOOKED_AT; k++)
		for (int i = 0; i < turns[k].n; i++)
			if (has(&turns[0], &turns[k].keys[i]))
				return false;
	return turns[0].n > 0;
}

/* Evaluations have computed others that were made between the first turn and the last, where numbers are given out one
 * after the other. */
static uint64_t computed_between(const struct growth *g, uint64_t low, uint64_t high)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < g->n_computed; i++)
		n += g->computed[i] > low && g->computed[i] < high;
	return n;
}

static bool tell(struct lbx_case *c, struct growth *g, uint32_t root, uint32_t turns, uint32_t period,
		 uint64_t computed)
{
	enum lbx_severity severity = computed || turns >= TURNS_HIGH ? LBX_HIGH
				     : turns >= TURNS_MEDIUM         ? LBX_MEDIUM
								     : LBX_LOW;
	char name[LBX_DESCRIPTION_MAX], number[LBX_ID_TEXT_MAX];
	struct lbx_tensor t;
	struct lbx_held held;
	struct lbx_diagnosed *f = lbx_case_found_of(c, severity,
						    computed              ? 0.95
						    : turns >= TURNS_HIGH ? 0.85
									  : 0.6,
						    &g->nodes[root].key, &t);

	if (!f)
		return lb_ok();
	lbx_describe(&t, name, sizeof name);
	lbx_tensor_id_text(&t, number);
	lbx_tensor_held(&t, &held);
	LBX_SAY(f->title, "the graph behind %s grows from turn to turn, and is never evaluated",
		t.name[0] ? t.name : number);
	LBX_SAY(f->evidence, "%s: the same %s on the way down, %" PRIu32 " times; %" PRIu32 " operations deep.", name,
		period == 1 ? "operation comes" : "operations come", turns, g->nodes[root].depth);
	if (period > 1)
		LBX_SAY(f->evidence, " A turn has %" PRIu32 " of them.", period);
	if (computed)
		LBX_SAY(f->evidence, " Meanwhile %" PRIu64 " other%s made and computed.", computed,
			LB_PLURAL(computed, " was", "s were"));
	if (held.holder[0])
		LBX_SAY(f->evidence, " %s holds it.", held.holder);
	if (severity == LBX_LOW)
		LBX_SAY(f->evidence, " It may be meant so, as where a recurrence is built before it is computed.");
	LBX_SAY(f->cost, "%" PRIu32 " lazy tensors are kept, and what they will need", g->n);
	LBX_SAY(f->advice, "Evaluate it once a turn, with what else the turn changes.");
	return lb_ok();
}

static bool conclude(struct lbx_case *c, void *state)
{
	struct growth *g = state;
	uint32_t root = NONE, *way, period;

	if (!g->n || !measure(c, g))
		return lb_ok();
	for (uint32_t i = 0; i < g->n; i++)
		if (!g->nodes[i].is_input && (root == NONE || g->nodes[i].depth > g->nodes[root].depth))
			root = i;
	if (root == NONE || g->nodes[root].depth < TURNS_LEAST)
		return true;
	uint32_t n = way_down(g, root, &way);
	if (!way)
		return lb_fail("out of memory");
	uint32_t turns = find_turns(g, way, n, &period);
	bool done = true;
	if (turns) {
		uint64_t low = g->nodes[way[(turns - 1) * period]].key.id, high = g->nodes[root].key.id;
		uint64_t computed = low < high ? computed_between(g, low, high) : 0;
		if (computed || !may_be_layers(g, way, period))
			done = tell(c, g, root, turns, period, computed);
	}
	free(way);
	return done;
}

static void forget(void *state)
{
	struct growth *g = state;

	lbx_key_map_deinit(&g->map);
	free(g->nodes);
	free(g->inputs);
	free(g->computed);
}

const struct lbx_rule lbx_rule_growing_graph = {
	.id = "L1",
	.name = "growing-graph",
	.title = "a graph that grows from turn to turn and is never evaluated",
	.sees = LBX_SEES_TENSORS,
	.meaning = "A lazy tensor keeps everything that it will be computed from. Where a loop makes each turn's\n"
		   "state of the one before, and nobody asks for it, the graph grows with each turn: memory grows,\n"
		   "and the evaluation that comes at last takes as long as all turns.",
	.example = "for (int i = 0; i < steps; i++)\n"
		   "	x = lb_add(lb_multiply(x, a), noise(i));   /* x is never evaluated */",
	.demands = "The longest way down from the deepest lazy tensor repeats the same operations, made at the same\n"
		   "places, at least 64 times; and the last turns have a tensor in common that they start from, or\n"
		   "start from none, so that they are no layers with weights of their own. Above low from 512\n"
		   "turns on; high from 4096, or where evaluations computed other tensors between these turns.",
	.cure = "Evaluate the state at the end of each turn, together with what else the turn gives: one\n"
		"evaluation for all. A loss that is only logged: take its number (lb_item, .item()).",
	.state = sizeof(struct growth),
	.tensor = see,
	.conclude = conclude,
	.deinit = forget,
};
