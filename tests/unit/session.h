/* A front end over a program's memory made by hand: commands go in, text comes out. */
#ifndef TESTS_SESSION_H
#define TESTS_SESSION_H

#include "image.h"
#include "inspect/command.h"

struct session {
	struct image image; /* populated */
	struct lbx_target *self; /* this very process; NULL when it looks at something else */
	struct lbx_context context;
	struct lbx_out out; /* 80 columns, without colours */
	struct lbx_settings settings;
	char text[1 << 16];
	size_t n;
	bool failed; /* the last command has */
};

struct session *session_create(bool shuffled);
/* A session over another target, e.g. this very process, and its table; both are the caller's. */
struct session *session_of(struct lbx_target *target, struct lbx_table *table);
/* A session over this very process, which each command sees as it then is; 400 columns, so that
 * no line is broken. NULL, with an error, when a process cannot be read here. */
struct session *session_of_self(void);
void session_destroy(struct session *session);
/* Forgets what it knows of the program, which has moved on: the next look is a fresh one. */
void session_forget(struct session *session);
/* The same as set-up and tear-down of a test: *state is the session. */
int session_start(void **state);
int session_stop(void **state);

/* What the command prints, or the error's message. Valid until the next call. */
const char *session_says(struct session *session, const char *command, const char *line);

#endif
