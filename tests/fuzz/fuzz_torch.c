/* Fuzzes what finds PyTorch's tensors and what Python calls them, over a program made by hand (tests/unit/torch_image.c,
 * tests/unit/python_image.c). The bits of an input that choose the program: the layout of tensors, and that of Python. */
#include "provider.h"

#include "../unit/torch_image.h"
#include "torch/torch.h"

enum { ROWS = 4 };

static struct regions *program(unsigned flags)
{
	static struct torch_image images[ROWS][2];
	unsigned row = flags / FUZZ_OWN % ROWS, later = flags / FUZZ_OWN / ROWS % 2;
	struct torch_image *image = &images[row][later];

	if (!image->target.ops) {
		torch_image_create(image, (int)row);
		torch_image_populate(image);
		torch_image_nets(image, torch_image_learn(image));
		torch_image_speak(image, later ? 13 : 11);
	}
	return &image->regions;
}

static bool open_torch(struct lbx_context *context, struct lbx_tensors **ret)
{
	return lbx_torch_open(context->target, false, NULL, NULL, ret);
}

static const struct fuzzed fuzzed = {
	.name = "torch",
	.open = open_torch,
	.program = program,
	.most_rank = LBX_RANK_MAX,
	.most_inputs = UINT32_MAX,
	.most_tensors = TORCH_HEAP_SIZE,
	.parts = {
		{ TORCH_HEAP, TORCH_HEAP_SIZE },       { TORCH_HEAP, TORCH_HEAP_SIZE }, { TORCH_HEAP, TORCH_HEAP_SIZE },
		{ TORCH_HEAP, TORCH_HEAP_SIZE },       { TORCH_CLASSES, 0x500 },        { TORCH_MODULE, TORCH_MODULE_SIZE },
		{ TORCH_PROGRAM, TORCH_PROGRAM_SIZE }, { TORCH_DATA, 0x100 },
		{ PYTHON_HEAP, PYTHON_HEAP_SIZE },     { PYTHON_HEAP, PYTHON_HEAP_SIZE }, { PYTHON_HEAP, PYTHON_HEAP_SIZE },
		{ PYTHON_HEAP, PYTHON_HEAP_SIZE },     { TORCH_PYTHON, PYTHON_STATICS },
	},
	.pools = { { TORCH_HEAP, TORCH_HEAP_SIZE, 16 }, { TORCH_CLASSES, 0x500, 8 }, { PYTHON_HEAP, PYTHON_HEAP_SIZE, 16 } },
	.addresses = { PYTHON_HEAP, TORCH_HEAP, TORCH_DATA, TORCH_CODE, TORCH_CLASSES, TORCH_MODULE },
	.lines = {
		{ "list", "" },        { "list", "--sort bytes" }, { "print", "#1" },
		{ "print", "#2[1:]" }, { "print", "#3" },          { "print", "#9" },
		{ "print", "#12[1]" }, { "info", "#1" },           { "info", "#6" },
		{ "info", "#9" },      { "info", "#12" },          { "stats", "#2" },
		{ "stats", "#12" },    { "quant", "#9" },          { "diff", "#2 #12" },
		{ "hist", "#1" },      { "memory", "" },           { "memory", "--by dtype" },
		{ "memory", "--by module" }, { "memory", "--by holder" },
		{ "status", "" },      { "at", "0x30000010" },     { "owner", "0x30000010" },
		{ "graph", "#1" },     { "graph", "#14" },         { "graph", "#14 --depth 50 --limit 1000" },
		{ "info", "#14" },     { "info", "#13" },          { "info", "#16" },
		{ "peek", "#16" },     { "origin", "#14" },        { "report", "--seconds 1" }, { "doctor", "--seconds 1" },
		{ "print", "x" },      { "print", "net.fc.weight[1:]" }, { "info", "batch['image']" },
		{ "info", "items[1][0]" }, { "print", "self.bias" },  { "print", "batch[7]" },
		{ "owner", "net.fc.bias" }, { "bt", "" },          { "model", "" },
		{ "memory", "--by holder" }, { "memory", "--by module" }, { "threads", "" },
	},
};
