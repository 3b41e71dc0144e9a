#include "inspect/diagnose/growth.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/vector.h"

enum {
	PERIOD_MOST = 512, /* operations of a turn */
	TURNS_LOOKED_AT = 4, /* for what they start from */
	NODES_MOST = 1 << 24,
	SIDE_MOST = 256, /* tensors beside the way that are looked at, of a turn */
	LEAVES_MOST = 64,
	NUMBER_MOST = 4, /* elements */
	NONE = 0xffffffff
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

static bool take_lazy(struct lbx_growth *g, const struct lbx_tensor *t)
{
	bool is_new;

	if (g->n == NODES_MOST) {
		g->is_cut = true;
		return true;
	}
	struct lbx_number *entry = lbx_number_at(&g->map, t->of, t->id, &is_new);
	if (!entry)
		return false;
	if (!lb_reserve(g->nodes, g->room, g->n + 1) ||
	    !lb_reserve(g->inputs, g->inputs_room, g->n_inputs + t->n_inputs))
		return lb_fail("out of memory for %" PRIu32 " lazy tensors", g->n);
	entry->value = g->n;
	g->nodes[g->n++] = (struct lbx_growth_node){
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

bool lbx_growth_see(struct lbx_growth *g, const struct lbx_tensor *t)
{
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

static uint32_t find(struct lbx_growth *g, const struct lbx_tensors *of, uint64_t id)
{
	bool is_new;

	if (!id)
		return NONE;
	struct lbx_number *entry = lbx_number_at(&g->map, of, id, &is_new);
	if (entry && is_new)
		entry->value = NONE;
	return entry ? entry->value : NONE;
}

/* Of each node: how deep it is, and by which input. Without recursion: a graph may be a million deep. */
static bool measure(struct lbx_growth *g, struct lbx_out *out)
{
	uint32_t *stack = malloc(((size_t)g->n + 1) * sizeof *stack), n = 0;
	uint8_t *open = calloc((size_t)g->n + 1, 1);

	if (!stack || !open) {
		free(stack);
		free(open);
		return lb_fail("out of memory");
	}
	for (uint32_t start = 0; start < g->n; start++) {
		if (start % 65536 == 65535 && !lbx_progress(out, "measuring the graph", start, g->n))
			break;
		if (!g->nodes[start].depth && !open[start])
			stack[n++] = start, open[start] = 1;
		while (n > 0) {
			struct lbx_growth_node *x = &g->nodes[stack[n - 1]];
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
static uint32_t way_down(struct lbx_growth *g, uint32_t root, uint32_t **ret)
{
	uint32_t n = 0;

	*ret = malloc((size_t)g->nodes[root].depth * sizeof **ret);
	for (uint32_t at = root; *ret && at != NONE && n < g->nodes[root].depth; at = g->nodes[at].below)
		(*ret)[n++] = at;
	return n;
}

/* How many operations of the way a turn has, and how many turns there are from its upper end on; 0: there are none. */
static uint32_t find_turns(const struct lbx_growth *g, const uint32_t *way, uint32_t n, uint32_t *ret_period)
{
	for (uint32_t period = 1; period <= PERIOD_MOST && period * LBX_TURNS_LEAST <= n; period++) {
		uint32_t same = 0;
		while (period + same < n && g->nodes[way[same]].like == g->nodes[way[same + period]].like)
			same++;
		if (same / period + 1 >= LBX_TURNS_LEAST) {
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

static void take_leaves(struct lbx_growth *g, const uint32_t *way, uint32_t period, struct leaves *ret)
{
	uint32_t stack[SIDE_MOST], n = 0, looked = 0;
	struct lbx_tensor t, input;

	ret->n = 0;
	for (uint32_t i = 0; i < period && n < SIDE_MOST; i++)
		stack[n++] = way[i];
	while (n > 0 && looked++ < SIDE_MOST) {
		const struct lbx_growth_node *x = &g->nodes[stack[--n]];
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
static bool may_be_layers(struct lbx_growth *g, const uint32_t *way, uint32_t period)
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
static uint64_t computed_between(const struct lbx_growth *g, uint64_t low, uint64_t high)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < g->n_computed; i++)
		n += g->computed[i] > low && g->computed[i] < high;
	return n;
}

/* Of what lies deepest. */
static bool look_down(struct lbx_growth *g, uint32_t root, struct lbx_growing *ret)
{
	uint32_t *way, period, n = way_down(g, root, &way);

	if (!way)
		return lb_fail("out of memory");
	uint32_t turns = find_turns(g, way, n, &period);
	if (turns) {
		uint64_t low = g->nodes[way[(turns - 1) * period]].key.id, high = g->nodes[root].key.id;
		uint64_t computed = low < high ? computed_between(g, low, high) : 0;
		if (computed || !may_be_layers(g, way, period))
			*ret = (struct lbx_growing){ .root = g->nodes[root].key,
						     .turns = turns,
						     .period = period,
						     .depth = g->nodes[root].depth,
						     .lazy = g->n,
						     .computed = computed };
	}
	free(way);
	return true;
}

bool lbx_growth_find(struct lbx_growth *g, struct lbx_out *out, struct lbx_growing *ret)
{
	uint32_t root = NONE;

	*ret = (struct lbx_growing){ .turns = 0 };
	if (!g->n || !measure(g, out))
		return lb_ok();
	for (uint32_t i = 0; i < g->n; i++)
		if (!g->nodes[i].is_input && (root == NONE || g->nodes[i].depth > g->nodes[root].depth))
			root = i;
	return root == NONE || g->nodes[root].depth < LBX_TURNS_LEAST || look_down(g, root, ret);
}

void lbx_growth_deinit(struct lbx_growth *g)
{
	lbx_number_map_deinit(&g->map);
	free(g->nodes);
	free(g->inputs);
	free(g->computed);
}
