/* PyTorch's tensors in a program whose memory anybody may have written: in each layout that is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <elf.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/tensor/array.h"
#include "python/variables.h"
#include "torch/record.h"
#include "torch/torch.h"
#include "torch_image.h"
#include "walk_all.h"

enum { ROWS = 4, N = 14, W = 13, Y = 14, GONE = 16 };

static struct torch_image image;
static struct lbx_tensors *set;
static int row;

static int start(void **state)
{
	(void)state;
	torch_image_create(&image, row);
	torch_image_populate(&image);
	torch_image_learn(&image);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	lbx_tensors_close(set);
	set = NULL;
	lb_clear_error();
	torch_image_destroy(&image);
	return 0;
}

static bool look(void)
{
	lbx_tensors_close(set);
	set = NULL;
	lb_clear_error();
	return lbx_torch_open(&image.target, false, NULL, NULL, &set);
}

static struct lbx_tensor tensor(uint64_t id)
{
	struct lbx_tensor t;

	if (!set && !look())
		fail_msg("%s", lb_error_message());
	if (!lbx_tensors_by_id(set, id, &t))
		fail_msg("%s", lb_error_message());
	return t;
}

static void each_layout_is_found(void **state)
{
	uint64_t bad;

	(void)state;
	assert_true(look());
	assert_int_equal(walk_all(set, &bad), N);
	assert_int_equal(bad, 0);
}

static void is(uint64_t id, int n, const float *expected)
{
	struct lbx_tensor t = tensor(id);
	struct lbx_array a;
	float values[24];

	assert_int_equal(t.state, LBX_READY);
	if (!lbx_array_of_tensor(&image.target, &t, &a) || !lbx_array_copy(&a, 0, n, values))
		fail_msg("%s", lb_error_message());
	assert_int_equal(a.size, n);
	for (int i = 0; i < n; i++)
		assert_float_equal(values[i], expected[i], 0);
}

static void values_are_read(void **state)
{
	(void)state;
	is(2, 6, (float[]){ 1, 3, 9, 11, 17, 19 });
	is(4, 1, (float[]){ 0 });
}

/* (q - zero) * scale, by one scale of 1/2 and the zero point 3; by 1/2 and 1, 1/4 and -1 for the two rows */
static void quantised_ones_are_scaled(void **state)
{
	struct lbx_tensor one = tensor(9), rows = tensor(12);

	(void)state;
	regions_copy(&image.regions, one.data, (unsigned char[]){ 3, 4, 5, 0, 255, 128 }, 6);
	regions_copy(&image.regions, rows.data, (signed char[]){ 1, 2, -128, -1, 3, 127 }, 6);
	is(9, 6, (float[]){ 0, 0.5f, 1, -1.5f, 126, 62.5f });
	is(12, 6, (float[]){ 0, 0.5f, -64.5f, 0, 1, 32 });
}

static void states_are_told(void **state)
{
	(void)state;
	assert_int_equal(tensor(5).size, 0);
	assert_int_equal(tensor(6).state, LBX_ON_DEVICE);
	assert_string_equal(tensor(6).place, "cuda:2");
	assert_int_equal(tensor(7).state, LBX_OPAQUE);
	assert_int_equal(tensor(8).state, LBX_OPAQUE);
	assert_string_equal(tensor(8).place, "at::SparseTensorImpl");
}

/* Each word of each object in turn, by what is likely to lead astray. */
static void no_word_leads_astray(void **state)
{
	static const uint64_t values[] = {
		0, 65, UINT64_MAX, 1ULL << 62, TORCH_HEAP, TORCH_DATA, TORCH_CLASSES + 0x28
	};
	uint64_t end = image.heap, bad;

	(void)state;
	for (uint64_t at = TORCH_HEAP; at < end; at += 8)
		for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
			uint64_t before = regions_get(&image.regions, at, 8);
			regions_put(&image.regions, at, values[i], 8);
			if (look())
				assert_in_range(walk_all(set, &bad), N - 2, N + 1);
			else
				assert_false(lb_ok());
			regions_put(&image.regions, at, before, 8);
		}
}

static void is_complex(unsigned dtype, const void *bytes, size_t n)
{
	uint64_t data = image.data, at = torch_image_tensor(&image, &image.tensor, dtype, 1, (const int64_t[]){ 2 },
							    torch_image_storage(&image, n));
	float values[4];
	struct lbx_tensor t;
	struct lbx_array a;

	regions_copy(&image.regions, data, bytes, n);
	assert_true(look());
	assert_true(lbx_tensors_by_address(set, at, &t));
	assert_int_equal(t.dtype, LB_C64);
	if (!lbx_array_of_tensor(&image.target, &t, &a) || !lbx_array_copy(&a, 0, 2, values))
		fail_msg("%s", lb_error_message());
	for (int i = 0; i < 4; i++)
		assert_float_equal(values[i], ((const float[]){ 1, -2, 0.5f, 4 })[i], 0);
}

/* 1 - 2i and 1/2 + 4i, as halves and as doubles. */
static void complex_ones_are_rounded(void **state)
{
	static const uint16_t halves[] = { 0x3c00, 0xc000, 0x3800, 0x4400 };
	static const double doubles[] = { 1 + 1e-12, -2, 0.5, 4 };

	(void)state;
	is_complex(TORCH_C32, halves, sizeof halves);
	is_complex(TORCH_C128, doubles, sizeof doubles);
}

static struct lbx_tensor input(const struct lbx_tensor *t, uint32_t i)
{
	struct lbx_tensor ret;

	if (!lbx_tensor_input(t, i, &ret))
		fail_msg("%s", lb_error_message());
	return ret;
}

/* y = w * … + w: the product is gone, but for its node. */
static void autograds_graph_is_followed(void **state)
{
	struct lbx_tensor y = tensor(Y), product, w;

	(void)state;
	assert_string_equal(y.op, "AddBackward0");
	assert_int_equal(y.n_inputs, 2);
	product = input(&y, 0);
	assert_string_equal(product.op, "MulBackward0");
	assert_int_equal(product.id, GONE);
	assert_int_equal(product.state, LBX_FREED);
	assert_string_equal(lbx_tensor_dtype_name(&product), "float32");
	assert_int_equal(product.rank, 2);
	assert_int_equal(lbx_shape(&product)[0], 3);
	w = input(&product, 0);
	assert_int_equal(w.id, W);
	assert_int_equal(w.n_inputs, 0);
	assert_int_equal(input(&y, 1).id, W);
	assert_false(lbx_tensor_input(&y, 2, &w));
}

static void keep_fact(void *context, const char *name, const char *text)
{
	char *to = context;
	size_t n = strlen(to);

	snprintf(to + n, 1024 - n, "%s: %s\n", name, text);
}

static const char *facts_of(uint64_t id)
{
	static char text[1024];
	struct lbx_tensor t = tensor(id);

	text[0] = '\0';
	lbx_tensors_facts(set, &t, keep_fact, text);
	return text;
}

static void parts_of_a_sparse_one_are_told(void **state)
{
	(void)state;
	assert_non_null(strstr(facts_of(8), "indices: #11\nvalues: #10\n"));
	/* as many values as indices there must be */
	uint64_t values = tensor(10).address;
	regions_put(&image.regions, values + image.layout.rank + LBX_TORCH_SIZES, 1, 8);
	regions_put(&image.regions, values + image.layout.rank + LBX_TORCH_NUMEL, 1, 8);
	assert_null(strstr(facts_of(8), "indices"));
}

static void what_autograd_knows_is_told(void **state)
{
	const char *of_w = facts_of(W);

	(void)state;
	assert_non_null(strstr(of_w, "requires_grad: True\ngrad: #14\n"));
	const char *of_y = facts_of(Y);
	assert_non_null(strstr(of_y, "requires_grad: True\ngrad: None\n"));
	assert_non_null(strstr(of_y, "graph: 3 nodes, 1 of them"));
	assert_non_null(strstr(of_y, "keeps: at least 1 tensor for the way back: #13\n"));
	assert_non_null(strstr(facts_of(1), "requires_grad: False\n"));
	/* one that is there, and was not found, is not none */
	uint64_t meta = regions_get(&image.regions, tensor(Y).address + image.layout.behind + LBX_TORCH_AUTOGRAD, 8);
	regions_put(&image.regions, meta + TORCH_GRADIENT, TORCH_DATA + 8, 8);
	assert_non_null(strstr(facts_of(Y), "grad: at 0x30000008, which was not found\n"));
}

/* That computed y. */
static uint64_t autograd_node(void)
{
	uint64_t meta = regions_get(&image.regions, tensor(Y).address + image.layout.behind + LBX_TORCH_AUTOGRAD, 8);

	return regions_get(&image.regions, meta + TORCH_FUNCTION, 8);
}

/* Code that nobody has seen yet tells nothing; nor do nodes whose edges lead elsewhere. */
static void what_is_not_certain_is_not_told(void **state)
{
	(void)state;
	regions_put(&image.regions, TORCH_CODE + 0x82, 0x57, 1);
	assert_true(look());
	assert_int_equal(tensor(Y).n_inputs, 0);
	assert_null(strstr(facts_of(W), "grad"));
	regions_put(&image.regions, TORCH_CODE + 0x82, 0x47, 1);
	uint64_t vector = regions_get(&image.regions, autograd_node() + TORCH_EDGES, 8);
	regions_put(&image.regions, vector + 0x20, TORCH_DATA, 8);
	assert_true(look());
	assert_int_equal(tensor(Y).n_inputs, 0);
	assert_non_null(strstr(facts_of(W), "requires_grad: True"));
}

static void is_called(const char *name)
{
	assert_true(look());
	assert_string_equal(tensor(W).name, name);
	assert_true(lb_ok());
}

static void modules_of_cpp_have_names(void **state)
{
	struct torch_nets nets = torch_image_nets(&image, tensor(W).address);
	uint64_t child = nets.part + 0x20, end = nets.linear + TORCH_NET_PARAMETERS + TORCH_NET_ITEMS + 8;

	(void)state;
	is_called("net.fc.weight");
	assert_string_equal(tensor(14).name, "net.fc.weight.grad");
	assert_int_equal(tensor(W).usage, LBX_USAGE_WEIGHTS);
	assert_int_equal(tensor(14).usage, LBX_USAGE_COMPUTE);
	assert_non_null(strstr(facts_of(W), "holder: net\n"));
	/* it is none's part: its own class has the name */
	regions_put(&image.regions, child, nets.net, 8);
	is_called("linear.weight");
	regions_put(&image.regions, child, nets.linear, 8);
	/* each is the other's part */
	regions_put(&image.regions, nets.linear + TORCH_NET_CHILDREN + TORCH_NET_COUNT, 1, 8);
	for (uint64_t at = TORCH_NET_ITEMS, i = 0; i < 3; i++, at += 8)
		regions_put(&image.regions, nets.linear + TORCH_NET_CHILDREN + at, nets.part + 0x100 + (i ? 0x30 : 0),
			    8);
	regions_put(&image.regions, nets.part + 0x100, nets.part + 0x110, 8);
	regions_put(&image.regions, nets.part + 0x108, 3, 8);
	regions_put(&image.regions, nets.part + 0x110, 0x746567 /* "get" */, 8);
	regions_put(&image.regions, nets.part + 0x120, nets.net, 8);
	is_called("");
	regions_put(&image.regions, nets.linear + TORCH_NET_CHILDREN + TORCH_NET_COUNT, 0, 8);
	is_called("net.fc.weight");
	/* more items than the hash table has, or more than there is memory */
	regions_put(&image.regions, end, nets.items + 0x50, 8);
	is_called("");
	regions_put(&image.regions, end, nets.items + 0x28, 8);
	/* a name that is none, or too long */
	regions_put(&image.regions, nets.items + 8, UINT64_MAX, 8);
	is_called("");
	regions_put(&image.regions, nets.items + 8, 6, 8);
	regions_put(&image.regions, nets.items + 0x10, 0x07, 1);
	is_called("");
	regions_put(&image.regions, nets.items + 0x10, 'w', 1);
	/* another string where a module calls its keys */
	regions_put(&image.regions, nets.linear + TORCH_NET_PARAMETERS + 0x60, 'p', 1);
	is_called("");
}

/* In wheels up to 2.5 the flag is near enough for one byte to tell where: libtorch_cpu.so of 2.2.2. */
static void code_with_short_distances_is_understood(void **state)
{
	static const unsigned char load[] = { 0x0f, 0xb6, 0x47, 0x78, 0x84, 0xc0, 0x75, 0x08, 0x48,
					      0x83, 0x7f, 0x30, 0x00, 0x0f, 0x95, 0xc0, 0xc3 };
	uint64_t meta = regions_get(&image.regions, tensor(W).address + image.layout.behind + LBX_TORCH_AUTOGRAD, 8);

	(void)state;
	regions_put(&image.regions, meta + TORCH_REQUIRES, 0, 1);
	regions_put(&image.regions, meta + 0x78, 1, 1);
	regions_copy(&image.regions, TORCH_CODE + 0x40, load, sizeof load);
	assert_true(look());
	assert_non_null(strstr(facts_of(W), "requires_grad: True\ngrad: #14\n"));
	assert_non_null(strstr(facts_of(Y), "graph: 3 nodes, 1 of them"));
}

/* The functions of libtorch_cpu.so in the wheel of 2.13.0 for aarch64. */
static void code_of_aarch64_is_understood(void **state)
{
	static const unsigned char requires[] = { 0xe1, 0x03, 0x00, 0xaa, 0x00, 0x00, 0x42, 0x39, 0x80, 0x00, 0x00,
						  0x37, 0x20, 0x18, 0x40, 0xf9, 0x1f, 0x00, 0x00, 0xf1, 0xe0, 0x07,
						  0x9f, 0x1a, 0xc0, 0x03, 0x5f, 0xd6, 0x1f, 0x20, 0x03, 0xd5 },
				   gradient[] = { 0x00, 0xa0, 0x00, 0x91, 0xc0, 0x03, 0x5f, 0xd6 };

	(void)state;
	image.regions.machine = EM_AARCH64;
	assert_true(look());
	assert_null(strstr(facts_of(W), "grad")); /* this is x86-64's */
	regions_copy(&image.regions, TORCH_CODE + 0x40, requires, sizeof requires);
	regions_copy(&image.regions, TORCH_CODE + 0x80, gradient, sizeof gradient);
	assert_true(look());
	assert_non_null(strstr(facts_of(W), "requires_grad: True\ngrad: #14\n"));
	assert_non_null(strstr(facts_of(Y), "graph: 3 nodes, 1 of them"));
	/* a word that is loaded through x0, where the byte is by then */
	regions_put(&image.regions, TORCH_CODE + 0x4c, 0x00, 1);
	assert_true(look());
	assert_null(strstr(facts_of(W), "requires_grad: True"));
}

static bool stop_at_once(void *context, int64_t done)
{
	(void)context, (void)done;
	return false;
}

static void a_search_can_be_stopped(void **state)
{
	(void)state;
	assert_false(lbx_torch_open(&image.target, false, stop_at_once, NULL, &set));
}

/* ---- a program that runs while it is looked at ---- */

/* What the second look finds otherwise; 0: nothing. */
static uint64_t changed_at, n_changed;

static bool read_again(struct lbx_target *now, uint64_t address, void *to, size_t n)
{
	(void)now;
	if (!lbx_target_read(&image.target, address, to, n))
		return false;
	if (changed_at >= address && changed_at - address < n)
		((unsigned char *)to)[changed_at - address] ^= 1;
	return true;
}

static struct lbx_target *look_again(struct lbx_target *target)
{
	static const struct lbx_target_ops ops = { .read = read_again };
	static struct lbx_target now = { .ops = &ops };

	(void)target;
	return &now;
}

static bool it_runs(struct lbx_target *target)
{
	(void)target;
	return true;
}

static void count_changed(struct lbx_target *target, uint64_t n)
{
	(void)target;
	n_changed += n;
}

static void what_changes_meanwhile_is_left_out(void **state)
{
	struct lbx_target_ops ops = *image.target.ops;
	uint64_t at = tensor(2).address, bad, rank = image.layout.rank;
	struct lbx_torch_record r;
	(void)state;

	ops.now = look_again;
	ops.runs = it_runs;
	ops.changed = count_changed;
	image.target.ops = &ops;
	changed_at = n_changed = 0;
	assert_true(look());
	assert_int_equal(walk_all(set, &bad), N);
	assert_int_equal(n_changed, 0);
	/* the class, an axis, where it begins, the dtype */
	const uint64_t fields[] = { at, at + rank + LBX_TORCH_SIZES, at + rank + LBX_TORCH_OFFSET,
				    at + rank + LBX_TORCH_DTYPE };
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		changed_at = fields[i];
		n_changed = 0;
		assert_true(look());
		assert_int_equal(walk_all(set, &bad), N - 1);
		assert_int_equal(n_changed, 1);
		assert_false(lbx_tensors_by_address(set, at, &(struct lbx_tensor){ .id = 0 }));
		lb_clear_error();
	}
	/* who else holds it does not matter */
	changed_at = at + LBX_TORCH_COUNTS + 1;
	n_changed = 0;
	assert_true(look());
	assert_int_equal(walk_all(set, &bad), N);
	assert_int_equal(n_changed, 0);
	/* where its storage's memory is does */
	lbx_target_read(&image.target, at + image.layout.behind + LBX_TORCH_STORAGE_AT, &r.storage, sizeof r.storage);
	changed_at = r.storage + image.layout.behind + LBX_TORCH_STORAGE_DATA;
	assert_true(look());
	assert_true(n_changed > 0);
	assert_int_equal(walk_all(set, &bad), N - (int)n_changed);
	/* in the copy it is none, now it is: half of it is of another moment */
	changed_at = at + rank + 1;
	n_changed = 0;
	uint64_t axes = regions_get(&image.regions, changed_at, 1);
	regions_put(&image.regions, changed_at, axes ^ 1, 1);
	assert_true(look());
	assert_int_equal(walk_all(set, &bad), N - 1);
	assert_int_equal(n_changed, 1);
	assert_int_equal(bad, 0);
	/* it is none, and stays so */
	changed_at = 0;
	assert_false(look());
	assert_non_null(strstr(lb_error_message(), "of 14 the best layout fits 13"));
	lb_clear_error();
	regions_put(&image.regions, at + rank + 1, axes, 1);
	lbx_tensors_close(set);
	set = NULL;
}

/* Of programs with few tensors: what decides, and what is said where nothing does. */
static void few_are_enough_or_it_is_said_how_few(void **state)
{
	enum { WHOLE, FREED, NO_STORAGE, UNCOUNTED };
	static const struct {
		int n, rank;
		int64_t size;
		int how, n_damaged;
		const char *error; /* NULL: they are found */
	} cases[] = {
		{ 1, 0, 1, WHOLE, 0, NULL },
		{ 1, 1, 1, WHOLE, 0, NULL },
		{ 1, 1, 0, WHOLE, 0, NULL },
		{ 1, 1, 5, WHOLE, 0, NULL },
		{ 1, 1, 5, FREED, 0, NULL },
		{ 8, 1, 5, FREED, 0, NULL },
		{ 1, 1, 5, UNCOUNTED, 0, "the program has PyTorch, but no tensors of it" },
		{ 2, 1, 5, NO_STORAGE, 0, "but its tensors do not tell where their fields are: 2, none with elements" },
		{ 6, 1, 5, WHOLE, 1,
		  "too few tensors to tell where their fields are: of 6 the best layout fits 5; of fewer than 20" },
		{ 20, 1, 5, WHOLE, 1, NULL },
		{ 18, 1, 5, WHOLE, 3, "of 18 the best layout fits 15" },
		{ 32, 1, 5, WHOLE, 3, NULL }, /* so many tell that the three are no tensors */
		{ 32, 1, 5, WHOLE, 4, "no layout fits 95% of them; the best fits 28 of 32" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint64_t at = 0, bad = 0;
		tear_down(state);
		torch_image_create(&image, row);
		for (int k = 0; k < cases[i].n; k++) {
			uint64_t storage = cases[i].how == NO_STORAGE ? 0 : torch_image_storage(&image, 20);
			at = torch_image_tensor(&image, &image.tensor, TORCH_F32, cases[i].rank, &cases[i].size,
						storage);
			if (k < cases[i].n_damaged)
				torch_image_set(&image, at, LBX_TORCH_NUMEL, 7, 8);
			if (cases[i].how == FREED) {
				regions_put(&image.regions, storage + image.layout.behind + LBX_TORCH_STORAGE_BYTES, 0,
					    8);
				regions_put(&image.regions, storage + image.layout.behind + LBX_TORCH_STORAGE_DATA, 0,
					    8);
			}
		}
		if (cases[i].how == UNCOUNTED)
			regions_put(&image.regions, at + LBX_TORCH_COUNTS, 0, 8);
		bool found = look();
		if (!cases[i].error && !found)
			fail_msg("case %zu: %s", i, lb_error_message());
		if (!found) {
			assert_non_null(strstr(lb_error_message(), cases[i].error));
			continue;
		}
		assert_null(cases[i].error);
		assert_int_equal(walk_all(set, &bad), cases[i].n - cases[i].n_damaged);
		assert_int_equal(bad, cases[i].n_damaged);
	}
}

/* A tensor that was freed since is told, and none is shown. */
static void a_tensor_goes(void **state)
{
	struct lbx_tensor t = tensor(2);

	(void)state;
	regions_put(&image.regions, t.address + LBX_TORCH_COUNTS, 0, 8);
	assert_false(lbx_tensors_by_id(set, 2, &t));
	assert_non_null(strstr(lb_error_message(), "has been freed, or is damaged"));
}

/* What was its storage, in front of it, is none; what else must hold is in walk_all(). */
static void a_tensor_without_its_storage_is_damaged(void **state)
{
	enum { STORAGE_BYTES = 0x60 };
	uint64_t bad;

	(void)state;
	torch_image_speak(&image, 11);
	assert_true(look());
	int n = walk_all(set, &bad);
	assert_int_equal(bad, 0);
	regions_put(&image.regions, tensor((uint64_t)n).address - STORAGE_BYTES, 0, 8);
	assert_true(look());
	assert_int_equal(walk_all(set, &bad), n - 1);
	assert_int_equal(bad, 1);
}

/* ---- Python ---- */

static void is_named(const char *name)
{
	struct lbx_tensor t;
	int n = 0;

	for (uint64_t id = N + 1; id <= N + 6; id++)
		if (lbx_tensors_by_id(set, id, &t))
			n += strcmp(t.name, name) == 0;
	lb_clear_error();
	if (n != 1)
		fail_msg("%d tensors are called %s", n, name);
}

static void python_names_them(void **state)
{
	static const unsigned minors[] = { 11, 13 };

	for (size_t i = 0; i < sizeof minors / sizeof *minors; i++) {
		torch_image_speak(&image, minors[i]);
		assert_true(look());
		is_named("net.fc.weight");
		is_named("net.fc.bias");
		is_named("batch['image']");
		is_named("x");
		is_named("items[1][0]");
		is_named("late");
		tear_down(state);
		start(state);
	}
}

struct compared {
	struct lbx_tensors *near;
	int n, n_same;
};

/* What an object leads to directly is what all tensors have for it, but for its number and name. */
static bool compare(void *context, const char *name, uint64_t object)
{
	struct compared *c = context;
	struct lbx_tensor near, far;
	bool is_near = lbx_tensors_by_object(c->near, object, &near);

	(void)name;
	assert_true(lb_ok());
	bool is_far = lbx_tensors_by_object(set, object, &far);
	lb_clear_error();
	c->n += is_far;
	if (!is_near)
		return is_far;
	assert_true(is_far && near.id == 0 && near.address == far.address && near.state == far.state);
	assert_true(near.dtype == far.dtype && near.rank == far.rank && near.data == far.data);
	c->n_same++;
	return true;
}

/* Of the functions that run. */
static struct compared compare_all(struct lbx_python *py, struct lbx_tensors *near)
{
	struct compared c = { .near = near };
	struct lbx_py_thread thread;
	struct lbx_py_frame frame;

	for (int i = 0; lbx_py_thread(py, i, &thread); i++)
		for (bool more = lbx_py_frame_first(py, &thread, &frame); more;
		     more = lbx_py_frame_next(py, &frame, &frame))
			assert_true(lbx_py_look_at_variables(py, &frame, compare, &c));
	return c;
}

static void variables_lead_to_tensors(void **state)
{
	static const unsigned minors[] = { 11, 13 };
	struct lbx_tensor t;

	for (size_t i = 0; i < sizeof minors / sizeof *minors; i++) {
		struct lbx_tensors *near;
		int n;
		torch_image_speak(&image, minors[i]);
		assert_true(look());
		struct lbx_loaded *modules = lbx_loaded_all(&image.target, &n);
		struct lbx_python *py = lbx_python_open(&image.target, modules, n);
		assert_non_null(py);
		assert_true(lbx_torch_open_near(&image.target, py, &near));
		struct compared c = compare_all(py, near);
		assert_in_range(c.n, 2, 100);
		assert_int_equal(c.n_same, c.n);
		/* one that is no tensor any more is not shown; where too few are left to tell the layout, all must be found */
		for (uint64_t id = N + 1; id <= N + 6; id++)
			if (lbx_tensors_by_id(set, id, &t) && strcmp(t.name, "late") == 0)
				regions_put(&image.regions, t.address, 0, 8);
		lbx_tensors_close(near);
		lbx_python_refresh(py);
		assert_true(lbx_torch_open_near(&image.target, py, &near));
		c = compare_all(py, near);
		assert_in_range(c.n_same, 1, c.n);
		lbx_tensors_close(near);
		for (uint64_t id = N + 1; id <= N + 6; id++)
			if (lbx_tensors_by_id(set, id, &t) && strcmp(t.name, "x") == 0)
				regions_put(&image.regions, t.address + 8, 0, 8);
		lb_clear_error();
		lbx_python_refresh(py);
		assert_false(lbx_torch_open_near(&image.target, py, &near));
		lbx_python_close(py);
		free(modules);
		tear_down(state);
		start(state);
	}
}

/* No tensor has an object, and none a gradient. */
static void python_may_name_none(void **state)
{
	struct lbx_tensor t;
	uint64_t bad = 0;

	(void)state;
	torch_image_speak(&image, 13);
	assert_true(look());
	uint64_t n = walk_all(set, &bad);
	for (uint64_t id = 1; id <= n; id++) {
		assert_true(lbx_tensors_by_id(set, id, &t));
		torch_image_set(&image, t.address, LBX_TORCH_PYOBJ, 0, 8);
		regions_put(&image.regions, t.address + image.layout.behind + LBX_TORCH_AUTOGRAD, 0, 8);
	}
	assert_true(look());
	for (uint64_t id = 1; id <= n; id++)
		assert_true(lbx_tensors_by_id(set, id, &t) && !t.name[0]);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, start, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(each_layout_is_found),
		CASE(values_are_read),
		CASE(quantised_ones_are_scaled),
		CASE(states_are_told),
		CASE(no_word_leads_astray),
		CASE(a_search_can_be_stopped),
		CASE(few_are_enough_or_it_is_said_how_few),
		CASE(a_tensor_goes),
		CASE(a_tensor_without_its_storage_is_damaged),
		CASE(python_names_them),
		CASE(variables_lead_to_tensors),
		CASE(python_may_name_none),
		CASE(what_changes_meanwhile_is_left_out),
		CASE(complex_ones_are_rounded),
		CASE(parts_of_a_sparse_one_are_told),
		CASE(autograds_graph_is_followed),
		CASE(what_autograd_knows_is_told),
		CASE(what_is_not_certain_is_not_told),
		CASE(code_with_short_distances_is_understood),
		CASE(code_of_aarch64_is_understood),
		CASE(modules_of_cpp_have_names),
	};
	int failed = 0;

	for (row = 0; row < ROWS; row++)
		failed += cmocka_run_group_tests(tests, NULL, NULL);
	return failed;
}
