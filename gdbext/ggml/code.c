#include "ggml/code.h"

#include <elf.h>
#include <string.h>

enum { CODE_MAX = 32 };

struct code {
	unsigned char bytes[CODE_MAX];
	size_t n, at; /* behind what a compiler may put in front */
	unsigned machine;
};

static uint32_t word_of(const struct code *c, size_t at)
{
	uint32_t word = 0;

	if (at + sizeof word <= c->n)
		memcpy(&word, c->bytes + at, sizeof word);
	return word;
}

static bool starts(const struct code *c, size_t at, const void *with, size_t n)
{
	return at + n <= c->n && memcmp(c->bytes + at, with, n) == 0;
}

static bool read_code(struct lbx_target *target, uint64_t at, struct code *ret)
{
	*ret = (struct code){ .n = CODE_MAX };
	if (!lbx_target_machine(target, &ret->machine))
#ifdef __aarch64__
		ret->machine = EM_AARCH64;
#else
		ret->machine = EM_X86_64;
#endif
	/* it may be the last of its segment */
	while (ret->n > 4 && !lbx_target_try_read(target, at, ret->bytes, ret->n))
		ret->n -= 4;
	if (ret->machine == EM_AARCH64) {
		if (word_of(ret, 0) == 0xd503245f) /* bti c */
			ret->at = 4;
	} else if (starts(ret, 0, "\xf3\x0f\x1e\xfa", 4)) { /* endbr64 */
		ret->at = 4;
	}
	return ret->n > 4 && (ret->machine == EM_AARCH64 || ret->machine == EM_X86_64);
}

static bool returns(const struct code *c, size_t at)
{
	return c->machine == EM_AARCH64 ? word_of(c, at) == 0xd65f03c0
					: starts(c, at, "\xc3", 1) || starts(c, at, "\xf3\xc3", 2);
}

/* An instruction of x86-64 whose operand is %rdi and a displacement, then ret. */
static bool displaced(const struct code *c, unsigned char opcode, uint64_t *ret)
{
	if (starts(c, c->at, (unsigned char[]){ 0x48, opcode, 0x87 }, 3) && returns(c, c->at + 7)) {
		*ret = word_of(c, c->at + 3);
		return true;
	}
	if (starts(c, c->at, (unsigned char[]){ 0x48, opcode, 0x47 }, 3) && returns(c, c->at + 4)) {
		*ret = c->bytes[c->at + 3];
		return *ret < 0x80;
	}
	return false;
}

bool lbx_code_number(struct lbx_target *target, uint64_t at, uint64_t *ret)
{
	struct code c;

	if (!read_code(target, at, &c))
		return false;
	if (c.machine == EM_AARCH64) { /* mov x0 or w0, #number */
		*ret = word_of(&c, c.at) >> 5 & 0xffff;
		return (word_of(&c, c.at) & 0x7fe0001f) == 0x52800000 && returns(&c, c.at + 4);
	}
	*ret = word_of(&c, c.at + 1);
	return starts(&c, c.at, "\xb8", 1) && returns(&c, c.at + 5);
}

bool lbx_code_member(struct lbx_target *target, uint64_t at, uint64_t *ret)
{
	struct code c;

	if (!read_code(target, at, &c))
		return false;
	if (c.machine == EM_AARCH64) { /* add x0, x0, #offset */
		*ret = word_of(&c, c.at) >> 10 & 0xfff;
		return (word_of(&c, c.at) & 0xffc003ff) == 0x91000000 && returns(&c, c.at + 4);
	}
	return displaced(&c, 0x8d, ret);
}

bool lbx_code_load(struct lbx_target *target, uint64_t at, uint64_t *ret)
{
	struct code c;

	if (!read_code(target, at, &c))
		return false;
	if (c.machine == EM_AARCH64) { /* ldr x0, [x0, #offset] */
		*ret = (word_of(&c, c.at) >> 10 & 0xfff) * 8;
		return (word_of(&c, c.at) & 0xffc003ff) == 0xf9400000 && returns(&c, c.at + 4);
	}
	return displaced(&c, 0x8b, ret);
}

bool lbx_code_address(struct lbx_target *target, uint64_t at, uint64_t *ret)
{
	struct code c;

	if (!read_code(target, at, &c))
		return false;
	if (c.machine == EM_AARCH64) { /* adrp x0, page; add x0, x0, #rest */
		uint32_t page = word_of(&c, c.at), rest = word_of(&c, c.at + 4);
		uint64_t pages = (page >> 5 & 0x7ffff) << 2 | (page >> 29 & 3);
		pages = (pages ^ 0x100000) - 0x100000; /* of 21 bits with a sign */
		*ret = ((at + c.at) & ~(uint64_t)0xfff) + (pages << 12) + (rest >> 10 & 0xfff);
		return (page & 0x9f00001f) == 0x90000000 && (rest & 0xffc003ff) == 0x91000000 && returns(&c, c.at + 8);
	}
	*ret = at + c.at + 7 + (uint64_t)(int64_t)(int32_t)word_of(&c, c.at + 3);
	return starts(&c, c.at, "\x48\x8d\x05", 3) && returns(&c, c.at + 7);
}
