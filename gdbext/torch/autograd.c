/* c10::AutogradMetaInterface (c10/core/TensorImpl.h) has these functions first, in this order: set_requires_grad,
 * requires_grad, mutable_grad, grad. The second says whether a byte is set or there is a function, the others return the address
 * of the gradient. On x86-64 they are a few instructions each, in which the offsets stand. Views have a class of their own, whose
 * functions these are, too. */
#include "torch/autograd.h"

#include <elf.h>
#include <string.h>

#include "torch/types.h"

enum { REQUIRES, MUTABLE_GRADIENT, GRADIENT, FUNCTIONS };
enum { WORD = 8, CODE = 32, END_MAX = 0x100 };

static bool is_x86(struct lbx_target *target)
{
	unsigned machine;

	return lbx_target_machine(target, &machine) && machine == EM_X86_64;
}

static const unsigned char *behind_mark(const unsigned char *code)
{
	static const unsigned char mark[] = { 0xf3, 0x0f, 0x1e, 0xfa }; /* endbr64 */

	return memcmp(code, mark, sizeof mark) == 0 ? code + sizeof mark : code;
}

/* lea OFFSET(%rdi),%rax; ret */
static bool gradient_of(const unsigned char *code, uint32_t *ret)
{
	static const unsigned char lea[] = { 0x48, 0x8d, 0x47 };
	const unsigned char *at = behind_mark(code);

	*ret = at[3];
	return memcmp(at, lea, sizeof lea) == 0 && at[3] < 0x80 && at[4] == 0xc3;
}

/* movzbl OFFSET(%rdi),%eax, or cmpb $0,OFFSET(%rdi); then cmpq $0,OFFSET(%rdi) */
static bool requires_of(const unsigned char *code, uint32_t *ret_requires, uint32_t *ret_function)
{
	static const unsigned char load[] = { 0x0f, 0xb6, 0x87 }, compare[] = { 0x80, 0xbf },
				   is_null[] = { 0x48, 0x83, 0x7f };
	int n_bytes = 0, n_words = 0;

	for (int i = 0; i + 7 <= CODE && code[i] != 0xc3; i++) {
		int more = memcmp(code + i, load, sizeof load) == 0         ? 3
			   : memcmp(code + i, compare, sizeof compare) == 0 ? 2
									    : 0;
		if (more) {
			memcpy(ret_requires, code + i + more, sizeof *ret_requires);
			n_bytes++;
		} else if (memcmp(code + i, is_null, sizeof is_null) == 0 && code[i + 4] == 0) {
			*ret_function = code[i + 3];
			n_words++;
		}
	}
	return n_bytes == 1 && n_words == 1;
}

static bool read_code(struct lbx_target *target, const struct lbx_loaded *modules, int n, uint64_t vtable, int which,
		      unsigned char ret[CODE])
{
	uint64_t function;

	return lbx_target_try_read(target, vtable + WORD * (1 + (uint64_t)which), &function, sizeof function) &&
	       lbx_loaded_is_code(modules, n, function) && lbx_target_try_read(target, function, ret, CODE);
}

bool lbx_torch_autograd_layout(struct lbx_target *target, const struct lbx_loaded *modules, int n, uint64_t object,
			       struct lbx_torch_autograd_layout *ret)
{
	unsigned char code[FUNCTIONS][CODE];
	uint64_t vtable, type;
	uint32_t same;

	*ret = (struct lbx_torch_autograd_layout){ .function = 0 };
	if (!is_x86(target) || !lbx_target_try_read(target, object, &vtable, sizeof vtable) ||
	    !lbx_torch_type_of(target, vtable, &type) ||
	    !lbx_torch_type_is(target, type, "N5torch8autograd12AutogradMetaE"))
		return false;
	for (int i = 0; i < FUNCTIONS; i++)
		if (!read_code(target, modules, n, vtable, i, code[i]))
			return false;
	struct lbx_torch_autograd_layout found;
	if (!gradient_of(code[MUTABLE_GRADIENT], &same) || !gradient_of(code[GRADIENT], &found.gradient) ||
	    same != found.gradient || !requires_of(code[REQUIRES], &found.requires, &found.function) ||
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
