#include "inspect/command.h"
#include "inspect/compare/diff.h"
#include "inspect/compare/diff_graph.h"
#include "inspect/compare/save.h"
#include "inspect/draw/image.h"
#include "inspect/draw/plot.h"
#include "inspect/forensics/freed.h"
#include "inspect/forensics/modules.h"
#include "inspect/forensics/owner.h"
#include "inspect/forensics/ranks.h"
#include "inspect/forensics/report.h"
#include "inspect/forensics/threads.h"
#include "inspect/graph/listings.h"
#include "inspect/memory/memory.h"
#include "inspect/memory/model.h"
#include "inspect/origin/origin.h"
#include "inspect/set.h"
#include "inspect/show/at.h"
#include "inspect/show/compiled.h"
#include "inspect/show/info.h"
#include "inspect/show/list.h"
#include "inspect/show/peek.h"
#include "inspect/show/print.h"
#include "inspect/show/quant.h"
#include "inspect/show/running.h"
#include "inspect/show/stats.h"
#include "inspect/show/status.h"
#include "inspect/show/tree.h"
#include "inspect/symbols/symbols.h"
#include "inspect/trace/events.h"

#define T_HELP \
	"T is a name, #id, or an expression of the program that yields an lb_tensor *. Names\n" \
	"come first: where a tensor is named x, write (x) for the variable."
#define SLICE_HELP \
	T_HELP " A slice is\nwritten as in Python: x[0, :, 2:8:2], x[..., -1], x[::-1]. Memory that is no tensor's is\n" \
	"written as @ADDRESS:DTYPE:SHAPE[:STRIDES], see `view`."

#define PRINT_OPTIONS \
	{ "full", NULL, "all elements, however many" }, \
	{ "edge", "N", "elements at each end of an axis that is cut short" }, \
	{ "precision", "N", "digits after the point, at most" }

const struct lbx_command lbx_commands[] = {
	{
		.name = "list",
		.arguments = "[GLOB]",
		.summary = "list the tensors that are alive",
		.help = "GLOB selects by name: * ? [a-z], as a shell has them. Totals follow.\n"
			"Example: list 'layers.*' --state lazy --sort bytes",
		.max_args = 1,
		.needs = LBX_NEEDS_TENSORS | LBX_GIVES_ADDRESSES,
		.options = {
			{ "state", "STATE", "only those that are lazy, evaluating or ready" },
			{ "dtype", "DTYPE", "only those of a dtype: float32, f32, int8, …" },
			{ "provider", "NAME", "only those of a provider, where a program has several: lazybones, …" },
			{ "sort", "KEY", "by id (default), name, size, bytes, state or dtype" },
			{ "limit", "N", "show N at most (default 50, JSON and files all); 0: all" },
			{ "out", "FILE", "write to a file; gdb takes long for a large answer" },
		},
		.run = lbx_run_list,
	},
	{
		.name = "info",
		.arguments = "T",
		.summary = "show all that is known of a tensor, without evaluating it",
		.help = "Shape, dtype, strides, offset, contiguity, state, operation, inputs, buffer,\n"
			"references and the place that made it.\n" T_HELP "\n"
			"Example: info q",
		.min_args = 1,
		.max_args = 1,
		.needs = LBX_NEEDS_TENSORS,
		.run = lbx_run_info,
	},
	{
		.name = "print",
		.arguments = "T[slice]",
		.summary = "print the values of a tensor, as NumPy would",
		.help = "Follows strides and offset, so it prints what the program means. Of a lazy tensor,\n"
			"which has no values yet, it tells what a replay would take.\n"
			SLICE_HELP "\n"
			"Example: print q[0, :, :4] --precision 3",
		.min_args = 1,
		.max_args = 1,
		.needs = LBX_NEEDS_TENSORS,
		.options = { PRINT_OPTIONS },
		.run = lbx_run_print,
	},
	{
		.name = "stats",
		.arguments = "T[slice]",
		.summary = "show statistics of a tensor's values",
		.help = "Count, min and max with their coordinates, mean, std, sum, L2, the numbers of\n"
			"NaN, Inf, zeros and denormals with the coordinates of the first of each,\n"
			"quantiles, a histogram and the first values. Complex values count by magnitude.\n"
			SLICE_HELP "\n"
			"Example: stats q[..., 0]",
		.min_args = 1,
		.max_args = 1,
		.needs = LBX_NEEDS_TENSORS,
		.options = {
			{ "first", "N", "show the first N values (default 8)" },
		},
		.run = lbx_run_stats,
	},
	{
		.name = "peek",
		.arguments = "T[slice]",
		.summary = "compute a lazy tensor's values outside the program, and print them",
		.help = "The graph behind it is read from the program, alive or dead, and computed by a\n"
			"process of its own, with limits (`set replay-memory`, `set replay-seconds`). The\n"
			"program is neither changed nor called. Of a slice, only what it needs is read and\n"
			"computed, with the same bits; gdbext/README.md says which operations need their\n"
			"inputs whole.\n"
			SLICE_HELP "\n"
			"Example: peek q[0, :, :4], peek loss --stats",
		.min_args = 1,
		.max_args = 1,
		.needs = LBX_NEEDS_TENSORS,
		.options = {
			PRINT_OPTIONS,
			{ "stats", NULL, "show statistics instead of values" },
			{ "first", "N", "with --stats: show the first N values (default 8)" },
		},
		.run = lbx_run_peek,
	},
	{
		.name = "image",
		.arguments = "T[slice]",
		.summary = "draw a tensor as a picture or a heat map, here or as PNG",
		.help = "Two axes are a heat map, in the colours of viridis from the smallest to the\n"
			"largest value; a third of 1, 3 or 4 channels, first or last, is grey, RGB or RGBA.\n"
			"NaN and Inf are magenta. Large ones are averaged to fit. Complex values count by\n"
			"magnitude. A lazy tensor is replayed.\n"
			"Terminals that announce sixel or kitty's protocol show pixels, others half blocks in\n"
			"their colours; without colours, characters.\n"
			SLICE_HELP "\n"
			"Example: image latents[0, 2] --range=-3,3 --out latents.png",
		.min_args = 1,
		.max_args = 1,
		.needs = LBX_NEEDS_TENSORS | LBX_NEEDS_PIXELS,
		.options = {
			{ "out", "FILE", "write a PNG file" },
			{ "as", "HOW", "blocks, ascii, sixel or kitty (default: what the terminal announces)" },
			{ "range", "LOW,HIGH", "values of the darkest and the brightest colour" },
			{ "channels", "WHERE", "first, last or none" },
			{ "width", "N", "columns to use (default: the terminal's)" },
			{ "rows", "N", "lines to use (default 48)" },
		},
		.run = lbx_run_image,
	},
	{
		.name = "plot",
		.arguments = "T[slice]",
		.summary = "plot a tensor's elements as a line",
		.help = "In row-major order. Where there are more than dots, a dot's column reaches from\n"
			"the smallest to the largest of its elements. Complex values count by magnitude. A\n"
			"lazy tensor is replayed.\n"
			SLICE_HELP "\n"
			"Example: plot losses",
		.min_args = 1,
		.max_args = 1,
		.needs = LBX_NEEDS_TENSORS,
		.options = {
			{ "width", "N", "columns to use (default: the terminal's)" },
			{ "rows", "N", "lines to use (default 12)" },
		},
		.run = lbx_run_plot,
	},
	{
		.name = "hist",
		.arguments = "T[slice]",
		.summary = "draw a histogram of a tensor's values",
		.help = "Of the finite values, between the smallest and the largest. Complex values count by\n"
			"magnitude. A lazy tensor is replayed.\n" SLICE_HELP "\n"
			"Example: hist layers.0.weight --bins 40",
		.min_args = 1,
		.max_args = 1,
		.needs = LBX_NEEDS_TENSORS,
		.options = {
			{ "bins", "N", "equal parts of the range (default 20)" },
		},
		.run = lbx_run_hist,
	},
	{
		.name = "graph",
		.arguments = "T",
		.summary = "show the graph behind a tensor: what it is computed from",
		.help = "A tree of the operations that are not yet computed, down to the ready tensors;\n"
			"each tensor once, with the place that made it.\n" T_HELP "\n"
			"Example: graph loss --depth 3",
		.min_args = 1,
		.max_args = 1,
		.needs = LBX_NEEDS_TENSORS,
		.options = {
			{ "depth", "N", "follow inputs N deep (default 8, files and JSON all)" },
			{ "limit", "N", "show N lines (default 200), or write N tensors (10000)" },
			{ "history", NULL, "go on behind ready tensors, where their inputs are left" },
			{ "dot", "FILE", "write it for Graphviz" },
			{ "png", "FILE", "draw it by Graphviz's dot" },
		},
		.run = lbx_run_graph,
	},
	{
		.name = "listing",
		.arguments = "[N]",
		.summary = "list the graphs of step mode, or the ops of graph N",
		.help = "Line L of graph N is line L of its source graph-N.lb: the result's name (or its\n"
			"line, %L), the op with its operands, dtype, shape, the program's line that made\n"
			"it, and the tensor's id in the last evaluation. Step mode is on by `tensor step`\n"
			"in gdb, by LAZYBONES_STEP=1 in the environment, or by lb_set_step_mode().\n"
			"Example: listing 3 --ranges",
		.max_args = 1,
		.needs = LBX_NEEDS_RUNTIME,
		.options = {
			{ "ranges", NULL, "with the least and the largest value of what is still there" },
		},
		.run = lbx_run_listing,
	},
	{
		.name = "diff-graph",
		.arguments = "A B",
		.summary = "compare the listings of two graphs",
		.help = "Lines with the same op, name and call in the program correspond. Shows those whose\n"
			"dtype, shape or operands differ, and those that only one graph has: - of A, + of B.\n"
			"Example: diff-graph 1 3",
		.min_args = 2,
		.max_args = 2,
		.needs = LBX_NEEDS_RUNTIME,
		.options = {
			{ "limit", "N", "show N lines at most (default 100, JSON all); 0: all" },
		},
		.run = lbx_run_diff_graph,
	},
	{
		.name = "where",
		.arguments = "",
		.summary = "tell what each thread and stream evaluates now",
		.help = "The evaluation and its graph, the op that runs, how many are done of how many, the\n"
			"time since it began, the call that asked for it, and what it waits for: in step mode\n"
			"or not, in a running program and in a core.\n"
			"Example: where --json",
		.needs = LBX_NEEDS_RUNTIME | LBX_NEEDS_KIND,
		.run = lbx_run_where,
	},
	{
		.name = "origin",
		.arguments = "T",
		.summary = "tell which operation first made the NaN or Inf that a tensor holds",
		.help = "Follows them back through the tensors that it was computed from, ready ones as\n"
			"they are, lazy ones replayed outside the program; inside a fused one, operation by\n"
			"operation. Shows the operation, the first elements that it made so, the ranges of its\n"
			"inputs, the place that made it, and what to try. Where an Inf made the NaN, the Inf is\n"
			"followed too. The search ends at data that held them, and where inputs are gone.\n"
			T_HELP "\n"
			"Example: origin loss",
		.min_args = 1,
		.max_args = 1,
		.needs = LBX_NEEDS_TENSORS,
		.options = {
			{ "limit", "N", "look at N tensors at most (default 10000)" },
		},
		.run = lbx_run_origin,
	},
	{
		.name = "at",
		.arguments = "ADDRESS",
		.summary = "tell which tensors an address belongs to",
		.help = "ADDRESS is a number or an expression of the program. It names the buffer, and\n"
			"for each tensor over it the element at that address.\n"
			"Example: at 0x7ffff7a31040",
		.min_args = 1,
		.max_args = 1,
		.needs = LBX_NEEDS_TENSORS | LBX_GIVES_ADDRESSES,
		.options = {
			{ "limit", "N", "show N tensors at most (default 50); 0: all" },
		},
		.run = lbx_run_at,
	},
	{
		.name = "quant",
		.arguments = "T[slice]",
		.summary = "show how a tensor is quantised, whether its parts fit, and its values",
		.help = "T holds the packed words. Scales and biases are those of an operation that uses T, of\n"
			"the lb_quantize() that made it, or by name (layers.0.wq.scales beside\n"
			"layers.0.wq.weight); or you name them. What is missing or has the wrong shape is\n"
			"named, with the shape that would be right. With a slice, or --values, the values are\n"
			"computed outside the program.\n"
			T_HELP "\n"
			"Example: quant wq, quant wq[0, :8], quant wq --scales s --biases b --bits 4 --group 64",
		.min_args = 1,
		.max_args = 1,
		.needs = LBX_NEEDS_TENSORS,
		.options = {
			{ "values", NULL, "print the values" },
			{ "scales", "S", "the tensor of its scales" },
			{ "biases", "B", "the tensor of its biases (affine)" },
			{ "global", "G", "the tensor of its global scale (nvfp4)" },
			{ "mode", "MODE", "affine, mxfp4, mxfp8 or nvfp4" },
			{ "bits", "N", "bits of a code" },
			{ "group", "N", "values of a scale" },
			PRINT_OPTIONS,
		},
		.run = lbx_run_quant,
	},
	{
		.name = "view",
		.arguments = "ADDRESS [DTYPE] SHAPE [STRIDES][slice]",
		.summary = "print memory that is no tensor's as if it were one",
		.help = "ADDRESS, of element 0, is a number or an expression of the program: a pointer or an\n"
			"array; when its type tells the dtype, that may be left out. SHAPE and STRIDES are\n"
			"lists (3,4 or (3, 4)); strides count elements, and may be negative or 0. Wherever a\n"
			"command wants values, the same is written in one word: @ADDRESS:DTYPE:SHAPE:STRIDES.\n"
			"Example: view pixels 480,640,3[:2, :2], view 0x7ffff7a31040 f32 3,4 1,3,\n"
			"stats @pixels:u8:480,640,3, diff q @copy:3,4",
		.min_args = 2,
		.max_args = 4,
		.options = {
			PRINT_OPTIONS,
			{ "stats", NULL, "show statistics instead of values" },
			{ "first", "N", "with --stats: show the first N values (default 8)" },
		},
		.run = lbx_run_view,
	},
	{
		.name = "events",
		.arguments = "[GLOB]",
		.summary = "show what happened last: the flight recorder",
		.help = "The runtime keeps its last events in a ring: evaluations, operations,\n"
			"allocations, misuse, NaN, errors. GLOB selects by name, as in 'eval_*';\n"
			"probes/README.md lists the names. A time is when the event's thread last read a clock:\n"
			"at the start of its evaluation, and after each long operation.\n"
			"LAZYBONES_EVENTS=N in the program's environment sizes the ring; 0: none.\n"
			"Example: events op_done --tensor '#12'",
		.max_args = 1,
		.needs = LBX_NEEDS_RUNTIME,
		.options = {
			{ "last", "N", "show the last N (default 30, JSON all); 0: all" },
			{ "thread", "TID", "only those of one thread" },
			{ "tensor", "#ID", "only those about one tensor" },
		},
		.run = lbx_run_events,
	},
	{
		.name = "diff",
		.arguments = "T[slice] OTHER",
		.summary = "compare a tensor with another, or with a file, and explain how they differ",
		.help = "OTHER is T[slice], CORE:T[slice] or FILE[:NAME], of .npy, .npz, .safetensors or\n"
			"GGUF. Shows the largest absolute and relative error, how many elements differ, the\n"
			"first and the worst, and where they lie; with --rtol or --atol as numpy.allclose counts.\n"
			"Then it searches for an explanation: axes, halves or channels in another order, a\n"
			"strided view read raw, a factor, an offset, a shift, the rounding of a dtype, bytes.\n"
			"Beside a quantised tensor it shows the error of each group. Lazy tensors are replayed.\n"
			"Example: diff q run2.core:q, diff q q.npy --rtol 1e-3, diff w model.gguf:blk.0.attn_q.weight",
		.min_args = 2,
		.max_args = 2,
		.needs = LBX_NEEDS_TENSORS,
		.options = {
			{ "correct", "X", "errors below X are none (default 1e-5)" },
			{ "broken", "X", "errors beyond X are the verdict `broken` (default 0.1)" },
			{ "rtol", "X", "relative tolerance of numpy.allclose (default 1e-5)" },
			{ "atol", "X", "absolute tolerance of numpy.allclose (default 1e-8)" },
			{ "explain", "WHAT", "off: search for no explanation" },
			{ "seconds", "N", "search for N seconds at most (default 10)" },
			{ "group", "N", "relative error by groups of N along the last axis" },
		},
		.run = lbx_run_diff,
	},
	{
		.name = "memory",
		.arguments = "[mark NAME]",
		.summary = "show what holds memory, or what has changed since a mark, a file or a core",
		.help = "Each buffer counts once, for the tensor that owns it; views own nothing. Then come\n"
			"the largest buffers, with the tensors over them and what needs these. `mark NAME`\n"
			"keeps the moment in the debugger, --save in a file; --since compares with it, or\n"
			"with an older core, also of another run: by what buffers have in common.\n"
			"Example: memory --by name, memory mark before, memory --since before",
		.max_args = 2,
		.needs = LBX_NEEDS_TENSORS,
		.options = {
			{ "by", "KEY", "site (default), dtype, name (its first part), stream or state" },
			{ "since", "POINT", "compare with a mark, a file of --save, or a core" },
			{ "save", "FILE", "write what --since compares with" },
			{ "limit", "N", "show N groups at most (default 12); 0: all" },
		},
		.run = lbx_run_memory,
	},
	{
		.name = "model",
		.arguments = "[GLOB]",
		.summary = "show a model's size by name and dtype, and what it would be in other formats",
		.help = "Counts the ready tensors that have a name (GLOB selects them), each value once.\n"
			" Packed words of lb_quantize() count as what they hold, their scales and biases\n"
			"as bytes. Numbers in names are put together: layers.0…31. The estimates quantise what\n"
			"has two axes or more, the last a multiple of the group; the rest stays 16 bits.\n"
			"Example: model, model 'layers.*' --depth 3",
		.max_args = 1,
		.needs = LBX_NEEDS_TENSORS,
		.options = {
			{ "depth", "N", "show N parts of the names (default 2)" },
			{ "limit", "N", "show N rows of names (default 60, JSON all); 0: all" },
		},
		.run = lbx_run_model,
	},
	{
		.name = "save",
		.arguments = "T[slice] FILE[:NAME]",
		.summary = "save a tensor's values as .npy, .npz or .safetensors",
		.help = "Row-major, in the tensor's own dtype; bfloat16, which NumPy does not have, becomes\n"
			"float32 in .npy and .npz. A lazy tensor is replayed. The file gets its name when it is\n"
			"whole, and an old one is kept unless --force is given. NAME is the tensor's own, if\n"
			"none is given.\n"
			SLICE_HELP "\n"
			"Example: save q[0] q.npy, save latents run.safetensors:latents --force",
		.min_args = 2,
		.max_args = 2,
		.needs = LBX_NEEDS_TENSORS,
		.options = {
			{ "force", NULL, "replace a file that exists" },
		},
		.run = lbx_run_save,
	},
	{
		.name = "freed",
		.arguments = "[#ID]",
		.summary = "list tensors that lost their values, but whose bytes are still in memory",
		.help = "The runtime keeps the buffers of freed tensors, and of temporaries that became lazy\n"
			"again, for reuse: until then what they held can be printed, by #ID.\n"
			"Example: freed, freed #12 --precision 3",
		.max_args = 1,
		.needs = LBX_NEEDS_RUNTIME,
		.options = { PRINT_OPTIONS },
		.run = lbx_run_freed,
	},
	{
		.name = "owner",
		.arguments = "ADDRESS",
		.summary = "tell whose memory a wild pointer leads to",
		.help = "As `at`, and also near misses: how far an address lies past the end of a buffer or\n"
			"before its beginning; which frame's stack, or whose code, it is.\n"
			"Example: owner 0x7ffff7a31040",
		.min_args = 1,
		.max_args = 1,
		.needs = LBX_NEEDS_TENSORS,
		.options = {
			{ "limit", "N", "show N tensors at most (default 50); 0: all" },
		},
		.run = lbx_run_owner,
	},
	{
		.name = "suspect",
		.arguments = "",
		.summary = "find memory that holds a view's elements in the order of its storage",
		.help = "Who copies from the raw pointer of a view that is not row-contiguous gets its\n"
			"elements in another order than meant: a transposed picture comes out tiled. All\n"
			"memory that the program could write is searched for such copies. Shows the view, the\n"
			"place, and the permutation that would have been right.\n"
			"Example: suspect --seconds 10",
		.needs = LBX_NEEDS_TENSORS,
		.options = {
			{ "all", NULL, "also copies that another tensor explains" },
			{ "seconds", "N", "search for N seconds at most (default 60)" },
		},
		.run = lbx_run_suspect,
	},
	{
		.name = "threads",
		.arguments = "[TID]",
		.summary = "show the stacks of all threads, and the tensors that their variables hold",
		.help = "The thread that died comes first. Below each frame stand the arguments and\n"
			"local variables that are tensors, lead to one, or point to the elements of one.\n"
			"A running process stands still meanwhile.\n"
			"Example: threads --frames 8",
		.max_args = 1,
		.needs = LBX_NEEDS_STACKS,
		.options = {
			{ "frames", "N", "N frames of each at most (default 64)" },
			{ "bare", NULL, "the stacks alone" },
		},
		.run = lbx_run_threads,
	},
	{
		.name = "frame",
		.arguments = "[N]",
		.summary = "show the tensors that the variables of a frame hold",
		.help = "Frames count from 0, the innermost; without N all that hold tensors are shown.\n"
			"Variables need debug information (-g).\n"
			"Example: frame 2 --thread 4711",
		.max_args = 1,
		.needs = LBX_NEEDS_TENSORS | LBX_NEEDS_FRAMES,
		.options = {
			{ "thread", "TID", "of this thread (default: the one that died)" },
			{ "all", NULL, "each tensor, where a frame holds many" },
		},
		.run = lbx_run_frame,
	},
	{
		.name = "modules",
		.arguments = "",
		.summary = "list the program and its libraries, and whether their files here are the same",
		.help = "A file whose build id differs from the core's gives wrong names, so it is not used. same:\n"
			"its build id is the core's. unproven: the core holds no build id to check it "
			       "against (bit 4\n"
			"of /proc/PID/coredump_filter saves them), but it was not modified since. Not used are:\n"
			"differs; newer: unproven, and modified since; undated: unproven, and the core came through a\n"
			"pipe, so that its time is not known; missing. forced: --force uses what --exe names,\n"
			"whatever it is.\n"
			"Example: modules --json",
		.needs = LBX_NEEDS_STACKS,
		.run = lbx_run_modules,
	},
	{
		.name = "report",
		.arguments = "",
		.summary = "tell what died, where, with which tensors, and what looks wrong",
		.help = "The signal and the stack of the thread that died with the tensors of each frame,\n"
			"evaluations in flight, NaN and Inf, memory by creation site, suspicions. As a page\n"
			"it also has pictures, histograms and the graph, and needs no network to be read.\n"
			"Example: report --output report.html",
		.needs = LBX_NEEDS_STACKS,
		.options = {
			{ "output", "FILE", "write one HTML page" },
			{ "seconds", "N", "search for N seconds at most (default 20)" },
		},
		.run = lbx_run_report,
	},
	{
		.name = "ranks",
		.arguments = "CORE...",
		.summary = "line up the tensors of one job's processes, and name the first that diverges",
		.help = "Each core is of one rank (OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK or SLURM_PROCID\n"
			"of the process' environment; without one, as they are given). Tensors of one name\n"
			"are compared bit for bit; those that differ are shown in the order of creation, each\n"
			"value with its ranks, checksum and statistics. Lazy tensors are left out. One core\n"
			"is open at a time: memory grows with the names, not with the values.\n"
			"Example: ranks rank*.core --names 'layers.*'\n"
			"prints, where rank 2 has other inputs than the rest:\n"
			"  layers.0.out differs:\n"
			"    rank 0-1, 3: float32 (24,), checksum 6d55125aa36e4781, mean 11.5, ...\n"
			"    rank 2: float32 (24,), checksum aaf91ceebdb42fed, mean 12.5, ...",
		.needs = LBX_NEEDS_CORES,
		.options = {
			{ "names", "GLOB", "only tensors of these names" },
			{ "replay", NULL, "compute lazy tensors outside the program" },
			{ "limit", "N", "show N that differ at most (default 10, JSON all)" },
		},
		.run = lbx_run_ranks,
	},
	{
		.name = "compiled",
		.arguments = "[GLOB]",
		.summary = "show the compiled functions, and why each was traced last",
		.help = "Calls, and those of them that a graph captured before served (hits); how often\n"
			"the function was traced, the graphs held of at most how many, the tensors as\n"
			"traced and as a call makes them. GLOB selects by name.\n"
			"Example: compiled 'block*'",
		.max_args = 1,
		.needs = LBX_NEEDS_RUNTIME,
		.run = lbx_run_compiled,
	},
	{
		.name = "symbols",
		.arguments = "[GLOB]",
		.summary = "make named tensors ordinary variables of gdb, with array types",
		.help = "gdb's own commands know them then: print latents[0][3]@4, ptype, display, watch,\n"
			"completion, an IDE's variables; pointers into them show <tensor latents+64>.\n"
			"A lazy tensor is <optimized out> until the program has computed it. Views whose\n"
			"elements lie apart are copies, as of now. blk.0.w is 'blk.0.w' and blk_0_w; of\n"
			"several tensors with one name the newest has it, the others are NAME_ID. Where the\n"
			"program has a variable of that name, tensor::NAME is the tensor.\n"
			"Run it again to see newer tensors; displays then have new numbers.\n"
			"Example: symbols 'layers.*' --auto on\n"
			"A gdb without this plugin takes the file of `lazybones core CORE symbols --out FILE`\n"
			"with add-symbol-file FILE.",
		.max_args = 1,
		.options = {
			{ "peek", NULL, "give lazy tensors their values, computed outside the program" },
			{ "limit", "BYTES", "copy values of up to this many bytes (default 65536)" },
			{ "auto", "on|off", "do it again at each stop, or no longer (in gdb)" },
			{ "remove", NULL, "take the variables away (in gdb)" },
			{ "out", "FILE", "write them to a file, an object for add-symbol-file" },
		},
		.run = lbx_run_symbols,
	},
	{
		.name = "status",
		.arguments = "",
		.summary = "show what was found: runtime, version, counts, memory",
		.help = "Works at any time; without a program it says so.",
		.needs = LBX_NEEDS_KIND | LBX_NEEDS_CATCHES,
		.run = lbx_run_status,
	},
	{
		.name = "set",
		.arguments = "[NAME [VALUE]]",
		.summary = "show or change how values are printed and replayed",
		.help = "Without a value it shows the setting, without a name all of them: edge-items,\n"
			"threshold, precision, replay-memory (bytes), replay-seconds.\n"
			"Example: set precision 3",
		.max_args = 2,
		.run = lbx_run_set,
	},
	{ .name = NULL },
};
