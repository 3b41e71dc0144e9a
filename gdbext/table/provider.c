/* The runtime's symbol table as a provider of tensors. */
#include <stdlib.h>

#include "base/error.h"
#include "table/internal.h"

static const struct lbx_tensors_ops ops = {
	.next = lbx_table_next,
	.next_label = lbx_table_next_label,
	.by_id = lbx_table_by_id,
	.by_address = lbx_table_by_address,
	.record_at = lbx_table_record_at,
	.next_buffer = lbx_table_next_buffer,
	.damage = lbx_table_damage,
	.input = lbx_table_input,
	.input_id = lbx_table_input_id,
	.stack = lbx_table_stack,
	.program = lbx_table_program,
	.take_computed = lbx_table_take_computed,
	.words = lbx_table_words,
	.scope = lbx_table_scope,
	.part_at = lbx_table_part_at,
};

bool lbx_table_create(struct lbx_target *target, struct lbx_table **ret)
{
	uint64_t address;

	if (!target->ops->find_root(target, &address))
		return false;
	struct lbx_table *table = calloc(1, sizeof *table);
	if (!table)
		return lb_fail("out of memory");
	table->tensors.ops = &ops;
	table->tensors.target = table->target = target;
	table->tensors.provider = "lazybones";
	table->tensors.ids_grow = true;
	table->tensors.knows_asked = true;
	table->tensors.strided = "lb_raw_data does not see these elements in this order: "
				 "use the strides, lb_data, or lb_contiguous";
	table->address = address;
	table->cache = lbx_cache_create(target);
	if (table->cache && lbx_table_read(table)) {
		*ret = table;
		return true;
	}
	lbx_table_destroy(table);
	return false;
}

void lbx_table_destroy(struct lbx_table *table)
{
	if (!table)
		return;
	lbx_cache_destroy(table->cache);
	lbx_ids_deinit(&table->ids);
	free(table);
}

struct lbx_tensors *lbx_table_tensors(struct lbx_table *table)
{
	return table ? &table->tensors : NULL;
}
