/* What the doctor knows: a row a rule, which stands at the foot of the file of its functions in rules/; rules.def lists
 * them. A rule sees each tensor, then each event of the flight recorder, and then says what it has found. */
#ifndef LBX_RULE_H
#define LBX_RULE_H

#include <stdbool.h>
#include <stddef.h>

#include "inspect/diagnose/case.h"

/* What it has to look at; where the program has not that, it is told as not checked. */
enum lbx_evidence {
	LBX_SEES_TENSORS = 1 << 0, /* of whatever provider */
	LBX_SEES_RUNTIME = 1 << 1, /* what the runtime counts, and its records of functions, streams and threads */
	LBX_SEES_EVENTS = 1 << 2, /* its flight recorder */
	LBX_SEES_VALUES = 1 << 3, /* elements of tensors, which takes time */
	LBX_SEES_HOLDERS = 1 << 4, /* who holds memory, of the whole program */
	LBX_SEES_GRADIENTS = 1 << 5, /* with values: c->gradients, once they have been looked at */
	/* Of a program with tensors or without; a front end that does not know them leaves the rule out. */
	LBX_SEES_DEATH = 1 << 6, /* how it died: c->death */
	LBX_SEES_STACKS = 1 << 7, /* registers and stacks of its threads */
	/* Of its threads' frames, in a core: what runs changes them meanwhile, and the rule is left out. */
	LBX_SEES_VARIABLES = 1 << 8,
	LBX_SEES_LOOKS = 1 << 9, /* several, at a program that runs: c->looks; else the rule is left out */
};

struct lbx_rule {
	const char *id; /* "L1": the same for ever; where a row has several, "L2a" */
	const char *name; /* "growing-graph" */
	const char *title; /* a line */
	unsigned sees; /* enum lbx_evidence */
	/* Of `explain`: what it means; lines of a program that has it; what must be so before the rule speaks, with its
	 * thresholds; and the cure. */
	const char *meaning, *example, *demands, *cure;
	size_t state; /* bytes of its own, all 0 at first */
	bool (*tensor)(struct lbx_case *c, void *state, const struct lbx_tensor *t);
	/* In the order in which they happened. */
	bool (*event)(struct lbx_case *c, void *state, const struct lbx_happened *event);
	/* Of those whose values are looked at, as far as time allows: floating ones that are ready; a view only where what it is
	 * a view of is not. */
	bool (*values)(struct lbx_case *c, void *state, const struct lbx_tensor *t, const struct lbx_summary *summary);
	bool (*conclude)(struct lbx_case *c, void *state);
	void (*deinit)(void *state);
};

/* The rows by name, lbx_rule_growing_graph. */
#define RULE(name) extern const struct lbx_rule lbx_rule_##name;
#include "inspect/diagnose/rules.def"
#undef RULE

/* All of them in their order, and NULL. */
extern const struct lbx_rule *const lbx_rules[];

/* Whether a word means the rule: its id, its name, or the id of its row: "L2" means L2a, too. */
bool lbx_rule_is(const struct lbx_rule *rule, const char *word);
/* Sentences about what it can be checked in; false: in everything that has tensors. */
enum { LBX_WHERE_MAX = 1024 };
bool lbx_rule_where(const struct lbx_rule *rule, char ret[LBX_WHERE_MAX]);

#endif
