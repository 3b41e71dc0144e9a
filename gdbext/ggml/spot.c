/* A thread computes by `for (i …) { node = graph->nodes[i]; ggml_compute_forward(params, node); barrier }`, and so does
 * each that helps it. In the frame of that loop are i and the graph, or what leads to it; in the frame of the function
 * for the node's operation, which it has called, is the node. So (graph, i) is known where nodes[i] is in that frame, and
 * the operation is that of the function, by its name; if exactly one such pair is there. A function that has read all that
 * it needs of the node may forget it. Then there must be only one pair at all that has the operation, and registers must
 * lead into the memory of all that such a node reads and writes. Where the thread has just come to the node, that is an
 * argument, and needs no more than its place. */
#include "ggml/spot.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "ggml/layout.h"

enum { MAX_NODES = 1 << 18, LED = 16 };

struct head {
	int32_t size, n_nodes, n_leafs, more;
	uint64_t nodes;
};

struct search {
	const struct lbx_ggml_program *of;
	struct lbx_ggml_spots *ret;
};

static uint64_t id_at(const struct lbx_ggml_program *of, uint64_t address)
{
	return of->id_at(of->context, address);
}

static bool read_head(struct lbx_target *target, uint64_t at, struct head *ret)
{
	return at % sizeof(uint64_t) == 0 && lbx_target_try_read(target, at, ret, sizeof *ret) && ret->n_nodes > 0 &&
	       ret->n_nodes <= MAX_NODES && (ret->size == 0 || ret->size >= ret->n_nodes) && ret->n_leafs >= 0 &&
	       ret->nodes && ret->nodes % sizeof(uint64_t) == 0;
}

/* NULL: they cannot be read, or are not all known. */
static uint64_t *read_nodes(const struct lbx_ggml_program *of, const struct head *head)
{
	size_t n = (size_t)head->n_nodes;
	uint64_t last;

	if (!lbx_target_try_read(of->target, head->nodes + (n - 1) * sizeof last, &last, sizeof last) ||
	    !id_at(of, last))
		return NULL;
	uint64_t *nodes = malloc(n * sizeof *nodes);
	bool known = nodes && lbx_target_try_read(of->target, head->nodes, nodes, n * sizeof *nodes);
	for (size_t i = 0; known && i < n; i++)
		known = id_at(of, nodes[i]) != 0;
	if (known)
		return nodes;
	free(nodes);
	return NULL;
}

static void add_graph(const struct search *s, uint64_t at)
{
	struct lbx_ggml_spots *ret = s->ret;
	struct head head;

	if (ret->n_arrays == LBX_GGML_ARRAYS || !read_head(s->of->target, at, &head))
		return;
	for (int i = 0; i < ret->n_arrays; i++)
		if (ret->arrays[i].at == head.nodes && ret->arrays[i].n == (uint64_t)head.n_nodes)
			return;
	uint64_t *nodes = read_nodes(s->of, &head);
	if (nodes)
		ret->arrays[ret->n_arrays++] = (struct lbx_ggml_array){ head.nodes, (uint64_t)head.n_nodes, nodes };
}

/* Graphs that a frame's words lead to, at once or by what they lead to. */
static void find_graphs(const struct search *s, const struct lbx_ggml_teller *t)
{
	uint64_t led[LED];

	for (size_t i = 0; i < t->n_own; i++) {
		if (t->own[i] == 0 || t->own[i] % sizeof *led)
			continue;
		add_graph(s, t->own[i]);
		if (lbx_target_try_read(s->of->target, t->own[i], led, sizeof led))
			for (int k = 0; k < LED; k++)
				if (led[k])
					add_graph(s, led[k]);
	}
}

/* ---- operations ---- */

/* How long the name of an operation is with which the function's begins; 0: it does not. */
static size_t begins_with(const char *function, const char *op)
{
	size_t n = strlen(op);

	for (size_t i = 0; i < n; i++)
		if (function[i] != tolower((unsigned char)op[i]))
			return 0;
	return function[n] == '\0' || function[n] == '_' || function[n] == '.' ? n : 0;
}

/* Whether "mul_mat" is the function for a node: of the operations with which its name begins, the longest. */
static bool is_for(const struct search *s, const char *function, uint64_t node)
{
	const struct lbx_ggml_anchor *anchor = s->of->anchor;
	uint32_t op;
	size_t best = 0;

	if (!lbx_target_try_read(s->of->target, node + LBX_GGML_OP, &op, sizeof op) || op >= (uint32_t)anchor->n_ops)
		return false;
	for (int i = 0; i < anchor->n_ops; i++) {
		size_t n = begins_with(function, anchor->ops[i]);
		best = n > best ? n : best;
	}
	/* which CPY and CONT go on to */
	if (strncmp(function, "dup", 3) == 0 &&
	    (strcmp(anchor->ops[op], "CPY") == 0 || strcmp(anchor->ops[op], "CONT") == 0))
		return true;
	return best > 0 && begins_with(function, anchor->ops[op]) == best;
}

/* ---- places ---- */

static bool holds(const uint64_t *words, size_t n, uint64_t word)
{
	for (size_t i = 0; i < n; i++)
		if (words[i] == word)
			return true;
	return false;
}

static uint32_t half_at(const struct lbx_ggml_teller *t, size_t half)
{
	return (uint32_t)(t->own[half / 2] >> (half % 2 ? 32 : 0));
}

/* The next pair of a graph and an index that the loop's frame holds, and whose operation is the function's; at or after
 * *i, which moves past it. 0: there is none. */
static uint64_t next_candidate(const struct search *s, const struct lbx_ggml_teller *t, size_t *i, uint64_t *ret_node)
{
	size_t n_arrays = (size_t)s->ret->n_arrays;

	for (; *i < 2 * t->n_own * n_arrays; ++*i) {
		size_t half = *i / n_arrays;
		const struct lbx_ggml_array *a = &s->ret->arrays[*i % n_arrays];
		uint32_t index = half_at(t, half);
		bool again = half > 0 && index == half_at(t, half - 1); /* most of a stack is 0 */
		if (again || index >= a->n ||
		    !(t->node ? a->nodes[index] == t->node : is_for(s, t->function, a->nodes[index])))
			continue;
		++*i;
		*ret_node = a->nodes[index];
		return a->at + (uint64_t)index * sizeof(uint64_t);
	}
	return 0;
}

/* By the node in the function's own frame. */
static void find_by_node(const struct search *s, const struct lbx_ggml_teller *t, struct lbx_ggml_spot *ret)
{
	uint64_t slot, node;

	for (size_t i = 0; (slot = next_candidate(s, t, &i, &node));) {
		if (slot == ret->slot || (!t->node && !holds(t->inner, t->n_inner, node)))
			continue;
		ret->is_several = ret->slot != 0;
		ret->slot = ret->is_several ? 0 : slot;
		if (ret->is_several)
			return;
	}
}

/* Whether a register leads into a tensor's memory. */
static bool is_led_to(const struct search *s, const struct lbx_ggml_teller *t, uint64_t tensor)
{
	uint64_t id = id_at(s->of, tensor);

	for (size_t i = 0; id && i < s->of->n_extents; i++) {
		const struct lbx_ggml_extent *e = &s->of->extents[i];
		for (size_t k = 0; e->ordinal + 1 == id && k < t->n_registers; k++)
			if (t->registers[k] >= e->start && t->registers[k] < e->end)
				return true;
	}
	return false;
}

/* Whether registers lead to all that the node reads, and to what it writes: that is the next node, where they are computed as
 * one. */
static bool is_at_work_on(const struct search *s, const struct lbx_ggml_teller *t, uint64_t node, uint64_t next)
{
	uint64_t sources[LBX_GGML_SOURCES];
	int n = 0;

	if (!s->of->layout ||
	    !lbx_target_try_read(s->of->target, node + s->of->layout->sources, sources, sizeof sources))
		return false;
	for (int i = 0; i < LBX_GGML_SOURCES; i++) {
		n += sources[i] != 0;
		if (sources[i] && !is_led_to(s, t, sources[i]))
			return false;
	}
	return n && (is_led_to(s, t, node) || (strstr(t->function, "_fused") && next && is_led_to(s, t, next)));
}

/* Where no frame holds the node any more, as its fields have been read: the one pair that there is, if registers bear it
 * out. */
static void find_by_data(const struct search *s, const struct lbx_ggml_teller *t, struct lbx_ggml_spot *ret)
{
	uint64_t only = 0, its_node = 0, slot, node, next;

	for (size_t i = 0; (slot = next_candidate(s, t, &i, &node));) {
		ret->is_several |= only && slot != only;
		only = slot;
		its_node = node;
	}
	if (!only || ret->is_several)
		return;
	if (!lbx_target_try_read(s->of->target, only + sizeof next, &next, sizeof next))
		next = 0;
	if (is_at_work_on(s, t, its_node, next))
		ret->slot = only;
}

static void find_slot(const struct search *s, const struct lbx_ggml_teller *t, struct lbx_ggml_spot *ret)
{
	find_by_node(s, t, ret);
	if (!t->node && !ret->slot && !ret->is_several)
		find_by_data(s, t, ret);
}

static bool is_in(const struct head *head, uint64_t slot)
{
	return slot >= head->nodes && slot - head->nodes < (uint64_t)head->n_nodes * sizeof slot;
}

bool lbx_ggml_whole_graph(const struct lbx_ggml_program *of, uint64_t slot, struct lbx_ggml_array *ret)
{
	struct head head, best = { .n_nodes = 0 };

	for (size_t i = 0; i < of->contexts->n_graphs; i++)
		if (read_head(of->target, of->contexts->graphs[i].address, &head) && is_in(&head, slot) &&
		    head.n_nodes > best.n_nodes)
			best = head;
	uint64_t *nodes = best.n_nodes ? read_nodes(of, &best) : NULL;
	*ret = (struct lbx_ggml_array){ best.nodes, (uint64_t)best.n_nodes, nodes };
	return nodes;
}

/* ---- between two nodes ---- */

/* Where a node is in an array of them; n: nowhere, or twice. */
static uint64_t index_in(const struct lbx_ggml_array *a, uint64_t node)
{
	uint64_t found = a->n;

	for (uint64_t i = 0; i < a->n; i++)
		if (a->nodes[i] == node) {
			if (found < a->n)
				return a->n;
			found = i;
		}
	return found;
}

/* Whether all that comes before `n` in one array does so before `m` in another, too. */
static bool comes_before(const struct lbx_ggml_program *of, const struct lbx_ggml_array *a, uint64_t n,
			 const struct lbx_ggml_array *b, uint64_t m)
{
	lb_auto_free bool *is_before = calloc(of->contexts->n_tensors + 1, sizeof *is_before);

	for (uint64_t i = 0; is_before && i < m; i++)
		is_before[id_at(of, b->nodes[i])] = true;
	for (uint64_t i = 0; is_before && i < n; i++)
		if (!is_before[id_at(of, a->nodes[i])])
			return false;
	return is_before != NULL;
}

/* Of the graphs that have the node the smallest: all others must tell the same of what comes before it. */
uint64_t lbx_ggml_asked_slot(const struct lbx_ggml_program *program, uint64_t node, struct lbx_ggml_spots *spots)
{
	const struct search s = { program, spots };
	const struct lbx_ggml_array *best = NULL;

	for (size_t i = 0; i < program->contexts->n_graphs; i++)
		add_graph(&s, program->contexts->graphs[i].address);
	for (int i = 0; i < spots->n_arrays; i++)
		if (index_in(&spots->arrays[i], node) < spots->arrays[i].n && (!best || spots->arrays[i].n < best->n))
			best = &spots->arrays[i];
	for (int i = 0; best && i < spots->n_arrays; i++) {
		const struct lbx_ggml_array *a = &spots->arrays[i];
		uint64_t at = index_in(a, node);
		if (a != best && at < a->n && !comes_before(program, best, index_in(best, node), a, at))
			return 0;
	}
	return best ? best->at + index_in(best, node) * sizeof best->at : 0;
}

/* Its place in the whole graph. */
static void place(const struct search *s, struct lbx_ggml_spot *ret)
{
	struct lbx_ggml_array whole;
	uint64_t node;

	ret->place = -1;
	if (ret->slot && lbx_target_try_read(s->of->target, ret->slot, &node, sizeof node))
		ret->id = id_at(s->of, node);
	if (!ret->slot || !lbx_ggml_whole_graph(s->of, ret->slot, &whole))
		return;
	ret->place = (int64_t)((ret->slot - whole.at) / sizeof ret->slot);
	ret->n = (int64_t)whole.n;
	ret->last = id_at(s->of, whole.nodes[whole.n - 1]);
	free(whole.nodes);
}

bool lbx_ggml_spots_find(const struct lbx_ggml_program *program, const struct lbx_ggml_running *running,
			 struct lbx_ggml_spots *ret)
{
	const struct search s = { program, ret };

	ret->n_arrays = 0;
	ret->n = running->n_tellers;
	ret->list = calloc((size_t)ret->n + 1, sizeof *ret->list);
	if (!ret->list)
		return lb_fail("out of memory for %d threads", ret->n);
	for (int i = 0; i < ret->n; i++)
		find_graphs(&s, &running->tellers[i]);
	for (int i = 0; i < ret->n; i++) {
		find_slot(&s, &running->tellers[i], &ret->list[i]);
		place(&s, &ret->list[i]);
	}
	return true;
}

void lbx_ggml_spots_free(struct lbx_ggml_spots *spots)
{
	for (int i = 0; i < spots->n_arrays; i++)
		free(spots->arrays[i].nodes);
	free(spots->list);
	spots->list = NULL;
	spots->n = spots->n_arrays = 0;
}

/* 1: what lies there may be a node. */
static uint64_t may_be_node(void *context, uint64_t address)
{
	const struct lbx_ggml_program *of = context;
	uint32_t type, op;

	return address % sizeof(uint64_t) == 0 &&
	       lbx_target_try_read(of->target, address + LBX_GGML_TYPE, &type, sizeof type) &&
	       lbx_target_try_read(of->target, address + LBX_GGML_OP, &op, sizeof op) &&
	       type < (uint32_t)of->anchor->n_types && op < (uint32_t)of->anchor->n_ops && op != 0;
}

int lbx_ggml_nodes_in_use(struct lbx_target *target, const struct lbx_ggml_anchor *anchor,
			  const struct lbx_ggml_running *running, uint64_t *ret, int max)
{
	const struct lbx_ggml_contexts none = { .n = 0 };
	struct lbx_ggml_program program = {
		.target = target, .anchor = anchor, .contexts = &none, .id_at = may_be_node, .context = &program
	};
	lb_auto_free struct lbx_ggml_spots *spots = calloc(1, sizeof *spots);
	const struct search s = { &program, spots };
	int n = 0;

	if (!spots)
		return lb_fail("out of memory for %d threads", running->n_tellers), -1;
	for (int i = 0; i < running->n_tellers && n < max; i++) {
		size_t at = 0;
		find_graphs(&s, &running->tellers[i]);
		while (n < max && next_candidate(&s, &running->tellers[i], &at, &ret[n]))
			n++;
	}
	lbx_ggml_spots_free(spots);
	return n;
}
