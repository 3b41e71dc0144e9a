#include "damage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "fake_stacks.h"
#include "inspect/command.h"
#include "inspect/report/report.h"
#include "inspect/trace/timeline.h"
#include "inspect/trace/top.h"

enum { MAX_TICKS = 64 };

struct sink {
	size_t bytes;
	int ticks;
};

void image_create_whole(struct image *image, bool shuffled)
{
	image_create(image, shuffled);
	image_populate(image);
	uint64_t name = image_name(image, "block"), reason = image_name(image, "shape of argument 0");
	struct lbx_thread_record thread = {
		.seq = { 2 },
		.generation = { 1 },
		.id = { 101 },
		.eval = { 7 },
		.tensor = { 3 },
		.done = { 1 },
		.total = { 2 },
		.started_ns = { 1000 },
		.waits_for = { 6 },
	};
	struct lbx_stream_record stream = {
		.seq = { 2 },
		.generation = { 1 },
		.id = { 1 },
		.name = { name },
		.thread = { 102 },
		.queued = { 2 },
		.done = { 5 },
		.failed = { 1 },
		.eval = { 6 },
		.error = { reason },
	};
	struct lbx_compiled_record compiled = {
		.seq = { 2 },
		.generation = { 1 },
		.id = { 1 },
		.name = { name },
		.function = { 0x401000 },
		.site = { 0x401234 },
		.calls = { 9 },
		.hits = { 7 },
		.compiles = { 2 },
		.entries = { 2 },
		.limit = { 8 },
		.reason = { reason },
		.traced = { 4 },
		.built = { 2 },
	};
	enum { LISTING = IMAGE_DATA + 0x3000 };
	struct lbx_graph_record graph = {
		.seq = { 2 },
		.generation = { 1 },
		.id = { 3 },
		.listing = { LISTING },
		.code = { 0x500000 },
		.code_bytes = { 52 },
		.runs = { 2 },
		.running = { 1 },
		.tensors = { image_listing(image, LISTING) },
	};
	image_graph(image, 0, &graph);
	thread.graph[0] = 3;
	thread.line[0] = 2;
	thread.tensors[0] = graph.tensors[0];
	image_thread(image, 0, &thread);
	image_stream(image, 0, &stream);
	image_compiled(image, 0, &compiled);
	image_event(image, 3000000, IMAGE_EVAL_START, 7, 0x401234, 1, 0);
	image_event(image, 3500000, IMAGE_COMPILE, 0, image_text(image, 3400000, "block"),
		    image_text(image, 3400000, "shape of argument 0"), 400000);
	image_event(image, 4000000, IMAGE_NAN, 3, 0, 0x401234, 2);
	image_event(image, 5000000, IMAGE_EVAL_DONE, 7, 0x401234, 2, 1);
	image_event(image, 6000000, IMAGE_EVAL_START, 8, 0x401238, 1, 0);
}

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

static void run(struct lbx_context *context, const struct lbx_command *command, const char *rest, bool json)
{
	struct sink *sink = context->out->context;

	lb_clear_error();
	sink->ticks = 0;
	context->out->json = json;
	struct lbx_args args;
	bool done = lbx_args_parse_line(command, rest, &args) && lbx_command_run(context, &args);
	lbx_abandon(context->out, done ? NULL : lb_error_message());
	if (!done && lb_ok()) {
		fprintf(stderr, "%s %s failed without saying why\n", command->name, rest);
		abort();
	}
}

static bool fake_ready(struct lbx_context *context, struct lbx_symbol_space **ret)
{
	(void)context;
	*ret = NULL;
	return true;
}

static bool fake_load(struct lbx_context *context, const void *object, size_t n)
{
	(void)context;
	return n > 64 && memcmp(object, "\177ELF", 4) == 0;
}

static bool fake_unload(struct lbx_context *context, bool *ret)
{
	(void)context;
	*ret = true;
	return true;
}

static bool fake_at_stops(struct lbx_context *context, bool on)
{
	(void)context;
	return on || lb_ok();
}

static const struct lbx_debugger fake_debugger = {
	.ready = fake_ready,
	.load = fake_load,
	.unload = fake_unload,
	.at_stops = fake_at_stops,
};

static void run_page(struct lbx_context *context)
{
	struct sink sink = { 0, 0 };
	struct lbx_out page = { .width = 100, .context = &sink, .write = swallow };
	struct lbx_report report;

	lb_clear_error();
	((struct sink *)context->out->context)->ticks = 0;
	if (lbx_report_collect(context, 1, &report) && !lbx_report_page(context, &report, &page) && lb_ok()) {
		fprintf(stderr, "the page failed without saying why\n");
		abort();
	}
	lbx_report_deinit(&report);
}

static void must_say_why(const char *what)
{
	if (!lb_ok())
		return;
	fprintf(stderr, "%s failed without saying why\n", what);
	abort();
}

/* What a timeline has written. */
struct written {
	char bytes[1 << 16];
	size_t n;
};

static void write_down(struct lbx_out *out, const char *text, size_t n)
{
	struct written *to = out->context;

	if (n > sizeof to->bytes - to->n)
		n = sizeof to->bytes - to->n;
	memcpy(to->bytes + to->n, text, n);
	to->n += n;
}

/* Whatever the events say, a viewer can load the file. */
static void run_timeline(struct lbx_context *context)
{
	static struct written written;
	struct lbx_out *out = context->out, file = { .json = true, .write = write_down, .context = &written };
	struct lbx_timeline *timeline;
	struct lbx_timeline_totals totals = { 0 };
	bool begun = false;

	lb_clear_error();
	written.n = 0;
	context->out = &file;
	if (lbx_timeline_create(context, LBX_TIMELINE_ALL, &begun, &timeline)) {
		if (lbx_timeline_poll(timeline, false))
			lbx_timeline_poll(timeline, true);
		lbx_timeline_end(timeline, &totals);
		lbx_timeline_close(&file);
		lbx_timeline_destroy(timeline);
		json_error_t error;
		json_t *json = json_loadb(written.bytes, written.n, 0, &error);
		if (!json_is_array(json)) {
			fprintf(stderr, "no JSON: %s:\n%.*s\n", error.text, (int)written.n, written.bytes);
			abort();
		}
		json_decref(json);
	} else {
		must_say_why("a timeline");
	}
	context->out = out;
}

static void run_top(struct lbx_context *context, bool json)
{
	struct lbx_top *top;

	lb_clear_error();
	context->out->json = json;
	if (!lbx_top_create(context, &top)) {
		must_say_why("top");
		return;
	}
	if (lbx_top_look(top))
		lbx_top_show(top, 24);
	else
		must_say_why("top");
	lbx_top_destroy(top);
}

static const struct {
	const char *name, *rest;
} lines[] = {
	{ "status", "" },
	{ "list", "" },
	{ "list", "--sort name" },
	{ "list", "* --sort bytes" },
	{ "print", "x" },
	{ "print", "x[0,::-1,2:8:2]" },
	{ "stats", "lazy" },
	{ "info", "layer.0/view" },
	{ "stats", "layer.0/view[...,0]" },
	{ "at", "0x200010" },
	{ "at", "0x100010" },
	{ "info", "nobody" },
	{ "image", "x[0]" },
	{ "plot", "layer.0/view" },
	{ "hist", "x" },
	{ "graph", "lazy --history" },
	{ "graph", "#4 --depth 3" },
	{ "events", "" },
	{ "events", "err* --last 1" },
	{ "owner", "0x1ffff0" },
	{ "owner", "0x200010" },
	{ "owner", "x" },
	{ "suspect", "--seconds 1 --all" },
	{ "freed", "" },
	{ "freed", "#3" },
	{ "diff", "x x" },
	{ "diff", "x[..., ::-1] x" },
	{ "diff", "layer.0/view x --rtol 1e-3 --group 8" },
	{ "save", "layer.0/view /nonexistent/x.npz" },
	{ "compiled", "" },
	{ "threads", "" },
	{ "frame", "" },
	{ "frame", "2 --thread 101" },
	{ "report", "--seconds 1" },
	{ "listing", "" },
	{ "listing", "3" },
	{ "listing", "3 --ranges" },
	{ "where", "" },
	{ "diff-graph", "3 3" },
	{ "symbols", "" },
	{ "symbols", "l* --peek" },
	{ "origin", "x" },
	{ "origin", "lazy --limit 20" },
	{ "memory", "" },
	{ "memory", "--by name" },
	{ "model", "" },
	{ "model", "*a* --depth 9" },
	{ "view", "0x200000 f32 4,6 6,-1" },
	{ "quant", "uint32" },
	{ "quant", "x[0] --scales x" },
	{ "stats", "@0x200000:f16:16,2" },
};
static const char *const of_ids[] = { "info", "print", "freed", "stats" };

enum {
	LINES = sizeof lines / sizeof *lines,
	OF_IDS = sizeof of_ids / sizeof *of_ids,
	IDS = 18,
	PAGE = LINES,
	TIMELINE,
	TOP,
	FIRST_OF_IDS,
	INSPECTIONS = FIRST_OF_IDS + OF_IDS * IDS,
};

struct inspection {
	struct lbx_settings settings;
	struct sink sink;
	struct lbx_out out;
	struct fake_stacks stacks;
	struct lbx_context context;
};

static void inspection_init(struct inspection *i, struct image *image)
{
	*i = (struct inspection){ .settings = lbx_default_settings, .stacks = fake_stacks(image) };
	i->settings.edge_items = 1;
	i->settings.threshold = 64;
	i->settings.replay_memory = 0; /* a replay is a process of its own: hardly any here */
	i->out = (struct lbx_out){ .width = 80, .context = &i->sink, .write = swallow, .progress = tick };
	i->context = (struct lbx_context){ .target = &image->target,
					   .out = &i->out,
					   .settings = &i->settings,
					   .stacks = &i->stacks.base,
					   .debugger = &fake_debugger };
}

static void inspection_deinit(struct inspection *i)
{
	lbx_context_close(&i->context);
	lb_clear_error();
}

static void inspect(struct lbx_context *context, int which, bool json)
{
	char text[32];

	if (which == PAGE) {
		run_page(context);
	} else if (which == TIMELINE) {
		run_timeline(context);
	} else if (which == TOP) {
		run_top(context, json);
	} else if (which >= FIRST_OF_IDS) {
		which -= FIRST_OF_IDS;
		snprintf(text, sizeof text, "#%d", which / OF_IDS + 1);
		run(context, lbx_command_find(lbx_commands, of_ids[which % OF_IDS]), text, json);
	} else {
		run(context, lbx_command_find(lbx_commands, lines[which].name), lines[which].rest, json);
	}
}

void image_inspect(struct image *image)
{
	struct inspection inspection;

	inspection_init(&inspection, image);
	for (int i = 0; i < 2 * FIRST_OF_IDS; i++)
		inspect(&inspection.context, i / 2, i & 1);
	for (int i = FIRST_OF_IDS; i < INSPECTIONS && inspection.context.table; i++)
		inspect(&inspection.context, i, i / OF_IDS & 1);
	inspection_deinit(&inspection);
}

void image_inspect_one(struct image *image, unsigned which, bool json)
{
	struct inspection inspection;

	inspection_init(&inspection, image);
	inspect(&inspection.context, (int)(which % INSPECTIONS), json);
	inspection_deinit(&inspection);
}

void image_command(struct image *image, const struct lbx_command *command, const char *line, bool json)
{
	struct inspection inspection;

	inspection_init(&inspection, image);
	run(&inspection.context, command, line, json);
	inspection_deinit(&inspection);
}

static uint64_t random_bits(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

struct image_change image_random_change(uint64_t *random)
{
	static const uint64_t values[] = {
		0,
		1,
		2,
		8,
		0x7f,
		0xff,
		0x7fff,
		0xffff,
		0x7fffffff,
		0xffffffff,
		INT64_MAX,
		UINT64_MAX,
		1ULL << 62,
		1ULL << 32,
		IMAGE_TENSORS,
		IMAGE_BUFFERS,
		IMAGE_DATA,
		IMAGE_NAMES,
		UINT64_MAX - 4096,
	};
	struct image_change change = { .where = (uint32_t)(random_bits(random) >> 8) };
	uint64_t value = random_bits(random);

	if (random_bits(random) % 4)
		value = values[random_bits(random) % (sizeof values / sizeof *values)];
	memcpy(change.bytes, &value, sizeof value);
	return change;
}

/* Of `where`, 8 bits are the region, 2 the width, 2 whether it is near the region's beginning,
 * where there is more to break, and the others the place. */
void image_swap(struct image *image, struct image_change *change)
{
	uint32_t where = change->where;
	struct image_region *r = &image->regions[(where & 255) % (uint32_t)image->n_regions];
	uint64_t room = r->size > 0x900 && (where >> 10 & 3) ? 0x900 : r->size;
	uint64_t width = 1ULL << (where >> 8 & 3), at = (where >> 12) % room / width * width;
	unsigned char before[sizeof change->bytes];

	if (width > r->size - at)
		return;
	memcpy(before, r->bytes + at, width);
	memcpy(r->bytes + at, change->bytes, width);
	memcpy(change->bytes, before, width);
}

void image_damage(struct image *image, uint64_t *random)
{
	for (int n = 1 << (random_bits(random) % 5); n > 0; n--) {
		struct image_change change = image_random_change(random);
		image_swap(image, &change);
	}
}
