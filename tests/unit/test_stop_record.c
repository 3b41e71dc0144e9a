/* What a stop at a node remembers of the program's memory: not longer than it holds. */
#include "target/loader.h"
#include "target/target.h"

static bool made_up_loaded(struct lbx_target *target, uint64_t *ret);
static struct lbx_loaded *made_up_modules(struct lbx_target *target, int *ret_n);
#define lbx_target_loaded made_up_loaded
#define lbx_loaded_all made_up_modules
#include "plugin/ggml/record.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static enum lbx_ggml_place place; /* of the buffer, now */
static uint64_t loaded = 1;
static int n_looks; /* for modules */

bool lbx_ggml_record_read(struct lbx_target *target, const struct lbx_ggml_anchor *anchor,
			  const struct lbx_ggml_layout *layout, uint64_t address, struct lbx_ggml_record *ret)
{
	(void)target;
	(void)anchor;
	(void)layout;
	*ret = (struct lbx_ggml_record){ .address = address, .buffer = 0x5000 };
	return true;
}

bool lbx_ggml_is_view(const struct lbx_ggml_anchor *anchor, const struct lbx_ggml_record *r)
{
	(void)anchor;
	(void)r;
	return false;
}

bool lbx_ggml_puts_inf(const struct lbx_ggml_anchor *anchor, int op)
{
	(void)anchor, (void)op;
	return false;
}

/* As ggml/places.c has it: what is in the list is not read again. */
const struct lbx_ggml_buffer *lbx_ggml_buffer(struct lbx_ggml_places *places, uint64_t address)
{
	if (places->n == 0)
		places->list[places->n++] = (struct lbx_ggml_buffer){ .address = address, .place = place };
	return &places->list[0];
}

static struct lbx_loaded *made_up_modules(struct lbx_target *target, int *ret_n)
{
	(void)target;
	n_looks++;
	*ret_n = 1;
	return calloc(1, sizeof(struct lbx_loaded));
}

static bool made_up_loaded(struct lbx_target *target, uint64_t *ret)
{
	(void)target;
	*ret = loaded;
	return true;
}

const struct lbx_ggml_anchor *lbx_found_anchor(void)
{
	static struct lbx_ggml_anchor anchor;

	return &anchor;
}

const struct lbx_ggml_callback *lbx_found_callback(void)
{
	static struct lbx_ggml_callback callback;

	return &callback;
}

static bool lies_in_order(void)
{
	struct lbx_context context = { 0 };
	bool ok = lbx_stop_lies_in_order(&context, 0x1000);

	lb_clear_error();
	return ok;
}

static void another_buffer_may_lie_where_one_did(void **state)
{
	(void)state;
	place = LBX_GGML_HOST;
	assert_true(lies_in_order());
	place = LBX_GGML_REORDERED;
	assert_false(lies_in_order());
	place = LBX_GGML_HOST;
	assert_true(lies_in_order());
	lbx_stop_records_forget();
}

static void modules_are_those_that_are_loaded_now(void **state)
{
	(void)state;
	n_looks = 0;
	assert_true(lies_in_order() && lies_in_order());
	assert_int_equal(n_looks, 1);
	loaded++;
	assert_true(lies_in_order() && lies_in_order());
	assert_int_equal(n_looks, 2);
	lbx_stop_records_forget();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_buffer_may_lie_where_one_did),
		cmocka_unit_test(modules_are_those_that_are_loaded_now),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
