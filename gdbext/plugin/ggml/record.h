/* ggml's records, as a stop at a node needs them (stops/nodes.h). */
#ifndef LBX_PLUGIN_GGML_RECORD_H
#define LBX_PLUGIN_GGML_RECORD_H

#include "plugin/stops/nodes.h"

bool lbx_stop_record(struct lbx_context *context, uint64_t address, struct lbx_node_record *ret);
bool lbx_stop_lies_in_order(struct lbx_context *context, uint64_t address);
/* The process is another one, or has loaded other modules. */
void lbx_stop_records_forget(void);

#endif
