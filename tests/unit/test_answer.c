/* What an inspection answers, once as text and once as JSON (inspect/answer.h). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/answer.h"
#include "lazybones.h"

static char written[4096];
static int writes;

static void write_text(struct lbx_out *out, const char *text, size_t n)
{
	(void)out;
	writes++;
	strncat(written, text, n);
}

static struct lbx_out begin(bool json)
{
	written[0] = '\0';
	writes = 0;
	return (struct lbx_out){ .json = json, .width = 80, .write = write_text };
}

/* The same calls give both. */
static void tell(struct lbx_out *out)
{
	static const int64_t shape[] = { 2, 3 };

	lbx_begin(out, NULL);
	lbx_tell(out, "%pF: %pF, %pF of %pF at %pF\n", LBX_STYLED(LBX_NAME, "name", "layer"),
		 LBX_COUNT("calls", 1, "call"), LBX_COUNT("hits", 2, "hit"), LBX_SIZE("nbytes", 1536 * 1024),
		 LBX_HEX("data", 0x7f00));
	LBX_KEY(out, "id", json_integer(3));
	lbx_tell(out, "%5d%%|%-4s|%.*s|%lld|%c|%pF|%.2f %pF\n", 7, "ab", 2, "xyz", 1LL << 40, 'c',
		 LBX_LIST("shape", shape, 2), 0.5, LBX_REAL("mean", "%.3g", NAN));
	lbx_begin_list(out, "places");
	for (int i = 0; i < 2; i++) {
		lbx_begin(out, NULL);
		lbx_tell(out, "  %pF\n", LBX_INT("line", i));
		lbx_end(out);
	}
	lbx_end(out);
	LBX_KEYS(out, json_pack("{s:b,s:n}", "torn", 0, "site"));
	lbx_tell(out, "%pF%pF", LBX_TEXT("none", NULL), LBX_TEXT("empty", ""));
	lbx_end(out);
}

static void both(void **state)
{
	struct lbx_out out = begin(false);

	(void)state;
	tell(&out);
	assert_string_equal(written, "layer: 1 call, 2 hits of 1.5 MiB at 0x7f00\n"
				     "    7%|ab  |xy|1099511627776|c|(2, 3)|0.50 nan\n"
				     "  0\n  1\n");
	out = begin(true);
	tell(&out);
	assert_string_equal(written,
			    "{\"name\":\"layer\",\"calls\":1,\"hits\":2,\"nbytes\":1572864,\"data\":\"0x7f00\","
			    "\"id\":3,\"shape\":[2,3],\"mean\":\"NaN\",\"places\":[{\"line\":0},{\"line\":1}],"
			    "\"torn\":false,\"site\":null,\"none\":null,\"empty\":\"\"}\n");
	assert_int_equal(out.depth, 0);
}

static json_t *counted(int *calls)
{
	++*calls;
	return json_integer(1);
}

/* Where text is wanted no JSON is made. */
static void keys_are_lazy(void **state)
{
	struct lbx_out out = begin(false);
	int calls = 0;

	(void)state;
	lbx_begin(&out, NULL);
	LBX_KEY(&out, "a", counted(&calls));
	lbx_end(&out);
	assert_int_equal(calls, 0);
	out = begin(true);
	lbx_begin(&out, NULL);
	LBX_KEY(&out, "a", counted(&calls));
	lbx_end(&out);
	assert_int_equal(calls, 1);
}

/* All that is printed is text. */
static void json_holds_no_text(void **state)
{
	struct lbx_out out = begin(true);

	(void)state;
	out.colour = true;
	lbx_wrap(&out, 0, 4);
	lbx_printf(&out, "text ");
	lbx_styled(&out, LBX_NAME, "text");
	lbx_cell(&out, LBX_TITLE, 12, "text");
	lbx_field(&out, "text", 12);
	lbx_escape_terminal(&out, "\033[1m");
	assert_string_equal(written, "");
	lbx_write(&out, "%d", 1);
	assert_string_equal(written, "1");
}

/* A long list is written as it comes, with what stands before it and after it. */
static void long_lists(void **state)
{
	struct lbx_out out = begin(true);

	(void)state;
	lbx_begin(&out, NULL);
	LBX_KEY(&out, "before", json_integer(1));
	lbx_begin_long(&out, "rows");
	assert_string_equal(written, "{\"before\":1,\"rows\":[");
	LBX_KEY(&out, NULL, json_pack("{s:i}", "id", 1));
	assert_string_equal(written, "{\"before\":1,\"rows\":[\n{\"id\":1}");
	lbx_begin(&out, NULL);
	LBX_KEY(&out, "id", json_integer(2));
	lbx_end(&out);
	lbx_end(&out);
	LBX_KEY(&out, "total", json_integer(2));
	lbx_begin_list(&out, "last");
	lbx_end(&out);
	lbx_end(&out);
	assert_string_equal(written, "{\"before\":1,\"rows\":[\n{\"id\":1},\n{\"id\":2}],\n\"total\":2,\"last\":[]}\n");

	out = begin(true);
	lbx_begin(&out, NULL);
	lbx_begin_long(&out, "values");
	for (int i = 0; i < 2; i++) {
		lbx_begin_long(&out, NULL);
		for (int k = 0; k < i; k++)
			LBX_KEY(&out, NULL, json_integer(k));
		lbx_end(&out);
	}
	lbx_end(&out);
	lbx_end(&out);
	assert_string_equal(written, "{\"values\":[[],[0]]}\n");
	out = begin(true);
	lbx_begin_long(&out, NULL);
	lbx_end(&out);
	assert_string_equal(written, "[]\n");
}

/* A failure leaves nothing behind; of what is written already, a document is made. */
static void abandoned(void **state)
{
	struct lbx_out out = begin(true);

	(void)state;
	lbx_begin(&out, NULL);
	lbx_begin_list(&out, "rows");
	LBX_KEY(&out, NULL, json_integer(1));
	lbx_abandon(&out, "unused");
	assert_string_equal(written, "");
	lbx_begin(&out, NULL);
	lbx_end(&out);
	assert_string_equal(written, "{}\n");

	out = begin(true);
	lbx_begin(&out, NULL);
	lbx_begin_long(&out, "rows");
	LBX_KEY(&out, NULL, json_integer(1));
	lbx_begin(&out, NULL);
	LBX_KEY(&out, "half", json_integer(1));
	assert_true(lbx_abandon(&out, "no more"));
	assert_string_equal(written, "{\"rows\":[1],\"error\":\"no more\"}\n");
	assert_false(lbx_abandon(&out, "again"));
	assert_string_equal(written, "{\"rows\":[1],\"error\":\"no more\"}\n");
}

/* Memory that is short: an error, and no document with holes. */
static void short_of_memory(void **state)
{
	struct lbx_out out = begin(true);

	(void)state;
	lb_clear_error();
	lbx_begin(&out, NULL);
	LBX_KEY(&out, "a", json_integer(1));
	LBX_KEY(&out, "b", (json_t *)NULL);
	lbx_end(&out);
	assert_string_equal(written, "");
	assert_string_equal(lb_error_message(), "out of memory for JSON");
	lb_clear_error();
	lbx_begin(&out, NULL);
	LBX_KEYS(&out, (json_t *)NULL);
	lbx_end(&out);
	assert_false(lb_ok());
	lb_clear_error();
}

/* More within each other than there is room for: left out, and what is around it stays whole. */
static void too_deep(void **state)
{
	struct lbx_out out = begin(true);
	int n = LBX_OPEN_MAX + 5;

	(void)state;
	for (int i = 0; i < n; i++)
		lbx_begin_list(&out, NULL);
	LBX_KEY(&out, NULL, json_integer(1));
	for (int i = 0; i < n; i++)
		lbx_end(&out);
	assert_int_equal(out.depth, 0);
	assert_int_equal(strspn(written, "["), LBX_OPEN_MAX);
	assert_int_equal(strlen(written), 2 * LBX_OPEN_MAX + 1);
}

/* Nothing is open: nothing happens. */
static void outside(void **state)
{
	struct lbx_out out = begin(true);

	(void)state;
	LBX_KEY(&out, "a", json_integer(1));
	lbx_tell(&out, "%pF", LBX_INT("b", 1));
	lbx_end(&out);
	assert_string_equal(written, "");
	assert_int_equal(out.depth, 0);
}

/* Each of printf's directives takes its own argument. */
static void directives(void **state)
{
	struct lbx_out out = begin(false);
	char expected[256];
	int x = 7;

	(void)state;
#define FORMAT "%hhd %hd %o %#X %+ld %lld %zu %jd %td %c %-5s|%*d|%.*s|%.3Lg %e %G %a %% %p %020llu|"
#define VALUES \
	(signed char)-3, (short)-4, 8u, 255u, -5L, 1LL << 40, (size_t)6, (intmax_t) - 7, (ptrdiff_t)8, 'c', "ab", 6, \
	    12, 2, "xyz", 0.5L, 1.5, 2.5, 1.0, (void *)&x, 18446744073709551615ULL
	lbx_tell(&out, FORMAT "%pF", VALUES, LBX_UINT("id", UINT64_MAX));
	snprintf(expected, sizeof expected, FORMAT "18446744073709551615", VALUES);
	assert_string_equal(written, expected);
}

/* Bytes that are no UTF-8 are replaced, each alone; what is long is whole. */
static void strings(void **state)
{
	struct lbx_out out = begin(true);
	char text[1200];

	(void)state;
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	text[1] = '\377';
	text[2] = '\303', text[3] = '\244';
	json_t *s = lbx_json_string(text);
	assert_int_equal(strlen(json_string_value(s)), sizeof text - 1);
	assert_memory_equal(json_string_value(s), "x?\303\244xx", 6);
	json_decref(s);
	lbx_json_write(&out, lbx_json_string(NULL));
	assert_string_equal(written, "null");
}

/* One document, one write, but for the newline: gdb's echo costs more than the text. */
static void in_one_piece(void **state)
{
	struct lbx_out out = begin(true);

	(void)state;
	tell(&out);
	assert_int_equal(writes, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both),       cmocka_unit_test(keys_are_lazy), cmocka_unit_test(json_holds_no_text),
		cmocka_unit_test(long_lists), cmocka_unit_test(abandoned),     cmocka_unit_test(short_of_memory),
		cmocka_unit_test(too_deep),   cmocka_unit_test(outside),       cmocka_unit_test(directives),
		cmocka_unit_test(strings),    cmocka_unit_test(in_one_piece),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
