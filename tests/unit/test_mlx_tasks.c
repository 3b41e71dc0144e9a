/* For which array a task of MLX's is: told by what its closure holds, and by what is held until it is done; not told where anything
 * is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "mlx/mlx.h"
#include "mlx/tasks.h"
#include "mlx_image.h"

enum { WORD = 8, RUNS = 20000 };
/* What the test lays out: the stack of a stream's thread, its object, its tasks, their closures, and a set's nodes. */
enum {
	AT = 0x50000000,
	SIZE = 0x2000,
	STACK = AT + 0x40,
	STACK_END = STACK + 0x80,
	STREAM = AT + 0x100,
	LIST = AT + 0x400, /* of blocks */
	BLOCKS = AT + 0x800,
	BLOCK = 0x200,
	HEAP = AT + 0x1000,
	CODE = LIBRARY_CODE + 0x40
};

static struct mlx_image image;
static struct lbx_tensors *set;
static uint64_t heap; /* where the next closure will be */
static int64_t tasks; /* in the queue */

static void put(uint64_t at, uint64_t value)
{
	regions_put(&image.regions, at, value, WORD);
}

static void queue_is(int64_t first, int64_t n)
{
	const uint64_t ends[] = { (uint64_t)first, (uint64_t)(first + n) };

	put(STREAM + 0x20, LIST);
	put(STREAM + 0x28, 8);
	for (int i = 0; i < 2; i++) {
		uint64_t block = ends[i] / 16, at = STREAM + 0x30 + 0x20 * (uint64_t)i;
		put(at, BLOCKS + block * BLOCK + ends[i] % 16 * 32);
		put(at + 8, BLOCKS + block * BLOCK);
		put(at + 16, BLOCKS + (block + 1) * BLOCK);
		put(at + 24, LIST + block * WORD);
	}
}

static int start(void **state)
{
	mlx_image_create(&image, *(int *)*state, 11);
	regions_add(&image.regions, AT, SIZE, 0);
	heap = HEAP;
	tasks = 0;
	for (uint64_t i = 0; i < 4; i++)
		put(LIST + i * WORD, BLOCKS + i * BLOCK);
	queue_is(0, 0);
	/* the array that is computed has no operation any more */
	mlx_image_set(&image, image.arrays[MLX_UNDER_WAY], LBX_MLX_PRIMITIVE, 0, WORD);
	mlx_image_set(&image, image.arrays[MLX_UNDER_WAY], LBX_MLX_PRIMITIVE + WORD, 0, WORD);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	lbx_tensors_close(set);
	set = NULL;
	lb_clear_error();
	mlx_image_destroy(&image);
	return 0;
}

/* As malloc() gives it: behind its size, and in front of that of the next. */
static uint64_t closure(const uint64_t *words, size_t n)
{
	uint64_t at = heap + 16, size = (n * WORD + 8 + 15) / 16 * 16;

	size = size < 32 ? 32 : size;
	put(at - WORD, size | 1);
	for (size_t i = 0; i < n; i++)
		put(at + i * WORD, words[i]);
	heap = at + size - 16;
	put(heap + 8, 0x1001);
	return at;
}

static void function(uint64_t at, uint64_t closure)
{
	put(at, closure);
	put(at + 8, 0);
	put(at + 16, CODE);
	put(at + 24, CODE + 16);
}

static void runs(uint64_t closure)
{
	function(STACK + 0x10, closure);
}

/* Behind the others; the first one lies at the end of a block. */
static void waits(uint64_t closure)
{
	enum { FIRST = 15 };
	int64_t at = FIRST + tasks++;

	function(BLOCKS + (uint64_t)at / 16 * BLOCK + (uint64_t)at % 16 * 32, closure);
	queue_is(FIRST, tasks);
}

static uint64_t field(int array, uint32_t at)
{
	return regions_get(&image.regions, image.arrays[array] + image.layout.size + at, WORD);
}

/* The first byte of its elements. */
static uint64_t memory(int array)
{
	return regions_get(&image.regions, field(array, LBX_MLX_DATA), WORD) + LBX_MLX_BUFFER_FRONT;
}

/* A closure that holds what some arrays lie in, in a set. */
static uint64_t holds(const int *arrays, uint64_t n)
{
	uint64_t node = 0, words[10] = { 0 };

	for (uint64_t i = 0; i < n; i++) {
		const uint64_t next[] = { node, field(arrays[i], LBX_MLX_DATA), field(arrays[i], LBX_MLX_DATA + WORD) };
		node = closure(next, 3);
	}
	words[0] = AT;
	words[1] = 13;
	words[2] = node;
	words[3] = n;
	words[4] = 0x3f800000;
	words[5] = 13;
	return closure(words, 10);
}

static uint64_t held(int array)
{
	return image.arrays[array];
}

/* The array; 0, and `why`: it is not certain. */
static int found(const char *why)
{
	struct lbx_mlx_queue queue;
	char said[LBX_WORK_WHY];

	if (!set && !lbx_mlx_open(&image.target, false, NULL, NULL, &set))
		fail_msg("%s", lb_error_message());
	struct lbx_mlx_set *s = lbx_mlx_set_of(set);
	lbx_mlx_queue_read(&image.target, STREAM, &queue);
	uint64_t id = lbx_mlx_task_of(s, STACK, STACK_END, &queue, said);
	assert_true(lb_ok());
	if (why)
		assert_string_equal(said, why);
	for (int i = 1; id && i <= MLX_ARRAYS; i++)
		if (s->objects[id - 1] == image.arrays[i])
			return i;
	assert_int_equal(id, 0);
	return 0;
}

static void a_task_may_hold_its_array(void **state)
{
	const uint64_t words[] = { held(MLX_UNDER_WAY), held(MLX_UNDER_WAY) - LBX_MLX_FRONT, 7 };

	(void)state;
	runs(closure(words, 3));
	assert_int_equal(found("what its task reads, and what it writes, cannot be told apart"), 0);
	mlx_image_set(&image, image.arrays[MLX_UNDER_WAY], LBX_MLX_PRIMITIVE, MLX_PRIMITIVE, WORD);
	mlx_image_set(&image, image.arrays[MLX_UNDER_WAY], LBX_MLX_PRIMITIVE + WORD, MLX_PRIMITIVE - 16, WORD);
	assert_int_equal(found(""), MLX_UNDER_WAY);
}

/* The queue goes over the end of a block. */
static void what_is_not_read_is_written(void **state)
{
	static const int read[] = { MLX_MATRIX, MLX_HALF };
	const uint64_t words[] = { held(MLX_MATRIX), held(MLX_MATRIX) - LBX_MLX_FRONT, held(MLX_UNDER_WAY),
				   held(MLX_UNDER_WAY) - LBX_MLX_FRONT, 6 };
	const uint64_t other[] = { 1, 2, 3 };

	(void)state;
	runs(closure(words, 5));
	assert_int_equal(found("what its task reads, and what it writes, cannot be told apart"), 0);
	waits(closure(other, 3));
	waits(closure(other, 3));
	assert_int_equal(found("what its task reads, and what it writes, cannot be told apart"), 0);
	waits(holds(read, 2));
	assert_int_equal(found(""), MLX_UNDER_WAY);
	/* the first that holds any is its own */
	tasks = 0;
	waits(holds(read + 1, 1));
	waits(holds(read, 2));
	assert_int_equal(found("its task writes several"), 0);
}

/* Of which one alone is a tensor's; what is at the end may be of before. */
static void addresses_lead_there(void **state)
{
	static const int read[] = { MLX_MATRIX };
	const uint64_t words[] = { memory(MLX_MATRIX) + 4, memory(MLX_UNDER_WAY) + 8, 2, 0, 0, 0, 0 },
		       old[] = { memory(MLX_MATRIX), 2, 0, 0, memory(MLX_UNDER_WAY), 0, 0 },
		       several[] = { memory(MLX_HALF), memory(MLX_UNDER_WAY), 2, 0, 0, 0, 0 };

	(void)state;
	waits(holds(read, 1));
	runs(closure(words, 7));
	assert_int_equal(found("several have the memory that its task writes"), 0); /* the scalar has it, too */
	for (uint32_t i = 0; i < 2; i++)
		mlx_image_set(&image, image.arrays[MLX_SCALAR], LBX_MLX_DATA + i * WORD,
			      field(MLX_HALF, LBX_MLX_DATA + i * WORD), WORD);
	lbx_tensors_close(set);
	set = NULL;
	assert_int_equal(found(""), MLX_UNDER_WAY);
	runs(closure(old, 7));
	assert_int_equal(found("nothing but its tasks holds what it computes"), 0);
	runs(closure(several, 7));
	assert_int_equal(found("several have the memory that its task writes"), 0);
}

/* A stream has its tasks in functions of its own; what looks so elsewhere is of before. */
static void only_the_streams_functions_are_entered(void **state)
{
	static const int read[] = { MLX_MATRIX };
	const uint64_t words[] = { held(MLX_UNDER_WAY), held(MLX_UNDER_WAY) - LBX_MLX_FRONT, 6 };
	uint64_t outer[] = { STREAM, closure(words, 3), 0, CODE, CODE + 16 };
	uint64_t waiting[] = { STREAM, holds(read, 1), 0, CODE, CODE + 16 };

	(void)state;
	waits(closure(waiting, 5));
	runs(closure(outer, 5));
	assert_int_equal(found(""), MLX_UNDER_WAY);
	outer[0] = STREAM + 8;
	runs(closure(outer, 5));
	assert_int_equal(found("nothing but its tasks holds what it computes"), 0);
}

static void memory_that_malloc_has_not_given_is_not_read(void **state)
{
	static const int read[] = { MLX_MATRIX };
	const uint64_t words[] = { held(MLX_UNDER_WAY), held(MLX_UNDER_WAY) - LBX_MLX_FRONT, 6 };
	static const uint64_t sizes[] = { 0, 0x11, 0x29, 0x23, 0x100000001, UINT64_MAX };
	uint64_t at = closure(words, 3);

	(void)state;
	waits(holds(read, 1));
	runs(at);
	assert_int_equal(found(""), MLX_UNDER_WAY);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		put(at - WORD, sizes[i]);
		assert_int_equal(found("its task was not found"), 0);
	}
	put(at - WORD, 0x21);
	put(at + 0x18, 0x30); /* what follows says that it is free */
	assert_int_equal(found("its task was not found"), 0);
	runs(0);
	assert_int_equal(found("its task was not found"), 0);
}

/* Whatever word is another one, that array is found, or none. */
static void damage_names_no_other(void **state)
{
	static const int read[] = { MLX_MATRIX, MLX_HALF };
	const uint64_t words[] = { held(MLX_MATRIX), held(MLX_MATRIX) - LBX_MLX_FRONT, held(MLX_UNDER_WAY),
				   held(MLX_UNDER_WAY) - LBX_MLX_FRONT, memory(MLX_HALF) };
	const uint64_t outer[] = { STREAM, closure(words, 5), 0, CODE, CODE + 16 };
	int n = 0;

	(void)state;
	runs(closure(outer, 5));
	waits(holds(read, 2));
	assert_int_equal(found(""), MLX_UNDER_WAY);
	for (uint64_t run = 0; run < RUNS; run++) {
		uint64_t at = AT + lb_mix(run) % (SIZE / WORD) * WORD, before = regions_get(&image.regions, at, WORD);
		uint64_t other = AT + lb_mix(~run) % (SIZE / WORD) * WORD;
		const uint64_t values[] = { 0,     UINT64_MAX, before ^ 1ULL << lb_mix(run + 1) % 64,   before + 32,
					    other, CODE,       regions_get(&image.regions, other, WORD) };
		put(at, values[run % 7]);
		int array = found(NULL);
		assert_true(array == 0 || array == MLX_UNDER_WAY);
		n += array == 0;
		put(at, before);
	}
	assert_true(n > RUNS / 1000);
	assert_int_equal(found(""), MLX_UNDER_WAY);
}

int main(void)
{
	int newest = 0, oldest = 3;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate_setup_teardown(a_task_may_hold_its_array, start, tear_down, &oldest),
		cmocka_unit_test_prestate_setup_teardown(what_is_not_read_is_written, start, tear_down, &newest),
		cmocka_unit_test_prestate_setup_teardown(addresses_lead_there, start, tear_down, &newest),
		cmocka_unit_test_prestate_setup_teardown(only_the_streams_functions_are_entered, start, tear_down,
							 &newest),
		cmocka_unit_test_prestate_setup_teardown(memory_that_malloc_has_not_given_is_not_read, start, tear_down,
							 &newest),
		cmocka_unit_test_prestate_setup_teardown(damage_names_no_other, start, tear_down, &newest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
