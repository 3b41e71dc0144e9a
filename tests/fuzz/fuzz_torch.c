/* Fuzzes what finds PyTorch's tensors, over a program made by hand (tests/unit/torch_image.c). The bits of an input that choose
 * the program: the layout of tensors. */
#include "provider.h"

#include "../unit/torch_image.h"
#include "torch/torch.h"

enum { ROWS = 3 };

static struct regions *program(unsigned flags)
{
	static struct torch_image images[ROWS];
	int row = (int)(flags / FUZZ_OWN % ROWS);

	if (!images[row].target.ops) {
		torch_image_create(&images[row], row);
		torch_image_populate(&images[row]);
		torch_image_nets(&images[row], torch_image_learn(&images[row]));
	}
	return &images[row].regions;
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
	},
	.pools = { { TORCH_HEAP, TORCH_HEAP_SIZE, 16 }, { TORCH_CLASSES, 0x500, 8 } },
	.addresses = { TORCH_HEAP, TORCH_DATA, TORCH_CODE, TORCH_CLASSES, TORCH_MODULE },
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
		{ "peek", "#16" },     { "origin", "#14" },        { "report", "--seconds 1" },
	},
};
