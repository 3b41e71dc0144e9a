/* The files that gdb finds the listings of graphs in. */
#ifndef LBX_PLUGIN_GRAPH_FILES_H
#define LBX_PLUGIN_GRAPH_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "table/table.h"

/* Descriptors of gdb's own: the folder of the process that has published last, and the folder of the
 * one before it. */
enum { LBX_GRAPHS_FD = 905, LBX_GRAPHS_BEFORE_FD = 907 };
/* What stands for the source of the tensors' names (address_names.c): a file, for the same reason. */
enum { LBX_TENSORS_FD = 908 };
#define LBX_TENSORS_FILE   "/proc/self/fd/908"
#define LBX_GRAPHS_FOLDERS "/proc/self/fd/905:/proc/self/fd/907"

/* Whether there can be files at all, as far as it is known before the first. */
bool lbx_graph_files_prepare(void);
/* The files from here on are those of the process with this root. */
bool lbx_graph_files_enter(struct lbx_table *table, const struct lbx_root *root);
/* Whether somebody else has removed files, or put some there, since; then false until the next change.
 * Cheap. */
bool lbx_graph_files_touched(void);
bool lbx_graph_files_has(uint64_t graph);
/* The file appears when it is ended; what is begun and never ended goes with the next. */
FILE *lbx_graph_files_begin(void);
bool lbx_graph_files_end(FILE *file, uint64_t graph, bool ok);

#endif
