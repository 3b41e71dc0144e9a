#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/stops/stop_commands.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/bridge/bridge.h"
#include "plugin/bridge/lines.h"

/* The commands, as `info breakpoints` shows them, of the last breakpoint that the program has stopped at and that has
 * some; *ret_n: their length. NULL: none has. */
static const char *last_commands(const char *program, const char *breakpoints, size_t *ret_n)
{
	static const char stopped[] = "stopped at breakpoint ";
	const char *last = NULL;

	for (const char *at = program; (at = strstr(at, stopped)); at++) {
		long number = strtol(at + sizeof(stopped) - 1, NULL, 10), current = 0;
		const char *commands = NULL;

		for (const char *line = breakpoints; *line;) {
			bool is_command = strncmp(line, "        ", 8) == 0;
			if (*line >= '0' && *line <= '9')
				current = strtol(line, NULL, 10);
			else if (current == number && is_command && !commands)
				commands = line;
			line += strcspn(line, "\n");
			line += *line == '\n';
			if (current == number && is_command) {
				last = commands;
				*ret_n = (size_t)(line - commands);
			}
		}
	}
	return last;
}

static bool ask_for_commands(const char **ret, size_t *ret_n)
{
	const char *program, *breakpoints;

	if (!lbx_bridge_ask(&program, LBX_WITHOUT_FRAME, "info program") ||
	    !lbx_bridge_ask(&breakpoints, LBX_WITHOUT_FRAME, "info breakpoints"))
		return false;
	*ret = last_commands(program, breakpoints, ret_n);
	return true;
}

bool lbx_stop_has_commands(void)
{
	const char *commands;
	size_t n;

	return !ask_for_commands(&commands, &n) || commands;
}

bool lbx_stop_is_ours(void)
{
	static const char hit[] = "_tensor" LBX_HIT, start[] = "_tensor" LBX_HIT " start";
	const char *commands, *at;
	size_t n;

	at = ask_for_commands(&commands, &n) && commands ? memmem(commands, n, hit, sizeof hit - 1) : NULL;
	return at && strncmp(at, start, sizeof start - 1) != 0;
}

/* Whether these commands tell of that hit. */
static bool tell_of(const char *commands, size_t n, const char *hit)
{
	char line[64];
	int length = snprintf(line, sizeof line, "_tensor" LBX_HIT " %s", hit);
	const char *at = memmem(commands, n, line, strlen(line));

	return at && !isalnum((unsigned char)at[length]);
}

bool lbx_stop_commands_end(const char *hit, bool *ret)
{
	const char *commands;
	size_t n;

	if (!ask_for_commands(&commands, &n))
		return false;
	*ret = !commands || !*hit || tell_of(commands, n, hit);
	return true;
}
