/* One walk over the tensors finds the owner of each buffer, one over the buffers those without one.
 * What was found is sorted and added up whenever it has become much, so that a program's millions of
 * tensors take the room of its distinct sites, names, dtypes, streams and states. Only owners are
 * kept one by one until the walk ends: a later tensor may be a better one. */
#include "inspect/memory/holdings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/number_map.h"
#include "base/vector.h"
#include "inspect/memory/spans.h"
#include "inspect/memory/variables_held.h"
#include "inspect/tensor/describe.h"
#include "target/printable.h"
#include "tensors/held.h"

enum { MERGE_FROM = 4096 };

struct owner {
	uint64_t tensor;
	int worth; /* as an owner: a name says most, then who is no view */
	struct lbx_span span;
	struct lbx_holding holding;
};

struct owners {
	struct lbx_number_map by_buffer;
	uint32_t n, room;
	struct owner *list;
};

int64_t lbx_capped_sum(int64_t a, int64_t b)
{
	int64_t sum;
	return lb_sum_of(a, b, &sum) ? sum : b < 0 ? INT64_MIN : INT64_MAX;
}

/* ---- keys ---- */

const char *const lbx_by_names[LBX_BYS] = {
	"site", "dtype", "name", "stream", "state", "usage", "kind", "device", "module", "holder",
};

bool lbx_by_parse(const char *text, enum lbx_by *ret)
{
	for (int i = 0; i < LBX_BYS; i++)
		if (strcmp(lbx_by_names[i], text) == 0) {
			*ret = (enum lbx_by)i;
			return true;
		}
	return false;
}

enum { GROUP_MAX = LB_NAME_MAX + 4 };

/* "layers.*" of "layers.0.w", "losses[*]" of "losses[3]" */
static void group_of(const char *name, char ret[GROUP_MAX])
{
	size_t n = strcspn(name, "./[");

	sprintf(ret, name[n] == '[' ? "%.*s[*]" : name[n] ? "%.*s%c*" : "%.*s", (int)n, name, name[n]);
}

static int compare(const struct lbx_holding *a, const struct lbx_holding *b)
{
	if (a->pc != b->pc)
		return a->pc < b->pc ? -1 : 1;
	for (int i = 0; i < LBX_BYS; i++)
		if (a->keys[i] != b->keys[i]) /* each text is there once */
			return strcmp(a->keys[i], b->keys[i]);
	return (a->stream > b->stream) - (a->stream < b->stream);
}

static int by_key(const void *a, const void *b)
{
	return compare(a, b);
}

/* ---- adding up ---- */

static void merge(struct lbx_snapshot *s)
{
	size_t n = 0;

	if (s->n == 0)
		return;
	qsort(s->list, s->n, sizeof *s->list, by_key);
	for (size_t i = 1; i < s->n; i++) {
		struct lbx_holding *to = &s->list[n], *from = &s->list[i];
		if (compare(to, from)) {
			s->list[++n] = *from;
			continue;
		}
		to->bytes = lbx_capped_sum(to->bytes, from->bytes);
		to->lazy_bytes = lbx_capped_sum(to->lazy_bytes, from->lazy_bytes);
		to->buffers += from->buffers;
		to->lazy += from->lazy;
	}
	s->n = n + 1;
}

static bool add(struct lbx_snapshot *s, const struct lbx_holding *h)
{
	if (s->n == s->room) {
		if (s->n >= MERGE_FROM)
			merge(s);
		if (2 * s->n >= s->room && !lb_reserve(s->list, s->room, s->room ? s->room + 1 : MERGE_FROM))
			return lb_fail("out of memory for %zu places", s->n);
	}
	s->list[s->n++] = *h;
	return true;
}

/* The keys, but for the site's; some may be NULL. */
static bool set_keys(struct lbx_snapshot *s, const char *const keys[LBX_BYS], struct lbx_holding *ret)
{
	for (int i = 0; i < LBX_BYS; i++)
		if (i != LBX_BY_SITE && i != LBX_BY_STREAM &&
		    !(ret->keys[i] = lbx_keep_text(&s->texts, keys[i] ? keys[i] : "")))
			return false;
	return true;
}

/* Where the program's own language knows of no variable, C's may lead to it. */
static const char *holder_of(struct lbx_snapshot *s, const struct lbx_tensor *t, const struct lbx_held *held)
{
	bool is_open = held->reach == LBX_REACH_UNKNOWN || held->reach == LBX_REACH_RUNTIME;
	const char *variable =
	    is_open && !held->holder[0] && s->variables ? lbx_variables_held_by(s->variables, t) : NULL;

	if (variable)
		return variable;
	return held->holder[0] ? held->holder : lbx_reach_name(held->reach);
}

static bool describe_tensor(struct lbx_snapshot *s, const struct lbx_tensor *t, struct lbx_holding *ret)
{
	bool is_foreign = t->state == LBX_READY && t->buffer_flags & LB_BUFFER_FOREIGN;
	char name[GROUP_MAX];
	struct lbx_held held;

	lbx_tensor_held(t, &held);
	group_of(t->name, name);
	const char *const keys[LBX_BYS] = {
		[LBX_BY_DTYPE] = lbx_tensor_dtype_name(t),
		[LBX_BY_NAME] = name,
		[LBX_BY_STATE] = is_foreign ? "foreign" : lbx_state_name(lbx_told_state(t)),
		[LBX_BY_USAGE] = lbx_usage_name(t->usage),
		[LBX_BY_KIND] = t->memory,
		[LBX_BY_DEVICE] = lbx_tensor_device(t),
		[LBX_BY_MODULE] = held.module,
		[LBX_BY_HOLDER] = holder_of(s, t, &held),
	};
	*ret = (struct lbx_holding){ .pc = t->site, .stream = t->stream };
	return set_keys(s, keys, ret);
}

/* Of a mapped file there is no capacity; of a damaged record, anything. */
static int64_t bytes_of(int64_t capacity, int64_t nbytes)
{
	int64_t bytes = capacity ? capacity : nbytes;
	return bytes < 0 ? 0 : bytes;
}

static bool own(struct lbx_snapshot *s, struct owners *owners, const struct lbx_tensor *t)
{
	int worth = 2 * (t->name[0] != '\0') + (t->op_class != LB_CLASS_VIEW);
	bool is_new;
	struct lbx_number *entry = lbx_number_at(&owners->by_buffer, t->of, t->buffer_id, &is_new);
	struct owner *o;

	if (!entry)
		return false;
	if (is_new && !lb_reserve(owners->list, owners->room, owners->n + 1))
		return lb_fail("out of memory for %u buffers", owners->n);
	if (is_new) {
		entry->value = owners->n;
		o = &owners->list[owners->n++];
		memset(o, 0, sizeof *o);
	} else {
		o = &owners->list[entry->value];
		if (worth < o->worth || (worth == o->worth && t->id > o->tensor))
			return true;
	}
	o->tensor = t->id;
	o->worth = worth;
	bool ok = describe_tensor(s, t, &o->holding);
	o->holding.buffers = 1;
	o->holding.bytes = bytes_of(t->buffer_capacity, t->buffer_bytes);
	o->span = (struct lbx_span){ .start = t->data,
				     .end = t->data + (uint64_t)o->holding.bytes,
				     .is_sure = t->state == LBX_READY && !(t->buffer_flags & LB_BUFFER_FOREIGN),
				     .number = entry->value };
	return ok;
}

/* Of the memory that may be several owners', each byte counts once. */
static bool share_out(struct owners *owners)
{
	lb_auto_free struct lbx_span *spans = calloc((size_t)owners->n + 1, sizeof *spans);

	if (!spans)
		return lb_fail("out of memory for %u buffers", owners->n);
	for (uint32_t i = 0; i < owners->n; i++)
		spans[i] = owners->list[i].span;
	if (!lbx_spans_share_out(spans, owners->n))
		return false;
	for (uint32_t i = 0; i < owners->n; i++)
		if (!spans[i].is_sure && spans[i].start)
			owners->list[spans[i].number].holding.bytes = spans[i].bytes;
	return true;
}

static bool walk_tensors(struct lbx_context *context, struct lbx_tensors *tensors, struct owners *owners,
			 struct lbx_snapshot *ret)
{
	struct lbx_holding h;
	struct lbx_tensor t;
	uint64_t slot = 0, n = 0;
	enum lbx_next next;

	while ((next = lbx_tensors_next(tensors, &slot, &t, &ret->unreadable)) == LBX_NEXT_TENSOR) {
		if (++n % 8192 == 0 && !lbx_progress(context->out, "adding up", (int64_t)n, 0))
			return false;
		if (t.state == LBX_OVERWRITTEN || t.state == LBX_UNALLOCATED)
			continue; /* what it lay in is another's now, or it has never had any */
		ret->tensors++;
		if (t.buffer_id) {
			if (!own(ret, owners, &t))
				return false;
		} else if (lbx_tensor_is_pending(&t)) {
			if (!describe_tensor(ret, &t, &h))
				return false;
			h.lazy = 1;
			h.lazy_bytes = t.op_class == LB_CLASS_VIEW ? 0 : lbx_tensor_nbytes(&t);
			if (!add(ret, &h))
				return false;
		}
	}
	return next == LBX_NEXT_END;
}

static bool walk_buffers(struct lbx_context *context, struct owners *owners, struct lbx_snapshot *ret)
{
	struct lbx_buffer buffer;
	uint64_t slot = 0, n = 0;
	bool is_new;

	while (lbx_tensors_next_buffer(context->tensors, &slot, &buffer)) {
		struct lbx_number *entry = lbx_number_at(&owners->by_buffer, buffer.of, buffer.id, &is_new);
		if (!entry || (++n % 8192 == 0 && !lbx_progress(context->out, "adding up", (int64_t)n, 0)))
			return false;
		if (!is_new)
			continue;
		struct lbx_holding h = { .buffers = 1, .bytes = bytes_of(buffer.capacity, buffer.nbytes) };
		const char *const keys[LBX_BYS] = {
			[LBX_BY_STATE] = buffer.flags & LB_BUFFER_CACHED ? "cached" : "unowned",
			[LBX_BY_DEVICE] = "cpu", /* others' memory is none of the program's */
		};
		if (!set_keys(ret, keys, &h) || !add(ret, &h))
			return false;
	}
	return lb_ok();
}

/* What a damaged program counts may be anything. */
static int64_t counted_tensors(const struct lb_counters *c)
{
	uint64_t n = c->created > c->freed ? c->created - c->freed : 0;

	return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

/* What the cache keeps is nobody's. */
static void sum_up(struct lbx_snapshot *s)
{
	s->bytes = s->buffers = 0;
	for (size_t i = 0; i < s->n; i++) {
		if (strcmp(s->list[i].keys[LBX_BY_STATE], "cached") == 0)
			continue;
		s->bytes = lbx_capped_sum(s->bytes, s->list[i].bytes);
		s->buffers = lbx_capped_sum(s->buffers, s->list[i].buffers);
	}
}

static bool take(struct lbx_context *context, struct lbx_variables_held *variables, struct lbx_snapshot *ret)
{
	struct owners owners = { .n = 0 };
	struct lbx_tensors *tensors;
	struct lbx_root root = { .uncounted = "" };

	*ret = (struct lbx_snapshot){ .variables = variables };
	if (!lbx_context_tensors(context, &tensors) || (context->table && !lbx_table_root(context->table, &root)))
		return false;
	ret->counters = root.counters;
	memcpy(ret->uncounted, root.uncounted, sizeof ret->uncounted);
	ret->counted = context->table && !root.uncounted[0];
	bool ok =
	    walk_tensors(context, tensors, &owners, ret) && share_out(&owners) && walk_buffers(context, &owners, ret);
	for (uint32_t i = 0; i < owners.n && ok; i++)
		ok = add(ret, &owners.list[i].holding);
	merge(ret);
	sum_up(ret);
	if (ret->counted)
		ret->tensors = counted_tensors(&ret->counters);
	lbx_number_map_deinit(&owners.by_buffer);
	free(owners.list);
	ret->variables = NULL;
	if (!ok)
		lbx_snapshot_deinit(ret);
	return ok;
}

bool lbx_snapshot_take(struct lbx_context *context, struct lbx_snapshot *ret)
{
	return take(context, NULL, ret);
}

bool lbx_snapshot_take_with_holders(struct lbx_context *context, struct lbx_snapshot *ret)
{
	struct lbx_variables_held *variables;

	if (!lbx_variables_held_find(context, &variables))
		return false;
	bool ok = take(context, variables, ret);
	if (ok)
		snprintf(ret->limits, sizeof ret->limits, "%s", lbx_variables_held_limits(variables));
	lbx_variables_held_destroy(variables);
	return ok;
}

bool lbx_snapshot_describe(struct lbx_context *context, struct lbx_snapshot *s)
{
	char where[512];

	/* those of one pc lie together */
	for (size_t i = 0; i < s->n && !s->described; i++) {
		struct lbx_holding *h = &s->list[i];
		if (i == 0 || h->pc != h[-1].pc)
			lbx_describe_pc(context->target, h->pc, where, sizeof where);
		const char *site = h->pc ? where : h->keys[LBX_BY_DTYPE][0] ? "" : "(no tensor's)";
		if (!(h->keys[LBX_BY_SITE] = lbx_keep_text(&s->texts, site)))
			return false;
		if (i % 256 == 255 && !lbx_progress(context->out, "naming places", (int64_t)i, (int64_t)s->n))
			return false;
	}
	s->described = true;
	return true;
}

void lbx_snapshot_deinit(struct lbx_snapshot *s)
{
	lbx_kept_texts_free(&s->texts);
	free(s->list);
	*s = (struct lbx_snapshot){ .n = 0 };
}

/* ---- files ---- */

static const char magic[] = "lazybones memory 1";

json_t *lbx_snapshot_json(const struct lbx_snapshot *s)
{
	json_t *counters = s->counted ? json_object() : json_null(), *list = json_array();

#define X(name, meaning) json_object_set_new(counters, #name, json_integer((json_int_t)s->counters.name));
	LB_COUNTERS(X)
#undef X
	for (size_t i = 0; i < s->n; i++) {
		const struct lbx_holding *h = &s->list[i];
		json_t *o = json_pack("{s:I,s:I,s:I,s:I,s:I}", "stream", (json_int_t)h->stream, "bytes",
				      (json_int_t)h->bytes, "buffers", (json_int_t)h->buffers, "lazy",
				      (json_int_t)h->lazy, "lazy_bytes", (json_int_t)h->lazy_bytes);
		for (int k = 0; k < LBX_BYS; k++)
			if (k != LBX_BY_STREAM)
				json_object_set_new(o, lbx_by_names[k], lbx_json_string(h->keys[k] ? h->keys[k] : ""));
		json_array_append_new(list, o);
	}
	return json_pack("{s:s,s:o,s:I,s:o}", "format", magic, "counters", counters, "tensors", (json_int_t)s->tensors,
			 "holdings", list);
}

/* What other versions do not write is "". */
static bool parse_keys(json_t *o, struct lbx_snapshot *s, struct lbx_holding *ret)
{
	for (int i = 0; i < LBX_BYS; i++) {
		const char *text = json_string_value(json_object_get(o, lbx_by_names[i]));
		lb_auto_free char *key = strdup(text ? text : "");
		if (i == LBX_BY_STREAM)
			continue;
		if (!text && i <= LBX_BY_STATE)
			return lb_fail("holding %zu makes no sense", s->n);
		if (!key)
			return lb_fail("out of memory");
		lbx_make_printable(key);
		if (!(ret->keys[i] = lbx_keep_text(&s->texts, key)))
			return false;
	}
	return true;
}

static bool parse_holding(json_t *o, struct lbx_snapshot *ret)
{
	json_int_t stream, bytes, buffers, lazy, lazy_bytes;

	if (json_unpack(o, "{s:I,s:I,s:I,s:I,s:I}", "stream", &stream, "bytes", &bytes, "buffers", &buffers, "lazy",
			&lazy, "lazy_bytes", &lazy_bytes) != 0 ||
	    bytes < 0 || buffers < 0 || lazy < 0 || lazy_bytes < 0)
		return lb_fail("holding %zu makes no sense", ret->n);
	struct lbx_holding h = {
		.stream = (uint32_t)stream, .bytes = bytes, .buffers = buffers, .lazy = lazy, .lazy_bytes = lazy_bytes
	};
	if (!parse_keys(o, ret, &h))
		return false;
	if (!lb_reserve(ret->list, ret->room, ret->n + 1))
		return lb_fail("out of memory for %zu places", ret->n);
	ret->list[ret->n++] = h;
	return true;
}

bool lbx_snapshot_parse(const char *name, const char *text, size_t n, struct lbx_snapshot *ret)
{
	json_error_t error;
	json_t *o = json_loadb(text, n, 0, &error), *list = json_object_get(o, "holdings"), *item;
	json_t *counters = json_object_get(o, "counters"), *count = json_object_get(o, "tensors");
	const char *format = json_string_value(json_object_get(o, "format"));
	size_t i;
	bool ok = o || lb_fail("%s is not a snapshot of `memory --save`: line %d: %s", name, error.line, error.text);

	*ret = (struct lbx_snapshot){ .described = true, .counted = json_is_object(counters) };
	if (ok && (!format || strcmp(format, magic) != 0 || !json_is_array(list)))
		ok = lb_fail("%s is not a snapshot of `memory --save`: it does not say `%s`", name, magic);
#define X(field, meaning) ret->counters.field = (uint64_t)json_integer_value(json_object_get(counters, #field));
	LB_COUNTERS(X)
#undef X
	json_array_foreach(list, i, item)
	{
		if (ok && !(ok = parse_holding(item, ret)))
			lb_fail_within("%s", name);
	}
	/* an earlier version's has the runtime's counters alone */
	ret->tensors = count ? json_integer_value(count) : counted_tensors(&ret->counters);
	sum_up(ret);
	json_decref(o);
	if (!ok)
		lbx_snapshot_deinit(ret);
	return ok;
}
