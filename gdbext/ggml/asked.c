#include "ggml/asked.h"

#include "ggml/callback.h"

bool lbx_ggml_arguments(const struct lbx_registers *r, uint64_t ret[3])
{
	static const int x86_64[] = { 5, 4, 1 }, aarch64[] = { 0, 1, 2 };
	unsigned machine = r->machine ? r->machine->elf : EM_NONE;
	const int *numbers = machine == EM_X86_64 ? x86_64 : machine == EM_AARCH64 ? aarch64 : NULL;

	for (int i = 0; numbers && i < 3; i++) {
		if (!(r->known >> numbers[i] & 1))
			return false;
		ret[i] = r->r[numbers[i]];
	}
	return numbers;
}

void lbx_ggml_asked_take(struct lbx_target *target, uint64_t thread, const struct lbx_frame *innermost,
			 struct lbx_ggml_asked *ret)
{
	const struct lbx_registers *r = &innermost->registers;
	uint64_t arguments[3];

	if (!lbx_ggml_arguments(r, arguments) || !lbx_ggml_is_mark(innermost->pc, arguments[2]) ||
	    !lbx_true_code_at(target, r->machine->elf, innermost->pc))
		return;
	ret->node = arguments[0];
	ret->is_done = (arguments[1] & 0xff) == 0;
	ret->thread = thread;
}
