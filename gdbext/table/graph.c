#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "table/internal.h"
#include "table/listing.h"

enum { LISTING_MOST = 1 << 28 };

static bool decode(const struct lbx_table *table, const void *record, uint64_t address, struct lbx_eval_graph *ret)
{
	struct lbx_graph_record r;

	lbx_layout_decode(&table->slabs[LB_KIND_GRAPH].layout, record, &r);
	*ret = (struct lbx_eval_graph){
		.address = address,
		.id = r.id[0],
		.listing = r.listing[0],
		.code = r.code[0],
		.code_bytes = r.code_bytes[0],
		.tensors = r.tensors[0],
		.runs = r.runs[0],
		.running = r.running[0],
	};
	return ret->id != 0 && ret->listing != 0;
}

bool lbx_table_graph(struct lbx_table *table, uint64_t *slot, struct lbx_eval_graph *ret)
{
	unsigned char scratch[LBX_RECORD_MAX];
	const void *record;
	uint64_t left;

	while ((record = lbx_table_next_record(table, LB_KIND_GRAPH, slot, scratch))) {
		if (decode(table, record, lbx_slab_address(&table->slabs[LB_KIND_GRAPH], *slot - 1, &left), ret))
			return true;
	}
	return false;
}

bool lbx_table_graph_by_id(struct lbx_table *table, uint64_t id, struct lbx_eval_graph *ret)
{
	uint64_t slot = 0;

	while (lbx_table_graph(table, &slot, ret))
		if (ret->id == id)
			return true;
	return lb_fail("there is no graph %llu: no graph of this number was evaluated in step mode, or it "
		       "was dropped for newer ones",
		       (unsigned long long)id);
}

bool lbx_table_graph_at(struct lbx_table *table, uint64_t address, struct lbx_eval_graph *ret)
{
	struct lbx_slab *slab = &table->slabs[LB_KIND_GRAPH];
	unsigned char scratch[LBX_RECORD_MAX];
	uint64_t slot, within;

	if (!lbx_slab_find(slab, address, &slot, &within) || within != 0)
		return lb_fail("0x%llx is not a graph record", (unsigned long long)address);
	const void *record = lbx_cache_at(table->cache, address, slab->record_size, scratch);
	return record && (decode(table, record, address, ret) ||
			  lb_fail("the graph record at 0x%llx is free", (unsigned long long)address));
}

/* ---- listings ---- */

#define BAD(format, ...) \
	lb_fail("the listing of graph %llu is damaged: " format, (unsigned long long)graph->id, __VA_ARGS__)

/* The parts of a listing that has been read. */
struct parts {
	const struct lbx_table *table;
	const struct lbx_eval_graph *graph;
	const struct lb_listing *head;
	const struct lb_listing_line *lines;
	const uint32_t *operands;
	const char *texts;
	uint64_t texts_bytes, operands_used;
};

static bool is_text(const struct parts *p, uint32_t at)
{
	uint64_t left = at < p->texts_bytes ? p->texts_bytes - at : 0;

	return memchr(p->texts + at, '\0', left <= LB_NAME_MAX ? left : LB_NAME_MAX + 1) != NULL;
}

static bool decode_line(struct parts *p, uint32_t number, struct lbx_listing_line *ret)
{
	const struct lbx_table *table = p->table;
	const struct lbx_eval_graph *graph = p->graph;
	const struct lb_listing *head = p->head;
	const struct lb_listing_line *from = &p->lines[number - 1];

	if (from->rank > LB_MAX_RANK || from->dtype >= table->n_dtypes || table->dtypes[from->dtype] < 0)
		return BAD("line %u has rank %u and dtype %u", number, from->rank, from->dtype);
	/* lines share none: the whole is no more work than the listing is long */
	p->operands_used += from->n_operands;
	if (p->operands_used > head->n_operands || from->operands > head->n_operands - from->n_operands)
		return BAD("line %u has operands %u to %llu", number, from->operands,
			   (unsigned long long)from->operands + from->n_operands);
	if (!is_text(p, from->name))
		return BAD("line %u has its name outside, or one without end", number);
	bool known = from->op < table->n_ops;
	*ret = (struct lbx_listing_line){
		.op = known ? table->ops[from->op].name : "?",
		.op_class = known ? (enum lb_op_class)table->ops[from->op].op_class : LB_CLASS_LEAF,
		.dtype = (enum lb_dtype)table->dtypes[from->dtype],
		.rank = from->rank,
		.name = from->name ? p->texts + from->name : "",
		.site = from->site,
		.code = from->code,
		.value = from->value,
		.n_operands = from->n_operands,
		.operands = p->operands + from->operands,
		.stays = from->stays,
	};
	ret->is_constant = strcmp(ret->op, "scalar") == 0 || strcmp(ret->op, "full") == 0;
	memcpy(ret->shape, from->shape, sizeof ret->shape);
	for (uint32_t i = 0; i < ret->n_operands; i++) {
		uint32_t place = ret->operands[i];
		if (place == 0 || place > head->n_lines + head->n_inputs || (place >= number && place <= head->n_lines))
			return BAD("line %u reads line %u", number, place);
	}
	return ret->code == 0 || ret->code < graph->code_bytes || BAD("line %u has its call at %u", number, ret->code);
}

static bool read_listing(struct lbx_table *table, const struct lbx_eval_graph *graph, struct lb_listing *head,
			 struct lbx_listing *ret)
{
	if (!lbx_target_read(table->target, graph->listing, head, sizeof *head)) {
		lb_fail_within("the listing of graph %llu", (unsigned long long)graph->id);
		return false;
	}
	uint64_t n = (uint64_t)head->n_lines + head->n_inputs;
	uint64_t fixed =
	    sizeof *head + n * sizeof(struct lb_listing_line) + head->n_operands * (uint64_t)sizeof(uint32_t);
	if (head->magic != LB_LISTING_MAGIC || head->size > LISTING_MOST || fixed >= head->size || head->n_lines == 0)
		return BAD("%llu byte%s for %u line%s and %u input%s", (unsigned long long)head->size, LB_S(head->size),
			   head->n_lines, LB_S(head->n_lines), head->n_inputs, LB_S(head->n_inputs));
	ret->bytes = malloc(head->size);
	ret->lines = malloc(n * sizeof *ret->lines);
	if (!ret->bytes || !ret->lines)
		return lb_fail("out of memory for a listing of %u lines", head->n_lines);
	if (!lbx_target_read(table->target, graph->listing, ret->bytes, head->size)) {
		lb_fail_within("the listing of graph %llu", (unsigned long long)graph->id);
		return false;
	}
	memcpy(ret->bytes, head, sizeof *head); /* the program may have run in between */
	return true;
}

static int by_name(const void *left, const void *right)
{
	const struct lbx_listing_line *a = *(struct lbx_listing_line *const *)left;
	const struct lbx_listing_line *b = *(struct lbx_listing_line *const *)right;

	return strcmp(a->name, b->name);
}

static bool mark_repeated(struct lbx_listing *listing)
{
	lb_auto_free struct lbx_listing_line **list = malloc(listing->n_lines * sizeof *list);

	if (!list)
		return lb_fail("out of memory for a listing of %u lines", listing->n_lines);
	for (uint32_t i = 0; i < listing->n_lines; i++)
		list[i] = &listing->lines[i];
	qsort(list, listing->n_lines, sizeof *list, by_name);
	for (uint32_t i = 1; i < listing->n_lines; i++)
		if (list[i]->name[0] && strcmp(list[i]->name, list[i - 1]->name) == 0)
			list[i]->repeated = list[i - 1]->repeated = true;
	return true;
}

bool lbx_table_listing(struct lbx_table *table, const struct lbx_eval_graph *graph, struct lbx_listing *ret)
{
	struct lb_listing head;

	memset(ret, 0, sizeof *ret);
	bool ok = read_listing(table, graph, &head, ret);
	if (ok) {
		uint32_t n = head.n_lines + head.n_inputs;
		struct parts p = { .table = table, .graph = graph, .head = (const void *)ret->bytes };
		p.lines = (const void *)(ret->bytes + sizeof head);
		p.operands = (const void *)(p.lines + n);
		p.texts = (const void *)(p.operands + head.n_operands);
		p.texts_bytes = head.size - (uint64_t)(p.texts - (const char *)ret->bytes);
		ret->n_lines = head.n_lines;
		ret->n_inputs = head.n_inputs;
		ret->n_calls = head.n_calls;
		ok = is_text(&p, head.title) || BAD("its title is at %u", head.title);
		ret->title = ok && head.title ? p.texts + head.title : "";
		for (uint32_t i = 0; i < n && ok; i++)
			ok = decode_line(&p, i + 1, &ret->lines[i]);
		ok = ok && mark_repeated(ret);
	}
	if (!ok)
		lbx_listing_deinit(ret);
	return ok;
}

void lbx_listing_deinit(struct lbx_listing *listing)
{
	free(listing->bytes);
	free(listing->lines);
	listing->bytes = NULL;
	listing->lines = NULL;
}

bool lbx_table_listed_ids(struct lbx_table *table, uint64_t address, uint32_t n, uint64_t *ret)
{
	if (address)
		return lbx_target_read(table->target, address, ret, n * sizeof *ret);
	memset(ret, 0, n * sizeof *ret);
	return true;
}
