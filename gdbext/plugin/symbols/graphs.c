/* gdb shows the source of a function from a file, which it finds by name along its source path. So
 * the listings are files, written when gdb reads a graph's entry, into a private folder that is
 * removed when gdb ends (graph_files.c). The folder is on the source path under the name of a
 * descriptor, so that it need not exist before there is a listing, and each process can have one of
 * its own: gdb remembers what a file with a certain path said.
 *
 * While gdb reads symbols it cannot be asked anything. The program's own source lines come from
 * the debug information of its modules, read here. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/symbols/graphs.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "base/error.h"
#include "inspect/graph/listing.h"
#include "plugin/bridge/bridge.h"
#include "plugin/reads/target_gdb.h"
#include "plugin/symbols/graph_files.h"
#include "target/cut.h"
#include "target/lines.h"
#include "target/printable.h"

static struct {
	uint64_t root, pid; /* whose lines they are */
	struct lbx_lines *lines;
	char refusal[LB_ERROR_MAX]; /* why the newest graph has no listing; "" if it has */
} graphs;

/* ---- a listing ---- */

struct source {
	struct lbx_table *table;
	struct lbx_target *target;
	const struct lbx_root *root;
	bool renewed; /* the list of modules, for what was loaded since */
};

static void read_modules(struct source *source)
{
	char program[PATH_MAX] = "";

	lbx_lines_destroy(graphs.lines);
	graphs.lines = NULL; /* gdb may throw through what reads memory */
	if (source->root->program)
		lbx_target_read_string(source->target, source->root->program, program, sizeof program);
	graphs.lines = lbx_lines_of_modules(source->target, program, source->root->loader);
	lb_clear_error();
}

static bool source_line(void *context, uint64_t pc, struct lbx_source_line *ret)
{
	struct source *source = context;

	if (!graphs.lines || (!lbx_lines_known(graphs.lines, pc - 1) && !source->renewed)) {
		read_modules(source);
		source->renewed = true;
	}
	return lbx_lines_find(graphs.lines, pc - 1, 0, ret);
}

static void write_file(struct lbx_out *out, const char *text, size_t n)
{
	fwrite(text, 1, n, out->context);
}

static bool write_listing(struct source *source, const struct lbx_eval_graph *graph, const struct lbx_listing *listing)
{
	struct lbx_listing_text text = {
		.graph = graph->id,
		.listing = listing,
		.line = source_line,
		.context = source,
	};
	struct lbx_out out = { .width = 0, .write = write_file }; /* a line is a line */

	if (lbx_graph_files_has(graph->id))
		return true;
	FILE *file = lbx_graph_files_begin();
	if (!file)
		return false;
	/* gdb may throw through what reads memory */
	out.context = file;
	bool ok = lbx_listing_write(&out, &text, 0, listing->n_lines);
	return lbx_graph_files_end(file, graph->id, ok);
}

static bool enter(struct source *source)
{
	if (graphs.root != source->root->address || graphs.pid != source->root->pid) {
		lbx_lines_destroy(graphs.lines);
		graphs.lines = NULL;
	}
	graphs.root = source->root->address;
	graphs.pid = source->root->pid;
	return lbx_graph_files_enter(source->table, source->root);
}

/* ---- gdb's side ---- */

/* At once, and by `tensor step`: gdb then shows the numbers of lines alone. */
static void note_refusal(uint64_t graph)
{
	if (!graphs.refusal[0])
		fprintf(stderr, "lazybones: no listing of graph %" PRIu64 ": %s\n", graph, lbx_error_text());
	snprintf(graphs.refusal, sizeof graphs.refusal, "%s", lb_error_message());
}

const char *lbx_graphs_refusal(void)
{
	return graphs.refusal[0] ? graphs.refusal : NULL;
}

static void end_reading(struct lbx_table *table)
{
	lbx_table_destroy(table);
	lb_clear_error();
	if (lbx_cut_end()) {
		lbx_lines_destroy(graphs.lines);
		graphs.lines = NULL;
	}
}

void lbx_graphs_write(lbx_bridge_read *read, uint64_t record)
{
	lbx_cut_guard(); /* of the modules' files */
	struct lbx_target *target = lbx_target_gdb(read);
	struct lbx_table *table = NULL;
	struct lbx_listing listing;
	struct lbx_eval_graph graph;
	struct lbx_root root;

	if (lbx_table_create(target, &table) && lbx_table_root(table, &root) &&
	    lbx_table_graph_at(table, record, &graph) && graph.code && lbx_table_listing(table, &graph, &listing)) {
		struct source source = { .table = table, .target = target, .root = &root };
		lb_clear_error();
		if (enter(&source) && write_listing(&source, &graph, &listing))
			graphs.refusal[0] = '\0';
		else
			note_refusal(graph.id);
		lbx_listing_deinit(&listing);
	}
	end_reading(table);
}

static void write_again(struct source *source)
{
	struct lbx_listing listing;
	struct lbx_eval_graph graph;
	uint64_t slot = 0;

	while (lbx_table_graph(source->table, &slot, &graph)) {
		if (!graph.code || lbx_graph_files_has(graph.id) || !lbx_table_listing(source->table, &graph, &listing))
			continue;
		write_listing(source, &graph, &listing);
		lbx_listing_deinit(&listing);
	}
}

void lbx_graphs_restore(lbx_bridge_read *read)
{
	if (!lbx_graph_files_touched())
		return;
	lbx_cut_guard();
	struct lbx_target *target = lbx_target_gdb(read);
	struct lbx_table *table = NULL;
	struct lbx_root root;

	if (lbx_table_create(target, &table) && lbx_table_root(table, &root)) {
		struct source source = { .table = table, .target = target, .root = &root };
		if (enter(&source))
			write_again(&source);
	}
	end_reading(table);
}
