/* The symbol table's tensors, decoded one at a time.
 *
 * A record that breaks the rules of the ABI (a rank that cannot be, sizes that overflow, a
 * dtype or an operation out of range, a buffer that is none) is reported and never half
 * believed. A torn one (odd sequence number) is shown if it keeps the rules, marked. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "table/internal.h"
#include "table/steady.h"
#include "target/printable.h"

enum { MAX_INPUTS = 1 << 24 };

static struct lbx_table *table_of(struct lbx_tensors *tensors)
{
	return (struct lbx_table *)tensors;
}

static struct lbx_slab *slab_of(struct lbx_table *table)
{
	return &table->slabs[LB_KIND_TENSOR];
}

static bool read_record(struct lbx_table *table, uint64_t address, struct lbx_tensor_record *ret)
{
	unsigned char scratch[LBX_RECORD_MAX];
	const struct lbx_slab *slab = slab_of(table);
	const void *record = lbx_cache_at(table->cache, address, slab->record_size, scratch);

	if (!record)
		return false;
	lbx_layout_decode(&slab->layout, record, ret);
	return true;
}

static bool is_live(const struct lbx_tensor_record *r)
{
	return r->state[0] != LB_STATE_FREED && r->id[0] != 0;
}

#define BAD(format, ...) \
	lb_fail("the record of tensor #%llu at 0x%llx is damaged: " format, (unsigned long long)r->id[0], \
		(unsigned long long)ret->address, __VA_ARGS__)

static bool decode_shape(const struct lbx_tensor_record *r, struct lbx_tensor *ret)
{
	int64_t size = 1;
	bool empty = false;

	if (r->rank[0] > LB_MAX_RANK)
		return BAD("its rank is %u", r->rank[0]);
	ret->rank = r->rank[0];
	for (int i = 0; i < ret->rank; i++) {
		ret->axes.few.shape[i] = r->shape[i];
		ret->axes.few.strides[i] = r->strides[i];
		if (lbx_shape(ret)[i] < 0)
			return BAD("axis %d has %lld element%s", i, (long long)lbx_shape(ret)[i],
				   LB_S(lbx_shape(ret)[i]));
		if (lbx_shape(ret)[i] == 0)
			empty = true;
	}
	for (int i = 0; i < ret->rank && !empty; i++)
		if (!lb_mul(size, lbx_shape(ret)[i], &size))
			return BAD("the product of its %d axes does not fit 64 bits", ret->rank);
	ret->size = empty ? 0 : size;
	if (ret->size != r->size[0])
		return BAD("it has %lld element%s but its shape makes %lld", (long long)r->size[0], LB_S(r->size[0]),
			   (long long)ret->size);
	ret->offset = r->offset[0];
	ret->layout_known = true;
	return true;
}

static bool decode_buffer(struct lbx_table *table, const struct lbx_tensor_record *r, bool cached,
			  struct lbx_tensor *ret)
{
	struct lbx_buffer_record b;

	if (r->buffer[0] == 0) {
		if (ret->state == LBX_READY && ret->size > 0)
			return BAD("%s", "it is ready but has no buffer");
		return true;
	}
	if (!lbx_table_buffer(table, r->buffer[0], cached, &b)) {
		lb_fail_within("tensor #%llu", (unsigned long long)r->id[0]);
		return false;
	}
	if (b.id[0] == 0)
		return BAD("its buffer at 0x%llx is freed", (unsigned long long)r->buffer[0]);
	ret->torn |= b.seq[0] & 1;
	ret->buffer_id = b.id[0];
	ret->data = b.data[0];
	ret->buffer_bytes = b.nbytes[0];
	ret->buffer_capacity = b.capacity[0];
	ret->buffer_flags = b.flags[0];
	ret->buffer_refs = b.refs[0];
	return true;
}

static bool decode_record(struct lbx_table *table, uint64_t address, const struct lbx_tensor_record *r, bool cached,
			  struct lbx_tensor *ret)
{
	memset(ret, 0, offsetof(struct lbx_tensor, name));
	ret->of = &table->tensors;
	ret->address = address;
	ret->id = r->id[0];
	ret->torn = r->seq[0] & 1;
	if (r->state[0] > LB_STATE_READY)
		return BAD("its state is %u", r->state[0]);
	ret->state = (enum lbx_state)r->state[0];
	if (r->dtype[0] >= table->n_dtypes || table->dtypes[r->dtype[0]] < 0)
		return BAD("its dtype is %u", r->dtype[0]);
	ret->dtype = (enum lb_dtype)table->dtypes[r->dtype[0]];
	if (r->op[0] >= table->n_ops)
		return BAD("its operation is %u", r->op[0]);
	ret->op = table->ops[r->op[0]].name;
	ret->op_class = (enum lb_op_class)table->ops[r->op[0]].op_class;
	if (!decode_shape(r, ret))
		return false;
	if (r->n_inputs[0] > MAX_INPUTS)
		return BAD("it has %u input%s", r->n_inputs[0], LB_S(r->n_inputs[0]));
	ret->n_inputs = r->n_inputs[0];
	memcpy(ret->inputs, r->inputs, sizeof ret->inputs);
	ret->more_inputs = r->more_inputs[0];
	ret->flags = r->flags[0];
	ret->watch = r->watch[0];
	memcpy(ret->params, r->params, sizeof ret->params);
	ret->site = r->site[0];
	ret->stack = r->stack[0];
	ret->stream = r->stream[0];
	ret->thread = r->thread[0];
	ret->eval = r->eval[0];
	ret->order = r->order[0];
	ret->eval_ns = r->eval_ns[0];
	ret->computed = r->computed[0];
	ret->refs = (uint32_t)r->refs[0];
	ret->scope_refs = (uint32_t)(r->refs[0] >> 32);
	ret->buffer_id = ret->data = 0;
	ret->buffer_bytes = ret->buffer_capacity = 0;
	ret->buffer_flags = ret->buffer_refs = 0;
	ret->name[0] = '\0';
	if (!table->tensors.wish || !table->tensors.wish->no_names)
		lbx_table_text(table, r->name[0], ret->name, sizeof ret->name);
	return decode_buffer(table, r, cached, ret);
}
#undef BAD

/* By its name; without reading more. */
static bool is_wanted(struct lbx_table *table, const struct lbx_tensor_record *r)
{
	struct lbx_wish *wish = table->tensors.wish;
	char name[LB_NAME_MAX + 1];

	if (!wish || !wish->pattern)
		return true;
	lbx_table_text(table, r->name[0], name, sizeof name);
	bool matches = wish->matches(wish->pattern, name);
	wish->left_out += !matches;
	return matches;
}

enum decoded { DECODED, FREED, DAMAGED, TORN };

/* What the cache has of a program that runs makes no sense: as it is now. */
static enum decoded decode_now(struct lbx_table *table, uint64_t address, struct lbx_tensor_record *r,
			       struct lbx_tensor *ret)
{
	enum { TRIES = 64 };

	for (int i = 0; i < TRIES; i++) {
		lb_clear_error();
		enum lbx_steady read = lbx_table_read_steady(table, LB_KIND_TENSOR, address, r);
		if (read != LBX_STEADY)
			return read == LBX_LOST ? DAMAGED : TORN;
		if (!is_live(r))
			return FREED;
		if (decode_record(table, address, r, false, ret))
			return DECODED;
		struct lbx_tensor_record after;
		read = lbx_table_read_steady(table, LB_KIND_TENSOR, address, &after);
		if (read == LBX_LOST || (read == LBX_STEADY && memcmp(&after, r, sizeof after) == 0))
			return DAMAGED;
	}
	lb_clear_error();
	return TORN;
}

static enum decoded decode(struct lbx_table *table, uint64_t address, struct lbx_tensor_record *r,
			   struct lbx_tensor *ret)
{
	if (decode_record(table, address, r, true, ret))
		return DECODED;
	return lbx_target_runs(table->target) && is_live(r) ? decode_now(table, address, r, ret) : DAMAGED;
}

static void note_bad(struct lbx_table *table, uint64_t address, uint64_t *bad)
{
	if (table->bad_first == 0 || address < table->bad_first)
		table->bad_first = address;
	if (address > table->bad_last)
		table->bad_last = address;
	++*bad;
}

/* A walk over the slots: the record of the next one that can be read, valid until the next call; NULL: there is none. `bad`
 * counts those that cannot; it may be NULL. */
static const void *next_slot(struct lbx_table *table, uint64_t *slot, unsigned char scratch[LBX_RECORD_MAX],
			     uint64_t *ret_address, uint64_t *bad)
{
	const struct lbx_slab *slab = slab_of(table);
	uint64_t unreadable = 0, left;

	while (*slot < slab->used) {
		uint64_t address = lbx_slab_address(slab, *slot, &left);
		if (left > slab->used - *slot)
			left = slab->used - *slot;
		if (address == 0 || unreadable >= LBX_UNREADABLE_MAX) {
			if (bad)
				*bad += left;
			*slot += left;
			unreadable = 0;
			continue;
		}
		++*slot;
		const void *record = lbx_cache_onward(table->cache, address, slab->record_size,
						      address + left * slab->record_size, scratch);
		if (record) {
			*ret_address = address;
			return record;
		}
		lb_clear_error();
		if (bad)
			note_bad(table, address, bad);
		unreadable++;
	}
	return NULL;
}

static bool is_empty(const struct lbx_tensor_record *r)
{
	return r->id[0] == 0 && r->generation[0] == 0;
}

/* A thread takes new slots in their order: where there is one thread alone, an empty record below a used one
 * has been overwritten. (Several have some at hand, each.) A program that runs may have used it
 * meanwhile, so it is read again. */
static void note_emptied(struct lbx_table *table, uint64_t *bad)
{
	const struct lbx_slab *slab = slab_of(table);
	unsigned char bytes[LBX_RECORD_MAX];
	struct lbx_tensor_record r;
	uint64_t left;

	for (uint64_t slot = table->empty_from; slot < table->empty_to; slot++) {
		uint64_t address = lbx_slab_address(slab, slot, &left);
		if (address && lbx_target_read(table->target, address, bytes, slab->record_size)) {
			lbx_layout_decode(&slab->layout, bytes, &r);
			if (is_empty(&r))
				note_bad(table, address, bad);
		} else if (address) {
			lb_clear_error();
		}
	}
	table->empty_to = 0;
}

/* Never another one, before or beside it. */
static bool had_one_thread(struct lbx_table *table)
{
	unsigned char scratch[LBX_RECORD_MAX];
	uint64_t slot = 0, threads = 0;
	const void *record;

	while (threads < 2 && (record = lbx_table_next_record(table, LB_KIND_THREAD, &slot, scratch))) {
		struct lbx_thread_record r;
		lbx_layout_decode(&table->slabs[LB_KIND_THREAD].layout, record, &r);
		threads += r.generation[0];
	}
	return threads == 1;
}

/* What a walk has met at a slot. */
static void look_for_emptied(struct lbx_table *table, uint64_t slot, const struct lbx_tensor_record *r, uint64_t *bad)
{
	if (!table->had_one_thread)
		return;
	if (!is_empty(r)) {
		if (table->empty_to)
			note_emptied(table, bad);
		return;
	}
	if (table->empty_to != slot)
		table->empty_from = slot;
	table->empty_to = slot + 1;
}

/* The next record, live or freed, that can be read and keeps the rules. */
static enum lbx_next next_record(struct lbx_table *table, uint64_t *slot, bool live, struct lbx_tensor *ret,
				 uint64_t *bad)
{
	const struct lbx_slab *slab = slab_of(table);
	unsigned char scratch[LBX_RECORD_MAX];
	struct lbx_tensor_record r;
	const void *record;
	uint64_t address;

	if (*slot == 0)
		table->bad_first = table->bad_last = table->empty_to = table->naps = 0;
	if (*slot == 0 && !lbx_table_refresh(table))
		return LBX_NEXT_ERROR;
	if (*slot == 0)
		table->had_one_thread = had_one_thread(table);
	while ((record = next_slot(table, slot, scratch, &address, bad))) {
		lbx_layout_decode(&slab->layout, record, &r);
		look_for_emptied(table, *slot - 1, &r, bad);
		if (is_live(&r) != live || r.id[0] == 0 || !is_wanted(table, &r))
			continue;
		enum decoded decoded = decode(table, address, &r, ret);
		if (decoded == DECODED)
			return LBX_NEXT_TENSOR;
		lb_clear_error();
		if (decoded == DAMAGED)
			note_bad(table, address, bad);
	}
	return LBX_NEXT_END;
}

bool lbx_table_damage(struct lbx_tensors *tensors, uint64_t *ret_first, uint64_t *ret_last)
{
	const struct lbx_table *table = table_of(tensors);

	*ret_first = table->bad_first;
	*ret_last = table->bad_last;
	return table->bad_first != 0;
}

enum lbx_next lbx_table_next(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_tensor *ret, uint64_t *bad)
{
	return next_record(table_of(tensors), slot, true, ret, bad);
}

/* A field's value; the others stay where they are. */
#define FIELD(layout, record, r, field) \
	((layout)->same ? memcpy(&(r)->field, (const char *)(record) + offsetof(struct lbx_tensor_record, field), \
				 sizeof(r)->field) \
			: NULL)

enum lbx_next lbx_table_next_label(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_label *ret)
{
	struct lbx_table *table = table_of(tensors);
	const struct lbx_slab *slab = slab_of(table);
	unsigned char scratch[LBX_RECORD_MAX];
	struct lbx_tensor_record r;
	const void *record;
	uint64_t address;

	if (*slot == 0 && !lbx_table_refresh(table))
		return LBX_NEXT_ERROR;
	while ((record = next_slot(table, slot, scratch, &address, NULL))) {
		if (!slab->layout.same)
			lbx_layout_decode(&slab->layout, record, &r);
		FIELD(&slab->layout, record, &r, id);
		FIELD(&slab->layout, record, &r, state);
		FIELD(&slab->layout, record, &r, name);
		if (!is_live(&r))
			continue;
		ret->key = (struct lbx_key){ tensors, address, r.id[0] };
		lbx_table_text(table, r.name[0], ret->name, sizeof ret->name);
		return LBX_NEXT_TENSOR;
	}
	return LBX_NEXT_END;
}
#undef FIELD

bool lbx_table_next_freed(struct lbx_table *table, uint64_t *slot, struct lbx_tensor *ret)
{
	uint64_t bad = 0;
	return next_record(table, slot, false, ret, &bad) == LBX_NEXT_TENSOR;
}

/* Goes through the live tensors until one has this id, or none is left. `ids`: of all, where they are. */
static bool search_id(struct lbx_table *table, uint64_t id, struct lbx_ids *ids, uint64_t *ret_address)
{
	unsigned char scratch[LBX_RECORD_MAX];
	struct lbx_tensor_record r;
	const void *record;
	uint64_t slot = 0, address;

	while ((record = next_slot(table, &slot, scratch, &address, NULL))) {
		lbx_layout_decode(&slab_of(table)->layout, record, &r);
		if (is_live(&r) && r.id[0] == id) {
			*ret_address = address;
			return true;
		}
		if (ids && is_live(&r) && !lbx_ids_add(ids, r.id[0], address)) {
			lbx_ids_deinit(ids);
			return false;
		}
	}
	if (ids)
		lbx_ids_sort(ids);
	return false;
}

/* Where a program makes tensors and frees none, their numbers go with their slots: as far as a number is from the wanted
 * one, so far is the slot. False: it is not found so. */
static bool guess_id(struct lbx_table *table, uint64_t id, uint64_t *ret_address)
{
	enum { GUESSES = 8 };
	const struct lbx_slab *slab = slab_of(table);
	struct lbx_tensor_record r;
	bool clean = lb_ok();
	uint64_t slot = id - 1;

	for (int i = 0; i < GUESSES && slot < slab->used; i++) {
		uint64_t address = lbx_slab_address(slab, slot, NULL);
		if (!address || !read_record(table, address, &r)) {
			if (clean && lb_error_cause() != LB_INTERRUPTED)
				lb_clear_error();
			return false;
		}
		if (r.id[0] == id) {
			*ret_address = address;
			return is_live(&r);
		}
		slot += id - r.id[0];
	}
	return false;
}

/* The slot of a live tensor with this id. Who asks again and again has all of them listed. */
static bool find_id(struct lbx_table *table, uint64_t id, uint64_t *ret_address)
{
	enum { SEARCHES_MOST = 16 };
	uint64_t address;

	if (!id)
		return false;
	if (!table->ids.is_built && guess_id(table, id, ret_address))
		return true;
	if (!table->ids.is_built && table->ids.searches++ < SEARCHES_MOST)
		return search_id(table, id, NULL, ret_address);
	if (!table->ids.is_built && search_id(table, 0, &table->ids, &address))
		return false;
	if (!table->ids.is_built)
		return search_id(table, id, NULL, ret_address);
	*ret_address = lbx_ids_find(&table->ids, id);
	return *ret_address;
}

static bool at_address(struct lbx_table *table, uint64_t address, struct lbx_tensor *ret)
{
	unsigned long long a = address;
	struct lbx_tensor_record r;
	uint64_t slot, within;

	if (!lbx_slab_find(slab_of(table), address, &slot, &within))
		return lb_fail("0x%llx is not a tensor: it lies outside the tensor records", a);
	if (within != 0)
		return lb_fail("0x%llx is not a tensor: it lies %llu byte%s inside a record", a,
			       (unsigned long long)within, LB_S(within));
	if (!read_record(table, address, &r))
		return false;
	if (is_empty(&r))
		return lb_fail("0x%llx is not a tensor: its record is empty; it was never used, or has been "
			       "overwritten",
			       a);
	if (!is_live(&r))
		return lb_fail("the tensor at 0x%llx (#%llu) has been freed", a, (unsigned long long)r.id[0]);
	switch (decode(table, address, &r, ret)) {
	case DECODED: return true;
	case FREED: return lb_fail("the tensor at 0x%llx has just been freed", a);
	case TORN: return lb_fail("the tensor at 0x%llx is torn: its record keeps changing", a);
	case DAMAGED: break;
	}
	return false;
}

bool lbx_table_by_id(struct lbx_tensors *tensors, uint64_t id, struct lbx_tensor *ret)
{
	struct lbx_table *table = table_of(tensors);
	uint64_t address;

	if (!find_id(table, id, &address))
		return lb_fail("there is no tensor #%llu%s", (unsigned long long)id,
			       id && id <= lbx_root_integer(table, table->fields.last_id) ? " any more" : "");
	return at_address(table, address, ret);
}

bool lbx_table_by_address(struct lbx_tensors *tensors, uint64_t address, struct lbx_tensor *ret)
{
	return at_address(table_of(tensors), address, ret);
}

static bool input_word(struct lbx_table *table, const struct lbx_tensor *t, uint32_t i, uint64_t *ret)
{
	if (i >= t->n_inputs)
		return lb_fail("tensor #%llu has no input %u", (unsigned long long)t->id, i);
	if (t->n_inputs <= LB_INLINE_INPUTS) {
		*ret = t->inputs[i];
		return true;
	}
	return lbx_cache_read(table->cache, t->more_inputs + 8ULL * i, ret, sizeof *ret);
}

bool lbx_table_input(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i, struct lbx_tensor *ret)
{
	struct lbx_table *table = table_of(tensors);
	uint64_t word;

	if (!input_word(table, t, i, &word))
		return false;
	if (!(t->flags & LB_FLAG_DETACHED))
		return at_address(table, word, ret);
	uint64_t address;
	if (!find_id(table, word, &address))
		return lb_fail("input %u of tensor #%llu, #%llu, is gone", i, (unsigned long long)t->id,
			       (unsigned long long)word);
	return at_address(table, address, ret);
}

uint64_t lbx_table_input_id(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i)
{
	struct lbx_table *table = table_of(tensors);
	struct lbx_tensor_record r;
	uint64_t word, slot, within;
	bool clean = lb_ok();

	if (!input_word(table, t, i, &word))
		word = 0;
	else if (!(t->flags & LB_FLAG_DETACHED)) {
		bool found =
		    lbx_slab_find(slab_of(table), word, &slot, &within) && within == 0 && read_record(table, word, &r);
		word = found ? r.id[0] : 0;
	}
	if (clean)
		lb_clear_error();
	return word;
}

int lbx_table_stack(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint64_t *pcs, int max)
{
	struct lbx_table *table = table_of(tensors);
	uint64_t depot = lbx_root_integer(table, table->fields.stacks), n;
	uint64_t words = lbx_root_integer(table, table->fields.stack_words);
	bool clean = lb_ok();

	if (max <= 0)
		return 0;
	if (t->stack && depot && t->stack < words &&
	    lbx_cache_read(table->cache, depot + 8ULL * t->stack, &n, sizeof n) && n > 0 && n <= LB_STACK_MAX &&
	    n < words - t->stack) {
		if (n > (uint64_t)max)
			n = (uint64_t)max;
		if (lbx_cache_read(table->cache, depot + 8ULL * (t->stack + 1ULL), pcs, 8 * n))
			return (int)n;
	}
	if (clean)
		lb_clear_error();
	if (t->site == 0)
		return 0;
	pcs[0] = t->site;
	return 1;
}

/* The program's column for a field of the reader's struct; NULL: it has none. */
static const struct lbx_column *column_of(const struct lbx_layout *layout, size_t to)
{
	for (int i = 0; i < layout->n; i++)
		if (layout->columns[i].to == to)
			return &layout->columns[i];
	return NULL;
}

static uint64_t offset_of(const struct lbx_layout *layout, size_t to, size_t width)
{
	const struct lbx_column *c = column_of(layout, to);

	return c && c->from_width == width ? c->from : 0;
}

struct lbx_tensor_offsets lbx_table_offsets(struct lbx_table *table)
{
	const struct lbx_layout *layout = &slab_of(table)->layout;
	const struct lbx_layout *buffers = &table->slabs[LB_KIND_BUFFER].layout;

	return (struct lbx_tensor_offsets){
		.name = offset_of(layout, offsetof(struct lbx_tensor_record, name), 8),
		.op = offset_of(layout, offsetof(struct lbx_tensor_record, op), 1),
		.watch = offset_of(layout, offsetof(struct lbx_tensor_record, watch), 4),
		.dtype = offset_of(layout, offsetof(struct lbx_tensor_record, dtype), 1),
		.rank = offset_of(layout, offsetof(struct lbx_tensor_record, rank), 1),
		.size = offset_of(layout, offsetof(struct lbx_tensor_record, size), 8),
		.offset = offset_of(layout, offsetof(struct lbx_tensor_record, offset), 8),
		.buffer = offset_of(layout, offsetof(struct lbx_tensor_record, buffer), 8),
		.shape = offset_of(layout, offsetof(struct lbx_tensor_record, shape), 8),
		.data = offset_of(buffers, offsetof(struct lbx_buffer_record, data), 8),
	};
}

int lbx_table_dtype_number(const struct lbx_table *table, enum lb_dtype dtype)
{
	for (int i = 0; i < table->n_dtypes; i++)
		if (table->dtypes[i] == (int)dtype)
			return i;
	return -1;
}

int lbx_table_op_number(const struct lbx_table *table, const char *name)
{
	for (int i = 0; i < table->n_ops; i++)
		if (strncmp(table->ops[i].name, name, sizeof table->ops[i].name) == 0)
			return i;
	return -1;
}

bool lbx_table_words(struct lbx_tensors *tensors, const struct lbx_tensor *t, struct lbx_words *ret)
{
	struct lbx_table *table = table_of(tensors);
	const struct lbx_layout *records = &slab_of(table)->layout;
	const struct lbx_column *id = column_of(records, offsetof(struct lbx_tensor_record, id));
	const struct lbx_column *state = column_of(records, offsetof(struct lbx_tensor_record, state));
	const struct lbx_column *buffer = column_of(records, offsetof(struct lbx_tensor_record, buffer));
	const struct lbx_column *data =
	    column_of(&table->slabs[LB_KIND_BUFFER].layout, offsetof(struct lbx_buffer_record, data));
	const struct lbx_root_fields *f = &table->fields;

	if (!id || !state || !buffer || !data || !f->pid.bytes)
		return false;
	*ret = (struct lbx_words){
		.conditions = {
			{ { table->address + f->pid.offset, f->pid.bytes }, lbx_root_integer(table, f->pid) },
			{ { t->address + id->from, id->from_width }, t->id },
			{ { t->address + state->from, state->from_width }, LB_STATE_READY },
		},
		.record = { t->address + buffer->from, buffer->from_width },
		.data = { data->from, data->from_width },
	};
	return true;
}

bool lbx_table_record_at(struct lbx_tensors *tensors, uint64_t address, struct lbx_tensor *ret)
{
	struct lbx_table *table = table_of(tensors);
	uint64_t slot, within;

	if (!lbx_slab_find(slab_of(table), address, &slot, &within))
		return false;
	return at_address(table, address - within, ret);
}
