#include "inspect/args.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/command.h"
#include "inspect/tensor/name.h"

/* --json is in no row of an inspection; its value lives in the last place. */
enum {
	JSON_OPTION = LBX_ARGS_MAX - 1,
	OPTIONS_MAX = sizeof((struct lbx_command *)0)->options / sizeof(struct lbx_option)
};

/* Of whose options an error speaks: a row that has none itself stands among those of another. */
static const struct lbx_command *speaker(const struct lbx_args *args)
{
	while (args->outer && !args->command->run && !args->command->options[0].name)
		args = args->outer;
	return args->command;
}

/* "print: "; the row of what stands before a command has no name. */
static const char *colon(const struct lbx_command *command)
{
	return *command->name ? ": " : "";
}

/* One whose arguments are its own, and not files. */
static bool is_inspection(const struct lbx_command *command)
{
	return command->run && !(command->needs & LBX_NEEDS_CORES);
}

/* ---- options ---- */

/* Options that were called otherwise: the old word does as before, and no help tells of it. */
static const struct {
	const char *command, *old, *name;
} renamed[] = {
	{ "symbols", "limit", "bytes" },
};

static int option_index(const struct lbx_command *command, const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
		if (strcmp(renamed[i].command, command->name) == 0 && strlen(renamed[i].old) == n &&
		    memcmp(renamed[i].old, name, n) == 0)
			return option_index(command, renamed[i].name, strlen(renamed[i].name));
	for (int i = 0; i < OPTIONS_MAX && command->options[i].name; i++)
		if (strlen(command->options[i].name) == n && memcmp(command->options[i].name, name, n) == 0)
			return i;
	return command->run && n == 4 && memcmp(name, "json", 4) == 0 ? JSON_OPTION : -1;
}

/* By its letter: those of command->letters have one, the first of their name. */
static int letter_index(const struct lbx_command *command, char letter)
{
	for (const char *name = command->letters; name && *name; name += strspn(name, " ")) {
		size_t n = strcspn(name, " ");

		if (*name == letter)
			return option_index(command, name, n);
		name += n;
	}
	return -1;
}

/* A word that is an option: whose it is, and which; -1: nobody's. */
struct named {
	struct lbx_args *args;
	int i;
	int n;             /* bytes of it that are the name, with its dashes */
	const char *value; /* that stands in the word; or NULL */
};

static bool find_option(struct lbx_args *args, const char *word, struct named *ret)
{
	bool is_long = word[1] == '-';

	ret->n = is_long ? (int)strcspn(word, "=") : 2;
	ret->value = is_long && word[ret->n] ? word + ret->n + 1 : !is_long && word[2] ? word + 2 : NULL;
	for (ret->args = args; ret->args; ret->args = ret->args->outer) {
		const struct lbx_command *command = ret->args->command;

		ret->i = is_long ? option_index(command, word + 2, (size_t)ret->n - 2) : letter_index(command, word[1]);
		if (ret->i >= 0)
			return true;
	}
	return false;
}

/* What begins with one dash may be an inspection's argument, such as a number; elsewhere it is an option,
 * known or not. */
static bool is_option(struct lbx_args *args, const char *word)
{
	struct named option;

	if (args->ended || word[0] != '-' || !word[1])
		return false;
	return word[1] == '-' || !is_inspection(args->command) || find_option(args, word, &option);
}

enum { KNOWN = 512 };

/* The options as a sentence has them: --a, --b and --json. */
static const char *known_options(const struct lbx_command *command, char ret[KNOWN])
{
	size_t used = 0;

	ret[0] = '\0';
	for (int i = 0; i < OPTIONS_MAX && command->options[i].name; i++, used = strlen(ret)) {
		bool last = !command->run && (i + 1 == OPTIONS_MAX || !command->options[i + 1].name);
		snprintf(ret + used, KNOWN - used, "%s--%s",
			 !used  ? ""
			 : last ? " and "
				: ", ",
			 command->options[i].name);
	}
	if (command->run)
		snprintf(ret + used, KNOWN - used, "%s--json", used ? " and " : "");
	return ret;
}

static bool fail_option(const struct lbx_args *args, const char *word, int n)
{
	const struct lbx_command *command = speaker(args);
	char known[KNOWN];

	known_options(command, known);
	if (!*command->name)
		return lbx_misuse("there is no option '%.*s' before a command; there are %s", n, word, known);
	if (!command->run)
		return lbx_misuse("%s: there is no option '%.*s'; it has %s", command->name, n, word, known);
	return lbx_misuse("%s has no option '%.*s'; it has %s", command->name, n, word, known);
}

/* ---- words ---- */

/* What an argument may be. The quotes of a tensor stay: its name may need them. */
enum kind { PLAIN, TENSOR, TENSOR_OR_FILE };

/* Room for n bytes more and a NUL, or an error. */
static char *room_for(struct lbx_args *args, size_t n)
{
	if (args->used + n + 1 < sizeof args->text)
		return args->text + args->used;
	lb_fail("%s: the line is longer than %d bytes", args->command->name, LBX_LINE_MAX - 2);
	return NULL;
}

static char *put_typed(struct lbx_args *args, const char *raw, enum kind kind)
{
	const char *home = kind != TENSOR && strncmp(raw, "~/", 2) == 0 ? getenv("HOME") : NULL;
	size_t n = home ? strlen(home) : 0;
	char *to = room_for(args, n + strlen(raw));

	if (!to)
		return NULL;
	if (home)
		memcpy(to, home, n);
	raw += home != NULL;
	if (kind != PLAIN && *raw != '-')
		strcpy(to + n, raw), lbx_word_unescape(to + n);
	else if (!lbx_word_unquote(raw, to + n))
		return NULL;
	return to;
}

/* A slice may be several of a shell's words. */
static char *put_given(struct lbx_args *args, struct lbx_argv *words, const char *raw)
{
	char *to = room_for(args, strlen(raw));

	if (!to)
		return NULL;
	strcpy(to, raw);
	while (is_inspection(args->command) && lbx_word_is_open(to) && *words->at &&
	       strncmp(*words->at, "--", 2) != 0) {
		if (!room_for(args, strlen(to) + 1 + strlen(*words->at)))
			return NULL;
		strcat(to, " ");
		strcat(to, *words->at++);
	}
	return to;
}

/* Takes the next word, as it is meant; NULL with an error. */
static char *put_word(struct lbx_args *args, struct lbx_argv *words, enum kind kind)
{
	const char *raw = *words->at++;
	char *word = words->typed ? put_typed(args, raw, kind) : put_given(args, words, raw);

	if (word)
		args->used += strlen(word) + 1;
	return word;
}

static bool take_option(struct lbx_args *args, struct lbx_argv *words, const char *word)
{
	const struct lbx_command *command = speaker(args);
	struct named found;

	if (!find_option(args, word, &found))
		return fail_option(args, word, found.n);
	const char *takes = found.i == JSON_OPTION ? NULL : found.args->command->options[found.i].value;
	const char **option = &found.args->options[found.i];
	if (!takes)
		*option = ""; /* also where the line is wrong: --json says how that is told */
	if (!takes && found.value)
		return lbx_misuse("%s%s%.*s takes no value", command->name, colon(command), found.n, word);
	if (takes && !found.value && !*words->at)
		return lbx_misuse("%s%s%.*s needs a value: %s", command->name, colon(command), found.n, word, takes);
	if (takes)
		*option = found.value ? found.value : put_word(args, words, PLAIN);
	return *option != NULL;
}

/* ---- arguments ---- */

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
	bool done = !is_glob(command->arguments) || check_glob(args, args->v[0]);

	for (int i = 0; i < OPTIONS_MAX && command->options[i].name && done; i++)
		done = !command->options[i].value || !is_glob(command->options[i].value) ||
		       check_glob(args, args->options[i]);
	return done;
}

/* A word where no argument stands. */
static bool fail_word(const struct lbx_command *command, const char *word)
{
	char known[KNOWN];

	for (int i = 0; i < command->max_args && *word == '['; i++)
		if (kind_of(command, i) != PLAIN)
			return lbx_misuse(
			    "%s: '%s' stands by itself: write a slice right behind its tensor, as x%s, and a "
			    "name with blanks in quotes",
			    command->name, word, word);
	if (command->max_args > 0)
		return lbx_misuse("%s: unexpected argument '%s'; expected %s %s", command->name, word, command->name,
				  command->arguments);
	return lbx_misuse("%s: unexpected argument '%s'; expected only options: %s", command->name, word,
			  known_options(command, known));
}

void lbx_args_begin(const struct lbx_command *command, struct lbx_args *outer, struct lbx_args *ret)
{
	ret->command = command;
	ret->outer = outer;
	ret->n = 0;
	memset(ret->v, 0, sizeof ret->v);
	memset(ret->options, 0, sizeof ret->options);
	ret->left = NULL;
	ret->ended = false;
	ret->used = 0;
}

bool lbx_args_take(struct lbx_args *args, struct lbx_argv *words)
{
	const struct lbx_command *command = args->command;

	args->left = NULL;
	while (*words->at) {
		const char **at = words->at;
		size_t used = args->used;
		if (!args->ended && strcmp(*at, "--") == 0) {
			args->ended = true;
			args->used++; /* so that what follows is no part of a tensor before */
			words->at++;
			continue;
		}
		char *word = put_word(args, words, kind_of(command, args->n < command->max_args ? args->n : 0));
		if (!word)
			return false;
		if (is_option(args, word)) {
			if (!take_option(args, words, word))
				return false;
		} else if (args->n < command->max_args) {
			args->v[args->n++] = word;
		} else if (!add_to_tensor(args, word)) {
			args->left = word;
			args->used = used;
			words->at = at;
			break;
		}
	}
	return true;
}

bool lbx_args_check(const struct lbx_args *args)
{
	const struct lbx_command *command = args->command;

	if (args->left)
		return fail_word(command, args->left);
	if (args->n < command->min_args)
		return lbx_misuse("%s needs %s: %s", command->name,
				  command->min_args == 1 ? "an argument" : "more arguments", command->arguments);
	return check_globs(args);
}

static bool parse(const struct lbx_command *command, struct lbx_argv words, struct lbx_args *ret)
{
	lbx_args_begin(command, NULL, ret);
	return lbx_args_take(ret, &words) && lbx_args_check(ret);
}

bool lbx_args_parse(const struct lbx_command *command, const char **words, struct lbx_args *ret)
{
	return parse(command, (struct lbx_argv){ words, false }, ret);
}

bool lbx_args_parse_line(const struct lbx_command *command, const char *line, struct lbx_args *ret)
{
	struct lbx_split split;

	lbx_args_begin(command, NULL, ret);
	if (!lbx_words_split(line, &split))
		return lb_fail("%s: the line is longer than %d bytes", command->name, LBX_LINE_MAX - 2);
	return parse(command, (struct lbx_argv){ split.v, true }, ret);
}

/* ---- what was given ---- */

const char *lbx_args_option(const struct lbx_args *args, const char *name)
{
	int i = option_index(args->command, name, strlen(name));
	return i < 0 ? NULL : args->options[i];
}

bool lbx_args_name_a_file(const struct lbx_args *args)
{
	const struct lbx_command *command = args->command;
	const int max = sizeof command->options / sizeof *command->options;
	bool named = strstr(command->arguments, "FILE") != NULL;

	for (int i = 0; i < max && command->options[i].name && !named; i++)
		named = args->options[i] && command->options[i].value && strcmp(command->options[i].value, "FILE") == 0;
	return named;
}

bool lbx_args_whole(const struct lbx_args *args, const char *what, const char *text, int64_t min, int64_t max,
		    int64_t *ret)
{
	const struct lbx_command *command = args->command;
	char *end;

	errno = 0;
	long long value = strtoll(text, &end, 0);
	if (end == text || *end)
		return lbx_misuse("%s%s%s takes a whole number, not '%s'", command->name, colon(command), what, text);
	if (errno == ERANGE || value < min || value > max)
		return lbx_misuse("%s%s%s must be from %lld to %lld, not %s", command->name, colon(command), what,
				  (long long)min, (long long)max, text);
	*ret = value;
	return true;
}

bool lbx_args_int(const struct lbx_args *args, const char *name, int64_t min, int64_t max, int64_t *ret)
{
	const char *text = lbx_args_option(args, name);
	char what[64];

	snprintf(what, sizeof what, "--%s", name);
	return !text || lbx_args_whole(args, what, text, min, max, ret);
}

bool lbx_args_limit(const struct lbx_args *args, int64_t *ret)
{
	if (!lbx_args_int(args, "limit", 0, INT64_MAX, ret))
		return false;
	*ret = *ret ? *ret : INT64_MAX;
	return true;
}

bool lbx_bytes_parse(const char *text, uint64_t *ret)
{
	static const char units[] = "KMGT";
	char *end;
	double value = strtod(text, &end);
	const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;

	if (unit) {
		value = ldexp(value, 10 * (int)(unit - units + 1));
		end++;
		end += strcmp(end, "iB") == 0 ? 2 : strcmp(end, "B") == 0;
	}
	if (end == text || *end || !(value >= 0) || value >= 0x1p62)
		return lb_fail("'%s' is not a number of bytes, such as 2G, 512M or 65536", text);
	*ret = (uint64_t)value;
	return true;
}

bool lbx_args_bytes(const struct lbx_args *args, const char *name, int64_t min, int64_t max, int64_t *ret)
{
	const char *text = lbx_args_option(args, name);
	uint64_t value;

	if (!text)
		return true;
	bool is_plain = !text[strspn(text, "-0123456789")];
	if (is_plain)
		return lbx_args_int(args, name, min, max, ret);
	if (!lbx_bytes_parse(text, &value) || (int64_t)value < min || (int64_t)value > max) {
		lb_clear_error();
		return lbx_misuse("--%s must be from %lld to %lld bytes, such as 65536 or 2G, not %s", name,
				  (long long)min, (long long)max, text);
	}
	*ret = (int64_t)value;
	return true;
}

bool lbx_args_real(const struct lbx_args *args, const char *name, double min, double *ret)
{
	const char *text = lbx_args_option(args, name);
	char *end;

	if (!text)
		return true;
	*ret = strtod(text, &end);
	return (end != text && !*end && *ret >= min) ||
	       lbx_misuse("%s: --%s takes a number from %g on, not '%s'", args->command->name, name, min, text);
}
