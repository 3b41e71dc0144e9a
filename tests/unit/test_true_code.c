/* Code that does nothing but return true: which is found, in modules whose code is guarded and in others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/error.h"
#include "ggml/true_code.h"
#include "target/guarded.h"

enum { AT = 0x10000, NOTE = 0x100, CODE_AT = 0x1000, SIZE = 0x2000, CODE_SIZE = SIZE - CODE_AT };

static struct {
	struct lbx_target target;
	unsigned char bytes[SIZE];
	struct lbx_loaded module;
} made;

static bool read_made(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	(void)target;
	if (address < AT || n > SIZE || address - AT > SIZE - n)
		return lb_fail("nothing at 0x%llx", (unsigned long long)address);
	memcpy(to, made.bytes + (address - AT), n);
	return true;
}

/* A module with one segment of code, and a note. */
static int set_up(void **state)
{
	static const struct lbx_target_ops ops = { .read = read_made };
	static const Elf64_Phdr headers[] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = CODE_AT, .p_memsz = CODE_SIZE },
		{ .p_type = PT_GNU_PROPERTY, .p_vaddr = NOTE, .p_memsz = 0 },
	};

	(void)state;
	memset(&made, 0, sizeof made);
	made.target = (struct lbx_target){ .ops = &ops };
	memcpy(made.bytes, headers, sizeof headers);
	made.module = (struct lbx_loaded){ .bias = AT,
					   .headers = AT,
					   .n_headers = 2,
					   .n_segments = 1,
					   .segments = { { AT + CODE_AT, CODE_SIZE, CODE_SIZE, false, true } } };
	return 0;
}

static void note(const void *bytes, size_t n)
{
	memcpy(made.bytes + NOTE, bytes, n);
	((Elf64_Phdr *)made.bytes)[1].p_memsz = n;
}

/* Owner, size and type of a note; then properties. */
#define GNU_NOTE(size, properties) note("\4\0\0\0" size "\0\0\0\5\0\0\0GNU\0" properties, 16 + sizeof(properties) - 1)
#define FEATURES(bits) "\0\0\0\xc0\4\0\0\0" bits "\0\0\0\0\0\0\0"

static void a_note_says_whether_code_is_guarded(void **state)
{
	(void)state;
	assert_false(lbx_loaded_is_guarded(&made.target, &made.module));
	GNU_NOTE("\x10", FEATURES("\1")); /* BTI */
	assert_true(lbx_loaded_is_guarded(&made.target, &made.module));
	GNU_NOTE("\x10", FEATURES("\2")); /* PAC */
	assert_false(lbx_loaded_is_guarded(&made.target, &made.module));
	GNU_NOTE("\x20", "\1\0\0\0\4\0\0\0\1\0\0\0\0\0\0\0" FEATURES("\3")); /* behind another property */
	assert_true(lbx_loaded_is_guarded(&made.target, &made.module));
	GNU_NOTE("\x10", "\1\0\0\0\4\0\0\0\1\0\0\0\0\0\0\0"); /* that property alone */
	assert_false(lbx_loaded_is_guarded(&made.target, &made.module));
}

static void what_cannot_be_read_may_be_guarded(void **state)
{
	(void)state;
	GNU_NOTE("\x90", FEATURES("\2")); /* longer than it is */
	assert_true(lbx_loaded_is_guarded(&made.target, &made.module));
	GNU_NOTE("\x10", "\0\0\0\xc0\xff\xff\xff\xff\0\0\0\0\0\0\0\0");
	assert_true(lbx_loaded_is_guarded(&made.target, &made.module));
	GNU_NOTE("\x10", FEATURES("\2"));
	((Elf64_Phdr *)made.bytes)[1].p_vaddr = SIZE;
	assert_true(lbx_loaded_is_guarded(&made.target, &made.module));
	((Elf64_Phdr *)made.bytes)[1].p_vaddr = NOTE;
	assert_false(lbx_loaded_is_guarded(&made.target, &made.module));
	made.module.headers = 1;
	assert_true(lbx_loaded_is_guarded(&made.target, &made.module));
}

#define PAD "\x1f\x20\x03\xd5" /* nop */
#define MOV "\x20\x00\x80\x52" /* mov w0, #1 */
#define RET "\xc0\x03\x5f\xd6"
#define BTI_C "\x5f\x24\x03\xd5"
#define BTI_J "\x9f\x24\x03\xd5"
#define BTI_JC "\xdf\x24\x03\xd5"
#define PACIASP "\x3f\x23\x03\xd5"
#define AUTIASP "\xbf\x23\x03\xd5"

/* Where it is found in this code, an offset, and how many bytes lie before its last instruction; -1: nowhere. */
static int find(unsigned machine, const void *bytes, size_t n, int *ret_last)
{
	struct lbx_true_code found = { 0 };

	memset(made.bytes + CODE_AT, 0, CODE_SIZE);
	memcpy(made.bytes + CODE_AT, bytes, n);
	if (!lbx_true_code_find(&made.target, machine, NULL, 0, &made.module, &found))
		return -1;
	*ret_last = (int)(found.end - found.start);
	assert_true(lbx_true_code_at(&made.target, machine, found.start));
	return (int)(found.start - AT - CODE_AT);
}

#define FIND(machine, bytes, last) find(machine, bytes, sizeof(bytes) - 1, last)

static void functions_of_x86_64_are_found(void **state)
{
	int last;

	(void)state;
	assert_int_equal(FIND(EM_X86_64, "\xf3\x0f\x1e\xfa\xb8\1\0\0\0\xc3", &last), 4);
	assert_int_equal(last, 5);
	/* aligned, behind the end of another */
	assert_int_equal(FIND(EM_X86_64, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xc3\xb8\1\0\0\0\xc3", &last), 16);
	assert_int_equal(FIND(EM_X86_64, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xc3\xb8\1\0\0\0\xc3", &last), -1);
	assert_int_equal(FIND(EM_X86_64, "\xf3\x0f\x1e\xfa\xb8\2\0\0\0\xc3", &last), -1);
	/* the second of two */
	assert_int_equal(FIND(EM_X86_64, "\x48\xb8\1\0\0\0\xc3\0\xf3\x0f\x1e\xfa\xb8\1\0\0\0\xc3", &last), 12);
}

static void functions_of_aarch64_are_found(void **state)
{
	int last;

	(void)state;
	assert_int_equal(FIND(EM_AARCH64, PAD RET MOV RET, &last), 8);
	assert_int_equal(last, 4);
	assert_int_equal(FIND(EM_AARCH64, PAD MOV RET, &last), -1); /* within something else, for all that shows */
	assert_int_equal(FIND(EM_AARCH64, PAD BTI_C MOV RET, &last), 4);
	assert_int_equal(last, 8);
	assert_int_equal(FIND(EM_AARCH64, PAD BTI_JC MOV RET, &last), 4);
	assert_int_equal(FIND(EM_AARCH64, PAD PACIASP MOV AUTIASP RET, &last), 4);
	assert_int_equal(last, 12);
	assert_int_equal(FIND(EM_AARCH64, PAD PACIASP MOV RET, &last), -1);
	assert_int_equal(FIND(EM_AARCH64, PAD BTI_J MOV RET, &last), -1);
	assert_int_equal(FIND(EM_AARCH64, "\0\0" BTI_C MOV RET, &last), -1); /* no instruction lies so */
	assert_int_equal(FIND(EM_AARCH64, RET MOV "\xe0\x03\x5f\xd6", &last), -1);
}

/* A call by address that leads to anything but these instructions ends the program. */
static void in_guarded_code_a_call_may_lead_there(void **state)
{
	int last;

	(void)state;
	GNU_NOTE("\x10", FEATURES("\1"));
	assert_int_equal(FIND(EM_AARCH64, RET MOV RET PAD, &last), -1);
	assert_int_equal(FIND(EM_AARCH64, RET MOV RET BTI_C MOV RET, &last), 12);
	assert_int_equal(FIND(EM_AARCH64, RET MOV RET PACIASP MOV AUTIASP RET, &last), 12);
	assert_int_equal(FIND(EM_X86_64, "\xf3\x0f\x1e\xfa\xb8\1\0\0\0\xc3", &last), 4);
}

static bool is_at(unsigned machine, const void *bytes, size_t n)
{
	memset(made.bytes, 0xcc, sizeof made.bytes);
	memcpy(made.bytes, bytes, n);
	return lbx_true_code_at(&made.target, machine, AT);
}

#define IS_AT(machine, bytes) is_at(machine, bytes, sizeof(bytes) - 1)

static void it_is_known_under_a_breakpoint(void **state)
{
	(void)state;
	assert_true(IS_AT(EM_X86_64, "\xb8\1\0\0\0\xc3"));
	assert_true(IS_AT(EM_X86_64, "\xcc\1\0\0\0\xc3"));
	assert_false(IS_AT(EM_X86_64, "\xb8\0\0\0\0\xc3"));
	assert_false(IS_AT(EM_AARCH64, "\xb8\1\0\0\0\xc3"));
	assert_true(IS_AT(EM_AARCH64, MOV RET));
	assert_true(IS_AT(EM_AARCH64, "\0\0\x20\xd4" RET));
	assert_true(IS_AT(EM_AARCH64, BTI_C MOV RET));
	assert_true(IS_AT(EM_AARCH64, "\0\0\x20\xd4" MOV RET));
	assert_true(IS_AT(EM_AARCH64, "\0\0\x20\xd4" MOV AUTIASP RET));
	assert_false(IS_AT(EM_AARCH64, BTI_C MOV AUTIASP RET));
	assert_false(IS_AT(EM_AARCH64, BTI_C BTI_C RET));
	assert_false(lbx_true_code_at(&made.target, EM_AARCH64, AT + SIZE - 4));
	assert_true(lbx_true_code_knows(EM_AARCH64));
	assert_false(lbx_true_code_knows(EM_RISCV));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_note_says_whether_code_is_guarded, set_up),
		cmocka_unit_test_setup(what_cannot_be_read_may_be_guarded, set_up),
		cmocka_unit_test_setup(functions_of_x86_64_are_found, set_up),
		cmocka_unit_test_setup(functions_of_aarch64_are_found, set_up),
		cmocka_unit_test_setup(in_guarded_code_a_call_may_lead_there, set_up),
		cmocka_unit_test_setup(it_is_known_under_a_breakpoint, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
