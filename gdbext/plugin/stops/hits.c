/* Commands of a breakpoint that end with `continue` take the stop from whatever else was hit at that place, and gdb
 * does not tell them what was. `info program` names all breakpoints at which the program stands, also those whose condition was
 * false; what `info breakpoints` counts are the true ones and those that an `ignore` has passed. So another one is a reason to
 * stop if the program stands at it, and it has no condition, or has been hit more often than at the last stop of ours. It is
 * no longer named where gdb has deleted it since, as it does with what `tbreak` and `finish` set.
 *
 * Several of ours may be hit at one stop, and each asks: as long as all counts are what they were, and the same thread of the same
 * process stands at the same place, it is the same stop. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/stops/hits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/bridge/bridge.h"

enum { COUNTS = 512 };

struct counts {
	int number; /* gdb's */
	bool is_ours, is_limited; /* limited: it has a condition, or a thread, or is to be ignored */
	bool never_stops;
	long hits, ignored_next;
};

struct list {
	struct counts v[COUNTS];
	int n;
	bool is_full;
};

static struct list now, before;
static char place[256]; /* what `info program` begins with at the stop that `before` is of; "": none is meant */
static bool is_kept; /* there: the program is to stand */

/* ---- what gdb counts ---- */

void lbx_hits_begin(void)
{
	now.n = 0;
	now.is_full = false;
}

/* The number behind the words, in a line of its own; 0: there is no such line. */
static long number_behind(const char *text, size_t n, const char *words)
{
	const char *at = memmem(text, n, words, strlen(words));

	return at ? strtol(at + strlen(words), NULL, 10) : 0;
}

void lbx_hits_take(const char *text, size_t n, bool is_ours)
{
	static const char ignored[] = "\n\tignore next ";
	size_t line = strcspn(text, "\n");

	if (now.n == COUNTS) {
		now.is_full = true;
		return;
	}
	now.v[now.n++] = (struct counts){
		.number = atoi(text),
		.is_ours = is_ours,
		.is_limited = memmem(text, n, "\n\tstop only ", 12) || memmem(text, n, ignored, sizeof ignored - 1),
		.never_stops = memmem(text, line < n ? line : n, " dprintf ", 9),
		.hits = number_behind(text, n, "\n\tbreakpoint already hit "),
		.ignored_next = number_behind(text, n, ignored),
	};
}

static const struct counts *counts_of(const struct list *list, int number)
{
	for (int i = 0; i < list->n; i++)
		if (list->v[i].number == number)
			return &list->v[i];
	return NULL;
}

static bool counts_are_same(void)
{
	bool any = false;

	for (int i = 0; i < now.n; i++) {
		const struct counts *was = counts_of(&before, now.v[i].number);
		if (was ? was->hits != now.v[i].hits : now.v[i].hits != 0)
			return false;
		any |= was && was->is_ours;
	}
	return any;
}

void lbx_hits_settle(void)
{
	if (!counts_are_same())
		place[0] = '\0';
	before = now;
}

bool lbx_hits_is_new(int breakpoint)
{
	const struct counts *c = counts_of(&now, breakpoint), *was = counts_of(&before, breakpoint);

	return c && c->hits > (was && was->hits <= c->hits ? was->hits : 0);
}

/* ---- at a stop ---- */

/* Of one that the program stands at. One that is new has been made where the program stood. */
static bool is_reason(const struct counts *c)
{
	const struct counts *was = counts_of(&before, c->number);
	long hits = c->hits, passed = 0;

	if (c->is_ours || c->never_stops)
		return false;
	if (was && was->hits <= hits) { /* else the program has begun anew */
		hits -= was->hits;
		passed = was->ignored_next - c->ignored_next;
	}
	return (!c->is_limited && (!was || was->ignored_next == 0)) || hits > passed;
}

/* Whether somebody else has a reason; *ret_unnamed: one that is there no more, beside one of ours. */
static bool has_other(const char *program, bool *ret_unnamed)
{
	static const char stopped[] = "stopped at breakpoint ", deleted[] = "breakpoint that has since been deleted";
	bool any = now.is_full, ours = false;

	for (const char *at = program; (at = strstr(at, stopped)); at++) {
		const struct counts *c = counts_of(&now, atoi(at + sizeof stopped - 1));
		any |= c && is_reason(c);
		ours |= c && c->is_ours;
	}
	*ret_unnamed = !any && ours && strstr(program, deleted);
	return any || *ret_unnamed;
}

/* What was asked; "" where gdb has no answer, NULL while that is awaited. */
static const char *ask_program(void)
{
	const char *program;

	return lbx_bridge_ask(&program, LBX_WITHOUT_FRAME, "info program") ? program : lbx_bridge_waits() ? NULL : "";
}

static void take_place(const char *program, char ret[sizeof place])
{
	const char *end = strstr(program, "It stopped");

	snprintf(ret, sizeof place, "%.*s", end ? (int)(end - program) : (int)strlen(program), program);
}

/* The program stands as it says. */
static void note(const char *program, bool is_to_stand)
{
	is_kept = is_to_stand;
	before = now;
	take_place(program, place);
}

bool lbx_hits_ask(void)
{
	return ask_program();
}

static bool is_same(const char *program)
{
	char here[sizeof place];

	take_place(program, here);
	return place[0] && strcmp(here, place) == 0 && counts_are_same();
}

bool lbx_hits_are_same(void)
{
	const char *program = ask_program();

	return program && is_same(program);
}

bool lbx_hits_go_on(void)
{
	const char *program = ask_program();
	bool is_unnamed = false;

	if (!program)
		return false;
	if (!is_same(program))
		note(program, has_other(program, &is_unnamed));
	lbx_bridge_script("set $_lb_go = %d", !is_kept);
	if (is_unnamed) /* gdb itself may have said nothing */
		lbx_bridge_script("frame");
	return true;
}

void lbx_hits_keep(void)
{
	const char *program = ask_program();

	if (program)
		note(program, true);
}

bool lbx_hits_are_kept(void)
{
	return is_kept;
}
