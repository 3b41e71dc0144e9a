/* Stops node by node, in a program that nobody has prepared: what catches need of those who know how such a program computes
 * its graphs. A room behind this one provides it, as ggml/ does; this one knows nothing of how. */
#ifndef LBX_PLUGIN_NODES_H
#define LBX_PLUGIN_NODES_H

#include "plugin/stops/catch_kinds.h"

enum lbx_nodes_there {
	LBX_NODES_NONE, /* there is no program, or it computes no such graphs, or not yet */
	LBX_NODES_THERE,
	LBX_NODES_REFUSED /* it cannot be stopped at them: why() */
};

enum lbx_leaving {
	LBX_LEAVES,
	LBX_LEAVES_NOW /* the program has run on, and has perhaps not come far enough */
};

/* Where a stop is: between two nodes, of which one may not be known. */
struct lbx_node_place {
	uint64_t done; /* the record of the one whose value is complete; 0: not known */
	uint64_t next; /* of the one that has not begun; likewise */
};

/* What its record says. */
enum { LBX_NODE_SOURCES = 10 };
struct lbx_node_record {
	struct lbx_tensor tensor; /* of no set and without a number; its strings live as long as the process is known */
	bool is_known; /* how its elements are stored */
	bool is_view; /* it gives no value: its memory is another's, as that one left it */
	bool puts_inf; /* its operation puts Inf into its result by design */
	bool passes_on; /* NaN in its input is NaN in its value, of which it may have none */
	uint64_t view_source; /* records: of what it lies in, and of its inputs; 0: none */
	uint64_t sources[LBX_NODE_SOURCES];
};

/* Functions that return a bool and ask gdb are false while its answer is awaited. */
struct lbx_nodes_ops {
	const char *
	    name; /* whose nodes: "ggml", as its provider of tensors is called. What its breakpoints send begins with it */
	const char *what; /* "nodes of ggml" */
	bool
	    by_evaluation; /* it computes what the program asks for, all at once, and stops in front of that and behind it */
	bool lasts; /* its breakpoints are by name: once they are made, they hold in each process that comes */
	bool has_paths; /* what the program's language calls a tensor may be another one each time */

	/* Looks at the program; and what was wrong. */
	bool (*find)(struct lbx_context *context, enum lbx_nodes_there *ret);
	const char *(*why)(void);
	/* Whether a catch is of anything that the program has; fails if not. Where they are there. */
	bool (*check)(const struct lbx_catch *c);
	/* Of a program that comes: makes it stop where it can be told whether it has such nodes. */
	void (*await)(void);

	/* Adds to the response what makes the program stop for a catch; notes how. Fails without memory. */
	bool (*arm)(const struct lbx_catch *c, unsigned *how);
	/* Whether a catch that is armed now holds in the graph that is being computed; else it does from the next one on. */
	bool (*holds_now)(void);
	/* Whether it is armed in each way that the program needs; and whether all breakpoints of one that is are still there. */
	bool (*is_armed)(const struct lbx_catch *c, unsigned how);
	bool (*is_whole)(const struct lbx_catch *c, unsigned how);
	bool (*remains)(int catch); /* whether one of them is there that is of this catch alone */
	/* Enables those that the program needs as long as they are there, and says so. True where they were of another process, which
	 * is gone: they are deleted. */
	bool (*mend)(struct lbx_context *context);
	void (*suspend)(const struct lbx_catch *c); /* until lbx_breakpoints_resume() */
	void (*disarm)(int catch);

	/* No catch wants them any more. */
	bool (*release)(struct lbx_context *context);
	/* What could not be undone then, if there is anything, and can now; *ret: it is. */
	bool (*tidy)(struct lbx_context *context, bool *ret);
	/* gdb is about to leave the program: what was written is as it was. While a graph is being computed the program has
	 * to run on: then the response sets a breakpoint, whose number is in $_lb_end, and $_lb_graph to 1, and this is to be
	 * called once more. */
	bool (*leave)(struct lbx_context *context, enum lbx_leaving how);
	/* gdb is about to begin with another process, or finds itself in one: what it knew is of none. */
	void (*forget)(void);

	/* What its breakpoints send, without the name. */
	bool (*hear)(struct lbx_context *context, const char *words);
	/* False, quietly, where no record lies there. */
	bool (*read)(struct lbx_context *context, uint64_t address, struct lbx_node_record *ret);
	/* Whether the elements are in the program's memory, in the order that the record tells; fails if not. */
	bool (*lies_in_order)(struct lbx_context *context, uint64_t address);
	/* The level of the frame of the program's own call. -1: the frames are not known, or not yet. */
	int (*caller_level)(struct lbx_context *context);
	/* Adds sentences about a stop at an evaluation. */
	void (*tell)(struct lbx_context *context, const struct lbx_catch_stop *stop, struct text *ret);
};

#endif
