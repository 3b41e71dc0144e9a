/* Debuggers unwind through this code without any help of ours: it begins like every function that
 * keeps a frame pointer (x86-64: push rbp; mov rbp, rsp. aarch64: stp x29, x30; mov x29, sp), with
 * the two saved words at the frame's top, where unwinders guess them to be, and changes no other
 * register that belongs to its caller; its one variable, the address of the struct lb_code_frame,
 * lies below. All calls are of one size, so that a call's number
 * tells its address. */
#include "eval/encode.h"

#include <string.h>

#define INSTRUCTIONS(name) \
	.prologue = name##_prologue, .prologue_bytes = sizeof name##_prologue, .call = name##_call, \
	.call_bytes = sizeof name##_call, .epilogue = name##_epilogue, .epilogue_bytes = sizeof name##_epilogue

static const uint8_t x86_64_prologue[] = {
	0x55,     /* push rbp */
	0x48, 0x89, 0xe5,       /* mov rbp, rsp */
	0x48, 0x83, 0xec, 0x10, /* sub rsp, 16 */
	0x48, 0x89, 0x7d, 0xf8, /* mov [rbp-8], rdi */
};
static const uint8_t x86_64_call[] = {
	0x48, 0x8b, 0x7d, 0xf8, /* mov rdi, [rbp-8] */
	0xbe, 0,    0,    0,    0,       /* mov esi, NUMBER */
	0xff, 0x17,             /* call [rdi] */
	0x85, 0xc0,             /* test eax, eax */
	0x0f, 0x84, 0,    0,    0, 0, /* je END */
};
static const uint8_t x86_64_epilogue[] = { 0xc9, 0xc3 }; /* leave; ret */

static void finish_x86_64(void *call, uint32_t number, size_t to_end)
{
	uint8_t *bytes = call;
	uint32_t jump = (uint32_t)(to_end - sizeof x86_64_call);

	memcpy(bytes + 5, &number, 4);
	memcpy(bytes + 15, &jump, 4);
}

const struct lb_encoding lb_encoding_x86_64 = {
	INSTRUCTIONS(x86_64),
	.finish_call = finish_x86_64,
};

static const uint32_t aarch64_prologue[] = {
	0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
	0x910003fd, /* mov x29, sp */
	0xf81f0fe0, /* str x0, [sp, #-16]! */
};
static const uint32_t aarch64_call[] = {
	0xf94003e0, /* ldr x0, [sp] */
	0x52800001, /* mov w1, #NUMBER, its low half */
	0x72a00001, /* movk w1, #NUMBER, lsl #16 */
	0xf9400002, /* ldr x2, [x0] */
	0xd63f0040, /* blr x2 */
	0x35000040, /* cbnz w0, over the next, which reaches further */
	0x14000000, /* b END */
};
static const uint32_t aarch64_epilogue[] = {
	0x910003bf, /* mov sp, x29 */
	0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
	0xd65f03c0, /* ret */
};

static void finish_aarch64(void *call, uint32_t number, size_t to_end)
{
	uint32_t words[sizeof aarch64_call / sizeof *aarch64_call];

	memcpy(words, call, sizeof words);
	words[1] |= (number & 0xffff) << 5;
	words[2] |= number >> 16 << 5;
	words[6] |= (uint32_t)(to_end - 6 * sizeof *words) / 4;
	memcpy(call, words, sizeof words);
}

const struct lb_encoding lb_encoding_aarch64 = {
	INSTRUCTIONS(aarch64),
	.finish_call = finish_aarch64,
};

#if defined __x86_64__
const struct lb_encoding *const lb_encoding_own = &lb_encoding_x86_64;
#elif defined __aarch64__
const struct lb_encoding *const lb_encoding_own = &lb_encoding_aarch64;
#else
const struct lb_encoding *const lb_encoding_own = &(const struct lb_encoding){ 0 };
#endif

size_t lb_encoding_offset(const struct lb_encoding *encoding, uint32_t i)
{
	return encoding->prologue_bytes + (size_t)i * encoding->call_bytes;
}

size_t lb_encoding_bytes(const struct lb_encoding *encoding, uint32_t n)
{
	return lb_encoding_offset(encoding, n) + encoding->epilogue_bytes;
}

void lb_encode(const struct lb_encoding *encoding, void *to, uint32_t n)
{
	size_t end = lb_encoding_offset(encoding, n);
	char *bytes = to;

	memcpy(bytes, encoding->prologue, encoding->prologue_bytes);
	for (uint32_t i = 0; i < n; i++) {
		size_t at = lb_encoding_offset(encoding, i);
		memcpy(bytes + at, encoding->call, encoding->call_bytes);
		encoding->finish_call(bytes + at, i, end - at);
	}
	memcpy(bytes + end, encoding->epilogue, encoding->epilogue_bytes);
}
