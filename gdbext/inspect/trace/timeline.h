/* A timeline of a running program in the JSON array form of the Trace Event Format, which
 * ui.perfetto.dev and chrome://tracing load: https://chromium.googlesource.com/catapult, "Trace
 * Event Format". Evaluations and operations are slices in a row a thread, memory and tensors are
 * counters; misuse, implicit evaluations, NaN, errors and compilations are marked.
 *
 * It is written as it goes, whole events at a time. The format lets the closing bracket be absent:
 * whatever ends early leaves a file that loads. Events come from the flight recorder; those that
 * were overwritten before they could be read are counted, and marked. */
#ifndef LBX_TIMELINE_H
#define LBX_TIMELINE_H

#include "inspect/command.h"

struct lbx_timeline;

struct lbx_timeline_totals {
	uint64_t events, lost, evals, ops;
};

/* The context's target runs. The events after number `seen` are taken, as far as the recorder holds them
 * still; LBX_TIMELINE_NOW: those to come. Several programs may share a file, written to one context->out:
 * `begun`, false at first, is theirs together. */
enum { LBX_TIMELINE_ALL = 0 };
#define LBX_TIMELINE_NOW UINT64_MAX
bool lbx_timeline_create(struct lbx_context *context, uint64_t seen, bool *begun, struct lbx_timeline **ret);
void lbx_timeline_destroy(struct lbx_timeline *timeline); /* NULL is fine */
/* Writes to context->out what has happened since. `last`: the program stands still. False when it
 * cannot be read any more. */
bool lbx_timeline_poll(struct lbx_timeline *timeline, bool last);
/* What is still open; the totals are added to *ret. */
void lbx_timeline_end(struct lbx_timeline *timeline, struct lbx_timeline_totals *ret);
/* The closing bracket. */
void lbx_timeline_close(struct lbx_out *out);

#endif
