/* The JIT reader: what gdb loads. It learns from the runtime's one JIT entry where the
 * symbol table is, and gives the bridge its moments on gdb's main thread.
 *
 * The rooms of the plugin. Each uses those above it, and none below:
 *
 *   bridge/    the way from a gdb command to C and back: a line comes, questions are asked of gdb, a script
 *              answers. Also the scripts themselves (definitions.c, script.c) and gdb's hooks
 *   reads/     what gdb knows, as the inspections want it: the program as a target, its core, its stacks
 *   symbols/   what gdb is told: variables of the tensors, names of addresses, listings of graphs
 *   stops/     where the program stops: catch, break and step, the switches in the runtime; beneath them the
 *              register of the plugin's breakpoints
 *   ggml/      how a program that nobody has prepared is made to stop at ggml's nodes, for stops/
 *   mlx/       likewise, at the evaluations of MLX's arrays
 *   torch/     likewise, why that is not possible at PyTorch's tensors
 *   commands/  the table of the rows that gdb has, the lines that its scripts send by themselves, and what runs them
 *
 * A command's row stands at the foot of its function's file, in whatever room; commands.def lists those that only gdb
 * has.
 *
 * In stops/: breakpoints, probes and evaluation know nothing of each other or of what is above them. catch_kinds says what can be
 * caught; catch_words, catch_forms and catch_watch take a catch from the user's words, to text and gdb's conditions, and to
 * the words that make the runtime look. nodes.h is what catches need of a room that makes nodes of graphs stop, guests has all of
 * these rooms, and node_look sees what a catch wants there; call_words and caller are what such rooms share. catches holds those that are set; catch and uncatch set and end them, break sets
 * them by op, catch_arm and catch_nodes give them to a program that comes, and catch_stop tells of a stop. switches, step
 * and follow (whose thread is follow_reader) are beside it. program, on top, gives a program that comes what catches and switches want of it, and takes it back.
 *
 * In ggml/: found is what the program has, slots writes to ggml's schedulers, own calls the callback that was there,
 * forward does without a scheduler; conditions is what gdb checks; provider puts them together. In mlx/: known is how the process'
 * arrays are read, asked what is to be computed, watched what catches of values wait for; provider puts them together. */
#include <gdb/jit-reader.h>
#include <stdio.h>

#include "base/error.h"
#include "lazybones.h"
#include "plugin/bridge/bridge.h"
#include "plugin/bridge/script.h"
#include "plugin/commands/commands.h"
#include "plugin/ggml/provider.h"
#include "plugin/mlx/provider.h"
#include "plugin/reads/selected.h"
#include "plugin/reads/target_gdb.h"
#include "plugin/stops/guests.h"
#include "plugin/stops/step.h"
#include "plugin/symbols/address_names.h"
#include "plugin/symbols/graph_files.h"
#include "plugin/symbols/graphs.h"
#include "plugin/torch/provider.h"
#include "symtab.h"
#include "target/printable.h"

#pragma GCC visibility push(default)
GDB_DECLARE_GPL_COMPATIBLE_READER;
#pragma GCC visibility pop

static enum gdb_status read_entry(struct gdb_reader_funcs *self, struct gdb_symbol_callbacks *cb, void *memory,
				  long memory_size)
{
	const struct lb_symfile *file = memory;

	(void)self;
	if (memory_size >= (long)sizeof(*file) && file->magic == LB_GRAPHFILE_MAGIC) {
		lbx_graphs_write((lbx_bridge_read *)cb->target_read, file->root);
		return GDB_FAIL; /* gdb reads the object itself */
	}
	if (memory_size < (long)sizeof(*file) || file->magic != LB_SYMFILE_MAGIC)
		return GDB_FAIL; /* somebody else's code: gdb reads it as ELF */
	lbx_target_gdb_remember_root(file->root);
	lbx_address_names_publish(cb);
	return GDB_SUCCESS;
}

static enum gdb_status unwind(struct gdb_reader_funcs *self, struct gdb_unwind_callbacks *cb)
{
	(void)self;
	lbx_graphs_restore((lbx_bridge_read *)cb->target_read);
	lbx_selected_gdb_look(cb);
	lbx_bridge_serve((lbx_bridge_read *)cb->target_read);
	lbx_selected_gdb_look(NULL);
	return GDB_FAIL; /* never our frame */
}

static struct gdb_frame_id get_frame_id(struct gdb_reader_funcs *self, struct gdb_unwind_callbacks *cb)
{
	(void)self;
	(void)cb;
	return (struct gdb_frame_id){ 0, 0 }; /* gdb asks only after a GDB_SUCCESS of unwind() */
}

static void destroy(struct gdb_reader_funcs *self)
{
	(void)self; /* everything stays: the commands are still defined */
}

static struct gdb_reader_funcs functions = {
	.reader_version = GDB_READER_INTERFACE_VERSION,
	.read = read_entry,
	.unwind = unwind,
	.get_frame_id = get_frame_id,
	.destroy = destroy,
};

/* gdb crashes on NULL; for another version it says so and unloads the reader. */
static struct gdb_reader_funcs refusal = {
	.reader_version = GDB_READER_INTERFACE_VERSION + 1,
	.destroy = destroy,
};

/* Called at each jit-reader-load: first by the loader script, which then sources the
 * commands that it finds in the response; later by commands that have no frame. */
LB_API struct gdb_reader_funcs *gdb_init_reader(void)
{
	static bool loaded;

	if (!loaded) {
		/* who has something to do when it has found what there is comes last */
		lbx_guests_give((const struct lbx_nodes_ops *[]){ &lbx_mlx_nodes, &lbx_ggml_nodes, &lbx_torch_nodes,
								  NULL });
		loaded = lbx_bridge_open(lbx_commands_run) && lbx_graph_files_open() && lbx_address_names_open() &&
			 lbx_step_open() && lbx_script_offer(lbx_gdb_tables, lbx_gdb_lines);
		if (!loaded) {
			fprintf(stderr, "lazybones: %s\n", lbx_error_text());
			lb_clear_error();
			return &refusal;
		}
	} else {
		lbx_bridge_serve(NULL);
	}
	return &functions;
}
