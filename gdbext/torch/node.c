/* Where a node's fields are is found by what fits: of the places where a vector of edges may be, the only one at which each node
 * that computed a living tensor has a vector whose edges lead to nodes. What is a node shows by its class. */
#include "torch/node.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

enum {
	WORD = 8,
	CLASSES_MAX = 1 << 12,
	NODE_EDGES_MAX = 1 << 12,
	SAMPLE = 500,
	EDGE_SHORT = 16, /* newer versions count within the node */
	EDGE_LONG = 24,
	EDGES_FIRST = 0x38,
	EDGES_LAST = 0xa0,
	NODE = 0x180 /* bytes that all nodes have, or what lies behind them */
};

/* ---- classes ---- */

static const char *last_of(char *name)
{
	char *at = name, *arguments = strchr(name, '<');

	if (arguments)
		*arguments = '\0';
	for (char *colons; (colons = strstr(at, "::")); at = colons + 2)
		;
	return at;
}

static const struct lbx_torch_node_class *class_of(struct lbx_torch_nodes *nodes, struct lbx_target *target,
						   uint64_t vtable)
{
	char name[LBX_CXX_NAME];
	uint64_t type;

	for (size_t i = 0; i < nodes->n_classes; i++)
		if (nodes->classes[i]->vtable == vtable)
			return nodes->classes[i];
	if (nodes->n_classes == CLASSES_MAX || !lb_reserve(nodes->classes, nodes->classes_room, nodes->n_classes + 1))
		return NULL;
	struct lbx_torch_node_class *class = calloc(1, sizeof *class);
	if (!class)
		return NULL;
	class->vtable = vtable;
	class->is_node = lbx_cxx_type_of(target, vtable, &type) &&
			 lbx_cxx_type_is(target, type, "N5torch8autograd4NodeE") &&
			 lbx_cxx_type_name(target, type, name);
	if (class->is_node)
		memcpy(class->name, last_of(name), strlen(last_of(name)) + 1);
	return nodes->classes[nodes->n_classes++] = class;
}

const struct lbx_torch_node_class *lbx_torch_node_class(struct lbx_torch_nodes *nodes, struct lbx_target *target,
							uint64_t node)
{
	uint64_t vtable;

	if (!node || node % WORD || !lbx_target_try_read(target, node, &vtable, sizeof vtable))
		return NULL;
	const struct lbx_torch_node_class *class = class_of(nodes, target, vtable);
	return class && class->is_node ? class : NULL;
}

/* ---- edges ---- */

static bool read_edges(struct lbx_target *target, uint64_t node, const struct lbx_torch_node_layout *layout,
		       unsigned char **ret, size_t *ret_n)
{
	uint64_t vector[3]; /* begin, end, end of what is allocated */

	*ret = NULL;
	*ret_n = 0;
	if (!lbx_target_try_read(target, node + layout->edges, vector, sizeof vector) || vector[1] < vector[0] ||
	    vector[2] < vector[1] || vector[0] % WORD)
		return false;
	uint64_t bytes = vector[1] - vector[0];
	if (bytes == 0)
		return true;
	if (!vector[0] || bytes % layout->edge || bytes / layout->edge > NODE_EDGES_MAX || !(*ret = malloc(bytes)))
		return false;
	*ret_n = bytes / layout->edge;
	return lbx_target_try_read(target, vector[0], *ret, bytes);
}

static struct lbx_torch_edge edge_at(const unsigned char *bytes, const struct lbx_torch_node_layout *layout, size_t i)
{
	struct lbx_torch_edge edge = { 0 };

	memcpy(&edge.node, bytes + i * layout->edge, sizeof edge.node);
	memcpy(&edge.output, bytes + (i + 1) * layout->edge - WORD, sizeof edge.output);
	return edge;
}

/* What counts a node's references is there as long as the node is. */
static bool is_counted(const unsigned char *edge, const struct lbx_torch_node_layout *layout)
{
	uint64_t words[2];

	memcpy(words, edge, sizeof words);
	return layout->edge == EDGE_SHORT || ((words[0] == 0) == (words[1] == 0) && words[1] % WORD == 0);
}

/* Whether a node's edges all are some; *tells: one leads to a node. */
static bool fits(struct lbx_torch_nodes *nodes, struct lbx_target *target, uint64_t node,
		 const struct lbx_torch_node_layout *layout, bool *tells)
{
	unsigned char *bytes;
	size_t n;
	bool ok = read_edges(target, node, layout, &bytes, &n);

	for (size_t i = 0; ok && i < n; i++) {
		struct lbx_torch_edge edge = edge_at(bytes, layout, i);
		ok = edge.output < NODE_EDGES_MAX && is_counted(bytes + i * layout->edge, layout) &&
		     (!edge.node || lbx_torch_node_class(nodes, target, edge.node));
		*tells |= ok && edge.node;
	}
	free(bytes);
	return ok;
}

static bool decide_edges(struct lbx_torch_nodes *nodes, struct lbx_target *target,
			 const struct lbx_torch_computed *computed, size_t n)
{
	static const uint32_t sizes[] = { EDGE_SHORT, EDGE_LONG };
	size_t step = n / SAMPLE + 1;
	int found = 0;

	for (uint32_t at = EDGES_FIRST; at <= EDGES_LAST; at += WORD)
		for (int k = 0; k < 2; k++) {
			const struct lbx_torch_node_layout guess = { .edges = at, .edge = sizes[k] };
			bool tells = false, ok = true;
			for (size_t i = 0; i < n && ok; i += step)
				ok = fits(nodes, target, computed[i].node, &guess, &tells);
			if (ok && tells) {
				nodes->layout = guess;
				found++;
			}
		}
	if (found != 1)
		nodes->layout = (struct lbx_torch_node_layout){ .edges = 0 };
	return found == 1;
}

/* ---- what comes out of a node ---- */

/* A SmallVector: where its elements begin, how many there are, and room for some of them behind that. */
struct small {
	uint64_t begin;
	uint32_t n, room;
};

/* Of a result: its dtype among the options, and its sizes, in a SmallVector of five. */
static bool read_result(struct lbx_target *target, uint64_t node, uint32_t at, struct lbx_torch_result *ret)
{
	struct small results;
	struct {
		int8_t device, index;
		uint16_t dtype;
		uint32_t flags;
		struct small sizes;
	} result;

	if (!lbx_target_try_read(target, node + at, &results, sizeof results) || results.n != 1 || results.room < 1 ||
	    results.room > NODE_EDGES_MAX || results.begin % WORD ||
	    !lbx_target_try_read(target, results.begin, &result, sizeof result) ||
	    result.sizes.n > sizeof ret->sizes / sizeof *ret->sizes || result.sizes.room < result.sizes.n ||
	    result.sizes.room < 5 || (result.sizes.room == 5) != (result.sizes.begin == results.begin + sizeof result))
		return false;
	ret->dtype = result.dtype;
	ret->rank = (int)result.sizes.n;
	if (!lbx_target_try_read(target, result.sizes.begin, ret->sizes, (size_t)ret->rank * sizeof *ret->sizes))
		return false;
	for (int i = 0; i < ret->rank; i++)
		if (ret->sizes[i] < 0)
			return false;
	return true;
}

/* The place at which what is said of results is what the living ones are like. */
static void decide_outputs(struct lbx_torch_nodes *nodes, struct lbx_target *target,
			   const struct lbx_torch_computed *computed, size_t n)
{
	struct lbx_torch_result r;
	uint32_t found = 0;

	for (uint32_t at = nodes->layout.edges + 3 * WORD; at < NODE; at += WORD) {
		size_t same = 0, others = 0;
		for (size_t i = 0; i < n && i < SAMPLE; i++) {
			const struct lbx_torch_computed *c = &computed[i];
			if (c->rank <= 0 || !read_result(target, c->node, at, &r))
				continue;
			bool is_same =
			    r.rank == c->rank && memcmp(r.sizes, c->sizes, (size_t)r.rank * sizeof *r.sizes) == 0;
			*(is_same ? &same : &others) += 1;
		}
		if (same && others <= same / 20) {
			if (found)
				return;
			found = at;
		}
	}
	nodes->layout.outputs = found;
}

bool lbx_torch_node_result(const struct lbx_torch_nodes *nodes, struct lbx_target *target, uint64_t node,
			   struct lbx_torch_result *ret)
{
	return nodes->layout.outputs && read_result(target, node, nodes->layout.outputs, ret);
}

/* ---- all of it ---- */

bool lbx_torch_nodes_decide(struct lbx_torch_nodes *nodes, struct lbx_target *target,
			    const struct lbx_torch_computed *computed, size_t n)
{
	if (!decide_edges(nodes, target, computed, n))
		return false;
	decide_outputs(nodes, target, computed, n);
	return true;
}

bool lbx_torch_node_edges(const struct lbx_torch_nodes *nodes, struct lbx_target *target, uint64_t node,
			  struct lbx_torch_edge **ret, size_t *ret_n)
{
	unsigned char *bytes;
	bool ok = read_edges(target, node, &nodes->layout, &bytes, ret_n);

	*ret = ok && *ret_n ? malloc(*ret_n * sizeof **ret) : NULL;
	for (size_t i = 0; *ret && i < *ret_n; i++)
		(*ret)[i] = edge_at(bytes, &nodes->layout, i);
	free(bytes);
	if (!*ret)
		*ret_n = 0;
	return ok;
}

void lbx_torch_nodes_free(struct lbx_torch_nodes *nodes)
{
	for (size_t i = 0; i < nodes->n_classes; i++)
		free(nodes->classes[i]);
	free(nodes->classes);
	*nodes = (struct lbx_torch_nodes){ .n_classes = 0 };
}

/* ---- what it keeps ---- */

/* Its size is in front of it, as glibc's malloc() leaves it there, and in front of what lies behind it is another size. */
size_t lbx_torch_node_words(const struct lbx_torch_nodes *nodes, struct lbx_target *target, uint64_t node,
			    uint64_t ret[LBX_TORCH_NODE_WORDS])
{
	enum { IN_USE = 1, FLAGS = 7, BLOCK = 16, LEAST = 0x20, MOST = 1 << 12 };
	uint64_t size, next, from = nodes->layout.edges + 3 * WORD;

	if (!nodes->layout.edges || node % BLOCK || !lbx_target_try_read(target, node - WORD, &size, sizeof size))
		return 0;
	size &= ~(uint64_t)FLAGS;
	if (size % BLOCK || size > MOST || size <= from + WORD ||
	    !lbx_target_try_read(target, node - WORD + size, &next, sizeof next) || !(next & IN_USE) ||
	    (next & ~(uint64_t)FLAGS) < LEAST || next & (BLOCK - 1) & ~(uint64_t)FLAGS)
		return 0;
	size_t n = (size - WORD - from) / WORD;
	if (n > LBX_TORCH_NODE_WORDS)
		n = LBX_TORCH_NODE_WORDS;
	return lbx_target_try_read(target, node + from, ret, n * WORD) ? n : 0;
}
