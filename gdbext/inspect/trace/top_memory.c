#include "inspect/trace/top_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/plural.h"
#include "inspect/memory/holdings.h"
#include "inspect/memory/resident.h"
#include "inspect/tensor/format.h"
#include "inspect/trace/comings.h"

enum {
	PART = 20 /* of the time goes into finding tensors */,
	HEAD = 12,
	MODULES = 16,
	FIELD = 11,
	NAMES = 64,
	BUFFERS = 12,
	TEXT = 160,
	CACHES_MAX = 1 << 28 /* bytes; each look reads them */
};

struct lbx_top_memory {
	struct lbx_target *running;
	uint64_t pid;
	char provider[NAMES];
	struct lbx_resident resident;
	struct lbx_snapshot held;
	struct lbx_holding_groups modules, devices; /* of it */
	struct lbx_comings comings;
	uint64_t found_before_ns;
	int n_buffers; /* at most BUFFERS are told */
	char buffers[BUFFERS][TEXT]; /* that its tensors lie in, as their runtime has them */
	uint64_t found_ns, took_ns; /* when the tensors were, and how long that took */
	struct sample {
		uint64_t ns;
		struct lbx_footprint footprint;
	} before, now;
	bool has_footprint;
};

struct lbx_top_memory *lbx_top_memory_create(struct lbx_target *running)
{
	struct lbx_top_memory *top = calloc(1, sizeof *top);

	if (!top)
		return NULL;
	top->running = running;
	if (running->ops->pid)
		running->ops->pid(running, &top->pid);
	return top;
}

static void forget_held(struct lbx_top_memory *top)
{
	lbx_holding_groups_deinit(&top->modules);
	lbx_holding_groups_deinit(&top->devices);
	lbx_snapshot_deinit(&top->held);
}

void lbx_top_memory_destroy(struct lbx_top_memory *top)
{
	if (!top)
		return;
	lbx_resident_deinit(&top->resident);
	forget_held(top);
	lbx_comings_deinit(&top->comings);
	free(top);
}

bool lbx_top_memory_is_old(const struct lbx_top_memory *top)
{
	return top->found_ns == 0 || lb_clock_ns() - top->found_ns >= top->took_ns * PART;
}

static void take_names(struct lbx_top_memory *top, const struct lbx_context *context)
{
	size_t used = 0;

	for (int i = 0; i < context->n_sets && used < sizeof top->provider; i++)
		used += (size_t)snprintf(top->provider + used, sizeof top->provider - used, "%s%s", i ? ", " : "",
					 context->sets[i]->provider);
}

static void take_buffer(void *context, const char *name, const char *text)
{
	struct lbx_top_memory *top = context;

	if (strcmp(name, "buffer") != 0)
		return;
	if (top->n_buffers < BUFFERS)
		snprintf(top->buffers[top->n_buffers], TEXT, "%s", text);
	top->n_buffers++;
}

static bool take_held(struct lbx_top_memory *top, struct lbx_context *still)
{
	forget_held(top);
	return lbx_snapshot_take(still, &top->held) &&
	       lbx_holding_groups_make(&top->held, NULL, LBX_BY_MODULE, &top->modules) &&
	       lbx_holding_groups_make(&top->held, NULL, LBX_BY_DEVICE, &top->devices);
}

bool lbx_top_memory_find(struct lbx_top_memory *top, struct lbx_context *still)
{
	struct lbx_resident found;
	uint64_t begin = lb_clock_ns();

	if (!lbx_resident_take(still, &found))
		return false;
	lbx_resident_deinit(&top->resident);
	top->resident = found;
	if (!take_held(top, still) || !lbx_comings_look(still, &top->comings))
		return false;
	take_names(top, still);
	top->n_buffers = 0;
	for (int i = 0; i < still->n_sets; i++)
		lbx_tensors_facts(still->sets[i], NULL, take_buffer, top);
	top->found_before_ns = top->found_ns;
	top->found_ns = lb_clock_ns();
	top->took_ns = top->found_ns - begin;
	return true;
}

bool lbx_top_memory_look(struct lbx_top_memory *top)
{
	char byte;

	top->before = top->now;
	top->now.ns = lb_clock_ns();
	top->has_footprint = lbx_target_footprint(top->running, &top->now.footprint);
	lbx_resident_look(&top->resident, top->running);
	if (!lbx_resident_fill(&top->resident, top->running, CACHES_MAX, NULL))
		return false;
	/* of a process that has ended the system tells nothing more */
	return top->has_footprint || top->resident.n_ranges == 0 ||
	       lbx_target_try_read(top->running, top->resident.ranges[0].start, &byte, 1) ||
	       lb_fail("process %llu has ended", (unsigned long long)top->pid);
}

static double seconds(const struct lbx_top_memory *top)
{
	return (double)(top->now.ns - top->before.ns) / 1e9;
}

/* Processors that it keeps busy; where there was a look before. */
static double busy(const struct lbx_top_memory *top)
{
	return (double)(top->now.footprint.cpu_ns - top->before.footprint.cpu_ns) / 1e9 / seconds(top);
}

static void tell_process(struct lbx_out *out, const struct lbx_top_memory *top)
{
	const struct lbx_footprint *f = &top->now.footprint;

	if (!top->has_footprint) {
		LBX_KEY(out, "process", json_null());
		return;
	}
	lbx_begin(out, "process");
	lbx_field(out, "process", FIELD);
	lbx_tell(out, "%pF resident, %pF of it its own; %pF proportional; %pF swapped out\n",
		 LBX_SIZE("resident", f->resident), LBX_SIZE("own", f->own), LBX_SIZE("proportional", f->proportional),
		 LBX_SIZE("swapped", f->swapped));
	lbx_field(out, "threads", FIELD);
	lbx_tell(out, "%pF", LBX_INT("threads", f->threads));
	LBX_KEY(out, "busy", top->before.ns ? json_real(busy(top)) : json_null());
	if (top->before.ns)
		lbx_printf(out, ", %.0f %% of a processor", 100 * busy(top));
	lbx_printf(out, "\n");
	lbx_end(out);
}

/* At which its tensors were found. */
static double between_looks(const struct lbx_top_memory *top)
{
	return (double)(top->found_ns - top->found_before_ns) / 1e9;
}

static void tell_tensors(struct lbx_out *out, const struct lbx_top_memory *top)
{
	const struct lbx_resident *r = &top->resident;
	double age = (double)(top->now.ns - top->found_ns) / 1e9;
	const char *between = ": ";

	lbx_field(out, "tensors", FIELD);
	lbx_begin(out, "tensors");
	lbx_tell(out, "%pF", LBX_INT("count", r->tensors));
	lbx_begin(out, "states");
	for (int i = 0; i < LBX_STATES; i++) {
		if (r->states[i] == 0)
			continue;
		lbx_printf(out, "%s", between);
		lbx_tell(out, "%pF %s", LBX_INT(lbx_state_name(i), r->states[i]), lbx_state_name(i));
		between = ", ";
	}
	lbx_end(out);
	LBX_KEY(out, "born", lbx_json_int_if(top->comings.is_compared, top->comings.born));
	LBX_KEY(out, "gone", lbx_json_int_if(top->comings.is_compared, top->comings.gone));
	LBX_KEY(out, "between_seconds", top->comings.is_compared ? json_real(between_looks(top)) : json_null());
	if (top->comings.is_compared)
		lbx_printf(out, "; %lld born, %lld gone within %.1f s", (long long)top->comings.born,
			   (long long)top->comings.gone, between_looks(top));
	LBX_KEY(out, "seconds_ago", json_real(age > 0 ? age : 0));
	if (age >= 1)
		lbx_printf(out, "; %.0f s ago", age);
	lbx_printf(out, "\n");
	LBX_KEY(out, "unreadable", json_integer((json_int_t)r->unreadable));
	if (r->unreadable) {
		lbx_field(out, "", FIELD);
		lbx_styled(out, LBX_WARNING, "%llu record%s unreadable or damaged: not counted\n",
			   (unsigned long long)r->unreadable, LB_S(r->unreadable));
	}
	lbx_end(out);
}

static void tell_buffers(struct lbx_out *out, const struct lbx_top_memory *top)
{
	lbx_begin_list(out, "buffers");
	for (int i = 0; i < top->n_buffers && i < BUFFERS; i++) {
		LBX_KEY(out, NULL, lbx_json_string(top->buffers[i]));
		lbx_field(out, i ? "" : "buffers", FIELD);
		lbx_printf(out, "%s\n", top->buffers[i]);
	}
	lbx_end(out);
	if (top->n_buffers > BUFFERS) {
		lbx_field(out, "", FIELD);
		lbx_printf(out, "… %d more\n", top->n_buffers - BUFFERS);
	}
}

static void tell_devices(struct lbx_out *out, const struct lbx_top_memory *top)
{
	const char *sign = "";

	lbx_field(out, "devices", FIELD);
	lbx_begin_list(out, "devices");
	for (size_t i = 0; i < top->devices.n; i++) {
		const struct lbx_holding_group *g = &top->devices.list[i];
		if (!g->key[0] || !g->buffers)
			continue;
		lbx_printf(out, "%s", sign);
		lbx_begin(out, NULL);
		lbx_tell(out, "%pF %pF", LBX_TEXT("device", g->key), LBX_SIZE("bytes", g->bytes));
		LBX_KEY(out, "buffers", json_integer(g->buffers));
		lbx_end(out);
		sign = ", ";
	}
	lbx_end(out);
	lbx_printf(out, "\n");
}

/* Where there are any; the largest. */
static void tell_modules(struct lbx_out *out, const struct lbx_top_memory *top, int lines)
{
	int n = 0;

	lbx_begin_list(out, "modules");
	for (size_t i = 0; i < top->modules.n; i++) {
		const struct lbx_holding_group *g = &top->modules.list[i];
		char bytes[32];
		if (!g->key[0] || !g->buffers)
			continue;
		LBX_KEY(out, NULL,
			json_pack("{s:o,s:I,s:I}", "module", lbx_json_string(g->key), "bytes", (json_int_t)g->bytes,
				  "buffers", (json_int_t)g->buffers));
		if (n++ >= lines)
			continue;
		if (n == 1)
			lbx_styled(out, LBX_TITLE, "\n%10s %10s  %s\n", "memory", "buffers", "of module");
		lbx_format_bytes(g->bytes, bytes, sizeof bytes);
		lbx_printf(out, "%10s %10lld  %s\n", bytes, (long long)g->buffers, g->key);
	}
	lbx_end(out);
	if (lines > 0 && n > lines)
		lbx_printf(out, "  … %d more\n", n - lines);
}

void lbx_top_memory_show(struct lbx_top_memory *top, struct lbx_out *out, int lines)
{
	bool whole = out->whole_lines;

	out->whole_lines = false; /* a screen has no room for longer ones */
	lbx_begin(out, NULL);
	lbx_tell(out, "lazybones top   process %pF   %pF", LBX_UINT("pid", top->pid),
		 LBX_TEXT("provider", top->provider));
	LBX_KEY(out, "seconds", top->before.ns ? json_real(seconds(top)) : json_null());
	if (top->before.ns)
		lbx_printf(out, "   over %.1f s", seconds(top));
	lbx_printf(out, "\n");
	tell_process(out, top);
	tell_tensors(out, top);
	tell_devices(out, top);
	lbx_printf(out, "\n");
	lbx_resident_tell(out, &top->resident, lines > HEAD ? lines - HEAD : 0);
	lines -= HEAD + (top->resident.n ? top->resident.n : 1);
	tell_modules(out, top, lines < 0 ? 0 : lines > MODULES ? MODULES : lines);
	lbx_printf(out, "\n");
	tell_buffers(out, top);
	lbx_end(out);
	out->whole_lines = whole;
}
