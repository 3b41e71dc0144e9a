/* The tensors of PyTorch that were found. They are numbered from 1 on in the order of their addresses: numbers stay the same
 * for as long as the program stands still. */
#ifndef LBX_TORCH_SET_H
#define LBX_TORCH_SET_H

#include "target/window.h"
#include "tensors/held.h"
#include "tensors/tensors.h"
#include "torch/autograd.h"
#include "torch/dtypes.h"
#include "torch/graph.h"
#include "torch/keys.h"
#include "torch/names.h"
#include "torch/nets.h"
#include "torch/quantizers.h"
#include "torch/record.h"

struct lbx_torch_set {
	struct lbx_tensors tensors; /* first */
	int n_modules;
	struct lbx_loaded *modules;
	struct lbx_cxx_classes classes;
	struct lbx_torch_layout layout;
	struct lbx_torch_dtype dtypes[LBX_TORCH_DTYPES];
	uint64_t *objects; /* addresses */
	size_t n, room;
	uint64_t *storages; /* likewise: their numbers are of their own */
	size_t n_storages, storages_room;
	struct lbx_target *reader; /* what it is read by; NULL: as directly as can be */
	struct lbx_python *near; /* of a set that has only what objects of Python lead to (near.h); else NULL */
	bool is_torn; /* the program ran while its memory was read: each is looked at twice */
	size_t n_other; /* that have the class of a tensor, and are none with that layout */
	uint64_t first_bad, last_bad;
	int view_key; /* keys.h */
	struct lbx_torch_autograd_layout autograd;
	struct lbx_torch_graph graph;
	struct lbx_torch_quantizers quantizers;
	struct lbx_torch_names names;
	struct lbx_torch_nets nets;
	struct lbx_keeper *keepers; /* those that keep most first */
	size_t n_keepers, keepers_room;
	bool has_keepers; /* they have been looked for */
	char devices[64][16]; /* names of those that were asked for */
	int n_devices;
	struct lbx_walk walk; /* over their records */
};

static inline struct lbx_torch_set *lbx_torch_set_of(struct lbx_tensors *tensors)
{
	return (struct lbx_torch_set *)tensors;
}

static inline struct lbx_target *lbx_torch_set_target(const struct lbx_torch_set *s)
{
	struct lbx_target *direct = lbx_target_direct(s->tensors.target);

	return s->reader ? s->reader : direct ? direct : s->tensors.target;
}

/* How many of n addresses, in their order, are not above one. */
static inline size_t lbx_torch_count(const uint64_t *list, size_t n, uint64_t address)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (list[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The number of the one at an address, from 1 on; 0: none is there. */
static inline size_t lbx_torch_number(const uint64_t *list, size_t n, uint64_t address)
{
	size_t count = lbx_torch_count(list, n, address);

	return count && list[count - 1] == address ? count : 0;
}

#endif
