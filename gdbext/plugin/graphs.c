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
#include "plugin/graphs.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/graph/listing.h"
#include "plugin/bridge.h"
#include "plugin/graph_files.h"
#include "plugin/target_gdb.h"
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
	return lbx_lines_find(graphs.lines, pc - 1, ret);
}

static void write_file(struct lbx_out *out, const char *text, size_t n)
{
	fwrite(text, 1, n, out->context);
}

static bool write_listing(struct source *source, const struct lbx_eval_graph *graph,
			  const struct lbx_listing *listing)
{
	struct lbx_listing_text text = {
		.graph = graph->id, .listing = listing, .line = source_line, .context = source,
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

/* gdb 13.1 copies a reader's line mapping into memory that it has not cleared, and never says
 * which entries begin a statement: what lay there decides, and a breakpoint slides from a line that
 * seems to begin none. So such memory is made to say so, just before gdb allocates it. The
 * allocator writes into a free block's first 32 bytes: two entries, of which the prologue has the
 * lines. (struct linetable: the number of entries; then each its line, flags, address.)
 *
 * On aarch64 gdb looks for the frame's set-up in the first entry alone, and lets a breakpoint at the
 * function slide to the second: it begins at the last instruction, of 4 bytes there and on x86-64. */
enum { PROLOGUE_ENTRIES = 2, LAST_INSTRUCTION = 4 };

static void prepare_memory(int n_entries)
{
	enum { HEAD = 8, ENTRY = 16, FLAGS = 4, IS_STMT = 1, BLOCKS = 16 };
	size_t bytes = HEAD + (size_t)n_entries * ENTRY;
	unsigned char *blocks[BLOCKS];

	/* once for blocks that the allocator maps: it takes the next of this size from its heap */
	free(malloc(bytes));
	for (int i = 0; i < BLOCKS; i++) {
		/* calloc would pass by the free blocks that gdb is given first */
		blocks[i] = malloc(bytes);
		__asm__ volatile("" : "+r"(blocks[i]));
		if (blocks[i])
			memset(blocks[i], 0, bytes);
		for (int k = 0; blocks[i] && k < n_entries; k++)
			blocks[i][HEAD + k * ENTRY + FLAGS] = IS_STMT;
		/* the compiler must not know that nobody reads it */
		__asm__ volatile("" : : "r"(blocks[i]) : "memory");
		if (bytes > 1 << 16) { /* these are kept one by one */
			free(blocks[i]);
			return;
		}
	}
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
}

static int map_lines(const struct lbx_eval_graph *graph, const struct lbx_listing *listing,
		     struct gdb_line_mapping *map)
{
	int n = 0;

	for (uint32_t i = 0; i < listing->n_lines; i++) {
		uint32_t code = listing->lines[i].code;
		if (code <= LAST_INSTRUCTION || (n && graph->code + code <= map[n - 1].pc))
			continue;
		for (; n < PROLOGUE_ENTRIES; n++)
			map[n] = (struct gdb_line_mapping){ (int)i + 1,
				graph->code + (n ? code - LAST_INSTRUCTION : 0) };
		map[n++] = (struct gdb_line_mapping){ (int)i + 1, graph->code + code };
	}
	map[n++] = (struct gdb_line_mapping){ 0, graph->code + graph->code_bytes };
	return n;
}

static void publish(struct gdb_symbol_callbacks *cb, const struct lbx_eval_graph *graph,
		    const struct lbx_listing *listing)
{
	struct gdb_line_mapping *map =
		malloc(((size_t)listing->n_lines + PROLOGUE_ENTRIES + 1) * sizeof *map);
	char name[64];

	if (!map)
		return;
	int n = map_lines(graph, listing, map);
	snprintf(name, sizeof name, "graph-%" PRIu64 ".lb", graph->id);
	struct gdb_object *object = cb->object_open(cb);
	struct gdb_symtab *symtab = cb->symtab_open(cb, object, name);
	snprintf(name, sizeof name, "eval(graph %" PRIu64 ")", graph->id);
	cb->block_open(cb, symtab, NULL, graph->code, graph->code + graph->code_bytes, name);
	prepare_memory(n);
	cb->line_mapping_add(cb, symtab, n, map);
	cb->symtab_close(cb, symtab);
	cb->object_close(cb, object);
	free(map);
}

/* At once, and by `tensor step`: gdb then shows the graph without lines. */
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

void lbx_graphs_publish(struct gdb_symbol_callbacks *cb, uint64_t record)
{
	lbx_cut_guard(); /* of the modules' files */
	struct lbx_target *target = lbx_target_gdb((lbx_bridge_read *)cb->target_read);
	struct lbx_table *table = NULL;
	struct lbx_listing listing;
	struct lbx_eval_graph graph;
	struct lbx_root root;

	if (lbx_table_create(target, &table) && lbx_table_root(table, &root) &&
	    lbx_table_graph_at(table, record, &graph) && graph.code &&
	    lbx_table_listing(table, &graph, &listing)) {
		struct source source = { .table = table, .target = target, .root = &root };
		lb_clear_error();
		if (enter(&source) && write_listing(&source, &graph, &listing)) {
			publish(cb, &graph, &listing);
			graphs.refusal[0] = '\0';
		} else {
			note_refusal(graph.id);
		}
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
		if (!graph.code || lbx_graph_files_has(graph.id) ||
		    !lbx_table_listing(source->table, &graph, &listing))
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
