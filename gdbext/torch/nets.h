/* Objects of C++'s torch::nn::Module: what their parameters and buffers are called, from the outermost module on. */
#ifndef LBX_TORCH_NETS_H
#define LBX_TORCH_NETS_H

#include "tensors/held.h"
#include "tensors/tensors.h"
#include "torch/record.h"

struct lbx_torch_set; /* torch/set.h */

enum { LBX_TORCH_NET_KEY = 64 };

struct lbx_torch_nets {
	uint64_t *places; /* of what may be one */
	size_t n_places, places_room;
	struct lbx_torch_net {
		uint64_t address;
		uint32_t parent; /* the module that has it; UINT32_MAX: none, or it is another's part by a circle */
		bool is_part, is_named;
		char key
		    [LBX_TORCH_NET_KEY]; /* its name there; of the outermost one that of its class, in small letters */
	} *list; /* by address */
	size_t n, room;
	struct lbx_torch_net_tensor {
		uint64_t tensor; /* address */
		uint32_t net;
		bool is_gradient;
		uint64_t of; /* then: the parameter's address */
		char key[LBX_TORCH_NET_KEY];
	} *tensors; /* by address */
	size_t n_tensors, tensors_room;
};

/* The word that each such object has, and how far into it: by these the search finds them. */
#define LBX_TORCH_NET_WORD UINT64_C(0x6c75646f6d627553) /* "Submodul" */
enum { LBX_TORCH_NET_WORD_AT = 0x158 };

/* Of the places that the search has found. False, with an error, without memory. */
bool lbx_torch_nets_find(struct lbx_torch_set *s);
void lbx_torch_nets_free(struct lbx_torch_nets *nets);

/* "net.fc1.weight", "net.fc1.weight.grad"; "" if none has it. */
void lbx_torch_net_name(const struct lbx_torch_set *s, uint64_t tensor, char ret[LB_NAME_MAX + 1]);
enum lbx_usage lbx_torch_net_usage(const struct lbx_torch_set *s, uint64_t tensor);
/* False, quietly: none has it. *ret is all 0. */
bool lbx_torch_net_held(const struct lbx_torch_set *s, uint64_t tensor, struct lbx_held *ret);
void lbx_torch_nets_tell(const struct lbx_torch_set *s, lbx_fact_fn *fn, void *context);

#endif
