/* The report of a session's program, whose stacks are made up. */
#ifndef TESTS_REPORT_OF_H
#define TESTS_REPORT_OF_H

/* cmocka's header is the includer's: it wants others before it */
#include <string.h>

#include "fake_stacks.h"
#include "session.h"

/* What the session's program has died of is told whatever made its tensors. */
static inline const char *report_of(struct session *s, const char *line)
{
	struct fake_stacks stacks = fake_stacks(&s->image);

	s->context.stacks = &stacks.base;
	const char *text = session_says(s, "report", line);
	s->context.stacks = NULL;
	assert_false(s->failed);
	return text;
}

static inline void has(const char *text, const char *expected)
{
	if (!strstr(text, expected))
		fail_msg("no '%s' in:\n%s", expected, text);
}

#endif
