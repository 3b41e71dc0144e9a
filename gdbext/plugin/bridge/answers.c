#include "plugin/bridge/answers.h"

#include <stdlib.h>
#include <string.h>

#include "plugin/bridge/files.h"

static enum { UNKNOWN, OFF, ON } state;

bool lbx_answers_are_wanted(void)
{
	const char *wanted = getenv("LAZYBONES_ANSWERS");

	return wanted && strcmp(wanted, "file") == 0;
}

static bool is_on(void)
{
	if (state == UNKNOWN)
		state = lbx_answers_are_wanted() && lbx_file_open(LBX_ANSWER_FD, "lazybones-answer", "") ? ON : OFF;
	return state == ON;
}

void lbx_answers_begin(void)
{
	if (is_on() && !lbx_file_write(LBX_ANSWER_FD, "", 0))
		state = OFF;
}

bool lbx_answers_take(const char *text, size_t n)
{
	if (is_on() && !lbx_file_append(LBX_ANSWER_FD, text, n))
		state = OFF;
	return state == ON;
}
