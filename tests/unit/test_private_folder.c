/* Folders for files that gdb is given by name. */
#include "target/private_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/error.h"
#include "lazybones.h"

/* It is made in `parent`, and nobody else may enter it. */
static void made_in(const char *parent)
{
	char folder[LBX_FOLDER_MAX];
	struct stat about;
	size_t n = strlen(parent);

	assert_true(lbx_private_folder("tests", folder));
	assert_memory_equal(folder, parent, n);
	assert_memory_equal(folder + n, "/lazybones-", 11);
	assert_null(strchr(folder + n + 1, '/'));
	assert_int_equal(stat(folder, &about), 0);
	assert_int_equal(about.st_mode, S_IFDIR | 0700);
	assert_int_equal(rmdir(folder), 0);
}

static void it_is_where_tmpdir_says(void **state)
{
	static const char *const kept[] = { "plain", "J\xc3\xbcrgen", "a,b@c=d+e-f" };
	char parent[] = "/tmp/test_private_folder-XXXXXX", inner[128];

	(void)state;
	assert_non_null(mkdtemp(parent));
	umask(0);
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
		snprintf(inner, sizeof inner, "%s/%s", parent, kept[i]);
		assert_int_equal(mkdir(inner, 0755), 0);
		setenv("TMPDIR", inner, 1);
		made_in(inner);
		assert_int_equal(rmdir(inner), 0);
	}
	assert_int_equal(rmdir(parent), 0);
}

static void what_gdb_would_take_apart_is_not_taken(void **state)
{
	static const char *const others[] = { "/tmp/two words", "/tmp/it's", "/tmp/a\"b", "/tmp/a\\b",
					      "/tmp/$arg0",     "",          "." };
	char long_one[LBX_FOLDER_MAX];

	(void)state;
	unsetenv("TMPDIR");
	made_in("/tmp");
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		setenv("TMPDIR", others[i], 1);
		made_in("/tmp");
	}
	memset(long_one, 'x', sizeof long_one);
	memcpy(long_one, "/tmp/", 5);
	long_one[sizeof long_one - 1] = '\0';
	setenv("TMPDIR", long_one, 1);
	made_in("/tmp");
}

static void where_none_can_be_made_it_says_why(void **state)
{
	char folder[LBX_FOLDER_MAX] = "before";

	(void)state;
	setenv("TMPDIR", "/nonexistent", 1);
	assert_false(lbx_private_folder("listings", folder));
	assert_string_equal(lb_error_message(),
			    "cannot make a folder for listings in /nonexistent: No such file or directory: "
			    "make that possible, or start again with another TMPDIR");
	assert_string_equal(folder, "");
	lb_clear_error();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_where_tmpdir_says),
		cmocka_unit_test(what_gdb_would_take_apart_is_not_taken),
		cmocka_unit_test(where_none_can_be_made_it_says_why),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
