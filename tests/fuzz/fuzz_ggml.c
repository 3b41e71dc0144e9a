/* Fuzzes what finds ggml's tensors: the input's bytes are laid over the memory of a hand-made program
 * (tests/unit/ggml_image.c), one inspection looks at it, and all tensors are walked over.
 *
 * The first byte of an input chooses the inspection, the second text or JSON, whether memory can be mapped, the layout of
 * tensors, whether functions tell it, and whether the threads are known to rest; then come changes of 12 bytes. Programs
 * are made once, and each run undoes its changes. */
#include <stdio.h>
#include <string.h>

#include "../unit/ggml_image.h"
#include "base/error.h"
#include "ggml/ggml.h"
#include "inspect/command.h"
#include "stand_alone.h"
#include "tensors/part.h"

enum { HEAD = 2, CHANGES = 32, ROWS = 3, POOL = 0x2c00 };
enum { JSON = 1, MAPS = 2, EXPORTS = 4, RESTS = 8, FIRST_ROW = 16 };

struct change {
	uint32_t where;
	unsigned char bytes[8];
};
enum { CHANGE = sizeof(struct change) };

/* Where there is something to break; the others come with the last. */
static const struct {
	uint64_t address, size;
} parts[] = {
	{ GGML_POOL, POOL },
	{ GGML_POOL, POOL },
	{ GGML_POOL, POOL },
	{ GGML_HEAP, 0x200 },
	{ GGML_HEAP, 0x400 },
	{ GGML_TABLES, 0xb00 },
	{ GGML_TABLES + 0xc00, 0x180 },
	{ GGML_CODE, 0x80 },
	{ GGML_MODULE, 0x180 },
	{ GGML_MODULE + 0x400, 0x200 },
	{ GGML_MODULE + 0x1000, 0x240 },
	{ GGML_DATA, GGML_DATA_SIZE },
	{ GGML_MODULE, GGML_MODULE_SIZE },
};

static void swap(struct ggml_image *image, struct change *change)
{
	uint32_t which = (change->where & 255) % (sizeof parts / sizeof *parts), width = 1 << (change->where >> 8 & 3);
	uint64_t at = parts[which].address + (change->where >> 10) % (parts[which].size / width) * width;
	uint64_t value = 0;

	memcpy(&value, change->bytes, width);
	uint64_t before = ggml_image_get(image, at, width);
	ggml_image_put(image, at, value, width);
	memcpy(change->bytes, &before, sizeof before);
}

/* Weights whose blocks are interleaved, as the name of a class says. */
static void add_repacked(struct ggml_image *image)
{
	static const int64_t ne[LBX_GGML_AXES] = { 64, 8, 1, 1 };
	uint64_t buffer = ggml_image_repacking(image),
		 class_object =
		     ggml_image_object_of_class(image,
						"N4ggml3cpu6repack13tensor_traitsI10block_q4_0Ll8ELl8EL9ggml_type8EEE");

	ggml_image_context(image, 0x400);
	uint64_t w = ggml_image_tensor(image, "repacked.weight", GGML_Q4_0, ne);
	ggml_image_allocate(image, w);
	ggml_image_put(image, w + LBX_GGML_BUFFER, buffer, 8);
	ggml_image_put(image, w + image->layout.extra, class_object, 8);
}

static struct ggml_image *image_of(unsigned flags)
{
	static struct ggml_image images[2][ROWS];
	unsigned row = flags / FIRST_ROW % ROWS;
	struct ggml_image *image = &images[(flags & EXPORTS) != 0][row];

	if (!image->target.ops) {
		ggml_image_create(image, row, flags & EXPORTS, POOL);
		ggml_image_populate(image);
		add_repacked(image);
	}
	image->regions.maps = flags & MAPS;
	return image;
}

static void swallow(struct lbx_out *out, const char *text, size_t n)
{
	size_t *sum = out->context;
	for (size_t i = 0; i < n; i++)
		*sum += (unsigned char)text[i];
}

static void must(bool is_so)
{
	if (!is_so)
		__builtin_trap();
}

/* What is said of one must be so. */
static void check(struct lbx_tensors *tensors, const struct lbx_tensor *t)
{
	struct lbx_tensor other;
	uint64_t begin, end;
	unsigned char byte;

	must(t->rank >= 1 && t->rank <= LBX_GGML_AXES && t->n_inputs <= LBX_GGML_SOURCES + 1 && t->id);
	must(strnlen(t->name, sizeof t->name) < sizeof t->name);
	for (int i = 0; i < t->rank; i++)
		must(lbx_shape(t)[i] >= 0);
	for (uint32_t i = 0; i < t->n_inputs; i++)
		if (lbx_tensor_input(t, i, &other))
			must(other.id == lbx_tensor_input_id(t, i));
		else
			must(!lb_ok());
	lb_clear_error();
	must(t->data + (uint64_t)t->buffer_bytes >= t->data);
	if (lbx_tensor_range(t, &begin, &end)) {
		must(begin >= t->data && end > begin && end - t->data <= (uint64_t)t->buffer_bytes);
		if (t->state == LBX_READY)
			lbx_target_try_read(tensors->target, end - 1, &byte, 1);
	}
	must(lbx_tensors_by_address(tensors, t->address, &other) && other.id == t->id);
}

/* What an element is made of lies within the inputs. */
static void check_parts(const struct lbx_tensor *t)
{
	int64_t at[2][LBX_GGML_AXES] = { { 0 } };
	struct lbx_tensor input;
	struct lbx_part part;

	for (int i = 0; i < t->rank; i++)
		at[1][i] = lbx_shape(t)[i] - 1;
	for (uint32_t i = 0; t->size > 0 && i < 2 * t->n_inputs; i++) {
		if (!lbx_tensor_part(t, at[i % 2], i / 2, &part) || part.nothing || !lbx_tensor_input(t, i / 2, &input))
			continue;
		for (int k = 0; k < input.rank; k++) {
			int64_t last = (part.count[k] - 1) * part.step[k];
			must(part.first[k] >= 0 && part.count[k] > 0 && part.step[k] > 0 &&
			     part.first[k] + last < lbx_shape(&input)[k]);
		}
	}
	lb_clear_error();
}

static void walk(struct lbx_tensors *tensors)
{
	uint64_t slot = 0, bad = 0, first, last;
	struct lbx_tensor t;
	enum lbx_next next;

	while ((next = lbx_tensors_next(tensors, &slot, &t, &bad)) == LBX_NEXT_TENSOR)
		check(tensors, &t), check_parts(&t);
	must(next == LBX_NEXT_END && slot < POOL && (bad > 0) == lbx_tensors_damage(tensors, &first, &last));
}

static bool open_ggml(struct lbx_context *context, struct lbx_tensors **ret)
{
	return lbx_ggml_open(context->target, context->stacks, NULL, NULL, ret);
}

static void look(struct ggml_image *image, unsigned which, unsigned flags, bool whole)
{
	static const struct {
		const char *name, *rest;
	} lines[] = {
		{ "list", "" },
		{ "list", "--sort bytes" },
		{ "print", "#1" },
		{ "print", "x[0, :4]" },
		{ "print", "#14" },
		{ "print", "#10[0]" },
		{ "info", "#9" },
		{ "info", "y" },
		{ "info", "#2" },
		{ "stats", "#2" },
		{ "stats", "#7" },
		{ "graph", "#14" },
		{ "graph", "sum --depth 9" },
		{ "memory", "" },
		{ "status", "" },
		{ "at", "0x30000100" },
		{ "owner", "0x20000100" },
		{ "model", "" },
		{ "diff", "#9 #11" },
		{ "hist", "#5" },
		{ "origin", "sum" },
		{ "quant", "#1" },
		{ "report", "--seconds 1" },
		{ "peek", "sum" },
		{ "peek", "z" },
		{ "print", "repacked.weight[3:5, :40]" },
		{ "stats", "repacked.weight" },
		{ "quant", "repacked.weight" },
	};
	static const struct lbx_provider providers[] = { { .name = "ggml", .open = open_ggml }, { 0 } };
	struct lbx_settings settings = lbx_default_settings;
	size_t sum = 0;
	struct lbx_out out = { .width = 80, .json = flags & JSON, .context = &sum, .write = swallow };
	struct lbx_context context = {
		.out = &out,
		.settings = &settings,
		.target = &image->target,
		.stacks = flags & RESTS ? &ggml_image_rests : NULL,
		.providers = providers,
	};
	struct lbx_tensors *tensors;
	struct lbx_args args;

	settings.edge_items = 1;
	settings.threshold = 64;
	settings.replay_memory = 0; /* a replay is a process of its own */
	which %= sizeof lines / sizeof *lines;
	lb_clear_error();
	bool done = lbx_args_parse_line(lbx_command_find(lbx_commands, lines[which].name), lines[which].rest, &args) &&
		    lbx_command_run(&context, &args);
	lbx_abandon(&out, done ? NULL : lb_error_message());
	must(done || !lb_ok());
	lb_clear_error();
	if (lbx_context_tensors(&context, &tensors))
		walk(tensors);
	else
		must(!whole);
	lb_clear_error();
	lbx_context_close(&context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct change changes[CHANGES];

	if (size < HEAD)
		return 0;
	struct ggml_image *image = image_of(data[1]);
	size_t n = (size - HEAD) / CHANGE < CHANGES ? (size - HEAD) / CHANGE : CHANGES;
	memcpy(changes, data + HEAD, n * CHANGE);
	for (size_t i = 0; i < n; i++)
		swap(image, &changes[i]);
	look(image, data[0], data[1], n == 0);
	while (n > 0)
		swap(image, &changes[--n]);
	return 0;
}

#ifndef LBX_LIBFUZZER
static size_t fuzz_make(uint64_t *random, uint8_t input[FUZZ_INPUT])
{
	static const uint64_t values[] = { 0,
					   1,
					   2,
					   8,
					   16,
					   0x20,
					   0x7f,
					   0xff,
					   0xffff,
					   0x7fffffff,
					   0xffffffff,
					   INT64_MAX,
					   UINT64_MAX,
					   1ULL << 62,
					   1ULL << 32,
					   GGML_POOL,
					   GGML_POOL + 0x20,
					   GGML_HEAP,
					   GGML_DATA,
					   GGML_TABLES,
					   GGML_MODULE,
					   UINT64_MAX - 4096 };
	size_t changes = 1 << fuzz_random(random) % 4;
	uint64_t head = fuzz_random(random);

	memcpy(input, &head, HEAD);
	for (size_t i = 0; i < changes; i++) {
		struct change change = { .where = (uint32_t)(fuzz_random(random) >> 8) };
		uint64_t value = fuzz_random(random);
		if (value % 4)
			value = values[value / 4 % (sizeof values / sizeof *values)];
		else if (value / 4 % 4 == 0) /* of the pool */
			value = GGML_POOL + (value >> 8) % POOL / 16 * 16;
		memcpy(change.bytes, &value, sizeof value);
		memcpy(input + HEAD + i * CHANGE, &change, CHANGE);
	}
	return HEAD + changes * CHANGE;
}
#endif
