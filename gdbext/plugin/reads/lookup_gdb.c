#include "plugin/reads/lookup_gdb.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "plugin/bridge/bridge.h"

/* "leaf + 7 in section .text of …" */
static void take_function(const char *answer, struct lbx_source_line *ret)
{
	const char *end = strstr(answer, " in section ");
	const char *plus = strstr(answer, " + ");

	if (!end)
		return;
	if (plus && plus < end)
		end = plus;
	snprintf(ret->function, sizeof(ret->function), "%.*s", (int)(end - answer), answer);
}

/* "Line 4 of "p.c" starts at address …" */
static void take_line(const char *answer, struct lbx_source_line *ret)
{
	const char *file, *end;

	if (strncmp(answer, "Line ", 5) != 0)
		return;
	file = strchr(answer, '"');
	end = file ? strchr(file + 1, '"') : NULL;
	if (!end)
		return;
	ret->line = (int)strtol(answer + 5, NULL, 10);
	snprintf(ret->file, sizeof(ret->file), "%.*s", (int)(end - file - 1), file + 1);
}

bool lbx_gdb_source_line(struct lbx_target *target, uint64_t pc, struct lbx_source_line *ret)
{
	const char *symbol, *line;
	bool known;

	(void)target;
	memset(ret, 0, sizeof(*ret));
	known = lbx_bridge_ask(&symbol, LBX_ANYWHERE, "info symbol 0x%" PRIx64, pc);
	known &= lbx_bridge_ask(&line, LBX_ANYWHERE, "info line *0x%" PRIx64, pc);
	if (!known)
		return false;
	take_function(symbol, ret);
	take_line(line, ret);
	return true;
}

/* "int (int, char **)", or what gdb says where it knows no type; a pointer has "(*". */
static bool is_function(const char *type)
{
	size_t n = strlen(type);

	return strncmp(type, "<text ", 6) == 0 || (n && type[n - 1] == ')' && !strstr(type, "(*"));
}

/* gdb gives the bits that the type has; those above are its sign's. Of an object nothing is asked: to compare
 * it may call the program. */
static bool extend(const char *expression, struct lbx_value *value)
{
	const char *type, *negative;
	bool known;

	if (value->bits == 0 || value->bits >> 32 || strchr(value->type, '*') || strcmp(value->type, "function") == 0)
		return true;
	known = lbx_bridge_ask(&type, LBX_IN_FRAME, "with language %s -- ptype %s", lbx_bridge_language(), expression);
	if (!known || (strchr(type, '{') && strncmp(type, "type = enum ", 12) != 0))
		return known;
	if (!lbx_bridge_ask(&negative, LBX_IN_FRAME, "with language %s -- output/d (%s) < 0", lbx_bridge_language(),
			    expression))
		return false;
	if (strcmp(negative, "1") == 0)
		value->bits |= UINT64_MAX << (63 - __builtin_clzll(value->bits));
	return true;
}

/* The value of a function is its place: gdb would print its first byte. */
bool lbx_gdb_evaluate(struct lbx_target *target, const char *expression, struct lbx_value *ret)
{
	const char *type, *value, *reference;
	bool known;
	char *end;

	(void)target;
	known = lbx_bridge_ask(&type, LBX_IN_FRAME, "with language %s -- whatis %s", lbx_bridge_language(), expression);
	known &=
	    lbx_bridge_ask(&value, LBX_IN_FRAME, "with language %s -- output/x %s", lbx_bridge_language(), expression);
	if (!known)
		return false;
	if (strncmp(type, "type = ", 7) != 0)
		return lb_fail("%s", type);
	snprintf(ret->type, sizeof(ret->type), "%s", type + 7);
	if (is_function(ret->type)) {
		snprintf(ret->type, sizeof(ret->type), "function");
		if (!lbx_bridge_ask(&value, LBX_IN_FRAME, "with language %s -- output/x &(%s)", lbx_bridge_language(),
				    expression))
			return false;
	}
	reference = strstr(value, "@0x"); /* C++: `(lb_tensor *&) @0x7ffe…: 0x5555…` */
	if (reference && (*value == '@' || *value == '(') && strstr(reference, ": "))
		value = strstr(reference, ": ") + 2;
	if (strcmp(value, "<optimized out>") == 0)
		return lb_fail("'%s' is optimized out here: another frame may hold the tensor, `tensor list` shows all",
			       expression);
	ret->bits = strtoull(value, &end, 16);
	if (end == value || strncmp(value, "0x", 2) != 0)
		return lb_fail("%s is of type %s, and has no single value: %.80s", expression, ret->type, value);
	return extend(expression, ret);
}

bool lbx_gdb_machine(struct lbx_target *target, unsigned *ret)
{
	const char *text;

	(void)target;
	if (!lbx_bridge_ask(&text, LBX_ANYWHERE, "show architecture"))
		return false;
	if (strstr(text, "x86-64"))
		*ret = EM_X86_64;
	else if (strstr(text, "aarch64"))
		*ret = EM_AARCH64;
	else
		return lb_fail("no symbols for this kind of machine: %s", text);
	return true;
}
