/* Fuzzes what finds PyTorch's tensors: the input's bytes are laid over the memory of a hand-made program
 * (tests/unit/torch_image.c), one inspection looks at it, and all tensors are walked over.
 *
 * The first byte of an input chooses the inspection, the second text or JSON, whether memory can be mapped, and the layout
 * of tensors; then come changes of 12 bytes. Programs are made once, and each run undoes its changes. */
#include <stdio.h>
#include <string.h>

#include "../unit/torch_image.h"
#include "base/error.h"
#include "inspect/command.h"
#include "stand_alone.h"
#include "torch/torch.h"

enum { HEAD = 2, CHANGES = 32, ROWS = 3 };
enum { JSON = 1, MAPS = 2, FIRST_ROW = 4 };

struct change {
	uint32_t where;
	unsigned char bytes[8];
};
enum { CHANGE = sizeof(struct change) };

static const struct {
	uint64_t address, size;
} parts[] = {
	{ TORCH_HEAP, TORCH_HEAP_SIZE },       { TORCH_HEAP, TORCH_HEAP_SIZE }, { TORCH_HEAP, TORCH_HEAP_SIZE },
	{ TORCH_HEAP, TORCH_HEAP_SIZE },       { TORCH_CLASSES, 0x500 },        { TORCH_MODULE, TORCH_MODULE_SIZE },
	{ TORCH_PROGRAM, TORCH_PROGRAM_SIZE }, { TORCH_DATA, 0x100 },
};

static void swap(struct torch_image *image, struct change *change)
{
	uint32_t which = (change->where & 255) % (sizeof parts / sizeof *parts), width = 1 << (change->where >> 8 & 3);
	uint64_t at = parts[which].address + (change->where >> 10) % (parts[which].size / width) * width;
	uint64_t value = 0;

	memcpy(&value, change->bytes, width);
	uint64_t before = regions_get(&image->regions, at, width);
	regions_put(&image->regions, at, value, width);
	memcpy(change->bytes, &before, sizeof before);
}

static struct torch_image *image_of(unsigned flags)
{
	static struct torch_image images[ROWS];
	int row = (int)(flags / FIRST_ROW % ROWS);

	if (!images[row].target.ops) {
		torch_image_create(&images[row], row);
		torch_image_populate(&images[row]);
		torch_image_learn(&images[row]);
	}
	images[row].regions.maps = flags & MAPS;
	return &images[row];
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

	must(t->rank >= 0 && t->rank <= LBX_RANK_MAX && t->id);
	must(strnlen(t->name, sizeof t->name) < sizeof t->name);
	for (int i = 0; i < t->rank; i++)
		must(lbx_shape(t)[i] >= 0);
	for (uint32_t i = 0; i < t->n_inputs; i++)
		if (lbx_tensor_input(t, i, &other))
			must(other.id == lbx_tensor_input_id(t, i));
		else
			must(!lb_ok());
	lb_clear_error();
	for (uint32_t i = 0; i < t->n_inputs && i < 64; i++)
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

static void walk(struct lbx_tensors *tensors)
{
	uint64_t slot = 0, bad = 0, first, last;
	struct lbx_tensor t;
	enum lbx_next next;

	while ((next = lbx_tensors_next(tensors, &slot, &t, &bad)) == LBX_NEXT_TENSOR)
		check(tensors, &t);
	must(next == LBX_NEXT_END && slot < TORCH_HEAP_SIZE && (bad > 0) == lbx_tensors_damage(tensors, &first, &last));
}

static bool open_torch(struct lbx_context *context, struct lbx_tensors **ret)
{
	return lbx_torch_open(context->target, NULL, NULL, NULL, ret);
}

static void look(struct torch_image *image, unsigned which, unsigned flags, bool whole)
{
	static const struct {
		const char *name, *rest;
	} lines[] = {
		{ "list", "" },        { "list", "--sort bytes" }, { "print", "#1" },
		{ "print", "#2[1:]" }, { "print", "#3" },          { "print", "#9" },
		{ "print", "#12[1]" }, { "info", "#1" },           { "info", "#6" },
		{ "info", "#9" },      { "info", "#12" },          { "stats", "#2" },
		{ "stats", "#12" },    { "quant", "#9" },          { "diff", "#2 #12" },
		{ "hist", "#1" },      { "memory", "" },           { "memory", "--by dtype" },
		{ "status", "" },      { "at", "0x30000010" },     { "owner", "0x30000010" },
		{ "graph", "#1" },     { "graph", "#14" },         { "graph", "#14 --depth 50 --limit 1000" },
		{ "info", "#14" },     { "info", "#13" },          { "info", "#16" },
		{ "peek", "#16" },     { "origin", "#14" },        { "report", "--seconds 1" },
	};
	static const struct lbx_provider providers[] = { { .name = "torch", .open = open_torch }, { 0 } };
	struct lbx_settings settings = lbx_default_settings;
	size_t sum = 0;
	struct lbx_out out = { .width = 80, .json = flags & JSON, .context = &sum, .write = swallow };
	struct lbx_context context = {
		.out = &out,
		.settings = &settings,
		.target = &image->target,
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
	struct torch_image *image = image_of(data[1]);
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
					   TORCH_HEAP,
					   TORCH_DATA,
					   TORCH_CODE,
					   TORCH_CLASSES,
					   TORCH_MODULE,
					   UINT64_MAX - 4096 };
	size_t changes = 1 << fuzz_random(random) % 4;
	uint64_t head = fuzz_random(random);

	memcpy(input, &head, HEAD);
	for (size_t i = 0; i < changes; i++) {
		struct change change = { .where = (uint32_t)(fuzz_random(random) >> 8) };
		uint64_t value = fuzz_random(random);
		if (value % 4)
			value = values[value / 4 % (sizeof values / sizeof *values)];
		else if (value / 4 % 4 == 0) /* of the heap */
			value = TORCH_HEAP + (value >> 8) % TORCH_HEAP_SIZE / 16 * 16;
		else if (value / 4 % 4 == 1)
			value = TORCH_CLASSES + (value >> 8) % 0x500 / 8 * 8;
		memcpy(change.bytes, &value, sizeof value);
		memcpy(input + HEAD + i * CHANGE, &change, CHANGE);
	}
	return HEAD + changes * CHANGE;
}
#endif
