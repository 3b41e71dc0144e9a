#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "target/process.h"

static void write_text(struct lbx_out *out, const char *bytes, size_t n)
{
	struct session *s = out->context;

	if (s->n + n >= sizeof s->text) {
		fprintf(stderr, "a command prints more than %zu bytes\n", sizeof s->text);
		abort();
	}
	memcpy(s->text + s->n, bytes, n);
	s->text[s->n += n] = '\0';
}

struct session *session_of(struct lbx_target *target, struct lbx_table *table)
{
	struct session *s = calloc(1, sizeof *s);

	if (!s)
		abort();
	lb_clear_error();
	s->settings = lbx_default_settings;
	s->out = (struct lbx_out){ .width = 80, .context = s, .write = write_text };
	s->context = (struct lbx_context){ .target = target, .table = table, .out = &s->out, .settings = &s->settings };
	return s;
}

struct session *session_create(bool shuffled)
{
	struct session *s = session_of(NULL, NULL);

	image_create(&s->image, shuffled);
	image_populate(&s->image);
	s->context.target = &s->image.target;
	return s;
}

struct session *session_of_self(void)
{
	struct lbx_target *target;

	lb_clear_error();
	if (!lbx_process_open(getpid(), &target))
		return NULL;
	struct session *s = session_of(target, NULL);
	s->self = target;
	s->out.width = 400;
	return s;
}

void session_forget(struct session *s)
{
	lbx_context_close(&s->context);
}

void session_destroy(struct session *s)
{
	if (s->image.n_regions || s->self) /* else its table is that of who made the session */
		session_forget(s);
	if (s->image.n_regions)
		image_destroy(&s->image);
	if (s->self)
		lbx_target_destroy(s->self);
	free(s);
	lb_clear_error();
}

int session_start(void **state)
{
	*state = session_create(false);
	return 0;
}

int session_stop(void **state)
{
	session_destroy(*state);
	return 0;
}

const char *session_says(struct session *s, const char *command, const char *line)
{
	if (s->self)
		session_forget(s);
	s->n = 0;
	s->text[0] = '\0';
	s->out.json = false;
	struct lbx_args args;
	s->failed = !lbx_args_parse_line(lbx_command_find(lbx_commands, command), line, &args) ||
		    !lbx_command_run(&s->context, &args);
	lbx_abandon(&s->out, NULL);
	if (s->failed) {
		snprintf(s->text, sizeof s->text, "%s", lb_error_message());
		lb_clear_error();
	}
	return s->text;
}
