/* Names of functions, as their source has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "target/demangle.h"

static void is(const char *name, const char *expected)
{
	char got[64];

	lbx_demangle(name, got, sizeof got);
	assert_string_equal(got, expected);
}

static void names_of_c(void **state)
{
	(void)state;
	is("main", "main");
	is("", "");
	is("__libc_start_main@@GLIBC_2.34", "__libc_start_main");
	is("@", "@");
	is("_Zq", "_Zq");
}

static void names_of_cxx(void **state)
{
	(void)state;
	if (!LB_HAVE_IBERTY)
		skip();
	is("_ZN3net5layer7forwardEP9lb_tensor", "net::layer::forward");
	is("_ZN3net4stepINS_5modelEEEvRT_P9lb_tensor", "net::step<net::model>");
	is("_ZNK3net5layerclEv@VERSION", "net::layer::operator()");
}

/* Cut between characters, and said so. */
static void long_names(void **state)
{
	char name[5000], got[16];

	(void)state;
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	lbx_demangle(name, got, sizeof got);
	assert_string_equal(got, "xxxxxxxxxxxx…");
	memcpy(name, "_ZN", 3); /* too long to be taken apart */
	lbx_demangle(name, got, sizeof got);
	assert_string_equal(got, "_ZNxxxxxxxxx…");
	strcpy(name, "ééééééééé");
	lbx_demangle(name, got, sizeof got);
	assert_string_equal(got, "éééééé…");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_c),
		cmocka_unit_test(names_of_cxx),
		cmocka_unit_test(long_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
