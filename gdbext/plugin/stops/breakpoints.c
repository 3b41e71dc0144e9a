/* A breakpoint on a probe of the runtime is `break -probe-stap lazybones:PROBE`, pending so that it can be set
 * before the library is loaded; gdb sets it again in each new process. gdb tells no number of one that it has
 * still to make, so each is known by its commands, among those that `info breakpoints` shows. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/stops/breakpoints.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/bridge/bridge.h"
#include "plugin/bridge/front_end.h"
#include "plugin/bridge/lines.h"
#include "plugin/stops/hits.h"

enum { MOST = LBX_BREAKPOINTS_NUMBERED + LBX_BREAKPOINTS_OTHERS + 8 };

struct breakpoint {
	int key, number; /* number: gdb's, 0 until it has told it */
	bool enabled, suspended;
	bool found; /* by the refresh that is under way */
};

static struct {
	struct breakpoint v[MOST];
	int n;
	unsigned start_for; /* enum lbx_start_for */
} breakpoints;

static struct breakpoint *find(int key)
{
	for (int i = 0; i < breakpoints.n; i++)
		if (breakpoints.v[i].key == key)
			return &breakpoints.v[i];
	return NULL;
}

void lbx_breakpoint_note(int key)
{
	if (!find(key) && breakpoints.n < MOST)
		breakpoints.v[breakpoints.n++] = (struct breakpoint){ .key = key, .enabled = true };
}

static void forget(struct breakpoint *breakpoint)
{
	*breakpoint = breakpoints.v[--breakpoints.n];
}

bool lbx_breakpoint_exists(int key)
{
	return find(key);
}

bool lbx_breakpoint_is_enabled(int key)
{
	const struct breakpoint *breakpoint = find(key);

	return breakpoint && breakpoint->enabled;
}

int lbx_breakpoint_number(int key)
{
	const struct breakpoint *breakpoint = find(key);

	return breakpoint ? breakpoint->number : 0;
}

/* ---- which there are ---- */

static bool contains(const char *text, size_t n, const char *part)
{
	return memmem(text, n, part, strlen(part));
}

/* By the commands of a breakpoint. */
static struct breakpoint *recognise(const char *text, size_t n)
{
	static const char hit[] = "_tensor" LBX_HIT " ";
	const char *at = memmem(text, n, hit, sizeof hit - 1);

	if (contains(text, n, "_lb_fault"))
		return find(LBX_BREAKPOINT_FAULT);
	if (contains(text, n, LBX_STEP_ENTER " "))
		return find(LBX_BREAKPOINT_STEP);
	if (!at)
		return NULL;
	at += sizeof hit - 1;
	if (strncmp(at, "start", 5) == 0)
		return find(LBX_BREAKPOINT_START);
	return find(atoi(at + strcspn(at, "0123456789\n"))); /* behind whose it is */
}

/* One of `info breakpoints`. */
static void take(const char *text, size_t n)
{
	struct breakpoint *breakpoint = recognise(text, n);
	char enabled[2]; /* the column after Num, Type, Disp */

	lbx_hits_take(text, n, breakpoint != NULL);
	if (!breakpoint)
		return;
	breakpoint->found = true;
	breakpoint->number = atoi(text);
	breakpoint->enabled = sscanf(text, "%*s %*s %*s %1s", enabled) == 1 && *enabled == 'y';
}

bool lbx_breakpoints_refresh(void)
{
	return breakpoints.n == 0 || lbx_breakpoints_look();
}

bool lbx_breakpoints_look(void)
{
	const char *at, *end;

	if (!lbx_bridge_ask(&at, LBX_WITHOUT_FRAME, "info breakpoints"))
		return !lbx_bridge_waits();
	for (int i = 0; i < breakpoints.n; i++)
		breakpoints.v[i].found = false;
	lbx_hits_begin();
	for (at += strcspn(at, "\n"), at += *at == '\n'; *at; at = end) {
		end = at;
		do { /* to the next line that begins with a number; 1.2 is a place of 1 */
			end += strcspn(end, "\n");
			end += *end == '\n';
		} while (*end && (!isdigit((unsigned char)*end) || end[strspn(end, "0123456789")] == '.'));
		take(at, (size_t)(end - at));
	}
	for (int i = breakpoints.n; i-- > 0;)
		if (!breakpoints.v[i].found)
			forget(&breakpoints.v[i]);
	return true;
}

/* ---- making and deleting ---- */

/* What the plugin says of a stop takes the place of gdb's own words. Under MI these are what a front end goes by:
 * a silent stop has no reason, no thread and no frame there. */
static const char *silent(void)
{
	return lbx_front_end_speaks_mi() ? "" : "silent\n";
}

void lbx_breakpoint_add(int key, const char *probe, int n_args, bool may_go_on)
{
	char formats[8 * LBX_PROBE_ARGS + 1] = "", values[16 * LBX_PROBE_ARGS + 1] = "";

	for (int i = 0; i < n_args && i < LBX_PROBE_ARGS; i++) {
		strcat(formats, ",0x%lx"); /* one word: gdb passes these on in the fewest lines */
		sprintf(values + strlen(values), ", $_probe_arg%d", i);
	}
	/* another breakpoint at the same probe may have selected the program's frame already */
	lbx_bridge_script("_lb_break %s\nset $_lb_catch = $bpnum\ncommands\n%sselect-frame 0\n"
			  "eval \"_tensor" LBX_HIT " %d%s\"%s\n%send",
			  probe, silent(), key, formats, values, may_go_on ? "if $_lb_go\ncontinue\nend\n" : "");
	lbx_breakpoint_note(key);
}

void lbx_breakpoint_add_fault(void)
{
	if (find(LBX_BREAKPOINT_FAULT))
		return;
	lbx_bridge_script("_lb_break_fault\ncommands\n%s_lb_fault\n"
			  "if $_lb_guarded\neval \"_tensor" LBX_HIT " fault 0x%%lx\", $_lb_at\nend\n"
			  "if $_lb_go\ncontinue\nend\n"
			  "if $_lb_crash\n"
			  "echo \\nProgram received signal SIGSEGV, Segmentation fault.\\n\n"
			  "frame\nend\nend",
			  silent());
	lbx_breakpoint_note(LBX_BREAKPOINT_FAULT);
}

/* Of the breakpoint that was just made. */
static void send_hits(int key, const char *whose, const char *words, const char *first, const char *second)
{
	if (first)
		lbx_bridge_script("commands\n%sselect-frame 0\neval \"_tensor" LBX_HIT " %s %d %s 0x%%lx%s\", %s%s%s",
				  silent(), whose, key, words, second ? " 0x%lx" : "", first, second ? ", " : "",
				  second ? second : "");
	else
		lbx_bridge_script("commands\n%s_tensor" LBX_HIT " %s %d %s", silent(), whose, key, words);
	lbx_bridge_script("if $_lb_go\ncontinue\nend\nend");
}

void lbx_breakpoint_add_code(int key, const char *whose, uint64_t at, const char *words, const char *first,
			     const char *second, const char *condition)
{
	/* Where there is no such memory, gdb disables it when the program has executed another; else gdb could not insert it, and
	 * would stop for good. */
	lbx_bridge_script("with language c -- _lb_quiet break *(0x%" PRIx64 "+0*{char}0x%" PRIx64 ")\n"
			  "set $_lb_catch = $bpnum",
			  at, at);
	send_hits(key, whose, words, first, second);
	if (condition)
		lbx_bridge_script("with language c -- condition $_lb_catch %s", condition);
	lbx_breakpoint_note(key);
}

void lbx_breakpoint_need(int key, const char *whose, const char *function, const char *words, const char *first,
			 const char *second)
{
	if (find(key))
		return;
	lbx_bridge_script("_lb_break_function %s", function);
	send_hits(key, whose, words, first, second);
	lbx_breakpoint_note(key);
}

void lbx_breakpoint_need_library(int key, const char *whose, const char *regex, const char *words)
{
	if (find(key))
		return;
	lbx_bridge_script("_lb_quiet _lb_catch_load %s", regex);
	send_hits(key, whose, words, NULL, NULL);
	lbx_breakpoint_note(key);
}

void lbx_breakpoint_set_condition(int key, const char *condition)
{
	const struct breakpoint *breakpoint = find(key);

	if (breakpoint && breakpoint->number)
		lbx_bridge_script("with language c -- condition %d %s", breakpoint->number, condition);
	else if (breakpoint)
		lbx_bridge_script("with language c -- condition $bpnum %s", condition);
}

void lbx_breakpoint_enable(int key, bool is_on)
{
	const struct breakpoint *breakpoint = find(key);

	if (breakpoint && breakpoint->number)
		lbx_bridge_script("%s breakpoints %d", is_on ? "enable" : "disable", breakpoint->number);
}

/* What the plugin deletes it deletes as `delete breakpoints`: `delete` has a hook, which calls the plugin; so has `disable`. */
void lbx_breakpoint_delete(int key)
{
	struct breakpoint *breakpoint = find(key);

	if (!breakpoint)
		return;
	lbx_bridge_script("delete breakpoints %d", breakpoint->number);
	forget(breakpoint);
}

void lbx_breakpoint_probes_are_there(bool are)
{
	lbx_bridge_script("set $_lb_is_there = %d", are);
}

void lbx_breakpoint_need_start(enum lbx_start_for who)
{
	breakpoints.start_for |= who;
	if (find(LBX_BREAKPOINT_START))
		return;
	lbx_bridge_script("_lb_break start\ncommands\n%s_tensor" LBX_HIT " start\nif $_lb_go\ncontinue\nend\nend",
			  silent());
	lbx_breakpoint_note(LBX_BREAKPOINT_START);
}

void lbx_breakpoint_release_start(enum lbx_start_for who)
{
	breakpoints.start_for &= ~(unsigned)who;
	if (!breakpoints.start_for)
		lbx_breakpoint_delete(LBX_BREAKPOINT_START);
}

/* ---- while the program is called ---- */

void lbx_breakpoint_suspend(int key)
{
	struct breakpoint *breakpoint = find(key);

	if (!breakpoint || !breakpoint->enabled || breakpoint->suspended)
		return;
	lbx_bridge_script("disable breakpoints %d", breakpoint->number);
	breakpoint->suspended = true;
}

void lbx_breakpoints_resume(void)
{
	for (int i = 0; i < breakpoints.n; i++) {
		if (breakpoints.v[i].suspended)
			lbx_bridge_script("enable breakpoints %d", breakpoints.v[i].number);
		breakpoints.v[i].suspended = false;
	}
}
