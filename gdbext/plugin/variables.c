#include "plugin/variables.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 16, MAX_POINTERS = 4096 };

struct parser {
	const char *at;
	lbx_pointer_fn *fn;
	void *context;
	struct lbx_pointer pointer; /* its expression is the path of the value that is read */
	size_t n;                   /* of it */
	int depth, pointers;
	bool stopped;
};

static void read_value(struct parser *p);

/* Adds to the path; returns the length to put back. */
static size_t lengthen(struct parser *p, const char *format, int n, const char *text, int64_t index)
{
	size_t before = p->n, room = sizeof p->pointer.expression - before;
	int added = text ? snprintf(p->pointer.expression + before, room, format, n, text)
			 : snprintf(p->pointer.expression + before, room, format, (long long)index);

	p->n = added < 0 || (size_t)added >= room ? sizeof p->pointer.expression - 1
						  : before + (size_t)added;
	return before;
}

static void shorten(struct parser *p, size_t n)
{
	p->n = n;
	p->pointer.expression[n] = '\0';
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

static void read_members(struct parser *p)
{
	int64_t index = 0;

	p->at++;
	p->depth++;
	while (*p->at && *p->at != '}' && *p->at != '\n' && !p->stopped) {
		size_t n = name_length(p->at), before;
		if (n) {
			before = lengthen(p, p->n ? ".%.*s" : "%.*s", (int)n, p->at, 0);
			p->at += n + 3;
		} else {
			before = lengthen(p, "[%lld]", 0, NULL, index++);
		}
		read_value(p);
		shorten(p, before);
		while (*p->at == ' ' || *p->at == ',')
			p->at++;
		if (strncmp(p->at, "<repeats ", 9) == 0) {
			index += strtoll(p->at + 9, NULL, 10) - 1;
			skip_bracketed(p, '<', '>');
		}
		while (*p->at == ' ' || *p->at == ',' || *p->at == '.')
			p->at++;
	}
	p->depth--;
	if (*p->at)
		p->at++;
}

static void read_address(struct parser *p)
{
	char *end;

	p->pointer.value = strtoull(p->at, &end, 16);
	p->at = end;
	if (p->pointers++ == MAX_POINTERS || !p->fn(p->context, &p->pointer))
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

static void skip_word(struct parser *p)
{
	while (*p->at && !strchr(",}\n", *p->at)) {
		if (*p->at == '"' || *p->at == '\'')
			skip_quoted(p);
		else if (*p->at == '<' && strncmp(p->at, "<repeats ", 9) == 0)
			break;
		else if (*p->at == '<')
			skip_bracketed(p, '<', '>');
		else
			p->at++;
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
		read_members(p);
	else if (strncmp(p->at, "0x", 2) == 0)
		read_address(p);
	else
		skip_word(p);
}

static void next_line(struct parser *p)
{
	p->at += strcspn(p->at, "\n");
	if (*p->at)
		p->at++;
}

bool lbx_variables_parse(const char *text, bool is_argument, lbx_pointer_fn *fn, void *context)
{
	struct parser p = { .at = text, .fn = fn, .context = context,
			    .pointer.is_argument = is_argument };

	while (*p.at && !p.stopped) {
		size_t n = name_length(p.at);
		if (n) {
			lengthen(&p, "%.*s", (int)n, p.at, 0);
			p.at += n + 3;
			read_value(&p);
			shorten(&p, 0);
		}
		next_line(&p);
	}
	return !p.stopped;
}

bool lbx_variables_parse_pointee(const char *text, const char *name, bool is_argument,
				 lbx_pointer_fn *fn, void *context)
{
	struct parser p = { .at = text, .fn = fn, .context = context,
			    .pointer.is_argument = is_argument };

	while (*p.at == '(' || *p.at == ' ')
		*p.at == '(' ? skip_bracketed(&p, '(', ')') : (void)p.at++;
	if (*p.at != '{')
		return true;
	/* the members' dots become arrows */
	struct parser members = p;
	members.at++;
	while (*members.at && *members.at != '}' && !members.stopped) {
		size_t n = name_length(members.at);
		if (n == 0)
			break;
		lengthen(&members, "%.*s", (int)strlen(name), name, 0);
		lengthen(&members, "->%.*s", (int)n, members.at, 0);
		members.at += n + 3;
		read_value(&members);
		shorten(&members, 0);
		while (*members.at == ' ' || *members.at == ',' || *members.at == '.')
			members.at++;
	}
	return !members.stopped;
}
