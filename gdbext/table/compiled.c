#include "base/error.h"
#include "table/internal.h"

bool lbx_table_compiled(struct lbx_table *table, uint64_t *slot, struct lbx_compiled *ret)
{
	const struct lbx_layout *layout = &table->slabs[LB_KIND_COMPILED].layout;
	unsigned char scratch[LBX_RECORD_MAX];
	struct lbx_compiled_record r;
	const void *record;

	while ((record = lbx_table_next_record(table, LB_KIND_COMPILED, slot, scratch))) {
		lbx_layout_decode(layout, record, &r);
		if (r.id[0] == 0)
			continue;
		*ret = (struct lbx_compiled){
			.id = r.id[0],
			.function = r.function[0],
			.context = r.context[0],
			.site = r.site[0],
			.calls = r.calls[0],
			.hits = r.hits[0],
			.compiles = r.compiles[0],
			.evictions = r.evictions[0],
			.entries = r.entries[0],
			.limit = r.limit[0],
			.traced = r.traced[0],
			.built = r.built[0],
			.captured = r.captured[0],
			.n_captured = r.n_captured[0],
			.captured_bytes = r.captured_bytes[0],
			.tracing = r.tracing[0],
			.checks = r.checks[0],
			.stale = r.stale[0],
			.stale_site = r.stale_site[0],
			.shapeless = r.shapeless[0],
			.torn = r.seq[0] & 1,
		};
		lbx_table_text(table, r.name[0], ret->name, sizeof ret->name);
		lbx_table_text(table, r.reason[0], ret->reason, sizeof ret->reason);
		lbx_table_text(table, r.stale_text[0], ret->stale_text, sizeof ret->stale_text);
		return true;
	}
	return false;
}

bool lbx_table_captured(struct lbx_table *table, const struct lbx_compiled *c, uint64_t i, struct lbx_tensor *ret)
{
	bool clean = lb_ok();
	uint64_t address, at;

	if (i >= c->n_captured || c->captured == 0 || __builtin_add_overflow(c->captured, i * sizeof address, &at))
		return false;
	bool found = i < UINT32_MAX && lbx_target_read(table->target, at, &address, sizeof address) &&
		     lbx_tensors_by_address(&table->tensors, address, ret);
	if (clean)
		lb_clear_error();
	return found;
}
