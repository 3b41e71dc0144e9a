#include "inspect/graph/listings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/measure/digest.h"
#include "inspect/tensor/format.h"
#include "target/printable.h"

enum { GRAPHS_MOST = 4096 };

/* A tensor of the listing, found in one walk over all. */
struct known {
	uint64_t id, address, eval; /* eval: the evaluation that has computed it already; or 0 */
};

struct lister {
	struct lbx_context *context;
	struct lbx_table *table;
	const struct lbx_listing *listing;
	uint64_t *tensors; /* id of each line */
	bool ranges;
	struct known *known; /* by id; with ranges */
	size_t n_known;
};

bool lbx_parse_graph(const char *text, uint64_t *ret)
{
	const char *number = strncmp(text, "graph-", 6) == 0 ? text + 6 : text;
	char *end;

	*ret = strtoull(number, &end, 10);
	if (strcmp(end, ".lb") == 0)
		end += 3;
	return (end != number && !*end && *number != '-' && *ret > 0) ||
	       lbx_misuse("'%s' is not a graph's number, such as 3 or graph-3.lb", text);
}

bool lbx_listing_line_by_target(void *target, uint64_t pc, struct lbx_source_line *ret)
{
	return lbx_target_source_line(target, pc - 1, ret);
}

static void visit_line(struct lbx_table *table, const struct lbx_listing *listing, uint32_t line, uint64_t ids_at,
		       lbx_line_tensor_fn *fn, void *context)
{
	struct lbx_tensors *tensors = lbx_table_tensors(table);
	const struct lbx_listing_line *from = &listing->lines[line - 1];
	uint32_t n = listing->n_lines + listing->n_inputs;
	lb_auto_free uint64_t *ids = calloc(n, sizeof *ids);
	char label[LBX_LABEL_MAX];
	struct lbx_tensor t;

	if (!ids || !lbx_table_listed_ids(table, ids_at, n, ids))
		return;
	for (uint32_t i = 0; i <= from->n_operands; i++) {
		uint32_t place = i == 0 ? line - 1 : from->operands[i - 1] - 1;
		uint64_t id = ids[place];
		ids[place] = 0; /* one that is an operand twice is shown once */
		if (id == 0 || !lbx_tensors_by_id(tensors, id, &t))
			continue;
		lbx_listing_label(listing, place, label, sizeof label);
		if (!fn(context, label, i > 0, &t))
			break;
	}
}

bool lbx_graph_tensors(struct lbx_table *table, uint64_t tid, const struct lbx_source_line *line,
		       lbx_line_tensor_fn *fn, void *context)
{
	struct lbx_thread thread;
	struct lbx_eval_graph graph;
	struct lbx_listing listing;
	bool clean = lb_ok();
	uint64_t id, slot = 0;

	if (sscanf(line->function, "eval(graph %" SCNu64 ")", &id) != 1)
		return false;
	if (lbx_table_graph_by_id(table, id, &graph) && lbx_table_listing(table, &graph, &listing)) {
		while (line->line > 0 && (uint32_t)line->line <= listing.n_lines &&
		       lbx_table_thread(table, &slot, &thread)) {
			if (thread.tid != tid)
				continue;
			if (thread.graph == id)
				visit_line(table, &listing, (uint32_t)line->line, thread.tensors, fn, context);
			break;
		}
		lbx_listing_deinit(&listing);
	}
	if (clean)
		lb_clear_error();
	return true;
}

bool lbx_graph_line(struct lbx_table *table, uint64_t pc, struct lbx_source_line *ret)
{
	struct lbx_eval_graph graph;
	struct lbx_listing listing;
	uint64_t slot = 0;
	bool clean = lb_ok();

	while (lbx_table_graph(table, &slot, &graph)) {
		if (pc < graph.code || pc - graph.code >= graph.code_bytes)
			continue;
		memset(ret, 0, sizeof *ret);
		snprintf(ret->function, sizeof ret->function, "eval(graph %" PRIu64 ")", graph.id);
		if (lbx_table_listing(table, &graph, &listing)) {
			snprintf(ret->file, sizeof ret->file, "graph-%" PRIu64 ".lb", graph.id);
			ret->line = (int)lbx_listing_line_at(&listing, pc - graph.code);
			lbx_listing_deinit(&listing);
		}
		if (clean)
			lb_clear_error();
		return true;
	}
	return false;
}

/* ---- values ---- */

/* "= [-1.5,2] 1 NaN" */
static void describe_digest(const struct lbx_digest *d, char *ret, size_t size)
{
	int n = d->count == d->nan ? snprintf(ret, size, "=") : snprintf(ret, size, "= [%.6g,%.6g]", d->min, d->max);

	if (d->nan && n < (int)size)
		n += snprintf(ret + n, size - (size_t)n, " %" PRId64 " NaN", d->nan);
	if (d->inf && n < (int)size)
		snprintf(ret + n, size - (size_t)n, " %" PRId64 " Inf", d->inf);
}

static int by_known_id(const void *left, const void *right)
{
	const struct known *a = left, *b = right;
	return a->id < b->id ? -1 : a->id > b->id;
}

static struct known *known_of(const struct lister *l, uint64_t id)
{
	struct known key = { .id = id };
	return l->n_known ? bsearch(&key, l->known, l->n_known, sizeof key, by_known_id) : NULL;
}

/* What the threads that evaluate this graph have computed so far. */
static bool note_computed(struct lister *l, uint64_t graph)
{
	struct lbx_thread thread;
	uint64_t slot = 0, *ids = malloc(l->listing->n_lines * sizeof *ids);
	bool done = ids || lb_fail("out of memory");

	while (done && lbx_table_thread(l->table, &slot, &thread)) {
		uint32_t n = thread.line < l->listing->n_lines ? (uint32_t)thread.line : l->listing->n_lines;
		done = lbx_progress(l->context->out, "looking at the threads", (int64_t)slot, 0);
		if (!done || thread.graph != graph || !thread.tensors || n == 0)
			continue;
		bool clean = lb_ok();
		if (!lbx_table_listed_ids(l->table, thread.tensors, n, ids)) {
			if (clean)
				lb_clear_error();
			continue;
		}
		for (uint32_t i = 0; i < n; i++) {
			struct known *known = ids[i] == thread.tensor ? NULL : known_of(l, ids[i]);
			if (known)
				known->eval = thread.eval;
		}
	}
	free(ids);
	return done;
}

/* Where the lines' tensors are: one walk, not one for each line. */
static bool find_tensors(struct lister *l, uint64_t graph)
{
	enum { OFTEN = 4096 };
	struct lbx_tensors *tensors = lbx_table_tensors(l->table);
	struct lbx_tensor t;
	uint64_t slot = 0, unreadable = 0;
	size_t walked = 0;

	if (!l->ranges || lbx_target_waits(l->context->target))
		return true;
	l->known = malloc(l->listing->n_lines * sizeof *l->known);
	if (!l->known)
		return lb_fail("out of memory for the tensors of %u lines", l->listing->n_lines);
	for (uint32_t i = 0; i < l->listing->n_lines; i++)
		if (l->tensors[i])
			l->known[l->n_known++] = (struct known){ .id = l->tensors[i] };
	qsort(l->known, l->n_known, sizeof *l->known, by_known_id);
	while (lbx_tensors_next(tensors, &slot, &t, &unreadable) == LBX_NEXT_TENSOR) {
		if (++walked % OFTEN == 0 && !lbx_progress(l->context->out, "looking at the tensors", (int64_t)slot, 0))
			return false;
		struct known *known = known_of(l, t.id);
		if (known)
			known->address = t.address;
	}
	return note_computed(l, graph);
}

static void write_value(void *context, uint32_t i, char *ret, size_t size)
{
	struct lister *l = context;
	struct lbx_tensors *tensors = lbx_table_tensors(l->table);
	struct lbx_tensor t;
	struct lbx_array array;
	struct lbx_digest digest;

	*ret = '\0';
	if (l->tensors[i] == 0)
		return;
	snprintf(ret, size, "#%" PRIu64, l->tensors[i]);
	if (!l->ranges || lbx_target_waits(l->context->target))
		return;
	size_t n = strlen(ret);
	const struct known *known = known_of(l, l->tensors[i]);
	bool found =
	    known && known->address && lbx_tensors_by_address(tensors, known->address, &t) && t.id == known->id;
	if (found && t.state == LBX_EVALUATING && !t.torn && t.data && known->eval == t.eval)
		t.state = LBX_READY;
	if (!found)
		snprintf(ret + n, size - n, " is gone");
	else if (t.state != LBX_READY)
		snprintf(ret + n, size - n, " is %s", lbx_state_name(t.state));
	else if (t.size > 0 && lbx_array_of_tensor(l->context->target, &t, &array) &&
		 lbx_digest(&array, l->context->out, &digest))
		describe_digest(&digest, ret + n + 1, size - n - 1), ret[n] = ' ';
	lb_clear_error();
}

static bool line(void *context, uint64_t pc, struct lbx_source_line *ret)
{
	const struct lister *l = context;

	return lbx_listing_line_by_target(l->context->target, pc, ret);
}

/* ---- JSON ---- */

static json_t *json_operands(const struct lbx_listing *listing, const struct lbx_listing_line *from)
{
	json_t *list = json_array();
	char label[LBX_LABEL_MAX];

	for (uint32_t i = 0; i < from->n_operands; i++) {
		lbx_listing_label(listing, from->operands[i] - 1, label, sizeof label);
		json_array_append_new(list, lbx_json_string(label));
	}
	return list;
}

static json_t *json_line(struct lister *l, uint32_t i)
{
	const struct lbx_listing_line *from = &l->listing->lines[i];
	struct lbx_source_line at = { .line = 0 };
	char label[LBX_LABEL_MAX], value[256];

	lbx_listing_label(l->listing, i, label, sizeof label);
	bool known = from->site && line(l, from->site, &at) && at.file[0];
	json_t *o = json_pack("{s:i,s:o,s:s,s:o,s:s,s:o,s:o,s:o,s:b}", "line", (int)i + 1, "result",
			      lbx_json_string(label), "op", from->op, "operands", json_operands(l->listing, from),
			      "dtype", lbx_dtype_name(from->dtype), "shape", lbx_json_list(from->shape, from->rank),
			      "file", known ? lbx_json_string(at.file) : json_null(), "file_line",
			      known ? json_integer(at.line) : json_null(), "called", from->code != 0);
	if (l->tensors[i])
		json_object_set_new(o, "tensor", json_integer((json_int_t)l->tensors[i]));
	if (l->ranges) {
		write_value(l, i, value, sizeof value);
		json_object_set_new(o, "value", lbx_json_string(value));
	}
	return o;
}

/* ---- the command ---- */

/* A debugger that has still to be asked for lines is asked for all at once. */
static void ask_lines(struct lister *l)
{
	struct lbx_source_line at;

	for (uint32_t i = 0; i < l->listing->n_lines; i++) {
		if (l->listing->lines[i].site == 0)
			continue;
		line(l, l->listing->lines[i].site, &at);
		if (!lbx_target_waits(l->context->target))
			return;
	}
}

static bool tell_lines(struct lister *l, const struct lbx_eval_graph *graph)
{
	struct lbx_out *out = l->context->out;
	uint32_t n = l->listing->n_lines;
	struct lbx_listing_text text = {
		.graph = graph->id,
		.listing = l->listing,
		.line = line,
		.context = l,
		.value = write_value,
		.numbered = true,
	};

	lbx_begin(out, NULL);
	LBX_KEYS(out, json_pack("{s:I,s:o,s:I}", "graph", (json_int_t)graph->id, "trace_of",
				lbx_json_text(l->listing->title), "runs", (json_int_t)graph->runs));
	lbx_begin_list(out, "lines");
	for (uint32_t i = 0; out->json && i < n; i++) {
		LBX_KEY(out, NULL, json_line(l, i));
		if (!lbx_progress(out, "writing the listing", i, n))
			return false;
	}
	lbx_end(out);
	if (!out->json && !lbx_listing_write(out, &text, 0, n))
		return false;
	lbx_end(out);
	return lb_ok();
}

static bool tell_one(struct lister *l, const struct lbx_eval_graph *graph)
{
	struct lbx_out *out = l->context->out;
	struct lbx_listing listing;
	bool ok;

	if (!lbx_table_listing(l->table, graph, &listing))
		return false;
	l->listing = &listing;
	l->tensors = malloc(listing.n_lines * sizeof *l->tensors);
	ok = l->tensors ? lbx_table_listed_ids(l->table, graph->tensors, listing.n_lines, l->tensors)
			: lb_fail("out of memory");
	ok = ok && find_tensors(l, graph->id);
	if (ok)
		ask_lines(l);
	ok = ok && tell_lines(l, graph);
	lbx_set_int(out, "tensor_count", listing.n_lines);
	free(l->tensors);
	free(l->known);
	lbx_listing_deinit(&listing);
	return ok;
}

static int by_id(const void *left, const void *right)
{
	const struct lbx_eval_graph *a = left, *b = right;
	return a->id < b->id ? -1 : a->id > b->id;
}

static void print_title(struct lbx_out *out, const char *title)
{
	char name[LB_NAME_MAX + 1];

	snprintf(name, sizeof name, "%s", title);
	lbx_make_printable(name);
	lbx_printf(out, "the trace of compiled function %s", name);
}

/* "graph-3.lb: 12 ops, 2 evaluations, 1 under way; y = softmax(%11)" */
static void tell_summary(struct lister *l, const struct lbx_eval_graph *graph)
{
	struct lbx_out *out = l->context->out;
	struct lbx_listing listing;
	char label[LBX_LABEL_MAX];

	LBX_KEY(out, NULL,
		json_pack("{s:I,s:I,s:I,s:o}", "graph", (json_int_t)graph->id, "runs", (json_int_t)graph->runs,
			  "running", (json_int_t)graph->running, "code", lbx_json_address(graph->code)));
	lbx_wrap(out, 0, 4);
	lbx_styled(out, LBX_FILE, "graph-%" PRIu64 ".lb", graph->id);
	lbx_printf(out, ": ");
	if (lbx_table_listing(l->table, graph, &listing)) {
		const struct lbx_listing_line *last = &listing.lines[listing.n_lines - 1];
		struct lbx_source_line at = { .line = 0 };
		lbx_listing_label(&listing, listing.n_lines - 1, label, sizeof label);
		lbx_printf(out, "%u op%s, ", listing.n_lines, LB_S(listing.n_lines));
		if (listing.title[0])
			print_title(out, listing.title);
		else
			lbx_printf(out, "%" PRIu64 " evaluation%s", graph->runs, LB_S(graph->runs));
		if (graph->running)
			lbx_printf(out, ", %" PRIu64 " under way", graph->running);
		lbx_printf(out, "; the last op gives ");
		lbx_styled(out, LBX_NAME, "%s", label);
		const char *slash;
		if (last->site && line(l, last->site, &at) && at.file[0]) {
			slash = strrchr(at.file, '/');
			lbx_printf(out, ", made at %s:%d", slash ? slash + 1 : at.file, at.line);
		}
		lbx_listing_deinit(&listing);
	} else {
		lbx_styled(out, LBX_WARNING, "%s", lb_error_message());
		lb_clear_error();
	}
	lbx_printf(out, "\n");
}

bool lbx_step_refusal(struct lbx_context *context, const struct lbx_root *root, char *ret, size_t size)
{
	if (root->counters.unstepped == 0)
		return false;
	if (!root->step_refusal || !lbx_target_read_string(context->target, root->step_refusal, ret, size)) {
		lb_clear_error();
		snprintf(ret, size, "why cannot be read");
	}
	lbx_make_printable(ret);
	return true;
}

void lbx_tell_unstepped(struct lbx_context *context, const struct lbx_root *root)
{
	uint64_t n = root->counters.unstepped;
	char why[LB_FLIGHT_TEXT_BYTES];

	if (!lbx_step_refusal(context, root, why, sizeof why))
		return;
	lbx_wrap(context->out, 0, 4);
	lbx_styled(context->out, LBX_WARNING, "%" PRIu64 " evaluation%s could not be stepped through", n, LB_S(n));
	lbx_printf(context->out, ". The newest: %s.\n", why);
}

static bool tell_all(struct lister *l)
{
	struct lbx_root root;
	struct lbx_out *out = l->context->out;
	lb_auto_free struct lbx_eval_graph *list = malloc(GRAPHS_MOST * sizeof *list);
	uint64_t slot = 0;
	int n = 0;

	if (!list)
		return lb_fail("out of memory");
	while (n < GRAPHS_MOST && lbx_table_graph(l->table, &slot, &list[n]))
		n++;
	qsort(list, (size_t)n, sizeof *list, by_id);
	lbx_begin_list(out, NULL);
	for (int i = 0; i < n; i++)
		tell_summary(l, &list[i]);
	lbx_end(out);
	if (n == 0) {
		lbx_wrap(out, 0, 4);
		lbx_printf(out, "No graph was evaluated in step mode (LAZYBONES_STEP=1, or `tensor step on`).\n");
	}
	if (lbx_table_root(l->table, &root))
		lbx_tell_unstepped(l->context, &root);
	lbx_set_int(out, "tensor_count", n);
	return lb_ok();
}

static bool run_listing(struct lbx_context *context, const struct lbx_args *args)
{
	struct lister l = { .context = context, .ranges = lbx_args_option(args, "ranges") };
	struct lbx_eval_graph graph;
	uint64_t id;

	if ((args->n && !lbx_parse_graph(args->v[0], &id)) || !lbx_context_table(context, &l.table))
		return false;
	if (args->n == 0)
		return tell_all(&l);
	return lbx_table_graph_by_id(l.table, id, &graph) && tell_one(&l, &graph);
}

const struct lbx_command lbx_command_listing = {
	.name = "listing",
	.arguments = "[N]",
	.summary = "list the graphs of step mode, or the ops of graph N",
	.help = "Line L of graph N is line L of its source graph-N.lb: the result's name (or its\n"
		"line, %L), the op with its operands, dtype, shape, the program's line that made\n"
		"it, and the tensor's id in the last evaluation. Step mode is set by `tensor step`\n"
		"in gdb, by LAZYBONES_STEP=1 in the environment, or by lb_set_step_mode().\n"
		"Example: listing 3 --ranges",
	.max_args = 1,
	.needs = LBX_NEEDS_RUNTIME,
	.options = {
		{ "ranges", NULL, "with the smallest and largest value of what still exists" },
	},
	.run = run_listing,
};
