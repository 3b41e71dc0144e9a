#include "cli/manual.h"

#include <string.h>

#include "base/error.h"
#include "cli/forms.h"
#include "cli/verbs.h"
#include "lazybones.h"

const struct lbx_command lbx_cli_program = {
	.name = "",
	.arguments = "",
	.options = {
		{ "json", NULL, "write JSON instead of text" },
		{ "exe", "FILE", "the program, when it is not where the core says; not used if it is another" },
		{ "force", NULL, "use names from --exe even if it is another program: they may be wrong" },
		{ "sysroot", "DIR", "a directory that holds the program's files under their paths" },
		{ "unpack", "BYTES", "the largest size a compressed core may unpack to (default 64 GiB; in TMPDIR or /var/tmp)" },
		{ "stop", NULL, "hold the process still meanwhile, for a consistent picture" },
		{ "thread", "TID", "variables are those of this thread (default: the one that died, or the first)" },
		{ "frame", "N", "and of its frame N alone, as `threads` counts them; `frame` shows that one" },
		{ "memory", "BYTES", "the most memory the reader may use (default 4 GiB)" },
		{ "seconds", "N", "the most processor time it may use (default 600)" },
		{ "help", NULL, "show this, or a command's help" },
		{ "version", NULL, "show the version" },
	},
	.letters = "help",
};

enum { OF_ANY, OF_CORE = 1, OF_PID = 2 };
/* What each of these is for. */
static const int options_of[] = { OF_ANY, OF_CORE, OF_CORE, OF_CORE, OF_CORE, OF_PID,
				  OF_ANY, OF_ANY,  OF_ANY,  OF_ANY,  OF_ANY,  OF_ANY };
enum { OPTIONS = sizeof options_of / sizeof *options_of };

bool lbx_cli_has(const struct lbx_command *command)
{
	return !(command->needs & LBX_NEEDS_LIVE);
}

bool lbx_cli_is_inspection(const struct lbx_command *command)
{
	return command->run && !(command->needs & (LBX_NEEDS_CORES | LBX_NEEDS_NO_PROGRAM));
}

const char *lbx_cli_prefix(const struct lbx_command *command)
{
	return lbx_cli_is_inspection(command) ? "lazybones core CORE " : "lazybones ";
}

/* Long arguments have a line of their own. */
static void print_row(struct lbx_out *out, const struct lbx_command *c)
{
	enum { NAME = 10, ARGUMENTS = 15, SUMMARY = 2 + NAME + 1 + ARGUMENTS + 1 };

	lbx_wrap(out, 0, SUMMARY);
	lbx_printf(out, "  %-*s %-*s", NAME, c->name, ARGUMENTS, c->arguments);
	if (strlen(c->arguments) > ARGUMENTS) {
		lbx_printf(out, "\n");
		lbx_wrap(out, 0, SUMMARY);
		lbx_printf(out, "%*s", SUMMARY - 1, "");
	}
	lbx_printf(out, " %s\n", c->summary);
}

static void print_option(struct lbx_out *out, int of, const struct lbx_option *o)
{
	int n = (int)strlen(o->name) + (o->value ? (int)strlen(o->value) + 1 : 0);

	lbx_wrap(out, 0, 19);
	lbx_printf(out, "  --%s%s%s%*s %s%s\n", o->name, o->value ? " " : "", o->value ? o->value : "",
		   n < 14 ? 14 - n : 0, "",
		   of == OF_CORE  ? "core: "
		   : of == OF_PID ? "pid: "
				  : "",
		   o->help);
}

void lbx_usage(struct lbx_out *out)
{
	enum { WHAT = 52 };

	for (int i = 0; i < LBX_FORMS; i++) {
		int n = (int)strlen(lbx_form_name(&lbx_forms[i]));
		lbx_wrap(out, 0, WHAT);
		lbx_printf(out, "%s lazybones %s %-*s %s\n", i ? "      " : "Usage:", lbx_form_name(&lbx_forms[i]),
			   33 - n, lbx_forms[i].arguments, lbx_forms[i].summary);
	}
	lbx_wrap(out, 0, 4);
	lbx_printf(out, "See the lazy tensors of a running program, or of a dead one's core file.\n"
			"\nCommands:\n");
	for (const struct lbx_command *const *c = lbx_commands; *c; c++)
		if (lbx_cli_has(*c))
			print_row(out, *c);
	lbx_printf(out, "\nOptions:\n");
	for (int i = 0; i < OPTIONS; i++)
		print_option(out, options_of[i], &lbx_cli_program.options[i]);
}

/* ---- manual pages ---- */

static const char page_prefix[] = "lazybones-";

/* One character beyond ASCII, as man wants it; *at is left behind it. */
static void roff_character(struct lbx_out *out, const char **at)
{
	unsigned char first = (unsigned char)*(*at)++;
	unsigned code = first & (first < 0xe0 ? 0x1f : first < 0xf0 ? 0x0f : 0x07);

	for (; ((unsigned char)**at & 0xc0) == 0x80; (*at)++)
		code = code << 6 | ((unsigned char)**at & 0x3f);
	lbx_printf(out, "\\[u%04X]", code);
}

/* Text of man: a backslash, and a dot or a quote that begins a line, mean something there. */
static void roff(struct lbx_out *out, const char *text)
{
	bool start = true;

	while (*text) {
		if (start && (*text == '.' || *text == '\''))
			lbx_printf(out, "\\&");
		start = *text == '\n';
		if ((unsigned char)*text >= 0x80) {
			roff_character(out, &text);
			continue;
		}
		if (*text == '\\')
			lbx_printf(out, "\\e");
		else if (*text == '-')
			lbx_printf(out, "\\-");
		else
			out->write(out, text, 1);
		text++;
	}
}

struct gathered {
	char text[8192];
	size_t n;
};

static void gather(struct lbx_out *out, const char *text, size_t n)
{
	struct gathered *all = out->context;

	n = n < sizeof all->text - 1 - all->n ? n : sizeof all->text - 1 - all->n;
	memcpy(all->text + all->n, text, n);
	all->n += n;
	all->text[all->n] = '\0';
}

static void roff_option(struct lbx_out *out, const struct lbx_option *o)
{
	lbx_printf(out, ".TP\n\\fB\\-\\-%s\\fR", o->name);
	if (o->value)
		lbx_printf(out, " \\fI%s\\fR", o->value);
	lbx_printf(out, "\n");
	roff(out, o->help);
	lbx_printf(out, "\n");
}

/* The help, its lines as they are. */
static void roff_help(struct lbx_out *out, const struct lbx_command *c)
{
	static struct gathered help;
	struct lbx_out text = { .write = gather, .context = &help };

	help.n = 0;
	help.text[0] = '\0';
	lbx_command_text(&text, c, lbx_cli_prefix(c));
	lbx_printf(out, ".nf\n");
	roff(out, help.text);
	lbx_printf(out, "\n.fi\n");
}

/* "lazybones core CORE print T[slice]" */
static void roff_synopsis(struct lbx_out *out, bool first, const char *command, const char *name, const char *arguments)
{
	lbx_printf(out, "%s.B ", first ? "" : ".br\n");
	roff(out, command);
	roff(out, name);
	lbx_printf(out, "\n");
	if (*arguments) {
		roff(out, arguments);
		lbx_printf(out, "\n");
	}
}

static void roff_title(struct lbx_out *out, const char *name)
{
	lbx_printf(out, ".TH LAZYBONES");
	for (const char *c = name; *c; c++)
		lbx_printf(out, "%s%c", c == name ? "\\-" : "", *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
	lbx_printf(out, " 1 \"\" \"Lazybones %s\" \"User Commands\"\n.SH NAME\nlazybones", LB_VERSION);
	if (*name) {
		lbx_printf(out, "\\-");
		roff(out, name);
	}
	lbx_printf(out, " \\- ");
}

static void roff_options(struct lbx_out *out, int of)
{
	for (int i = 0; i < OPTIONS; i++)
		if (options_of[i] == OF_ANY || options_of[i] & of)
			roff_option(out, &lbx_cli_program.options[i]);
}

static void roff_inspections(struct lbx_out *out)
{
	for (const struct lbx_command *const *row = lbx_commands; *row; row++) {
		const struct lbx_command *c = *row;

		if (!lbx_cli_has(c) || !lbx_cli_is_inspection(c))
			continue;
		lbx_printf(out, ".TP\n.BR lazybones\\-");
		roff(out, c->name);
		lbx_printf(out, " (1)\n");
		roff(out, c->summary);
		lbx_printf(out, "\n");
	}
}

/* core, pid */
static void print_form_page(struct lbx_out *out, const struct lbx_form *form)
{
	roff_title(out, lbx_form_name(form));
	roff(out, form->summary);
	lbx_printf(out, "\n.SH SYNOPSIS\n");
	roff_synopsis(out, true, "lazybones ", lbx_form_name(form), form->arguments);
	lbx_printf(out, ".SH DESCRIPTION\n");
	roff(out, form->help);
	lbx_printf(out, "\n.SH OPTIONS\nThey stand anywhere. An option that the COMMAND has itself is the COMMAND's "
			"when it stands behind it.\n");
	roff_options(out, form->is_core ? OF_CORE : OF_PID);
	lbx_printf(out, ".SH COMMANDS\n");
	roff_inspections(out);
	lbx_printf(out, ".SH SEE ALSO\n.BR lazybones (1)\n");
}

static void print_row_page(struct lbx_out *out, const struct lbx_command *c, const struct lbx_form *form)
{
	const int max = sizeof c->options / sizeof *c->options;
	bool is_inspection = lbx_cli_is_inspection(c);

	roff_title(out, c->name);
	roff(out, c->summary);
	lbx_printf(out, "\n.SH SYNOPSIS\n");
	if (form)
		roff_synopsis(out, true, "lazybones ", lbx_form_name(form), c->run ? form->arguments : c->arguments);
	if (is_inspection) {
		roff_synopsis(out, !form, "lazybones core CORE ", c->name, c->arguments);
		roff_synopsis(out, false, "lazybones pid PID ", c->name, c->arguments);
		if (!(c->needs & LBX_NEEDS_STACKS))
			roff_synopsis(out, false, "(gdb) tensor ", c->name, c->arguments);
	}
	lbx_printf(out, ".SH DESCRIPTION\n");
	roff_help(out, c);
	lbx_printf(out, ".SH OPTIONS\n");
	for (int i = 0; i < max && c->options[i].name; i++)
		roff_option(out, &c->options[i]);
	if (c->run)
		roff_option(out, &lbx_cli_program.options[0]);
	lbx_printf(out, ".SH SEE ALSO\n");
	if (is_inspection)
		lbx_printf(out, ".BR lazybones\\-core (1),\n.BR lazybones\\-pid (1),\n");
	lbx_printf(out, ".BR lazybones (1)\n");
}

static void print_overview(struct lbx_out *out)
{
	roff_title(out, "");
	lbx_printf(out, "see the lazy tensors of a process or a core file\n.SH SYNOPSIS\n");
	for (int i = 0; i < LBX_FORMS; i++)
		roff_synopsis(out, i == 0, "lazybones ", lbx_form_name(&lbx_forms[i]), lbx_forms[i].arguments);
	lbx_printf(out, ".SH DESCRIPTION\n");
	roff(out, "Reads the tensors of a program with ggml, PyTorch or the Lazybones runtime from outside: from a "
		  "running process, which it neither calls nor changes (except that trace and top switch a clock "
		  "on), or from the core file of a dead one. No debugger is needed. A core may be "
		  "damaged, so it is read by a process of its own, with limits of memory and time.\n");
	lbx_printf(out,
		   ".SH OPTIONS\nThey stand anywhere. An option that the command has itself is the command's when it "
		   "stands behind it.\n");
	roff_options(out, OF_CORE | OF_PID);
	lbx_printf(out, ".SH COMMANDS\n");
	for (int i = 0; i < LBX_FORMS; i++) {
		if (lbx_forms[i].is_help)
			continue;
		lbx_printf(out, ".TP\n.BR lazybones\\-");
		roff(out, lbx_form_name(&lbx_forms[i]));
		lbx_printf(out, " (1)\n");
		roff(out, lbx_forms[i].summary);
		lbx_printf(out, "\n");
	}
	lbx_printf(out,
		   ".SH INSPECTIONS\nOf a core or a process: \\fBlazybones core \\fICORE \\fBprint\\fR and so on. Each "
		   "takes \\fB\\-\\-json\\fR and \\fB\\-\\-help\\fR.\n");
	roff_inspections(out);
	lbx_printf(out,
		   ".SH EXIT STATUS\n"
		   ".TP\n%d\nthe command is done\n"
		   ".TP\n%d\nit failed; a message on standard error says why\n"
		   ".TP\n%d\nthe command line is wrong, whatever the program holds: a word, an option or its value "
		   "is not understood, or one is missing\n"
		   ".TP\n%d\n\\fBdoctor\\fR has found something that is more than of low severity\n"
		   ".PP\n\\fBtrace\\fR ends with the status of the program that it has started.\n",
		   LBX_EXIT_DONE, LBX_EXIT_FAILED, LBX_EXIT_MISUSED, LBX_EXIT_FOUND);
	lbx_printf(
	    out,
	    ".SH ENVIRONMENT\n.TP\n\\fBLAZYBONES_REPLAY\\fR\n"
	    "where the program lazybones\\-replay is, which \\fBpeek\\fR runs\n"
	    ".TP\n\\fBCOLUMNS\\fR\nwidth of the output; without it, a terminal's own, and lines stay whole in files and pipes\n"
	    ".TP\n\\fBNO_COLOR\\fR\nno colours, also on a terminal\n"
	    ".SH SEE ALSO\n.BR gdb (1),\n.BR core (5)\n");
}

void lbx_manual_pages(struct lbx_out *out)
{
	lbx_printf(out, "lazybones\n");
	for (int i = 0; i < LBX_FORMS; i++)
		if (!lbx_forms[i].is_help)
			lbx_printf(out, "%s%s\n", page_prefix, lbx_form_name(&lbx_forms[i]));
	for (const struct lbx_command *const *c = lbx_commands; *c; c++)
		if (lbx_cli_has(*c) && !lbx_form_find((*c)->name))
			lbx_printf(out, "%s%s\n", page_prefix, (*c)->name);
}

bool lbx_manual(struct lbx_out *out, const char *page)
{
	const size_t n = sizeof page_prefix - 1;

	if (strcmp(page, "lazybones") == 0) {
		print_overview(out);
		return true;
	}
	const char *name = strncmp(page, page_prefix, n) == 0 ? page + n : "";
	const struct lbx_form *form = lbx_form_find(name);
	const struct lbx_command *row = form && form->verb ? &form->verb->row : NULL;
	if (!row)
		row = lbx_command_find(lbx_commands, name);
	if (row && lbx_cli_has(row))
		print_row_page(out, row, form);
	else if (form && form->help)
		print_form_page(out, form);
	else
		return lb_fail("there is no page '%s': lazybones --manual lists them", page);
	return true;
}
