#include "image.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/op.h"

enum { MAX_DESCRIPTORS = 48, DESCRIPTORS = 0xc00, SHUFFLED_PAD = 24, TIERS = 2 };

static struct image *image_of(struct lbx_target *target)
{
	return (struct image *)target;
}

void *image_at(struct image *image, uint64_t address, uint64_t n)
{
	for (int i = 0; i < image->n_regions; i++) {
		struct image_region *r = &image->regions[i];
		if (address >= r->address && address - r->address <= r->size && n <= r->size - (address - r->address))
			return r->bytes + (address - r->address);
	}
	return NULL;
}

static bool image_read(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	const void *from = image_at(image_of(target), address, n);

	image_of(target)->reads++;
	if (!from)
		return lb_fail("no memory at 0x%llx", (unsigned long long)address);
	memcpy(to, from, n);
	return true;
}

static const void *image_map(struct lbx_target *target, uint64_t address, size_t n)
{
	return image_of(target)->maps ? image_at(image_of(target), address, n) : NULL;
}

static bool image_find_root(struct lbx_target *target, uint64_t *ret)
{
	(void)target;
	*ret = IMAGE_ROOT;
	return true;
}

static bool image_evaluate(struct lbx_target *target, const char *expression, struct lbx_value *ret)
{
	struct image *image = image_of(target);

	for (int i = 0; i < 8 && image->expressions[i]; i++) {
		if (strcmp(image->expressions[i], expression) == 0) {
			*ret = image->values[i];
			return true;
		}
	}
	return false;
}

static void image_release(struct lbx_target *target)
{
	(void)target;
}

static const struct lbx_target_ops ops = {
	.read = image_read,
	.map = image_map,
	.find_root = image_find_root,
	.evaluate = image_evaluate,
	.destroy = image_release,
};

static void add_region(struct image *image, uint64_t address, uint64_t size)
{
	struct image_region *r = &image->regions[image->n_regions++];
	*r = (struct image_region){ address, size, calloc(1, size) };
}

struct lb_symtab *image_root(struct image *image)
{
	return image_at(image, IMAGE_ROOT, sizeof(struct lb_symtab));
}

/* ---- descriptors ---- */

#define FIELD(record, type, field, n) { #field, offsetof(struct record, field), sizeof(type), n },
static const struct lb_field own_tensor[] = {
#define X(type, name, count, meaning) FIELD(lbx_tensor_record, type, name, count)
	LB_TENSOR_FIELDS(X)
#undef X
};
static const struct lb_field own_buffer[] = {
#define X(type, name, count, meaning) FIELD(lbx_buffer_record, type, name, count)
	LB_BUFFER_FIELDS(X)
#undef X
};
static const struct lb_field own_thread[] = {
#define X(type, name, count, meaning) FIELD(lbx_thread_record, type, name, count)
	LB_THREAD_FIELDS(X)
#undef X
};
static const struct lb_field own_stream[] = {
#define X(type, name, count, meaning) FIELD(lbx_stream_record, type, name, count)
	LB_STREAM_FIELDS(X)
#undef X
};
static const struct lb_field own_compiled[] = {
#define X(type, name, count, meaning) FIELD(lbx_compiled_record, type, name, count)
	LB_COMPILED_FIELDS(X)
#undef X
};
static const struct lb_field own_graph[] = {
#define X(type, name, count, meaning) FIELD(lbx_graph_record, type, name, count)
	LB_GRAPH_FIELDS(X)
#undef X
};
static const struct lb_field own_root[] = {
#define X(name) { #name, offsetof(struct lb_symtab, name), sizeof(((struct lb_symtab *)0)->name), 1 },
	LB_ROOT_FIELDS(X)
#undef X
};

static const struct {
	const char *name;
	const struct lb_field *fields;
	uint32_t n, size;
	uint64_t at;
} kinds[LB_KINDS] = {
#define KIND(name, own, record, at) { name, own, sizeof own / sizeof *own, sizeof(struct record), at }
	KIND("tensor", own_tensor, lbx_tensor_record, IMAGE_TENSORS),
	KIND("buffer", own_buffer, lbx_buffer_record, IMAGE_BUFFERS),
	KIND("thread", own_thread, lbx_thread_record, IMAGE_THREADS),
	KIND("stream", own_stream, lbx_stream_record, IMAGE_STREAMS),
	KIND("compiled", own_compiled, lbx_compiled_record, IMAGE_COMPILED),
	KIND("graph", own_graph, lbx_graph_record, IMAGE_GRAPHS),
};

static uint64_t descriptors(int k)
{
	return k == LB_KINDS ? IMAGE_ROOT_FIELDS : IMAGE_FIELDS + (uint64_t)k * DESCRIPTORS;
}

struct lb_field *image_field(struct image *image, int k, const char *name)
{
	struct lb_symtab *root = image_root(image);
	uint32_t n = k == LB_KINDS ? root->n_root_fields : root->kinds[k].n_fields;
	struct lb_field *fields = image_at(image, descriptors(k), n * sizeof *fields);

	for (uint32_t i = 0; fields && i < n; i++)
		if (strncmp(fields[i].name, name, sizeof fields[i].name) == 0)
			return &fields[i];
	return NULL;
}

/* Backwards, with a gap before each, 4-byte integers of 8 and an unknown field. */
static uint32_t shuffle(struct lb_field *to, const struct lb_field *from, uint32_t n)
{
	uint32_t offset = SHUFFLED_PAD;

	for (uint32_t i = 0; i < n; i++) {
		to[i] = from[n - 1 - i];
		to[i].offset = offset;
		offset += (uint32_t)to[i].width * to[i].count + 3;
	}
	to[n] = (struct lb_field){ "colour_of_the_sky", offset, 16, 2 };
	return offset + 32;
}

static void create_kind(struct image *image, int k)
{
	struct lb_slab_directory *d = &image_root(image)->kinds[k];
	struct lb_field *fields = image_at(image, descriptors(k), DESCRIPTORS);

	strcpy(d->kind, kinds[k].name);
	d->fields = descriptors(k);
	d->n_fields = kinds[k].n;
	d->record_size = kinds[k].size;
	memcpy(fields, kinds[k].fields, kinds[k].n * sizeof *fields);
	if (image->shuffled) {
		d->record_size = shuffle(fields, kinds[k].fields, kinds[k].n);
		d->n_fields++;
	}
	d->first_tier = IMAGE_FIRST_TIER;
	d->tiers[0] = kinds[k].at;
	if (k == LB_KIND_TENSOR)
		d->tiers[1] = IMAGE_TENSORS_1;
}

static const struct lb_event_info event_kinds[] = {
	[IMAGE_OP_DONE] = { "op_done", "(id, tensor, op, ok, ns)", 5, 0 },
	[IMAGE_ALLOC] = { "alloc", "(buffer, address, nbytes, id)", 4, 0 },
	[IMAGE_ERROR] = { "error", "(site, message)", 2, 0 },
	[IMAGE_EVAL_START] = { "eval_start", "(eval, site, roots)", 3, 0 },
	[IMAGE_EVAL_DONE] = { "eval_done", "(eval, site, ops, ok)", 4, 0 },
	[IMAGE_COMPILE] = { "compile", "(compiled, name, reason, ns)", 4, 0 },
	[IMAGE_NAN] = { "nan", "(id, tensor, site, count, first)", 5, 0 },
};

void image_create(struct image *image, bool shuffled)
{
	memset(image, 0, sizeof *image);
	image->target.ops = &ops;
	image->shuffled = shuffled;
	add_region(image, IMAGE_ROOT, sizeof(struct lb_symtab));
	add_region(image, IMAGE_ROOT_FIELDS, IMAGE_CONSTANTS_END - IMAGE_ROOT_FIELDS);
	add_region(image, IMAGE_TENSORS, 0x8000);
	add_region(image, IMAGE_TENSORS_1, 0x8000);
	add_region(image, IMAGE_BUFFERS, 0x8000);
	add_region(image, IMAGE_THREADS, 0x8000);
	add_region(image, IMAGE_STREAMS, 0x8000);
	add_region(image, IMAGE_COMPILED, 0x8000);
	add_region(image, IMAGE_GRAPHS, 0x8000);
	add_region(image, IMAGE_NAMES, 0x1000);
	add_region(image, IMAGE_FLIGHT, IMAGE_EVENTS * sizeof(struct lb_flight_event));
	add_region(image, IMAGE_DATA, IMAGE_DATA_SIZE);
	image->names = IMAGE_NAMES;
	image->names_end = IMAGE_NAMES + 0x1000;

	struct lb_symtab *root = image_root(image);
	*root = (struct lb_symtab){
		.magic = LB_SYMTAB_MAGIC,
		.major = LB_ABI_MAJOR,
		.minor = shuffled ? LB_ABI_MINOR + 7 : LB_ABI_MINOR,
		.size = sizeof *root,
		.n_root_fields = sizeof own_root / sizeof *own_root,
		.n_kinds = LB_KINDS,
		.root_fields = IMAGE_ROOT_FIELDS,
		.version = "9.8.7",
		.pid = 4711,
		.rank = -1,
		.dtypes = IMAGE_DTYPES,
		.ops = IMAGE_OPS,
		.n_dtypes = LB_DTYPES,
		.n_ops = LB_OPS,
		.counters = IMAGE_COUNTERS,
		.counter_names = IMAGE_COUNTER_NAMES,
		.max_rank = LB_MAX_RANK,
		.stacks = IMAGE_STACKS,
		.stack_words = 16,
		.last_id = 1000,
		.event_kinds = IMAGE_EVENT_KINDS,
		.n_event_kinds = IMAGE_KINDS_OF_EVENTS,
		.event_size = sizeof(struct lb_flight_event),
		.flight = IMAGE_FLIGHT,
		.flight_capacity = IMAGE_EVENTS,
	};
	memcpy(image_at(image, IMAGE_EVENT_KINDS, sizeof event_kinds), event_kinds, sizeof event_kinds);
	memcpy(image_at(image, IMAGE_ROOT_FIELDS, sizeof own_root), own_root, sizeof own_root);
	memcpy(image_at(image, IMAGE_DTYPES, sizeof lb_dtypes), lb_dtypes, sizeof lb_dtypes);
	memcpy(image_at(image, IMAGE_OPS, sizeof lb_ops), lb_ops, sizeof lb_ops);
	int n = 0;
	uint64_t *values = image_at(image, IMAGE_COUNTERS, sizeof(struct lb_counters));
	char *names = image_at(image, IMAGE_COUNTER_NAMES, 0x800);
#define X(name, meaning) strcpy(names + 24 * n++, #name);
	LB_COUNTERS(X)
#undef X
	root->n_counters = (uint32_t)n;
	for (int i = 0; i < n; i++)
		values[i] = (uint64_t)(100 + i);
	for (int k = 0; k < LB_KINDS; k++)
		create_kind(image, k);
}

void image_destroy(struct image *image)
{
	for (int i = 0; i < image->n_regions; i++)
		free(image->regions[i].bytes);
}

/* ---- records ---- */

static uint64_t record_at(struct image *image, int k, int slot)
{
	struct lb_slab_directory *d = &image_root(image)->kinds[k];
	bool second = slot >= IMAGE_FIRST_TIER;

	return d->tiers[second] + (uint64_t)(slot - (second ? IMAGE_FIRST_TIER : 0)) * d->record_size;
}

void image_set(struct image *image, int k, int slot, const char *name, uint64_t value)
{
	const struct lb_field *f = image_field(image, k, name);

	memcpy(image_at(image, record_at(image, k, slot) + f->offset, f->width), &value, f->width);
}

static uint64_t write_record(struct image *image, int k, int slot, const void *record)
{
	struct lb_slab_directory *d = &image_root(image)->kinds[k];
	uint64_t at = record_at(image, k, slot);
	unsigned char *to = image_at(image, at, d->record_size);

	for (uint32_t i = 0; to && i < kinds[k].n; i++) {
		const struct lb_field *own = &kinds[k].fields[i];
		const struct lb_field *f = image_field(image, k, own->name);
		for (unsigned e = 0; f && e < own->count && e < f->count; e++)
			memcpy(to + f->offset + e * f->width,
			       (const unsigned char *)record + own->offset + e * own->width, f->width);
	}
	if (d->used < (uint64_t)slot + 1)
		d->used = (uint64_t)slot + 1;
	return at;
}

uint64_t image_name(struct image *image, const char *name)
{
	size_t n = strlen(name) + 1;
	uint64_t at = image->names;
	char *to = image_at(image, at, n);

	if (!to)
		return 0;
	memcpy(to, name, n);
	image->names += n;
	return at;
}

uint64_t image_buffer(struct image *image, int slot, uint64_t data, int64_t nbytes)
{
	struct lbx_buffer_record r = {
		.seq = { 2 },
		.generation = { 1 },
		.id = { (uint64_t)slot + 1 },
		.data = { data },
		.nbytes = { nbytes },
		.capacity = { nbytes },
		.refs = { 1 },
	};
	return write_record(image, LB_KIND_BUFFER, slot, &r);
}

uint64_t image_text(struct image *image, uint64_t time_ns, const char *text)
{
	image->names = (image->names + _Alignof(struct lb_flight_text) - 1) & -_Alignof(struct lb_flight_text);
	struct lb_flight_text *to = image_at(image, image->names, sizeof *to);
	uint64_t at = image->names + offsetof(struct lb_flight_text, text);

	if (!to)
		return 0;
	to->time_ns = time_ns;
	to->thread = 4711;
	snprintf(to->text, sizeof to->text, "%s", text);
	image->names += sizeof *to;
	return at;
}

void image_event(struct image *image, uint64_t time_ns, uint32_t kind, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	uint64_t number = ++image_root(image)->flight_used;
	struct lb_flight_event *ring = image_at(image, IMAGE_FLIGHT, IMAGE_EVENTS * sizeof *ring);

	ring[number % IMAGE_EVENTS] = (struct lb_flight_event){ number, time_ns, 4711, kind, { a, b, c, d } };
}

uint64_t image_stream(struct image *image, int slot, const struct lbx_stream_record *r)
{
	return write_record(image, LB_KIND_STREAM, slot, r);
}

uint64_t image_thread(struct image *image, int slot, const struct lbx_thread_record *r)
{
	return write_record(image, LB_KIND_THREAD, slot, r);
}

uint64_t image_compiled(struct image *image, int slot, const struct lbx_compiled_record *r)
{
	return write_record(image, LB_KIND_COMPILED, slot, r);
}

uint64_t image_graph(struct image *image, int slot, const struct lbx_graph_record *r)
{
	return write_record(image, LB_KIND_GRAPH, slot, r);
}

uint64_t image_listing(struct image *image, uint64_t at)
{
	enum { LINES = 3, INPUTS = 2, OPERANDS = 4 };
	static const char texts[] = "\0y\0x";
	struct {
		struct lb_listing head;
		struct lb_listing_line lines[LINES + INPUTS];
		uint32_t operands[OPERANDS];
		char texts[sizeof texts];
	} l = {
		.head = { .magic = LB_LISTING_MAGIC, .size = sizeof l, .n_lines = LINES,
			  .n_inputs = INPUTS, .n_operands = OPERANDS, .n_calls = 2 },
		.lines = {
			{ .op = LB_OP_EXP, .dtype = LB_F32, .rank = 1, .shape = { 16 }, .operands = 0,
			  .n_operands = 1, .site = 0x401234 },
			{ .op = LB_OP_ADD, .dtype = LB_F32, .rank = 1, .shape = { 16 }, .operands = 1,
			  .n_operands = 2, .code = 12, .site = 0x401234 },
			{ .op = LB_OP_SUM, .dtype = LB_F32, .operands = 3, .n_operands = 1, .code = 31,
			  .name = 1, .stays = 1 },
			{ .op = LB_OP_DATA, .dtype = LB_F32, .rank = 1, .shape = { 16 }, .name = 3 },
			{ .op = LB_OP_SCALAR, .dtype = LB_F32, .value = 0x40000000 },
		},
		.operands = { 4, 1, 5, 2 },
	};
	unsigned char *to = image_at(image, at, sizeof l + 3 * sizeof(uint64_t));

	memcpy(l.texts, texts, sizeof texts);
	memcpy(to, &l, sizeof l);
	memcpy(to + sizeof l, (const uint64_t[]){ 2, 4, 10 }, 3 * sizeof(uint64_t));
	return at + sizeof l;
}

uint64_t image_tensor(struct image *image, int slot, const struct lbx_tensor_record *r)
{
	return write_record(image, LB_KIND_TENSOR, slot, r);
}

struct lbx_tensor_record image_record(struct image *image, int slot, const char *name, enum lb_dtype dtype, int rank,
				      const int64_t *shape, uint64_t buffer)
{
	struct lbx_tensor_record r = {
		.seq = { 2 },
		.generation = { 1 },
		.id = { (uint64_t)slot + 1 },
		.refs = { 1 },
		.state = { buffer ? LB_STATE_READY : LB_STATE_LAZY },
		.dtype = { (uint8_t)dtype },
		.rank = { (uint8_t)rank },
		.op = { buffer ? LB_OP_DATA : LB_OP_EXP },
		.buffer = { buffer },
		.name = { name ? image_name(image, name) : 0 },
	};
	int64_t size = 1;

	for (int i = rank - 1; i >= 0; i--) {
		r.shape[i] = shape[i];
		r.strides[i] = size;
		size *= shape[i];
	}
	r.size[0] = size;
	return r;
}

void image_populate(struct image *image)
{
	static const int64_t shape[] = { 4, 6, 10 }, row[] = { 16 };
	uint64_t b0 = image_buffer(image, 0, IMAGE_DATA, 4 * 6 * 10 * 4);
	uint64_t b1 = image_buffer(image, 1, IMAGE_DATA + 0x1000, 64);
	float *data = image_at(image, IMAGE_DATA, 240 * 4);

	for (int i = 0; i < 240; i++)
		data[i] = (float)i / 4;
	struct lbx_tensor_record x = image_record(image, 0, "x", LB_F32, 3, shape, b0), r = x;
	uint64_t at = image_tensor(image, 0, &x);
	r.id[0] = 2;
	r.name[0] = image_name(image, "layer.0/view");
	r.op[0] = LB_OP_TRANSPOSE;
	r.n_inputs[0] = 1;
	r.inputs[0] = at;
	for (int i = 0; i < 3; i++) {
		r.shape[i] = x.shape[2 - i];
		r.strides[i] = -x.strides[2 - i];
	}
	r.offset[0] = 239;
	image_tensor(image, 1, &r);
	r = image_record(image, 2, "lazy", LB_F32, 3, shape, 0);
	r.n_inputs[0] = 1;
	r.inputs[0] = at;
	r.site[0] = 0x401234;
	r.stack[0] = 1;
	at = image_tensor(image, 2, &r);
	uint64_t *stack = image_at(image, IMAGE_STACKS, 16 * 8);
	stack[1] = 2;
	stack[2] = 0x401234;
	stack[3] = 0x405678;
	r = image_record(image, 3, NULL, LB_F32, 3, shape, 0);
	r.n_inputs[0] = 5;
	r.more_inputs[0] = IMAGE_DATA + 0x2000;
	uint64_t *inputs = image_at(image, IMAGE_DATA + 0x2000, 40);
	for (int i = 0; i < 5; i++)
		inputs[i] = at;
	image_tensor(image, 3, &r);
	for (int dtype = 0; dtype < LB_DTYPES; dtype++) {
		int slot = 4 + dtype;
		int64_t n = row[0] * lb_dtypes[dtype].bytes > 64 ? 8 : 16;
		r = image_record(image, slot, lb_dtypes[dtype].name, dtype, 1, &n, b1);
		image_tensor(image, slot, &r);
	}
	image_event(image, 1000000, IMAGE_OP_DONE, 2, 0, LB_OP_TRANSPOSE, 1);
	image_event(image, 2000000, IMAGE_ERROR, 0x401234, image_text(image, 2000000, "no luck"), 0, 0);
}
