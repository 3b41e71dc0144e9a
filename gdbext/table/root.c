/* The root's figures, and the records that are no tensors. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "table/internal.h"
#include "table/steady.h"

enum {
	COUNTER_NAME = 24,
	THREADS_MOST = 1 << 16, /* also streams: slots that are looked at, whatever a directory says */
};

static bool try_counters(struct lbx_table *table, struct lb_counters *ret)
{
	static const char *const names[] = {
#define X(name, meaning) #name,
		LB_COUNTERS(X)
#undef X
	};
	static char program_names[LBX_COUNTERS_MAX][COUNTER_NAME];
	uint64_t values[LBX_COUNTERS_MAX];
	uint64_t n = lbx_root_integer(table, table->fields.n_counters);
	uint64_t values_at = lbx_root_integer(table, table->fields.counters);
	uint64_t names_at = lbx_root_integer(table, table->fields.counter_names);

	if (n > LBX_COUNTERS_MAX)
		return lb_fail("the symbol table's root field 'n_counters' is %llu", (unsigned long long)n);
	if (!lbx_target_read(table->target, values_at, values, n * sizeof *values) ||
	    !lbx_target_read(table->target, names_at, program_names, n * COUNTER_NAME)) {
		lb_fail_within("the symbol table's counters");
		return false;
	}
	for (size_t own = 0; own < sizeof names / sizeof *names; own++)
		for (uint64_t i = 0; i < n; i++)
			if (strncmp(program_names[i], names[own], COUNTER_NAME) == 0)
				memcpy((char *)ret + own * sizeof(uint64_t), &values[i], sizeof values[i]);
	return true;
}

static void read_counters(struct lbx_table *table, struct lbx_root *ret)
{
	bool clean = lb_ok();

	if (try_counters(table, &ret->counters))
		return;
	snprintf(ret->uncounted, sizeof ret->uncounted, "%s", lb_error_message());
	if (clean)
		lb_clear_error();
}

static uint64_t address_of(const struct lbx_table *table, struct lbx_root_field field, size_t bytes)
{
	return field.bytes == bytes ? table->address + field.offset : 0;
}

bool lbx_table_root(struct lbx_table *table, struct lbx_root *ret)
{
	const struct lbx_root_fields *f = &table->fields;

	memset(ret, 0, sizeof *ret);
	if (!lbx_table_refresh(table))
		return false;
	ret->address = table->address;
	ret->major = table->head.major;
	ret->minor = table->head.minor;
	size_t n = f->version.bytes < sizeof ret->version ? f->version.bytes : sizeof ret->version - 1;
	memcpy(ret->version, table->root + f->version.offset, n);
	for (char *c = ret->version; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	ret->pid = lbx_root_integer(table, f->pid);
	ret->rank = f->rank.bytes == 8 ? (int64_t)lbx_root_integer(table, f->rank) : -1;
	ret->last_eval = lbx_root_integer(table, table->fields.last_eval);
	ret->n_tensor_slots = table->slabs[LB_KIND_TENSOR].used;
	ret->n_buffer_slots = table->slabs[LB_KIND_BUFFER].used;
	ret->want_stack = (uint32_t)lbx_root_integer(table, f->want_stack);
	ret->watch_all = (uint32_t)lbx_root_integer(table, f->watch_all);
	ret->strided = (uint32_t)lbx_root_integer(table, f->strided);
	ret->step = (uint32_t)lbx_root_integer(table, f->step);
	ret->event_mode = (uint32_t)lbx_root_integer(table, f->event_mode);
	ret->event_mode_at = address_of(table, f->event_mode, sizeof(uint32_t));
	ret->timed_until = lbx_root_integer(table, f->timed_until);
	ret->timed_until_at = address_of(table, f->timed_until, sizeof(uint64_t));
	ret->step_at = address_of(table, f->step, sizeof(uint32_t));
	ret->program = lbx_root_integer(table, f->program);
	ret->loader = lbx_root_integer(table, f->loader);
	ret->want_stack_at = address_of(table, f->want_stack, sizeof(uint32_t));
	ret->watch_all_at = address_of(table, f->watch_all, sizeof(uint32_t));
	ret->strided_at = address_of(table, f->strided, sizeof(uint32_t));
	ret->watch_memory = ret->watch_graph = UINT64_MAX;
	if ((ret->watch_memory_at = address_of(table, f->watch_memory, sizeof(uint64_t))))
		ret->watch_memory = lbx_root_integer(table, f->watch_memory);
	if ((ret->watch_graph_at = address_of(table, f->watch_graph, sizeof(uint64_t))))
		ret->watch_graph = lbx_root_integer(table, f->watch_graph);
	ret->watch_low_at = address_of(table, f->watch_low, sizeof(uint64_t));
	ret->watch_high_at = address_of(table, f->watch_high, sizeof(uint64_t));
	ret->watch_low = (int64_t)lbx_root_integer(table, f->watch_low);
	ret->watch_high = (int64_t)lbx_root_integer(table, f->watch_high);
	ret->watch_patterns_at = address_of(table, f->watch_patterns, sizeof ret->watch_patterns);
	if (ret->watch_patterns_at)
		memcpy(ret->watch_patterns, table->root + f->watch_patterns.offset, sizeof ret->watch_patterns);
	ret->log = (uint32_t)lbx_root_integer(table, f->log);
	ret->log_at = address_of(table, f->log, sizeof(uint32_t));
	ret->log_names_at = address_of(table, f->log_names, LB_LOG_BYTES);
	ret->log_file_at = address_of(table, f->log_file, LB_LOG_BYTES);
	ret->step_refusal = lbx_root_integer(table, f->step_refusal);
	read_counters(table, ret);
	return true;
}

bool lbx_table_buffer(struct lbx_table *table, uint64_t address, bool cached, struct lbx_buffer_record *ret)
{
	struct lbx_slab *slab = &table->slabs[LB_KIND_BUFFER];
	unsigned char scratch[LBX_RECORD_MAX];
	uint64_t slot, within;

	if (!lbx_slab_find(slab, address, &slot, &within) || within != 0)
		return lb_fail("0x%llx is not a buffer record", (unsigned long long)address);
	if (cached) {
		const void *record = lbx_cache_at(table->cache, address, slab->record_size, scratch);
		if (!record)
			return false;
		lbx_layout_decode(&slab->layout, record, ret);
	} else if (lbx_table_read_steady(table, LB_KIND_BUFFER, address, ret) != LBX_STEADY) {
		return lb_fail("the buffer record at 0x%llx keeps changing", (unsigned long long)address);
	}
	uint64_t bytes = (uint64_t)ret->nbytes[0];
	if (ret->nbytes[0] < 0 || ret->data[0] + bytes < ret->data[0])
		return lb_fail("the buffer record at 0x%llx is damaged: %lld byte%s at 0x%llx",
			       (unsigned long long)address, (long long)ret->nbytes[0], LB_S(ret->nbytes[0]),
			       (unsigned long long)ret->data[0]);
	return true;
}

/* After a record that cannot be read, the first of `left` in its tier, with *slot past it: when
 * there were many in a row, the tier is not there. */
static void skip_lost_tier(const struct lbx_slab *slab, uint64_t *slot, uint64_t left, int *unreadable)
{
	if (++*unreadable < LBX_UNREADABLE_MAX)
		return;
	*slot += left - 1 < slab->used - *slot ? left - 1 : slab->used - *slot;
	*unreadable = 0;
}

bool lbx_table_next_buffer(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_buffer *ret)
{
	struct lbx_table *table = (struct lbx_table *)tensors;
	const struct lbx_slab *slab = &table->slabs[LB_KIND_BUFFER];
	struct lbx_buffer_record r;
	uint64_t left;
	int unreadable = 0;

	if (*slot == 0 && !lbx_table_refresh(table))
		return false;
	while (*slot < slab->used) {
		uint64_t at = lbx_slab_address(slab, *slot, &left);
		if (at == 0) {
			*slot = left > slab->used - *slot ? slab->used : *slot + left;
			continue;
		}
		++*slot;
		if (!lbx_table_buffer(table, at, true, &r)) {
			lb_clear_error();
			skip_lost_tier(slab, slot, left, &unreadable);
			continue;
		}
		unreadable = 0;
		if (r.id[0] == 0 || r.data[0] == 0)
			continue;
		*ret = (struct lbx_buffer){
			.of = tensors,
			.address = at,
			.id = r.id[0],
			.data = r.data[0],
			.tensor = r.tensor[0],
			.filled_for = r.filled_for[0],
			.nbytes = r.nbytes[0],
			.refs = r.refs[0],
			.flags = r.flags[0],
			.has_release = r.release[0],
			.capacity = r.capacity[0] > r.nbytes[0] ? r.capacity[0] : r.nbytes[0],
		};
		return true;
	}
	return false;
}

const void *lbx_table_next_record(struct lbx_table *table, enum lb_kind kind, uint64_t *slot,
				  unsigned char scratch[LBX_RECORD_MAX])
{
	const struct lbx_slab *slab = &table->slabs[kind];
	bool few = kind == LB_KIND_THREAD || kind == LB_KIND_STREAM;
	uint64_t used = few && slab->used > THREADS_MOST ? THREADS_MOST : slab->used;
	int unreadable = 0;

	while (slab->record_size && *slot < used) {
		uint64_t left, at = lbx_slab_address(slab, *slot, &left);
		if (at == 0) {
			if (left > slab->used - *slot)
				break;
			*slot += left;
			continue;
		}
		++*slot;
		const void *record = lbx_cache_at(table->cache, at, slab->record_size, scratch);
		if (record)
			return record;
		lb_clear_error();
		skip_lost_tier(slab, slot, left, &unreadable);
	}
	return NULL;
}

bool lbx_table_thread(struct lbx_table *table, uint64_t *slot, struct lbx_thread *ret)
{
	unsigned char scratch[LBX_RECORD_MAX];
	struct lbx_thread_record r;
	const void *record;

	while ((record = lbx_table_next_record(table, LB_KIND_THREAD, slot, scratch))) {
		lbx_layout_decode(&table->slabs[LB_KIND_THREAD].layout, record, &r);
		if (r.id[0] == 0)
			continue;
		*ret = (struct lbx_thread){
			.tid = r.id[0],
			.eval = r.eval[0],
			.tensor = r.tensor[0],
			.at_once = r.at_once[0],
			.done = r.done[0],
			.total = r.total[0],
			.started_ns = r.started_ns[0],
			.waits_for = r.waits_for[0],
			.site = r.site[0],
			.graph = r.graph[0],
			.line = r.line[0],
			.tensors = r.tensors[0],
		};
		return true;
	}
	return false;
}

bool lbx_table_stream(struct lbx_table *table, uint64_t *slot, struct lbx_stream *ret)
{
	unsigned char scratch[LBX_RECORD_MAX];
	struct lbx_stream_record r;
	const void *record;

	while ((record = lbx_table_next_record(table, LB_KIND_STREAM, slot, scratch))) {
		lbx_layout_decode(&table->slabs[LB_KIND_STREAM].layout, record, &r);
		if (r.generation[0] == 0)
			continue;
		*ret = (struct lbx_stream){
			.id = r.id[0],
			.thread = r.thread[0],
			.queued = r.queued[0],
			.done = r.done[0],
			.failed = r.failed[0],
			.eval = r.eval[0],
		};
		lbx_table_text(table, r.name[0], ret->name, sizeof ret->name);
		lbx_table_text(table, r.error[0], ret->error, sizeof ret->error);
		return true;
	}
	return false;
}
