#include "plugin/reads/variables.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 32, MAX_POINTERS = 4096, MAX_LOOKED = 16 << 20 };

struct parser {
	const char *at;
	lbx_pointer_fn *fn;
	void *context;
	struct lbx_pointer pointer; /* its expression is the path of the value that is read */
	size_t n;     /* of it */
	const char *derived;        /* the struct whose base is read; or NULL */
	ptrdiff_t looked;           /* bytes, for namesakes */
	int depth, pointers;
	bool stopped;
	bool is_cut;                /* the path is too long to be said */
};

static void read_value(struct parser *p);

/* Adds to the path. */
static void lengthen(struct parser *p, const char *dot, int n, const char *text)
{
	size_t room = sizeof p->pointer.expression - p->n;
	int added = snprintf(p->pointer.expression + p->n, room, "%s%.*s", dot, n, text);

	p->is_cut |= added < 0 || (size_t)added >= room;
	if (!p->is_cut)
		p->n += (size_t)added;
}

static void shorten(struct parser *p, size_t n)
{
	p->n = n;
	p->pointer.expression[n] = '\0';
	p->is_cut = false;
}

static void skip_quoted(struct parser *p)
{
	char quote = *p->at++;

	while (*p->at && *p->at != quote)
		p->at += *p->at == '\\' && p->at[1] ? 2 : 1;
	if (*p->at)
		p->at++;
}

/* Past the bracket that closes the one here: `(lb_tensor *)`, `<lb_add+4>`. */
static void skip_bracketed(struct parser *p, char open, char close)
{
	int depth = 0;

	for (; *p->at && *p->at != '\n'; p->at++) {
		depth += *p->at == open;
		depth -= *p->at == close;
		if (depth == 0) {
			p->at++;
			return;
		}
	}
}

/* `name = `, as in a struct; its length, or 0. */
static size_t name_length(const char *at)
{
	size_t n = 0;

	while (isalnum((unsigned char)at[n]) || at[n] == '_' || at[n] == '$')
		n++;
	return n && strncmp(at + n, " = ", 3) == 0 ? n : 0;
}

/* `<Base> = {`: the path to its members is that of the whole; moves to the brace. */
static bool take_base(struct parser *p)
{
	struct parser after = *p;

	if (*p->at != '<')
		return false;
	skip_bracketed(&after, '<', '>');
	if (strncmp(after.at, " = {", 4) != 0)
		return false;
	p->at = after.at + 3;
	return true;
}

/* Past a value, or what is none that is known here: to the comma or the brace behind it. */
static void skip_item(struct parser *p)
{
	int depth = 0;

	while (*p->at && *p->at != '\n' && (depth || !strchr(",}", *p->at))) {
		depth += *p->at == '{';
		depth -= *p->at == '}';
		if (*p->at == '"' || *p->at == '\'')
			skip_quoted(p);
		else if (*p->at == '<')
			skip_bracketed(p, '<', '>');
		else
			p->at++;
	}
}

static void next_item(struct parser *p)
{
	while (*p->at == ' ' || *p->at == ',' || *p->at == '.')
		p->at++;
}

static bool in_braces(const struct parser *p)
{
	return *p->at && *p->at != '}' && *p->at != '\n';
}

/* How many members of that name the struct at the brace has, those of its bases included. */
static int count_members(struct parser *p, const char *name, size_t n, int depth)
{
	int found = 0;

	for (p->at++; in_braces(p); next_item(p)) {
		size_t length = name_length(p->at);
		found += length == n && strncmp(p->at, name, n) == 0;
		if (depth < MAX_DEPTH && !length && (*p->at == '{' || take_base(p)))
			found += count_members(p, name, n, depth + 1);
		else
			skip_item(p);
	}
	if (*p->at == '}')
		p->at++;
	return found;
}

/* A member of a base that has a namesake is another than the one that its name says. */
static bool is_hidden(struct parser *p, const char *name, size_t n)
{
	struct parser whole = { .at = p->derived };
	bool hidden = p->looked > MAX_LOOKED || count_members(&whole, name, n, 0) != 1;

	p->looked += whole.at - p->derived;
	return hidden;
}

static void read_members(struct parser *p, const char *dot);

/* The members of a base, or of a struct or union without a name. */
static void read_nameless(struct parser *p, const char *dot, const char *whole, bool is_base)
{
	const char *derived = p->derived;

	if (is_base && !derived)
		p->derived = whole;
	read_members(p, dot);
	p->derived = derived;
}

static void read_item(struct parser *p, const char *dot, const char *whole)
{
	size_t n = name_length(p->at), before = p->n;
	const char *derived = p->derived;
	char *end;

	if (n && !(derived && is_hidden(p, p->at, n))) {
		lengthen(p, p->n ? dot : "", (int)n, p->at);
		p->at += n + 3;
	} else if (*p->at == '[' && isdigit((unsigned char)p->at[1]) &&
		   (strtoull(p->at + 1, &end, 10), strncmp(end, "] = ", 4) == 0)) {
		lengthen(p, "", (int)(end + 1 - p->at), p->at);
		p->at = end + 4;
	} else if (!n && *p->at == '{' && p->depth < MAX_DEPTH) {
		read_nameless(p, dot, whole, false);
		return;
	} else if (!n && p->depth < MAX_DEPTH && take_base(p)) {
		read_nameless(p, dot, whole, true);
		return;
	} else {
		skip_item(p);
		return;
	}
	p->derived = NULL;
	read_value(p);
	p->derived = derived;
	shorten(p, before);
	skip_item(p);
}

/* With `print array-indexes`, so that an array of structs is none of nameless members. */
static void read_members(struct parser *p, const char *dot)
{
	const char *whole = p->at;

	p->at++;
	p->depth++;
	while (in_braces(p) && !p->stopped) {
		read_item(p, dot, whole);
		next_item(p);
	}
	p->depth--;
	if (*p->at == '}')
		p->at++;
}

static void read_address(struct parser *p)
{
	char *end;

	p->pointer.value = strtoull(p->at, &end, 16);
	p->at = end;
	if (!p->is_cut && (p->pointers++ == MAX_POINTERS || !p->fn(p->context, &p->pointer)))
		p->stopped = true;
	while (*p->at == ' ') {
		if (p->at[1] == '<' && strncmp(p->at + 1, "<repeats ", 9) != 0) {
			p->at++;
			skip_bracketed(p, '<', '>');
		} else if (p->at[1] == '"') {
			p->at++;
			skip_quoted(p);
		} else {
			break;
		}
	}
}

static void read_value(struct parser *p)
{
	while (*p->at == ' ')
		p->at++;
	while (*p->at == '(') { /* a cast */
		skip_bracketed(p, '(', ')');
		while (*p->at == ' ')
			p->at++;
	}
	if (*p->at == '@') { /* a reference: its address, then its value */
		const char *value = p->at + strcspn(p->at, ":\n");
		if (value[0] == ':' && value[1] == ' ')
			p->at = value + 2;
	}
	if (*p->at == '{' && p->depth < MAX_DEPTH)
		read_members(p, ".");
	else if (strncmp(p->at, "0x", 2) == 0)
		read_address(p);
	else
		skip_item(p);
}

static void next_line(struct parser *p)
{
	p->at += strcspn(p->at, "\n");
	if (*p->at)
		p->at++;
}

bool lbx_variables_parse(const char *text, bool is_argument, lbx_pointer_fn *fn, void *context)
{
	struct parser p = { .at = text, .fn = fn, .context = context, .pointer.is_argument = is_argument };

	while (*p.at && !p.stopped) {
		size_t n = name_length(p.at);
		if (n) {
			lengthen(&p, "", (int)n, p.at);
			p.at += n + 3;
			read_value(&p);
			shorten(&p, 0);
		}
		next_line(&p);
	}
	return !p.stopped;
}

bool lbx_variables_parse_pointee(const char *text, const char *name, bool is_argument, lbx_pointer_fn *fn,
				 void *context)
{
	struct parser p = { .at = text, .fn = fn, .context = context, .pointer.is_argument = is_argument };

	while (*p.at == '(' || *p.at == ' ')
		*p.at == '(' ? skip_bracketed(&p, '(', ')') : (void)p.at++;
	if (*p.at != '{')
		return true;
	lengthen(&p, "", (int)strlen(name), name);
	read_members(&p, "->");
	return !p.stopped;
}
