/* A thread computes by `for (i …) { node = graph->nodes[i]; ggml_compute_forward(params, node); barrier }`, and so does
 * each that helps it. In the frame of that loop are i and the graph, or what leads to it; in the frame of the function
 * for the node's operation, which it has called, is the node. So (graph, i) is known where nodes[i] is in that frame, and
 * the operation is that of the function, by its name; if exactly one such pair is there, and the other threads
 * have it, too. That one thread is within a node says that all have done with those before it. */
#include "ggml/progress.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "ggml/layout.h"

enum { MAX_NODES = 1 << 24, MAX_HEADS = 256, LED = 16, TOGETHER = 2, TO_COMPUTE = 0x10 };

struct head {
	int32_t size, n_nodes, n_leafs, more;
	uint64_t nodes;
};

/* An array of nodes that are all known. */
struct array {
	uint64_t at, n;
	uint64_t *nodes;
};

struct search {
	const struct lbx_ggml_program *of;
	struct array arrays[MAX_HEADS];
	int n;
};

static uint64_t id_at(const struct search *s, uint64_t address)
{
	return s->of->id_at(s->of->context, address);
}

static bool read_head(struct lbx_target *target, uint64_t at, struct head *ret)
{
	return at % sizeof(uint64_t) == 0 && lbx_target_try_read(target, at, ret, sizeof *ret) && ret->n_nodes > 0 &&
	       ret->n_nodes <= MAX_NODES && (ret->size == 0 || ret->size >= ret->n_nodes) && ret->n_leafs >= 0 &&
	       ret->nodes && ret->nodes % sizeof(uint64_t) == 0;
}

/* NULL: they cannot be read, or are not all known. */
static uint64_t *read_nodes(const struct search *s, const struct head *head)
{
	size_t n = (size_t)head->n_nodes;
	uint64_t last;

	if (!lbx_target_try_read(s->of->target, head->nodes + (n - 1) * sizeof last, &last, sizeof last) ||
	    !id_at(s, last))
		return NULL;
	uint64_t *nodes = malloc(n * sizeof *nodes);
	bool known = nodes && lbx_target_try_read(s->of->target, head->nodes, nodes, n * sizeof *nodes);
	for (size_t i = 0; known && i < n; i++)
		known = id_at(s, nodes[i]) != 0;
	if (known)
		return nodes;
	free(nodes);
	return NULL;
}

static void add_graph(struct search *s, uint64_t at)
{
	struct head head;

	if (s->n == MAX_HEADS || !read_head(s->of->target, at, &head))
		return;
	for (int i = 0; i < s->n; i++)
		if (s->arrays[i].at == head.nodes && s->arrays[i].n == (uint64_t)head.n_nodes)
			return;
	uint64_t *nodes = read_nodes(s, &head);
	if (nodes)
		s->arrays[s->n++] = (struct array){ head.nodes, (uint64_t)head.n_nodes, nodes };
}

/* Graphs that a frame's words lead to, at once or by what they lead to. */
static void find_graphs(struct search *s, const struct lbx_ggml_teller *t)
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

/* Where the node is, as an address in an array of nodes; 0: nowhere, or in more than one place. */
static uint64_t find_slot(const struct search *s, const struct lbx_ggml_teller *t)
{
	uint64_t found = 0;

	for (size_t i = 0; i < 2 * t->n_own; i++) {
		uint32_t index = (uint32_t)(t->own[i / 2] >> (i % 2 ? 32 : 0));
		for (int k = 0; k < s->n; k++) {
			const struct array *a = &s->arrays[k];
			uint64_t slot = a->at + (uint64_t)index * sizeof slot;
			if (index >= a->n || slot == found || !holds(t->inner, t->n_inner, a->nodes[index]) ||
			    !is_for(s, t->function, a->nodes[index]))
				continue;
			if (found)
				return 0;
			found = slot;
		}
	}
	return found;
}

static uint64_t find_agreed(struct search *s, const struct lbx_ggml_running *running)
{
	uint64_t agreed = 0;

	for (int i = 0; i < running->n_tellers; i++)
		find_graphs(s, &running->tellers[i]);
	for (int i = 0; i < running->n_tellers; i++) {
		uint64_t slot = find_slot(s, &running->tellers[i]);
		if (!slot || (agreed && slot != agreed))
			return 0;
		agreed = slot;
	}
	return agreed;
}

static bool is_in(const struct head *head, uint64_t slot)
{
	return slot >= head->nodes && slot - head->nodes < (uint64_t)head->n_nodes * sizeof slot;
}

/* The graph of a context that holds the slot: a part of it may be computed by a graph of its own, which leads into it. A
 * part whose whole is not known says nothing of the rest. False: that is so. The nodes are to be freed. */
static bool find_whole(const struct search *s, uint64_t slot, struct array *ret)
{
	struct head head, best = { .n_nodes = 0 };

	for (size_t i = 0; i < s->of->contexts->n_graphs; i++)
		if (read_head(s->of->target, s->of->contexts->graphs[i].address, &head) && is_in(&head, slot) &&
		    head.n_nodes > best.n_nodes)
			best = head;
	uint64_t *nodes = best.n_nodes ? read_nodes(s, &best) : NULL;
	*ret = (struct array){ best.nodes, (uint64_t)best.n_nodes, nodes };
	return nodes;
}

/* Where in the whole the part begins that is being computed: of several, the one that begins last. */
static int64_t find_first(const struct search *s, uint64_t slot, const struct array *whole)
{
	uint64_t first = whole->at;

	for (int i = 0; i < s->n; i++) {
		const struct array *a = &s->arrays[i];
		if (slot >= a->at && slot - a->at < a->n * sizeof slot && a->at > first)
			first = a->at;
	}
	return (int64_t)((first - whole->at) / sizeof slot);
}

/* Newer builds mark the nodes that are to be computed; then the others of a graph are not. */
static bool uses_marks(const struct search *s, const struct array *a)
{
	uint32_t flags;

	for (uint64_t i = 0; i < a->n; i++)
		if (lbx_target_try_read(s->of->target, a->nodes[i] + LBX_GGML_FLAGS, &flags, sizeof flags) &&
		    flags & TO_COMPUTE)
			return true;
	return false;
}

static bool take_places(const struct search *s, const struct array *a, struct lbx_ggml_progress *ret)
{
	bool marks = uses_marks(s, a);
	uint32_t flags;

	for (size_t i = 0; i < s->of->contexts->n_tensors; i++)
		ret->at[i] = LBX_GGML_ELSEWHERE_IN;
	for (uint64_t i = 0; i < a->n; i++) {
		int64_t *at = &ret->at[id_at(s, a->nodes[i]) - 1];
		if (*at != LBX_GGML_ELSEWHERE_IN)
			return false;
		bool left =
		    marks && (!lbx_target_try_read(s->of->target, a->nodes[i] + LBX_GGML_FLAGS, &flags, sizeof flags) ||
			      !(flags & TO_COMPUTE));
		*at = left ? LBX_GGML_LEFT_OUT : (int64_t)i;
	}
	return true;
}

bool lbx_ggml_may_have_written(const struct lbx_ggml_progress *progress, int64_t at)
{
	return at >= 0 && at <= progress->place + TOGETHER;
}

static bool find_writers(const struct search *s, struct lbx_ggml_progress *ret)
{
	size_t n = s->of->n_extents;
	lb_auto_free struct lbx_ggml_extent *extents = calloc(n + 1, sizeof *extents);

	if (!extents)
		return lb_fail("out of memory for %zu tensors of ggml", n);
	for (size_t i = 0; i < s->of->contexts->n_tensors; i++)
		ret->writers[i] = ret->touched[i] = LBX_GGML_KEPT;
	for (size_t i = 0; i < n; i++) {
		extents[i] = s->of->extents[i];
		extents[i].writes &= lbx_ggml_may_have_written(ret, ret->at[extents[i].ordinal]);
	}
	if (!lbx_ggml_find_reuse(extents, n, ret->writers))
		return false;
	for (size_t i = 0; i < n; i++) {
		extents[i] = s->of->extents[i];
		extents[i].writes &= ret->at[extents[i].ordinal] >= 0;
		extents[i].since = -1; /* before any of them */
	}
	return lbx_ggml_find_reuse(extents, n, ret->touched);
}

bool lbx_ggml_progress_find(const struct lbx_ggml_program *program, const struct lbx_ggml_running *running,
			    struct lbx_ggml_progress *ret)
{
	lb_auto_free struct search *s = calloc(1, sizeof *s);
	size_t n = program->contexts->n_tensors + 1;

	*ret = (struct lbx_ggml_progress){ .at = NULL };
	if (!s)
		return lb_fail("out of memory");
	if (running->doing != LBX_GGML_COMPUTES || running->n_tellers == 0)
		return true;
	s->of = program;
	uint64_t slot = find_agreed(s, running);
	struct array whole = { .n = 0 };
	bool ok = true, known = false;
	if (slot && find_whole(s, slot, &whole)) {
		ret->place = (int64_t)((slot - whole.at) / sizeof slot);
		ret->first = find_first(s, slot, &whole);
		ret->at = malloc(n * sizeof *ret->at);
		ret->writers = malloc(n * sizeof *ret->writers);
		ret->touched = malloc(n * sizeof *ret->touched);
		ok = (ret->at && ret->writers && ret->touched) || lb_fail("out of memory for %zu tensors of ggml", n);
		known = ok && take_places(s, &whole, ret);
		ok = ok && (!known || find_writers(s, ret));
	}
	for (int i = 0; i < s->n; i++)
		free(s->arrays[i].nodes);
	free(whole.nodes);
	if (!ok || !known)
		lbx_ggml_progress_free(ret);
	return ok;
}

void lbx_ggml_progress_free(struct lbx_ggml_progress *progress)
{
	free(progress->at);
	free(progress->writers);
	free(progress->touched);
	*progress = (struct lbx_ggml_progress){ .at = NULL };
}
