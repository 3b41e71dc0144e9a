/* gdb shows the source of a function from a file, which it finds by name along its source path. So
 * the listings are files, written when gdb reads a graph's entry, into a private folder that is
 * removed when gdb ends. The folder is on the source path under the name of a descriptor, so that
 * it need not exist before there is a listing, and each process can have one of its own: gdb
 * remembers what a file with a certain path said.
 *
 * While gdb reads symbols it cannot be asked anything. The program's own source lines come from
 * the debug information of its modules, read here. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/graphs.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "inspect/graph/listing.h"
#include "plugin/bridge.h"
#include "plugin/target_gdb.h"
#include "target/cut.h"
#include "target/lines.h"

enum { FILES_MOST = 600 };

static struct {
	char base[PATH_MAX]; /* of all folders; "" before the first listing */
	pid_t owner;
	unsigned n_folders;
	/* the process whose listings are being written */
	uint64_t root, pid;
	char folder[PATH_MAX + 32];
	int n_files;
	struct lbx_lines *lines;
} graphs;

/* ---- the folder ---- */

static void remove_folder(const char *path, int depth)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char name[PATH_MAX + 300];

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
		if (unlink(name) != 0 && depth > 0)
			remove_folder(name, depth - 1);
	}
	if (dir)
		closedir(dir);
	rmdir(path);
}

__attribute__((destructor)) static void remove_all(void)
{
	if (graphs.base[0] && graphs.owner == getpid())
		remove_folder(graphs.base, 1);
}

static bool make_base(void)
{
	const char *temporary = getenv("TMPDIR");

	if (graphs.base[0])
		return true;
	snprintf(graphs.base, sizeof graphs.base, "%s/lazybones-XXXXXX",
		 temporary && *temporary == '/' ? temporary : "/tmp");
	if (!mkdtemp(graphs.base)) {
		graphs.base[0] = '\0';
		return false;
	}
	graphs.owner = getpid();
	return true;
}

/* The folder of the process with this root. */
static bool enter_folder(const struct lbx_root *root)
{
	if (graphs.folder[0] && graphs.root == root->address && graphs.pid == root->pid)
		return true;
	lbx_lines_destroy(graphs.lines);
	graphs.lines = NULL;
	graphs.folder[0] = '\0';
	if (!make_base())
		return false;
	snprintf(graphs.folder, sizeof graphs.folder, "%s/%u", graphs.base, ++graphs.n_folders);
	if (mkdir(graphs.folder, 0700) != 0 ||
	    !lbx_bridge_place(open(graphs.folder, O_PATH | O_DIRECTORY | O_CLOEXEC), LBX_GRAPHS_FD)) {
		graphs.folder[0] = '\0';
		return false;
	}
	graphs.root = root->address;
	graphs.pid = root->pid;
	graphs.n_files = 0;
	return true;
}

static bool is_kept(struct lbx_table *table, uint64_t id)
{
	struct lbx_eval_graph graph;
	bool found = lbx_table_graph_by_id(table, id, &graph);

	lb_clear_error();
	return found;
}

/* Removes the listings of graphs that the program has dropped. */
static void remove_dropped(struct lbx_table *table)
{
	DIR *dir = opendir(graphs.folder);
	struct dirent *entry;
	uint64_t id;

	graphs.n_files = 0;
	while (dir && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "graph-%" SCNu64 ".lb", &id) != 1)
			continue;
		if (is_kept(table, id))
			graphs.n_files++;
		else
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
}

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
	char path[sizeof graphs.folder + 64], unfinished[sizeof graphs.folder + 64];
	struct lbx_out out = { .width = 0, .write = write_file }; /* a line is a line */

	snprintf(path, sizeof path, "%s/graph-%" PRIu64 ".lb", graphs.folder, graph->id);
	if (access(path, F_OK) == 0)
		return true;
	/* gdb may throw through what reads memory: then it stays, for the next */
	snprintf(unfinished, sizeof unfinished, "%s/unfinished", graphs.folder);
	FILE *file = fopen(unfinished, "we");
	if (!file)
		return false;
	out.context = file;
	bool ok = lbx_listing_write(&out, &text, 0, listing->n_lines) && fflush(file) == 0;
	/* else gdb warns of a source that is newer than the program */
	futimens(fileno(file), (const struct timespec[2]){ { .tv_sec = 1 }, { .tv_sec = 1 } });
	if (fclose(file) != 0 || !ok || rename(unfinished, path) != 0) {
		unlink(unfinished);
		return false;
	}
	if (++graphs.n_files > FILES_MOST)
		remove_dropped(source->table);
	return true;
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

void lbx_graphs_publish(struct gdb_symbol_callbacks *cb, uint64_t record)
{
	lbx_cut_guard(); /* of the modules' files */
	struct lbx_target *target = lbx_target_gdb((lbx_bridge_read *)cb->target_read);
	struct lbx_table *table = NULL;
	struct lbx_listing listing;
	struct lbx_eval_graph graph;
	struct lbx_root root;

	if (lbx_table_create(target, &table) && lbx_table_root(table, &root) &&
	    lbx_table_graph_at(table, record, &graph) && graph.code && enter_folder(&root) &&
	    lbx_table_listing(table, &graph, &listing)) {
		struct source source = { .table = table, .target = target, .root = &root };
		write_listing(&source, &graph, &listing);
		publish(cb, &graph, &listing);
		lbx_listing_deinit(&listing);
	}
	lbx_table_destroy(table);
	lb_clear_error();
	if (lbx_cut_end()) {
		lbx_lines_destroy(graphs.lines);
		graphs.lines = NULL;
	}
}
