/* Fuzzes what finds ggml's tensors, over a program made by hand (tests/unit/ggml_image.c). The bits of an input that choose the
 * program: whether functions tell the layout of tensors, whether the threads are known to rest, and the layout. */
#include "provider.h"

#include "../unit/ggml_image.h"
#include "ggml/ggml.h"
#include "tensors/part.h"

enum { ROWS = 3, POOL = 0x2c00 };
enum { EXPORTS = FUZZ_OWN, RESTS = 2 * FUZZ_OWN, FIRST_ROW = 4 * FUZZ_OWN };

/* Weights whose blocks are interleaved, as the name of a class says. */
static void add_repacked(struct ggml_image *image)
{
	static const int64_t ne[LBX_GGML_AXES] = { 64, 8, 1, 1 };
	uint64_t buffer = ggml_image_repacking(image),
		 class_object =
		     ggml_image_object_of_class(image,
						"N4ggml3cpu6repack13tensor_traitsI10block_q4_0Ll8ELl8EL9ggml_type8EEE");

	ggml_image_context(image, 0x400);
	uint64_t w = ggml_image_tensor(image, "repacked.weight", GGML_Q4_0, ne);
	ggml_image_allocate(image, w);
	ggml_image_put(image, w + LBX_GGML_BUFFER, buffer, 8);
	ggml_image_put(image, w + image->layout.extra, class_object, 8);
}

static struct regions *program(unsigned flags)
{
	static struct ggml_image images[2][ROWS];
	unsigned row = flags / FIRST_ROW % ROWS;
	struct ggml_image *image = &images[(flags & EXPORTS) != 0][row];

	if (!image->target.ops) {
		ggml_image_create(image, row, flags & EXPORTS, POOL);
		ggml_image_populate(image);
		add_repacked(image);
	}
	return &image->regions;
}

static struct lbx_stacks *stacks(unsigned flags)
{
	return flags & RESTS ? &ggml_image_rests : NULL;
}

static bool open_ggml(struct lbx_context *context, struct lbx_tensors **ret)
{
	return lbx_ggml_open(context->target, context->stacks, NULL, NULL, ret);
}

/* What an element is made of lies within the inputs. */
static void check_parts(const struct lbx_tensor *t)
{
	int64_t at[2][LBX_GGML_AXES] = { { 0 } };
	struct lbx_tensor input;
	struct lbx_part part;

	for (int i = 0; i < t->rank; i++)
		at[1][i] = lbx_shape(t)[i] - 1;
	for (uint32_t i = 0; t->size > 0 && i < 2 * t->n_inputs; i++) {
		if (!lbx_tensor_part(t, at[i % 2], i / 2, &part) || part.nothing || !lbx_tensor_input(t, i / 2, &input))
			continue;
		for (int k = 0; k < input.rank; k++) {
			int64_t last = (part.count[k] - 1) * part.step[k];
			fuzz_must(part.first[k] >= 0 && part.count[k] > 0 && part.step[k] > 0 &&
				  part.first[k] + last < lbx_shape(&input)[k]);
		}
	}
}

static const struct fuzzed fuzzed = {
	.name = "ggml",
	.open = open_ggml,
	.program = program,
	.stacks = stacks,
	.check = check_parts,
	.least_rank = 1,
	.most_rank = LBX_GGML_AXES,
	.most_inputs = LBX_GGML_SOURCES + 1,
	.most_tensors = POOL,
	.parts = {
		{ GGML_POOL, POOL },
		{ GGML_POOL, POOL },
		{ GGML_POOL, POOL },
		{ GGML_HEAP, 0x200 },
		{ GGML_HEAP, 0x400 },
		{ GGML_TABLES, 0xb00 },
		{ GGML_TABLES + 0xc00, 0x180 },
		{ GGML_CODE, 0x80 },
		{ GGML_MODULE, 0x180 },
		{ GGML_MODULE + 0x400, 0x200 },
		{ GGML_MODULE + 0x1000, 0x240 },
		{ GGML_DATA, GGML_DATA_SIZE },
		{ GGML_MODULE, GGML_MODULE_SIZE },
	},
	.pools = { { GGML_POOL, POOL, 16 } },
	.addresses = { GGML_POOL, GGML_POOL + 0x20, GGML_HEAP, GGML_DATA, GGML_TABLES, GGML_MODULE },
	.lines = {
		{ "list", "" },
		{ "list", "--sort bytes" },
		{ "print", "#1" },
		{ "print", "x[0, :4]" },
		{ "print", "#14" },
		{ "print", "#10[0]" },
		{ "info", "#9" },
		{ "info", "y" },
		{ "info", "#2" },
		{ "stats", "#2" },
		{ "stats", "#7" },
		{ "graph", "#14" },
		{ "graph", "sum --depth 9" },
		{ "memory", "" },
		{ "status", "" },
		{ "at", "0x30000100" },
		{ "owner", "0x20000100" },
		{ "model", "" },
		{ "diff", "#9 #11" },
		{ "hist", "#5" },
		{ "origin", "sum" },
		{ "quant", "#1" },
		{ "report", "--seconds 1" }, { "doctor", "--seconds 1" },
		{ "peek", "sum" },
		{ "peek", "z" },
		{ "print", "repacked.weight[3:5, :40]" },
		{ "stats", "repacked.weight" },
		{ "quant", "repacked.weight" },
	},
};
