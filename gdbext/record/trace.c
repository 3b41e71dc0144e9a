#define _GNU_SOURCE
#include "record/trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vector.h"

enum { SHORT = 128 << 10 }; /* bytes, up to which the whole file follows each record */

static const char head[] = "{\"session\":";

struct lbx_trace {
	char *path, *journal; /* NAME.json, NAME.jsonl */
	int fd;               /* the journal, locked while this process lives */
	pthread_t writer;
	pthread_mutex_t lock; /* what follows */
	pthread_cond_t told;
	bool is_ending, has_failed;
	long n;
	off_t size, written; /* of the journal: now, and when the whole file was last made of it */
};

/* ---- one file of the other ---- */

static bool write_all(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t written = write(fd, bytes, n);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		bytes += written;
		n -= (size_t)written;
	}
	return true;
}

/* The lines of a journal as one object; the last one only if it is whole. */
static bool copy_lines(FILE *from, FILE *to)
{
	lb_auto_free char *line = NULL;
	size_t room = 0;
	ssize_t n;

	for (long i = 0; (n = getline(&line, &room, from)) > 0 && line[n - 1] == '\n'; i++) {
		line[n - 1 - (i == 0 && n > 1)] = '\0'; /* the head is left open */
		if (i > 1)
			fputs(",\n", to);
		fputs(line, to);
		if (i == 0)
			fputs(",\"records\":[\n", to);
	}
	fputs("\n]}\n", to);
	return !ferror(from) && fflush(to) == 0 && !ferror(to);
}

/* Makes the whole file anew, or leaves the one that is there. */
static bool fold(const char *journal, const char *path)
{
	lb_auto_free char *temporary = NULL;

	if (asprintf(&temporary, "%s.tmp", path) < 0)
		return false;
	int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *from = fopen(journal, "re"), *to = fd >= 0 ? fdopen(fd, "w") : NULL;
	bool ok = from && to && copy_lines(from, to) && fsync(fileno(to)) == 0;
	if (from)
		fclose(from);
	if (to)
		ok &= fclose(to) == 0;
	ok = ok && rename(temporary, path) == 0;
	if (!ok)
		unlink(temporary);
	return ok;
}

/* ---- writing ---- */

static bool is_due(const struct lbx_trace *trace)
{
	return trace->size > trace->written &&
	       (trace->is_ending || trace->size <= SHORT || trace->size >= trace->written + trace->written / 2);
}

static void *keep_whole(void *self)
{
	struct lbx_trace *trace = self;

	pthread_mutex_lock(&trace->lock);
	for (;;) {
		while (!is_due(trace) && !trace->is_ending)
			pthread_cond_wait(&trace->told, &trace->lock);
		if (!is_due(trace))
			break;
		off_t size = trace->size;
		pthread_mutex_unlock(&trace->lock);
		bool ok = fold(trace->journal, trace->path);
		pthread_mutex_lock(&trace->lock);
		trace->written = size;
		trace->has_failed |= !ok;
	}
	pthread_mutex_unlock(&trace->lock);
	return NULL;
}

static bool add_line(struct lbx_trace *trace, const json_t *record)
{
	lb_auto_free char *line = json_dumps(record, JSON_COMPACT);
	size_t n = line ? strlen(line) : 0;

	if (!line)
		return lb_fail("out of memory");
	line[n] = '\n'; /* in the place of its NUL: one write */
	if (!write_all(trace->fd, line, n + 1)) {
		trace->has_failed = true;
		return lb_fail("the trace %s cannot be written: %s", trace->journal, strerror(errno));
	}
	trace->size += (off_t)n + 1;
	return true;
}

static json_t *time_now(void)
{
	struct timespec now;
	struct tm parts;
	char text[40], whole[64];

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &parts);
	strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(whole, sizeof whole, "%s.%03ldZ", text, now.tv_nsec / 1000000);
	return json_string(whole);
}

bool lbx_trace_add(struct lbx_trace *trace, json_t *record)
{
	if (!record)
		return lb_fail("out of memory");
	pthread_mutex_lock(&trace->lock);
	if (trace->is_ending) {
		pthread_mutex_unlock(&trace->lock);
		json_decref(record);
		return lb_fail("the trace has ended");
	}
	json_object_set_new(record, "n", json_integer(++trace->n));
	json_object_set_new(record, "at", time_now());
	bool ok = add_line(trace, record);
	pthread_cond_signal(&trace->told);
	pthread_mutex_unlock(&trace->lock);
	json_decref(record);
	return ok;
}

/* ---- opening ---- */

static void release(struct lbx_trace *trace)
{
	if (trace->fd >= 0)
		close(trace->fd);
	free(trace->path);
	free(trace->journal);
	free(trace);
}

/* False, with errno, also where one of the files is there. */
static bool create(struct lbx_trace *trace, const char *folder, const char *stem)
{
	free(trace->path);
	free(trace->journal);
	trace->path = trace->journal = NULL;
	if (asprintf(&trace->path, "%s/%s.json", folder, stem) < 0 ||
	    asprintf(&trace->journal, "%s/%s.jsonl", folder, stem) < 0)
		return false;
	if (access(trace->path, F_OK) == 0) {
		errno = EEXIST;
		return false;
	}
	trace->fd = open(trace->journal, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
	return trace->fd >= 0 && flock(trace->fd, LOCK_EX | LOCK_NB) == 0;
}

static bool create_somewhere(struct lbx_trace *trace, const char *folder, const char *name)
{
	char date[32], stem[192];
	time_t now = time(NULL);
	struct tm parts;

	localtime_r(&now, &parts);
	strftime(date, sizeof date, "%Y%m%d_%H%M%S", &parts);
	for (int i = 1; i < 1000; i++) {
		if (i == 1)
			snprintf(stem, sizeof stem, "%.120s_%s", name, date);
		else
			snprintf(stem, sizeof stem, "%.120s_%s_%d", name, date, i);
		if (create(trace, folder, stem))
			return true;
		if (errno != EEXIST)
			break;
	}
	return lb_fail("no trace can be kept in %s: %s", folder, strerror(errno));
}

/* It takes no signals: they are for who has opened the trace, as gdb. */
static bool start_writer(struct lbx_trace *trace)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool ok = pthread_create(&trace->writer, NULL, keep_whole, trace) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ok;
}

const char *lbx_trace_wanted(void)
{
	const char *folder = getenv("LAZYBONES_TRACE");

	return folder && *folder ? folder : NULL;
}

static bool make_folder(const char *folder)
{
	return mkdir(folder, 0700) == 0 || errno == EEXIST || lb_fail("%s: %s", folder, strerror(errno));
}

bool lbx_trace_open(const char *folder, const char *name, json_t *about, struct lbx_trace **ret)
{
	struct lbx_trace *trace = calloc(1, sizeof *trace);

	if (trace)
		trace->fd = -1;
	bool ok =
	    trace && about && make_folder(folder) && create_somewhere(trace, folder, name) && add_line(trace, about);
	json_decref(about);
	if (ok) {
		pthread_mutex_init(&trace->lock, NULL);
		pthread_cond_init(&trace->told, NULL);
		ok = start_writer(trace);
	}
	if (!ok) {
		if (trace)
			release(trace);
		return lb_fail("out of memory"); /* unless there is an error already */
	}
	*ret = trace;
	return true;
}

void lbx_trace_end(struct lbx_trace *trace)
{
	if (!trace)
		return;
	pthread_mutex_lock(&trace->lock);
	trace->is_ending = true;
	pthread_cond_signal(&trace->told);
	pthread_mutex_unlock(&trace->lock);
	pthread_join(trace->writer, NULL);
	if (!trace->has_failed)
		unlink(trace->journal);
}

void lbx_trace_destroy(struct lbx_trace *trace)
{
	if (!trace)
		return;
	pthread_mutex_destroy(&trace->lock);
	pthread_cond_destroy(&trace->told);
	release(trace);
}

const char *lbx_trace_path(const struct lbx_trace *trace)
{
	return trace->path;
}

bool lbx_traces_try(const char *folder)
{
	lb_auto_free char *path = NULL;
	bool was_there = access(folder, F_OK) == 0;

	if (asprintf(&path, "%s/.XXXXXX", folder) < 0)
		return lb_fail("out of memory");
	if (!make_folder(folder))
		return false;
	lb_auto_close int fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		lb_fail("no trace can be kept in %s: %s", folder, strerror(errno));
	else
		unlink(path);
	if (!was_there)
		rmdir(folder);
	return fd >= 0;
}

/* ---- what was left behind ---- */

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && strcmp(text + n - m, end) == 0;
}

/* Of a server that is gone: nobody else holds its lock. */
static bool mend(const char *folder, const char *name)
{
	lb_auto_free char *journal = NULL, *path = NULL;

	if (asprintf(&journal, "%s/%s", folder, name) < 0 ||
	    asprintf(&path, "%s/%.*s", folder, (int)strlen(name) - 1, name) < 0)
		return false;
	lb_auto_close int fd = open(journal, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fold(journal, path) && unlink(journal) == 0;
}

bool lbx_traces_mend(const char *folder, int *mended)
{
	DIR *at = opendir(folder);
	struct dirent *entry;

	*mended = 0;
	if (!at)
		return errno == ENOENT || lb_fail("%s: %s", folder, strerror(errno));
	while ((entry = readdir(at)))
		if (ends_with(entry->d_name, ".jsonl"))
			*mended += mend(folder, entry->d_name);
	closedir(at);
	return true;
}

struct kept {
	char name[256];
	struct timespec time;
};

static int by_age(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	if (x->time.tv_sec != y->time.tv_sec)
		return x->time.tv_sec < y->time.tv_sec ? 1 : -1;
	return x->time.tv_nsec != y->time.tv_nsec ? (x->time.tv_nsec < y->time.tv_nsec ? 1 : -1)
						  : strcmp(y->name, x->name);
}

/* NAME_YYYYMMDD_HHMMSS.json that begins as a trace does: other files in the folder are left alone. */
static bool is_trace(int folder, const char *name, struct timespec *time)
{
	char bytes[sizeof head] = "";
	struct stat about;
	const char *end = strrchr(name, '.');

	if (!ends_with(name, ".json") || end - name < 17)
		return false;
	lb_auto_close int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) ||
	    read(fd, bytes, sizeof head - 1) != sizeof head - 1 || strcmp(bytes, head) != 0)
		return false;
	*time = about.st_mtim;
	return true;
}

bool lbx_traces_clean(const char *folder, int keep, double older_than, int *removed)
{
	DIR *at = opendir(folder);
	lb_auto_free struct kept *kept = NULL;
	size_t n = 0, room = 0;
	struct dirent *entry;
	struct timespec when;

	*removed = 0;
	if (!at)
		return errno == ENOENT || lb_fail("%s: %s", folder, strerror(errno));
	while ((entry = readdir(at))) {
		if (!is_trace(dirfd(at), entry->d_name, &when) || !lb_reserve(kept, room, n + 1))
			continue;
		snprintf(kept[n].name, sizeof kept[n].name, "%s", entry->d_name);
		kept[n++].time = when;
	}
	if (n > 0)
		qsort(kept, n, sizeof *kept, by_age);
	for (size_t i = 0; i < n; i++)
		if ((keep >= 0 && i >= (size_t)keep) ||
		    (older_than >= 0 && difftime(time(NULL), kept[i].time.tv_sec) > older_than))
			*removed += unlinkat(dirfd(at), kept[i].name, 0) == 0;
	closedir(at);
	return true;
}
