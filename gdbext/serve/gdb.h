/* A gdb that is driven by its machine interface: started, asked, listened to, ended.
 *
 * gdb runs as a child in a session of its own, so that Ctrl-C at this program's terminal is not for it. The program
 * that it debugs has a terminal of its own, too, whose output is handed on. Commands go one at a time. While the program
 * runs gdb reads none; a signal stops it (lbx_gdb_interrupt). Answers of `tensor … --json` do not pass gdb,
 * which would read them byte by byte: the plugin leaves them in a file of gdb's process (plugin/bridge/answers.h). */
#ifndef LBX_SERVE_GDB_H
#define LBX_SERVE_GDB_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "serve/mi.h"

struct lbx_gdb;

/* Called by a thread of the gdb's; none may ask gdb anything. */
struct lbx_gdb_listener {
	void *self;
	/* What runs and stops, what gdb notices, what it says; results that nobody waits for, and each that says that
	 * the program runs. The line is the caller's. */
	void (*line)(void *self, const struct lbx_mi_line *line);
	/* Output of the program. */
	void (*output)(void *self, const char *text, size_t n);
	/* gdb is gone; nothing is called after it. `status` as waitpid() gives it. */
	void (*ended)(void *self, int status);
};

struct lbx_gdb_answer {
	char class[16]; /* "done", "running", "error" */
	json_t *results; /* an object */
	char *console; /* what gdb said meanwhile, for people; "" at least */
};

/* One that looks at nothing yet, with our commands. Nobody listens to it. */
bool lbx_gdb_start(struct lbx_gdb **ret);
/* Fails where it has ended by now. */
bool lbx_gdb_listen(struct lbx_gdb *gdb, const struct lbx_gdb_listener *listener);
/* Ends gdb, and with it what it has started, and waits for that, once. Whoever waits for an answer fails. */
void lbx_gdb_stop(struct lbx_gdb *gdb);
/* Once it has been stopped, and nobody asks any more. */
void lbx_gdb_destroy(struct lbx_gdb *gdb);
pid_t lbx_gdb_pid(const struct lbx_gdb *gdb);

#define LBX_GDB_FOR_EVER 1e9 /* seconds: until gdb answers, or is gone */

/* Sends a command of MI, without its newline, and waits for its result. Fails where gdb is gone, answers with an error
 * (whose text it is), or has not answered in that time, and is interrupted; the answer is then released. */
bool lbx_gdb_ask(struct lbx_gdb *gdb, double seconds, struct lbx_gdb_answer *ret, const char *command);
void lbx_gdb_answer_release(struct lbx_gdb_answer *answer);
/* A word for a command of MI: in quotes, escaped. NULL: no memory. The caller's. */
char *lbx_gdb_quote(const char *text);
/* Runs a command of gdb's console. */
bool lbx_gdb_console(struct lbx_gdb *gdb, double seconds, struct lbx_gdb_answer *ret, const char *line);
/* Runs `tensor LINE --json`; *ret is the JSON text, which may be an object with "error". The caller's. */
bool lbx_gdb_tensor(struct lbx_gdb *gdb, double seconds, const char *line, char **ret, size_t *n);
/* Stops the program. */
bool lbx_gdb_interrupt(struct lbx_gdb *gdb);

#endif
