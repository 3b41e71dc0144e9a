#include "ggml_image.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PAGE = 0x1000,
	TEXTS = GGML_MODULE + 0x400,
	SYMBOLS = GGML_MODULE + 0x1000,
	SYMBOL_NAMES = SYMBOLS + 0x100,
	HASH = SYMBOLS + 0x200,
	DYNAMIC = GGML_TABLES + 0xe00,
	BUFFER_TYPES = GGML_TABLES + 0xd00,
	STRIDE = 0x38,
	N_TYPES = 40,
};

static const struct {
	const char *name;
	uint32_t elements, bytes;
} types[N_TYPES] = {
	{ "f32", 1, 4 },
	{ "f16", 1, 2 },
	{ "q4_0", 32, 18 },
	{ "q4_1", 32, 20 },
	{ 0 },
	{ 0 },
	{ "q5_0", 32, 22 },
	{ "q5_1", 32, 24 },
	{ "q8_0", 32, 34 },
	{ "q8_1", 32, 36 },
	{ "q2_K", 256, 84 },
	{ "q3_K", 256, 110 },
	{ "q4_K", 256, 144 },
	{ "q5_K", 256, 176 },
	{ "q6_K", 256, 210 },
	{ "q8_K", 256, 292 },
	{ "iq2_xxs", 256, 66 },
	{ "iq2_xs", 256, 74 },
	{ "iq3_xxs", 256, 98 },
	{ "iq1_s", 256, 50 },
	{ "iq4_nl", 32, 18 },
	{ "iq3_s", 256, 110 },
	{ "iq2_s", 256, 82 },
	{ "iq4_xs", 256, 136 },
	{ "i8", 1, 1 },
	{ "i16", 1, 2 },
	{ "i32", 1, 4 },
	{ "i64", 1, 8 },
	{ "f64", 1, 8 },
	{ "iq1_m", 256, 56 },
	{ "bf16", 1, 2 },
	{ "TYPE_Q4_0_4_4 REMOVED, use Q4_0 with runtime repacking", 0, 0 },
	{ "TYPE_Q4_0_4_8 REMOVED, use Q4_0 with runtime repacking", 0, 0 },
	{ "q4_0_8x8", 32, 18 }, /* as a build had it that took it for a type */
	{ "tq1_0", 256, 54 },
	{ "tq2_0", 256, 66 },
	{ "TYPE_IQ4_NL_4_4 REMOVED, use IQ4_NL with runtime repacking", 0, 0 },
	{ "TYPE_IQ4_NL_4_8 REMOVED, use IQ4_NL with runtime repacking", 0, 0 },
	{ "TYPE_IQ4_NL_8_8 REMOVED, use IQ4_NL with runtime repacking", 0, 0 },
	{ "mxfp4", 32, 17 },
};

void *ggml_image_at(struct ggml_image *image, uint64_t address, uint64_t n)
{
	return regions_at(&image->regions, address, n);
}

void ggml_image_put(struct ggml_image *image, uint64_t address, uint64_t value, size_t width)
{
	regions_put(&image->regions, address, value, width);
}

uint64_t ggml_image_get(struct ggml_image *image, uint64_t address, size_t width)
{
	return regions_get(&image->regions, address, width);
}

/* ---- the module ---- */

static void copy(struct ggml_image *image, uint64_t address, const void *from, size_t n)
{
	regions_copy(&image->regions, address, from, n);
}

static uint64_t add_text(struct ggml_image *image, uint64_t *at, const char *text)
{
	return regions_text(&image->regions, at, text);
}

static void put_tables(struct ggml_image *image)
{
	static const char *const names[] = { "NONE",
					     "DUP",
					     "ADD",
					     "MUL_MAT",
					     "CPY",
					     "CONT",
					     "VIEW",
					     "TRANSPOSE",
					     "GET_ROWS",
					     "RMS_NORM",
					     "MUL",
					     "CONCAT",
					     "SET_ROWS",
					     "MUL_MAT_ID",
					     "IM2COL",
					     "SSM_CONV",
					     "SSM_SCAN",
					     "RWKV_WKV6",
					     "RWKV_WKV7",
					     "GATED_LINEAR_ATTN",
					     "GATED_DELTA_NET" };
	char name[16];
	uint64_t texts = TEXTS;

	for (int i = 0; i < GGML_N_OPS; i++) {
		snprintf(name, sizeof name, "OP_%d", i);
		ggml_image_put(image, GGML_TABLES + 8 * (uint64_t)i,
			       add_text(image, &texts, i < (int)(sizeof names / sizeof *names) ? names[i] : name), 8);
	}
	for (int i = 0; i < N_TYPES; i++) {
		uint64_t at = GGML_TRAITS + STRIDE * (uint64_t)i;
		if (!types[i].name)
			continue;
		ggml_image_put(image, at, add_text(image, &texts, types[i].name), 8);
		ggml_image_put(image, at + 8, types[i].elements, 8);
		ggml_image_put(image, at + 24, types[i].bytes, 8);
	}
}

static void put_headers(struct ggml_image *image)
{
	const Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64 },
				    .e_phoff = sizeof header,
				    .e_phnum = 6,
				    .e_phentsize = sizeof(Elf64_Phdr) };
	const Elf64_Phdr headers[] = {
		{ .p_type = PT_PHDR, .p_vaddr = sizeof header },
		{ .p_type = PT_LOAD, .p_memsz = 0x2000, .p_filesz = 0x2000, .p_flags = PF_R },
		{ .p_type = PT_LOAD, .p_vaddr = 0x2000, .p_memsz = PAGE, .p_filesz = PAGE, .p_flags = PF_R | PF_X },
		{ .p_type = PT_LOAD, .p_vaddr = 0x3000, .p_memsz = PAGE, .p_filesz = PAGE, .p_flags = PF_R | PF_W },
		{ .p_type = PT_DYNAMIC, .p_vaddr = DYNAMIC - GGML_MODULE },
		/* as large as ggml's code, which nobody reads here */
		{ .p_type = PT_LOAD,
		  .p_vaddr = 0x10000,
		  .p_memsz = 0x40000,
		  .p_filesz = 0x40000,
		  .p_flags = PF_R | PF_X },
	};

	copy(image, GGML_MODULE, &header, sizeof header);
	copy(image, GGML_MODULE + sizeof header, headers, sizeof headers);
}

/* return NUMBER, argument + OFFSET, *(argument + OFFSET) */
static void put_code(struct ggml_image *image)
{
	static const unsigned char number[] = { 0xb8, 0, 0, 0, 0, 0xc3 },
				   member[] = { 0x48, 0x8d, 0x87, 0, 0, 0, 0, 0xc3 },
				   load[] = { 0x48, 0x8b, 0x87, 0, 0, 0, 0, 0xc3 },
				   address[] = { 0x48, 0x8d, 0x05, 0, 0, 0, 0, 0xc3 };
	static const char *const kinds[] = { "CPU", "CUDA0", "CPU_REPACK" };
	const struct lbx_ggml_layout *l = &image->layout;
	uint64_t texts = TEXTS + 0x800;

	copy(image, GGML_CODE, number, sizeof number);
	ggml_image_put(image, GGML_CODE + 1, l->size + GGML_OBJECT, 4);
	copy(image, GGML_CODE + 16, member, sizeof member);
	ggml_image_put(image, GGML_CODE + 19, l->name, 4);
	copy(image, GGML_CODE + 32, load, sizeof load);
	ggml_image_put(image, GGML_CODE + 35, l->data, 4);
	for (unsigned i = 0; i < 3; i++) {
		uint64_t at = GGML_CODE + 48 + 16 * i, text = add_text(image, &texts, kinds[i]);
		copy(image, at, address, sizeof address);
		ggml_image_put(image, at + 3, text - (at + 7), 4);
		ggml_image_put(image, BUFFER_TYPES + 64 * i, at, 8);
	}
}

static void put_symbols(struct ggml_image *image)
{
	static const struct {
		const char *name;
		uint64_t at;
	} all[] = {
		{ "ggml_tensor_overhead", GGML_CODE }, { "ggml_get_name", GGML_CODE + 16 },
		{ "ggml_get_data", GGML_CODE + 32 },   { "ggml_type_name", GGML_CODE + 64 },
		{ "ggml_op_name", GGML_CODE + 64 },    { "ggml_cpu_extra_compute_forward", GGML_CODE + 8 },
	};
	enum { N = sizeof all / sizeof *all };
	const Elf64_Dyn dynamic[] = {
		{ .d_tag = DT_SYMTAB, .d_un.d_ptr = SYMBOLS },
		{ .d_tag = DT_STRTAB, .d_un.d_ptr = SYMBOL_NAMES },
		{ .d_tag = DT_HASH, .d_un.d_ptr = HASH },
		{ .d_tag = DT_NULL },
	};
	uint32_t hash[2 + 1 + N + 1] = { 1, N + 1, 1 }; /* one bucket, from 1 on */
	uint64_t names = SYMBOL_NAMES + 1;

	for (uint32_t i = 0; i < N; i++) {
		Elf64_Sym symbol = { .st_name = (uint32_t)(names - SYMBOL_NAMES),
				     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				     .st_shndx = 1,
				     .st_value = all[i].at - GGML_MODULE };
		add_text(image, &names, all[i].name);
		copy(image, SYMBOLS + (i + 1) * sizeof symbol, &symbol, sizeof symbol);
		hash[3 + 1 + i] = i + 1 < N ? i + 2 : 0;
	}
	copy(image, DYNAMIC, dynamic, sizeof dynamic);
	copy(image, HASH, hash, sizeof hash);
}

enum { HOST, DEVICE, REPACKING };

static uint64_t add_buffer(struct ggml_image *image, unsigned kind)
{
	uint64_t at = image->heap;

	for (unsigned i = 0; i < 11; i++)
		ggml_image_put(image, at + 8 * i, GGML_CODE + 0x100 + 16 * i, 8);
	ggml_image_put(image, at + 0x58, BUFFER_TYPES + 64 * kind, 8);
	ggml_image_put(image, at + 0x60, GGML_DATA, 8);
	ggml_image_put(image, at + 0x68, GGML_DATA_SIZE, 8);
	image->heap += 0x80;
	return at;
}

void ggml_image_create(struct ggml_image *image, size_t row, bool exports, uint64_t pool)
{
	*image = (struct ggml_image){
		.layout = *lbx_ggml_layout(row), .heap = GGML_HEAP, .pool = GGML_POOL, .data = GGML_DATA
	};
	regions_create(&image->regions, GGML_MODULE + sizeof(Elf64_Ehdr), 6);
	regions_add(&image->regions, GGML_MODULE, GGML_MODULE_SIZE, GGML_TABLES - GGML_MODULE);
	regions_add(&image->regions, GGML_HEAP, GGML_HEAP_SIZE, 0);
	regions_add(&image->regions, GGML_POOL, pool, 0);
	regions_add(&image->regions, GGML_DATA, GGML_DATA_SIZE, 0);
	put_headers(image);
	put_tables(image);
	put_code(image);
	if (exports)
		put_symbols(image);
	image->host = add_buffer(image, HOST);
	image->device = add_buffer(image, DEVICE);
}

uint64_t ggml_image_repacking(struct ggml_image *image)
{
	return add_buffer(image, REPACKING);
}

/* The object, its functions, what stands in front of them, the name. */
uint64_t ggml_image_object_of_class(struct ggml_image *image, const char *name)
{
	uint64_t at = image->heap, text = at + 0x30;

	ggml_image_put(image, at, at + 0x10, 8);
	ggml_image_put(image, at + 8, at + 0x20, 8);
	ggml_image_put(image, at + 0x10, GGML_CODE, 8);
	ggml_image_put(image, at + 0x28, text, 8);
	add_text(image, &text, name);
	image->heap = (text + 15) / 16 * 16;
	return at;
}

void ggml_image_destroy(struct ggml_image *image)
{
	regions_destroy(&image->regions);
}

void ggml_image_load_second(struct ggml_image *image)
{
	const Elf64_Dyn dynamic[] = { { .d_tag = DT_DEBUG, .d_un.d_ptr = image->heap }, { .d_tag = DT_NULL } };
	const uint64_t by = GGML_SECOND - GGML_MODULE, first = image->heap + 0x10, second = first + 0x28;
	const uint64_t debug[] = { 1, first }, links[2][5] = { { GGML_MODULE, 0, DYNAMIC, second, 0 },
							       { GGML_SECOND, 0, DYNAMIC + by, 0, first } };
	uint64_t word;

	copy(image, DYNAMIC, dynamic, sizeof dynamic);
	copy(image, image->heap, debug, sizeof debug);
	copy(image, first, links, sizeof links);
	image->heap += 0x10 + sizeof links;
	regions_add(&image->regions, GGML_SECOND, GGML_MODULE_SIZE, 0);
	copy(image, GGML_SECOND, ggml_image_at(image, GGML_MODULE, GGML_MODULE_SIZE), GGML_MODULE_SIZE);
	for (uint64_t at = GGML_TABLES + by; at < GGML_SECOND + GGML_MODULE_SIZE; at += 8) {
		word = ggml_image_get(image, at, 8);
		if (word - GGML_MODULE < GGML_MODULE_SIZE)
			ggml_image_put(image, at, word + by, 8);
	}
}

/* ---- contexts ---- */

uint64_t ggml_image_context(struct ggml_image *image, uint64_t size)
{
	uint64_t at = image->heap;

	ggml_image_put(image, at, size, 8);
	ggml_image_put(image, at + 8, image->pool, 8);
	ggml_image_put(image, at + 0x11, 1, 1); /* allocates no data */
	image->heap += 0x30;
	image->context = at;
	image->memory = image->pool;
	image->limit = image->pool + size;
	image->pool += size;
	image->last = 0;
	return at;
}

uint64_t ggml_image_object(struct ggml_image *image, int type, uint64_t size)
{
	uint64_t at = image->memory, offset;

	if (image->last) {
		at = image->last + GGML_OBJECT + ggml_image_get(image, image->last + 8, 8);
		ggml_image_put(image, image->last + 16, at, 8);
	} else {
		ggml_image_put(image, image->context + 0x18, at, 8);
	}
	if (at + GGML_OBJECT + size > image->limit)
		abort();
	offset = at - image->memory + GGML_OBJECT;
	ggml_image_put(image, at, offset, 8);
	ggml_image_put(image, at + 8, size, 8);
	ggml_image_put(image, at + 16, 0, 8);
	ggml_image_put(image, at + 24, (uint64_t)type, 4);
	ggml_image_put(image, image->context + 0x20, at, 8);
	if (type == 0)
		ggml_image_put(image, image->context + 0x14, ggml_image_get(image, image->context + 0x14, 4) + 1, 4);
	image->last = at;
	return at + GGML_OBJECT;
}

static uint64_t bytes_of(struct ggml_image *image, uint64_t tensor)
{
	return ggml_image_get(image, tensor + LBX_GGML_NB + 24, 8) *
	       ggml_image_get(image, tensor + LBX_GGML_NE + 24, 8);
}

uint64_t ggml_image_tensor(struct ggml_image *image, const char *name, uint32_t type, const int64_t ne[LBX_GGML_AXES])
{
	uint64_t at = ggml_image_object(image, 0, image->layout.size), nb = types[type].bytes;

	ggml_image_put(image, at + LBX_GGML_TYPE, type, 4);
	for (uint32_t i = 0; i < LBX_GGML_AXES; i++) {
		ggml_image_put(image, at + LBX_GGML_NE + 8 * i, (uint64_t)ne[i], 8);
		ggml_image_put(image, at + LBX_GGML_NB + 8 * i, nb, 8);
		nb *= (uint64_t)ne[i] / (i ? 1 : types[type].elements);
	}
	copy(image, at + image->layout.name, name, strlen(name) + 1);
	return at;
}

void ggml_image_allocate(struct ggml_image *image, uint64_t tensor)
{
	ggml_image_put(image, tensor + LBX_GGML_BUFFER, image->host, 8);
	ggml_image_put(image, tensor + image->layout.data, image->data, 8);
	image->data += (bytes_of(image, tensor) + 31) / 32 * 32;
}

uint64_t ggml_image_node(struct ggml_image *image, const char *name, uint32_t op, const int64_t ne[LBX_GGML_AXES],
			 uint64_t a, uint64_t b)
{
	uint64_t at = ggml_image_tensor(image, name, GGML_F32, ne);

	ggml_image_put(image, at + LBX_GGML_OP, op, 4);
	ggml_image_put(image, at + image->layout.sources, a, 8);
	ggml_image_put(image, at + image->layout.sources + 8, b, 8);
	return at;
}

uint64_t ggml_image_view(struct ggml_image *image, const char *name, uint64_t of, const int64_t ne[LBX_GGML_AXES],
			 uint64_t offset)
{
	uint64_t at = ggml_image_node(image, name, GGML_VIEW, ne, of, 0);

	ggml_image_put(image, at + LBX_GGML_BUFFER, ggml_image_get(image, of + LBX_GGML_BUFFER, 8), 8);
	ggml_image_put(image, at + image->layout.view_source, of, 8);
	ggml_image_put(image, at + image->layout.view_offset, offset, 8);
	ggml_image_put(image, at + image->layout.data, ggml_image_get(image, of + image->layout.data, 8) + offset, 8);
	return at;
}

static void add_nodes(struct ggml_image *image, uint64_t x, uint64_t w, uint64_t cache)
{
	uint64_t y = ggml_image_node(image, "y", GGML_MUL_MAT, NE(2, 4, 1, 1), w, x);
	ggml_image_allocate(image, y);
	uint64_t turned = ggml_image_view(image, "y (transposed)", y, NE(4, 2, 1, 1), 0);
	ggml_image_put(image, turned + LBX_GGML_OP, GGML_TRANSPOSE, 4);
	ggml_image_put(image, turned + LBX_GGML_NB, 8, 8);
	ggml_image_put(image, turned + LBX_GGML_NB + 8, 4, 8);
	ggml_image_object(image, 1, 0x40);
	uint64_t z = ggml_image_node(image, "z", GGML_CONT, NE(4, 2, 1, 1), turned, 0);
	ggml_image_allocate(image, z);
	uint64_t slot = ggml_image_view(image, "cache (view)", cache, NE(8, 1, 1, 1), 32);
	uint64_t written = ggml_image_view(image, "cache (copy of z)", cache, NE(8, 1, 1, 1), 32);
	ggml_image_put(image, written + LBX_GGML_OP, GGML_CPY, 4);
	ggml_image_put(image, written + image->layout.sources, z, 8);
	ggml_image_put(image, written + image->layout.sources + 8, slot, 8);
	/* in y's memory */
	uint64_t sum = ggml_image_node(image, "sum", GGML_ADD, NE(4, 2, 1, 1), z, z);
	ggml_image_put(image, sum + LBX_GGML_BUFFER, image->host, 8);
	ggml_image_put(image, sum + image->layout.data, ggml_image_get(image, y + image->layout.data, 8), 8);
	ggml_image_object(image, 2, 0x30);
}

void ggml_image_populate(struct ggml_image *image)
{
	ggml_image_context(image, 0xc00);
	uint64_t w = ggml_image_tensor(image, "blk.0.weight", GGML_Q8_0, NE(64, 2, 1, 1));
	ggml_image_allocate(image, w);
	uint64_t w4 = ggml_image_tensor(image, "blk.1.weight", GGML_Q4_0, NE(32, 3, 1, 1));
	ggml_image_allocate(image, w4);
	uint64_t norm = ggml_image_tensor(image, "norm.weight", GGML_F16, NE(16, 1, 1, 1));
	ggml_image_allocate(image, norm);
	uint64_t far = ggml_image_tensor(image, "far.weight", GGML_F32, NE(8, 8, 1, 1));
	ggml_image_allocate(image, far);
	ggml_image_put(image, far + LBX_GGML_BUFFER, image->device, 8);
	ggml_image_context(image, 0x400);
	uint64_t cache = ggml_image_tensor(image, "cache_k_l0", GGML_F32, NE(8, 4, 1, 1));
	ggml_image_allocate(image, cache);
	ggml_image_context(image, 0x1800);
	uint64_t x = ggml_image_tensor(image, "x", GGML_F32, NE(64, 4, 1, 1));
	ggml_image_allocate(image, x);
	ggml_image_tensor(image, "reserved", GGML_F32, NE(3, 3, 3, 3));
	ggml_image_tensor(image, "empty", GGML_I32, NE(0, 4, 1, 1));
	add_nodes(image, x, w, cache);
}

/* ---- its threads ---- */

static int one_thread(struct lbx_stacks *stacks, uint64_t *tids, int max)
{
	(void)stacks;
	tids[0] = 1;
	return max > 0 ? 1 : -1;
}

static bool walk_nowhere(struct lbx_stacks *stacks, uint64_t tid, int max, int tail, struct lbx_stack *ret)
{
	(void)stacks, (void)tid, (void)max, (void)tail;
	*ret = (struct lbx_stack){ .n = 1, .frames = calloc(1, sizeof *ret->frames) };
	return ret->frames != NULL;
}

static bool lives(struct lbx_stacks *stacks, struct lbx_death *ret)
{
	(void)stacks;
	*ret = (struct lbx_death){ .pid = 0 };
	return false;
}

static bool no_line(struct lbx_stacks *stacks, const struct lbx_frame *frame, struct lbx_source_line *ret)
{
	(void)stacks, (void)frame, (void)ret;
	return false;
}

static bool no_pointers(struct lbx_stacks *stacks, const struct lbx_frame *frame, lbx_pointer_fn *fn, void *context,
			struct lbx_variables_told *ret)
{
	if (ret)
		*ret = (struct lbx_variables_told){ .cut = 0 };
	(void)stacks, (void)frame, (void)fn, (void)context;
	return true;
}

static const struct lbx_stacks_ops resting = {
	.all_threads = true,
	.threads = one_thread,
	.death = lives,
	.walk = walk_nowhere,
	.line = no_line,
	.pointers = no_pointers,
};

struct lbx_stacks ggml_image_rests = { &resting };
