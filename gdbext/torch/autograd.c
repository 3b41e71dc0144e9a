/* c10::AutogradMetaInterface (c10/core/TensorImpl.h) has these functions first, in this order: set_requires_grad,
 * requires_grad, mutable_grad, grad. The second says whether a byte is set or there is a function, the others return the address
 * of the gradient. They are a few instructions each, in which the offsets stand (accessors.h). Views have a class of their own,
 * whose functions these are, too. */
#include "torch/autograd.h"

#include <string.h>

#include "torch/accessors.h"
#include "target/cxx_types.h"

enum { REQUIRES, MUTABLE_GRADIENT, GRADIENT, FUNCTIONS };
enum { WORD = 8, END_MAX = 0x100 };

static bool read_code(struct lbx_target *target, const struct lbx_loaded *modules, int n, uint64_t vtable, int which,
		      unsigned char ret[LBX_TORCH_CODE])
{
	uint64_t function;

	return lbx_target_try_read(target, vtable + WORD * (1 + (uint64_t)which), &function, sizeof function) &&
	       lbx_loaded_is_code(modules, n, function) && lbx_target_try_read(target, function, ret, LBX_TORCH_CODE);
}

bool lbx_torch_autograd_layout(struct lbx_target *target, const struct lbx_loaded *modules, int n, uint64_t object,
			       struct lbx_torch_autograd_layout *ret)
{
	unsigned char code[FUNCTIONS][LBX_TORCH_CODE];
	unsigned machine;
	uint64_t vtable, type;
	uint32_t same;

	*ret = (struct lbx_torch_autograd_layout){ .function = 0 };
	if (!lbx_target_machine(target, &machine) || !lbx_target_try_read(target, object, &vtable, sizeof vtable) ||
	    !lbx_cxx_type_of(target, vtable, &type) ||
	    !lbx_cxx_type_is(target, type, "N5torch8autograd12AutogradMetaE"))
		return false;
	for (int i = 0; i < FUNCTIONS; i++)
		if (!read_code(target, modules, n, vtable, i, code[i]))
			return false;
	struct lbx_torch_autograd_layout found;
	if (!lbx_torch_code_gradient(machine, code[MUTABLE_GRADIENT], &same) ||
	    !lbx_torch_code_gradient(machine, code[GRADIENT], &found.gradient) || same != found.gradient ||
	    !lbx_torch_code_requires(machine, code[REQUIRES], &found.requires, &found.function) ||
	    found.function != found.gradient + WORD || found.requires < found.function + 3 * WORD ||
	    found.requires >= END_MAX)
		return false;
	*ret = found;
	return true;
}

bool lbx_torch_autograd_read(struct lbx_target *target, const struct lbx_torch_autograd_layout *layout, uint64_t object,
			     struct lbx_torch_autograd *ret)
{
	unsigned char bytes[END_MAX];

	*ret = (struct lbx_torch_autograd){ .requires = -1 };
	if (!layout->function || !object || object % WORD ||
	    !lbx_target_try_read(target, object, bytes, layout->requires + 1))
		return false;
	memcpy(&ret->gradient, bytes + layout->gradient, WORD);
	memcpy(&ret->function, bytes + layout->function, WORD);
	/* behind the function, which versions up to 2.9 count elsewhere, so that its pointer has two words */
	memcpy(ret->accumulator, bytes + layout->function + WORD, sizeof ret->accumulator);
	ret->requires = bytes[layout->requires];
	return ret->requires <= 1;
}
