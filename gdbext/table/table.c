/* Opening a symbol table. Nothing of it is believed before it is checked: the root's fixed
 * beginning, then its fields by name, then the directory and the fields of each kind of
 * record. What is wrong is named, and then there is no table: a reader that guesses would
 * show made-up tensors. Damage inside records is met when they are read (records.c). */
#include "table/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "table/internal.h"
#include "target/printable.h"

enum { MAX_FIELDS = 1024, MAX_KINDS = 64, HEAD_BYTES = offsetof(struct lb_symtab, version) };

/* Fields without which a record means nothing; the others are zero when missing. */
static const char *const needed_fields[] = {
	"seq",    "id",       "state",  "dtype", "rank",    "op",   "size",   "offset",
	"buffer", "n_inputs", "inputs", "shape", "strides", "data", "nbytes",
};

static bool is_needed(const char *name)
{
	for (size_t i = 0; i < sizeof needed_fields / sizeof *needed_fields; i++)
		if (strcmp(needed_fields[i], name) == 0)
			return true;
	return false;
}

#define KNOWN(record, type, field, n) { #field, offsetof(struct record, field), sizeof(type), n, (type) - 1 < (type)1 },
static const struct lbx_known_field tensor_fields[] = {
#define X(type, name, count, meaning) KNOWN(lbx_tensor_record, type, name, count)
	LB_TENSOR_FIELDS(X)
#undef X
};
static const struct lbx_known_field buffer_fields[] = {
#define X(type, name, count, meaning) KNOWN(lbx_buffer_record, type, name, count)
	LB_BUFFER_FIELDS(X)
#undef X
};
static const struct lbx_known_field thread_fields[] = {
#define X(type, name, count, meaning) KNOWN(lbx_thread_record, type, name, count)
	LB_THREAD_FIELDS(X)
#undef X
};
static const struct lbx_known_field stream_fields[] = {
#define X(type, name, count, meaning) KNOWN(lbx_stream_record, type, name, count)
	LB_STREAM_FIELDS(X)
#undef X
};
static const struct lbx_known_field compiled_fields[] = {
#define X(type, name, count, meaning) KNOWN(lbx_compiled_record, type, name, count)
	LB_COMPILED_FIELDS(X)
#undef X
};

static const struct lbx_known_field graph_fields[] = {
#define X(type, name, count, meaning) KNOWN(lbx_graph_record, type, name, count)
	LB_GRAPH_FIELDS(X)
#undef X
};

static const struct lbx_known_record kinds[LB_KINDS] = {
#define KIND(name, record, fields) { name, sizeof(struct record), fields, sizeof fields / sizeof *fields }
	[LB_KIND_TENSOR] = KIND("tensor", lbx_tensor_record, tensor_fields),
	[LB_KIND_BUFFER] = KIND("buffer", lbx_buffer_record, buffer_fields),
	[LB_KIND_THREAD] = KIND("thread", lbx_thread_record, thread_fields),
	[LB_KIND_STREAM] = KIND("stream", lbx_stream_record, stream_fields),
	[LB_KIND_COMPILED] = KIND("compiled", lbx_compiled_record, compiled_fields),
	[LB_KIND_GRAPH] = KIND("graph", lbx_graph_record, graph_fields),
};

static bool read_head(struct lbx_table *table)
{
	struct lb_symtab *head = &table->head;

	if (!lbx_target_read(table->target, table->address, head, HEAD_BYTES))
		return false;
	if (head->magic == __builtin_bswap64(LB_SYMTAB_MAGIC))
		return lb_fail("the program's byte order is not this machine's");
	if (head->magic != LB_SYMTAB_MAGIC)
		return lb_fail("no symbol table at 0x%llx: its magic number is overwritten",
			       (unsigned long long)table->address);
	if (head->major != LB_ABI_MAJOR)
		return lb_fail("the program's symbol table has version %u.%u, this reader knows %u.x: "
			       "use the reader of that release",
			       head->major, head->minor, LB_ABI_MAJOR);
	if (head->size < HEAD_BYTES || head->size > LBX_ROOT_BYTES)
		return lb_fail("the symbol table's root field 'size' is %u", head->size);
	if (head->n_root_fields == 0 || head->n_root_fields > MAX_FIELDS)
		return lb_fail("the symbol table's root field 'n_root_fields' is %u", head->n_root_fields);
	if (head->n_kinds == 0 || head->n_kinds > MAX_KINDS)
		return lb_fail("the symbol table's root field 'n_kinds' is %u", head->n_kinds);
	return true;
}

static struct lb_field *read_fields(struct lbx_table *table, const char *what, uint64_t address, uint32_t n)
{
	struct lb_field *fields = malloc(n * sizeof *fields);
	if (!fields) {
		lb_fail("out of memory");
		return NULL;
	}
	if (!lbx_target_read(table->target, address, fields, n * sizeof *fields)) {
		lb_fail_within("the symbol table's %s field descriptors", what);
		free(fields);
		return NULL;
	}
	return fields;
}

static bool root_field(struct lbx_table *table, const struct lb_field *fields, const char *name, uint32_t max_bytes,
		       struct lbx_root_field *ret)
{
	for (uint32_t i = 0; i < table->head.n_root_fields; i++) {
		const struct lb_field *f = &fields[i];
		if (strncmp(f->name, name, sizeof f->name) != 0)
			continue;
		uint32_t bytes = (uint32_t)f->width * f->count, size = table->head.size;
		if (bytes == 0 || bytes > max_bytes)
			return lb_fail("the symbol table's root field '%s' is %u x %u byte%s wide", name, f->count,
				       f->width, LB_S(f->width));
		if (f->offset > size || bytes > size - f->offset)
			return lb_fail("the symbol table's root field '%s' lies outside the root", name);
		ret->offset = f->offset;
		ret->bytes = bytes;
		return true;
	}
	ret->offset = ret->bytes = 0;
	if (strcmp(name, "kinds") == 0 || strcmp(name, "ops") == 0 || strcmp(name, "n_ops") == 0)
		return lb_fail("the symbol table's root has no field '%s'" LBX_NO_FIELD, name);
	return true;
}

static bool read_root_fields(struct lbx_table *table)
{
	lb_auto_free struct lb_field *fields =
	    read_fields(table, "root", table->head.root_fields, table->head.n_root_fields);
	if (!fields)
		return false;
	bool done = true;
	const struct lb_symtab *own = NULL;
	/* integers are at most 8 bytes; the two arrays may have grown */
#define X(name) \
	done = \
	    done && root_field(table, fields, #name, sizeof own->name <= 8 ? 8 : LBX_ROOT_BYTES, &table->fields.name);
	LB_ROOT_FIELDS(X)
#undef X
	return done;
}

uint64_t lbx_root_integer(const struct lbx_table *table, struct lbx_root_field field)
{
	uint64_t value = 0;
	if (field.bytes <= sizeof value)
		memcpy(&value, table->root + field.offset, field.bytes);
	return value;
}

/* Reads the directory of kind k of the program into `ret`, and its tiers. */
static bool directory(const struct lbx_table *table, uint32_t k, struct lb_slab_directory *ret, uint64_t *tiers,
		      int *n_tiers)
{
	const uint32_t fixed = offsetof(struct lb_slab_directory, tiers);
	uint32_t stride = table->fields.kinds.bytes / table->head.n_kinds;

	if (stride < fixed + sizeof(uint64_t))
		return lb_fail("the symbol table's root field 'kinds' is too short for %u kinds", table->head.n_kinds);
	const unsigned char *from = table->root + table->fields.kinds.offset + k * stride;
	memcpy(ret, from, fixed);
	*n_tiers = (int)((stride - fixed) / sizeof(uint64_t));
	if (*n_tiers > LBX_TIERS_MAX)
		*n_tiers = LBX_TIERS_MAX;
	memcpy(tiers, from + fixed, (size_t)*n_tiers * sizeof *tiers);
	return true;
}

/* Reads all directories; with `layouts`, the fields of their records too. */
static bool read_kinds(struct lbx_table *table, bool layouts)
{
	bool seen[LB_KINDS] = { false };

	for (uint32_t k = 0; k < table->head.n_kinds; k++) {
		struct lb_slab_directory d;
		uint64_t tiers[LBX_TIERS_MAX];
		int n_tiers = 0, kind;
		if (!directory(table, k, &d, tiers, &n_tiers))
			return false;
		for (kind = 0; kind < LB_KINDS; kind++)
			if (strncmp(d.kind, kinds[kind].name, sizeof d.kind) == 0)
				break;
		if (kind == LB_KINDS || seen[kind])
			continue;
		const char *name = kinds[kind].name;
		struct lbx_slab *slab = &table->slabs[kind];
		uint32_t record_size = slab->record_size;
		seen[kind] = true;
		if (!lbx_slab_update(slab, name, &d, tiers, n_tiers))
			return false;
		if (!layouts) {
			if (record_size != slab->record_size || table->slab_fields[kind] != d.fields)
				return lb_fail("the symbol table's %s records have changed", name);
			continue;
		}
		table->slab_fields[kind] = d.fields;
		if (d.n_fields == 0 || d.n_fields > MAX_FIELDS)
			return lb_fail("the symbol table's %s field 'n_fields' is %u", name, d.n_fields);
		struct lb_field *fields = read_fields(table, name, d.fields, d.n_fields);
		if (!fields)
			return false;
		const struct lbx_described_record described = { fields, d.n_fields, d.record_size };
		bool built = lbx_layout_build(&slab->layout, &kinds[kind], &described, is_needed);
		free(fields);
		if (!built)
			return false;
	}
	if (!seen[LB_KIND_TENSOR] || !seen[LB_KIND_BUFFER])
		return lb_fail("the symbol table has no %s records", seen[LB_KIND_TENSOR] ? "buffer" : "tensor");
	return true;
}

static bool read_ops(struct lbx_table *table)
{
	uint64_t n = lbx_root_integer(table, table->fields.n_ops);

	if (n > LBX_OPS_MAX)
		return lb_fail("the symbol table's root field 'n_ops' is %llu", (unsigned long long)n);
	if (!lbx_target_read(table->target, lbx_root_integer(table, table->fields.ops), table->ops,
			     n * sizeof *table->ops)) {
		lb_fail_within("the symbol table's names of operations");
		return false;
	}
	table->n_ops = (int)n;
	for (int i = 0; i < table->n_ops; i++) {
		char *name = table->ops[i].name;
		name[sizeof table->ops[i].name - 1] = '\0';
		for (char *c = name; *c; c++)
			if (*c < ' ' || *c > '~')
				*c = '?';
	}
	return true;
}

/* The program's dtypes by name; a program that does not tell them has ours. */
static bool read_dtypes(struct lbx_table *table)
{
	uint64_t n = lbx_root_integer(table, table->fields.n_dtypes);
	struct lb_dtype_info infos[LBX_DTYPES_MAX];

	if (n > LBX_DTYPES_MAX)
		return lb_fail("the symbol table's root field 'n_dtypes' is %llu", (unsigned long long)n);
	uint64_t at = lbx_root_integer(table, table->fields.dtypes);
	if (at == 0 || n == 0) {
		table->n_dtypes = LB_DTYPES;
		for (int i = 0; i < LB_DTYPES; i++)
			table->dtypes[i] = i;
		return true;
	}
	if (!lbx_target_read(table->target, at, infos, n * sizeof *infos)) {
		lb_fail_within("the symbol table's dtypes");
		return false;
	}
	table->n_dtypes = (int)n;
	for (int i = 0; i < table->n_dtypes; i++) {
		table->dtypes[i] = -1;
		for (int own = 0; own < LB_DTYPES; own++)
			if (strncmp(infos[i].name, lbx_dtype_name(own), sizeof infos[i].name) == 0 &&
			    infos[i].bytes == lbx_dtype_bytes(own))
				table->dtypes[i] = own;
	}
	return true;
}

static bool read_root(struct lbx_table *table)
{
	return lbx_target_read(table->target, table->address, table->root, table->head.size);
}

void lbx_table_text(struct lbx_table *table, uint64_t address, char *ret, size_t size)
{
	ret[0] = '\0';
	if (address == 0)
		return;
	bool clean = lb_ok();
	if (!lbx_cache_read_string(table->cache, address, ret, size) && clean)
		lb_clear_error();
	lbx_make_printable(ret);
}

bool lbx_table_read(struct lbx_table *table)
{
	return read_head(table) && read_root_fields(table) && read_root(table) && read_kinds(table, true) &&
	       read_ops(table) && read_dtypes(table);
}

bool lbx_table_refresh(struct lbx_table *table)
{
	lbx_cache_clear(table->cache);
	lbx_ids_deinit(&table->ids);
	return read_root(table) && read_kinds(table, false);
}

bool lbx_table_valid(struct lbx_table *table)
{
	struct lb_symtab head;
	uint64_t pid = lbx_root_integer(table, table->fields.pid);
	bool clean = lb_ok();
	bool valid = lbx_target_read(table->target, table->address, &head, HEAD_BYTES) &&
		     memcmp(&head, &table->head, HEAD_BYTES) == 0 && lbx_table_refresh(table) &&
		     lbx_root_integer(table, table->fields.pid) == pid;
	if (!valid && clean)
		lb_clear_error();
	return valid;
}
