/* Two listings, line by line: what a recompilation, or another round, does otherwise.
 *
 * Two lines correspond if they have the same op, name and call in the program; then dtype, shape
 * and what they are computed from, tell whether they are equal. Which of the lines correspond is the longest common subsequence of
 * the two listings, after their common beginning and end. Between parts that are too long for that
 * (some 10,000 lines each) nothing corresponds. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/graph/listings.h"

enum { CELLS_MOST = 1 << 27 };

struct side {
	uint64_t id;
	struct lbx_listing listing;
	uint32_t *match; /* of each line: the other's, from 1; 0: none */
};

struct comparison {
	struct lbx_context *context;
	struct side a, b;
	uint32_t equal, changed;
	int64_t shown, limit; /* lines */
};

static bool corresponds(const struct lbx_listing_line *a, const struct lbx_listing_line *b)
{
	return a->site == b->site && strcmp(a->op, b->op) == 0 && strcmp(a->name, b->name) == 0 &&
	       a->n_operands == b->n_operands;
}

static bool is_alike(const struct lbx_listing_line *a, const struct lbx_listing_line *b)
{
	return a->dtype == b->dtype && a->rank == b->rank && a->value == b->value &&
	       memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0;
}

/* Whether operands, lines or inputs, are the same: lines by what corresponds to them. */
static bool same_operand(const struct comparison *c, uint32_t i, uint32_t k)
{
	const struct lbx_listing *a = &c->a.listing, *b = &c->b.listing;

	if (i <= a->n_lines || k <= b->n_lines)
		return i <= a->n_lines && k <= b->n_lines && c->a.match[i - 1] == k;
	const struct lbx_listing_line *x = &a->lines[i - 1], *y = &b->lines[k - 1];
	return is_alike(x, y) && x->is_constant == y->is_constant && strcmp(x->name, y->name) == 0;
}

/* Line i of a, which corresponds to one of b. */
static bool is_equal(const struct comparison *c, uint32_t i)
{
	const struct lbx_listing_line *a = &c->a.listing.lines[i];
	const struct lbx_listing_line *b = &c->b.listing.lines[c->a.match[i] - 1];
	bool equal = is_alike(a, b);

	for (uint32_t k = 0; k < a->n_operands && equal; k++)
		equal = same_operand(c, a->operands[k], b->operands[k]);
	return equal;
}

static void pair(struct comparison *c, uint32_t i, uint32_t k)
{
	c->a.match[i] = k + 1;
	c->b.match[k] = i + 1;
}

/* Lines from `first` on, n of a and m of b. */
static bool match_middle(struct comparison *c, uint32_t first, uint32_t n, uint32_t m)
{
	const struct lbx_listing_line *a = c->a.listing.lines + first, *b = c->b.listing.lines + first;
	size_t width = (size_t)m + 1;

	if (n == 0 || m == 0 || (uint64_t)(n + 1) * width > CELLS_MOST)
		return true;
	/* lengths of the longest common subsequence of what is left, from each place on */
	lb_auto_free uint32_t *length = calloc((n + 1) * width, sizeof *length);
	if (!length)
		return lb_fail("out of memory to compare %u lines with %u", n, m);
	for (uint32_t i = n; i-- > 0;) {
		if (i % 64 == 0 && !lbx_progress(c->context->out, "comparing", n - i, n))
			return false;
		for (uint32_t k = m; k-- > 0;) {
			uint32_t down = length[(i + 1) * width + k], right = length[i * width + k + 1];
			length[i * width + k] = corresponds(&a[i], &b[k]) ? length[(i + 1) * width + k + 1] + 1
						: down > right            ? down
									  : right;
		}
	}
	for (uint32_t i = 0, k = 0; i < n && k < m;) {
		if (corresponds(&a[i], &b[k]))
			pair(c, first + i++, first + k++);
		else if (length[(i + 1) * width + k] >= length[i * width + k + 1])
			i++;
		else
			k++;
	}
	return true;
}

static bool match_lines(struct comparison *c)
{
	const struct lbx_listing *a = &c->a.listing, *b = &c->b.listing;
	uint32_t n = a->n_lines, m = b->n_lines, first = 0;

	while (first < n && first < m && corresponds(&a->lines[first], &b->lines[first])) {
		pair(c, first, first);
		first++;
	}
	while (n > first && m > first && corresponds(&a->lines[n - 1], &b->lines[m - 1]))
		pair(c, --n, --m);
	if (!match_middle(c, first, n - first, m - first))
		return false;
	for (uint32_t i = 0; i < a->n_lines; i++) {
		if (c->a.match[i] == 0)
			continue;
		bool same = is_equal(c, i);
		c->equal += same;
		c->changed += !same;
	}
	return true;
}

/* ---- the answer ---- */

static void tell_line(struct comparison *c, char mark, const struct side *side, uint32_t i)
{
	struct lbx_out *out = c->context->out;

	if (c->shown++ >= c->limit)
		return;
	struct lbx_listing_text text = {
		.graph = side->id,
		.listing = &side->listing,
		.line = lbx_listing_line_by_target,
		.context = c->context->target,
	};

	lbx_wrap(out, 0, 4);
	lbx_styled(out, mark == '-' ? LBX_WARNING : LBX_NAME, "%c%u ", mark, i + 1);
	lbx_listing_write(out, &text, i, i + 1);
}

static bool is_changed(const struct comparison *c, uint32_t i)
{
	return c->a.match[i] == 0 || !is_equal(c, i);
}

static json_t *json_lines(const struct comparison *c)
{
	json_t *changed = json_array(), *only_a = json_array(), *only_b = json_array();

	for (uint32_t i = 0; i < c->a.listing.n_lines; i++) {
		if (c->a.match[i] == 0)
			json_array_append_new(only_a, json_integer(i + 1));
		else if (is_changed(c, i))
			json_array_append_new(changed, json_pack("[i,i]", (int)i + 1, (int)c->a.match[i]));
	}
	for (uint32_t k = 0; k < c->b.listing.n_lines; k++)
		if (c->b.match[k] == 0)
			json_array_append_new(only_b, json_integer(k + 1));
	return json_pack("{s:I,s:I,s:i,s:o,s:o,s:o}", "a", (json_int_t)c->a.id, "b", (json_int_t)c->b.id, "equal",
			 (int)c->equal, "changed", changed, "only_a", only_a, "only_b", only_b);
}

static void tell(struct comparison *c)
{
	struct lbx_out *out = c->context->out;
	uint32_t n = c->a.listing.n_lines, m = c->b.listing.n_lines, k = 0;

	c->shown = 0;
	lbx_begin(out, NULL);
	LBX_KEYS(out, json_lines(c));
	lbx_wrap(out, 0, 4);
	lbx_printf(out,
		   "graph %" PRIu64 " of %u op%s, graph %" PRIu64 " of %u: %u equal, %u of other dtype, "
		   "shape or operands, %u only in the first, %u only in the second\n",
		   c->a.id, n, LB_S(n), c->b.id, m, c->equal, c->changed, n - c->equal - c->changed,
		   m - c->equal - c->changed);
	for (uint32_t i = 0; i <= n; i++) {
		uint32_t upto = i < n && c->a.match[i] ? c->a.match[i] - 1 : i < n ? k : m;
		for (; k < upto; k++)
			if (c->b.match[k] == 0)
				tell_line(c, '+', &c->b, k);
		if (i == n || !is_changed(c, i))
			continue;
		tell_line(c, '-', &c->a, i);
		if (c->a.match[i])
			tell_line(c, '+', &c->b, c->a.match[i] - 1);
	}
	if (c->shown > c->limit)
		lbx_printf(out, "… %lld more (--limit 0 shows all)\n", (long long)(c->shown - c->limit));
	lbx_end(out);
}

/* ---- the command ---- */

static bool open_side(struct comparison *c, const char *text, struct side *side)
{
	struct lbx_eval_graph graph;

	if (!lbx_parse_graph(text, &side->id) || !lbx_table_graph_by_id(c->context->table, side->id, &graph) ||
	    !lbx_table_listing(c->context->table, &graph, &side->listing))
		return false;
	side->match = calloc(side->listing.n_lines, sizeof *side->match);
	return side->match || lb_fail("out of memory");
}

static void close_side(struct side *side)
{
	lbx_listing_deinit(&side->listing);
	free(side->match);
}

static bool run_diff_graph(struct lbx_context *context, const struct lbx_args *args)
{
	struct comparison c = { .context = context, .limit = 100 };
	struct lbx_table *table;

	if (!lbx_args_limit(args, &c.limit) || !lbx_context_table(context, &table))
		return false;
	bool ok = open_side(&c, args->v[0], &c.a) && open_side(&c, args->v[1], &c.b) && match_lines(&c);
	if (ok) {
		tell(&c);
		lbx_set_int(context->out, "tensor_graph_equal",
			    c.equal == c.a.listing.n_lines && c.equal == c.b.listing.n_lines);
	}
	close_side(&c.a);
	close_side(&c.b);
	return ok;
}

const struct lbx_command lbx_command_diff_graph = {
	.name = "diff-graph",
	.arguments = "A B",
	.summary = "compare the listings of two graphs",
	.help = "Lines with the same op, name and call in the program correspond. Shows those whose\n"
		"dtype, shape or operands differ, and those that only one graph has: - of A, + of B.\n"
		"Example: diff-graph 1 3",
	.min_args = 2,
	.max_args = 2,
	.needs = LBX_NEEDS_RUNTIME,
	.options = {
		{ "limit", "N", "show N lines at most (default 100, JSON all); 0: all" },
	},
	.run = run_diff_graph,
};
