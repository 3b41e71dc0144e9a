/* Who holds a tensor: the part of a model that it belongs to, and the variable that leads to it. */
#ifndef LBX_HELD_H
#define LBX_HELD_H

#include "tensors/tensor.h"

/* How the program reaches a tensor. What is not certain is unknown. */
enum lbx_reach {
	LBX_REACH_UNKNOWN,
	LBX_REACH_VARIABLE, /* a variable leads to it */
	LBX_REACH_GRAPH,    /* none does: a graph keeps it, for the way back or for what is lazy */
	LBX_REACH_OBJECTS,  /* none does that was seen: objects of the program's language hold it */
	LBX_REACH_RUNTIME,  /* no object of that language does: the libraries hold it */
	LBX_REACHES
};

struct lbx_held {
	enum lbx_reach reach;
	char module[LB_NAME_MAX +
		    1]; /* "model.layers.0.fc1": whose parameter it is, or whose parameter's gradient or state;
					 "" if of none */
	char holder[LB_NAME_MAX + 1]; /* "model", "optimizer.state", "hidden, in train"; "" if not known */
	uint64_t of; /* the number of the parameter whose gradient or state it is; 0: of none */
	bool is_gradient;
};

/* As its set tells; else the module by the tensor's name, "blk.0.attn_q" of "blk.0.attn_q.weight". */
void lbx_tensor_held(const struct lbx_tensor *t, struct lbx_held *ret);
/* "(autograd's graph)": what stands for a holder where no variable leads to it; "" of the others. */
const char *lbx_reach_name(enum lbx_reach reach);

/* A variable whose tensors keep what they were computed by, and with it memory that no variable leads to. Several may keep
 * the same. */
struct lbx_keeper {
	char name[LB_NAME_MAX +
		  32]; /* "losses[0…999]"; "": those that were not looked through, as there is too much to it */
	uint64_t tensors, nodes; /* how many there are, and of which graph */
	uint64_t kept; /* buffers */
	int64_t bytes; /* of these */
	bool is_cut; /* there may be more */
};

/* Those that keep most first, and what was not looked through last. */
void lbx_keepers_sort(struct lbx_keeper *list, size_t n);
/* The next one at or after *slot, which moves past it, in that order. False, without an error: there are no more. */
bool lbx_tensors_keeper(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_keeper *ret);

#endif
