#include "inspect/command.h"
#include "inspect/report/report.h"

#include <stdio.h>

#include "base/error.h"
#include "inspect/file.h"

enum { DEFAULT_SECONDS = 20 };

static void write_file(struct lbx_out *out, const char *text, size_t n)
{
	fwrite(text, 1, n, out->context);
}

static bool write_page(struct lbx_context *context, const struct lbx_report *report, const char *path)
{
	struct lbx_file file;

	if (!lbx_file_begin(&file, path))
		return false;
	struct lbx_out page = { .width = 100, .context = file.stream, .write = write_file };
	return lbx_file_end(&file, lbx_report_page(context, report, &page));
}

static bool run_report(struct lbx_context *context, const struct lbx_args *args)
{
	const char *output = lbx_args_option(args, "output");
	struct lbx_report report;
	int64_t seconds = DEFAULT_SECONDS;

	if (output && !*output)
		return lbx_misuse("report: --output needs a file's name");
	if (!lbx_args_int(args, "seconds", 1, 1 << 20, &seconds))
		return false;
	bool done = lbx_report_collect(context, (double)seconds, &report);
	if (done && output && (done = write_page(context, &report, output))) {
		lbx_begin(context->out, NULL);
		LBX_KEY(context->out, "file", lbx_json_string(output));
		lbx_end(context->out);
	}
	if (done && !output)
		lbx_report_tell(context, &report);
	lbx_report_deinit(&report);
	return done && lb_ok();
}

const struct lbx_command lbx_command_report = {
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
	.letters = "output",
	.run = run_report,
};
