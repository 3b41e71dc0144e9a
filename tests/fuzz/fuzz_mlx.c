/* Fuzzes what finds MLX's arrays and what Python calls them, over a program made by hand (tests/unit/mlx_image.c). The bits of
 * an input that choose the program: the layout of arrays, and that of Python. */
#include "provider.h"

#include "../unit/mlx_image.h"
#include "mlx/mlx.h"

/* What computes the softmax instead, in each of the programs. */
static const char *const classes[2 * MLX_ROWS] = {
	"N3mlx4core8CompiledE", "N3mlx4core5SliceE", "N3mlx4core11ConvolutionE",     "N3mlx4core11SliceUpdateE",
	"N3mlx4core6GatherE",   "N3mlx4core5SplitE", "N3mlx4core15QuantizedMatmulE", "N3mlx4core6ReduceE",
};

/* Its fields are lists, one behind the other: of the sum in the image, or of what those words are as numbers. */
static void give_fields(struct mlx_image *image, const char *class)
{
	enum { LISTS = 5, BYTES = 0x18 };
	uint64_t lists[LISTS * 3] = { 0 }, at = MLX_PRIMITIVE + 0x180;

	regions_put(&image->regions, at, image->arrays[MLX_ADD], 8);
	for (int i = 0; i < LISTS * 3; i++)
		lists[i] = i % 3 ? at + 16 : at;
	mlx_image_become(image, MLX_SOFTMAX, class, "", 1);
	regions_copy(&image->regions, MLX_PRIMITIVE + BYTES, lists, sizeof lists);
}

static struct regions *program(unsigned flags)
{
	static struct mlx_image images[MLX_ROWS][2];
	unsigned row = flags / FUZZ_OWN % MLX_ROWS, later = flags / FUZZ_OWN / MLX_ROWS % 2;
	struct mlx_image *image = &images[row][later];

	if (!image->target.ops) {
		mlx_image_create(image, (int)row, later ? 13 : 11);
		give_fields(image, classes[2 * row + later]);
	}
	return &image->regions;
}

static bool open_mlx(struct lbx_context *context, struct lbx_tensors **ret)
{
	return lbx_mlx_open(context->target, false, NULL, NULL, ret);
}

static const struct fuzzed fuzzed = {
	.name = "mlx",
	.open = open_mlx,
	.program = program,
	.most_rank = LBX_RANK_MAX,
	.most_inputs = UINT32_MAX,
	.most_tensors = MLX_HEAP_SIZE,
	.parts = {
		{ MLX_HEAP, MLX_HEAP_SIZE },       { MLX_HEAP, MLX_HEAP_SIZE },       { MLX_HEAP, MLX_HEAP_SIZE },
		{ MLX_HEAP, MLX_HEAP_SIZE },       { LIBRARY_DATA, 0x300 },           { LIBRARY, LIBRARY_SIZE },
		{ LIBRARY_PROGRAM, LIBRARY_PROGRAM_SIZE }, { MLX_DATA, MLX_DATA_SIZE },
		{ PYTHON_HEAP, PYTHON_HEAP_SIZE }, { PYTHON_HEAP, PYTHON_HEAP_SIZE }, { MLX_PYTHON, PYTHON_STATICS },
	},
	.pools = { { MLX_HEAP, MLX_HEAP_SIZE, 16 }, { LIBRARY_DATA, 0x300, 8 }, { PYTHON_HEAP, PYTHON_HEAP_SIZE, 16 } },
	.addresses = { PYTHON_HEAP, MLX_HEAP, MLX_DATA, LIBRARY_CODE, LIBRARY_DATA, LIBRARY },
	.lines = {
		{ "list", "" },           { "list", "--sort bytes" }, { "print", "#1" },
		{ "print", "#2[1:]" },    { "print", "#3" },          { "print", "#5" },
		{ "info", "#1" },         { "info", "#4" },           { "info", "#6" },
		{ "info", "#8" },         { "stats", "#2" },          { "diff", "#1 #2" },
		{ "hist", "#1" },         { "memory", "" },           { "memory", "--by dtype" },
		{ "memory", "--by module" }, { "memory", "--by holder" }, { "status", "" },
		{ "at", "0x30000010" },   { "owner", "0x30000010" },  { "graph", "#6" },
		{ "graph", "#7 --depth 50 --limit 1000" }, { "peek", "#6" }, { "peek", "#5" }, { "origin", "#6" },
		{ "report", "--seconds 1" }, { "doctor", "--seconds 1" }, { "print", "x" },        { "print", "model.fc.weight[1:]" },
		{ "print", "model.layers[0].bias" }, { "info", "model.layers.0.bias" }, { "info", "state['lazy'][0]" },
		{ "owner", "model.fc.weight" }, { "bt", "" },         { "model", "" },
		{ "threads", "" },
	},
};
