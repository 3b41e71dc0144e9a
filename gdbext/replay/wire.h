/* A graph on its way to the replay: what a reader found in a program, written to a shared
 * memory file that the program `lazybones-replay` gets as descriptor LBX_WIRE_FD. The replay
 * computes the last node and appends its elements, in row-major order, to the file. Asked for ranges,
 * it computes node after node instead, and appends what each value holds: a summary a node. Asked for
 * steps, it computes the last node, of one element, one elementwise operation after the other.
 *
 *	header | nodes | indices of inputs (uint32) | elements of the leaves, programs | result
 *
 * Both sides come from one build; the version guards against a mixture. The replay checks every
 * offset: the nodes are copies of what may be a crashed program's memory. */
#ifndef LBX_WIRE_H
#define LBX_WIRE_H

#include "inspect/measure/summary.h"
#include "symtab.h"

#define LBX_WIRE_MAGIC 0x79616c706572624cULL
#define LBX_WIRE_FILE_MAGIC 0x656c6966706572bcULL

enum {
	LBX_WIRE_VERSION = 7,
	LBX_WIRE_FD = 3,
	LBX_WIRE_ALIGN = 64,
	LBX_WIRE_NODES = 1 << 24, /* at most */
	LBX_WIRE_AXES = 64,       /* of an array in a file, at most */
};

enum lbx_wire_asked { LBX_WIRE_ELEMENTS, LBX_WIRE_RANGES, LBX_WIRE_STEPS };

enum lbx_wire_status { LBX_WIRE_UNFINISHED, LBX_WIRE_DONE, LBX_WIRE_FAILED };

struct lbx_wire_header {
	uint64_t magic;
	uint32_t version;
	uint32_t n_nodes;
	uint64_t n_inputs;   /* indices, of all nodes */
	uint64_t nbytes;     /* of the file, without the result */
	uint64_t max_memory; /* bytes its tensors may have, the leaves too */
	uint64_t max_seconds; /* with all processors busy */
	uint32_t asked;      /* enum lbx_wire_asked */
	uint32_t n_steps;    /* written by the replay, as what follows */
	uint32_t status;
	uint32_t failed_node; /* the node that failed, or n_nodes */
	uint64_t result_at, result_bytes;
	char error[512];
};

struct lbx_wire_node {
	char op[20];         /* by name; "data" for a leaf whose elements are in the file */
	uint8_t dtype, rank, pad[2];
	uint64_t id;
	uint32_t n_inputs;
	uint32_t pad2;
	uint64_t inputs;     /* index of its first input's index; inputs come before the node */
	int64_t params[LB_PARAMS];
	int64_t shape[LB_MAX_RANK], strides[LB_MAX_RANK];
	int64_t offset;      /* elements from the buffer's start; of a leaf: from data_at */
	uint64_t data_at, data_bytes; /* of a leaf: its elements; of op "fused": its program */
};

/* How a fused node is computed: registers are its inputs, then constants, then one an operation;
 * the last one is the node's value. */
struct lbx_wire_program {
	uint8_t n_inputs, n_constants, n_insns, pad[5];
	uint64_t constants[LB_PROGRAM_INPUTS]; /* an element each, in its first bytes */
	uint8_t dtypes[LB_PROGRAM_INPUTS + LB_PROGRAM_INSNS];
	struct {
		char op[20]; /* by name */
		uint8_t operands[3], pad;
	} insns[LB_PROGRAM_INSNS];
};

/* One elementwise operation of the last node, whose value is one element: what it gives, and of what.
 * An element each, in its first bytes. */
struct lbx_wire_step {
	uint64_t result, operands[3];
};

/* Where elements are: in the file, or in the answer. */
struct lbx_wire_place {
	uint8_t dtype, encoding /* enum lb_encoding */, rank, fortran, in_place, pad[3];
	uint64_t at, nbytes;
};

/* Instead of a graph: which array of which file is wanted, and the answer. Its elements lie in the
 * file itself, or decoded and row-major behind this. Or what arrays there are: then their entries are behind this, and
 * behind those their names. */
struct lbx_wire_file {
	uint64_t magic;
	uint32_t version, status;
	uint64_t max_memory, max_seconds;
	char path[4096];
	char name[512]; /* "": the only one, or the one named `like`; afterwards which it was */
	char like[512];
	uint8_t lists; /* what arrays there are is asked */
	/* written by the replay */
	uint8_t is_only, pad[2];
	uint32_t group, n,
	    pad2; /* elements of a quantised block, 0: not quantised; entries, where they were asked for */
	struct lbx_wire_place place;
	int64_t shape[LBX_WIRE_AXES];
	char error[512];
};

/* One of the arrays of a file. What is not in place has to be asked for before more is known of it than its name. */
struct lbx_wire_entry {
	uint64_t name_at; /* of the shared memory file; it ends with '\0' */
	char type[16];    /* as the file has it: "BF16"; or "" */
	struct lbx_wire_place place;
	int64_t shape[LB_MAX_RANK];
};

#endif
