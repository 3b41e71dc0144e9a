#include "damage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/command.h"

enum { MAX_TICKS = 64 };

struct sink {
	size_t bytes;
	int ticks;
};

static void swallow(struct lbx_out *out, const char *text, size_t n)
{
	struct sink *sink = out->context;
	/* read each byte, so that sanitizers see them */
	for (size_t i = 0; i < n; i++)
		sink->bytes += (unsigned char)text[i] & 1;
}

/* Long work is cut short: it must ask often enough. */
static bool tick(struct lbx_out *out, const char *what, int64_t done, int64_t total)
{
	struct sink *sink = out->context;
	(void)what;
	(void)done;
	(void)total;
	return sink->ticks++ < MAX_TICKS;
}

static void run(struct lbx_context *context, const char *name, const char *rest, bool json)
{
	const struct lbx_command *command = lbx_command_find(lbx_commands, name);
	struct sink *sink = context->out->context;

	lb_clear_error();
	sink->ticks = 0;
	context->out->json = json;
	bool done = lbx_command_run(context, command, rest);
	if (!done && lb_ok()) {
		fprintf(stderr, "%s%s failed without saying why\n", name, rest);
		abort();
	}
}

void image_inspect(struct image *image)
{
	static const struct { const char *name, *rest; } lines[] = {
		{ "status", "" }, { "list", "" }, { "list", "--sort name" }, { "list", "* --sort bytes" },
		{ "print", "x" }, { "print", "x[0,::-1,2:8:2]" }, { "stats", "lazy" },
		{ "info", "layer.0/view" }, { "stats", "layer.0/view[...,0]" }, { "at", "0x200010" },
		{ "at", "0x100010" }, { "info", "nobody" },
		{ "image", "x[0]" }, { "plot", "layer.0/view" }, { "hist", "x" },
		{ "graph", "lazy --history" }, { "graph", "#4 --depth 3" },
		{ "events", "" }, { "events", "err* --last 1" },
	};
	struct lbx_settings settings = lbx_default_settings;
	struct sink sink = { 0, 0 };
	struct lbx_out out = { .width = 80, .context = &sink, .write = swallow, .progress = tick };
	struct lbx_context context = { .target = &image->target, .out = &out,
				       .settings = &settings };
	char text[32];

	settings.edge_items = 1;
	settings.threshold = 64;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		run(&context, lines[i].name, lines[i].rest, false);
		run(&context, lines[i].name, lines[i].rest, true);
	}
	for (int id = 1; id <= 18 && context.table; id++) {
		snprintf(text, sizeof text, "#%d", id);
		run(&context, "info", text, id & 1);
		run(&context, "print", text, !(id & 1));
		run(&context, "stats", text, id & 1);
	}
	lbx_table_destroy(context.table);
	lb_clear_error();
}

static uint64_t random_bits(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

void image_damage(struct image *image, uint64_t *random)
{
	static const uint64_t values[] = {
		0, 1, 2, 8, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, INT64_MAX, UINT64_MAX,
		1ULL << 62, 1ULL << 32, IMAGE_TENSORS, IMAGE_BUFFERS, IMAGE_DATA, IMAGE_NAMES,
		UINT64_MAX - 4096,
	};
	int places = 1 << (random_bits(random) % 5);

	for (int i = 0; i < places; i++) {
		struct image_region *r = &image->regions[random_bits(random) % (uint64_t)image->n_regions];
		/* near the beginning there is more to break */
		uint64_t room = random_bits(random) % 3 ? (r->size < 0x900 ? r->size : 0x900) : r->size;
		uint64_t at = random_bits(random) % room, width = 1ULL << random_bits(random) % 4;
		uint64_t value = random_bits(random);
		if (random_bits(random) % 4)
			value = values[random_bits(random) % (sizeof values / sizeof *values)];
		at -= at % width;
		if (width <= r->size - at)
			memcpy(r->bytes + at, &value, width);
	}
}
