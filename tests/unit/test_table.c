/* The symbol table's decoder, over memory made by hand: right, of another layout, damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "image.h"
#include "target/printable.h"

struct fixture {
	struct image image;
	struct lbx_table *table;
	struct lbx_tensors *tensors;
};

static void start(struct fixture *f, bool shuffled)
{
	lb_clear_error();
	f->table = NULL;
	image_create(&f->image, shuffled);
	image_populate(&f->image);
}

static void open_table(struct fixture *f)
{
	if (!lbx_table_create(&f->image.target, &f->table))
		fail_msg("%s", lb_error_message());
	f->tensors = lbx_table_tensors(f->table);
}

static void finish(struct fixture *f)
{
	lbx_table_destroy(f->table);
	image_destroy(&f->image);
	lb_clear_error();
}

static void refused(struct fixture *f, const char *message)
{
	assert_false(lbx_table_create(&f->image.target, &f->table));
	if (!strstr(lb_error_message(), message))
		fail_msg("'%s' does not say '%s'", lb_error_message(), message);
	f->table = NULL;
	finish(f);
}

static uint64_t count(struct fixture *f, uint64_t *bad)
{
	struct lbx_tensor t;
	uint64_t slot = 0, n = 0;
	enum lbx_next next;

	*bad = 0;
	while ((next = lbx_tensors_next(f->tensors, &slot, &t, bad)) == LBX_NEXT_TENSOR) {
		n++;
		assert_true(t.rank <= LB_MAX_RANK && t.size >= 0);
	}
	assert_int_equal(next, LBX_NEXT_END);
	assert_true(lb_ok());
	return n;
}

/* Names alone are what a walk over all tells. */
static void check_labels(struct fixture *f)
{
	uint64_t slots[] = { 0, 0 }, bad = 0, named = 0;
	struct lbx_label label;
	struct lbx_tensor t;

	while (lbx_tensors_next(f->tensors, &slots[0], &t, &bad) == LBX_NEXT_TENSOR) {
		assert_int_equal(lbx_tensors_next_label(f->tensors, &slots[1], &label), LBX_NEXT_TENSOR);
		assert_string_equal(label.name, t.name);
		assert_int_equal(label.key.id, t.id);
		assert_int_equal(label.key.address, t.address);
		assert_ptr_equal(label.key.of, f->tensors);
		assert_int_equal(slots[1], slots[0]);
		named += t.name[0] != '\0';
	}
	assert_int_equal(lbx_tensors_next_label(f->tensors, &slots[1], &label), LBX_NEXT_END);
	assert_true(named > 0);
}

static bool begins_with(const char *pattern, const char *name)
{
	return strncmp(name, pattern, strlen(pattern)) == 0;
}

/* A walk gives what it is to, counts what it leaves out, and has all again when that is over. */
static void check_wishes(struct fixture *f)
{
	struct lbx_wish wish = { .pattern = "layer.", .matches = begins_with };
	uint64_t slot = 0, bad = 0, n = 0, all = count(f, &bad);
	struct lbx_tensor t;

	lbx_tensors_want(f->tensors, &wish);
	for (; lbx_tensors_next(f->tensors, &slot, &t, &bad) == LBX_NEXT_TENSOR; n++)
		assert_true(begins_with("layer.", t.name));
	assert_true(n > 0);
	assert_int_equal(n + wish.left_out, all);
	wish = (struct lbx_wish){ .no_names = true };
	assert_int_equal(count(f, &bad), all);
	lbx_tensors_want(f->tensors, NULL);
	check_labels(f);
}

static void check_decoded(bool shuffled, bool maps)
{
	struct fixture f;
	struct lbx_tensor t, input;
	struct lbx_root root;
	uint64_t bad, pcs[8];

	start(&f, shuffled);
	f.image.maps = maps;
	open_table(&f);
	assert_true(lbx_table_valid(f.table));
	assert_true(lbx_table_root(f.table, &root));
	assert_string_equal(root.version, "9.8.7");
	assert_int_equal(root.pid, 4711);
	assert_int_equal(root.minor, shuffled ? LB_ABI_MINOR + 7 : LB_ABI_MINOR);
	assert_int_equal(root.rank, -1);
	assert_int_equal(root.counters.created, 100);
	assert_int_equal(root.counters.cache_limit, 113);
	assert_int_equal(root.watch_all_at, IMAGE_ROOT + offsetof(struct lb_symtab, watch_all));
	assert_int_equal(count(&f, &bad), 4 + LB_DTYPES);
	assert_int_equal(bad, 0);
	check_labels(&f);
	check_wishes(&f);

	assert_true(lbx_tensors_by_id(f.tensors, 2, &t));
	assert_string_equal(t.name, "layer.0/view");
	assert_string_equal(t.op, "transpose");
	assert_int_equal(t.op_class, LB_CLASS_VIEW);
	assert_int_equal(t.state, LB_STATE_READY);
	assert_int_equal(t.rank, 3);
	assert_int_equal(lbx_shape(&t)[0], 10);
	assert_int_equal(lbx_strides(&t)[2], -60);
	assert_int_equal(t.offset, 239);
	assert_int_equal(t.data, IMAGE_DATA);
	assert_int_equal(t.buffer_bytes, 960);
	assert_true(lbx_tensor_in_bounds(&t));
	assert_int_equal(lbx_tensor_contiguity(&t), LBX_STRIDED);
	assert_true(lbx_tensor_input(&t, 0, &input));
	assert_string_equal(input.name, "x");
	assert_int_equal(lbx_tensor_contiguity(&input), LBX_ROW_CONTIGUOUS);
	assert_int_equal(t.address + lbx_table_offsets(f.table).watch,
			 t.address + image_field(&f.image, LB_KIND_TENSOR, "watch")->offset);

	assert_true(lbx_tensors_by_id(f.tensors, 3, &t));
	assert_int_equal(t.state, LB_STATE_LAZY);
	assert_int_equal(lbx_tensor_stack(&t, pcs, 8), 2);
	assert_int_equal(pcs[1], 0x405678);
	assert_true(lbx_tensors_by_id(f.tensors, 4, &t));
	assert_int_equal(t.n_inputs, 5);
	assert_int_equal(lbx_tensor_input_id(&t, 4), 3);
	for (int dtype = 0; dtype < LB_DTYPES; dtype++) {
		assert_true(lbx_tensors_by_id(f.tensors, 5 + (uint64_t)dtype, &t));
		assert_int_equal(t.dtype, dtype);
		assert_string_equal(t.name, lbx_dtype_name(dtype));
	}
	finish(&f);
}

static void decodes_its_own_layout(void **state)
{
	(void)state;
	check_decoded(false, false);
	check_decoded(false, true);
}

static void decodes_another_layout(void **state)
{
	(void)state;
	check_decoded(true, false);
	check_decoded(true, true);
}

/* Many tensors take few reads. */
static void reads_are_large(void **state)
{
	struct fixture f;
	uint64_t bad;

	(void)state;
	start(&f, false);
	open_table(&f);
	f.image.reads = 0;
	assert_int_equal(count(&f, &bad), 4 + LB_DTYPES);
	assert_true(f.image.reads < 40);
	finish(&f);
}

#define ROOT(statement) \
	do { \
		struct lb_symtab *root; \
		start(&f, false); \
		root = image_root(&f.image); \
		statement; \
	} while (0)

static void impossible_roots_are_refused(void **state)
{
	struct fixture f;

	(void)state;
	ROOT(root->magic ^= 1);
	refused(&f, "magic");
	ROOT(root->magic = __builtin_bswap64(root->magic));
	refused(&f, "byte order");
	ROOT((root->major = 2, root->minor = 7));
	refused(&f, "version 2.7, this reader knows 1.x");
	ROOT(root->size = 8);
	refused(&f, "'size'");
	ROOT(root->size = 1 << 30);
	refused(&f, "'size'");
	ROOT(root->n_root_fields = UINT32_MAX);
	refused(&f, "'n_root_fields'");
	ROOT(root->n_kinds = 0);
	refused(&f, "'n_kinds'");
	ROOT(root->n_kinds = 64);
	refused(&f, "'kinds'");
	ROOT(root->root_fields = 0xdead0000);
	refused(&f, "root field descriptors: no memory at 0xdead0000");
	ROOT(root->n_ops = 100000);
	refused(&f, "'n_ops'");
	ROOT(root->n_dtypes = 100000);
	refused(&f, "'n_dtypes'");
	ROOT(root->ops = 8);
	refused(&f, "names of operations");
	ROOT(root->kinds[0].record_size = 3);
	refused(&f, "tensor field 'record_size'");
	ROOT(root->kinds[1].record_size = 1 << 20);
	refused(&f, "buffer field 'record_size'");
	ROOT(root->kinds[0].first_tier = 0);
	refused(&f, "'first_tier'");
	ROOT(root->kinds[0].first_tier = UINT64_MAX);
	refused(&f, "'first_tier'");
	ROOT(root->kinds[0].used = 1ULL << 60);
	refused(&f, "'used'");
	ROOT(root->kinds[0].n_fields = 0);
	refused(&f, "'n_fields'");
	ROOT(root->kinds[0].fields = UINT64_MAX - 8);
	refused(&f, "tensor field descriptors");
	ROOT(strcpy(root->kinds[0].kind, "sensor"));
	refused(&f, "no tensor records");
	start(&f, false);
	free(f.image.regions[0].bytes);
	f.image.regions[0] = (struct image_region){ 1, 0, NULL };
	refused(&f, "no memory at 0x10000");
}

static void impossible_fields_are_refused(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, false);
	strcpy(image_field(&f.image, LB_KIND_TENSOR, "strides")->name, "other");
	refused(&f, "tensor records have no field 'strides': its description is damaged");
	start(&f, true);
	strcpy(image_field(&f.image, LB_KIND_BUFFER, "data")->name, "other");
	refused(&f, "buffer records have no field 'data'");
	start(&f, false);
	image_field(&f.image, LB_KIND_TENSOR, "id")->width = 3;
	refused(&f, "tensor field 'id' is 3 bytes wide");
	start(&f, false);
	image_field(&f.image, LB_KIND_TENSOR, "rank")->width = 8;
	refused(&f, "tensor field 'rank' is 8 bytes wide");
	start(&f, false);
	image_field(&f.image, LB_KIND_TENSOR, "shape")->offset = 340;
	refused(&f, "tensor field 'shape' lies outside the record");
	start(&f, false);
	image_field(&f.image, LB_KIND_TENSOR, "shape")->count = 0;
	refused(&f, "tensor field 'shape' has no elements");
	start(&f, false);
	image_field(&f.image, LB_KINDS, "kinds")->offset = 1 << 20;
	refused(&f, "root field 'kinds' lies outside");
	start(&f, false);
	image_field(&f.image, LB_KINDS, "n_ops")->width = 16;
	refused(&f, "root field 'n_ops'");
	start(&f, false);
	strcpy(image_field(&f.image, LB_KINDS, "ops")->name, "other");
	refused(&f, "no field 'ops': its description is damaged, or read from a file that has changed");
	/* one that can be done without */
	start(&f, false);
	strcpy(image_field(&f.image, LB_KIND_TENSOR, "eval_ns")->name, "other");
	open_table(&f);
	finish(&f);
}

static void damaged_records_are_counted(void **state)
{
	static const struct {
		size_t offset;
		uint64_t value;
		uint8_t width;
		const char *message;
	} damages[] = {
#define DAMAGE(field, type, value, message) \
	{ offsetof(struct lbx_tensor_record, field), (uint64_t)(value), sizeof(type), message }
		DAMAGE(rank, uint8_t, 9, "its rank is 9"),
		DAMAGE(dtype, uint8_t, 200, "its dtype is 200"),
		DAMAGE(op, uint8_t, 255, "its operation is 255"),
		DAMAGE(state, uint8_t, 77, "its state is 77"),
		DAMAGE(size, int64_t, 5, "it has 5 elements but its shape makes 240"),
		DAMAGE(size, int64_t, -1, "it has -1 elements"),
		DAMAGE(shape, int64_t, -4, "axis 0 has -4 elements"),
		DAMAGE(shape, int64_t, INT64_MAX, "does not fit 64 bits"),
		DAMAGE(buffer, uint64_t, 0, "it is ready but has no buffer"),
		DAMAGE(buffer, uint64_t, 12345, "0x3039 is not a buffer record"),
		DAMAGE(buffer, uint64_t, IMAGE_BUFFERS + 8, "is not a buffer record"),
		DAMAGE(n_inputs, uint32_t, UINT32_MAX, "it has 4294967295 inputs"),
#undef DAMAGE
	};
	struct fixture f;
	struct lbx_tensor t;
	uint64_t bad;

	(void)state;
	for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
		start(&f, false);
		memcpy((char *)image_at(&f.image, IMAGE_TENSORS, 400) + damages[i].offset, &damages[i].value,
		       damages[i].width);
		open_table(&f);
		assert_int_equal(count(&f, &bad), 3 + LB_DTYPES);
		assert_int_equal(bad, 1);
		assert_false(lbx_tensors_by_id(f.tensors, 1, &t));
		if (!strstr(lb_error_message(), damages[i].message))
			fail_msg("'%s' does not say '%s'", lb_error_message(), damages[i].message);
		finish(&f);
	}
}

static void damaged_buffers(void **state)
{
	struct fixture f;
	struct lbx_tensor t;
	struct lbx_buffer b;

	(void)state;
	start(&f, false);
	struct lbx_buffer_record *r = image_at(&f.image, IMAGE_BUFFERS, sizeof *r);
	r->nbytes[0] = -5;
	open_table(&f);
	assert_false(lbx_tensors_by_id(f.tensors, 1, &t));
	assert_non_null(strstr(lb_error_message(), "is damaged: -5 bytes"));
	lb_clear_error();
	assert_false(lbx_tensors_next_buffer_at(f.tensors, &(uint64_t){ 0 }, IMAGE_DATA, &b));
	assert_true(lb_ok());
	r->nbytes[0] = INT64_MAX;
	r->data[0] = UINT64_MAX - 100;
	assert_true(lbx_table_valid(f.table));
	assert_false(lbx_tensors_by_id(f.tensors, 1, &t));
	lb_clear_error();
	r->id[0] = 0;
	r->data[0] = IMAGE_DATA;
	r->nbytes[0] = 960;
	assert_true(lbx_table_valid(f.table));
	assert_false(lbx_tensors_by_id(f.tensors, 1, &t));
	assert_non_null(strstr(lb_error_message(), "is freed"));
	lb_clear_error();
	/* too short for its tensors: they are shown, and known to leave it */
	r->id[0] = 1;
	r->nbytes[0] = 956;
	assert_true(lbx_table_valid(f.table));
	assert_true(lbx_tensors_by_id(f.tensors, 1, &t));
	assert_false(lbx_tensor_in_bounds(&t));
	finish(&f);
}

static void torn_and_freed(void **state)
{
	struct fixture f;
	struct lbx_tensor t;
	uint64_t bad;

	(void)state;
	start(&f, false);
	struct lbx_tensor_record *r = image_at(&f.image, IMAGE_TENSORS, 2 * sizeof *r);
	r[0].seq[0] = 3;
	r[1].state[0] = LB_STATE_FREED;
	open_table(&f);
	assert_int_equal(count(&f, &bad), 3 + LB_DTYPES);
	assert_int_equal(bad, 0);
	assert_true(lbx_tensors_by_address(f.tensors, IMAGE_TENSORS, &t));
	assert_true(t.torn);
	assert_false(lbx_tensors_by_address(f.tensors, IMAGE_TENSORS + sizeof *r, &t));
	assert_non_null(strstr(lb_error_message(), "(#2) has been freed"));
	lb_clear_error();
	assert_false(lbx_tensors_by_id(f.tensors, 2, &t));
	assert_non_null(strstr(lb_error_message(), "no tensor #2 any more"));
	lb_clear_error();
	assert_false(lbx_tensors_by_id(f.tensors, 5000, &t));
	assert_string_equal(lb_error_message(), "there is no tensor #5000");
	lb_clear_error();
	assert_false(lbx_tensors_by_address(f.tensors, IMAGE_TENSORS + 8, &t));
	assert_non_null(strstr(lb_error_message(), "8 bytes inside a record"));
	lb_clear_error();
	assert_false(lbx_tensors_by_address(f.tensors, 0x1234, &t));
	assert_non_null(strstr(lb_error_message(), "outside the tensor records"));
	finish(&f);
}

/* Records that were overwritten with zeros, where there was one thread: new slots are taken in their order. */
static void emptied(void **state)
{
	struct lbx_thread_record thread = { .generation = { 1 }, .id = { 4711 } };
	struct fixture f;
	struct lbx_tensor t;
	uint64_t bad, first, last;

	(void)state;
	for (int threads = 1; threads <= 2; threads++) {
		start(&f, false);
		struct lbx_tensor_record *r = image_at(&f.image, IMAGE_TENSORS, 4 * sizeof *r);
		memset(&r[1], 0, 2 * sizeof *r);
		image_root(&f.image)->kinds[LB_KIND_TENSOR].used += 2; /* at hand, and not used yet */
		for (int i = 0; i < threads; i++)
			image_thread(&f.image, i, &thread);
		open_table(&f);
		assert_int_equal(count(&f, &bad), 2 + LB_DTYPES);
		assert_int_equal(bad, threads == 1 ? 2 : 0);
		assert_int_equal(lbx_tensors_damage(f.tensors, &first, &last), threads == 1);
		assert_int_equal(first, threads == 1 ? IMAGE_TENSORS + sizeof *r : 0);
		assert_int_equal(last, threads == 1 ? IMAGE_TENSORS + 2 * sizeof *r : 0);
		assert_false(lbx_tensors_by_address(f.tensors, IMAGE_TENSORS + sizeof *r, &t));
		assert_non_null(strstr(lb_error_message(), "its record is empty; it was never used, or has been"));
		finish(&f);
	}
}

/* Slabs that are gone: what can be read is shown, the rest is counted, in bounded time. */
static void unreadable_slabs(void **state)
{
	struct fixture f;
	uint64_t bad;

	(void)state;
	start(&f, false);
	image_root(&f.image)->kinds[0].tiers[1] = 0xdead0000;
	open_table(&f);
	assert_int_equal(count(&f, &bad), IMAGE_FIRST_TIER);
	assert_int_equal(bad, 4 + LB_DTYPES - IMAGE_FIRST_TIER);
	finish(&f);
	start(&f, false);
	for (int i = 0; i < LB_TIERS; i++)
		image_root(&f.image)->kinds[0].tiers[i] = i ? UINT64_MAX - 4096 : IMAGE_TENSORS;
	image_root(&f.image)->kinds[0].used = (uint64_t)IMAGE_FIRST_TIER << 20;
	open_table(&f);
	assert_int_equal(count(&f, &bad), IMAGE_FIRST_TIER);
	assert_int_equal(bad, ((uint64_t)IMAGE_FIRST_TIER << 20) - IMAGE_FIRST_TIER);
	finish(&f);
	start(&f, false);
	image_root(&f.image)->kinds[0].used = 1ULL << 32;
	image_root(&f.image)->kinds[0].first_tier = 1ULL << 31;
	image_root(&f.image)->kinds[0].tiers[1] = 0x7f0000000000;
	open_table(&f);
	count(&f, &bad);
	assert_true(f.image.reads < 100000);
	finish(&f);
}

static void text_is_made_fit_for_a_terminal(void **state)
{
	static const char *const cases[][2] = {
		{ "q.w 1", "q.w 1" },
		{ "\u00fc \u65e5 \U0001f600", "\u00fc \u65e5 \U0001f600" },
		{ "\033[31m\x7f\n", "?[31m??" },
		{ "a\xc2\x9b"
		  "31m",
		  "a??31m" }, /* CSI as one character */
		{ "\xff\xc3.", "??." },
		{ "cut \xe6\x97", "cut ??" },
		{ "\xe0\x80\x8a \xed\xa0\x80", "??? ???" }, /* too long a form; a surrogate */
		{ "", "" },
	};
	char text[32];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		snprintf(text, sizeof text, "%s", cases[i][0]);
		lbx_make_printable(text);
		assert_string_equal(text, cases[i][1]);
	}
}

static void wild_names_inputs_and_stacks(void **state)
{
	struct fixture f;
	struct lbx_tensor t, input;
	uint64_t pcs[4];

	(void)state;
	start(&f, false);
	struct lbx_tensor_record *r = image_at(&f.image, IMAGE_TENSORS, 4 * sizeof *r);
	char *last = image_at(&f.image, f.image.names_end - 4, 4);
	memcpy(last, "ab\033d", 4); /* without an end */
	r[0].name[0] = f.image.names_end - 4;
	r[1].name[0] = 0xdead0000;
	r[1].inputs[0] = IMAGE_TENSORS + sizeof *r; /* itself */
	r[2].stack[0] = UINT32_MAX;
	r[3].more_inputs[0] = 0xdead0000;
	open_table(&f);
	assert_true(lbx_tensors_by_id(f.tensors, 1, &t));
	assert_true(strcmp(t.name, "") == 0 || strncmp(t.name, "ab?d", 4) == 0);
	assert_true(lbx_tensors_by_id(f.tensors, 2, &t));
	assert_string_equal(t.name, "");
	assert_true(lbx_tensor_input(&t, 0, &input));
	assert_int_equal(input.id, 2);
	assert_false(lbx_tensor_input(&t, 1, &input));
	lb_clear_error();
	assert_true(lbx_tensors_by_id(f.tensors, 3, &t));
	assert_int_equal(lbx_tensor_stack(&t, pcs, 4), 1);
	assert_int_equal(pcs[0], 0x401234);
	assert_true(lbx_tensors_by_id(f.tensors, 4, &t));
	assert_false(lbx_tensor_input(&t, 0, &input));
	lb_clear_error();
	assert_int_equal(lbx_tensor_input_id(&t, 0), 0);
	assert_true(lb_ok());
	finish(&f);
}

static void compiled_functions(void **state)
{
	struct lbx_compiled_record r = { .id = { 3 }, .calls = { 7 }, .reason = { 0x10 } };
	struct lbx_compiled c;
	struct fixture f;
	uint64_t slot = 0;

	(void)state;
	start(&f, false);
	r.name[0] = image_name(&f.image, "f\033[31m");
	memcpy(image_at(&f.image, IMAGE_COMPILED + sizeof r, sizeof r), &r, sizeof r);
	image_root(&f.image)->kinds[LB_KIND_COMPILED].used = 2; /* the first one is freed */
	open_table(&f);
	assert_true(lbx_table_compiled(f.table, &slot, &c));
	assert_int_equal(c.id, 3);
	assert_int_equal(c.calls, 7);
	assert_string_equal(c.name, "f?[31m");
	assert_string_equal(c.reason, "");
	assert_false(lbx_table_compiled(f.table, &slot, &c));
	assert_true(lb_ok());
	finish(&f);

	/* an older program has none */
	start(&f, false);
	strcpy(image_root(&f.image)->kinds[LB_KIND_COMPILED].kind, "other");
	open_table(&f);
	slot = 0;
	assert_false(lbx_table_compiled(f.table, &slot, &c));
	assert_true(lb_ok());
	finish(&f);
}

/* Streams in use, one with a text that cannot be read, one never used. */
static void streams(void **state)
{
	(void)state;
	for (int shuffled = 0; shuffled < 2; shuffled++) {
		struct fixture f;
		struct lbx_stream s[4];
		char long_error[600];

		start(&f, shuffled);
		memset(long_error, 'e', sizeof long_error);
		long_error[sizeof long_error - 1] = '\0';
		struct lbx_stream_record r = {
			.seq = { 2 },
			.generation = { 1 },
			.id = { 0 },
			.thread = { 4712 },
			.queued = { 2 },
			.done = { 11 },
			.failed = { 1 },
			.eval = { 14 },
			.error = { image_name(&f.image, long_error) },
		};
		image_stream(&f.image, 0, &r);
		image_stream(&f.image, 1, &(struct lbx_stream_record){ .id = { 1 } });
		r = (struct lbx_stream_record){
			.seq = { 2 },
			.generation = { 1 },
			.id = { 2 },
			.name = { image_name(&f.image, "io\033[31m") },
			.error = { 0xdead0000 },
		};
		image_stream(&f.image, 2, &r);
		open_table(&f);
		uint64_t slot = 0;
		assert_true(lbx_table_stream(f.table, &slot, &s[0]));
		assert_true(lbx_table_stream(f.table, &slot, &s[1]));
		assert_false(lbx_table_stream(f.table, &slot, &s[2]));
		assert_true(lb_ok());
		assert_int_equal(s[0].id, 0);
		assert_int_equal(s[0].thread, 4712);
		assert_int_equal(s[0].queued, 2);
		assert_int_equal(s[0].done, 11);
		assert_int_equal(s[0].failed, 1);
		assert_int_equal(s[0].eval, 14);
		assert_string_equal(s[0].name, "");
		assert_int_equal(strspn(s[0].error, "e"), strlen(s[0].error));
		assert_int_equal(strlen(s[0].error), sizeof s[0].error - 1);
		assert_int_equal(s[1].id, 2);
		assert_int_equal(s[1].thread, 0);
		assert_string_equal(s[1].name, "io?[31m");
		assert_string_equal(s[1].error, "");
		finish(&f);
	}

	/* an older program has none */
	struct fixture f;
	struct lbx_stream s;
	uint64_t slot = 0;
	start(&f, false);
	image_stream(&f.image, 0, &(struct lbx_stream_record){ .generation = { 1 } });
	strcpy(image_root(&f.image)->kinds[LB_KIND_STREAM].kind, "other");
	open_table(&f);
	assert_false(lbx_table_stream(f.table, &slot, &s));
	assert_true(lb_ok());
	finish(&f);

	/* records that are gone */
	start(&f, false);
	image_stream(&f.image, 0, &(struct lbx_stream_record){ .generation = { 1 } });
	image_root(&f.image)->kinds[LB_KIND_STREAM].tiers[0] = 0xdead0000;
	open_table(&f);
	assert_false(lbx_table_stream(f.table, &slot, &s));
	assert_true(lb_ok());
	finish(&f);
}

static void notices_another_process(void **state)
{
	struct fixture f;

	(void)state;
	start(&f, false);
	open_table(&f);
	assert_true(lbx_table_valid(f.table));
	image_root(&f.image)->pid++;
	assert_false(lbx_table_valid(f.table));
	image_root(&f.image)->pid--;
	image_root(&f.image)->magic = 0;
	assert_false(lbx_table_valid(f.table));
	assert_true(lb_ok());
	finish(&f);
}

/* A program that runs: pieces as large as the cache's show it at another moment than the reads after. */
static struct running {
	bool (*read)(struct lbx_target *target, uint64_t address, void *to, size_t n);
	enum { AS_IT_WAS, FREED_SINCE, ALWAYS_ELSEWHERE, ALWAYS_THE_SAME, NEVER_DONE } how;
	uint64_t record, read_alone;
	uint32_t changes;
} running;

static bool running_read(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	struct lbx_tensor_record *r = image_at((struct image *)target, running.record, sizeof *r);
	uint64_t at = running.record + offsetof(struct lbx_tensor_record, size) - address;

	if (address == running.record || address == running.record + offsetof(struct lbx_tensor_record, seq))
		running.read_alone++;
	if (n < LBX_RECORD_MAX && running.how == ALWAYS_ELSEWHERE)
		r->seq[0] += 2;
	if (!running.read(target, address, to, n))
		return false;
	bool whole = address <= running.record && n >= sizeof *r && at < n - 8;
	if (whole && (n > LBX_RECORD_MAX || running.how == ALWAYS_ELSEWHERE || running.how == ALWAYS_THE_SAME))
		memset((char *)to + at, 0x55, 8);
	if (n > LBX_RECORD_MAX && whole && running.how == FREED_SINCE)
		r->state[0] = LB_STATE_FREED;
	if (n > LBX_RECORD_MAX && whole && running.how == NEVER_DONE)
		r->seq[0] |= 1;
	return true;
}

static bool it_runs(struct lbx_target *target)
{
	(void)target;
	return true;
}

static uint64_t count_running(int how, uint64_t *bad)
{
	struct fixture f;
	struct lbx_target_ops ops;

	start(&f, false);
	ops = *f.image.target.ops;
	running = (struct running){ .read = ops.read, .how = how, .record = IMAGE_TENSORS };
	ops.read = running_read;
	ops.runs = it_runs;
	f.image.target.ops = &ops;
	open_table(&f);
	uint64_t n = count(&f, bad);
	assert_true(running.read_alone > 0);
	finish(&f);
	return n;
}

static void what_a_running_program_changes_is_read_again(void **state)
{
	const uint64_t all = 4 + LB_DTYPES;
	uint64_t bad;

	(void)state;
	assert_int_equal(count_running(AS_IT_WAS, &bad), all);
	assert_int_equal(bad, 0);
	assert_int_equal(count_running(FREED_SINCE, &bad), all - 1);
	assert_int_equal(bad, 0);
	assert_int_equal(count_running(ALWAYS_ELSEWHERE, &bad), all - 1);
	assert_int_equal(bad, 0);
	/* these are damaged */
	assert_int_equal(count_running(ALWAYS_THE_SAME, &bad), all - 1);
	assert_int_equal(bad, 1);
	assert_int_equal(count_running(NEVER_DONE, &bad), all - 1);
	assert_int_equal(bad, 1);
}

static uint64_t pieces;

static bool count_pieces(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	(void)target;
	(void)address;
	memset(to, 0, n);
	pieces++;
	return true;
}

/* What lies in two of the cache's lines is read at once where the lines are of different moments. */
static void a_record_is_of_one_read(void **state)
{
	const struct lbx_target_ops ops = { .read = count_pieces, .runs = it_runs };
	struct lbx_target target = { .ops = &ops };
	struct lbx_cache *cache = lbx_cache_create(&target);
	char scratch[64];

	(void)state;
	assert_non_null(cache);
	for (int i = 0; i < 2; i++) {
		pieces = 0;
		assert_ptr_equal(lbx_cache_at(cache, 0x103fe0, sizeof scratch, scratch), scratch);
		assert_int_equal(pieces, 1);
	}
	lbx_cache_destroy(cache);
}

enum { HOLE = 0x200000, HOLE_END = HOLE + 0x1000 };
static unsigned char filled;
static size_t longest;

static bool with_a_hole(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	(void)target;
	if (address < HOLE_END && address + n > HOLE)
		return lb_fail("a hole");
	memset(to, filled, n);
	pieces++;
	longest = n > longest ? n : longest;
	return true;
}

/* Who goes on gets long pieces, and who jumps to and fro does not; what memory holds anew is seen, and what is before and
 * behind memory that cannot be read. */
static void records_are_read_onward(void **state)
{
	const struct lbx_target_ops ops = { .read = with_a_hole };
	struct lbx_target target = { .ops = &ops };
	struct lbx_cache *cache = lbx_cache_create(&target);
	enum { SIZE = 0x180, N = 4000 };
	unsigned char scratch[SIZE];
	const uint64_t begin = HOLE - N / 2 * SIZE, end = begin + N * SIZE;

	(void)state;
	assert_non_null(cache);
	for (filled = 1; filled < 3; filled++) {
		int unreadable = 0;
		pieces = longest = 0;
		for (uint64_t at = begin; at < end; at += SIZE) {
			const unsigned char *bytes = lbx_cache_onward(cache, at, SIZE, end, scratch);
			if (!bytes) {
				assert_true(at < HOLE_END && at + SIZE > HOLE);
				lb_clear_error();
				unreadable++;
				continue;
			}
			assert_int_equal(bytes[0], filled);
			assert_int_equal(bytes[SIZE - 1], filled);
			assert_true(at >= HOLE_END || at + SIZE <= HOLE);
		}
		assert_int_equal(unreadable, (HOLE_END - HOLE + SIZE - 1) / SIZE);
		assert_true(longest > 0x8000);
		assert_true(pieces < N / 10);
		lbx_cache_clear(cache);
	}
	longest = 0;
	for (uint64_t i = 0; i < 100; i++)
		assert_non_null(lbx_cache_onward(cache, HOLE_END + (i * 7919 % 1000) * SIZE, SIZE, UINT64_MAX,
						 scratch));
	assert_true(longest <= 0x4000);
	lbx_cache_destroy(cache);
}

/* Directories that claim very many records where there is no memory: an end, soon. */
static void lost_tiers_are_skipped(void **state)
{
	static const enum lb_kind kinds[] = { LB_KIND_BUFFER, LB_KIND_THREAD, LB_KIND_STREAM, LB_KIND_COMPILED,
					      LB_KIND_GRAPH };
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct lbx_thread thread;
		struct lbx_stream stream;
		struct lbx_compiled compiled;
		struct lbx_eval_graph graph;
		struct lbx_buffer buffer;
		uint64_t slot = 0;
		start(&f, false);
		struct lb_slab_directory *d = &image_root(&f.image)->kinds[kinds[i]];
		d->used = (uint64_t)IMAGE_FIRST_TIER << 26;
		for (int tier = 1; tier < LB_TIERS; tier++)
			d->tiers[tier] = 0x7000000000 + ((uint64_t)tier << 45);
		open_table(&f);
		f.image.reads = 0;
		while (lbx_table_thread(f.table, &slot, &thread))
			;
		slot = 0;
		while (lbx_table_stream(f.table, &slot, &stream))
			;
		slot = 0;
		while (lbx_table_compiled(f.table, &slot, &compiled))
			;
		slot = 0;
		while (lbx_table_graph(f.table, &slot, &graph))
			;
		assert_false(lbx_tensors_next_buffer_at(f.tensors, &(uint64_t){ 0 }, 0x10, &buffer));
		assert_true(f.image.reads < 4096 * LB_TIERS * 3);
		finish(&f);
	}
}

static bool (*image_reads)(struct lbx_target *target, uint64_t address, void *to, size_t n);

static bool zeros_beyond(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	if (address < 0x7000000000)
		return image_reads(target, address, to, n);
	((struct image *)target)->reads++;
	memset(to, 0, n);
	return true;
}

/* Directories that claim very many threads or streams, where the memory is there: no records. */
static void endless_threads_end(void **state)
{
	static const enum lb_kind kinds[] = { LB_KIND_THREAD, LB_KIND_STREAM };
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		struct lbx_target_ops zeros;
		struct lbx_thread thread;
		struct lbx_stream stream;
		uint64_t slot = 0;
		start(&f, false);
		struct lb_slab_directory *d = &image_root(&f.image)->kinds[kinds[i]];
		d->used = (uint64_t)IMAGE_FIRST_TIER << 22;
		for (int tier = 1; tier < LB_TIERS; tier++)
			d->tiers[tier] = 0x7000000000 + ((uint64_t)tier << 45);
		zeros = *f.image.target.ops;
		image_reads = zeros.read;
		zeros.read = zeros_beyond;
		f.image.target.ops = &zeros;
		open_table(&f);
		f.image.reads = 0;
		while (lbx_table_thread(f.table, &slot, &thread))
			;
		slot = 0;
		while (lbx_table_stream(f.table, &slot, &stream))
			;
		assert_true(f.image.reads < 2000);
		finish(&f);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(decodes_its_own_layout),
		cmocka_unit_test(decodes_another_layout),
		cmocka_unit_test(reads_are_large),
		cmocka_unit_test(impossible_roots_are_refused),
		cmocka_unit_test(impossible_fields_are_refused),
		cmocka_unit_test(damaged_records_are_counted),
		cmocka_unit_test(damaged_buffers),
		cmocka_unit_test(torn_and_freed),
		cmocka_unit_test(emptied),
		cmocka_unit_test(unreadable_slabs),
		cmocka_unit_test(text_is_made_fit_for_a_terminal),
		cmocka_unit_test(wild_names_inputs_and_stacks),
		cmocka_unit_test(compiled_functions),
		cmocka_unit_test(streams),
		cmocka_unit_test(notices_another_process),
		cmocka_unit_test(lost_tiers_are_skipped),
		cmocka_unit_test(endless_threads_end),
		cmocka_unit_test(what_a_running_program_changes_is_read_again),
		cmocka_unit_test(a_record_is_of_one_read),
		cmocka_unit_test(records_are_read_onward),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
