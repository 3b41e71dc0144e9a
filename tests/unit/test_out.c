/* Lines that are broken where the terminal ends, and what reaches the terminal. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "inspect/out.h"

static char written[1024];

static void write_text(struct lbx_out *out, const char *text, size_t n)
{
	(void)out;
	strncat(written, text, n);
}

static struct lbx_out begin(int width)
{
	written[0] = '\0';
	return (struct lbx_out){ .width = width, .write = write_text };
}

static void fields_hang(void **state)
{
	struct lbx_out out = begin(24);

	(void)state;
	lbx_field(&out, "memory", 10);
	lbx_printf(&out, "320 B in use, peak %s, ", "320 B");
	lbx_printf(&out, "cache\n");
	lbx_printf(&out, "what follows is not broken, however long\n");
	assert_string_equal(written, "  memory  320 B in use,\n"
				     "          peak 320 B,\n"
				     "          cache\n"
				     "what follows is not broken, however long\n");
}

static void exact_fit(void **state)
{
	struct lbx_out out = begin(12);

	(void)state;
	lbx_wrap(&out, 0, 2);
	lbx_printf(&out, "0123456 8901 34567890ab\n");
	assert_string_equal(written, "0123456 8901\n  34567890ab\n");
}

/* A word that fits nowhere stays whole; one beyond any buffer is not lost either. */
static void long_words(void **state)
{
	struct lbx_out out = begin(8);
	char word[700];

	(void)state;
	memset(word, 'x', sizeof word - 1);
	word[sizeof word - 1] = '\0';
	lbx_wrap(&out, 0, 2);
	lbx_printf(&out, "aaa %s b\n", word);
	assert_memory_equal(written, "aaa\n  xxxx", 10);
	size_t n = 0;
	for (const char *at = written; *at; at++)
		n += *at == 'x';
	assert_int_equal(n, sizeof word - 1);
	assert_string_equal(written + strlen(written) - 5, "\n  b\n");
}

static void blanks_between_words_stay(void **state)
{
	struct lbx_out out = begin(80);

	(void)state;
	lbx_wrap(&out, 0, 2);
	lbx_printf(&out, "  a  b   c\n");
	assert_string_equal(written, "  a  b   c\n");
}

/* Characters of more bytes than columns, and colours, which have none. */
static void columns_are_counted(void **state)
{
	struct lbx_out out = begin(10);

	(void)state;
	out.colour = true;
	lbx_wrap(&out, 0, 1);
	lbx_styled(&out, LBX_NAME, "├─ ärger");
	lbx_styled(&out, LBX_DIM, " 9");
	lbx_printf(&out, " 123\n");
	assert_string_equal(written, "\033[33m├─ ärger\033[m\033[2m 9\033[m\n 123\n");
}

static void narrow_terminals(void **state)
{
	struct lbx_out out = begin(18);

	(void)state;
	lbx_field(&out, "x", 14);
	lbx_printf(&out, "aaa bbb ccc\n");
	assert_string_equal(written, "  x           aaa\n         bbb ccc\n");
	out = begin(0);
	lbx_field(&out, "x", 6);
	lbx_printf(&out, "aaa bbb ccc\n");
	assert_string_equal(written, "  x   aaa bbb ccc\n");
}

/* Text from outside gives no orders to the terminal, printed or as JSON. */
static void hostile_texts(void **state)
{
	static const struct {
		const char *text, *printed, *json;
	} texts[] = {
		{ "caf\303\251 \342\226\200", "caf\303\251 \342\226\200", "\"caf\303\251 \342\226\200\"" },
		{ "a\033[31mb\a", "a?[31mb?", "\"a\\u001B[31mb\\u0007\"" },
		{ "a\302\233" "31m", "a??31m", "\"a\\u009B31m\"" },
		{ "a\342\200\256b", "a???b", "\"a\\u202Eb\"" },
		{ "a\342\201\247\330\234b", "a?????b", "\"a\\u2067\\u061Cb\"" },
		{ "\233\377 \303", "?? ?", "\"?? ?\"" },
		{ "\355\240\200\300\257", "?????", "\"?????\"" }, /* a surrogate, a form too long */
		{ "a\177", "a?", "\"a?\"" },
		{ "a" LBX_STAY "b", "a?b", "\"a\\u001Fb\"" },
	};
	struct lbx_out out = begin(80);

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		begin(80);
		lbx_printf(&out, "%s", texts[i].text);
		assert_string_equal(written, texts[i].printed);
		begin(80);
		lbx_styled(&out, LBX_NAME, "%s", texts[i].text);
		assert_string_equal(written, texts[i].printed);
		begin(80);
		lbx_json_part(&out, lbx_json_string(texts[i].text));
		assert_string_equal(written, texts[i].json);
	}
	begin(80);
	lbx_escape_terminal(&out, "\033[%dm", 1);
	assert_string_equal(written, "\033[1m");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostile_texts),
		cmocka_unit_test(fields_hang), cmocka_unit_test(exact_fit), cmocka_unit_test(long_words),
		cmocka_unit_test(blanks_between_words_stay), cmocka_unit_test(columns_are_counted),
		cmocka_unit_test(narrow_terminals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
