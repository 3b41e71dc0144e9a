/* Names of functions, as their source has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
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
	is("_ZN3net7forward17h0123456789abcdefE", "net::forward"); /* Rust's */
	is("_RNvC3net7forward", "net::forward");
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

/* Each argument of the template is twice the one before: the last, 2^60 times the first. */
static void names_that_grow(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[2048] = "_Z1fI1PIiiE", got[32], *at = name + strlen(name);

	(void)state;
	if (!LB_HAVE_IBERTY)
		skip();
	for (int i = 1; i <= 60; i++) {
		char id[3] = { i >= 36 ? digits[i / 36] : digits[i], i >= 36 ? digits[i % 36] : '\0', '\0' };
		at += sprintf(at, "S0_IS%s_S%s_E", id, id);
	}
	strcpy(at, "Evv");
	lbx_demangle(name, got, sizeof got);
	assert_string_equal(got, "f<…");
}

/* Names of 100 bytes are whole, longer ones lose the arguments of templates, but no operator. */
static void long_templates(void **state)
{
	char got[256];

	(void)state;
	if (!LB_HAVE_IBERTY)
		skip();
	lbx_demangle("_ZN3net4stepINS_5modelENS_16a_very_long_nameENS_16a_very_long_nameENS_16a_very_long_nameENS_"
		     "16a_very_long_nameEE3runEv",
		     got, sizeof got);
	assert_string_equal(got, "net::step<…>::run");
	lbx_demangle("_ZN3net4stepINS_5modelENS_16a_very_long_nameENS_16a_very_long_nameENS_16a_very_long_nameENS_"
		     "16a_very_long_nameEElsIiEEvv",
		     got, sizeof got);
	assert_string_equal(got, "net::step<…>::operator<< <…>");
	is("_ZN3net4stepINS_5modelENS_16a_very_long_nameENS_16a_very_long_nameEEptEv", "net::step<…>::operator->");
	is("_ZN3net12_GLOBAL__N_14stepINS_5modelENS_16a_very_long_nameEEclEv",
	   "net::(anonymous namespace)::step<…>::operator()");
	is("_ZN3net4stepINS_5modelENS_16a_very_long_nameEE3runEv", "net::step<net::model, net::a_very_long_name>::run");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_c),      cmocka_unit_test(names_of_cxx),   cmocka_unit_test(long_names),
		cmocka_unit_test(names_that_grow), cmocka_unit_test(long_templates),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
