/* What a command of a session prints, or the error's message: with a text in it, or without. */
#ifndef TESTS_SAYS_H
#define TESTS_SAYS_H

/* cmocka's header is the includer's: it wants others before it */
#include <string.h>

#include "session.h"

static inline void says(struct session *s, const char *command, const char *line, const char *expected)
{
	const char *text = session_says(s, command, line);

	if (!strstr(text, expected))
		fail_msg("%s %s: no '%s' in:\n%s", command, line, expected, text);
}

static inline void is_silent_about(struct session *s, const char *command, const char *line, const char *unexpected)
{
	const char *text = session_says(s, command, line);

	if (strstr(text, unexpected))
		fail_msg("%s %s: '%s' in:\n%s", command, line, unexpected, text);
}

#endif
