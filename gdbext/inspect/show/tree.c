/* The graph behind a tensor as a tree: each tensor once, where it is met first; where it is met
 * again, a reference to that line. Walks into whatever still exists: what is damaged or gone
 * is a line that says so. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number_map.h"
#include "base/plural.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/operand/select.h"
#include "inspect/show/dot.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/expression.h"
#include "inspect/tensor/format.h"
#include "inspect/texts.h"

enum { MAX_DEPTH = 100, DEFAULT_DEPTH = 8, DEFAULT_LIMIT = 200, PREFIX = MAX_DEPTH * 8 };

struct tree {
	struct lbx_context *context;
	struct lbx_number_map seen; /* to the line of its own */
	int64_t depth, limit;
	bool history; /* beyond ready tensors, too */
	int64_t lines, lazy, ready, without, lost, deepest; /* without a value, and not lazy */
	bool cut;     /* by depth or limit */
	char prefix[PREFIX]; /* what stands before a line */
	size_t prefix_n;
};

static void print_tensor(struct tree *tree, const struct lbx_tensor *t)
{
	struct lbx_out *out = tree->context->out;
	char type[LBX_TYPE_MAX], pc[512], expression[LBX_EXPRESSION_MAX];

	if (t->name[0])
		lbx_styled(out, LBX_NAME, "%s ", t->name);
	lbx_printf(out, "#%" PRIu64 " ", t->id);
	lbx_styled(out, LBX_TITLE, "%s%s", t->op, t->op[0] ? " " : "");
	lbx_describe_type(t, type, sizeof type);
	lbx_printf(out, "%s %s", type, lbx_state_name(lbx_told_state(t)));
	if (t->site) {
		lbx_describe_pc(t->of->target, t->site, pc, sizeof pc);
		lbx_printf(out, "  ");
		lbx_styled(out, LBX_FILE, "%s", pc);
	}
	if (t->op_class == LB_CLASS_FUSED)
		lbx_printf(out, "  computes %s", lbx_expression(t, expression));
}

static bool begin_line(struct tree *tree, int depth, bool last)
{
	struct lbx_out *out = tree->context->out;

	if (tree->lines == tree->limit) {
		tree->cut = true;
		return false;
	}
	if (++tree->lines % 4096 == 0 && !lbx_progress(out, "reading the graph", tree->lines, 0))
		return false;
	if (depth > tree->deepest)
		tree->deepest = depth;
	if (depth)
		lbx_styled(out, LBX_DIM, "%s%s", tree->prefix, last ? "└─ " : "├─ ");
	lbx_wrap(out, 3 * depth, 3 * depth + 4);
	return true;
}

static size_t lengthen_prefix(struct tree *tree, int depth, bool last)
{
	size_t before = tree->prefix_n;
	const char *more = depth == 0 ? "" : last ? "   " : "│  ";

	memcpy(tree->prefix + before, more, strlen(more) + 1);
	tree->prefix_n += strlen(more);
	return before;
}

static bool print_subtree(struct tree *tree, const struct lbx_tensor *t, int depth, bool last);

static bool print_lost(struct tree *tree, const struct lbx_tensor *t, uint32_t i, int depth, bool last)
{
	struct lbx_out *out = tree->context->out;
	uint64_t id = lbx_tensor_input_id(t, i);

	if (!begin_line(tree, depth, last))
		return false;
	tree->lost++;
	if (id)
		lbx_styled(out, LBX_DIM, "#%" PRIu64 " gone\n", id);
	else
		lbx_styled(out, LBX_WARNING, "unreadable: %s\n", lb_error_message());
	lb_clear_error();
	return true;
}

static bool print_inputs(struct tree *tree, const struct lbx_tensor *t, int depth)
{
	struct lbx_tensor input;

	for (uint32_t i = 0; i < t->n_inputs; i++) {
		bool last = i + 1 == t->n_inputs;
		bool found = lbx_tensor_input(t, i, &input);
		if (!(found ? print_subtree(tree, &input, depth, last) : print_lost(tree, t, i, depth, last)))
			return false;
	}
	return true;
}

static bool print_subtree(struct tree *tree, const struct lbx_tensor *t, int depth, bool last)
{
	struct lbx_out *out = tree->context->out;
	bool is_new;
	struct lbx_number *seen = lbx_number_of_tensor(&tree->seen, t, &is_new);

	if (!seen || !begin_line(tree, depth, last))
		return false;
	if (!is_new) {
		if (t->name[0])
			lbx_styled(out, LBX_NAME, "%s ", t->name);
		lbx_printf(out, "#%" PRIu64 " ", t->id);
		lbx_styled(out, LBX_DIM, "as in line %u\n", seen->value);
		return true;
	}
	seen->value = (uint32_t)tree->lines;
	bool ready = t->state == LBX_READY;
	tree->ready += ready;
	tree->lazy += lbx_tensor_is_pending(t);
	tree->without += !ready && !lbx_tensor_is_pending(t);
	print_tensor(tree, t);
	bool inner = t->n_inputs && (!ready || tree->history || t->of->keeps_graph);
	if (inner && depth == tree->depth) {
		lbx_styled(out, LBX_DIM, "  …");
		tree->cut = true;
	}
	lbx_printf(out, "\n");
	if (!inner || depth == tree->depth)
		return true;
	size_t before = lengthen_prefix(tree, depth, last);
	bool ok = print_inputs(tree, t, depth + 1);
	tree->prefix_n = before;
	tree->prefix[before] = '\0';
	return ok;
}

static bool print_tree(struct tree *tree, const struct lbx_tensor *t)
{
	struct lbx_out *out = tree->context->out;

	if (!print_subtree(tree, t, 0, true) && !lb_ok())
		return false;
	int64_t all = tree->lazy + tree->ready + tree->without;
	lbx_printf(out, "%" PRId64 " tensor%s: %" PRId64 " ready, %" PRId64 " not yet computed", all, LB_S(all),
		   tree->ready, tree->lazy);
	if (tree->without)
		lbx_printf(out, ", %" PRId64 " without a value", tree->without);
	if (tree->lost)
		lbx_printf(out, "; %" PRId64 " former input%s gone", tree->lost, LB_S(tree->lost));
	lbx_printf(out, "; depth %" PRId64 "\n", tree->deepest);
	if (tree->cut)
		lbx_printf(out, "cut short: --depth N and --limit N show more\n");
	lbx_set_int(out, "tensor_count", all);
	return true;
}

static bool run_graph(struct lbx_context *context, const struct lbx_args *args)
{
	struct tree tree = { .context = context,
			     .depth = DEFAULT_DEPTH,
			     .limit = DEFAULT_LIMIT,
			     .history = lbx_args_option(args, "history") };
	const char *dot = lbx_args_option(args, "dot"), *png = lbx_args_option(args, "png"),
		   *svg = lbx_args_option(args, "svg");
	bool drawn = dot || png || svg || context->out->json;
	struct lbx_selection s;

	if (drawn)
		tree.limit = LBX_DOT_LIMIT;
	if (drawn)
		tree.depth = INT64_MAX;
	if (!lbx_args_int(args, "depth", 0, drawn ? INT64_MAX : MAX_DEPTH, &tree.depth) ||
	    !lbx_args_limit(args, &tree.limit) || !lbx_select(context, args->v[0], &s))
		return false;
	if (s.slice.n)
		return lb_fail("graph shows whole tensors: '%s' is a slice", args->v[0]);
	if (drawn) {
		struct lbx_dot how = { .depth = tree.depth,
				       .limit = tree.limit,
				       .history = tree.history,
				       .dot = dot,
				       .png = png,
				       .svg = svg };
		return lbx_dot(context, &s.tensor, &how);
	}
	bool ok = print_tree(&tree, &s.tensor);
	lbx_number_map_deinit(&tree.seen);
	return ok;
}

const struct lbx_command lbx_command_graph = {
	.name = "graph",
	.arguments = "T",
	.summary = "show the graph behind a tensor: what it is computed from",
	.help = "A tree of the operations that are not yet computed, down to the ready tensors;\n"
		"each tensor once, with the place that made it.\n" LBX_T_HELP "\n"
		"Example: graph loss --depth 3",
	.min_args = 1,
	.max_args = 1,
	.needs = LBX_NEEDS_TENSORS | LBX_LETS_GO,
	.options = {
		{ "depth", "N", "follow inputs N deep (default 8, files and JSON all)" },
		{ "limit", "N", "show N lines (default 200), or write N tensors (10000); 0: all" },
		{ "history", NULL, "go on past ready tensors, where their inputs still exist" },
		{ "dot", "FILE", "write it for Graphviz; -: to the output" },
		{ "png", "FILE", "draw it with Graphviz's dot" },
		{ "svg", "FILE", "likewise, for a browser" },
	},
	.run = run_graph,
};
