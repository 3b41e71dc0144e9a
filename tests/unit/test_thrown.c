/* An exception's header, and what lies around it, made by hand: what no program can be made to leave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "image.h"
#include "target/thrown.h"

/* Where the parts lie in the image's data. */
enum {
	STACK = IMAGE_DATA,
	STACK_SIZE = 0x100,
	HEADER = IMAGE_DATA + 0x1080,
	OTHER = IMAGE_DATA + 0x2080,
	TYPE = IMAGE_DATA + 0x3000,
	NAME = IMAGE_DATA + 0x3100,
	TEXT = IMAGE_DATA + 0x3200,
};

static void put(struct image *image, uint64_t at, uint64_t word)
{
	memcpy(image_at(image, at, sizeof word), &word, sizeof word);
}

static void put_text(struct image *image, uint64_t at, const char *text)
{
	strcpy(image_at(image, at, strlen(text) + 1), text);
}

/* One of libstdc++'s, of type `const char *`. */
static void put_exception(struct image *image, uint64_t header, uint64_t users, uint64_t handlers)
{
	put(image, header, 0x474e5543432b2b00);
	put(image, header - 0x60, users);
	put(image, header - 0x50, TYPE);
	put(image, header - 0x28, handlers);
	put(image, header + 0x20, TEXT);
}

static int prepare(void **state)
{
	static struct image image;

	image_create(&image, false);
	put(&image, TYPE + 8, NAME);
	put_text(&image, NAME, "PKc");
	put_text(&image, TEXT, "no weights\nin file");
	put_exception(&image, HEADER, 1, 1);
	put(&image, STACK + 0x40, HEADER);
	*state = &image;
	return 0;
}

static int release(void **state)
{
	image_destroy(*state);
	return 0;
}

static bool find(struct image *image, struct lbx_thrown *ret)
{
	return lbx_thrown_find(&image->target, STACK, STACK + STACK_SIZE, ret);
}

static void is_found(void **state)
{
	struct lbx_thrown thrown;

	assert_true(find(*state, &thrown));
	assert_string_equal(thrown.type, "const char *");
	assert_string_equal(thrown.text, "no weights");
}

/* malloc() has overwritten the count of a freed one. */
static void one_that_is_gone_is_none(void **state)
{
	struct lbx_thrown thrown;

	put_exception(*state, OTHER, 0x5a5a5a5a5a5a, 1);
	put(*state, STACK + 0x10, OTHER);
	assert_true(find(*state, &thrown));
	put_exception(*state, HEADER, 1, 0);
	assert_false(find(*state, &thrown));
}

static void the_later_of_two_is_told(void **state)
{
	struct lbx_thrown thrown;

	put_exception(*state, OTHER, 1, 1);
	put(*state, OTHER + 0x20, TEXT + 3);
	put(*state, STACK + 0x10, OTHER);
	assert_false(find(*state, &thrown)); /* it is not certain which */
	put(*state, OTHER - 0x30, HEADER - 0x50);
	assert_true(find(*state, &thrown));
	assert_string_equal(thrown.text, "weights");
	put(*state, OTHER - 0x30, 0);
	put(*state, HEADER - 0x30, OTHER - 0x50);
	assert_true(find(*state, &thrown));
	assert_string_equal(thrown.text, "no weights");
}

static void damage_is_no_exception(void **state)
{
	struct image *image = *state;
	struct lbx_thrown thrown;

	assert_false(lbx_thrown_find(&image->target, STACK + STACK_SIZE, STACK, &thrown));
	assert_false(lbx_thrown_find(&image->target, 0x10, UINT64_MAX, &thrown));
	put_text(image, TEXT, "\x1b[2J"); /* no text for a terminal */
	assert_true(find(image, &thrown));
	assert_string_equal(thrown.text, "");
	put(image, HEADER + 0x20, 0x10);
	assert_true(find(image, &thrown));
	assert_string_equal(thrown.text, "");
	put(image, TYPE + 8, 0x10);
	assert_false(find(image, &thrown));
	assert_true(lb_ok());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(is_found, prepare, release),
		cmocka_unit_test_setup_teardown(one_that_is_gone_is_none, prepare, release),
		cmocka_unit_test_setup_teardown(the_later_of_two_is_told, prepare, release),
		cmocka_unit_test_setup_teardown(damage_is_no_exception, prepare, release),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
