/* The tensor symbol table: the agreement between a running (or dead) program and
 * whatever looks at it from outside.
 *
 * The runtime allocates every tensor and every buffer as a fixed-size record from a
 * few large slabs. The records are the table: publishing a tensor costs nothing
 * beyond creating it. A root describes the slabs, and every field of every record
 * by name, offset and width, so that a reader of another version takes what it
 * knows and ignores the rest.
 *
 * Finding the root, in a process, through a remote stub, or in a core:
 *   - an ELF note (owner "Lazybones", type LB_NOTE_ROOT) in a loaded PT_NOTE: its
 *     descriptor is an int64, the distance from the descriptor itself to the root;
 *   - the dynamic symbol `lb_symtab_root`;
 *   - the one entry of `__jit_debug_descriptor`: its symfile is a struct lb_symfile.
 *
 * Reading it safely:
 *   - check magic and major; take `minor`s and fields that you do not know as they come;
 *   - `seq` of a record is odd while it changes; over stopped memory an odd number
 *     never resolves, so show such a record as torn, and do not wait;
 *   - a freed record keeps `id` and `generation` until it is used again.
 *   - believe nothing: the program may have crashed because it overwrote this.
 *
 * All addresses are those of the program, all integers of its byte order (little
 * endian; the magic reads wrong otherwise). Readers include this header; of the
 * public one it takes only `enum lb_dtype`, `enum lb_step_mode` and LB_MAX_RANK. */
#ifndef LB_SYMTAB_H
#define LB_SYMTAB_H

#include "lazybones.h"

#define LB_SYMTAB_MAGIC 0x0a0d73656e6f427aULL /* "zBones\r\n": text transfers break it */
#define LB_NOTE_OWNER "Lazybones"
#define LB_NOTE_SECTION ".note.lazybones"

enum {
	LB_ABI_MAJOR = 1, /* another major is refused by name */
	LB_ABI_MINOR = 11, /* grows with each field; 8: `watch_graph` is exact; 9: texts of events are stamped */
	LB_NOTE_ROOT = 1, /* note type */
	LB_INLINE_INPUTS = 3,
	LB_PARAMS = 4,
	LB_TIERS = 28, /* a slab directory's length */
	LB_NAME_MAX = 255,
	LB_STACK_MAX = 64,
	LB_EVENT_ARGS = 5,
	LB_FLIGHT_TEXTS = 256, /* the last texts that events point to */
	LB_FLIGHT_TEXT_BYTES = 256,
	LB_FLIGHT_MOST = 1 << 20, /* events that the ring holds at most */
	LB_PROGRAM_INPUTS = 24, /* of a fused tensor, constants included */
	LB_PROGRAM_INSNS = 64,
	LB_WATCH_PATTERNS = 8,
	LB_PATTERN_BYTES = 64, /* with the NUL */
	LB_LOG_BYTES = 256,
};

enum lb_state {
	LB_STATE_FREED,      /* the slot's last owner is gone */
	LB_STATE_LAZY,       /* shape and dtype are known, the value is not */
	LB_STATE_EVALUATING, /* a thread computes it now */
	LB_STATE_READY,      /* buffer, strides and offset are valid */
};

enum lb_tensor_flag {
	LB_FLAG_WEAK = 1 << 0,     /* a weak scalar: takes the other operand's dtype */
	LB_FLAG_DETACHED = 1 << 1, /* `inputs` holds ids, not addresses */
	LB_FLAG_QUEUED = 1 << 2,   /* a job of its stream is to compute it */
	LB_FLAG_FAILED = 1 << 3,   /* one has failed to, and nobody may have heard yet */
	LB_FLAG_UNASKED = 1 << 4,  /* its value has stayed, though nobody has asked for it: a temporary, maybe */
};

/* Bits that a debugger may set in a tensor's `watch`, or in the root's `watch_all`,
 * by writing memory. */
enum lb_watch {
	LB_WATCH_NAN = 1 << 0,    /* look for NaN and Inf; fires the probe `nan` */
	LB_WATCH_EVAL = 1 << 1,   /* fires the probe `eval_tensor` */
	LB_WATCH_RANGE = 1 << 2,  /* look for values outside watch_low to watch_high; `range` */
	LB_WATCH_ACCESS = 1 << 3, /* raw pointers of strided views lead to guarded copies */
	LB_WATCH_CALLS = 1 << 4,  /* compiled functions are called, not their graphs; for the root only */
	LB_WATCH_NAMES = 1 << 5,  /* names are compared with watch_patterns; for the root only */
	LB_WATCH_GROWTH = 1 << 6, /* more than watch_memory is in use already: the probe `memory` fires at the next
				   * growth, once; the runtime takes the bit away; for the root only */
	LB_WATCH_ODD = 1 << 7, /* set by the runtime where it looks for NaN: the value had NaN or Inf */
	LB_WATCH_MASKS =
	    1 << 8, /* with LB_WATCH_NAN: also for -Inf that was put in, as into a mask; for the root only */
	/* bit LB_WATCH_NAMED + i of a tensor, written by the runtime before it fires op_start, nan, range
	 * or eval_tensor: its name matches watch_patterns[i] */
	LB_WATCH_NAMED = 24,
	/* those that are looked at after each operation */
	LB_WATCH_VALUES = LB_WATCH_NAN | LB_WATCH_EVAL | LB_WATCH_RANGE,
};

/* A guarded copy of a view's storage, which a raw pointer leads to while LB_WATCH_ACCESS is set: its
 * pages cannot be touched; the signal that the first touch raises (SIGSEGV) is what a debugger
 * stops at. Then the runtime opens the copy, and the program goes on. Guard i lies at
 * LB_GUARD_BASE + i * LB_GUARD_STRIDE; guard 0 is the table of all: struct lb_guard[LB_GUARDS]. */
#define LB_GUARD_BASE 0x1b0000000000ULL
enum { LB_GUARDS = 64, LB_GUARD_SHIFT = 34 };
#define LB_GUARD_STRIDE (1ULL << LB_GUARD_SHIFT)
struct lb_guard {
	uint64_t id;     /* of the tensor; 0: never used */
	uint64_t tensor; /* address of its record */
	uint64_t site;   /* return address of the call that took the pointer */
	uint64_t data;   /* the pointer */
	uint64_t nbytes; /* mapped */
	uint64_t closed; /* 1 until the first touch */
};

/* Bits of the root's `event_mode`: what an event does besides going into the flight recorder. */
enum lb_event_mode {
	LB_EVENTS_TIMED = 1 << 0,  /* each reads the clock, and every operation is timed */
	LB_EVENTS_MARKED = 1 << 1, /* each is a write() that fails, for strace; buffers get names */
	LB_EVENTS_DETAILED = 1 << 2, /* there are more: buffers that the cache gives and takes */
};

enum lb_buffer_flag {
	LB_BUFFER_FOREIGN = 1 << 0, /* the program's own memory, or a mapped file: then capacity is 0 */
	LB_BUFFER_MAPPED = 1 << 1,  /* from mmap, not from the heap */
	LB_BUFFER_CACHED = 1 << 2,  /* no tensor uses it; kept for the next that fits */
	LB_BUFFER_CONTENT = 1 << 3, /* of a file's content, which the program had in memory: capacity is 0 */
	LB_BUFFER_GUARDED = 1 << 4, /* LB_GUARD_BYTES behind its bytes are LB_GUARD_BYTE */
};
#define LB_GUARD_BYTES 64
#define LB_GUARD_BYTE 0xb7

/* In `eval` of a tensor: a trace has the number, no evaluation. */
#define LB_TRACE (UINT64_C(1) << 63)

/* One tensor. X(type, name, count, meaning): `count` 1 is a scalar field. */
#define LB_TENSOR_FIELDS(X) \
	X(uint32_t, seq, 1, "odd while the record changes") \
	X(uint32_t, generation, 1, "how often the slot has been used") \
	X(uint64_t, id, 1, "number of the tensor, never reused") \
	X(uint64_t, refs, 1, "low half: references; high half: those of scopes") \
	X(uint8_t, state, 1, "enum lb_state") \
	X(uint8_t, dtype, 1, "index into the dtype table") \
	X(uint8_t, rank, 1, "axes") \
	X(uint8_t, op, 1, "index into the op table") \
	X(uint32_t, flags, 1, "enum lb_tensor_flag") \
	X(int64_t, size, 1, "elements") \
	X(int64_t, offset, 1, "elements from the start of the buffer to element 0") \
	X(uint64_t, buffer, 1, "address of the buffer record; 0 while there is none") \
	X(uint64_t, inputs, LB_INLINE_INPUTS, "addresses (ids once detached) of the inputs") \
	X(uint64_t, more_inputs, 1, "address of all the inputs, when they are more") \
	X(uint32_t, n_inputs, 1, "inputs") \
	X(uint32_t, watch, 1, "enum lb_watch, written by debuggers; LB_WATCH_NAMED by the runtime") \
	X(int64_t, params, LB_PARAMS, "what the op was given besides tensors") \
	X(uint64_t, name, 1, "address of a NUL-terminated name; 0 without") \
	X(uint64_t, site, 1, "return address of the call that made it") \
	X(uint32_t, stack, 1, "place in the stack depot, in words; 0 without") \
	X(uint32_t, stream, 1, "stream that evaluates it") \
	X(uint64_t, eval, 1, \
	  "number of the evaluation that claimed or computed it; while lazy, of its trace, with LB_TRACE") \
	X(uint64_t, order, 1, "place in that evaluation's schedule, from 1") \
	X(uint64_t, eval_ns, 1, "nanoseconds the op took; 0 when not measured") \
	X(uint64_t, computed, 1, "evaluations that computed it: several, if they dropped its value") \
	X(uint64_t, thread, 1, "kernel thread id of the thread that made it") \
	X(int64_t, shape, LB_MAX_RANK, "elements along each axis") \
	X(int64_t, strides, LB_MAX_RANK, "elements between neighbours along each axis")

/* One buffer of elements, shared by the tensors that are views of it. */
#define LB_BUFFER_FIELDS(X) \
	X(uint32_t, seq, 1, "odd while the record changes") \
	X(uint32_t, generation, 1, "how often the slot has been used") \
	X(uint64_t, id, 1, "number of the buffer, never reused; 0 when freed") \
	X(uint64_t, data, 1, "address of the first byte") \
	X(int64_t, nbytes, 1, "bytes in use") \
	X(int64_t, capacity, 1, "bytes allocated") \
	X(uint32_t, refs, 1, "tensors that use it") \
	X(uint32_t, flags, 1, "enum lb_buffer_flag") \
	X(uint64_t, tensor, 1, "id of the tensor that has it, or had it last") \
	X(uint64_t, release, 1, "address of the function that takes foreign memory back") \
	X(uint64_t, context, 1, "argument of that function") \
	X(uint64_t, next, 1, "the allocator's own link") \
	X(uint64_t, filled_for, 1, \
	  "id of the tensor that it was filled for: others have only updated it in place since")

/* One thread that evaluates or has evaluated. */
#define LB_THREAD_FIELDS(X) \
	X(uint32_t, seq, 1, "odd while the record changes") \
	X(uint32_t, generation, 1, "how often the slot has been used") \
	X(uint64_t, id, 1, "kernel thread id; 0 when the thread is gone") \
	X(uint64_t, eval, 1, "number of the evaluation it runs; 0 when idle") \
	X(uint64_t, tensor, 1, "id of the tensor whose op runs now; 0 between ops") \
	X(uint64_t, done, 1, "ops finished of this evaluation") \
	X(uint64_t, total, 1, "ops of this evaluation") \
	X(uint64_t, started_ns, 1, "CLOCK_MONOTONIC when it began") \
	X(uint64_t, waits_for, 1, "number of the evaluation it waits for; 0 if it does not") \
	X(uint64_t, graph, 1, "number of the graph that it steps through; 0 outside step mode") \
	X(uint64_t, line, 1, "line of its listing that runs, or ran last; 0 before the first") \
	X(uint64_t, tensors, 1, "address of the ids of its lines' tensors, then its inputs'") \
	X(uint64_t, site, 1, "return address of the call that evaluates, last") \
	X(uint64_t, at_once, 1, "tensors that its op computes: more than 1 where ops are fused") \
	X(uint64_t, scopes, 1, "address of its struct lb_scopes")

/* The open scopes of a thread, and the tensors that they hold. Scope i, the outermost is 0, holds the items from
 * marks[i].first up to the next scope's; what belongs to no scope lies below marks[0].first. It changes without a
 * mark, as often as a tensor is made. */
struct lb_scopes {
	uint64_t items; /* address of the addresses of the tensors' records, uint64_t[n_items] */
	uint64_t n_items;
	uint64_t marks; /* address of struct lb_scope_mark[n_marks] */
	uint64_t n_marks;
};
struct lb_scope_mark {
	uint64_t first; /* item */
	uint64_t site;  /* return address of the call that opened it */
};

/* One stream that has been used: a queue of jobs, and the thread that works on it. */
#define LB_STREAM_FIELDS(X) \
	X(uint32_t, seq, 1, "odd while the record changes") \
	X(uint32_t, generation, 1, "how often the slot has been used") \
	X(uint64_t, id, 1, "number of the stream; 0 is the default one") \
	X(uint64_t, name, 1, "address of a NUL-terminated name; 0 without") \
	X(uint64_t, thread, 1, "kernel thread id of its worker; 0 without") \
	X(uint64_t, queued, 1, "jobs that wait, for their turn or for another stream") \
	X(uint64_t, done, 1, "jobs that have ended") \
	X(uint64_t, failed, 1, "of those, the ones with a tensor that could not be computed") \
	X(uint64_t, eval, 1, "number of the job, and of its evaluation, that runs; 0 when idle") \
	X(uint64_t, error, 1, "address of the last failure's message; 0 without")

/* One function that is compiled (lb_compile). */
#define LB_COMPILED_FIELDS(X) \
	X(uint32_t, seq, 1, "odd while the record changes") \
	X(uint32_t, generation, 1, "how often the slot has been used") \
	X(uint64_t, id, 1, "number, from 1; 0 when freed") \
	X(uint64_t, name, 1, "address of a NUL-terminated name") \
	X(uint64_t, function, 1, "address of the program's function") \
	X(uint64_t, context, 1, "what it is called with") \
	X(uint64_t, site, 1, "return address of the call that made it") \
	X(uint64_t, calls, 1, "calls so far") \
	X(uint64_t, hits, 1, "of those, served by a graph captured before") \
	X(uint64_t, compiles, 1, "graphs captured") \
	X(uint64_t, evictions, 1, "graphs dropped for others") \
	X(uint64_t, entries, 1, "graphs held") \
	X(uint64_t, limit, 1, "graphs held at most") \
	X(uint64_t, shapeless, 1, "1 if a graph serves any sizes of the axes") \
	X(uint64_t, reason, 1, "address of a text: why the last one was captured") \
	X(uint64_t, traced, 1, "tensors that the function made then") \
	X(uint64_t, built, 1, "tensors that a call makes of it") \
	X(uint64_t, captured, 1, \
	  "address of the addresses of the tensors that the last one holds; 0 once it is dropped") \
	X(uint64_t, n_captured, 1, "how many") \
	X(uint64_t, captured_bytes, 1, "of their elements") \
	X(uint64_t, tracing, 1, "traces of it that run now") \
	X(uint64_t, checks, 1, "hits that were traced again (LAZYBONES_COMPILE=check)") \
	X(uint64_t, stale, 1, "of those, the ones whose trace was another than the graph") \
	X(uint64_t, stale_text, 1, "address of a text: how the first of them was another; 0 without") \
	X(uint64_t, stale_site, 1, "return address of the op that was; 0: none alone")

/* One graph that was evaluated in step mode, or that a function was compiled to: its trace, which has
 * no code. Evaluations of equal graphs share it. */
#define LB_GRAPH_FIELDS(X) \
	X(uint32_t, seq, 1, "odd while the record changes") \
	X(uint32_t, generation, 1, "how often the slot has been used") \
	X(uint64_t, id, 1, "number, from 1, never reused; 0 when freed") \
	X(uint64_t, listing, 1, "address of its struct lb_listing") \
	X(uint64_t, code, 1, "address of the code that calls its ops; 0 without") \
	X(uint64_t, code_bytes, 1, "of that code") \
	X(uint64_t, tensors, 1, "address of the ids of its lines' tensors, then its inputs', of the last evaluation") \
	X(uint64_t, runs, 1, "evaluations that began so far") \
	X(uint64_t, running, 1, "of those, the ones under way")

/* Declares a field of a record: LB_TENSOR_FIELDS(LB_RECORD_FIELD) inside a struct. A scalar
 * is an array of one in memory, but not in C. */
#define LB_RECORD_FIELD(type, name, count, meaning) LB_RECORD_FIELD_##count(type, name)
#define LB_RECORD_FIELD_1(type, name) type name;
#define LB_RECORD_FIELD_LB_INLINE_INPUTS(type, name) type name[LB_INLINE_INPUTS];
#define LB_RECORD_FIELD_LB_PARAMS(type, name) type name[LB_PARAMS];
#define LB_RECORD_FIELD_LB_MAX_RANK(type, name) type name[LB_MAX_RANK];

/* The counters of a process. X(name, meaning); bytes where the meaning says so. */
#define LB_COUNTERS(X) \
	X(created, "tensors made") \
	X(freed, "tensors freed") \
	X(evals, "evaluations") \
	X(ops, "operations run") \
	X(fused, "operations run inside a fused chain") \
	X(raw_misuse, "raw pointers handed out for a view that is not row-contiguous") \
	X(implicit_evals, "evaluations that reading a value caused") \
	X(nan_seen, "operations whose result held NaN or Inf while somebody watched") \
	X(errors, "calls that failed") \
	X(active_bytes, "bytes of buffers in use") \
	X(peak_bytes, "largest active_bytes since the last reset") \
	X(cache_bytes, "bytes kept for reuse") \
	X(memory_limit, "bytes; allocation beyond it fails") \
	X(cache_limit, "bytes; the cache is trimmed to it") \
	X(unstepped, "evaluations that step mode could not step through: step_refusal")

struct lb_counters {
#define X(name, meaning) uint64_t name;
	LB_COUNTERS(X)
#undef X
};

/* Name, offset and width of one field; `width` is of one element, of `count`. */
struct lb_field {
	char name[24];
	uint32_t offset;
	uint16_t width;
	uint16_t count;
};

/* Where the records of one kind are. Tier i holds first_tier << i records, in one
 * piece, at tiers[i] (0 when not yet needed); slot numbers run through the tiers.
 * Slots at and above `used` have never been used. */
struct lb_slab_directory {
	char kind[16];
	uint32_t record_size;
	uint32_t n_fields;
	uint64_t fields; /* address of struct lb_field[n_fields] */
	uint64_t first_tier;
	uint64_t used;
	uint64_t tiers[LB_TIERS];
};

enum lb_kind {
	LB_KIND_TENSOR,
	LB_KIND_BUFFER,
	LB_KIND_THREAD,
	LB_KIND_STREAM,
	LB_KIND_COMPILED,
	LB_KIND_GRAPH,
	LB_KINDS
};

/* How an element of a dtype is stored. `kind` is 'b' bool, 'u', 'i', 'f', 'c'. */
struct lb_dtype_info {
	char name[12];
	uint16_t bytes;
	uint8_t kind;
	uint8_t mantissa_bits; /* stored ones; 0 for integers */
};

/* Classes of operations: how one is evaluated. */
enum lb_op_class {
	LB_CLASS_LEAF,
	LB_CLASS_CREATE,
	LB_CLASS_UNARY,
	LB_CLASS_BINARY,
	LB_CLASS_TERNARY,
	LB_CLASS_VIEW,
	LB_CLASS_COPY,
	LB_CLASS_REDUCE,
	LB_CLASS_SOFTMAX,
	LB_CLASS_MATMUL,
	LB_CLASS_CONCATENATE,
	LB_CLASS_GATHER,
	LB_CLASS_KERNEL,
	LB_CLASS_QUANT,
	LB_CLASS_UPDATE,
	LB_CLASS_FUSED,
	LB_CLASSES,
};

struct lb_op_info {
	char name[20];
	uint8_t op_class;
	uint8_t pad[3];
};

/* How a tensor of op `fused` is computed: elementwise operations over registers, each the tensor's
 * shape. Its parameter 0 is the address of this, which other such tensors may share. First come
 * the registers of the tensor's inputs, which broadcast, then the constants', then one an
 * instruction: what that gives. The last one is the tensor's value. Operands come before their
 * instruction; those that an operation does not have are 0. */
#define LB_PROGRAM_MAGIC 0x6d6172676f727066ULL /* "fprogram" */
struct lb_program {
	uint64_t magic;
	uint32_t size; /* of this struct */
	uint32_t refs; /* tensors and captured graphs that use it */
	uint8_t n_inputs, n_constants, n_insns, pad[5];
	uint8_t dtypes[LB_PROGRAM_INPUTS + LB_PROGRAM_INSNS]; /* of each register */
	struct lb_program_insn {
		uint8_t op, a, b, c; /* index into the op table; registers */
	} insns[LB_PROGRAM_INSNS];
	uint64_t constants[LB_PROGRAM_INPUTS]; /* an element each, in its first bytes */
	uint64_t sites[LB_PROGRAM_INSNS]; /* return addresses of the calls that made the operations */
};

/* A graph as a listing: what a debugger shows as the source of an evaluation. In memory follow one
 * another: this; n_lines lines in the order in which they run; n_inputs more of what comes from
 * outside; uint32_t operands[n_operands]; texts. It never changes. */
#define LB_LISTING_MAGIC 0x676e697473696c67ULL /* "glisting" */
struct lb_listing {
	uint64_t magic;
	uint64_t size; /* bytes, texts included */
	uint32_t n_lines, n_inputs;
	uint32_t n_operands, n_calls;
	uint32_t title; /* like a line's name: of the compiled function that this is the trace of */
	uint32_t pad;
};

struct lb_listing_line {
	uint64_t site;       /* return address of the call that made it; 0 when not known */
	uint64_t value;      /* the first bytes of a constant */
	uint32_t name;       /* of a NUL-terminated text, in bytes from the first text; 0 without */
	uint32_t operands;   /* first of its operands: each a line, from 1; beyond n_lines, an input */
	uint32_t n_operands;
	uint32_t code;       /* where its call begins in the code; 0: a later line's call computes it */
	uint8_t op, dtype, rank;
	uint8_t stays;       /* 1: its value is kept when the evaluation has ended */
	uint32_t pad;
	int64_t shape[LB_MAX_RANK];
};

/* One event of the flight recorder, a ring of them: the event with number n lies in slot n modulo
 * the capacity. Another number there: it is being written, or was overwritten; skip it. */
struct lb_flight_event {
	uint64_t number;  /* from 1; written last */
	uint64_t time_ns; /* CLOCK_MONOTONIC when its thread last looked */
	uint32_t thread;  /* kernel thread id */
	uint32_t kind;    /* index into the event kinds */
	uint64_t args[LB_EVENT_ARGS];
};

/* A text that an event points to: an `error`'s message, a `compile`'s name and reason. The event has the
 * address of `text`, and is of that thread and not older than this stamp. Any other stamp: the text has
 * been overwritten by a later event's. */
struct lb_flight_text {
	uint64_t time_ns; /* CLOCK_MONOTONIC when it was written */
	uint32_t thread;
	uint32_t writing; /* 1: it is being written */
	char text[LB_FLIGHT_TEXT_BYTES];
};

/* A kind of event: a probe of the same name. `args` names the arguments: "(id, tensor)". */
struct lb_event_info {
	char name[24];
	char args[64];
	uint32_t n_args;
	uint32_t pad;
};

/* Fields of the root, described by name like those of a record. Everything up to
 * `root_fields` is fixed for ever. */
struct lb_symtab {
	uint64_t magic;
	uint16_t major, minor;
	uint32_t size;          /* of this struct */
	uint32_t n_root_fields;
	uint32_t n_kinds;
	uint64_t root_fields;   /* address of struct lb_field[n_root_fields] */
	/* from here by descriptor */
	char version[16];
	uint64_t pid;
	int64_t rank;           /* in an MPI job; -1 without */
	uint64_t dtypes;        /* address of struct lb_dtype_info[n_dtypes] */
	uint64_t ops;           /* address of struct lb_op_info[n_ops] */
	uint32_t n_dtypes, n_ops;
	uint64_t counters;      /* address of uint64_t[n_counters] */
	uint64_t counter_names; /* address of char[n_counters][24] */
	uint32_t n_counters;
	uint32_t max_rank;
	uint64_t stacks;        /* the stack depot: uint64_t words; a stack is its length, then its pcs */
	uint64_t stack_words;   /* used */
	uint64_t last_id;       /* of a tensor; ids are given out in blocks to threads */
	uint64_t last_eval;     /* the newest evaluation's number; counters.evals have ended */
	/* switches that a debugger may write, and the environment sets first */
	uint32_t want_stack;    /* frames to keep of each creation stack; 0: the call site only */
	uint32_t watch_all;     /* enum lb_watch, for every tensor */
	uint32_t strided;       /* what raw access to a strided view does: 0 nothing, 1 warn, 2 stop */
	uint32_t step;          /* enum lb_step_mode */
	uint64_t watch_memory;  /* bytes; when active_bytes passes it, the probe `memory` fires */
	uint64_t watch_graph;   /* lazy tensors of an evaluation, or of all: `graph` */
	int64_t watch_low, watch_high; /* doubles as lb_order_double() has them: `range` */
	struct lb_slab_directory kinds[LB_KINDS];
	uint64_t event_kinds;   /* address of struct lb_event_info[n_event_kinds] */
	uint32_t n_event_kinds;
	uint32_t event_size;    /* of struct lb_flight_event */
	uint64_t flight;        /* address of the ring; 0 when nothing is recorded */
	uint64_t flight_capacity; /* events; a power of two */
	uint64_t flight_used;   /* number of the newest event */
	uint64_t program;       /* address of the path of the program's file; "" when not known */
	uint64_t loader;        /* address of the dynamic loader's struct r_debug; 0 without one */
	uint32_t event_mode;    /* enum lb_event_mode; a debugger may write it */
	uint32_t pad;
	uint64_t
	    timed_until; /* CLOCK_MONOTONIC at which LB_EVENTS_TIMED and _DETAILED end by themselves; 0: it stays. For
				 * readers, which write it again and again: one that is killed leaves nothing on */
	char watch_patterns[LB_WATCH_PATTERNS][LB_PATTERN_BYTES]; /* globs, as of fnmatch(), which a debugger
				 * may write; an empty one matches nothing */
	uint64_t step_refusal; /* address of a text: why the newest that counts as `unstepped` does */
	/* Named values are logged, a line of JSON each time one is computed, while `log` is odd. Whoever changes what follows
	 * sets it to a larger number last: then the file is opened anew. None comes twice, as nobody looks at it between. */
	uint32_t log;
	uint32_t nan; /* what a result with NaN or Inf that no input has does: 0 nothing, 1 warn, 2 stop */
	char log_names[LB_LOG_BYTES]; /* globs, as of fnmatch(), with commas between; "": all names */
	char log_file[LB_LOG_BYTES]; /* its path, in which %p is the process id; "-": stderr */
};

/* clang-format off */
#define LB_ROOT_FIELDS(X) \
	X(version) X(pid) X(rank) X(dtypes) X(ops) X(n_dtypes) X(n_ops) X(counters) \
	X(counter_names) X(n_counters) X(max_rank) X(stacks) X(stack_words) X(last_id) \
	X(last_eval) X(want_stack) X(watch_all) X(strided) X(step) X(watch_memory) X(watch_graph) \
	X(watch_low) X(watch_high) X(kinds) \
	X(event_kinds) X(n_event_kinds) X(event_size) X(flight) X(flight_capacity) X(flight_used) \
	X(program) X(loader) X(event_mode) X(timed_until) X(watch_patterns) \
	X(step_refusal) X(log) X(nan) X(log_names) X(log_file)
/* clang-format on */

/* A double, as an integer of the same order; zeros are equal, a NaN is above all others. */
static inline int64_t lb_order_double(double value)
{
	int64_t bits;

	if (value != value)
		return INT64_MAX;
	value += 0.0;
	__builtin_memcpy(&bits, &value, sizeof bits);
	return bits < 0 ? bits ^ INT64_MAX : bits;
}

static inline double lb_ordered_double(int64_t order)
{
	int64_t bits = order < 0 ? order ^ INT64_MAX : order;
	double value;

	__builtin_memcpy(&value, &bits, sizeof value);
	return value;
}

/* The bytes behind the JIT entry: an ELF64 header that any gdb accepts as an
 * (empty) object, then the address of the root. */
#define LB_SYMFILE_MAGIC 0x656c6966626d7973ULL /* "symbfile" */
struct lb_symfile {
	uint8_t elf[64 + 64 * 3 + 32]; /* header, three section headers, string table */
	uint64_t magic;
	uint64_t root;
};
/* In step mode each graph has an entry, too: with this magic, and the address of its record in
 * place of the root's. The rest of its object is for gdb: its code's names and lines, in DWARF. */
#define LB_GRAPHFILE_MAGIC 0x656c696668706172ULL /* "raphfile" */

#endif
