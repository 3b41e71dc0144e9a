/* A program with tensors as ggml has them, made by hand: that many bytes of weights, and as many tensors of them in
 * contexts. It exports nothing, so that its layout is told by the tensors.
 *
 *	ggml BYTES TENSORS allocated|pages|interleaved|mapped FILE
 *
 * The weights are one allocation of the C library, or pages that the system gave, or such pages with blocks of 8 rows
 * interleaved, or a mapping of FILE, which may be sparse, that cannot be written to. It prints "ready", and rests until its input ends. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { AXES = 4, SOURCES = 10, PER_CONTEXT = 1000 };

struct traits {
	const char *name;
	int64_t elements, interleaved;
	size_t bytes;
	bool is_quantized;
	void *functions[2];
};

struct tensor { /* of 2024-11-16 */
	int32_t type;
	void *buffer;
	int64_t ne[AXES];
	size_t nb[AXES];
	int32_t op;
	int32_t params[16], flags;
	struct tensor *sources[SOURCES], *view_source;
	size_t view_offset;
	void *data;
	char name[64];
	void *extra;
	char padding[8];
};

struct object {
	size_t offset, size;
	struct object *next;
	int32_t type;
	char padding[4];
};

struct context {
	size_t mem_size;
	void *mem_buffer;
	bool owned, no_alloc;
	int32_t n_objects;
	struct object *first, *last;
};

struct slot {
	struct object object;
	struct tensor tensor;
};

/* What finds them looks for these tables, and for names that cannot be written to. */
#define OPS_OF(x) "OP_" x "0", "OP_" x "1", "OP_" x "2", "OP_" x "3", "OP_" x "4", "OP_" x "5", "OP_" x "6", "OP_" x "7"
__attribute__((used)) static const char *ops[] = {
	"NONE",      "DUP",       "ADD",       OPS_OF("1"), OPS_OF("2"), OPS_OF("3"),
	OPS_OF("4"), OPS_OF("5"), OPS_OF("6"), OPS_OF("7"), OPS_OF("8"),
};
__attribute__((used)) static struct traits types[] = {
	{ .name = "f32", .elements = 1, .bytes = 4 },
	{ .name = "f16", .elements = 1, .bytes = 2 },
	{ .name = "q4_0", .elements = 32, .bytes = 18, .is_quantized = true },
	{ .name = "q4_0_8x8", .elements = 32, .bytes = 18, .is_quantized = true },
};
/* A module without as much code and constants as ggml has, and as many tables, is not looked at. */
__attribute__((used)) static const char code[1 << 18] = { 1 };
__attribute__((used)) static char tables[1 << 12] = { 1 };

static void *memory(size_t n, const char *file)
{
	int fd = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
	void *at = mmap(NULL, n, file ? PROT_READ : PROT_READ | PROT_WRITE,
			file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);

	if (at == MAP_FAILED) {
		perror(file ? file : "mmap");
		exit(1);
	}
	return at;
}

/* As ggml allocates: aligned. */
static void *bytes_of(const char *kind, size_t bytes)
{
	void *at = strcmp(kind, "allocated") == 0 ? aligned_alloc(64, bytes) : memory(bytes, NULL);

	if (!at)
		exit(1);
	return at;
}

static void make_random(uint64_t *to, size_t n)
{
	uint64_t state = 1;

	for (size_t i = 0; i < n; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		to[i] = state;
	}
}

/* Rows of blocks, of which eight are interleaved. */
static void make_rows(struct tensor *t, size_t bytes)
{
	enum { TYPE = 3, COLUMNS = 4096 };
	size_t row = COLUMNS / 32 * 18, rows = bytes / row / 8 * 8;

	t->type = TYPE;
	t->ne[0] = COLUMNS;
	t->ne[1] = (int64_t)rows;
	t->nb[0] = 18;
	t->nb[1] = row;
	t->nb[2] = t->nb[3] = row * rows;
}

/* Each second byte is the upper half of an f16 between 2^-7 and 2^-2: scales as weights have them. */
static void make_scales(unsigned char *to, size_t n)
{
	for (size_t i = 1; i < n; i += 2)
		to[i] = (unsigned char)(0x20 + to[i] % 20);
}

/* As ggml_new_tensor_1d() in a context that allocates nothing. */
static void add(struct context *c, struct slot *slot, int number, char *data, int64_t floats)
{
	struct object *last = c->last;

	slot->object = (struct object){ .offset = (size_t)((char *)&slot->tensor - (char *)c->mem_buffer),
					.size = sizeof slot->tensor };
	slot->tensor = (struct tensor){ .ne = { floats, 1, 1, 1 },
					.nb = { 4, (size_t)floats * 4, (size_t)floats * 4, (size_t)floats * 4 },
					.data = data };
	snprintf(slot->tensor.name, sizeof slot->tensor.name, "blk.%d.weight", number);
	if (last)
		last->next = &slot->object;
	else
		c->first = &slot->object;
	c->last = &slot->object;
	c->n_objects++;
}

int main(int argc, char **argv)
{
	const char *file = argc == 5 && strcmp(argv[3], "mapped") == 0 ? argv[4] : NULL;
	size_t bytes = argc > 3 ? strtoull(argv[1], NULL, 0) : 0;
	int n = argc > 3 ? atoi(argv[2]) : 0;

	if (n < 1 || bytes / (size_t)n < sizeof(float) || (argc != 4 && !file))
		return fprintf(stderr, "usage: %s BYTES TENSORS allocated|pages|interleaved|mapped FILE\n", argv[0]), 2;
	char *weights = file ? memory(bytes, file) : bytes_of(argv[3], bytes);
	if (!file)
		make_random((uint64_t *)(void *)weights, bytes / sizeof(uint64_t));
	if (strcmp(argv[3], "interleaved") == 0)
		make_scales((unsigned char *)weights, bytes);
	size_t each = bytes / (size_t)n / 32 * 32;
	for (int i = 0; i < n; i += PER_CONTEXT) {
		size_t size = sizeof(struct slot) * PER_CONTEXT;
		struct context *c = calloc(1, sizeof *c);
		struct slot *slots = bytes_of(argv[3], size);
		if (!c)
			return 1;
		*c = (struct context){ .mem_size = size, .mem_buffer = slots, .owned = true, .no_alloc = true };
		for (int k = 0; k < PER_CONTEXT && i + k < n; k++)
			add(c, &slots[k], i + k, weights + each * (size_t)(i + k), (int64_t)(each / sizeof(float)));
		for (int k = 0; strcmp(argv[3], "interleaved") == 0 && k < PER_CONTEXT && i + k < n; k++)
			make_rows(&slots[k].tensor, each);
	}
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
