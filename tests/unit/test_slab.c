/* Slots in the order in which one that moves them one by one would hand them out: ids and slots run alike, and what
 * was given back last, which is in the caches, goes out first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "memory/slab.h"
#include "publish/root.h"

#define KIND LB_KIND_GRAPH
enum { MOST = 4096, BATCH = LB_MAGAZINE / 2 };

/* The reference: numbers of slots. */
static struct {
	int held[LB_MAGAZINE], n_held;
	int list[MOST], n_list, used;
} model;

static int model_take(void)
{
	while (model.n_held == 0) {
		int batch[BATCH];
		for (int n = 0; n < BATCH; n++)
			batch[n] = model.n_list ? model.list[--model.n_list] : model.used++;
		for (int n = BATCH; n-- > 0;)
			model.held[model.n_held++] = batch[n];
	}
	return model.held[--model.n_held];
}

static void model_give(int slot)
{
	while (model.n_held == LB_MAGAZINE) {
		while (model.n_held > BATCH)
			model.list[model.n_list++] = model.held[--model.n_held];
	}
	model.held[model.n_held++] = slot;
}

static struct lb_magazine magazine;
static void *out[MOST];
static int out_number[MOST], n_out;

static void take(void)
{
	void *slot = lb_slab_take(KIND, &magazine, true);
	int number = model_take();

	assert_non_null(slot);
	assert_ptr_equal(slot, lb_slab_at(KIND, (uint64_t)number));
	out[n_out] = slot;
	out_number[n_out++] = number;
}

static void give(int i)
{
	lb_slab_give(KIND, &magazine, out[i]);
	model_give(out_number[i]);
	n_out--;
	out[i] = out[n_out];
	out_number[i] = out_number[n_out];
}

static void test_order(void **state)
{
	uint64_t seed = 88172645463325252u;

	(void)state;
	assert_int_equal(lb_root->kinds[KIND].used, 0);
	for (int i = 0; i < 300; i++)
		take();
	for (int i = 0; i < 300; i++)
		assert_int_equal(out_number[i], i);
	while (n_out)
		give(n_out - 1);
	for (int round = 0; round < 20000; round++) {
		seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
		if ((seed >> 8) % 1000 < (uint64_t)(round / 2000 % 2 ? 300 : 700) && n_out < MOST)
			take();
		else if (n_out)
			give((int)((seed >> 20) % (uint64_t)n_out));
	}
	assert_int_equal(lb_root->kinds[KIND].used, model.used);
}

/* What a thread that ends gives back is there for others, all of it. */
static void test_flush(void **state)
{
	(void)state;
	while (n_out)
		give(0);
	lb_slab_flush(KIND, &magazine);
	assert_int_equal(magazine.n, 0);
	while (model.n_held)
		model.list[model.n_list++] = model.held[--model.n_held];
	int there = model.used;
	for (int i = 0; i < there; i++)
		take();
	assert_int_equal(lb_root->kinds[KIND].used, there);
	assert_int_equal(magazine.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_order), cmocka_unit_test(test_flush) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
