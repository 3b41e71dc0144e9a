/* The code of step mode, of every machine on any: compared with what assemblers make of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "eval/encode.h"

#define IS_CODE(encoding, n, expected) is_code(encoding, n, expected, sizeof expected)
static void is_code(const struct lb_encoding *encoding, uint32_t n, const void *expected, size_t nbytes)
{
	assert_int_equal(lb_encoding_bytes(encoding, n), nbytes);
	void *got = test_malloc(nbytes);
	lb_encode(encoding, got, n);
	assert_memory_equal(got, expected, nbytes);
	test_free(got);
}

static void x86_64(void **state)
{
	static const uint8_t two[] = {
		0x55,          /*  0: push rbp */
		0x48, 0x89, 0xe5,                   /*  1: mov rbp, rsp */
		0x48, 0x83, 0xec, 0x10,             /*  4: sub rsp, 16 */
		0x48, 0x89, 0x7d, 0xf8,             /*  8: mov [rbp-8], rdi */
		0x48, 0x8b, 0x7d, 0xf8,             /*  c: mov rdi, [rbp-8] */
		0xbe, 0x00, 0x00, 0x00, 0x00,       /* 10: mov esi, 0 */
		0xff, 0x17,                         /* 15: call [rdi] */
		0x85, 0xc0,                         /* 17: test eax, eax */
		0x0f, 0x84, 0x13, 0x00, 0x00, 0x00, /* 19: je 32 */
		0x48, 0x8b, 0x7d, 0xf8,             /* 1f: mov rdi, [rbp-8] */
		0xbe, 0x01, 0x00, 0x00, 0x00,       /* 23: mov esi, 1 */
		0xff, 0x17,                         /* 28: call [rdi] */
		0x85, 0xc0,                         /* 2a: test eax, eax */
		0x0f, 0x84, 0x00, 0x00, 0x00, 0x00, /* 2c: je 32 */
		0xc9,          /* 32: leave */
		0xc3,          /* 33: ret */
	};

	(void)state;
	IS_CODE(&lb_encoding_x86_64, 2, two);
}

static void aarch64(void **state)
{
	static const uint32_t two[] = {
		0xa9bf7bfd, /*  0: stp x29, x30, [sp, #-16]! */
		0x910003fd, /*  4: mov x29, sp */
		0xf81f0fe0, /*  8: str x0, [sp, #-16]! */
		0xf94003e0, /*  c: ldr x0, [sp] */
		0x52800001, /* 10: mov w1, #0 */
		0x72a00001, /* 14: movk w1, #0, lsl #16 */
		0xf9400002, /* 18: ldr x2, [x0] */
		0xd63f0040, /* 1c: blr x2 */
		0x35000040, /* 20: cbnz w0, 28 */
		0x14000008, /* 24: b 44 */
		0xf94003e0, /* 28: ldr x0, [sp] */
		0x52800021, /* 2c: mov w1, #1 */
		0x72a00001, /* 30: movk w1, #0, lsl #16 */
		0xf9400002, /* 34: ldr x2, [x0] */
		0xd63f0040, /* 38: blr x2 */
		0x35000040, /* 3c: cbnz w0, 44 */
		0x14000001, /* 40: b 44 */
		0x910003bf, /* 44: mov sp, x29 */
		0xa8c17bfd, /* 48: ldp x29, x30, [sp], #16 */
		0xd65f03c0, /* 4c: ret */
	};

	(void)state;
	IS_CODE(&lb_encoding_aarch64, 2, two);
}

/* Numbers and jumps that take more than 16 bits. */
static void many_calls(void **state)
{
	enum { N = 70001 };
	static const uint8_t x86_64_first[] = { 0x0f, 0x84, 0x50, 0x4b, 0x14, 0x00 }; /* 19: je 144b6f */
	static const uint8_t x86_64_last[] = { 0xbe, 0x70, 0x11, 0x01, 0x00 };        /* 144b60: mov esi, 70000 */
	static const uint32_t aarch64_first = 0x14077a11; /* 24: b 1de868 */
	static const uint32_t aarch64_last[] = {
		0x52822e01, /* 1de850: mov w1, #4464 */
		0x72a00021, /* 1de854: movk w1, #1, lsl #16 */
	};
	char *code = test_malloc(lb_encoding_bytes(&lb_encoding_aarch64, N));

	(void)state;
	lb_encode(&lb_encoding_x86_64, code, N);
	size_t last = lb_encoding_offset(&lb_encoding_x86_64, N - 1);
	assert_memory_equal(code + 0x19, x86_64_first, sizeof x86_64_first);
	assert_memory_equal(code + last + 4, x86_64_last, sizeof x86_64_last);
	lb_encode(&lb_encoding_aarch64, code, N);
	last = lb_encoding_offset(&lb_encoding_aarch64, N - 1);
	assert_memory_equal(code + 0x24, &aarch64_first, sizeof aarch64_first);
	assert_memory_equal(code + last + 4, aarch64_last, sizeof aarch64_last);
	test_free(code);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_64),
		cmocka_unit_test(aarch64),
		cmocka_unit_test(many_calls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
