/* The scopes of the program's threads: struct lb_scopes of runtime/symtab.h. */
#include "base/error.h"
#include "table/internal.h"
#include "tensors/scope.h"

/* A number of a scope is a thread's slot and its depth. */
enum { DEPTH_BITS = 24, ITEMS_MOST = 1 << 28 };

/* The scope of that depth; false, without an error: the thread has none, or what it says makes no sense. */
static bool scope_at(struct lbx_table *table, const struct lbx_thread_record *thread, uint64_t depth,
		     struct lbx_scope *ret)
{
	struct lb_scope_mark own = { .first = 0 }, next;
	struct lb_scopes scopes;

	if (thread->id[0] == 0 || thread->scopes[0] == 0 ||
	    !lbx_target_read(table->target, thread->scopes[0], &scopes, sizeof scopes) || depth > scopes.n_marks ||
	    scopes.n_marks >= 1 << DEPTH_BITS || scopes.n_items > ITEMS_MOST)
		return false;
	next.first = scopes.n_items;
	if (depth > 0 && !lbx_target_read(table->target, scopes.marks + (depth - 1) * sizeof own, &own, sizeof own))
		return false;
	if (depth < scopes.n_marks &&
	    !lbx_target_read(table->target, scopes.marks + depth * sizeof next, &next, sizeof next))
		return false;
	if (own.first > next.first || next.first > scopes.n_items)
		return false;
	*ret = (struct lbx_scope){
		.of = &table->tensors,
		.thread = thread->id[0],
		.depth = (int)depth,
		.site = own.site,
		.items = scopes.items + own.first * sizeof(uint64_t),
		.n = next.first - own.first,
	};
	return true;
}

bool lbx_table_scope(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_scope *ret)
{
	struct lbx_table *table = (struct lbx_table *)tensors;
	unsigned char scratch[LBX_RECORD_MAX];
	const void *record;
	bool clean = lb_ok();

	for (;;) {
		uint64_t at = *slot >> DEPTH_BITS, depth = *slot & ((1 << DEPTH_BITS) - 1), after = at;
		struct lbx_thread_record r;
		if (!(record = lbx_table_next_record(table, LB_KIND_THREAD, &after, scratch)))
			return false;
		lbx_layout_decode(&table->slabs[LB_KIND_THREAD].layout, record, &r);
		if (after - 1 != at)
			depth = 0;
		if (scope_at(table, &r, depth, ret)) {
			*slot = (after - 1) << DEPTH_BITS | (depth + 1);
			return true;
		}
		*slot = after << DEPTH_BITS;
		if (lb_error_cause() == LB_INTERRUPTED)
			return false;
		if (clean)
			lb_clear_error();
	}
}
