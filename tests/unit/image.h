/* A program's memory made by hand: a few regions at fixed addresses, with a symbol table in
 * them, as a target. Tests and fuzzers damage it and see what the readers say. */
#ifndef TESTS_IMAGE_H
#define TESTS_IMAGE_H

#include "table/internal.h"
#include "target/target.h"

enum {
	IMAGE_ROOT = 0x10000,
	IMAGE_ROOT_FIELDS = 0x20000,
	IMAGE_FIELDS = 0x21000,
	IMAGE_DTYPES = 0x26000,
	IMAGE_OPS = 0x27000,
	IMAGE_COUNTERS = 0x29000,
	IMAGE_COUNTER_NAMES = 0x2a000,
	IMAGE_STACKS = 0x2b000,
	IMAGE_CONSTANTS_END = 0x2e000,
	IMAGE_TENSORS = 0x100000,
	IMAGE_TENSORS_1 = 0x140000,
	IMAGE_BUFFERS = 0x180000,
	IMAGE_THREADS = 0x190000,
	IMAGE_STREAMS = 0x198000,
	IMAGE_COMPILED = 0x1b0000,
	IMAGE_GRAPHS = 0x1c0000,
	IMAGE_NAMES = 0x1a0000,
	IMAGE_DATA = 0x200000,
	IMAGE_DATA_SIZE = 0x40000,
	IMAGE_EVENT_KINDS = 0x2c000,
	IMAGE_FLIGHT = 0x2e000,
	IMAGE_EVENTS = 8, /* capacity of the flight recorder's ring */
	IMAGE_FIRST_TIER = 8,
	IMAGE_REGIONS = 16,
};

/* The kinds of events that an image's program knows. */
enum {
	IMAGE_OP_DONE,
	IMAGE_ALLOC,
	IMAGE_ERROR,
	IMAGE_EVAL_START,
	IMAGE_EVAL_DONE,
	IMAGE_COMPILE,
	IMAGE_NAN,
	IMAGE_KINDS_OF_EVENTS,
};

struct image_region {
	uint64_t address, size;
	unsigned char *bytes;
};

struct image {
	struct lbx_target target; /* first */
	struct image_region regions[IMAGE_REGIONS];
	int n_regions;
	bool maps;             /* the target's map() works */
	bool shuffled;         /* fields in another order, of other widths, with unknown ones */
	uint64_t names, names_end;
	int64_t reads;
	/* answers of evaluate(): NULL-terminated pairs */
	const char *expressions[8];
	struct lbx_value values[8];
};

/* Regions and a table without tensors. */
void image_create(struct image *image, bool shuffled);
void image_destroy(struct image *image);
/* Bytes at an address, to change; NULL where there is no region. */
void *image_at(struct image *image, uint64_t address, uint64_t n);
struct lb_symtab *image_root(struct image *image);
/* The descriptor of a field of kind k (LB_KINDS: the root), or NULL. */
struct lb_field *image_field(struct image *image, int k, const char *name);
/* Changes one field of a record, wherever the layout has it. */
void image_set(struct image *image, int k, int slot, const char *name, uint64_t value);
uint64_t image_name(struct image *image, const char *name);
/* The same for a text of an event with that time, stamped. */
uint64_t image_text(struct image *image, uint64_t time_ns, const char *text);
/* Writes records; returns their addresses. Slots must be in order from 0. */
uint64_t image_buffer(struct image *image, int slot, uint64_t data, int64_t nbytes);
uint64_t image_tensor(struct image *image, int slot, const struct lbx_tensor_record *r);
uint64_t image_stream(struct image *image, int slot, const struct lbx_stream_record *r);
uint64_t image_thread(struct image *image, int slot, const struct lbx_thread_record *r);
uint64_t image_compiled(struct image *image, int slot, const struct lbx_compiled_record *r);
uint64_t image_graph(struct image *image, int slot, const struct lbx_graph_record *r);
/* Writes a listing of three lines, the first of which has no call of its own; returns where the
 * ids of its tensors follow. */
uint64_t image_listing(struct image *image, uint64_t at);
/* A ready, row-contiguous tensor's record over a buffer; seq, id, … filled in. */
struct lbx_tensor_record image_record(struct image *image, int slot, const char *name, enum lb_dtype dtype, int rank,
				      const int64_t *shape, uint64_t buffer);
/* Puts the next event into the ring, as the runtime would. */
void image_event(struct image *image, uint64_t time_ns, uint32_t kind, uint64_t a, uint64_t b, uint64_t c, uint64_t d);
/* Some tensors of several kinds: the seed of fuzzing. */
void image_populate(struct image *image);

#endif
