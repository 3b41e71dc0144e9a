/* The files that gdb finds the listings of graphs in. */
#ifndef LBX_PLUGIN_GRAPH_FILES_H
#define LBX_PLUGIN_GRAPH_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "table/table.h"

/* Opens the folders by whose names gdb looks for the files, once in gdb's life. */
bool lbx_graph_files_open(void);
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
