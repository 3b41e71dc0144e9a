#include <inttypes.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/name.h"

enum { SHOWN_MOST = 1 << 16 };

/* The largest are worth a name; what is as small as a number is a constant. */
static void tell_captured(struct lbx_context *context, struct lbx_table *table, const struct lbx_compiled *c)
{
	enum { NAMED = 5, LEAST = 64, MOST = 4096 };
	struct lbx_out *out = context->out;
	char label[LBX_DESCRIPTION_MAX], bytes[32];
	struct lbx_tensor t;
	int named = 0;

	LBX_KEY(out, "n_captured", json_integer((json_int_t)c->n_captured));
	LBX_KEY(out, "captured_bytes", json_integer((json_int_t)c->captured_bytes));
	if (c->n_captured && !out->json) {
		lbx_format_bytes((int64_t)c->captured_bytes, bytes, sizeof bytes);
		lbx_printf(out, "  holds    %" PRIu64 " tensor%s, %s", c->n_captured, LB_S(c->n_captured), bytes);
	}
	lbx_begin_list(out, "captured");
	for (uint64_t i = 0; i < c->n_captured && i < MOST && (out->json || named <= NAMED); i++) {
		if (!lbx_table_captured(table, c, i, &t) || lbx_tensor_nbytes(&t) < LEAST)
			continue;
		LBX_KEY(out, NULL, json_integer((json_int_t)t.id));
		lbx_describe(&t, label, sizeof label);
		lbx_printf(out, "%s%s", named ? ", " : ": ", named == NAMED ? "…" : label);
		named++;
	}
	lbx_end(out);
	if (c->n_captured)
		lbx_printf(out, "\n");
}

static void tell_one(struct lbx_context *context, struct lbx_table *table, const struct lbx_compiled *c)
{
	struct lbx_out *out = context->out;
	char function[512], site[512];

	/* an address in the function, as that of a call would be */
	lbx_describe_pc(context->target, c->function + 1, function, sizeof function);
	lbx_describe_pc(context->target, c->site, site, sizeof site);
	lbx_begin(out, NULL);
	LBX_KEYS(out, json_pack("{s:I,s:o,s:o,s:o,s:o,s:I,s:I,s:b,s:b}", "id", (json_int_t)c->id, "name",
				lbx_json_string(c->name), "function", lbx_json_address(c->function), "context",
				lbx_json_address(c->context), "site", lbx_json_string(site), "compiles",
				(json_int_t)c->compiles, "evictions", (json_int_t)c->evictions, "shapeless",
				c->shapeless, "torn", c->torn));
	lbx_styled(out, LBX_NAME, "%s", c->name[0] ? c->name : "?");
	lbx_tell(out, ": %pF, %pF, %" PRIu64 " traced; %pF of %pF%s%s", LBX_COUNT("calls", c->calls, "call"),
		 LBX_COUNT("hits", c->hits, "hit"), c->compiles, LBX_INT("entries", c->entries),
		 LBX_COUNT("limit", c->limit, "graph"), c->shapeless ? ", shapeless" : "", c->torn ? " (torn)" : "");
	if (c->evictions)
		lbx_printf(out, ", %" PRIu64 " evicted", c->evictions);
	if (c->checks)
		lbx_printf(out, ", %" PRIu64 " checked: %" PRIu64 " stale", c->checks, c->stale);
	LBX_KEYS(out, json_pack("{s:I,s:I,s:o}", "checks", (json_int_t)c->checks, "stale", (json_int_t)c->stale,
				"stale_text", lbx_json_text(c->stale_text)));
	lbx_tell(out, "\n  function %pF\n", LBX_STYLED(LBX_FILE, "defined", function));
	lbx_wrap(out, 0, 11);
	if (c->compiles)
		lbx_tell(out, "  last     %pF traced, a call makes %pF: %pF\n",
			 LBX_COUNT("traced", c->traced, "tensor"), LBX_INT("built", c->built),
			 LBX_STYLED(LBX_TITLE, "reason", c->reason));
	else
		LBX_KEYS(out, json_pack("{s:I,s:I,s:n}", "traced", (json_int_t)c->traced, "built", (json_int_t)c->built,
					"reason"));
	lbx_wrap(out, 0, 11);
	tell_captured(context, table, c);
	lbx_end(out);
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
	lbx_begin_list(context->out, NULL);
	while (n < SHOWN_MOST && lbx_table_compiled(table, &slot, &c)) {
		if (glob && !lbx_name_matches(glob, c.name))
			continue;
		n++;
		tell_one(context, table, &c);
		if (!lbx_progress(context->out, "reading", n, 0))
			return false;
	}
	lbx_end(context->out);
	if (n == 0)
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
		"tensors were traced and a call makes; and the tensors that the last graph holds, which are not\n"
		"among its inputs: weights, constants. GLOB selects by name.\n"
		"Example: compiled 'block*'",
	.max_args = 1,
	.needs = LBX_NEEDS_RUNTIME,
	.run = run_compiled,
};
