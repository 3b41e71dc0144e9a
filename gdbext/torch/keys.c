#include "torch/keys.h"

enum { DEVICES = 10 /* keys of devices, at least */, AUTOGRAD_MIN = 20 };

/* It and AutogradFunctionality are set, and AutogradOther between them is not. Keys further down may look so, too. */
int lbx_torch_view_key(uint64_t keys)
{
	for (int i = LBX_TORCH_KEYS_BITS - 3; i >= AUTOGRAD_MIN; i--)
		if ((keys >> i & 7) == 5)
			return i;
	return 0;
}

static int highest(uint64_t keys)
{
	return keys ? LBX_TORCH_KEYS_BITS - 1 - __builtin_clzll(keys) : 0;
}

bool lbx_torch_is_plain(uint64_t keys, int view_key)
{
	uint64_t without_devices = keys >> DEVICES << DEVICES;

	if (!without_devices)
		return false;
	int dense = __builtin_ctzll(without_devices), end = view_key ? view_key : highest(keys);
	return end <= dense + 1 || !(keys >> (dense + 1) & ((1ULL << (end - dense - 1)) - 1));
}
