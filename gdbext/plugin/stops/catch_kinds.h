/* What can be caught: one row a kind, with all that its breakpoint and its texts need. */
#ifndef LBX_PLUGIN_CATCH_KINDS_H
#define LBX_PLUGIN_CATCH_KINDS_H

#include "inspect/command.h"
#include "plugin/bridge/text.h"
#include "plugin/stops/breakpoints.h"

enum lbx_catch_takes {
	LBX_TAKES_TENSOR,   /* [T] */
	LBX_TAKES_FUNCTION, /* [NAME] */
	LBX_TAKES_BYTES,    /* LIMIT */
	LBX_TAKES_COUNT,    /* LIMIT */
	LBX_TAKES_RANGE,    /* T LO HI */
};

struct lbx_nodes_ops; /* plugin/stops/nodes.h */
enum { LBX_GUESTS = 3 /* that have nodes, at most */, LBX_CONDITION = 256 };

struct lbx_catch {
	int number; /* 0: free place */
	const struct lbx_catch_kind *kind;
	uint64_t id;                /* T, or 0 */
	char name[LB_NAME_MAX + 1]; /* of T, or of a function; "" for any */
	bool is_glob;               /* the name is a pattern, which the runtime compares names with: */
	int pattern;                /* from 1, the place of it there; 0 unless it has one */
	uint64_t record;            /* T, not of the runtime: the address of its record, or 0 */
	char op[24];                /* only tensors that this op makes; "" for any */
	bool once;                  /* it goes with its first stop */
	char condition[LBX_CONDITION]; /* an expression over tensors that must hold, with `it` for this one; or "" */
	const struct lbx_nodes_ops *of; /* whose that record is */
	unsigned how
	    [LBX_GUESTS]; /* it stops at their nodes; what that means only those know that have made it so (guests.h) */
	bool is_blind; /* the user was told of a value there that cannot be looked at */
	uint64_t limit;
	double low, high;
};

/* A stop: the probe's arguments, and the tensor that they name. */
struct lbx_catch_stop {
	const struct lbx_catch *catch;
	uint64_t args[LBX_PROBE_ARGS];
	const struct lbx_tensor *tensor; /* NULL when there is none */
	const struct lbx_nodes_ops
	    *of; /* at a node of theirs: the first argument is the address of its record; else NULL */
};

enum { LBX_NO_ARG = -1 };

/* When it is at nodes (nodes.h). */
enum lbx_at_node { LBX_NOT_AT_NODES, LBX_BEFORE_NODE, LBX_AFTER_NODE };
/* When it is where the program asks for a value: in front of that, or behind it. */
enum lbx_at_evaluation { LBX_NOT_AT_EVALUATIONS, LBX_BEFORE_EVALUATION, LBX_BEFORE_IMPLICIT, LBX_AFTER_EVALUATION };

struct lbx_catch_kind {
	const char *name, *arguments;
	enum lbx_catch_takes takes;
	const char *probe; /* NULL: the signal that a guard raises (symtab.h) */
	int n_args; /* of the probe */
	int id, site; /* which argument is the tensor's id, the running call */
	int op, made; /* the operation, and where it was made; 0: it is the record's */
	unsigned watch; /* enum lb_watch that the runtime needs */
	enum lbx_at_node node;
	bool looks; /* at the node's value, to know whether it happened */
	bool computes; /* it is of the op that computes a tensor: "before q is computed" */
	const char *what; /* happened; a clause */
	/* adds sentences about this stop; or NULL. May ask (lbx_bridge_waits) */
	void (*detail)(struct lbx_context *context, const struct lbx_catch_stop *stop, struct text *ret);
	const char *advice; /* `%s` is what names the tensor, or the function */
	const char *node_advice; /* at nodes; NULL: the same */
	enum lbx_at_evaluation evaluation;
	const char *evaluation_what, *evaluation_advice; /* likewise */
};

/* Ended by a row without a name. */
extern const struct lbx_catch_kind lbx_catch_kinds[];

/* The events that `catch` takes, one after the other, up to NULL. */
const char *lbx_catch_word(int i);
/* `after`, of values outside a range alone. */
const struct lbx_catch_kind *lbx_catch_kind_outside(void);
/* By name; fails with the names that there are. */
const struct lbx_catch_kind *lbx_catch_kind(const char *name);

#endif
