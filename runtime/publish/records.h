/* The records of the symbol table as C sees them, and how one is changed while a reader may
 * look: see symtab.h. */
#ifndef LB_PUBLISH_RECORDS_H
#define LB_PUBLISH_RECORDS_H

#include "symtab.h"

struct lb_tensor {
	LB_TENSOR_FIELDS(LB_RECORD_FIELD)
};

struct lb_buffer {
	LB_BUFFER_FIELDS(LB_RECORD_FIELD)
};

struct lb_thread {
	LB_THREAD_FIELDS(LB_RECORD_FIELD)
};

struct lb_stream_record {
	LB_STREAM_FIELDS(LB_RECORD_FIELD)
};

struct lb_compiled_record {
	LB_COMPILED_FIELDS(LB_RECORD_FIELD)
};

struct lb_graph_record {
	LB_GRAPH_FIELDS(LB_RECORD_FIELD)
};

/* Between the two, `seq` is odd. One thread at a time changes a record. */
static inline void lb_record_begin(uint32_t *seq)
{
	__atomic_store_n(seq, *seq + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void lb_record_end(uint32_t *seq)
{
	__atomic_store_n(seq, *seq + 1, __ATOMIC_RELEASE);
}

#endif
