/* Names as a user types them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/mix.h"
#include "inspect/tensor/name.h"

static void quotes(void **state)
{
	static const struct {
		const char *text, *inside, *rest; /* rest NULL: not quoted */
	} rows[] = {
		{ "'two words'[0]", "two words", "[0]" },
		{ "\"a\"", "a", "" },
		{ "plain", "plain", NULL },
		{ "'open", "'open", NULL },
		{ "\"open\\\"", "\"open\\\"", NULL },
		{ "''", "", "" },
		{ "", "", NULL },
		{ "\"a\\\"b\\\\\"c", "a\"b\\", "c" },
		{ "\"a\\b\"", "a\\b", "" },
		{ "'it\\'s'", "it's", "" },
		{ "'back\\'[0]", "back\\", "[0]" },
		{ "'a\\b'", "a\\b", "" },
		{ "'a\"b'", "a\"b", "" },
	};
	char inside[64];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *rest = lbx_unquote(rows[i].text, inside, sizeof inside);

		assert_string_equal(inside, rows[i].inside);
		assert_int_equal(rest == NULL, rows[i].rest == NULL);
		if (rest)
			assert_string_equal(rest, rows[i].rest);
	}
	assert_string_equal(lbx_unquote("'abcdef'[1]", inside, 4), "[1]"); /* cut, never beyond its room */
	assert_string_equal(inside, "abc");
}

static void globs(void **state)
{
	static const struct {
		const char *glob, *name;
		bool matches;
	} rows[] = {
		{ "layers[0].*", "layers[0].w", true },
		{ "layers[0].*", "layers0.w", true },
		{ "layers[0].*", "layers[1].w", false },
		{ "t[0,1]", "t[0,1]", true },
		{ "t[0,1]", "t1", true },
		{ "a[bc]*", "abd", true },
		{ "*", "", true },
		{ "back\\slash", "back\\slash", true },
		{ "a\\*", "a*", true },
		{ "a\\*", "ab", false },
		{ "x[", "x[", true },
		{ "x[*", "x[3]", true },
		{ "x[1][*]", "x[1]*", true },
	};
	char escaped[16];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (lbx_name_matches(rows[i].glob, rows[i].name) != rows[i].matches)
			fail_msg("'%s' and '%s'", rows[i].glob, rows[i].name);
	assert_true(lbx_escape_indices("a[0].b[0-9]\\[", escaped, sizeof escaped));
	assert_string_equal(escaped, "a\\[0].b[0-9]\\[");
	for (size_t size = 1; size < 16; size++) {
		memset(escaped, '#', sizeof escaped);
		bool fits = lbx_escape_indices("[0][1][2]", escaped, size);
		assert_int_equal(fits, size > strlen("\\[0]\\[1]\\[2]"));
		for (size_t i = size; i < sizeof escaped; i++)
			assert_int_equal(escaped[i], '#');
	}
}

static void spellings(void **state)
{
	(void)state;
	assert_true(lbx_is_spelling("layers_0__weight", "layers[0].weight", 7));
	assert_true(lbx_is_spelling("layers_0__weight_7", "layers[0].weight", 7));
	assert_true(lbx_is_spelling("tensor::q", "q", 7));
	assert_true(lbx_is_spelling("tensor::two words", "two words", 7));
	assert_true(lbx_is_spelling("_3x", "3x", 7));
	assert_true(lbx_is_spelling("int_", "int", 7));
	assert_false(lbx_is_spelling("layers_0__weight_8", "layers[0].weight", 7));
	assert_false(lbx_is_spelling("layers_0__weigh", "layers[0].weight", 7));
	assert_false(lbx_is_spelling("layers[0].weights", "layers[0].weight", 7));
}

static void edits(void **state)
{
	static const struct {
		const char *a, *b;
		int most, edits;
	} rows[] = {
		{ "", "", 2, 0 },
		{ "abc", "ABC", 2, 0 },
		{ "layers.7.wieght", "layers.7.weight", 2, 2 },
		{ "layers.7.wieght", "layers.8.weight", 2, 3 },
		{ "aa", "aaaa", 2, 2 },
		{ "aaaa", "aa", 2, 2 },
		{ "abab", "ab", 2, 2 },
		{ "ab", "ba", 2, 2 },
		{ "axbxc", "abc", 2, 2 },
		{ "abc", "axbxc", 2, 2 },
		{ "abcd", "x", 2, 3 },
		{ "kitten", "sitting", 3, 3 },
		{ "kitten", "sitting", 2, 3 },
		{ "", "ab", 2, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (lbx_edits(rows[i].a, rows[i].b, rows[i].most) != rows[i].edits)
			fail_msg("'%s' and '%s': %d", rows[i].a, rows[i].b,
				 lbx_edits(rows[i].a, rows[i].b, rows[i].most));
}

/* By the definition, cell by cell. */
static int plain_edits(const char *a, const char *b, int most)
{
	int n = (int)strlen(a), m = (int)strlen(b), cells[16][16];

	for (int i = 0; i <= n; i++)
		for (int j = 0; j <= m; j++) {
			int change = i && j ? cells[i - 1][j - 1] + (a[i - 1] != b[j - 1]) : i + j;
			int less = i ? cells[i - 1][j] + 1 : j, more = j ? cells[i][j - 1] + 1 : i;
			cells[i][j] = change < less ? change : less;
			cells[i][j] = cells[i][j] < more ? cells[i][j] : more;
		}
	return cells[n][m] > most ? most + 1 : cells[n][m];
}

static void edits_of_all_words(void **state)
{
	uint64_t seed = 1;
	char words[2][16];

	(void)state;
	for (int i = 0; i < 100000; i++) {
		for (int k = 0; k < 2; k++) {
			size_t n = lb_mix(seed += LB_MIX_STEP) % 12;
			for (size_t c = 0; c < n; c++)
				words[k][c] = (char)('a' + lb_mix(seed += LB_MIX_STEP) % 3);
			words[k][n] = '\0';
		}
		int most = (int)(lb_mix(seed += LB_MIX_STEP) % 5), own = lbx_edits(words[0], words[1], most);
		if (own != plain_edits(words[0], words[1], most))
			fail_msg("'%s' and '%s', at most %d: %d", words[0], words[1], most, own);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quotes),
		cmocka_unit_test(globs),
		cmocka_unit_test(spellings),
		cmocka_unit_test(edits),
		cmocka_unit_test(edits_of_all_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
