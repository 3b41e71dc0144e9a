/* Traces of sessions, as record/trace.h writes them. */
#ifndef LBX_SERVE_TRACE_READ_H
#define LBX_SERVE_TRACE_READ_H

#include <stdbool.h>

#include <jansson.h>

/* {"session":…, "records":[…]}, of a whole file, or of a journal (NAME.jsonl) as far as it goes. A new object. */
bool lbx_trace_read(const char *path, json_t **ret);

#endif
