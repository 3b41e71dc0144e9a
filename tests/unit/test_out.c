/* Lines that are broken where the terminal ends, and what reaches the terminal. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "inspect/answer.h"
#include "target/columns.h"

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

/* Wide characters take two columns, marks that combine none, in each locale. */
static void display_columns(void **state)
{
	static const struct {
		const char *text;
		int columns;
	} texts[] = {
		{ "", 0 },
		{ "abc", 3 },
		{ "\303\244", 1 },
		{ "a\314\210", 1 },
		{ "\346\227\245\346\234\254", 4 },
		{ "\355\225\234", 2 },
		{ "\341\204\222\341\205\241\341\206\253", 2 }, /* a syllable, and in parts */
		{ "\357\275\261", 1 },
		{ "\357\274\241", 2 }, /* half and full width */
		{ "\360\237\230\200", 2 },
		{ "\342\200\213", 0 },
		{ "\342\224\202", 1 },
		{ "\377\303", 2 },
		{ "\346\227", 2 }, /* a part of a character */
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_int_equal(lbx_columns(texts[i].text), texts[i].columns);
	assert_int_equal(lbx_columns_of("\346\227\245", 2), 2);
}

static void cells_are_padded_by_columns(void **state)
{
	struct lbx_out out = begin(80);

	(void)state;
	lbx_cell(&out, LBX_PLAIN, 5, "\346\227\245");
	lbx_cell(&out, LBX_PLAIN, 3, "a\314\210");
	lbx_cell(&out, LBX_PLAIN, -4, "\346\227\245");
	lbx_cell(&out, LBX_PLAIN, 2, "ab");
	assert_string_equal(written, "\346\227\245   a\314\210    \346\227\245ab");
	begin(80);
	lbx_cell(&out, LBX_PLAIN, 4, "\346\227\245\346\234\254x"); /* a wide one does not fit beside the sign */
	lbx_cell(&out, LBX_PLAIN, 3, "ba\314\210cd");
	assert_string_equal(written, "\346\227\245… ba\314\210…");
	begin(80);
	lbx_cell(&out, LBX_NAME, 9, "layers.0.weight"); /* what tells names apart stays */
	lbx_cell(&out, LBX_NAME, 9, "layers.10");
	lbx_cell(&out, LBX_NAME, 2, "layers");
	lbx_cell(&out, LBX_NAME, 1, "layers");
	lbx_cell(&out, LBX_NAME, 6, "x\346\227\245\346\234\254yz");
	assert_string_equal(written, "laye…ightlayers.10l……x\346\227\245…yz");
	begin(80);
	out.width = 8;
	lbx_wrap(&out, 0, 1);
	lbx_printf(&out, "\346\227\245\346\234\254 \346\227\245 a\n");
	assert_string_equal(written, "\346\227\245\346\234\254 \346\227\245\n a\n");
}

static const char *wrapped(int width, const char *text)
{
	struct lbx_out out = begin(width);

	lbx_wrap(&out, 0, 1);
	for (; *text; text++) /* in pieces, as texts come */
		lbx_printf(&out, "%c", *text);
	return written;
}

/* Lists of numbers and commands stay whole, other blanks break. */
static void what_stays_together(void **state)
{
	(void)state;
	assert_string_equal(wrapped(12, "it has (3, 40, 5) x\n"), "it has\n (3, 40, 5)\n x\n");
	assert_string_equal(wrapped(12, "first at [0, -1], ok\n"), "first at\n [0, -1], ok\n");
	assert_string_equal(wrapped(12, "f (of 3, more than)\n"), "f (of 3,\n more than)\n");
	assert_string_equal(wrapped(12, "f (2, 3), 4, 5, 6\n"), "f (2, 3), 4,\n 5, 6\n");
	assert_string_equal(wrapped(12, "a list (1, \n"), "a list (1,\n");
	assert_string_equal(wrapped(14, "try: `a peek #7` now\n"), "try:\n `a peek #7`\n now\n");
	assert_string_equal(wrapped(14, "`one` and `two`\n"), "`one` and\n `two`\n");
}

/* Nothing is broken where lines stay whole. */
static void whole_lines(void **state)
{
	struct lbx_out out = begin(8);

	(void)state;
	out.whole_lines = true;
	lbx_field(&out, "x", 5);
	lbx_printf(&out, "a" LBX_STAY "b cc dd (1, 2)\n");
	assert_string_equal(written, "  x  a b cc dd (1, 2)\n");
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
		{ "a\302\233"
		  "31m",
		  "a??31m", "\"a\\u009B31m\"" },
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
		lbx_json_write(&out, lbx_json_string(texts[i].text));
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
		cmocka_unit_test(fields_hang),
		cmocka_unit_test(exact_fit),
		cmocka_unit_test(long_words),
		cmocka_unit_test(blanks_between_words_stay),
		cmocka_unit_test(columns_are_counted),
		cmocka_unit_test(narrow_terminals),
		cmocka_unit_test(display_columns),
		cmocka_unit_test(cells_are_padded_by_columns),
		cmocka_unit_test(what_stays_together),
		cmocka_unit_test(whole_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
