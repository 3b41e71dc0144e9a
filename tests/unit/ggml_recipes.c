#include "ggml_recipes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ggml/recipe.h"
#include "inspect/out.h"
#include "inspect/replay/replay.h"
#include "kernels/half.h"
#include "tensors/tensors.h"

enum { BASE = 0x100000, ARENA = 1 << 20, TENSORS = 64, WANTED = 1 << 16, OPS = 256 };

struct made_node {
	struct lbx_tensor tensor;
	struct node as;
	int inputs[NODE_SOURCES + 1];
};

static char arena[ARENA];
static size_t used;
static struct made_node nodes[TENSORS];
static int n_nodes;
static double wanted[WANTED];
static int64_t n_wanted;
static const char *computed[OPS];
static int n_computed;
static uint64_t state; /* of random numbers */

/* As the newest build has them. */
static struct lbx_ggml_kinds kinds = {
	.n_unary = 22,
	.n_gated = 6,
	.unary = { "ABS",      "SGN",        "NEG",   "STEP",      "TANH",        "ELU",  "RELU",  "SIGMOID",
		   "GELU",     "GELU_QUICK", "SILU",  "HARDSWISH", "HARDSIGMOID", "EXP",  "EXPM1", "SOFTPLUS",
		   "GELU_ERF", "XIELU",      "FLOOR", "CEIL",      "ROUND",       "TRUNC" },
	.gated = { "REGLU", "GEGLU", "SWIGLU", "SWIGLU_OAI", "GEGLU_ERF", "GEGLU_QUICK" },
};

/* ---- a program ---- */

static bool read_arena(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	(void)target;
	if (address < BASE || address - BASE > ARENA || n > ARENA - (address - BASE))
		return lb_fail("no memory at 0x%llx", (unsigned long long)address);
	memcpy(to, arena + (address - BASE), n);
	return true;
}

static bool no_root(struct lbx_target *target, uint64_t *ret)
{
	(void)target, (void)ret;
	return lb_fail("no runtime");
}

static const struct lbx_target_ops target_ops = { .read = read_arena, .find_root = no_root };
static struct lbx_target target = { .ops = &target_ops };
static struct lbx_tensors set;

static bool by_id(struct lbx_tensors *tensors, uint64_t id, struct lbx_tensor *ret)
{
	if (id == 0 || id > (uint64_t)n_nodes)
		return lb_fail("no tensor #%llu", (unsigned long long)id);
	*ret = nodes[id - 1].tensor;
	ret->of = tensors;
	return true;
}

static enum lbx_next next(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_tensor *ret, uint64_t *bad)
{
	(void)bad;
	return *slot < (uint64_t)n_nodes && by_id(tensors, ++*slot, ret) ? LBX_NEXT_TENSOR : LBX_NEXT_END;
}

static uint64_t input_id(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i)
{
	(void)tensors;
	return (uint64_t)nodes[t->id - 1].inputs[i];
}

static bool input(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i, struct lbx_tensor *ret)
{
	return by_id(tensors, input_id(tensors, t, i), ret);
}

static bool recipe(struct lbx_tensors *tensors, const struct lbx_tensor *t, struct lbx_recipe *r, int *ret)
{
	static struct lbx_ggml_anchor newest = { .n_ops = 1, .ops = { "NONE" } },
				      old = { .n_ops = 2, .ops = { "NONE", "ALIBI" } };
	const struct node *as = &nodes[t->id - 1].as;
	struct lbx_ggml_node n = { .target = &target,
				   .anchor = as->is_old ? &old : &newest,
				   .kinds = &kinds,
				   .tensor = t,
				   .viewed = -1,
				   .r = r };
	int count = 0;

	(void)tensors;
	memcpy(n.record.ne, as->ne, sizeof as->ne);
	memcpy(n.record.params, as->params, sizeof as->params);
	for (int i = 0; i < NODE_SOURCES; i++) {
		n.sources[i] = as->sources[i] ? count++ : -1;
		if (as->sources[i] && as->sources[i] == as->view_of)
			n.viewed = n.sources[i];
	}
	if (as->view_of && n.viewed < 0)
		n.viewed = count;
	*ret = lbx_ggml_recipe(&n);
	return *ret != LBX_FAIL;
}

static const struct lbx_tensors_ops set_ops = {
	.next = next, .by_id = by_id, .input = input, .input_id = input_id, .recipe = recipe
};

/* ---- tensors ---- */

void nodes_reset(void)
{
	used = 0;
	n_nodes = 0;
	n_wanted = 0;
	state = 11; /* no case depends on those before it */
	set = (struct lbx_tensors){ .ops = &set_ops, .target = &target, .provider = "ggml" };
	lb_clear_error();
}

/* Its axes, row-major, without leading ones of 1, as ggml counts them. */
static struct made_node *add(enum lb_dtype dtype, const int64_t *ne, const int64_t *strides)
{
	struct made_node *made = &nodes[n_nodes++];
	struct lbx_tensor *t = &made->tensor;
	int64_t dense[NODE_AXES] = { 1, ne[0], ne[0] * ne[1], ne[0] * ne[1] * ne[2] };
	int rank = NODE_AXES;

	assert_true(n_nodes <= TENSORS);
	while (rank > 1 && ne[rank - 1] == 1)
		rank--;
	*made = (struct made_node){ .as = { .op = "NONE" } };
	*t = (struct lbx_tensor){ .id = (uint64_t)n_nodes,
				  .dtype = dtype,
				  .rank = rank,
				  .layout_known = true,
				  .size = ne[0] * ne[1] * ne[2] * ne[3] };
	for (int i = 0; i < rank; i++) {
		t->axes.few.shape[i] = ne[rank - 1 - i];
		t->axes.few.strides[i] = strides ? strides[rank - 1 - i] : dense[rank - 1 - i];
	}
	return made;
}

static double uniform(void)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (double)(int32_t)(state >> 32) / 2147483648.0;
}

static void put(char *to, enum lb_dtype dtype, double value)
{
	float f = (float)value;
	int32_t i = (int32_t)value;
	int64_t l = i;
	uint16_t half = lb_float_to_f16(f);

	memcpy(to,
	       dtype == LB_F32   ? (void *)&f
	       : dtype == LB_I32 ? (void *)&i
	       : dtype == LB_I64 ? (void *)&l
				 : &half,
	       (size_t)lbx_dtype_bytes(dtype));
}

int leaf_of(enum lb_dtype dtype, int64_t n0, int64_t n1, int64_t n2, int64_t n3, int below)
{
	const int64_t ne[] = { n0, n1, n2, n3 };
	struct made_node *made = add(dtype, ne, NULL);
	struct lbx_tensor *t = &made->tensor;
	int64_t width = lbx_dtype_bytes(dtype);
	bool is_whole = dtype == LB_I32 || dtype == LB_I64;

	memcpy(made->as.ne, ne, sizeof ne);
	t->state = LBX_READY;
	t->op = "NONE";
	t->op_class = LB_CLASS_LEAF;
	t->data = BASE + used;
	t->buffer_id = t->id;
	t->buffer_bytes = t->buffer_capacity = t->size * width;
	assert_true(used + (size_t)t->buffer_bytes <= ARENA);
	for (int64_t i = 0; i < t->size; i++) {
		double value = uniform();
		put(arena + used + i * width, dtype, is_whole ? floor((value + 1) / 2 * below) : value);
	}
	used += ((size_t)t->buffer_bytes + 15) / 16 * 16;
	return n_nodes;
}

int leaf_of_blocks(int64_t n0, int64_t n1, int64_t n2, int64_t n3)
{
	enum { ELEMENTS = 32, BYTES = 34 };
	int id = leaf_of(LB_F32, n0, n1, n2, n3, 0); /* more room than is needed */
	struct lbx_tensor *t = &nodes[id - 1].tensor;
	char *to = arena + (t->data - BASE);

	t->encoding = lbx_encoding_of_blocks("q8_0");
	t->buffer_bytes = t->buffer_capacity = t->size / ELEMENTS * BYTES;
	for (int64_t b = 0; b < t->size / ELEMENTS; b++, to += BYTES) {
		put(to, LB_F16, uniform());
		for (int i = 0; i < ELEMENTS; i++)
			to[2 + i] = (char)(int8_t)(uniform() * 127);
	}
	return id;
}

int leaf(int64_t n0, int64_t n1, int64_t n2, int64_t n3)
{
	return leaf_of(LB_F32, n0, n1, n2, n3, 0);
}

static char *bytes_of(int leaf)
{
	return arena + (nodes[leaf - 1].tensor.data - BASE);
}

float *elements_of(int leaf)
{
	return (float *)(void *)bytes_of(leaf);
}

int32_t *integers_of(int leaf)
{
	return (int32_t *)(void *)bytes_of(leaf);
}

double at(int leaf, int64_t i0, int64_t i1, int64_t i2, int64_t i3)
{
	const struct made_node *made = &nodes[leaf - 1];
	const int64_t *ne = made->as.ne;

	assert_true(i0 >= 0 && i0 < ne[0] && i1 >= 0 && i1 < ne[1] && i2 >= 0 && i2 < ne[2] && i3 >= 0 && i3 < ne[3]);
	int64_t k = ((i3 * ne[2] + i2) * ne[1] + i1) * ne[0] + i0;
	if (made->tensor.encoding) {
		const char *block = bytes_of(leaf) + k / 32 * 34;
		uint16_t scale;
		memcpy(&scale, block, sizeof scale);
		return (double)(lb_f16_to_float(scale) * (float)(int8_t)block[2 + k % 32]);
	}
	const char *from = bytes_of(leaf) + k * lbx_dtype_bytes(made->tensor.dtype);
	float f;
	int32_t i;
	int64_t l;
	uint16_t half;
	switch (made->tensor.dtype) {
	case LB_F32: memcpy(&f, from, sizeof f); return f;
	case LB_I32: memcpy(&i, from, sizeof i); return i;
	case LB_I64: memcpy(&l, from, sizeof l); return (double)l;
	default: memcpy(&half, from, sizeof half); return lb_f16_to_float(half);
	}
}

double again(int leaf, int64_t i0, int64_t i1, int64_t i2, int64_t i3)
{
	const int64_t *ne = nodes[leaf - 1].as.ne;

	return at(leaf, i0 % ne[0], i1 % ne[1], i2 % ne[2], i3 % ne[3]);
}

int32_t bits_of(float value)
{
	int32_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

int node(const struct node *n)
{
	bool is_view = n->strides[0] != 0;
	struct made_node *made = add(n->dtype == LB_BOOL ? LB_F32 : n->dtype, n->ne, is_view ? n->strides : NULL);
	struct lbx_tensor *t = &made->tensor;
	bool is_source = false;

	made->as = *n;
	t->state = LBX_LAZY;
	t->op = n->op;
	t->op_class = LB_CLASS_BINARY;
	for (int i = 0; i < NODE_SOURCES; i++) {
		if (n->sources[i])
			made->inputs[t->n_inputs++] = n->sources[i];
		is_source |= n->sources[i] && n->sources[i] == n->view_of;
	}
	if (n->view_of && !is_source)
		made->inputs[t->n_inputs++] = n->view_of;
	t->offset = n->offset;
	t->buffer_id = is_view ? nodes[n->view_of - 1].tensor.buffer_id : t->id; /* where it was */
	return n_nodes;
}

/* ---- what they hold ---- */

void want(double value)
{
	assert_true(n_wanted < WANTED);
	wanted[n_wanted++] = value;
}

static void nothing(struct lbx_out *out, const char *bytes, size_t n)
{
	(void)out, (void)bytes, (void)n;
}

static bool compute(const struct node *n, struct lbx_replayed *ret)
{
	static struct lbx_settings settings;
	struct lbx_out out = { .width = 80, .write = nothing };
	struct lbx_context context = { .target = &target, .out = &out, .settings = &settings };

	settings = lbx_default_settings;
	int id = node(n);
	nodes[id - 1].tensor.of = &set;
	return lbx_replay(&context, &nodes[id - 1].tensor, NULL, ret);
}

bool was_computed(const char *op)
{
	for (int i = 0; i < n_computed; i++)
		if (strcmp(computed[i], op) == 0)
			return true;
	return false;
}

static bool is_near(double found, double expected, double most)
{
	return found == expected || (isnan(found) && isnan(expected)) || fabs(found - expected) <= most;
}

void holds(const struct node *n, double error)
{
	struct lbx_replayed replayed;
	double square = 0;

	if (!compute(n, &replayed))
		fail_msg("%s: %s", n->op, lb_error_message());
	int64_t width = lbx_dtype_bytes(replayed.array.dtype);
	if (replayed.array.size != n_wanted)
		fail_msg("%s has %lld elements, not %lld", n->op, (long long)replayed.array.size, (long long)n_wanted);
	for (int64_t i = 0; i < n_wanted; i++)
		square += isfinite(wanted[i]) ? wanted[i] * wanted[i] : 0;
	double most = error * (square > 0 ? sqrt(square / (double)n_wanted) : 1);
	for (int64_t i = 0; i < n_wanted; i++) {
		double found = lbx_element_double(replayed.array.local + i * width, replayed.array.dtype);
		if (!is_near(found, wanted[i], most))
			fail_msg("%s: element %lld is %.9g, not %.9g", n->op, (long long)i, found, wanted[i]);
	}
	lbx_replay_release(&replayed);
	n_wanted = 0;
	if (!was_computed(n->op)) {
		assert_true(n_computed < OPS);
		computed[n_computed++] = n->op;
	}
}

void lose(int leaf, bool is_overwritten)
{
	struct lbx_tensor *t = &nodes[leaf - 1].tensor;

	strcpy(t->name, "gone");
	if (is_overwritten) {
		t->state = LBX_OVERWRITTEN;
		t->overwriter = 7;
	} else {
		t->data = BASE + ARENA;
	}
}

void is_refused(const struct node *n, const char *says)
{
	struct lbx_replayed replayed;

	assert_false(compute(n, &replayed));
	if (!strstr(lb_error_message(), says))
		fail_msg("%s: \"%s\", not \"%s\"", n->op, lb_error_message(), says);
	lb_clear_error();
	n_wanted = 0;
}

void is_without(const struct node *n, const char *what)
{
	char why[128];

	snprintf(why, sizeof why, "ggml's %s%s%s has no recipe here", n->op, *what ? " of " : "", what);
	is_refused(n, why);
}
