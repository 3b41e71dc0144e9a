/* Which frame is the program's own. */
#include "record/libraries.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const char shown[] = "From                To                  Syms Read   Shared Object Library\n"
			    "0x0000000000001000  0x0000000000002000  Yes         /lib64/ld-linux-x86-64.so.2\n"
			    "0x0000000000003000  0x0000000000004000  Yes (*)     target:/usr/lib/liblazybones.so.0\n"
			    "0x0000000000005000  0x0000000000006000  Yes         /home/me/my nets/libnets.so\n"
			    "                                        No          linux-vdso.so.1\n"
			    "0x0000000000007000  0x0000000000008000  No          /opt/llama-addon.node\n"
			    "(*): Shared library is missing debugging information.\n";

static bool is_own(uint64_t address, const char *function, bool has_source, uint64_t ours)
{
	struct lbx_libraries libraries = { 0 };

	lbx_libraries_add_shown(&libraries, shown);
	assert_int_equal(libraries.n, 4);
	bool ret = lbx_is_own_frame(&(struct lbx_told_frame){ address, function, has_source }, &libraries, ours);
	lbx_libraries_clear(&libraries);
	return ret;
}

static void what_has_a_source_and_is_no_librarys_is_own(void **state)
{
	(void)state;
	assert_true(is_own(0x555500, "main", true, 0));
	assert_true(is_own(0x5000, "nets::step", true, 0)); /* in a library of its own */
	assert_true(is_own(0x2000, "main", true, 0));       /* behind the loader's end */
	assert_true(is_own(0x555500, "", true, 0));
	assert_false(is_own(0x555500, "main", false, 0));
	assert_false(is_own(0x1fff, "dl_main", true, 0));
	assert_false(is_own(0x3000, "evaluate", true, 0));
	/* by its function's name, as where the runtime is part of the program */
	assert_false(is_own(0x555500, "lb_eval", true, 0));
	assert_false(is_own(0x555500, "std::function<void ()>::operator()", true, 0));
}

/* A guest's code may be in a file of any name. */
static void at_a_breakpoint_of_ours_its_library_is_not(void **state)
{
	(void)state;
	assert_true(is_own(0x7100, "llama_context::decode", true, 0));
	assert_false(is_own(0x7100, "llama_context::decode", true, 0x7fff));
	assert_true(is_own(0x5000, "nets::step", true, 0x7fff));
	assert_true(is_own(0x555500, "main", true, 0x3100));
	assert_false(is_own(0x3100, "evaluate", true, 0x3100));
	/* where that is part of the program nothing tells them apart */
	assert_false(is_own(0x555500, "main", true, 0x555000));
}

static void what_is_unloaded_is_gone(void **state)
{
	struct lbx_libraries libraries = { 0 };
	const struct lbx_told_frame frame = { 0x3000, "evaluate", true };

	(void)state;
	lbx_libraries_add_shown(&libraries, shown);
	lbx_libraries_remove(&libraries, 0x5000);
	assert_int_equal(libraries.n, 3);
	assert_false(lbx_is_own_frame(&frame, &libraries, 0));
	lbx_libraries_remove(&libraries, 0x3000);
	assert_true(lbx_is_own_frame(&frame, &libraries, 0));
	lbx_libraries_clear(&libraries);
	assert_true(lbx_is_own_frame(&frame, &libraries, 0));
}

static void nonsense_adds_none(void **state)
{
	static const char *const texts[] = {
		"", "No shared libraries loaded at this time.\n", "0x", "0x1 0x2", "0x2 0x1 Yes /a\n", "\n\n0x zz /x\n",
	};
	struct lbx_libraries libraries = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		lbx_libraries_add_shown(&libraries, texts[i]);
	assert_int_equal(libraries.n, 0);
	lbx_libraries_clear(&libraries);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_a_source_and_is_no_librarys_is_own),
		cmocka_unit_test(at_a_breakpoint_of_ours_its_library_is_not),
		cmocka_unit_test(what_is_unloaded_is_gone),
		cmocka_unit_test(nonsense_adds_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
