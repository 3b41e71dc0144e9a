/* A catch is a breakpoint on a probe of the runtime, `break -probe-stap lazybones:PROBE`, pending so
 * that it can be set before the library is loaded; gdb sets it again in each new process. T is in
 * its condition: as an id, or as a name that gdb compares in the program's memory, eight bytes
 * at a time, through the record's address. So a catch by name holds across runs.
 *
 * gdb 13 loses an `if` after a probe, and disables a pending breakpoint that was given a
 * condition before it was found. And what the condition says depends on the program: where its records
 * have the name. So there is a breakpoint on the runtime's first probe, `start`, too, for as long as
 * anything is caught. No tensor exists there, all probes do, and the symbol table can be read. Its
 * commands give the other breakpoints their conditions, write the words that make the runtime look
 * (catch_watch.c, switches.c), and continue. In a process that is past that point a catch is complete at once.
 *
 * An access to a guarded copy is a signal, not a probe: `catch signal SIGSEGV`, one for all such
 * catches. Its commands tell guards by their address. They show any other SIGSEGV as gdb would; a
 * condition would keep gdb from stopping at it at all.
 *
 * What the plugin deletes it deletes as `delete breakpoints`: `delete` has a hook, which calls the plugin.
 *
 * A glob is compared by the runtime, with each name just before its probe: gdb has no function for
 * it without Python, and to let the commands of the breakpoint go on would make gdb forget a `next` or
 * `finish` under way, and take the stop from the user's own breakpoint there. The result is a bit of
 * the tensor's record; it is in the condition.
 *
 * Nothing is done before all that can fail has been found out. What fails in gdb's script, since gdb
 * could not set a breakpoint, is noticed by lbx_catch_refresh(): a catch without breakpoint is none. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/stops/catch.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/convenience.h"
#include "inspect/tensor/format.h"
#include "plugin/bridge/bridge.h"
#include "plugin/bridge/front_end.h"
#include "plugin/bridge/hooks.h"
#include "plugin/commands/commands.h"
#include "plugin/reads/target_gdb.h"
#include "plugin/stops/catch_stop.h"
#include "plugin/stops/catch_target.h"
#include "plugin/stops/catch_watch.h"
#include "plugin/stops/switches.h"

enum { MAX_CATCHES = 64 };

static struct {
	struct lbx_catch v[MAX_CATCHES];
	int last;
	int start, fault; /* gdb's numbers of those breakpoints; 0: there is none */
	bool start_switches; /* switches.c needs the former, too */
	bool vanished;    /* some, which the program still has words for */
} catches;

static struct lbx_catch *find_number(int number)
{
	for (int i = 0; i < MAX_CATCHES && number > 0; i++)
		if (catches.v[i].number == number)
			return &catches.v[i];
	return NULL;
}

static bool is_set(bool faults_only)
{
	for (int i = 0; i < MAX_CATCHES; i++)
		if (catches.v[i].number && !(faults_only && catches.v[i].kind->probe))
			return true;
	return false;
}

/* ---- which breakpoints there are ---- */

/* One breakpoint of `info breakpoints`, known by its commands. */
static void note_breakpoint(const char *text, size_t n)
{
	static const char hit[] = "_tensor" LBX_HIT " ", fault[] = "_lb_fault";
	const char *at = memmem(text, n, hit, sizeof hit - 1);
	int breakpoint = atoi(text);
	char enabled[2]; /* the column after Num, Type, Disp */
	bool on = sscanf(text, "%*s %*s %*s %1s", enabled) == 1 && *enabled == 'y';
	bool is_fault = memmem(text, n, fault, sizeof fault - 1) != NULL;

	if (is_fault)
		catches.fault = breakpoint;
	else if (at && strncmp(at + sizeof hit - 1, "start", 5) == 0)
		catches.start = breakpoint;
	for (int i = 0; i < MAX_CATCHES; i++) {
		struct lbx_catch *c = &catches.v[i];

		if (!c->number || (is_fault ? c->kind->probe != NULL :
				   !at || atoi(at + sizeof hit - 1) != c->number))
			continue;
		c->breakpoint = breakpoint;
		c->enabled = on;
	}
}

/* The user may have deleted breakpoints, and gdb may have failed to make some. */
bool lbx_catch_refresh(void)
{
	const char *at, *end;

	if (!catches.start && !catches.fault && !is_set(false) && !lbx_switches_wait())
		return true;
	if (!lbx_bridge_ask(&at, LBX_WITHOUT_FRAME, "info breakpoints"))
		return !lbx_bridge_waits();
	catches.start = catches.fault = 0;
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
	for (int i = 0; i < MAX_CATCHES; i++) {
		if (catches.v[i].breakpoint || !catches.v[i].number)
			continue;
		catches.v[i].number = 0;
		catches.vanished = true;
	}
	return true;
}

void lbx_catch_suspend(void)
{
	for (int i = 0; i < MAX_CATCHES; i++) {
		struct lbx_catch *c = &catches.v[i];
		c->suspended = c->number && c->enabled;
		if (c->suspended)
			lbx_bridge_script("disable %d", c->breakpoint);
	}
}

void lbx_catch_resume(void)
{
	for (int i = 0; i < MAX_CATCHES; i++) {
		struct lbx_catch *c = &catches.v[i];
		if (c->suspended && c->number)
			lbx_bridge_script("enable %d", c->breakpoint);
		c->suspended = false;
	}
}

/* ---- making them ---- */

/* `breakpoint` is a number, or a variable with it. */
static void add_condition(struct text *script, const struct lbx_catch *c,
			  const struct lbx_watch_place *place, const char *breakpoint)
{
	struct text condition = {0};

	if (c->kind->probe && place->found)
		lbx_catch_condition(c, place->table, &condition);
	if (condition.n)
		text_printf(script, "with language c -- condition %s %s\n", breakpoint, condition.bytes);
	script->failed |= condition.failed;
	text_free(&condition);
}

/* Where the runtime is to keep the catch's glob. */
static bool choose_pattern(struct lbx_catch *new)
{
	uint32_t taken = 0;
	int place = 1;

	for (int i = 0; i < MAX_CATCHES; i++)
		if (catches.v[i].number)
			taken |= UINT32_C(1) << catches.v[i].pattern;
	while (taken >> place & 1)
		place++;
	new->pattern = new->is_glob ? place : 0;
	return !new->is_glob || place <= LB_WATCH_PATTERNS ||
	       lb_fail("break: no more than %d globs: `tensor uncatch` some", LB_WATCH_PATTERNS);
}

/* The paragraph takes the place of gdb's own words. Under MI these are what a front end goes by:
 * a silent stop has no reason, no thread and no frame there. */
static const char *silent(void)
{
	return lbx_front_end_speaks_mi() ? "" : "silent\n";
}

static void add_breakpoint(struct text *script, const struct lbx_catch *c,
			   const struct lbx_watch_place *place)
{
	/* another catch of the same probe may have selected the program's frame already */
	text_printf(script, "_lb_break %s\nset $_lb_catch = $bpnum\ncommands\n%sselect-frame 0\n"
		    "eval \"_tensor" LBX_HIT " %d", c->kind->probe, silent(), c->number);
	for (int i = 0; i < c->kind->n_args; i++)
		text_printf(script, " 0x%%lx");
	text_printf(script, "\"");
	for (int i = 0; i < c->kind->n_args; i++)
		text_printf(script, ", $_probe_arg%d", i);
	text_printf(script, "\nend\n");
	add_condition(script, c, place, "$_lb_catch");
}

static void add_fault(struct text *script)
{
	text_printf(script, "_lb_break_fault\ncommands\n%s_lb_fault\n"
		    "if $_lb_guarded\neval \"_tensor" LBX_HIT " fault 0x%%lx\", $_lb_at\nend\n"
		    "if $_lb_go\ncontinue\nend\n"
		    "if $_lb_crash\n"
		    "echo \\nProgram received signal SIGSEGV, Segmentation fault.\\n\n"
		    "frame\nend\nend\n", silent());
}

static void add_start(struct text *script)
{
	text_printf(script, "_lb_break start\ncommands\n%s_tensor" LBX_HIT
		    " start\ncontinue\nend\n", silent());
}

/* Runs the script, or nothing of it. */
static bool run_script(struct text *script)
{
	bool ok = !script->failed || lb_fail("out of memory");

	if (ok && script->n)
		lbx_bridge_script("%s", script->bytes);
	text_free(script);
	return ok;
}

static bool knows_probes(void)
{
	const char *probes;

	return !lbx_bridge_ask(&probes, LBX_WITHOUT_FRAME, "info probes stap lazybones ^graph_start$") ||
	       !strstr(probes, "No probes matched");
}

/* Libraries other than the loader, which is there before all. */
static bool has_libraries(void)
{
	const char *at, *end;
	bool any = false;

	if (!lbx_bridge_ask(&at, LBX_WITHOUT_FRAME, "info sharedlibrary"))
		return false;
	for (; *at && !any; at = end + (*end == '\n')) {
		end = at + strcspn(at, "\n");
		const char *slash = memrchr(at, '/', (size_t)(end - at));
		any = slash && strncmp(slash, "/ld-", 4) != 0 && strncmp(slash, "/ld64", 5) != 0;
	}
	return any;
}

/* A program without a loader: what it has not got, it will not get. */
static bool is_static(void)
{
	const char *files;

	return lbx_bridge_ask(&files, LBX_WITHOUT_FRAME, "info files") && strstr(files, "Entry point: ") &&
	       !strstr(files, " is .interp");
}

bool lbx_catch_lacks_runtime(void)
{
	bool libraries = has_libraries(), alone = is_static(), known = knows_probes();

	return (libraries || alone) && !known;
}

bool lbx_catch_has_probes(void)
{
	bool known = knows_probes();

	if (lbx_bridge_waits())
		return false;
	return known ||
	       lb_fail("catches and steps need the runtime's probes, and gdb knows none: it was built "
		       "without (PROBES=0), or gdb has not read its file (`info sharedlibrary`)");
}

/* A core does not run; and while this is a question, nothing has happened yet. */
static bool may_run(struct lbx_context *context)
{
	enum lbx_liveness liveness = context->target ? lbx_target_gdb_liveness() : LBX_UNKNOWN;

	if (lbx_bridge_waits())
		return false;
	if (liveness == LBX_CORE)
		return lb_fail("a core file does not run, nothing can happen in it; `tensor "
			       "events` shows what did, `core-file` without a file closes it");
	return true;
}

/* The runtime has one word for a limit. */
static bool is_free(const struct lbx_catch_kind *kind)
{
	if (kind->takes != LBX_TAKES_BYTES && kind->takes != LBX_TAKES_COUNT)
		return true;
	for (int i = 0; i < MAX_CATCHES; i++)
		if (catches.v[i].number && catches.v[i].kind == kind)
			return lb_fail("catch: catch %d has a limit for %s already: `tensor uncatch %d` "
				       "first", catches.v[i].number, kind->name, catches.v[i].number);
	return true;
}

/* What an older runtime cannot do for a catch that it knows. */
static void add_shortcoming(const struct lbx_catch *c, const struct lbx_watch_place *place, struct text *ret)
{
	enum { COUNTS_EACH = 8 }; /* a minor of the symbol table */

	if (place->found && c->kind->takes == LBX_TAKES_COUNT && place->root.minor < COUNTS_EACH)
		text_printf(ret, "the program's runtime is older and counts only now and then: this may stop late, or "
			    "not at all");
}

/* `inlined`: another catch makes the runtime run compiled functions operation by operation. */
static void tell_set(struct lbx_context *context, const struct lbx_catch *c, const struct lbx_watch_place *place,
		     bool inlined)
{
	struct lbx_out *out = context->out;
	struct text text = {0}, note = {0};
	char bytes[32];
	json_t *object;

	lbx_catch_note(context, c, &note);
	if (place->found && lbx_watch_is_passed(place, c->kind->takes == LBX_TAKES_BYTES ? c->limit : UINT64_MAX)) {
		lbx_format_bytes((int64_t)place->root.counters.active_bytes, bytes, sizeof bytes);
		text_printf(&note, "in use already: %s; it stops at the next growth", bytes);
	}
	add_shortcoming(c, place, &note);
	if (context->target && !place->found && lbx_catch_lacks_runtime())
		text_printf(&note, "the program has no runtime now: this waits for one to be loaded");

	if (out->json) {
		object = json_object();
		lbx_catch_json(c, object);
		if (note.n)
			json_object_set_new(object, "note", json_string(note.bytes));
		lbx_json(out, object);
	} else {
		lbx_catch_describe(c, &text);
		lbx_wrap(out, 0, 4);
		lbx_printf(out, "Catch %d: %.*s%s%s.\n", c->number, (int)text.n, text.bytes,
			   note.n ? "; " : "", note.n ? note.bytes : "");
		if (inlined)
			lbx_printf(out, "While nan, range or a break is set, functions are not compiled, "
				   "so none is traced again.\n");
		text_free(&text);
	}
	text_free(&note);
	lbx_set_int(out, "tensor_catch", c->number);
}

bool lbx_catch_run(struct lbx_context *context, const struct lbx_args *args)
{
	struct lbx_catch new = {.kind = lbx_catch_kind(args->v[0])};

	return new.kind && may_run(context) && lbx_catch_refresh() && is_free(new.kind) &&
	       lbx_catch_parse(context, args, &new) && lbx_catch_set(context, &new);
}

bool lbx_catch_set(struct lbx_context *context, const struct lbx_catch *wanted)
{
	struct lbx_catch new = *wanted;
	struct lbx_watch_place place;
	struct lbx_watch want;
	struct lbx_catch *c = catches.v;
	struct text script = {0};
	const uint32_t by_op = LB_WATCH_NAN | LB_WATCH_RANGE | LB_WATCH_CALLS;
	bool compiling = false;

	if (context->target)
		lbx_catch_lacks_runtime(); /* asked in time */
	if (!may_run(context) || !lbx_catch_refresh() || !lbx_hooks_ask() ||
	    !lbx_watch_find(context, &place) || (place.found && new.kind->probe && !lbx_catch_has_probes()))
		return false;
	new.number = catches.last + 1;
	new.enabled = true;
	while (c < catches.v + MAX_CATCHES && c->number)
		c++;
	if (c == catches.v + MAX_CATCHES)
		return lb_fail("no more than %d: `tensor uncatch` some", MAX_CATCHES);
	if (!choose_pattern(&new))
		return false;
	*c = new;
	for (int i = 0; i < MAX_CATCHES; i++)
		compiling |= catches.v[i].number && catches.v[i].kind->takes == LBX_TAKES_FUNCTION;
	want = lbx_watch_wanted(catches.v, MAX_CATCHES);
	if (new.kind->probe)
		add_breakpoint(&script, &new, &place);
	else if (!catches.fault)
		add_fault(&script);
	if (!catches.start)
		add_start(&script);
	if (!lbx_watch_check(&place, &want) || !run_script(&script) ||
	    !lbx_watch_write(context, &place, &want)) {
		text_free(&script);
		c->number = 0;
		return false;
	}
	catches.last = new.number;
	lbx_hooks_define();
	tell_set(context, &new, &place, (want.all & by_op) && compiling &&
		 ((new.kind->watch & by_op) || new.kind->takes == LBX_TAKES_FUNCTION));
	return true;
}

/* ---- unmaking them ---- */

static void tell_removed(struct lbx_out *out, const struct lbx_catch *removed, int n)
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

bool lbx_catch_add_start(bool process)
{
	struct text script = {0};

	if (!catches.start && process)
		add_start(&script);
	catches.start_switches |= process;
	return run_script(&script);
}

void lbx_catch_drop_start(void)
{
	if (catches.start && !is_set(false) && !(catches.start_switches && lbx_switches_wait()))
		lbx_bridge_script("delete breakpoints %d", catches.start);
}

/* The breakpoints that several catches have in common. */
static void delete_shared(struct lbx_context *context)
{
	if (catches.fault && !is_set(true) && !lbx_watch_has_closed_guards(context))
		lbx_bridge_script("delete breakpoints %d", catches.fault);
	lbx_catch_drop_start();
}

bool lbx_uncatch_run(struct lbx_context *context, const struct lbx_args *args)
{
	bool all = args->n == 0 || strcmp(args->v[0], "all") == 0;
	long number = all ? 0 : strtol(args->v[0], NULL, 10);
	struct lbx_catch left[MAX_CATCHES], removed[MAX_CATCHES];
	struct lbx_watch_place place;
	struct lbx_watch want;
	int n = 0;

	if (!lbx_catch_refresh())
		return false;
	memcpy(left, catches.v, sizeof left);
	for (int i = 0; i < MAX_CATCHES; i++) {
		if (left[i].number && (all || left[i].number == number)) {
			removed[n++] = left[i];
			left[i].number = 0;
		}
	}
	if (n == 0 && !all)
		return lb_fail("uncatch: there is no catch %s: `tensor status` lists them",
			       args->v[0]);
	want = lbx_watch_wanted(left, MAX_CATCHES);
	if (!lbx_watch_find(context, &place) || !lbx_watch_write(context, &place, &want))
		return false;
	memcpy(catches.v, left, sizeof left);
	tell_removed(context->out, removed, n);
	for (int i = 0; i < n; i++)
		if (removed[i].kind->probe)
			lbx_bridge_script("delete breakpoints %d", removed[i].breakpoint);
	delete_shared(context);
	return true;
}

bool lbx_catch_deleted(struct lbx_context *context, bool *changed)
{
	struct lbx_watch_place place;
	struct lbx_watch want;

	*changed = false;
	if (!lbx_catch_refresh())
		return false;
	if (!catches.vanished)
		return true;
	want = lbx_watch_wanted(catches.v, MAX_CATCHES);
	if (!lbx_watch_find(context, &place) || !lbx_watch_write(context, &place, &want))
		return false;
	catches.vanished = false;
	*changed = true;
	delete_shared(context);
	return true;
}

/* ---- stops ---- */

/* Takes out of the list what the program's runtime cannot do, and disables its breakpoint, which would
 * stop at each event. */
static bool leave_out(struct lbx_context *context, const struct lbx_watch_place *place,
		      struct lbx_catch *c, struct text *script)
{
	const struct lbx_watch want = lbx_watch_wanted(c, 1);

	if (!c->number || lbx_watch_check(place, &want))
		return false;
	lbx_printf(context->out, "Catch %d is disabled: %s.\n", c->number, lb_error_message());
	lb_clear_error();
	text_printf(script, "disable %d\n", c->breakpoint);
	c->number = 0;
	return true;
}

static void tell_shortcoming(struct lbx_context *context, const struct lbx_watch_place *place, const struct lbx_catch *c)
{
	struct text text = {0};

	add_shortcoming(c, place, &text);
	lbx_wrap(context->out, 0, 4);
	if (text.n)
		lbx_printf(context->out, "Catch %d: %s.\n", c->number, text.bytes);
	text_free(&text);
}

/* The program is at its start, or gdb has attached or connected to it. */
static bool arm(struct lbx_context *context, bool *found)
{
	struct lbx_catch list[MAX_CATCHES];
	struct lbx_watch want;
	struct lbx_watch_place place;
	struct text script = {0};
	char number[16];

	if (!lbx_catch_refresh() || !lbx_watch_find(context, &place))
		return false;
	*found = place.found;
	if (context->target && !place.found && lbx_switches_wait()) {
		if (!catches.start)
			add_start(&script);
		catches.start_switches = true;
	}
	memcpy(list, catches.v, sizeof list);
	for (int i = 0; i < MAX_CATCHES; i++) {
		snprintf(number, sizeof number, "%d", list[i].breakpoint);
		if (leave_out(context, &place, &list[i], &script) || !list[i].number)
			continue;
		add_condition(&script, &list[i], &place, number);
		tell_shortcoming(context, &place, &list[i]);
	}
	want = lbx_watch_wanted(list, MAX_CATCHES);
	return run_script(&script) &&
	       lbx_watch_write(context, &place, &want) &&
	       (!place.found || lbx_switches_put_wishes(context, &place.root));
}

bool lbx_catch_arm(struct lbx_context *context)
{
	bool found = false, ok = arm(context, &found);

	if (!lbx_bridge_waits())
		lbx_bridge_script("set $_lb_unarmed = %d", ok && !found);
	return ok;
}

/* The guard at an address, as the arguments of a stop; and the catch that wants it. */
static const struct lbx_catch *find_guard(struct lbx_context *context, uint64_t address,
					  struct lbx_catch_stop *stop)
{
	uint64_t i = (address - LB_GUARD_BASE) >> LB_GUARD_SHIFT;
	struct lb_guard guard;
	struct lbx_table *table;
	struct lbx_tensors *tensors;
	struct lbx_tensor t = {.name = ""};

	if (i == 0 || i >= LB_GUARDS ||
	    !lbx_target_read(context->target, LB_GUARD_BASE + i * sizeof guard, &guard, sizeof guard) ||
	    !lbx_context_table(context, &table))
		return NULL;
	tensors = lbx_table_tensors(table);
	if (!lbx_tensors_by_id(tensors, guard.id, &t))
		lb_clear_error();
	memcpy(stop->args, (uint64_t[]){guard.id, guard.tensor, guard.site, guard.data, address,
					guard.nbytes}, sizeof stop->args);
	for (int k = 0; k < MAX_CATCHES; k++) {
		const struct lbx_catch *c = &catches.v[k];
		bool wanted = c->id ? c->id == guard.id : !c->name[0] || strcmp(c->name, t.name) == 0;

		if (c->number && !c->kind->probe && wanted)
			return c;
	}
	return NULL;
}

bool lbx_catch_hit(struct lbx_context *context, const char *words)
{
	struct lbx_catch_stop stop = {0};
	uint64_t fault = 0;
	bool found;
	char *at;

	if (strcmp(words, "start attached") == 0)
		return lbx_catch_arm(context);
	if (strncmp(words, "start", 5) == 0)
		return arm(context, &found);
	if (strncmp(words, "fault ", 6) == 0) {
		lbx_bridge_script("set $_lb_go = 0");
		fault = strtoull(words + 6, NULL, 16);
		stop.catch = find_guard(context, fault, &stop);
		if (!stop.catch) {
			if (!lbx_bridge_waits())
				lbx_bridge_script("set $_lb_go = 1");
			return true;
		}
	} else {
		stop.catch = find_number((int)strtol(words, &at, 10));
		for (int i = 0; i < LBX_CATCH_ARGS; i++)
			stop.args[i] = strtoull(at, &at, 16);
		if (!stop.catch)
			return lb_fail("a breakpoint of a catch that is off: delete it");
	}
	lbx_catch_tell(context, &stop);
	if (fault)
		lbx_bridge_script("with language c -- _lb_open_guard %#" PRIx64, fault);
	if (stop.catch->once && !lbx_bridge_waits())
		lbx_bridge_then("uncatch %d", stop.catch->number);
	return true;
}

json_t *lbx_catch_list(struct lbx_out *out)
{
	json_t *list = out->json ? json_array() : NULL;

	for (int i = 0; i < MAX_CATCHES; i++) {
		struct text text = {0};

		if (!catches.v[i].number)
			continue;
		if (list) {
			json_t *one = json_object();
			lbx_catch_json(&catches.v[i], one);
			json_array_append_new(list, one);
			continue;
		}
		lbx_catch_describe(&catches.v[i], &text);
		lbx_printf(out, "catch %d: %.*s\n", catches.v[i].number, (int)text.n, text.bytes);
		text_free(&text);
	}
	return list;
}
