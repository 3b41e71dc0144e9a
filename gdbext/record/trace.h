/* The trace of a session: all that was asked and answered, where the program stood, and which tensors were there.
 *
 * It is two files. A journal, NAME.jsonl, gets each record as a line when it happens: one write, however long the
 * trace is; what is killed after that has lost nothing. NAME.json has the whole, {"session":…, "records":[…]}, and
 * is written anew (a temporary file, fsync, rename) after each record while it is short, later each time it has grown by
 * half, and at the end, when the journal goes. A thread of its own does that. Where a server was killed, its journals are
 * made into whole files when the next one begins (lbx_traces_mend()). */
#ifndef LBX_RECORD_TRACE_H
#define LBX_RECORD_TRACE_H

#include <stdbool.h>

#include <jansson.h>

struct lbx_trace;

/* Where gdb is to leave a trace of its own: what LAZYBONES_TRACE names. NULL: nowhere. */
const char *lbx_trace_wanted(void);
/* FOLDER/NAME_YYYYMMDD_HHMMSS.json, with a number where that is taken; `about` is told at its head, and taken over. */
bool lbx_trace_open(const char *folder, const char *name, json_t *about, struct lbx_trace **ret);
/* Adds a number and the time. Takes the record over. */
bool lbx_trace_add(struct lbx_trace *trace, json_t *record);
/* Writes the whole file; what is added later fails. NULL is fine. */
void lbx_trace_end(struct lbx_trace *trace);
/* Once it has ended, and nobody adds any more. */
void lbx_trace_destroy(struct lbx_trace *trace);
const char *lbx_trace_path(const struct lbx_trace *trace);

/* Whether traces can be kept in the folder, which is made where it is missing, and not left behind. */
bool lbx_traces_try(const char *folder);
/* Makes whole files of journals that were left in the folder, and removes traces beyond the newest `keep` and those
 * older than so many seconds; negative: none are removed. *mended, *removed: how many. */
bool lbx_traces_mend(const char *folder, int *mended);
bool lbx_traces_clean(const char *folder, int keep, double older_than, int *removed);

#endif
