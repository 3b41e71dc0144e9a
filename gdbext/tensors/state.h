/* What there is of a tensor's value. */
#ifndef LBX_STATE_H
#define LBX_STATE_H

#include <stdbool.h>
#include <stddef.h>

struct lbx_tensor;

enum lbx_state {
	/* as enum lb_state numbers them */
	LBX_FREED,
	LBX_LAZY,
	LBX_EVALUATING,
	LBX_READY,
	/* what other runtimes' tensors may be */
	LBX_OVERWRITTEN, /* its memory has been used again, by t->overwriter if that is known */
	LBX_ON_DEVICE,   /* in memory that is not the program's: t->place */
	LBX_REPACKED,    /* in an order that is the runtime's secret: t->place */
	LBX_NOT_SAVED,   /* the core has not its bytes */
	LBX_UNSURE,      /* it may not have been computed yet: t->place says who is at work */
	LBX_DAMAGED,
	LBX_UNALLOCATED, /* lazy, without memory: its graph was only built, or measured */
	LBX_OPAQUE, /* it cannot be shown: t->place says why */
	LBX_IN_MEMORY, /* no tensor's state, but how one is told that is ready and t->is_unproven: lbx_told_state() */
	LBX_STATES
};

/* What a tensor is for. */
enum lbx_usage {
	LBX_USAGE_UNKNOWN,
	LBX_USAGE_WEIGHTS,
	LBX_USAGE_COMPUTE, /* what is computed from others */
	LBX_USAGE_STATE,   /* kept from one computation to the next, and written by them: a KV cache */
	LBX_USAGE_INPUTS,  /* what a computation is given */
	LBX_USAGES
};
/* "weights"; "" of the unknown one. */
const char *lbx_usage_name(enum lbx_usage usage);

const char *lbx_state_name(enum lbx_state state);
/* The state by which a tensor is listed, counted and chosen. */
enum lbx_state lbx_told_state(const struct lbx_tensor *t);
/* False, without error, for another text. */
bool lbx_state_parse(const char *text, enum lbx_state *ret);
/* Whether an evaluation will give it its value. */
bool lbx_tensor_is_pending(const struct lbx_tensor *t);
/* Why there is no value, to follow what the tensor is called: "is lazy: it has no value yet"; "" of one that
 * is ready. */
void lbx_describe_state(const struct lbx_tensor *t, char *ret, size_t size);
enum { LBX_NOTE_MAX = 192 };
/* What is to be known of a value that is there, "as it lies in memory: …"; false: nothing. */
bool lbx_value_note(const struct lbx_tensor *t, char ret[LBX_NOTE_MAX]);

#endif
