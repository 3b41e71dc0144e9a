/* Decodes the runtime's symbol table (runtime/symtab.h) through a target. It trusts
 * nothing: the root is checked once and refused by the name of the field that is wrong;
 * every record is checked again when it is read. */
#ifndef LBX_TABLE_H
#define LBX_TABLE_H

#include "tensors/tensors.h"

struct lbx_table;

/* Finds, reads and checks the root. The target must outlive the table. */
bool lbx_table_create(struct lbx_target *target, struct lbx_table **ret);
void lbx_table_destroy(struct lbx_table *table); /* NULL is fine */
/* True if the root is still there and the same process' (cheap: two small reads). To be called
 * before a table is used that was opened before the program ran: it forgets what was read. */
bool lbx_table_valid(struct lbx_table *table);

struct lbx_tensors *lbx_table_tensors(struct lbx_table *table); /* NULL of NULL */

enum { LBX_WHY_MAX = 256 };

struct lbx_root {
	uint64_t address;
	unsigned major, minor;
	char version[16];
	uint64_t pid;
	int64_t rank;
	uint64_t last_eval; /* number of the newest evaluation; 0: there has been none */
	uint64_t n_tensor_slots, n_buffer_slots;
	struct lb_counters counters; /* all 0 where they cannot be read */
	char uncounted[LBX_WHY_MAX]; /* why they cannot, or "" */
	uint32_t want_stack, watch_all, strided, step, event_mode;
	uint64_t timed_until;
	uint64_t watch_memory, watch_graph; /* UINT64_MAX: no limit */
	int64_t watch_low, watch_high;
	/* addresses that a debugger writes to */
	uint64_t want_stack_at, watch_all_at, strided_at, step_at, event_mode_at,
	    timed_until_at; /* 0: a field that it does not have */
	uint64_t watch_memory_at, watch_graph_at, watch_low_at, watch_high_at, watch_patterns_at;
	char watch_patterns[LB_WATCH_PATTERNS][LB_PATTERN_BYTES];
	uint32_t log; /* likewise */
	uint64_t log_at, log_names_at, log_file_at;
	uint64_t step_refusal; /* as in symtab.h; 0 without */
	uint64_t program, loader; /* as in symtab.h */
};
/* Reads the root afresh: counters change. Without them, as in a core that is cut, the rest is there. */
bool lbx_table_root(struct lbx_table *table, struct lbx_root *ret);
/* Where in a tensor's record of this program these fields are: the address of its name, its op, dtype and rank (a
 * byte each), its `watch` (of 32 bits), and of 64 bits what else there is; `data`: in its buffer's. 0: it has none. */
struct lbx_tensor_offsets {
	uint64_t name, op, watch, dtype, rank, size, offset, buffer, shape, data;
};
struct lbx_tensor_offsets lbx_table_offsets(struct lbx_table *table);
/* The program's number of a dtype, -1 if it has none such. */
int lbx_table_dtype_number(const struct lbx_table *table, enum lb_dtype dtype);
/* The program's number of an op, -1 if it has none of the name. */
int lbx_table_op_number(const struct lbx_table *table, const char *name);
struct lbx_thread {
	uint64_t tid, eval, tensor, at_once, done, total, started_ns, waits_for;
	uint64_t site; /* of the call that evaluates, or did last */
	uint64_t graph, line, tensors; /* in step mode; else 0 */
};
/* The next freed tensor whose slot has not been used again, at or after *slot, which moves past it;
 * false at the end. It has neither name nor buffer any more. */
bool lbx_table_next_freed(struct lbx_table *table, uint64_t *slot, struct lbx_tensor *ret);

/* The next thread that evaluates or has evaluated, at or after *slot, which moves past it; false
 * without error when there is none. */
bool lbx_table_thread(struct lbx_table *table, uint64_t *slot, struct lbx_thread *ret);

/* The streams that have been used, or were given a name. */
struct lbx_stream {
	uint64_t id, thread, queued, done, failed, eval;
	char name[LB_NAME_MAX + 1]; /* "" without one */
	char error[512];            /* the last failure's message; "" without one */
};
/* The next one at or after *slot, which moves past it; false without error when there is none. */
bool lbx_table_stream(struct lbx_table *table, uint64_t *slot, struct lbx_stream *ret);

/* The functions that are compiled; texts that cannot be read are "". */
struct lbx_compiled {
	uint64_t id, function, context, site;
	uint64_t calls, hits, compiles, evictions, entries, limit, traced, built;
	uint64_t captured, n_captured, captured_bytes; /* of the last graph: as in symtab.h */
	uint64_t tracing, checks, stale, stale_site;   /* likewise */
	bool shapeless, torn;
	char name[LB_NAME_MAX + 1], reason[256], stale_text[512];
};
/* The next one at or after *slot, which moves past it; false without error when there is none. */
bool lbx_table_compiled(struct lbx_table *table, uint64_t *slot, struct lbx_compiled *ret);
/* The i-th of the tensors that its last graph holds. False, without an error: it is not there any more, or there are i. */
bool lbx_table_captured(struct lbx_table *table, const struct lbx_compiled *compiled, uint64_t i,
			struct lbx_tensor *ret);

/* The graphs that were evaluated in step mode. */
struct lbx_eval_graph {
	uint64_t address; /* of its record */
	uint64_t id, listing, code, code_bytes, tensors, runs, running;
};
/* The next one at or after *slot, which moves past it; false without error when there is none. */
bool lbx_table_graph(struct lbx_table *table, uint64_t *slot, struct lbx_eval_graph *ret);
bool lbx_table_graph_by_id(struct lbx_table *table, uint64_t id, struct lbx_eval_graph *ret);
/* The one whose record is at an address. */
bool lbx_table_graph_at(struct lbx_table *table, uint64_t address, struct lbx_eval_graph *ret);

#endif
