#define _GNU_SOURCE
#include "serve/gdb.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "lazybones.h"
#include "base/vector.h"
#include "inspect/near.h"
#include "serve/moment.h"

enum {
	MOST_LINE = 64 << 20,    /* bytes of one line of MI; a longer one is cut */
	MOST_CONSOLE = 16 << 20, /* of what a command says */
	ITS_END = 5, /* seconds, of a gdb that reads no more */
	ITS_QUIT = 2, /* seconds, of one that is interrupted */
};

/* Bytes that come from somewhere, until they are a line. */
struct stream {
	int fd;
	char *bytes;
	size_t n, room;
};

struct lbx_gdb {
	pid_t pid;
	int in;              /* its standard input */
	int slave;           /* the program's terminal, kept open so that it never hangs up */
	struct stream out, err, terminal;
	pthread_t thread;
	pthread_mutex_t asking; /* one command at a time */
	pthread_mutex_t lock;   /* what follows */
	pthread_cond_t told;
	struct lbx_gdb_listener listener; /* its functions are NULL: nobody listens yet */
	bool has_ended, is_gone; /* it has; and who listens has heard of it */
	long token;      /* of the last command */
	long waits_for;  /* the token whose result is waited for; -1: none */
	bool has_result; /* and it is there */
	struct lbx_gdb_answer answer;
	size_t console_n, console_room;
};

/* ---- what gdb says ---- */

static struct lbx_gdb_listener listener_of(struct lbx_gdb *gdb)
{
	pthread_mutex_lock(&gdb->lock);
	const struct lbx_gdb_listener ret = gdb->listener;
	pthread_mutex_unlock(&gdb->lock);
	return ret;
}

/* For whoever waits. */
static void keep_console(struct lbx_gdb *gdb, const char *text, size_t n)
{
	if (gdb->waits_for < 0 || gdb->console_n + n > MOST_CONSOLE ||
	    !lb_reserve(gdb->answer.console, gdb->console_room, gdb->console_n + n + 1))
		return;
	memcpy(gdb->answer.console + gdb->console_n, text, n);
	gdb->console_n += n;
	gdb->answer.console[gdb->console_n] = '\0';
}

/* False: of a command that nobody waits for any more. */
static bool keep_result(struct lbx_gdb *gdb, struct lbx_mi_line *line)
{
	if (gdb->waits_for < 0 || line->token != gdb->waits_for || gdb->has_result)
		return false;
	snprintf(gdb->answer.class, sizeof gdb->answer.class, "%.15s", line->class);
	gdb->answer.results = line->results;
	line->results = NULL;
	gdb->has_result = true;
	pthread_cond_broadcast(&gdb->told);
	return true;
}

static void take_line(struct lbx_gdb *gdb, const char *text, size_t n)
{
	struct lbx_mi_line line;

	if (!lbx_mi_parse(text, n, &line)) {
		lb_clear_error();
		return;
	}
	const struct lbx_gdb_listener listener = listener_of(gdb);
	bool runs = line.kind == LBX_MI_RESULT && strcmp(line.class, "running") == 0;
	if (runs && listener.line) /* before who waits for the result hears of it */
		listener.line(listener.self, &line);
	pthread_mutex_lock(&gdb->lock);
	bool is_kept = line.kind == LBX_MI_RESULT && keep_result(gdb, &line);
	if (line.kind == LBX_MI_CONSOLE || line.kind == LBX_MI_LOG)
		keep_console(gdb, line.text, line.n);
	pthread_mutex_unlock(&gdb->lock);
	if (!is_kept && !runs && line.kind != LBX_MI_PROMPT && listener.line)
		listener.line(listener.self, &line);
	lbx_mi_release(&line);
}

/* False at the end. */
static bool fill(struct stream *stream)
{
	if (!lb_reserve(stream->bytes, stream->room, stream->n + 65536))
		stream->n = 0;
	ssize_t got = read(stream->fd, stream->bytes + stream->n, stream->room - stream->n);
	if (got > 0)
		stream->n += (size_t)got;
	return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

static void take_lines(struct lbx_gdb *gdb, struct stream *stream)
{
	size_t from = 0;
	char *end;

	while ((end = memchr(stream->bytes + from, '\n', stream->n - from))) {
		take_line(gdb, stream->bytes + from, (size_t)(end - stream->bytes) - from);
		from = (size_t)(end - stream->bytes) + 1;
	}
	memmove(stream->bytes, stream->bytes + from, stream->n - from);
	stream->n -= from;
	if (stream->n > MOST_LINE)
		stream->n = 0;
}

/* All that the terminal holds, which is no more than so many reads give: a program that writes on and on keeps nobody from
 * hearing what gdb says. */
static void take_output(struct lbx_gdb *gdb)
{
	enum { READS = 64 };
	const struct lbx_gdb_listener listener = listener_of(gdb);

	for (int i = 0; i < READS && fill(&gdb->terminal) && gdb->terminal.n > 0; i++) {
		if (listener.output)
			listener.output(listener.self, gdb->terminal.bytes, gdb->terminal.n);
		gdb->terminal.n = 0;
	}
}

/* What gdb is told by libraries that write where they please. */
static void take_complaint(struct lbx_gdb *gdb, bool *is_open)
{
	*is_open = fill(&gdb->err);
	take_lines(gdb, &gdb->err);
}

static void *listen_to(void *self)
{
	struct lbx_gdb *gdb = self;
	bool is_open = true, err_is_open = true;
	int status = 0;

	while (is_open) {
		struct pollfd from[] = {
			{ gdb->out.fd, POLLIN, 0 },
			{ err_is_open ? gdb->err.fd : -1, POLLIN, 0 },
			{ gdb->terminal.fd, POLLIN, 0 },
		};
		if (poll(from, 3, -1) < 0 && errno != EINTR)
			break;
		if ((from[2].revents | from[0].revents) & POLLIN) /* what was written before a stop comes before it */
			take_output(gdb);
		if (from[1].revents)
			take_complaint(gdb, &err_is_open);
		if (from[0].revents) {
			is_open = fill(&gdb->out);
			take_lines(gdb, &gdb->out);
		}
	}
	while (waitpid(gdb->pid, &status, 0) < 0 && errno == EINTR)
		;
	pthread_mutex_lock(&gdb->lock);
	gdb->has_ended = true;
	pthread_mutex_unlock(&gdb->lock);
	const struct lbx_gdb_listener listener = listener_of(gdb);
	if (listener.ended)
		listener.ended(listener.self, status); /* before who waits for an answer hears of it */
	pthread_mutex_lock(&gdb->lock);
	gdb->is_gone = true;
	pthread_cond_broadcast(&gdb->told);
	pthread_mutex_unlock(&gdb->lock);
	return NULL;
}

/* ---- its beginning ---- */

/* The program's terminal hands on what is written as it is, and echoes nothing. */
static bool open_terminal(struct lbx_gdb *gdb, char *name, size_t size)
{
	struct termios settings;

	gdb->terminal.fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (gdb->terminal.fd < 0 || grantpt(gdb->terminal.fd) != 0 || unlockpt(gdb->terminal.fd) != 0 ||
	    ptsname_r(gdb->terminal.fd, name, size) != 0)
		return lb_fail("no terminal for the program can be had: %s", strerror(errno));
	gdb->slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (gdb->slave < 0 || tcgetattr(gdb->slave, &settings) != 0)
		return lb_fail("the program's terminal %s cannot be opened: %s", name, strerror(errno));
	settings.c_oflag &= (tcflag_t)~OPOST;
	settings.c_lflag &= (tcflag_t) ~(ECHO | ECHONL);
	tcsetattr(gdb->slave, TCSANOW, &settings);
	fcntl(gdb->terminal.fd, F_SETFL, O_NONBLOCK);
	return true;
}

/* In the child, where only what is safe after a fork of one thread among others may be called. */
static void be_gdb(const int in[2], const int out[2], const int err[2], char **argv, char **environment)
{
	static const int ignored[] = { SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGCHLD };
	sigset_t none;

	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
		signal(ignored[i], SIG_DFL);
	setsid();
	if (dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0 || dup2(err[1], 2) < 0)
		_exit(126);
	execvpe("gdb", argv, environment);
	_exit(127);
}

static bool open_pipes(int pipes[3][2])
{
	for (int i = 0; i < 3; i++)
		if (pipe2(pipes[i], O_CLOEXEC) != 0)
			return lb_fail("no pipe to gdb can be had: %s", strerror(errno));
	return true;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* This process' environment and one more, without what makes gdb keep a trace, since the session has its own. NULL: no memory;
 * the caller's. */
static char **environment_with(char *variable)
{
	size_t n = 0;

	while (environ[n])
		n++;
	char **ret = malloc((n + 2) * sizeof *ret);
	if (!ret)
		return NULL;
	char **to = ret;
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "LAZYBONES_TRACE=", 16) != 0)
			*to++ = environ[i];
	*to++ = variable;
	*to = NULL;
	return ret;
}

/* gdb looks through the symbols of a program and its libraries once then, not at each start; where it cannot keep what it has
 * found, it would warn of that among answers. */
static bool can_keep_indexes(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *folder = cache && *cache ? cache : getenv("HOME");

	return folder && access(folder, W_OK) == 0;
}

static bool fork_gdb(struct lbx_gdb *gdb)
{
	char loader[PATH_MAX], terminal[64];
	int pipes[3][2] = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
	const char *const argv[] = {
		"gdb",
		"-q",
		"-nx",
		"-nh",
		"-i=mi3",
		"-iex",
		"set debuginfod enabled off",
		"-iex",
		"set confirm off",
		"-iex",
		"set pagination off",
		"-iex",
		"set width 0",
		"-iex",
		"set height 0",
		"-iex",
		"unset environment LAZYBONES_ANSWERS",
		"-iex",
		"set breakpoint pending on",
		"-iex",
		can_keep_indexes() ? "set index-cache enabled on" : "set index-cache enabled off",
		"-tty",
		terminal,
		"-x",
		loader,
		NULL,
	};

	if (!lbx_find_loader(loader) || !open_terminal(gdb, terminal, sizeof terminal) || !open_pipes(pipes))
		return false;
	lb_auto_free char **environment = environment_with((char *)"LAZYBONES_ANSWERS=file");
	gdb->pid = environment ? fork() : -1;
	if (gdb->pid == 0)
		be_gdb(pipes[0], pipes[1], pipes[2], (char **)argv, environment);
	close_fd(&pipes[0][0]);
	close_fd(&pipes[1][1]);
	close_fd(&pipes[2][1]);
	gdb->in = pipes[0][1];
	gdb->out.fd = pipes[1][0];
	gdb->err.fd = pipes[2][0];
	return gdb->pid > 0 || lb_fail("gdb cannot be started: %s", strerror(errno));
}

static void release(struct lbx_gdb *gdb)
{
	struct stream *streams[] = { &gdb->out, &gdb->err, &gdb->terminal };

	for (int i = 0; i < 3; i++) {
		close_fd(&streams[i]->fd);
		free(streams[i]->bytes);
	}
	close_fd(&gdb->in);
	close_fd(&gdb->slave);
	lbx_gdb_answer_release(&gdb->answer);
	free(gdb);
}

bool lbx_gdb_start(struct lbx_gdb **ret)
{
	struct lbx_gdb *gdb = calloc(1, sizeof *gdb);

	if (!gdb)
		return lb_fail("out of memory");
	gdb->in = gdb->slave = gdb->out.fd = gdb->err.fd = gdb->terminal.fd = -1;
	gdb->waits_for = -1;
	pthread_mutex_init(&gdb->asking, NULL);
	pthread_mutex_init(&gdb->lock, NULL);
	lbx_moment_cond_init(&gdb->told);
	if (!fork_gdb(gdb)) {
		release(gdb);
		return false;
	}
	if (pthread_create(&gdb->thread, NULL, listen_to, gdb) != 0) {
		kill(gdb->pid, SIGKILL);
		waitpid(gdb->pid, NULL, 0);
		release(gdb);
		return lb_fail("no thread for gdb's answers can be had: %s", strerror(errno));
	}
	*ret = gdb;
	return true;
}

bool lbx_gdb_listen(struct lbx_gdb *gdb, const struct lbx_gdb_listener *listener)
{
	pthread_mutex_lock(&gdb->lock);
	bool ok = !gdb->has_ended;
	if (ok)
		gdb->listener = *listener;
	pthread_mutex_unlock(&gdb->lock);
	return ok || lb_fail("gdb has ended");
}

pid_t lbx_gdb_pid(const struct lbx_gdb *gdb)
{
	return gdb->pid;
}

/* ---- its end ---- */

/* Whether it is gone by then. */
static bool wait_for_end(struct lbx_gdb *gdb, double seconds)
{
	struct timespec until = lbx_moment_in(seconds);
	int error = 0;

	pthread_mutex_lock(&gdb->lock);
	while (!gdb->is_gone && error == 0)
		error = pthread_cond_timedwait(&gdb->told, &gdb->lock, &until);
	bool is_gone = gdb->is_gone;
	pthread_mutex_unlock(&gdb->lock);
	return is_gone;
}

/* gdb reads that when the program has stopped, and then ends what it has started; what it was attached to runs on. */
static bool ask_to_quit(struct lbx_gdb *gdb)
{
	static const char quit[] = "-gdb-exit\n";

	return write(gdb->in, quit, sizeof quit - 1) == sizeof quit - 1;
}

/* A shell or an editor that gdb has started, and waits for, is of its group, as all is but what it debugs. It holds the pipe from
 * which gdb's end is read, too. */
void lbx_gdb_stop(struct lbx_gdb *gdb)
{
	if (!ask_to_quit(gdb) || !wait_for_end(gdb, 0.05)) {
		kill(-gdb->pid, SIGINT);
		if (!wait_for_end(gdb, 1.5))
			kill(-gdb->pid, SIGTERM);
		if (!wait_for_end(gdb, 0.5))
			kill(-gdb->pid, SIGKILL);
	}
	pthread_join(gdb->thread, NULL);
}

void lbx_gdb_destroy(struct lbx_gdb *gdb)
{
	if (gdb)
		release(gdb);
}

/* ---- asking ---- */

void lbx_gdb_answer_release(struct lbx_gdb_answer *answer)
{
	json_decref(answer->results);
	free(answer->console);
	memset(answer, 0, sizeof *answer);
}

static bool send_line(struct lbx_gdb *gdb, long token, const char *command)
{
	lb_auto_free char *line = NULL;
	int n = asprintf(&line, "%ld%s\n", token, command);

	if (n < 0)
		return lb_fail("out of memory");
	for (int done = 0; done < n;) {
		ssize_t written = write(gdb->in, line + done, (size_t)(n - done));
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return lb_fail("gdb has ended");
		done += (int)written;
	}
	return true;
}

/* Whether it is there by then; also where gdb is gone there is nothing to wait for. */
static bool has_result_by(struct lbx_gdb *gdb, double seconds)
{
	struct timespec until = lbx_moment_in(seconds);
	int error = 0;

	while (!gdb->has_result && !gdb->is_gone && error == 0)
		error = pthread_cond_timedwait(&gdb->told, &gdb->lock, &until);
	return gdb->has_result;
}

/* A gdb that is interrupted says so, after which it hears the next command: one that came before would be read as a line of
 * what it was interrupted in. */
static bool wait_for_result(struct lbx_gdb *gdb, double seconds)
{
	if (has_result_by(gdb, seconds))
		return true;
	if (!gdb->is_gone) {
		kill(gdb->pid, SIGINT);
		has_result_by(gdb, ITS_QUIT);
	}
	return gdb->is_gone ? lb_fail("gdb has ended")
			    : lb_fail_because(LB_INTERRUPTED, "gdb has not answered within %g s", seconds);
}

/* In the lock. */
static bool ask(struct lbx_gdb *gdb, double seconds, struct lbx_gdb_answer *ret, const char *command)
{
	long token = gdb->token = gdb->token % 100000000 + 1;

	if (gdb->is_gone)
		return lb_fail("gdb has ended");
	lbx_gdb_answer_release(&gdb->answer);
	gdb->answer.console = calloc(1, 1);
	gdb->console_n = 0;
	gdb->console_room = gdb->answer.console ? 1 : 0;
	gdb->has_result = false;
	if (!gdb->answer.console)
		return lb_fail("out of memory");
	gdb->waits_for = token;
	pthread_mutex_unlock(&gdb->lock);
	bool sent = send_line(gdb, token, command);
	pthread_mutex_lock(&gdb->lock);
	bool ok = wait_for_result(gdb, sent ? seconds : ITS_END);
	gdb->waits_for = -1;
	if (!ok)
		return false;
	*ret = gdb->answer;
	memset(&gdb->answer, 0, sizeof gdb->answer);
	return true;
}

bool lbx_gdb_ask(struct lbx_gdb *gdb, double seconds, struct lbx_gdb_answer *ret, const char *command)
{
	memset(ret, 0, sizeof *ret);
	pthread_mutex_lock(&gdb->asking);
	pthread_mutex_lock(&gdb->lock);
	bool ok = ask(gdb, seconds, ret, command);
	pthread_mutex_unlock(&gdb->lock);
	pthread_mutex_unlock(&gdb->asking);
	if (!ok || strcmp(ret->class, "error") != 0)
		return ok;
	lb_fail("%s", lbx_mi_string(ret->results, "msg"));
	lbx_gdb_answer_release(ret);
	return false;
}

char *lbx_gdb_quote(const char *text)
{
	char *ret = malloc(2 * strlen(text) + 3), *to = ret;

	if (!ret)
		return NULL;
	*to++ = '"';
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			*to++ = '\\';
		if (*text == '\n')
			*to++ = '\\';
		*to++ = *text == '\n' ? 'n' : *text;
	}
	*to++ = '"';
	*to = '\0';
	return ret;
}

bool lbx_gdb_console(struct lbx_gdb *gdb, double seconds, struct lbx_gdb_answer *ret, const char *line)
{
	lb_auto_free char *word = lbx_gdb_quote(line), *command = NULL;

	if (!word || asprintf(&command, "-interpreter-exec console %s", word) < 0)
		return lb_fail("out of memory");
	return lbx_gdb_ask(gdb, seconds, ret, command);
}

/* The plugin's file, as it is now. */
static bool read_answer(const struct lbx_gdb *gdb, char **ret, size_t *n)
{
	char path[64];
	struct stat about;

	snprintf(path, sizeof path, "/proc/%d/fd/911", (int)gdb->pid);
	lb_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &about) != 0)
		return lb_fail("the answer of gdb's plugin cannot be read: %s", strerror(errno));
	lb_auto_free char *bytes = malloc((size_t)about.st_size + 1);
	for (*n = 0; bytes && *n < (size_t)about.st_size;) {
		ssize_t got = read(fd, bytes + *n, (size_t)about.st_size - *n);
		if (got <= 0)
			return lb_fail("the answer of gdb's plugin is cut");
		*n += (size_t)got;
	}
	if (!bytes || *n == 0)
		return lb_fail(bytes ? "gdb's plugin has not answered" : "out of memory");
	bytes[*n] = '\0';
	*ret = bytes;
	bytes = NULL;
	return true;
}

bool lbx_gdb_tensor(struct lbx_gdb *gdb, double seconds, const char *line, char **ret, size_t *n)
{
	struct lbx_gdb_answer answer;
	lb_auto_free char *command = NULL;

	if (asprintf(&command, "-gdb-set _tensor %s --json", line) < 0)
		return lb_fail("out of memory");
	if (!lbx_gdb_ask(gdb, seconds, &answer, command))
		return false;
	lbx_gdb_answer_release(&answer);
	return read_answer(gdb, ret, n);
}

bool lbx_gdb_interrupt(struct lbx_gdb *gdb)
{
	return kill(gdb->pid, SIGINT) == 0 || lb_fail("gdb has ended");
}
