#include <inttypes.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/name.h"

enum { SHOWN_MOST = 1 << 16 };

static json_t *json_one(struct lbx_context *context, const struct lbx_compiled *c)
{
	char function[512], site[512];

	lbx_describe_pc(context->target, c->function + 1, function, sizeof function);
	lbx_describe_pc(context->target, c->site, site, sizeof site);
	return json_pack("{s:I,s:o,s:o,s:s,s:o,s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:b,s:I,s:I,s:o,s:b}", "id",
			 (json_int_t)c->id, "name", lbx_json_string(c->name), "function", lbx_json_address(c->function),
			 "defined", function, "context", lbx_json_address(c->context), "site", site, "calls",
			 (json_int_t)c->calls, "hits", (json_int_t)c->hits, "compiles", (json_int_t)c->compiles,
			 "evictions", (json_int_t)c->evictions, "entries", (json_int_t)c->entries, "limit",
			 (json_int_t)c->limit, "shapeless", c->shapeless, "traced", (json_int_t)c->traced, "built",
			 (json_int_t)c->built, "reason", c->compiles ? lbx_json_string(c->reason) : json_null(), "torn",
			 c->torn);
}

static void print_one(struct lbx_context *context, const struct lbx_compiled *c)
{
	struct lbx_out *out = context->out;
	char text[512];

	lbx_styled(out, LBX_NAME, "%s", c->name[0] ? c->name : "?");
	lbx_printf(out,
		   ": %" PRIu64 " call%s, %" PRIu64 " hit%s, %" PRIu64 " traced; %" PRIu64 " of %" PRIu64
		   " graph%s%s%s",
		   c->calls, LB_S(c->calls), c->hits, LB_S(c->hits), c->compiles, c->entries, c->limit, LB_S(c->limit),
		   c->shapeless ? ", shapeless" : "", c->torn ? " (torn)" : "");
	if (c->evictions)
		lbx_printf(out, ", %" PRIu64 " evicted", c->evictions);
	/* an address in the function, as that of a call would be */
	lbx_describe_pc(context->target, c->function + 1, text, sizeof text);
	lbx_printf(out, "\n  function ");
	lbx_styled(out, LBX_FILE, "%s", text);
	lbx_printf(out, "\n");
	if (c->compiles == 0)
		return;
	lbx_printf(out, "  last     %" PRIu64 " tensor%s traced, a call makes %" PRIu64 ": ", c->traced,
		   LB_S(c->traced), c->built);
	lbx_styled(out, LBX_TITLE, "%s", c->reason);
	lbx_printf(out, "\n");
}

static bool run_compiled(struct lbx_context *context, const struct lbx_args *args)
{
	const char *glob = args->n ? args->v[0] : NULL;
	struct lbx_table *table;
	struct lbx_root root;
	struct lbx_compiled c;
	uint64_t slot = 0;
	int64_t n = 0;

	if (!lbx_context_table(context, &table) || !lbx_table_root(table, &root))
		return false;
	bool done = true;
	json_t *list = context->out->json ? json_array() : NULL;
	while (done && n < SHOWN_MOST && lbx_table_compiled(table, &slot, &c)) {
		if (glob && !lbx_name_matches(glob, c.name))
			continue;
		n++;
		if (list)
			json_array_append_new(list, json_one(context, &c));
		else
			print_one(context, &c);
		done = lbx_progress(context->out, "reading", n, 0);
	}
	if (!done) {
		json_decref(list);
		return false;
	}
	if (list)
		lbx_json(context->out, list);
	else if (n == 0)
		lbx_printf(context->out, "no compiled functions%s%s\n", glob ? " match " : "", glob ? glob : "");
	lbx_set_int(context->out, "tensor_count", n);
	return lb_ok();
}

const struct lbx_command lbx_command_compiled = {
	.name = "compiled",
	.arguments = "[GLOB]",
	.summary = "show the compiled functions, and why each was traced last",
	.help = "Shows the calls, how many of them an earlier graph served (hits), how often the\n"
		"function was traced, how many graphs are held of how many at most, and how many\n"
		"tensors were traced and a call makes. GLOB selects by name.\n"
		"Example: compiled 'block*'",
	.max_args = 1,
	.needs = LBX_NEEDS_RUNTIME,
	.run = run_compiled,
};
