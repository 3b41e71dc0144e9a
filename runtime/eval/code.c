/* Debuggers unwind through this code without any help of ours: it begins like every function that
 * keeps a frame pointer (x86-64: push rbp; mov rbp, rsp. aarch64: stp x29, x30; mov x29, sp), and
 * changes no other register that belongs to its caller; its one variable, the address of the
 * struct lb_code_frame, lies on the stack. All calls are of one size, so that a call's number
 * tells its address. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "eval/code.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)

static const uint8_t prologue[] = {
	0x55,                   /* push rbp */
	0x48, 0x89, 0xe5,       /* mov rbp, rsp */
	0x48, 0x83, 0xec, 0x10, /* sub rsp, 16 */
	0x48, 0x89, 0x7d, 0xf8, /* mov [rbp-8], rdi */
};
static const uint8_t call[] = {
	0x48, 0x8b, 0x7d, 0xf8,       /* mov rdi, [rbp-8] */
	0xbe, 0, 0, 0, 0,             /* mov esi, NUMBER */
	0xff, 0x17,                   /* call [rdi] */
	0x85, 0xc0,                   /* test eax, eax */
	0x0f, 0x84, 0, 0, 0, 0,       /* je END */
};
static const uint8_t epilogue[] = { 0xc9, 0xc3 }; /* leave; ret */

static void write_call(uint8_t *to, uint32_t number, size_t to_end)
{
	uint32_t jump = (uint32_t)(to_end - sizeof call);

	memcpy(to, call, sizeof call);
	memcpy(to + 5, &number, 4);
	memcpy(to + 15, &jump, 4);
}

#elif defined(__aarch64__)

static const uint32_t prologue[] = {
	0xa9be7bfd, /* stp x29, x30, [sp, #-32]! */
	0x910003fd, /* mov x29, sp */
	0xf9000fa0, /* str x0, [x29, #24] */
};
static const uint32_t call[] = {
	0xf9400fa0, /* ldr x0, [x29, #24] */
	0x52800001, /* mov w1, #NUMBER, its low half */
	0x72a00001, /* movk w1, #NUMBER, lsl #16 */
	0xf9400002, /* ldr x2, [x0] */
	0xd63f0040, /* blr x2 */
	0x35000040, /* cbnz w0, over the next */
	0x14000000, /* b END */
};
static const uint32_t epilogue[] = { 0xa8c27bfd, 0xd65f03c0 }; /* ldp x29, x30, [sp], #32; ret */

static void write_call(uint8_t *to, uint32_t number, size_t to_end)
{
	uint32_t words[sizeof call / sizeof *call];

	memcpy(words, call, sizeof call);
	words[1] |= (number & 0xffff) << 5;
	words[2] |= number >> 16 << 5;
	words[6] |= (uint32_t)(to_end - 6 * sizeof *words) / 4;
	memcpy(to, words, sizeof words);
}

#else

static const uint8_t prologue[1], call[1], epilogue[1];

static void write_call(uint8_t *to, uint32_t number, size_t to_end)
{
	(void)to;
	(void)number;
	(void)to_end;
}

#endif

bool lb_code_known(void)
{
	return sizeof prologue > 1;
}

size_t lb_code_offset(uint32_t i)
{
	return sizeof prologue + (size_t)i * sizeof call;
}

size_t lb_code_bytes(uint32_t n)
{
	return lb_code_offset(n) + sizeof epilogue;
}

static void write_all(uint8_t *to, uint32_t n)
{
	size_t end = lb_code_offset(n);

	memcpy(to, prologue, sizeof prologue);
	for (uint32_t i = 0; i < n; i++)
		write_call(to + lb_code_offset(i), i, end - lb_code_offset(i));
	memcpy(to + end, epilogue, sizeof epilogue);
}

static lb_code *seal(void *pages, size_t capacity)
{
	if (mprotect(pages, capacity, PROT_READ | PROT_EXEC) != 0) {
		munmap(pages, capacity);
		return NULL;
	}
	__builtin___clear_cache(pages, (char *)pages + capacity);
	return (lb_code *)pages;
}

lb_code *lb_code_make(uint32_t n, size_t *capacity)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = lb_code_bytes(n);

	if (!lb_code_known())
		return NULL;
	*capacity = (bytes + page - 1) / page * page;
	void *pages = mmap(NULL, *capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return NULL;
	write_all(pages, n);
	return seal(pages, *capacity);
}

lb_code *lb_code_remake(lb_code *code, size_t capacity, uint32_t n)
{
	if (lb_code_bytes(n) > capacity ||
	    mprotect((void *)code, capacity, PROT_READ | PROT_WRITE) != 0) {
		lb_code_free(code, capacity);
		return NULL;
	}
	write_all((uint8_t *)code, n);
	return seal((void *)code, capacity);
}

void lb_code_free(lb_code *code, size_t capacity)
{
	if (code)
		munmap((void *)code, capacity);
}
