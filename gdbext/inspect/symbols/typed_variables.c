/* A variable's type is static, so the shape is the tensor's own; its place is not. What is laid out
 * row by row, as C lays out arrays, is found through the tensor's record each time that the debugger
 * looks: a lazy tensor gets its value when the program has computed it, one that has been freed loses
 * it, and all lose it when the program runs anew; without a new object. C arrays have no strides, so
 * the elements of other views are copied here, in row-major order. */
#include "inspect/symbols/typed_variables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vector.h"
#include "inspect/replay/replay.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/name.h"

/* Of elements; or of blocks, of so many bytes each. */
struct type {
	uint32_t element;
	int rank;
	int64_t shape[LBX_RANK_MAX];
	uint32_t number;
};

/* A format of blocks. */
struct format {
	char name[32];
	uint32_t number;
};

struct maker {
	struct lbx_context *context;
	struct lbx_tensors *tensors;
	struct lbx_typed *typed;
	struct lbx_symbol *symbols;
	size_t n, room;
	uint32_t numbers[LB_DTYPES]; /* types of elements; 0: not made yet */
	struct lbx_number_map known; /* hash of a type -> index below */
	struct type *types;
	size_t n_types, types_room;
	struct format *formats;
	size_t n_formats, formats_room;
	int64_t copied_bytes;
};

/* ---- which ---- */

enum way { BY_RECORD, BY_COPY, BY_NEITHER };

/* As C lays out arrays: of elements, or of whole blocks. */
static bool is_in_rows(const struct lbx_tensor *t)
{
	int elements = lbx_tensor_encoding(t).elements;

	return t->layout_known && lbx_tensor_contiguity(t) == LBX_ROW_CONTIGUOUS && t->offset % elements == 0 &&
	       (elements == 1 || (t->rank && lbx_shape(t)[t->rank - 1] % elements == 0));
}

static enum way way_of(const struct lbx_typed *typed, const struct lbx_tensor *t)
{
	bool ready = t->state == LBX_READY;
	struct lbx_words words;

	if (t->size == 0)
		return BY_NEITHER;
	if (!ready && typed->peek)
		return BY_COPY;
	if ((ready || lbx_tensor_is_pending(t)) && is_in_rows(t) && lbx_tensor_words(t, &words))
		return BY_RECORD;
	return ready ? BY_COPY : BY_NEITHER;
}

/* Unlike that of another provider's with the same number, and even. */
static uint64_t key_of(const struct lbx_tensor *t)
{
	return (uint64_t)(unsigned char)t->of->provider[0] << 56 ^ t->id << 1;
}

static bool add_symbol(struct maker *m, uint64_t slot, const struct lbx_tensor *t)
{
	if (!lb_reserve(m->symbols, m->room, m->n + 1))
		return lb_fail("out of memory for %zu variables", m->n);
	struct lbx_symbol *s = &m->symbols[m->n];
	bool is_passing = t->state != LBX_READY && way_of(m->typed, t) == BY_COPY;
	*s = (struct lbx_symbol){ .slot = slot, .id = t->id, .name = strdup(t->name), .is_passing = is_passing };
	m->n += s->name != NULL;
	return s->name || lb_fail("out of memory for %zu variables", m->n);
}

static bool collect(struct maker *m)
{
	const char *glob = m->typed->glob;
	uint64_t slot = 0, bad = 0, seen = 0;
	struct lbx_tensor t;
	enum lbx_next next;
	bool is_new;

	while ((next = lbx_tensors_next(m->tensors, &slot, &t, &bad)) == LBX_NEXT_TENSOR) {
		if (++seen % 8192 == 0 && !lbx_progress(m->context->out, "reading tensors", (int64_t)seen, 0))
			return false;
		/* of a graph that was only measured, the one that has memory is meant */
		if (!t.name[0] || t.state == LBX_UNALLOCATED || (glob && !lbx_name_matches(glob, t.name)))
			continue;
		uint64_t key = key_of(&t) | (way_of(m->typed, &t) == BY_COPY);
		if (!lbx_number_at(&m->typed->space->tensors, NULL, key, &is_new) ||
		    (is_new && !add_symbol(m, slot - 1, &t)))
			return false;
	}
	return next == LBX_NEXT_END && lbx_symbol_names(m->typed->space, m->symbols, m->n);
}

/* ---- types ---- */

static uint32_t number_of(struct maker *m, enum lb_dtype dtype)
{
	static const struct {
		const char *name;
		enum lbx_dwarf_encoding encoding;
	} in_c[LB_DTYPES] = {
		[LB_BOOL] = { "bool", LBX_BOOLEAN },     [LB_U8] = { "uint8_t", LBX_UNSIGNED },
		[LB_U16] = { "uint16_t", LBX_UNSIGNED }, [LB_U32] = { "uint32_t", LBX_UNSIGNED },
		[LB_U64] = { "uint64_t", LBX_UNSIGNED }, [LB_I8] = { "int8_t", LBX_SIGNED },
		[LB_I16] = { "int16_t", LBX_SIGNED },    [LB_I32] = { "int32_t", LBX_SIGNED },
		[LB_I64] = { "int64_t", LBX_SIGNED },    [LB_F16] = { "_Float16", LBX_FLOAT },
		[LB_BF16] = { "__bf16", LBX_FLOAT },     [LB_F32] = { "float", LBX_FLOAT },
		[LB_F64] = { "double", LBX_FLOAT },      [LB_C64] = { "complex float", LBX_COMPLEX },
	};

	if (!m->numbers[dtype])
		m->numbers[dtype] = lbx_dwarf_number(m->typed->dwarf, in_c[dtype].name, in_c[dtype].encoding,
						     (unsigned)lbx_dtype_bytes(dtype));
	return m->numbers[dtype];
}

/* Of its elements, or, where `blocks` is set, of its blocks: bytes that have the format's name. */
static bool element_of(struct maker *m, const struct lbx_tensor *t, bool blocks, uint32_t *ret)
{
	const struct lbx_encoding *e = t->encoding;
	const int64_t bytes = e ? e->bytes : 0;

	*ret = number_of(m, t->dtype);
	if (!e || !blocks)
		return true;
	for (size_t i = 0; i < m->n_formats; i++)
		if (strcmp(m->formats[i].name, e->name) == 0) {
			*ret = m->formats[i].number;
			return true;
		}
	if (!lb_reserve(m->formats, m->formats_room, m->n_formats + 1))
		return lb_fail("out of memory for %zu types", m->n_formats);
	*ret =
	    lbx_dwarf_name(m->typed->dwarf, e->name, lbx_dwarf_array(m->typed->dwarf, number_of(m, LB_U8), 1, &bytes));
	struct format *f = &m->formats[m->n_formats++];
	*f = (struct format){ .number = *ret };
	snprintf(f->name, sizeof f->name, "%s", e->name);
	return true;
}

static bool same_type(const struct type *a, uint32_t element, int rank, const int64_t *shape)
{
	return a->element == element && a->rank == rank &&
	       memcmp(a->shape, shape, (size_t)rank * sizeof *a->shape) == 0;
}

static bool add_type(struct maker *m, uint32_t element, int rank, const int64_t *shape, uint32_t number)
{
	if (!lb_reserve(m->types, m->types_room, m->n_types + 1))
		return lb_fail("out of memory for %zu types", m->n_types);
	struct type *type = &m->types[m->n_types++];
	*type = (struct type){ .element = element, .rank = rank, .number = number };
	memcpy(type->shape, shape, (size_t)rank * sizeof *shape);
	return true;
}

static bool type_of(struct maker *m, const struct lbx_tensor *t, bool blocks, uint32_t *ret)
{
	int64_t shape[LBX_RANK_MAX];
	uint32_t element;
	bool is_new;

	if (!element_of(m, t, blocks, &element))
		return false;
	*ret = element;
	if (t->rank == 0)
		return true;
	memcpy(shape, lbx_shape(t), (size_t)t->rank * sizeof *shape);
	if (blocks)
		shape[t->rank - 1] /= lbx_tensor_encoding(t).elements;
	uint64_t hash = element;
	for (int i = 0; i < t->rank; i++)
		hash = (hash ^ (uint64_t)shape[i]) * 0x9e3779b97f4a7c15ULL;
	struct lbx_number *entry = lbx_number_at(&m->known, NULL, hash ? hash : 1, &is_new);
	if (!entry)
		return false;
	if (!is_new && same_type(&m->types[entry->value], element, t->rank, shape)) {
		*ret = m->types[entry->value].number;
		return true;
	}
	*ret = lbx_dwarf_array(m->typed->dwarf, element, t->rank, shape);
	entry->value = (uint32_t)m->n_types;
	return add_type(m, element, t->rank, shape, *ret);
}

/* ---- places ---- */

static bool by_record(const struct lbx_tensor *t, struct lbx_place *ret)
{
	struct lbx_encoding e = lbx_tensor_encoding(t);

	ret->kind = LBX_BY_RECORD;
	ret->by_record.offset = (uint64_t)lbx_encoding_at(&e, t->offset);
	return lbx_tensor_words(t, &ret->by_record.words);
}

/* An array's elements as a place; *own is the caller's to free. */
static bool copy(struct maker *m, const struct lbx_array *array, void **own, struct lbx_place *ret)
{
	*own = malloc((size_t)ret->nbytes);
	if (!*own)
		return lb_fail("out of memory for %llu bytes of values", (unsigned long long)ret->nbytes);
	if (!lbx_array_gather(array, m->context->out, "copying", *own))
		return false;
	ret->kind = LBX_COPIED;
	ret->bytes = *own;
	m->copied_bytes += (int64_t)ret->nbytes;
	return true;
}

/* What is wrong with one tensor is noted; what stops all the work is an error. */
static bool recover(struct maker *m)
{
	if (!lbx_progress(m->context->out, "making variables", 0, 0))
		return false;
	if (!m->typed->failure[0])
		snprintf(m->typed->failure, sizeof m->typed->failure, "%s", lb_error_message());
	lb_clear_error();
	return true;
}

static bool copy_value(struct maker *m, const struct lbx_tensor *t, void **own, struct lbx_place *ret,
		       enum lbx_outcome *outcome)
{
	struct lbx_typed *typed = m->typed;
	struct lbx_replayed replayed = { .map = NULL };
	struct lbx_array array;
	bool ready = t->state == LBX_READY;

	int64_t nbytes = (int64_t)ret->nbytes;
	if (nbytes > typed->limit && nbytes > typed->wanted)
		typed->wanted = nbytes;
	if (nbytes > typed->limit || m->copied_bytes + nbytes > LBX_COPIES_MAX) {
		*outcome = LBX_TOO_LARGE;
		return true;
	}
	bool ok =
	    ready ? lbx_array_of_tensor(m->context->target, t, &array) : lbx_replay(m->context, t, NULL, &replayed);
	ok = ok && copy(m, ready ? &array : &replayed.array, own, ret);
	lbx_replay_release(&replayed);
	*outcome = !ok ? LBX_UNREADABLE : !ready ? LBX_REPLAYED : is_in_rows(t) ? LBX_COPY_OF_RESULT : LBX_COPY;
	return ok || recover(m);
}

/* A copy is decoded. */
static int64_t nbytes_of(const struct lbx_tensor *t, enum way way)
{
	int64_t nbytes;

	if (way != BY_COPY || !t->encoding)
		return lbx_tensor_nbytes(t);
	return lb_mul(t->size, lbx_dtype_bytes(t->dtype), &nbytes) ? nbytes : INT64_MAX;
}

static bool place_of(struct maker *m, const struct lbx_tensor *t, void **own, struct lbx_place *ret,
		     enum lbx_outcome *outcome)
{
	bool ready = t->state == LBX_READY;
	enum way way = way_of(m->typed, t);

	*ret = (struct lbx_place){ .kind = LBX_NOWHERE, .nbytes = (uint64_t)nbytes_of(t, way) };
	*outcome = ready ? LBX_IN_PLACE : lbx_tensor_is_pending(t) ? LBX_STAYS_LAZY : LBX_WITHOUT_VALUE;
	if (t->torn || (ready && !lbx_tensor_in_bounds(t)) || t->offset < 0)
		*outcome = LBX_UNREADABLE;
	else if (way == BY_COPY)
		return copy_value(m, t, own, ret, outcome);
	else if (way == BY_RECORD && !by_record(t, ret))
		*outcome = LBX_UNREADABLE;
	if (*outcome != LBX_IN_PLACE || lbx_target_saved(m->context->target, lbx_tensor_data(t), ret->nbytes))
		return true;
	ret->kind = LBX_NOWHERE;
	*outcome = LBX_UNREADABLE;
	return recover(m);
}

/* ---- variables ---- */

static void note_names(struct lbx_typed *typed, const struct lbx_symbol *s)
{
	if (!s->c_name)
		return;
	char (*examples)[64] = s->plain ? typed->a_respelt : typed->a_repeated;
	int64_t *count = s->plain ? &typed->respelt : &typed->repeated;

	if ((*count)++)
		return;
	snprintf(examples[0], sizeof *examples, "%s", s->name);
	snprintf(examples[1], sizeof *examples, "%s", s->c_name);
}

static bool add_variable(struct maker *m, const struct lbx_symbol *s)
{
	struct lbx_typed *typed = m->typed;
	enum lbx_outcome outcome;
	struct lbx_place place;
	struct lbx_tensor t;
	uint64_t slot = s->slot, bad = 0;
	lb_auto_free void *own = NULL;
	uint32_t type;

	if (lbx_tensors_next(m->tensors, &slot, &t, &bad) != LBX_NEXT_TENSOR || t.id != s->id)
		return lb_ok(); /* it is gone */
	enum way way = way_of(typed, &t);
	if (nbytes_of(&t, way) == INT64_MAX) {
		typed->counts[LBX_TOO_LARGE]++;
		typed->wanted = INT64_MAX;
		return true;
	}
	bool blocks = t.encoding && way != BY_COPY && is_in_rows(&t);
	bool ok = type_of(m, &t, blocks, &type) && place_of(m, &t, &own, &place, &outcome);
	if (ok && s->plain && !lbx_symbol_hides_file(s->name))
		lbx_dwarf_variable(typed->dwarf, s->name, type, &place);
	if (ok && s->c_name)
		lbx_dwarf_variable(typed->dwarf, s->c_name, type, &place);
	if (!ok)
		return false;
	note_names(typed, s);
	if (!typed->counts[outcome])
		snprintf(typed->examples[outcome], sizeof *typed->examples, "%s", t.name);
	typed->counts[outcome]++;
	typed->n++;
	return true;
}

static bool make(struct maker *m)
{
	if (!collect(m))
		return false;
	for (size_t i = 0; i < m->n; i++) {
		if (i % 1024 == 1023 && !lbx_progress(m->context->out, "making variables", (int64_t)i, (int64_t)m->n))
			return false;
		if (!add_variable(m, &m->symbols[i]))
			return false;
	}
	return true;
}

bool lbx_typed_variables(struct lbx_context *context, struct lbx_typed *ret)
{
	struct lbx_tensors *tensors;

	*ret = (struct lbx_typed){ .glob = ret->glob, .peek = ret->peek, .limit = ret->limit, .space = ret->space };
	if (!lbx_context_tensors(context, &tensors))
		return false;
	ret->dwarf = lbx_dwarf_create(LBX_TYPED_UNIT);
	if (!ret->dwarf)
		return false;
	struct maker m = { .context = context, .tensors = tensors, .typed = ret };
	bool ok = make(&m);
	for (size_t i = 0; i < m.n; i++) {
		free(m.symbols[i].name);
		free(m.symbols[i].c_name);
	}
	free(m.symbols);
	free(m.types);
	free(m.formats);
	lbx_number_map_deinit(&m.known);
	return ok;
}
