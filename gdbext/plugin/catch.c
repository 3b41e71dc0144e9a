/* A catch is `break -probe-stap lazybones:PROBE` with a condition, made pending so that it can be
 * set before the library is loaded; gdb sets it again in each new process. T is in the
 * condition: as an id, or as a name that gdb compares in the program's memory, eight bytes
 * at a time, through the record's address. So a catch by name holds across runs.
 *
 * gdb 13 loses an `if` after a probe, and disables a pending breakpoint that was given a
 * condition before it was found. So the breakpoint's commands check first; where T does not
 * match they make the check the breakpoint's condition, by then it is found, and continue.
 *
 * The runtime looks for NaN, and tells of each evaluated tensor, only while a flag in its
 * root says so. In a live process the flag is written at once. For processes to come
 * there is a breakpoint on the runtime's first probe whose condition writes the flag and is
 * false: it never stops. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/catch.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "plugin/bridge.h"
#include "plugin/commands.h"
#include "plugin/text.h"
#include "symtab.h"

enum { MAX_CATCHES = 64 };

struct record {
#define X(type, name, count, meaning) type name[count];
	LB_TENSOR_FIELDS(X)
#undef X
};

static const struct kind {
	const char *name, *probe;
	unsigned watch;  /* enum lb_watch that the runtime needs */
	bool has_caller; /* the probe's site is the call that is running */
	const char *what;
} kinds[] = {
	{"misuse", "raw_misuse", 0, true,
	 "a raw pointer was taken of a view that is not row-contiguous: reading on from it "
	 "gives other elements than the tensor's"},
	{"nan", "nan", LB_WATCH_NAN, false, "a result holds NaN or Inf"},
	{"implicit", "implicit_eval", 0, true, "reading a value is about to cause an evaluation"},
	{"eval", "eval_tensor", LB_WATCH_EVAL, false, "a tensor has just been computed"},
};

struct catch {
	int number; /* 0: free place */
	int breakpoint; /* gdb's number, 0 until it has told it */
	bool enabled;
	const struct kind *kind;
	char text[LB_NAME_MAX + 1]; /* of T; "" for any tensor */
};

static struct {
	struct catch v[MAX_CATCHES];
	int last;
	unsigned start_bits; /* what the breakpoint on `start` writes; 0: there is none */
	int start;           /* gdb's number of it */
} catches;

static unsigned watched(void)
{
	unsigned bits = 0;

	for (int i = 0; i < MAX_CATCHES; i++)
		if (catches.v[i].number)
			bits |= catches.v[i].kind->watch;
	return bits;
}

static bool any_is_set(void)
{
	for (int i = 0; i < MAX_CATCHES; i++)
		if (catches.v[i].number)
			return true;
	return false;
}

/* One breakpoint of `info breakpoints`, known by its commands. */
static void note_breakpoint(const char *text, size_t n)
{
	static const char hit[] = "\"_tensor_hit ", start[] = "$_lb_start ";
	const char *at = memmem(text, n, hit, sizeof(hit) - 1);
	int breakpoint = atoi(text);
	int number = at ? atoi(at + sizeof(hit) - 1) : 0;
	char enabled[2]; /* the column after Num, Type, Disp */

	if (memmem(text, n, start, sizeof(start) - 1))
		catches.start = breakpoint;
	for (int i = 0; i < MAX_CATCHES && number; i++) {
		if (catches.v[i].number != number)
			continue;
		catches.v[i].breakpoint = breakpoint;
		catches.v[i].enabled = sscanf(text, "%*s %*s %*s %1s", enabled) == 1 &&
				       *enabled == 'y';
	}
}

/* The user may have deleted breakpoints, and gdb may have failed to make some. */
bool lbx_catch_refresh(void)
{
	const char *at, *end;

	if (!catches.start_bits && !any_is_set())
		return true;
	if (!lbx_bridge_ask(&at, LBX_WITHOUT_FRAME, "info breakpoints"))
		return !lbx_bridge_waits();
	catches.start = 0;
	for (int i = 0; i < MAX_CATCHES; i++)
		catches.v[i].breakpoint = 0;
	for (; *at; at = end) {
		end = at;
		do { /* to the next line that begins with a number; 1.2 is a place of 1 */
			end += strcspn(end, "\n");
			end += *end == '\n';
		} while (*end && (!isdigit((unsigned char)*end) ||
				  end[strspn(end, "0123456789")] == '.'));
		note_breakpoint(at, (size_t)(end - at));
	}
	if (!catches.start)
		catches.start_bits = 0;
	for (int i = 0; i < MAX_CATCHES; i++)
		if (!catches.v[i].breakpoint)
			catches.v[i].number = 0;
	return true;
}

bool lbx_catch_suspend(bool off)
{
	bool any = false;

	for (int i = 0; i < MAX_CATCHES; i++) {
		if (!catches.v[i].number || !catches.v[i].enabled)
			continue;
		lbx_bridge_script("%s %d", off ? "disable" : "enable", catches.v[i].breakpoint);
		any = true;
	}
	return any;
}

/* A condition that is true when the record's name is this; it reads no byte beyond it. */
static void name_condition(struct text *text, const char *name)
{
	size_t n = strlen(name) + 1;
	const struct {
		size_t bytes;
		const char *type;
	} steps[] = {{8, "unsigned long"}, {4, "unsigned int"}, {2, "unsigned short"},
		     {1, "unsigned char"}};
	size_t at = 0;

	text_printf(text, "{unsigned long}($_probe_arg1 + %zu) != 0", offsetof(struct record, name));
	for (size_t i = 0; i < 4; i++) {
		for (; n - at >= steps[i].bytes; at += steps[i].bytes) {
			uint64_t value = 0;

			memcpy(&value, name + at, steps[i].bytes);
			text_printf(text, " && {%s}({unsigned long}($_probe_arg1 + %zu) + %zu) == 0x%"
				    PRIx64, steps[i].type, offsetof(struct record, name), at, value);
		}
	}
}

static bool is_name(const char *text)
{
	if (!isalpha((unsigned char)*text) && *text != '_')
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr("_.:/", *text))
			return false;
	return true;
}

/* The condition for T. A name need not exist yet; another expression is resolved now. */
static bool condition_for(struct lbx_context *context, const char *t, struct text *ret,
			  char *shown, size_t size)
{
	struct lbx_tensor tensor;
	uint64_t id = 0;
	char *end;

	if (*t == '#') {
		id = strtoull(t + 1, &end, 10);
		if (end == t + 1 || *end || id == 0)
			return lb_fail("catch: '%s' is no tensor id: write # and a number", t);
	} else if (context->target && lbx_commands_tensor(context, t, &tensor)) {
		if (!tensor.name[0])
			id = tensor.id;
		else
			t = tensor.name;
	} else if (lbx_bridge_waits()) {
		return false;
	} else if (is_name(t)) {
		lb_clear_error(); /* a tensor of this name may come */
	} else {
		return lb_fail("catch: '%s' is no tensor now, and no name of one to come", t);
	}
	if (id) {
		text_printf(ret, "$_probe_arg0 == %" PRIu64, id);
		snprintf(shown, size, "#%" PRIu64, id);
	} else {
		name_condition(ret, t);
		snprintf(shown, size, "%s", t);
	}
	return true;
}

/* Makes the breakpoint, and $_lb_NAME its number. */
static void break_on_probe(const char *name, const char *probe, const char *condition,
			   const char *action)
{
	lbx_bridge_script("_lb_break %s", probe);
	lbx_bridge_script("set $_lb_%s = $bpnum", name);
	lbx_bridge_script("commands\nsilent");
	if (condition)
		lbx_bridge_script("with language c -- set $_lb_met = (%s)\nif $_lb_met\n%selse\n"
				  "with language c -- condition $_lb_%s %s\ncontinue\nend",
				  condition, action, name, condition);
	else
		lbx_bridge_script("%s", action);
	lbx_bridge_script("end");
}

/* Writes the flags into the process that is there, if any; and sees to those to come. */
static bool update_watch(struct lbx_context *context, unsigned bits)
{
	struct lbx_table *table;
	struct lbx_root root;
	uint32_t value = bits;
	uint64_t at = offsetof(struct lb_symtab, watch_all); /* unless a program says otherwise */
	char condition[128];

	if (context->target && lbx_context_table(context, &table) && lbx_table_root(table, &root)) {
		at = root.watch_all_at - root.address;
		if (root.watch_all != bits &&
		    !lbx_target_write(context->target, root.watch_all_at, &value, sizeof(value)))
			return false;
	}
	if (lbx_bridge_waits())
		return false;
	lb_clear_error(); /* not there yet: the breakpoint will write */
	if (bits == catches.start_bits)
		return true;
	if (catches.start_bits)
		lbx_bridge_script("delete %d", catches.start);
	if (bits) {
		snprintf(condition, sizeof(condition), "({unsigned int}($_probe_arg0 + %" PRIu64
			 ") = %u) == 0", at, bits);
		break_on_probe("start", "start", condition, "");
	}
	catches.start_bits = bits;
	return true;
}

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	lb_fail("catch: there is no '%s' to catch: misuse, nan, implicit, eval", name);
	return NULL;
}

bool lbx_catch_run(struct lbx_context *context, const struct lbx_args *args)
{
	const struct kind *kind = find_kind(args->v[0]);
	struct text condition = {0};
	char shown[LB_NAME_MAX + 1] = "";
	struct catch *c = catches.v;
	char name[32], action[128];

	if (!kind || !lbx_catch_refresh())
		return false;
	while (c < catches.v + MAX_CATCHES && c->number)
		c++;
	if (c == catches.v + MAX_CATCHES)
		return lb_fail("catch: no more than %d: `tensor uncatch` some", MAX_CATCHES);
	if ((args->n > 1 && !condition_for(context, args->v[1], &condition, shown, sizeof(shown))) ||
	    !update_watch(context, watched() | kind->watch) || condition.failed) {
		text_free(&condition);
		return lb_fail("catch: failed");
	}
	c->kind = kind;
	c->number = ++catches.last;
	c->breakpoint = 0;
	snprintf(c->text, sizeof(c->text), "%s", shown);
	snprintf(name, sizeof(name), "catch_%d", c->number);
	snprintf(action, sizeof(action), "eval \"_tensor_hit %d %%lu 0x%%lx\", $_probe_arg0, "
		 "$_probe_arg2\n", c->number);
	break_on_probe(name, kind->probe, condition.n ? condition.bytes : NULL, action);
	if (context->out->json)
		lbx_json(context->out, json_pack("{s:i,s:s,s:s?}", "catch", c->number, "event",
						 kind->name, "tensor", shown[0] ? shown : NULL));
	else
		lbx_printf(context->out, "Catch %d: %s of %s.\n", c->number, kind->name,
			   shown[0] ? shown : "any tensor");
	lbx_set_int(context->out, "tensor_catch", c->number);
	text_free(&condition);
	return true;
}

static void tell_removed(struct lbx_out *out, const struct catch *removed, int n)
{
	json_t *numbers = out->json ? json_array() : NULL;

	if (n == 0 && !out->json)
		lbx_printf(out, "Nothing is being caught.\n");
	for (int i = 0; i < n; i++) {
		if (out->json)
			json_array_append_new(numbers, json_integer(removed[i].number));
		else
			lbx_printf(out, "Catch %d is off.\n", removed[i].number);
	}
	if (out->json)
		lbx_json(out, json_pack("{s:o}", "uncaught", numbers));
}

bool lbx_uncatch_run(struct lbx_context *context, const struct lbx_args *args)
{
	bool all = args->n == 0 || strcmp(args->v[0], "all") == 0;
	long number = all ? 0 : strtol(args->v[0], NULL, 10);
	struct catch removed[MAX_CATCHES];
	unsigned left = 0;
	int n = 0;

	if (!lbx_catch_refresh())
		return false;
	for (int i = 0; i < MAX_CATCHES; i++) {
		if (!catches.v[i].number)
			continue;
		if (all || catches.v[i].number == number)
			removed[n++] = catches.v[i];
		else
			left |= catches.v[i].kind->watch;
	}
	if (n == 0 && !all)
		return lb_fail("uncatch: there is no catch %s: `tensor status` lists them",
			       args->v[0]);
	if (!update_watch(context, left))
		return false;
	for (int i = 0; i < MAX_CATCHES; i++)
		if (all || catches.v[i].number == number)
			catches.v[i].number = 0;
	tell_removed(context->out, removed, n);
	for (int i = 0; i < n; i++)
		lbx_bridge_script("delete %d", removed[i].breakpoint);
	return true;
}

/* Selects the frame of the call whose return address this is. */
static void go_to_caller(uint64_t site)
{
	lbx_bridge_script("_lb_caller 0x%" PRIx64, site);
	lbx_bridge_script("with language %s -- frame", lbx_bridge_language());
}

bool lbx_catch_hit(struct lbx_context *context, const char *words)
{
	unsigned long long id = 0, site = 0;
	const struct catch *c = NULL;
	struct lbx_table *table;
	struct lbx_tensor t;
	int number = 0;

	sscanf(words, "%d %llu %llx", &number, &id, &site);
	for (int i = 0; i < MAX_CATCHES; i++)
		if (catches.v[i].number == number && number)
			c = &catches.v[i];
	if (!c)
		return lb_fail("a breakpoint of a catch that is off: delete it");
	lbx_printf(context->out, "Catch %d (%s): %s.\n", number, c->kind->name, c->kind->what);
	if (lbx_context_table(context, &table)) {
		struct lbx_tensors *tensors = lbx_table_tensors(table);
		struct lbx_source_line made = {.line = 0};

		if (tensors->ops->by_id(tensors, id, &t)) {
			if (t.site)
				lbx_target_source_line(context->target, t.site - 1, &made);
			if (lbx_bridge_waits())
				return true;
			lbx_printf(context->out, "  tensor #%llu %s%s%s, made by %s", id,
				   t.name[0] ? t.name : "", t.name[0] ? " " : "",
				   lbx_dtype_name(t.dtype), t.op);
			if (made.line)
				lbx_printf(context->out, " in %s at %s:%d", made.function,
					   made.file, made.line);
			else if (made.function[0])
				lbx_printf(context->out, " in %s", made.function);
			lbx_printf(context->out, "\n  `tensor info #%llu` says more.\n", id);
		}
	}
	if (lbx_bridge_waits())
		return true;
	lb_clear_error();
	lbx_set_int(context->out, "tensor", (int64_t)id);
	if (c->kind->has_caller)
		go_to_caller(site);
	return true;
}

void lbx_catch_list(struct lbx_out *out)
{
	for (int i = 0; i < MAX_CATCHES; i++) {
		const struct catch *c = &catches.v[i];

		if (c->number)
			lbx_printf(out, "catch %d: %s of %s\n", c->number, c->kind->name,
				   c->text[0] ? c->text : "any tensor");
	}
}
