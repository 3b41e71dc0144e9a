#include "target/code.h"

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

/* mov %rsi or %rdx, OFFSET(%rdi); moves on behind it. */
static bool take_store(struct code *c, unsigned char operands, uint64_t *ret)
{
	if (starts(c, c->at, (unsigned char[]){ 0x48, 0x89, operands | 0x80 }, 3) && c->at + 7 <= c->n) {
		*ret = word_of(c, c->at + 3);
		c->at += 7;
		return *ret < 1U << 31;
	}
	if (!starts(c, c->at, (unsigned char[]){ 0x48, 0x89, operands | 0x40 }, 3) || c->at + 4 > c->n)
		return false;
	*ret = c->bytes[c->at + 3];
	c->at += 4;
	return *ret < 0x80;
}

/* str x1 or x2, [x0, #offset] */
static bool take_store_of(struct code *c, uint32_t from, uint64_t *ret)
{
	uint32_t word = word_of(c, c->at);

	*ret = (word >> 10 & 0xfff) * 8;
	c->at += 4;
	return (word & 0xffc003ff) == (0xf9000000 | from);
}

static bool is_stored(struct code *c, uint64_t *ret_first, uint64_t *ret_second)
{
	if (c->machine == EM_AARCH64) {
		uint32_t word = word_of(c, c->at);
		if ((word & 0xff00001f) == 0xb4000000) /* cbz x0 */
			word = word_of(c, c->at += 4);
		if ((word & 0xffc07fff) == 0xa9000801) { /* stp x1, x2, [x0, #offset] */
			*ret_first = (word >> 15 & 0x3f) * 8;
			*ret_second = *ret_first + 8;
			return !(word >> 21 & 1) && returns(c, c->at + 4);
		}
		return take_store_of(c, 1, ret_first) && take_store_of(c, 2, ret_second) && returns(c, c->at);
	}
	bool pushes = starts(c, c->at, "\x50", 1); /* push %rax */
	c->at += pushes;
	if (starts(c, c->at, "\x48\x85\xff\x74", 4)) /* test %rdi, %rdi; je */
		c->at += 5;
	if (!take_store(c, 0x37, ret_first) || !take_store(c, 0x17, ret_second))
		return false;
	return returns(c, c->at + (pushes && starts(c, c->at, "\x58", 1)));
}

bool lbx_code_stores(struct lbx_target *target, uint64_t at, uint64_t *ret_first, uint64_t *ret_second)
{
	struct code c;

	return read_code(target, at, &c) && is_stored(&c, ret_first, ret_second);
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
