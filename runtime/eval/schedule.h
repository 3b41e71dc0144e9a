/* The schedule of one evaluation: which tensors it computes, in which order, which of them
 * run fused, and whose values stay.
 *
 * Streams. An evaluation computes the tensors of its own streams, and views, which cost nothing.
 * What it needs of another stream, or has been queued, is not walked into but listed: these
 * tensors must be ready first, whoever computes them.
 *
 * Claims. An evaluation claims every lazy tensor that it needs, by a compare-and-swap of the
 * state, before it computes any. One that meets a foreign claim gives its own back and waits
 * until that evaluation ends; it never waits while it holds claims, so there is no deadlock,
 * and an evaluation with all its claims always runs to its end.
 *
 * Who stays. A tensor's value stays if somebody could still ask for it: a root of the
 * evaluation; one with a reference besides those of scopes and of this schedule's consumers; one
 * with a name, unless a fused chain swallows it; what a view that stays looks at, whose memory
 * stays anyway; and one whose value was dropped before, if something new asks for it: so each is
 * computed twice at most for those who ask. (What was needed for it then need not stay.) Every
 * other is an intermediate: its buffer is dropped after its last consumer (or reused in place, or
 * never made, in a fused chain), and it becomes lazy again. Scopes hold every temporary of an
 * expression, so their references alone say nothing. Its inputs are held, so its value can always
 * be computed anew. An intermediate that a debugger watches is computed apart, to be looked at,
 * but stays no longer for it, unless it has a name: no chain swallows it then.
 *
 * Fusion. Going backwards, an elementwise tensor joins its consumers' group if all its
 * consumers are in one group of the same shape. No path leaves such a group and comes back, so
 * the group can run as one step, where its last member stands. */
#ifndef LB_EVAL_SCHEDULE_H
#define LB_EVAL_SCHEDULE_H

#include "eval/failure.h"
#include "graph/tensor.h"
#include "memory/arena.h"

enum { LB_NO_STEP = UINT32_MAX };

struct lb_step {
	struct lb_tensor *tensor;
	uint32_t uses;      /* edges from consumers in this schedule */
	uint32_t remaining; /* of those, not yet run */
	uint32_t group;     /* step of the group's head; itself when alone */
	uint32_t consumers; /* the one group of all consumers so far; LB_NO_STEP: none yet */
	uint32_t next;      /* the member that comes before in the group */
	uint8_t reg;        /* register inside the group */
	bool mixed;         /* consumers in several groups, or one that cannot fuse */
	bool asked;         /* by a root, or by a consumer that was not computed before */
	bool shared;        /* by a view that stays */
	bool stays;
	bool unasked;       /* stays for itself, or for its name, not since it was asked for */
	bool stored;        /* has memory of its own */
	bool finished;      /* nothing left to do for it; it may be freed by now */
};

/* Costs of a group so far, kept at its head. */
struct lb_group {
	uint16_t insns, inputs, outputs;
};

struct lb_schedule {
	struct lb_arena *arena;
	uint64_t eval;
	uint32_t n, capacity;
	struct lb_step *steps;
	struct lb_group *groups;  /* parallel to steps */
	uint32_t *order;          /* steps, inputs first */
	/* who asks */
	uint32_t streams[2];      /* whose tensors it computes */
	bool takes_queued;        /* those of its streams, although they are queued */
	bool takes_all;           /* of whatever stream, queued or not */
	bool plain;               /* holds nothing that is listed below */
	bool apart;               /* fuses nothing */
	const struct lb_bad *bad; /* what has failed in this evaluation already */
	/* what was in the way, each held */
	struct lb_tensor **blockers;
	uint32_t n_blockers, blockers_capacity;
	struct lb_tensor *failed; /* bad, or with LB_FLAG_FAILED */
};

enum lb_built {
	LB_BUILT,
	LB_BUSY,         /* blockers must be ready first, or at least not claimed */
	LB_MET_FAILURE,  /* needs `failed` */
	LB_BUILD_FAILED,
};

/* Claims and orders what the roots need. Unless LB_BUILT, no claim is left. */
enum lb_built lb_schedule_build(struct lb_schedule *s, int n, struct lb_tensor *const *roots);
/* Gives back the claims of every unfinished step, and their buffers. */
void lb_schedule_abandon(struct lb_schedule *s, void (*drop)(struct lb_buffer *));

/* The step that computes t in this schedule, or NULL. */
static inline struct lb_step *lb_schedule_step(const struct lb_schedule *s, const struct lb_tensor *t)
{
	if (lb_tensor_state(t) != LB_STATE_EVALUATING || __atomic_load_n(&t->eval, __ATOMIC_RELAXED) != s->eval)
		return NULL;
	return &s->steps[t->order - 1];
}

/* A constant that elementwise consumers read from its parameters: it needs no step. */
static inline bool lb_is_constant(const struct lb_tensor *t)
{
	return t->op == LB_OP_SCALAR || t->op == LB_OP_FULL;
}

/* A tensor back to lazy, without a value. */
void lb_tensor_to_lazy(struct lb_tensor *t, void (*drop)(struct lb_buffer *));

#endif
