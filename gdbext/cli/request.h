/* What a command line asks for. */
#ifndef LBX_REQUEST_H
#define LBX_REQUEST_H

#include <sys/types.h>

#include "cli/guard.h"
#include "inspect/command.h"
#include "target/core.h"

struct lbx_request {
	bool json, is_core, stop, help;
	bool is_alone;      /* nothing is looked into */
	bool is_pair;       /* `what` is one of the cores that the command's words name */
	const char *what;   /* the core's path, or the process' number */
	pid_t pid;          /* that number */
	int64_t thread;     /* whose variables are meant; 0: any one's */
	bool has_frame;
	int64_t frame;      /* likewise, of that thread or the first */
	const char **cores; /* of `ranks`, NULL at the end; or NULL */
	struct lbx_core_options core;
	struct lbx_limits limits;
	const struct lbx_command *command; /* NULL only with help */
	struct lbx_args program; /* what stands before a command, and may stand anywhere: lbx_cli_program */
	struct lbx_command operand; /* the row of: */
	struct lbx_args form;    /* `core CORE`: where `what` is */
	struct lbx_args args;    /* of the command, as lbx_command_run() takes them */
};

/* The words from the first on that is none of the options that ret->program holds already; some of them are
 * changed. The strings must outlive the request. Options stand anywhere: one that the command has itself is
 * the command's if it stands behind the command. */
bool lbx_request_parse(struct lbx_argv words, struct lbx_request *ret);
/* A command of the table that this front end has; NULL with an error. */
const struct lbx_command *lbx_request_command(const char *name);

#endif
