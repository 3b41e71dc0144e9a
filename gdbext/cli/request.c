#include "cli/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/manual.h"

/* What the first word may be. */
enum kind { NO_KIND, CORE, PID, REPORT, DIFF, RANKS };

/* The words are taken in order. */
struct parser {
	struct lbx_request *request;
	enum kind kind;
	char **words;
	size_t n_cores;
	bool options_end; /* of `ranks`: "--" was there */
};

/* What only gdb has: to be named. */
static const struct {
	const char *name, *arguments, *used_for;
} of_gdb[] = {
#define COMMAND(name, arguments, used_for) { #name, arguments, used_for },
#include "plugin/commands.def"
#undef COMMAND
};

/* False, saying what gdb's command is for, if it is one. */
static bool is_not_of_gdb(const char *name)
{
	for (size_t i = 0; i < sizeof of_gdb / sizeof *of_gdb; i++)
		if (of_gdb[i].used_for && strcmp(name, of_gdb[i].name) == 0)
			return lb_fail("%s is a command of gdb, for %s: `tensor %s%s%s` there", name, of_gdb[i].used_for,
				       name, *of_gdb[i].arguments ? " " : "", of_gdb[i].arguments);
	return true;
}

const struct lbx_command *lbx_request_command(const char *name)
{
	const struct lbx_command *command = lbx_command_find(lbx_commands, name);

	if (command && lbx_cli_has(command))
		return command;
	if (is_not_of_gdb(name))
		lb_fail("there is no command '%s' (see lazybones --help)", name);
	return NULL;
}

static bool take_pid(const char *text, pid_t *ret)
{
	char *end;

	errno = 0;
	long pid = strtol(text, &end, 10);
	*ret = (pid_t)pid;
	return (end != text && !*end && !errno && pid > 0 && pid <= INT32_MAX) ||
	       lb_fail("'%s' is not a process id: expected a number above 0", text);
}

/* Adds a word to the line that both front ends take apart in one place. */
static bool add_word(char *line, const char *word)
{
	bool quote = !*word || strpbrk(word, " \t\n'\"~");
	size_t used = strlen(line);

	if (used + 2 * strlen(word) + 4 >= LBX_LINE_MAX)
		return lb_fail("the arguments are longer than %d bytes", LBX_LINE_MAX);
	line[used++] = ' ';
	if (quote)
		line[used++] = '"';
	for (const char *c = word; *c; c++) {
		if (quote && (*c == '"' || *c == '\\'))
			line[used++] = '\\';
		line[used++] = *c;
	}
	if (quote)
		line[used++] = '"';
	line[used] = '\0';
	return true;
}

/* An option's value: after '=', or the next word. */
static bool take_value(struct parser *p, const char *option, const char **ret)
{
	const char *equals = strchr(option, '=');

	*ret = equals ? equals + 1 : *p->words ? *p->words++ : NULL;
	return *ret || lb_fail("%s needs a value (see lazybones --help)", option);
}

static bool is_option(const char *word, const char *name)
{
	size_t n = strlen(name);
	return strncmp(word, name, n) == 0 && (word[n] == '\0' || word[n] == '=');
}

static bool take_number(struct parser *p, const char *option, int64_t *ret)
{
	const char *text;
	char *end;

	if (!take_value(p, option, &text))
		return false;
	errno = 0;
	*ret = strtoll(text, &end, 0);
	return (end != text && !*end && !errno && *ret > 0) ||
	       lb_fail("%s takes a number above 0, not '%s'", option, text);
}

/* An option without value. */
struct flag {
	const char *name;
	bool *set;
};

static bool fail_value(const struct lbx_command *command, const char *flag)
{
	return lb_fail("%s%s%s takes no value", command ? command->name : "", command ? ": " : "", flag);
}

/* An option of this program. *ret: whether it is one. */
static bool take_option(struct parser *p, const char *word, bool *ret)
{
	struct lbx_request *r = p->request;
	const struct flag flags[] = { { "--json", &r->json }, { "--help", &r->help }, { "-h", &r->help },
				      { "--stop", &r->stop }, { "--force", &r->core.force } };

	*ret = true;
	for (const struct flag *f = flags; f < flags + sizeof flags / sizeof *flags; f++)
		if (is_option(word, f->name))
			return word[strlen(f->name)] ? fail_value(r->command, f->name) : (*f->set = true);
	if (is_option(word, "--memory"))
		return take_number(p, word, &r->limits.memory);
	if (is_option(word, "--seconds"))
		return take_number(p, word, &r->limits.seconds);
	if (is_option(word, "--unpack"))
		return take_number(p, word, &r->core.unpack);
	if (is_option(word, "--exe"))
		return take_value(p, word, &r->core.exe);
	if (is_option(word, "--sysroot"))
		return take_value(p, word, &r->core.sysroot);
	*ret = false;
	return true;
}

/* An option of the command itself; *ret: whether it is one. */
static bool take_own_option(struct parser *p, const char *word, bool *ret)
{
	struct lbx_request *r = p->request;
	const struct lbx_option *own = NULL;
	const char *name = strcmp(word, "-o") == 0 ? "--output" : word;

	for (const struct lbx_option *o = r->command->options; o->name && !own; o++)
		if (strncmp(name, "--", 2) == 0 && is_option(name + 2, o->name))
			own = o;
	*ret = own;
	if (!own)
		return true;
	bool next = own->value && !strchr(name, '=') && *p->words;
	return add_word(r->line, name) && (!next || add_word(r->line, *p->words++));
}

/* CORE:T becomes the core and the first argument. */
static bool take_pair(struct lbx_request *r, char *word)
{
	char *colon = strrchr(word, ':');

	if (!colon || colon == word || !colon[1])
		return lb_fail("'%s' does not name a tensor of a core: write CORE:T", word);
	*colon = '\0';
	r->what = word;
	r->pair = true;
	return add_word(r->line, colon + 1);
}

static const struct {
	const char *name, *command;
	enum kind kind;
	const char *lacks; /* what is said where nothing follows */
} kinds[] = {
	{ "core", NULL, CORE, "which core? lazybones core CORE [COMMAND] (see lazybones --help)" },
	{ "pid", NULL, PID, "which process? lazybones pid PID COMMAND (see lazybones --help)" },
	{ "report", "report", REPORT, "which core? lazybones report CORE [-o FILE] (see lazybones help report)" },
	{ "diff", "diff", DIFF, "which tensor? lazybones diff CORE:T CORE:T (see lazybones help diff)" },
	{ "ranks", "ranks", RANKS, "" }, /* its row says it */
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bool fail_kind(const char *word)
{
	char first[256] = "";
	size_t used = 0;

	for (int i = 0; i < KINDS; i++)
		used += (size_t)snprintf(first + used, sizeof first - used, "%s, ", kinds[i].name);
	for (const struct lbx_command *const *verb = lbx_verbs; *verb; verb++)
		used += (size_t)snprintf(first + used, sizeof first - used, "%s%s", (*verb)->name,
					 verb[1] ? ", " : "");
	return lb_fail("unknown command '%s': expected %s or help (see lazybones --help)", word, first);
}

static bool take_kind(struct parser *p, const char *word)
{
	const struct lbx_command *command = lbx_command_find(lbx_commands, word);

	for (size_t i = 0; i < KINDS; i++) {
		if (strcmp(word, kinds[i].name) != 0)
			continue;
		p->kind = kinds[i].kind;
		p->request->is_core = p->kind == CORE || p->kind == REPORT || p->kind == DIFF;
		p->request->command = kinds[i].command ? lbx_request_command(kinds[i].command) : NULL;
		return lb_ok();
	}
	if (!is_not_of_gdb(word))
		return false;
	if (command && lbx_cli_has(command))
		return lb_fail("which program? lazybones core CORE %s, or lazybones pid PID %s", word, word);
	return fail_kind(word);
}

static bool take_word(struct parser *p, char *word)
{
	struct lbx_request *r = p->request;

	if (p->kind == NO_KIND)
		return take_kind(p, word);
	if (p->kind == RANKS && strcmp(word, "--") == 0 && !p->options_end)
		return p->options_end = true;
	if (p->kind == RANKS && word[0] == '-' && word[1] && !p->options_end)
		return lbx_args_unknown_option(r->command, word);
	if (p->kind == RANKS) {
		r->cores[p->n_cores++] = word;
		return true;
	}
	if (p->kind == DIFF && !r->what)
		return take_pair(r, word);
	if (!r->what) {
		r->what = word;
		return true;
	}
	if (r->command)
		return add_word(r->line, word);
	r->command = lbx_request_command(word);
	return r->command;
}

static bool take(struct parser *p, char *word)
{
	bool taken = false;

	if (word[0] == '-' && word[1] && strcmp(word, "--") != 0 && !p->options_end) {
		if (p->request->command && !take_own_option(p, word, &taken))
			return false;
		if (!taken && !take_option(p, word, &taken))
			return false;
		if (!taken && !p->request->command)
			return lb_fail("there is no option %s before a command (see lazybones --help)", word);
	}
	return taken || take_word(p, word);
}

static bool fail_lack(enum kind kind)
{
	for (int i = 0; i < KINDS; i++)
		if (kinds[i].kind == kind)
			return lb_fail("%s", kinds[i].lacks);
	return false;
}

static bool complete(struct parser *p)
{
	struct lbx_request *r = p->request;
	struct lbx_args args;

	if (r->help)
		return true;
	if (p->kind == NO_KIND)
		return lb_fail("which command? (see lazybones --help)");
	if (p->kind == RANKS)
		r->what = "the cores";
	if (!r->what)
		return fail_lack(p->kind);
	if (p->kind == PID && !take_pid(r->what, &r->pid))
		return false;
	if (!r->command && p->kind == CORE)
		r->command = lbx_request_command("report");
	if (!r->command)
		return lb_fail("which command? lazybones pid %s COMMAND (see lazybones --help)", r->what);
	if (r->stop && p->kind != PID)
		return lb_fail("--stop applies only to pid; a core is not running");
	if (p->kind == PID && (r->core.exe || r->core.sysroot || r->core.force))
		return lb_fail("%s applies only to a core; what a process runs is known",
			       r->core.exe ? "--exe" : r->core.sysroot ? "--sysroot" : "--force");
	return lbx_args_parse(r->command, r->line, &args);
}

bool lbx_request_parse(char **argv, struct lbx_request *ret)
{
	struct parser p = { .request = ret, .words = argv };
	size_t n = 0;

	while (argv[n])
		n++;
	const char **cores = calloc(n + 1, sizeof *cores);
	if (!cores)
		return lb_fail("out of memory");
	ret->cores = cores;
	bool done = true;
	while (done && *p.words) {
		char *word = *p.words++;
		done = take(&p, word);
	}
	if (p.kind != RANKS) {
		free(cores);
		ret->cores = NULL;
	}
	return done && complete(&p);
}
