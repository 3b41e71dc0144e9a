#include "plugin/reads/lookup_gdb.h"

#include <ctype.h>
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/providers.h"
#include "plugin/bridge/bridge.h"
#include "plugin/reads/selected.h"
#include "target/effect.h"

#define TYPE_OF "with language %s -- whatis %s"
#define VALUE_OF "with language %s -- %soutput/x %s"

/* Operators may be the program's own, which does not show. Names have none: for these no setting
 * changes, which would be told to who speaks MI. */
static const char *without_calls(const char *expression)
{
	return strpbrk(expression, "+-*/%&|^~!<>=[,") ? "with may-call-functions off -- " : "";
}

/* "int (int, char **)", or what gdb says where it knows no type; a pointer has "(*". */
static bool is_function(const char *type)
{
	size_t n = strlen(type);

	return strncmp(type, "<text ", 6) == 0 || (n && type[n - 1] == ')' && !strstr(type, "(*"));
}

/* The bytes of C's signed types; 0: another type. */
static unsigned signed_bytes(const char *type)
{
	static const struct {
		const char *type;
		unsigned bytes;
	} types[] = {
		{ "int", 4 },      { "short int", 2 }, { "short", 2 },         { "signed char", 1 },
		{ "long int", 8 }, { "long", 8 },      { "long long int", 8 }, { "long long", 8 },
	};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (strcmp(type, types[i].type) == 0)
			return types[i].bytes;
	return 0;
}

/* gdb gives the bits that the type has; those above are its sign's. Of an object nothing is asked: to compare
 * it may call the program. Of C's types it is not, either: gdb 13 dies where it computes with a member of what a reference leads
 * to that the compiler has optimised out, <synthetic pointer>. */
static bool extend(const char *expression, struct lbx_value *value)
{
	const char *type, *negative;
	bool known;

	if (value->bits == 0 || value->bits >> 32 || strchr(value->type, '*') || strcmp(value->type, "function") == 0)
		return true;
	known = lbx_bridge_ask(&type, LBX_IN_FRAME, "with language %s -- ptype %s", lbx_bridge_language(), expression);
	if (!known || (strchr(type, '{') && strncmp(type, "type = enum ", 12) != 0))
		return known;
	static const char *const before[] = { "type = ", "const ", "volatile " };
	for (size_t i = 0; i < sizeof before / sizeof *before; i++)
		type += strncmp(type, before[i], strlen(before[i])) == 0 ? strlen(before[i]) : 0;
	if (strstr(type, "unsigned"))
		return true;
	unsigned bytes = signed_bytes(type);
	if (bytes) {
		if (bytes < 8 && value->bits >> (8 * bytes - 1) & 1)
			value->bits |= UINT64_MAX << (8 * bytes);
		return true;
	}
	if (!lbx_bridge_ask(&negative, LBX_IN_FRAME, "with language %s -- %soutput/d (%s) < 0", lbx_bridge_language(),
			    without_calls(expression), expression))
		return false;
	if (strcmp(negative, "1") == 0)
		value->bits |= UINT64_MAX << (63 - __builtin_clzll(value->bits));
	return true;
}

void lbx_gdb_tell_pointer(const char *name, const char *type, uint64_t value)
{
	char answer[sizeof((struct lbx_value *)0)->type + 16];

	snprintf(answer, sizeof answer, "type = %s", type);
	lbx_bridge_tell(answer, TYPE_OF, lbx_bridge_language(), name);
	snprintf(answer, sizeof answer, "0x%" PRIx64, value);
	lbx_bridge_tell(answer, VALUE_OF, lbx_bridge_language(), without_calls(name), name);
}

static bool fail_call(const char *expression)
{
	return lb_fail("'%s' would call the program, and nothing here does: `print` does that, and $ is then its value",
		       expression);
}

/* gdb would do it with each question, and again where the line runs once more. */
static bool has_no_effect(const char *expression)
{
	switch (lbx_effect_of(expression)) {
	case LBX_CHANGES: return lbx_fail_change(expression);
	case LBX_CALLS: return fail_call(expression);
	case LBX_NO_EFFECT: break;
	}
	return true;
}

bool lbx_find_handle(const struct lbx_variables_of *variables, const char *expression, struct lbx_value *ret)
{
	const char *type;

	if (!lbx_expression_pointer(variables, expression, &type, &ret->bits))
		return false;
	for (const struct lbx_provider *p = lbx_providers; p->name; p++)
		if (p->handle && strcmp(p->handle, type) == 0) {
			snprintf(ret->type, sizeof ret->type, "%s *", type);
			return true;
		}
	return false;
}

/* A variable that is a handle, or a member of one. gdb would take five times as long, and comes to the same: the variable is in the
 * selected frame's own scopes. */
static bool find_handle(struct lbx_target *target, const char *expression, struct lbx_value *ret)
{
	struct lbx_variables_of variables = { .target = target, .radix = lbx_bridge_radix() };
	struct lbx_frame frame;

	if (expression[strspn(expression, LBX_WORD ".->[]")] || isdigit((unsigned char)*expression) ||
	    !lbx_selected_gdb(target, &frame, &variables.lines))
		return false;
	variables.frame = &frame;
	variables.near = lbx_frame_code(&frame);
	return lbx_find_handle(&variables, expression, ret);
}

/* The value of a function is its place: gdb would print its first byte. */
bool lbx_gdb_evaluate(struct lbx_target *target, const char *expression, struct lbx_value *ret)
{
	const char *type, *value, *reference;
	bool known;
	char *end;

	if (!has_no_effect(expression))
		return false;
	if (find_handle(target, expression, ret))
		return true;
	known = lbx_bridge_ask(&type, LBX_IN_FRAME, TYPE_OF, lbx_bridge_language(), expression);
	known &= lbx_bridge_ask(&value, LBX_IN_FRAME, VALUE_OF, lbx_bridge_language(), without_calls(expression),
				expression);
	if (!known)
		return false;
	if (strncmp(type, "type = ", 7) != 0)
		return lb_fail("%s", type);
	snprintf(ret->type, sizeof(ret->type), "%s", type + 7);
	if (is_function(ret->type)) {
		snprintf(ret->type, sizeof(ret->type), "function");
		if (!lbx_bridge_ask(&value, LBX_IN_FRAME, "with language %s -- %soutput/x &(%s)", lbx_bridge_language(),
				    without_calls(expression), expression))
			return false;
	}
	if (strstr(value, "may-call-functions is off"))
		return fail_call(expression);
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

bool lbx_gdb_lacks(const char *expression)
{
	static const char lacks[] = "No symbol \"";
	const char *type, *name = expression + strspn(expression, "(*& ");
	const size_t n = sizeof lacks - 1, length = strspn(name, LBX_WORD);

	return length && lbx_bridge_ask(&type, LBX_IN_FRAME, TYPE_OF, lbx_bridge_language(), expression) &&
	       strncmp(type, lacks, n) == 0 && strncmp(type + n, name, length) == 0 && type[n + length] == '"';
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
