#include "inspect/command.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/tensor/name.h"
#include "target/printable.h"

/* --json is no row of any command; its value lives in the last place. */
enum { JSON_OPTION = LBX_ARGS_MAX - 1 };

static bool misused;

/* The first error is the one that is kept. */
void lbx_note_misuse(void)
{
	if (lb_ok())
		misused = true;
}

bool lbx_is_misuse(void)
{
	return misused && !lb_ok();
}

const struct lbx_command *lbx_command_find(const struct lbx_command *const *table, const char *name)
{
	for (; *table; table++)
		if (strcmp((*table)->name, name) == 0)
			return *table;
	return NULL;
}

static int option_index(const struct lbx_command *command, const char *name, size_t n)
{
	const int max = sizeof command->options / sizeof *command->options;

	if (n == 4 && memcmp(name, "json", 4) == 0)
		return JSON_OPTION;
	for (int i = 0; i < max && command->options[i].name; i++)
		if (strlen(command->options[i].name) == n &&
		    memcmp(command->options[i].name, name, n) == 0)
			return i;
	return -1;
}

const char *lbx_args_option(const struct lbx_args *args, const char *name)
{
	int i = option_index(args->command, name, strlen(name));
	return i < 0 ? NULL : args->options[i];
}

bool lbx_args_int(const struct lbx_args *args, const char *name, int64_t min, int64_t max,
		  int64_t *ret)
{
	const char *text = lbx_args_option(args, name);
	char *end;

	if (!text)
		return true;
	errno = 0;
	long long value = strtoll(text, &end, 0);
	if (end == text || *end)
		return lbx_misuse("%s: --%s takes a whole number, not '%s'", args->command->name, name,
			       text);
	if (errno == ERANGE || value < min || value > max)
		return lbx_misuse("%s: --%s must be from %lld to %lld, not %s", args->command->name,
			       name, (long long)min, (long long)max, text);
	*ret = value;
	return true;
}

/* Puts the home directory where a word begins with "~/"; false when the line has no room for it. */
static bool expand_home(struct lbx_args *args, bool is_name, const char **from, char **to)
{
	const char *home = !is_name && strncmp(*from, "~/", 2) == 0 ? getenv("HOME") : NULL;
	size_t n = home ? strlen(home) : 0;

	/* a word takes at most its length and a NUL, for which there is a blank or the end */
	if (n + strlen(*from) + 1 >= (size_t)(args->text + sizeof args->text - *to))
		return lb_fail("%s: the line is longer than %d bytes", args->command->name,
			       LBX_LINE_MAX - 2);
	if (n) {
		memcpy(*to, home, n);
		*to += n;
		++*from;
	}
	return true;
}

/* What an argument may be. The quotes of a tensor stay: its name may need them. */
enum kind { PLAIN, TENSOR, TENSOR_OR_FILE };

/* A word of the line. */
struct word {
	enum kind kind;
	char *text;
	bool quoted; /* a part of it was */
};

/* Copies what is quoted at *from, which moves past it. False when the quote is not closed. */
static bool take_quoted(const char **from, char **to, bool keep)
{
	const char *end = lbx_closing_quote(*from);

	if (!end)
		return false;
	size_t n = (size_t)(end - *from) + 1;
	if (keep) {
		memcpy(*to, *from, n);
		*to += n;
	} else {
		lbx_unquote(*from, *to, n);
		*to += strlen(*to);
	}
	*from = end + 1;
	return true;
}

/* Takes the next word of *from off, to *to on, NUL-terminated. False at the end of the line,
 * or with an error. */
static bool next_word(struct lbx_args *args, const char **from, char **to, struct word *ret)
{
	const char *s = *from;
	char *t = *to;
	int depth = 0;

	while (isspace((unsigned char)*s))
		s++;
	if (!*s)
		return false;
	bool keep = ret->kind != PLAIN && *s != '-';
	ret->text = t;
	ret->quoted = false;
	if (!expand_home(args, ret->kind == TENSOR, &s, &t))
		return false;
	while (*s && (depth > 0 || !isspace((unsigned char)*s))) {
		if (*s == '"' || *s == '\'') {
			if (take_quoted(&s, &t, keep)) {
				ret->quoted = true;
				continue;
			}
			if (!keep)
				return lb_fail("a quote (%c) is not closed", *s);
		} else if (*s == '[' || *s == '(') {
			depth++;
		} else if ((*s == ']' || *s == ')') && depth > 0) {
			depth--;
		}
		*t++ = *s++;
	}
	*t++ = '\0';
	*from = s;
	*to = t;
	return true;
}

enum { KNOWN = 512 };

/* The options as a sentence has them: --a, --b and --json. */
static const char *known_options(const struct lbx_command *command, char ret[KNOWN])
{
	const int max = sizeof command->options / sizeof *command->options;
	size_t used = 0;

	ret[0] = '\0';
	for (int i = 0; i < max && command->options[i].name; i++, used = strlen(ret))
		snprintf(ret + used, KNOWN - used, "%s--%s", used ? ", " : "", command->options[i].name);
	snprintf(ret + used, KNOWN - used, "%s--json", used ? " and " : "");
	return ret;
}

static bool fail_option(const struct lbx_command *command, int n, const char *word)
{
	char known[KNOWN];

	return lbx_misuse("%s has no option '%.*s'; it has "
	       "%s", command->name, n, word, known_options(command, known));
}

bool lbx_args_unknown_option(const struct lbx_command *command, const char *word)
{
	return fail_option(command, (int)strcspn(word, "="), word);
}

/* A word where no argument stands. */
static bool fail_word(const struct lbx_command *command, const char *word)
{
	char known[KNOWN];

	if (command->max_args > 0)
		return lbx_misuse("%s: unexpected argument '%s'; expected %s %s", command->name, word, command->name,
				  command->arguments);
	return lbx_misuse("%s: unexpected argument '%s'; expected only options: %s", command->name, word,
			  known_options(command, known));
}

static bool take_option(struct lbx_args *ret, char *word, const char **line, char **to)
{
	const struct lbx_command *command = ret->command;
	char *value = strchr(word + 2, '=');
	size_t n = value ? (size_t)(value - word - 2) : strlen(word + 2);
	int i = option_index(command, word + 2, n);
	struct word next = { .text = NULL };

	if (i < 0)
		return fail_option(command, (int)n + 2, word);
	bool takes = i != JSON_OPTION && command->options[i].value;
	if (!takes)
		ret->options[i] = ""; /* also where the line is wrong: --json says how that is told */
	if (value && !takes)
		return lbx_misuse("%s: %.*s takes no value", command->name, (int)n + 2, word);
	if (value)
		value++;
	else if (takes && !next_word(ret, line, to, &next))
		return lbx_misuse("%s: %s needs a value: %s", command->name, word,
			       command->options[i].value);
	if (takes)
		ret->options[i] = value ? value : next.text;
	return true;
}

/* The i-th argument is: in "EVENT [T|NAME|LIMIT]" the second may be a tensor. */
static enum kind kind_of(const struct lbx_command *command, int i)
{
	const char *at = command->arguments;

	for (; i > 0 && *at; i--) {
		at += strcspn(at, " ");
		at += *at == ' ';
	}
	at += *at == '[';
	if (*at == 'T' && !isalpha((unsigned char)at[1]))
		return TENSOR;
	return strncmp(at, "OTHER", 5) == 0 ? TENSOR_OR_FILE : PLAIN;
}

/* One more word, where only a tensor is wanted: a blank of its name, or before its slice. */
static bool add_to_tensor(struct lbx_args *args, char *word)
{
	if (args->command->max_args != 1 || kind_of(args->command, 0) != TENSOR ||
	    args->v[0] + strlen(args->v[0]) + 1 != word)
		return false;
	word[-1] = ' ';
	return true;
}

static bool is_glob(const char *synopsis)
{
	synopsis += *synopsis == '[';
	return strncmp(synopsis, "GLOB", 4) == 0;
}

static bool check_glob(const struct lbx_args *args, const char *glob)
{
	return !glob || !lbx_glob_is_cut(glob) ||
	       lbx_misuse("%s: '%s' is not a pattern: it ends with a backslash", args->command->name, glob);
}

static bool check_globs(const struct lbx_args *args)
{
	const struct lbx_command *command = args->command;
	const int max = sizeof command->options / sizeof *command->options;
	bool done = !is_glob(command->arguments) || check_glob(args, args->v[0]);

	for (int i = 0; i < max && command->options[i].name && done; i++)
		done = !command->options[i].value || !is_glob(command->options[i].value) ||
		       check_glob(args, args->options[i]);
	return done;
}

bool lbx_args_parse(const struct lbx_command *command, const char *line, struct lbx_args *ret)
{
	struct word word = { .text = NULL };
	char *to = ret->text;
	bool options = true;

	ret->command = command;
	ret->n = 0;
	memset(ret->v, 0, sizeof ret->v);
	memset(ret->options, 0, sizeof ret->options);
	for (;;) {
		word.kind = kind_of(command, ret->n < command->max_args ? ret->n : 0);
		if (!next_word(ret, &line, &to, &word))
			break;
		if (options && !word.quoted && strcmp(word.text, "--") == 0) {
			options = false;
			continue;
		}
		if (options && word.text[0] == '-' && word.text[1] == '-') {
			if (!take_option(ret, word.text, &line, &to))
				return false;
			continue;
		}
		if (ret->n < command->max_args)
			ret->v[ret->n++] = word.text;
		else if (!add_to_tensor(ret, word.text))
			return fail_word(command, word.text);
	}
	if (!lb_ok())
		return false;
	if (ret->n < command->min_args)
		return lbx_misuse("%s needs %s: %s", command->name,
			       command->min_args == 1 ? "an argument" : "more arguments",
			       command->arguments);
	return check_globs(ret);
}

bool lbx_command_open(struct lbx_context *context, const struct lbx_command *command)
{
	struct lbx_tensors *tensors;
	struct lbx_table *table;

	if ((command->needs & LBX_NEEDS_RUNTIME) && !lbx_context_table(context, &table))
		return false;
	return !(command->needs & (LBX_NEEDS_TENSORS | LBX_NEEDS_RUNTIME)) || lbx_context_tensors(context, &tensors);
}

bool lbx_command_run(struct lbx_context *context, const struct lbx_command *command,
		     const char *line)
{
	struct lbx_args args;

	misused = false;
	if (!lbx_args_parse(command, line, &args))
		return false;
	if (lbx_args_option(&args, "json"))
		context->out->json = true;
	if (!lbx_command_open(context, command))
		return false;
	if ((command->needs & LBX_NEEDS_LIVE) && (!context->target || !context->target->ops->write))
		return lb_fail("%s needs a running program", command->name);
	if ((command->needs & (LBX_NEEDS_STACKS | LBX_NEEDS_FRAMES)) && !context->stacks)
		return lb_fail("%s needs the stacks of a program", command->name);
	if ((command->needs & LBX_NEEDS_CORES) && !context->cores)
		return lbx_misuse("%s needs core files: lazybones %s %s", command->name, command->name,
			       command->arguments);
	return command->run(context, &args);
}

void lbx_tell_notice(struct lbx_out *out, struct lbx_target *target)
{
	char notice[512];

	if (out->json || !target || !lbx_target_notice(target, notice, sizeof notice))
		return;
	lbx_make_printable(notice);
	lbx_wrap(out, 0, 4);
	lbx_styled(out, LBX_WARNING, "%s", notice);
	lbx_printf(out, "\n");
}

void lbx_command_text(struct lbx_out *out, const struct lbx_command *command, const char *prefix)
{
	static const char title[] = "Example: ";
	const char *from = command->help, *at = strstr(from, title);
	size_t n = strlen(command->name);

	for (at = at ? at + sizeof title - 1 : NULL; at; at = strchr(at, ',')) {
		at += strspn(at, ", \n");
		if (strncmp(at, command->name, n) != 0 || !strchr(" ,\n", at[n]))
			continue;
		lbx_printf(out, "%.*s%s", (int)(at - from), from, prefix);
		from = at;
	}
	lbx_printf(out, "%s", from);
}

void lbx_command_help(struct lbx_out *out, const struct lbx_command *command, const char *prefix, const char *example)
{
	const int max = sizeof command->options / sizeof *command->options;

	lbx_printf(out, "%c%s.\n", toupper((unsigned char)command->summary[0]),
		   command->summary + 1);
	lbx_printf(out, "Usage: %s%s%s%s [OPTION]...\n", prefix, command->name,
		   *command->arguments ? " " : "", command->arguments);
	if (command->help && *command->help) {
		lbx_printf(out, "\n");
		lbx_command_text(out, command, example);
		lbx_printf(out, "\n");
	}
	lbx_printf(out, "\nOptions:\n");
	for (int i = 0; i < max && command->options[i].name; i++) {
		const struct lbx_option *o = &command->options[i];
		char left[64];
		snprintf(left, sizeof left, "--%s%s%s", o->name, o->value ? " " : "",
			 o->value ? o->value : "");
		lbx_printf(out, "  %-18s %s\n", left, o->help);
	}
	if (command->run)
		lbx_printf(out, "  %-18s %s\n", "--json", "write JSON instead of text");
}
