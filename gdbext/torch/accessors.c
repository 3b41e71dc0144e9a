/* As gcc and clang make it: on x86-64 in PyTorch 1.13 to 2.14 (up to 2.5 with shorter distances), on aarch64 in 2.13. */
#include "torch/accessors.h"

#include <elf.h>
#include <string.h>

enum { WORD = 8 };

/* ---- x86-64 ---- */

static const unsigned char *behind_mark(const unsigned char *code)
{
	static const unsigned char mark[] = { 0xf3, 0x0f, 0x1e, 0xfa }; /* endbr64 */

	return memcmp(code, mark, sizeof mark) == 0 ? code + sizeof mark : code;
}

/* lea OFFSET(%rdi),%rax; ret */
static bool gradient_x86(const unsigned char *code, uint32_t *ret)
{
	static const unsigned char lea[] = { 0x48, 0x8d, 0x47 };
	const unsigned char *at = behind_mark(code);

	*ret = at[3];
	return memcmp(at, lea, sizeof lea) == 0 && at[3] < 0x80 && at[4] == 0xc3;
}

/* movzbl OFFSET(%rdi),%eax, or cmpb $0,OFFSET(%rdi): whether it is one, with the offset in four bytes or in one. */
static bool is_flag(const unsigned char *code, uint32_t *ret)
{
	static const struct {
		size_t n, offset;
		unsigned char begins[3];
	} forms[] = {
		{ 3, 4, { 0x0f, 0xb6, 0x87 } },
		{ 3, 1, { 0x0f, 0xb6, 0x47 } },
		{ 2, 4, { 0x80, 0xbf } },
		{ 2, 1, { 0x80, 0x7f } },
	};

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		if (memcmp(code, forms[i].begins, forms[i].n) != 0)
			continue;
		*ret = 0;
		memcpy(ret, code + forms[i].n, forms[i].offset);
		return true;
	}
	return false;
}

/* The flag is looked at, then cmpq $0,OFFSET(%rdi) at the function. */
static bool requires_x86(const unsigned char *code, uint32_t *ret_byte, uint32_t *ret_word)
{
	static const unsigned char is_null[] = { 0x48, 0x83, 0x7f };
	int n_bytes = 0, n_words = 0;

	for (int i = 0; i + 7 <= LBX_TORCH_CODE && code[i] != 0xc3; i++) {
		if (is_flag(code + i, ret_byte)) {
			n_bytes++;
		} else if (memcmp(code + i, is_null, sizeof is_null) == 0 && code[i + 4] == 0) {
			*ret_word = code[i + 3];
			n_words++;
		}
	}
	return n_bytes == 1 && n_words == 1;
}

/* ---- aarch64: words of 32 bits, with registers in bits 0 to 4 (to) and 5 to 9 (from), and a number in 10 to 21 ---- */

static const uint32_t bti_c = 0xd503245f, ret_x30 = 0xd65f03c0, add_number = 0x91000000 /* add xT,xF,#N */,
		      load_byte = 0x39400000 /* ldrb wT,[xF,#N] */, load_word = 0xf9400000 /* ldr xT,[xF,#8*N] */,
		      with_number = 0xffc00000, move = 0xaa0003e0 /* mov xT,xM, which is in bits 16 to 20 */,
		      with_registers = 0xffe0ffe0;

static uint32_t instruction(const unsigned char *code, int i)
{
	const unsigned char *at = code + 4 * i;

	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint32_t number_of(uint32_t instruction)
{
	return instruction >> 10 & 0xfff;
}

/* add x0,x0,#OFFSET; ret */
static bool gradient_arm(const unsigned char *code, uint32_t *ret)
{
	int i = instruction(code, 0) == bti_c;
	uint32_t add = instruction(code, i);

	*ret = number_of(add);
	return (add & with_number) == add_number && (add & 0x3ff) == 0 && instruction(code, i + 1) == ret_x30;
}

/* A byte and a word are loaded from the object, which x0 leads to at first, and perhaps a copy of it. */
static bool requires_arm(const unsigned char *code, uint32_t *ret_byte, uint32_t *ret_word)
{
	uint32_t object = 1; /* registers that lead to it, one bit each */
	int n_bytes = 0, n_words = 0;

	for (int i = 0; i < LBX_TORCH_CODE / 4 && instruction(code, i) != ret_x30; i++) {
		uint32_t is = instruction(code, i), to = 1U << (is & 31);
		bool is_from = object >> (is >> 5 & 31) & 1;
		if ((is & with_registers) == move) {
			object = object >> (is >> 16 & 31) & 1 ? object | to : object & ~to;
		} else if ((is & with_number) == load_byte || (is & with_number) == load_word) {
			bool is_byte = (is & with_number) == load_byte;
			if (!is_from)
				return false;
			*(is_byte ? ret_byte : ret_word) = number_of(is) * (is_byte ? 1 : WORD);
			*(is_byte ? &n_bytes : &n_words) += 1;
			object &= ~to;
		}
	}
	return n_bytes == 1 && n_words == 1;
}

/* ---- both ---- */

bool lbx_torch_code_gradient(unsigned machine, const unsigned char *code, uint32_t *ret)
{
	return (machine == EM_X86_64 && gradient_x86(code, ret)) || (machine == EM_AARCH64 && gradient_arm(code, ret));
}

bool lbx_torch_code_requires(unsigned machine, const unsigned char *code, uint32_t *ret_byte, uint32_t *ret_word)
{
	return (machine == EM_X86_64 && requires_x86(code, ret_byte, ret_word)) ||
	       (machine == EM_AARCH64 && requires_arm(code, ret_byte, ret_word));
}
