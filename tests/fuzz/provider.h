/* A fuzzer of what finds a provider's tensors: the input's bytes are laid over the memory of a program made by hand, one
 * inspection looks at it, and all tensors are walked over. Nothing may crash or read what is not there; each command does
 * what it should or says why not, and what is said of a tensor holds.
 *
 * The first byte of an input chooses the inspection; the second text or JSON, whether memory can be mapped, and which
 * program; then come changes of 12 bytes. Programs are made once, and each run undoes its changes. Who includes this
 * defines `fuzzed`. */
#ifndef TESTS_FUZZ_PROVIDER_H
#define TESTS_FUZZ_PROVIDER_H

#include <string.h>

#include "../unit/regions.h"
#include "base/error.h"
#include "inspect/command.h"
#include "stand_alone.h"

enum { FUZZ_JSON = 1, FUZZ_MAPS = 2, FUZZ_OWN = 4 /* this bit and those above it choose the program */ };
enum { FUZZ_HEAD = 2, FUZZ_CHANGES = 32 };

/* Where addresses lead to, `step` bytes apart. */
struct fuzz_pool {
	uint64_t address;
	uint32_t size, step;
};

struct fuzzed {
	const char *name;
	bool (*open)(struct lbx_context *context, struct lbx_tensors **ret);
	struct regions *(*program)(unsigned flags);
	struct lbx_stacks *(*stacks)(unsigned flags); /* NULL: not known */
	void (*check)(const struct lbx_tensor *tensor); /* more that must hold; or NULL */
	int least_rank, most_rank;
	uint32_t most_inputs;
	uint64_t most_tensors;
	/* what is changed, those in which much may break more than once; each list ends with 0 */
	const struct {
		uint64_t address, size;
	} parts[16];
	const struct fuzz_pool pools[4];
	const uint64_t addresses[8];
	const struct {
		const char *name, *rest;
	} lines[64];
};
static const struct fuzzed fuzzed;

struct fuzz_change {
	uint32_t where;
	unsigned char bytes[8];
};

/* How many come before the first that is 0. */
#define FUZZ_COUNT(list, of) \
	({ \
		unsigned n_ = 0; \
		while (n_ < sizeof(list) / sizeof *(list) && (list)[n_] of) \
			n_++; \
		n_; \
	})

static void fuzz_must(bool is_so)
{
	if (!is_so)
		__builtin_trap();
}

static void fuzz_swap(struct regions *program, struct fuzz_change *change)
{
	uint32_t which = (change->where & 255) % FUZZ_COUNT(fuzzed.parts, .size);
	uint32_t width = 1 << (change->where >> 8 & 3);
	uint64_t at = fuzzed.parts[which].address + (change->where >> 10) % (fuzzed.parts[which].size / width) * width;
	uint64_t value = 0;

	memcpy(&value, change->bytes, width);
	uint64_t before = regions_get(program, at, width);
	regions_put(program, at, value, width);
	memcpy(change->bytes, &before, sizeof before);
}

static void fuzz_swallow(struct lbx_out *out, const char *text, size_t n)
{
	size_t *sum = out->context;
	for (size_t i = 0; i < n; i++)
		*sum += (unsigned char)text[i];
}

static void fuzz_check(struct lbx_tensors *tensors, const struct lbx_tensor *t)
{
	struct lbx_tensor other;
	uint64_t begin, end;
	unsigned char byte;

	fuzz_must(t->rank >= fuzzed.least_rank && t->rank <= fuzzed.most_rank && t->id);
	fuzz_must(t->n_inputs <= fuzzed.most_inputs && strnlen(t->name, sizeof t->name) < sizeof t->name);
	for (int i = 0; i < t->rank; i++)
		fuzz_must(lbx_shape(t)[i] >= 0);
	for (uint32_t i = 0; i < t->n_inputs && i < 64; i++)
		if (lbx_tensor_input(t, i, &other))
			fuzz_must(other.id == lbx_tensor_input_id(t, i));
		else
			fuzz_must(!lb_ok());
	lb_clear_error();
	fuzz_must(t->data + (uint64_t)t->buffer_bytes >= t->data);
	if (lbx_tensor_range(t, &begin, &end)) {
		fuzz_must(begin >= t->data && end > begin && end - t->data <= (uint64_t)t->buffer_bytes);
		if (t->state == LBX_READY)
			lbx_target_try_read(tensors->target, end - 1, &byte, 1);
	}
	fuzz_must(lbx_tensors_by_address(tensors, t->address, &other) && other.id == t->id);
	if (fuzzed.check)
		fuzzed.check(t);
	lb_clear_error();
}

static void fuzz_walk(struct lbx_tensors *tensors)
{
	uint64_t slot = 0, bad = 0, first, last;
	struct lbx_tensor t;
	enum lbx_next next;

	while ((next = lbx_tensors_next(tensors, &slot, &t, &bad)) == LBX_NEXT_TENSOR)
		fuzz_check(tensors, &t);
	fuzz_must(next == LBX_NEXT_END && slot < fuzzed.most_tensors &&
		  (bad > 0) == lbx_tensors_damage(tensors, &first, &last));
}

/* `is_whole`: nothing has been changed. */
static void fuzz_look(struct regions *program, unsigned which, unsigned flags, bool is_whole)
{
	const struct lbx_provider providers[] = { { .name = fuzzed.name, .open = fuzzed.open }, { 0 } };
	struct lbx_settings settings = lbx_default_settings;
	size_t sum = 0;
	struct lbx_out out = { .width = 80, .json = flags & FUZZ_JSON, .context = &sum, .write = fuzz_swallow };
	struct lbx_context context = {
		.out = &out,
		.settings = &settings,
		.target = &program->target,
		.stacks = fuzzed.stacks ? fuzzed.stacks(flags) : NULL,
		.providers = providers,
	};
	struct lbx_tensors *tensors;
	struct lbx_args args;

	settings.edge_items = 1;
	settings.threshold = 64;
	settings.replay_memory = 0; /* a replay is a process of its own */
	which %= FUZZ_COUNT(fuzzed.lines, .name);
	lb_clear_error();
	bool done = lbx_args_parse_line(lbx_command_find(lbx_commands, fuzzed.lines[which].name),
					fuzzed.lines[which].rest, &args) &&
		    lbx_command_run(&context, &args);
	lbx_abandon(&out, done ? NULL : lb_error_message());
	fuzz_must(done || !lb_ok());
	lb_clear_error();
	if (lbx_context_tensors(&context, &tensors))
		fuzz_walk(tensors);
	else
		fuzz_must(!is_whole);
	lb_clear_error();
	lbx_context_close(&context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_change changes[FUZZ_CHANGES];

	if (size < FUZZ_HEAD)
		return 0;
	struct regions *program = fuzzed.program(data[1]);
	size_t n = (size - FUZZ_HEAD) / sizeof *changes;
	n = n < FUZZ_CHANGES ? n : FUZZ_CHANGES;
	memcpy(changes, data + FUZZ_HEAD, n * sizeof *changes);
	program->maps = data[1] & FUZZ_MAPS;
	for (size_t i = 0; i < n; i++)
		fuzz_swap(program, &changes[i]);
	fuzz_look(program, data[0], data[1], n == 0);
	while (n > 0)
		fuzz_swap(program, &changes[--n]);
	return 0;
}

#ifndef LBX_LIBFUZZER
/* Numbers at which something ends, addresses of the program, or any. */
static uint64_t fuzz_value(uint64_t random)
{
	static const uint64_t ends[] = {
		0,      1,          2,          8,         16,         0x20,       0x7f,       0xff,
		0xffff, 0x7fffffff, 0xffffffff, INT64_MAX, UINT64_MAX, 1ULL << 62, 1ULL << 32, UINT64_MAX - 4096,
	};
	unsigned n_ends = sizeof ends / sizeof *ends, n_pools = FUZZ_COUNT(fuzzed.pools, .size);
	uint64_t which = random / 4 % (n_ends + FUZZ_COUNT(fuzzed.addresses, ));

	if (random % 4)
		return which < n_ends ? ends[which] : fuzzed.addresses[which - n_ends];
	if (random / 4 % 4 >= n_pools)
		return random;
	const struct fuzz_pool *pool = &fuzzed.pools[random / 4 % 4];
	return pool->address + (random >> 8) % pool->size / pool->step * pool->step;
}

static size_t fuzz_make(uint64_t *random, uint8_t input[FUZZ_INPUT])
{
	size_t changes = 1 << fuzz_random(random) % 4;
	uint64_t head = fuzz_random(random);

	memcpy(input, &head, FUZZ_HEAD);
	for (size_t i = 0; i < changes; i++) {
		struct fuzz_change change = { .where = (uint32_t)(fuzz_random(random) >> 8) };
		uint64_t value = fuzz_value(fuzz_random(random));
		memcpy(change.bytes, &value, sizeof value);
		memcpy(input + FUZZ_HEAD + i * sizeof change, &change, sizeof change);
	}
	return FUZZ_HEAD + changes * sizeof(struct fuzz_change);
}
#endif

#endif
