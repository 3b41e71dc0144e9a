/* What table/'s files share. */
#ifndef LBX_TABLE_INTERNAL_H
#define LBX_TABLE_INTERNAL_H

#include "target/cache.h"
#include "table/ids.h"
#include "table/slab.h"
#include "table/table.h"

/* The reader's own form of a record: every field an array, in the X-macro's order. */
#define X(type, name, count, meaning) type name[count];
struct lbx_tensor_record {
	LB_TENSOR_FIELDS(X)
};
struct lbx_buffer_record {
	LB_BUFFER_FIELDS(X)
};
struct lbx_thread_record {
	LB_THREAD_FIELDS(X)
};
struct lbx_stream_record {
	LB_STREAM_FIELDS(X)
};
struct lbx_compiled_record {
	LB_COMPILED_FIELDS(X)
};
struct lbx_graph_record {
	LB_GRAPH_FIELDS(X)
};
#undef X

enum { LBX_OPS_MAX = 256, LBX_DTYPES_MAX = 64, LBX_COUNTERS_MAX = 256, LBX_ROOT_BYTES = 1 << 14 };

/* Offset of a root field, and bytes; 0 bytes: the program has no such field. */
struct lbx_root_field {
	uint32_t offset, bytes;
};

struct lbx_table {
	struct lbx_tensors tensors; /* first: a provider is its table */
	struct lbx_target *target;
	struct lbx_cache *cache;
	uint64_t address;
	struct lb_symtab head; /* up to root_fields only */
	struct lbx_root_fields {
#define X(name) struct lbx_root_field name;
		LB_ROOT_FIELDS(X)
#undef X
	} fields;
	unsigned char root[LBX_ROOT_BYTES]; /* as last read; head.size bytes */
	struct lbx_slab slabs[LB_KINDS];
	uint64_t slab_fields[LB_KINDS];
	int n_ops;
	struct lb_op_info ops[LBX_OPS_MAX];
	int n_dtypes;
	int dtypes[LBX_DTYPES_MAX]; /* the reader's number of each of the program's; -1 unknown */
	bool had_one_thread;           /* of the program, ever, when the walk began */
	uint64_t empty_from, empty_to; /* slots that the walk has met empty, in a row; empty_to 0: none */
	int naps; /* that this walk has waited for records being changed (steady.c) */
	struct lbx_ids ids;
	uint64_t bad_first, bad_last; /* records that the last walk over the tensors could not read */
};

/* Records of a tier that cannot be read, in a row, before the rest of it is given up. */
enum { LBX_UNREADABLE_MAX = 4096 };

/* The next readable record of a kind at or after *slot, which moves past it, or NULL. It may be a
 * free one. */
const void *lbx_table_next_record(struct lbx_table *table, enum lb_kind kind, uint64_t *slot,
				  unsigned char scratch[LBX_RECORD_MAX]);

/* An integer of the root as last read; 0 when there is no such field. */
uint64_t lbx_root_integer(const struct lbx_table *table, struct lbx_root_field field);
/* Reads the root and the slab directories again, and forgets what is cached. */
bool lbx_table_refresh(struct lbx_table *table);
/* The text at an address, as far as it can be read; "" for address 0. What cannot be printed is
 * shown as '?': it is only text. */
void lbx_table_text(struct lbx_table *table, uint64_t address, char *ret, size_t size);
/* Checks and decodes the buffer record at an address. */
bool lbx_table_buffer(struct lbx_table *table, uint64_t address, bool cached, struct lbx_buffer_record *ret);

/* Finds out all that is needed to read it. */
bool lbx_table_read(struct lbx_table *table);

/* As in struct lbx_tensors_ops. */
enum lbx_next lbx_table_next(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_tensor *ret, uint64_t *bad);
enum lbx_next lbx_table_next_label(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_label *ret);
bool lbx_table_by_id(struct lbx_tensors *tensors, uint64_t id, struct lbx_tensor *ret);
bool lbx_table_by_address(struct lbx_tensors *tensors, uint64_t address, struct lbx_tensor *ret);
bool lbx_table_words(struct lbx_tensors *tensors, const struct lbx_tensor *t, struct lbx_words *ret);
bool lbx_table_scope(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_scope *ret);
bool lbx_table_part_at(struct lbx_tensors *tensors, uint64_t address, char *ret, size_t size);
bool lbx_table_record_at(struct lbx_tensors *tensors, uint64_t address, struct lbx_tensor *ret);
bool lbx_table_damage(struct lbx_tensors *tensors, uint64_t *ret_first, uint64_t *ret_last);
bool lbx_table_input(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i, struct lbx_tensor *ret);
uint64_t lbx_table_input_id(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint32_t i);
int lbx_table_stack(struct lbx_tensors *tensors, const struct lbx_tensor *t, uint64_t *pcs, int max);
bool lbx_table_next_buffer(struct lbx_tensors *tensors, uint64_t *slot, struct lbx_buffer *ret);
void lbx_table_take_computed(struct lbx_tensors *tensors, struct lbx_tensor *t);
bool lbx_table_program(struct lbx_tensors *tensors, const struct lbx_tensor *t, struct lbx_program *ret);

#endif
