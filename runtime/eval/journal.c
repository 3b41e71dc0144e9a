#define _GNU_SOURCE
#include "eval/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "kernels/kernels.h"
#include "ops/operation.h"

enum { LINE = 4096, PATH_BYTES = 512 };

static struct {
	pthread_mutex_t lock;
	uint32_t log; /* the root's, for which the file was opened */
	int fd;       /* -1: none is open */
	dev_t device;
	ino_t inode;
	locale_t plain; /* whose numbers have points, whatever the program's have */
	uint64_t lines;
} journal = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

bool lb_journal_wants(const struct lb_tensor *t)
{
	const char *name = (const char *)(uintptr_t)__atomic_load_n(&t->name, __ATOMIC_ACQUIRE);
	char globs[LB_LOG_BYTES], *rest = globs, *glob;

	if (!name || !*name)
		return false;
	memcpy(globs, lb_root->log_names, sizeof globs - 1);
	globs[sizeof globs - 1] = '\0';
	if (!*globs)
		return true;
	while ((glob = strsep(&rest, ",")))
		if (*glob && fnmatch(glob, name, 0) == 0)
			return true;
	return false;
}

/* ---- the file ---- */

/* %p becomes the process id. */
static void expand(const char *path, char ret[PATH_BYTES])
{
	const char *mark = strstr(path, "%p");

	if (mark)
		snprintf(ret, PATH_BYTES, "%.*s%ld%s", (int)(mark - path), path, (long)getpid(), mark + 2);
	else
		snprintf(ret, PATH_BYTES, "%s", path);
}

static void give_up(const char *path, const char *why)
{
	uint32_t log = journal.log;

	fprintf(stderr, "lazybones: %s: %s: nothing is logged\n", path, why);
	/* unless a debugger has begun another one */
	__atomic_compare_exchange_n(&lb_root->log, &log, log + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* A FIFO that nobody reads is refused: opened to be written, it would wait. One that is read slowly is waited for. */
static int open_to_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);

	if (fd >= 0)
		fcntl(fd, F_SETFL, O_APPEND);
	return fd;
}

/* Programs that close all they have not opened themselves get the number again, for a file of theirs. */
static bool is_ours(void)
{
	struct stat now;

	return journal.fd <= STDERR_FILENO ||
	       (fstat(journal.fd, &now) == 0 && now.st_dev == journal.device && now.st_ino == journal.inode);
}

static bool open_file(void)
{
	uint32_t log = __atomic_load_n(&lb_root->log, __ATOMIC_ACQUIRE);
	char file[LB_LOG_BYTES], path[PATH_BYTES];
	struct stat opened;

	if (log == journal.log)
		return (log & 1) && journal.fd >= 0;
	if (journal.fd > STDERR_FILENO && is_ours())
		close(journal.fd);
	journal.fd = -1;
	journal.log = log;
	journal.lines = 0;
	if (!journal.plain)
		journal.plain = newlocale(LC_NUMERIC_MASK, "C", 0);
	memcpy(file, lb_root->log_file, sizeof file - 1);
	file[sizeof file - 1] = '\0';
	if (!(log & 1) || !*file)
		return false;
	expand(file, path);
	journal.fd = strcmp(path, "-") == 0 ? STDERR_FILENO : open_to_write(path);
	if (journal.fd < 0 || fstat(journal.fd, &opened) != 0) {
		give_up(path, errno == ENXIO ? "nobody reads it" : strerror(errno));
		return false;
	}
	journal.device = opened.st_dev;
	journal.inode = opened.st_ino;
	return true;
}

static bool write_all(const char *line, size_t n)
{
	while (n > 0) {
		ssize_t written = write(journal.fd, line, n);
		if (written < 0 && errno == EAGAIN)
			poll(&(struct pollfd){ .fd = journal.fd, .events = POLLOUT }, 1, -1);
		if (written < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (written <= 0) {
			give_up("the log", strerror(errno));
			return false;
		}
		line += written;
		n -= (size_t)written;
	}
	return true;
}

/* What the signals would say is said by errno, and no reason for the program to die. */
static void put_text(const char *line, size_t n)
{
	static const struct timespec at_once;
	sigset_t ours, before, pending;

	if (!is_ours()) {
		give_up("the log", "the program has closed it");
		return;
	}
	sigemptyset(&ours);
	sigaddset(&ours, SIGPIPE);
	sigaddset(&ours, SIGXFSZ);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &ours, &before);
	bool done = write_all(line, n);
	if (sigismember(&pending, SIGPIPE))
		sigdelset(&ours, SIGPIPE);
	if (sigismember(&pending, SIGXFSZ))
		sigdelset(&ours, SIGXFSZ);
	while (!done && sigtimedwait(&ours, NULL, &at_once) > 0)
		;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- a line ---- */

struct line {
	size_t n;
	char text[LINE];
};

__attribute__((format(printf, 2, 3))) static void add(struct line *l, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int n = vsnprintf(l->text + l->n, sizeof l->text - l->n, format, args);
	va_end(args);
	l->n += n > 0 && (size_t)n < sizeof l->text - l->n ? (size_t)n : 0;
}

static void add_text(struct line *l, const char *key, const char *text)
{
	add(l, ",\"%s\":\"", key);
	bool is_text = lb_is_text(text, strlen(text));
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c == '"' || c == '\\')
			add(l, "\\%c", c);
		else if (c < ' ' || (c > '~' && !is_text))
			add(l, "\\u%04x", c < 0x80 ? c : 0xfffd);
		else if (l->n < sizeof l->text - 1)
			l->text[l->n++] = (char)c;
	}
	add(l, "\"");
}

static void add_real(struct line *l, const char *key, bool is, double value)
{
	if (is && isfinite(value))
		add(l, ",\"%s\":%.17g", key, value);
	else
		add(l, ",\"%s\":null", key);
}

static void write_line(const struct lb_tensor *t, const struct lb_figures *f)
{
	struct line l;

	locale_t before = uselocale(journal.plain);
	l.n = 0;
	add(&l, "{\"step\":%" PRIu64 ",\"eval\":%" PRIu64 ",\"id\":%" PRIu64, ++journal.lines, t->eval, t->id);
	add_text(&l, "name", (const char *)(uintptr_t)t->name);
	add_text(&l, "op", lb_ops[t->op].name);
	add_text(&l, "dtype", lb_dtypes[t->dtype].name);
	add(&l, ",\"shape\":[");
	for (int i = 0; i < (int)t->rank; i++)
		add(&l, "%s%" PRId64, i ? "," : "", t->shape[i]);
	add(&l, "],\"count\":%" PRId64, f->count);
	add_real(&l, "min", f->finite, f->min);
	add_real(&l, "max", f->finite, f->max);
	add_real(&l, "mean", f->finite, f->mean);
	add_real(&l, "std", f->finite, f->std);
	add_real(&l, "l2", true, f->l2);
	add(&l, ",\"nan\":%" PRId64 ",\"inf\":%" PRId64 ",\"zero\":%" PRId64, f->nan, f->inf, f->zero);
	add(&l, ",\"hash\":\"%016" PRIx64 "\",\"bag\":\"%016" PRIx64 "\"}\n", f->hash, f->bag);
	uselocale(before);
	put_text(l.text, l.n);
}

void lb_journal(const struct lb_tensor *t)
{
	struct lb_figures f;

	if (!lb_journal_wants(t))
		return;
	struct lb_view x = lb_view_of(t);
	lb_find_figures(&x, &f);
	pthread_mutex_lock(&journal.lock);
	if (open_file())
		write_line(t, &f);
	pthread_mutex_unlock(&journal.lock);
}

/* ---- forks ---- */

/* /proc/PID/fd/N: a pipe of somebody who follows this process, and would take a child's values for its. */
static bool is_anothers(const char *file)
{
	return strncmp(file, "/proc/", 6) == 0 && file[6] >= '1' && file[6] <= '9';
}

/* The file is opened, or the child would begin it anew. */
void lb_journal_before_fork(void)
{
	pthread_mutex_lock(&journal.lock);
	if (lb_journal_on())
		open_file();
}

void lb_journal_after_fork(void)
{
	pthread_mutex_unlock(&journal.lock);
}

void lb_journal_after_fork_in_child(void)
{
	if (memmem(lb_root->log_file, sizeof lb_root->log_file, "%p", 2)) {
		journal.log = 0; /* the next line opens one of its own */
	} else if (is_anothers(lb_root->log_file) && journal.fd > STDERR_FILENO) {
		if (is_ours())
			close(journal.fd);
		journal.fd = -1;
	}
	pthread_mutex_unlock(&journal.lock);
}
