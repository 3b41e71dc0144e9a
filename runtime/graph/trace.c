#include "graph/trace.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/vector.h"

struct lb_trace *lb_trace_begin(void)
{
	struct lb_self *self = lb_self();
	if (!self)
		return NULL;
	if (!self->trace) {
		self->trace = calloc(1, sizeof *self->trace);
		if (!self->trace) {
			lb_fail("out of memory for a trace");
			return NULL;
		}
		/* the rest of the block in use */
		if (self->next_id != self->end_id)
			lb_trace_note_ids(self->trace, self->end_id - LB_ID_BLOCK);
	}
	self->trace->depth++;
	return self->trace;
}

void lb_trace_end(struct lb_trace *trace)
{
	if (--trace->depth > 0)
		return;
	lb_self()->trace = NULL;
	free(trace->blocks);
	free(trace);
}

void lb_trace_note_ids(struct lb_trace *trace, uint64_t first)
{
	if (!lb_reserve(trace->blocks, trace->capacity, trace->n_blocks + 1)) {
		trace->incomplete = true;
		return;
	}
	trace->blocks[trace->n_blocks++] = first;
}

bool lb_trace_has(const struct lb_trace *trace, uint64_t id)
{
	size_t low = 0, high = trace->n_blocks;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (trace->blocks[middle] <= id)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && id - trace->blocks[low - 1] < LB_ID_BLOCK;
}
