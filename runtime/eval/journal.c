#include "eval/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mix.h"
#include "kernels/kernels.h"

enum { LINE = 4096, PATH_BYTES = 512 };

static struct {
	pthread_mutex_t lock;
	uint32_t log; /* the root's, for which the file was opened */
	int fd;       /* -1: none is open */
	uint64_t lines;
} journal = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

void lb_journal_lock(void)
{
	pthread_mutex_lock(&journal.lock);
}

void lb_journal_unlock(void)
{
	pthread_mutex_unlock(&journal.lock);
}

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
	fprintf(stderr, "lazybones: %s: %s: nothing is logged\n", path, why);
	__atomic_store_n(&lb_root->log, 0, __ATOMIC_RELAXED);
}

static bool open_file(void)
{
	uint32_t log = __atomic_load_n(&lb_root->log, __ATOMIC_ACQUIRE);
	char file[LB_LOG_BYTES], path[PATH_BYTES];

	if (log == journal.log)
		return log && journal.fd >= 0;
	if (journal.fd > STDERR_FILENO)
		close(journal.fd);
	journal.fd = -1;
	journal.log = log;
	journal.lines = 0;
	memcpy(file, lb_root->log_file, sizeof file - 1);
	file[sizeof file - 1] = '\0';
	if (!log || !*file)
		return false;
	expand(file, path);
	journal.fd = strcmp(path, "-") == 0 ? STDERR_FILENO
					    : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
	if (journal.fd < 0)
		give_up(path, strerror(errno));
	return journal.fd >= 0;
}

static void put(const char *line, size_t n)
{
	while (n > 0) {
		ssize_t written = write(journal.fd, line, n);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0) {
			give_up("the log", strerror(errno));
			return;
		}
		line += written;
		n -= (size_t)written;
	}
}

/* ---- a value ---- */

struct figures {
	double min, max, shift, sum, squares, norm; /* of the finite values, sums of which are around `shift` */
	int64_t count, finite, nan, inf, zero;
	uint64_t hash; /* of the elements' bytes in row-major order */
	uint64_t bag;  /* likewise, in whatever order */
};

static void see(struct figures *f, const char *element, enum lb_dtype dtype)
{
	uint64_t bits = 0;
	double x = lb_load_double(element, dtype);

	memcpy(&bits, element, (size_t)lb_dtypes[dtype].bytes);
	f->hash = lb_mix(f->hash ^ bits);
	f->bag += lb_mix(bits);
	f->count++;
	if (!isfinite(x)) {
		f->nan += isnan(x) != 0;
		f->inf += isinf(x) != 0;
		return;
	}
	if (f->finite++ == 0)
		f->min = f->max = f->shift = x;
	f->min = x < f->min ? x : f->min;
	f->max = x > f->max ? x : f->max;
	f->zero += x == 0;
	f->norm += x * x;
	x -= f->shift;
	f->sum += x;
	f->squares += x * x;
}

static void see_axis(struct figures *f, const char *at, const struct lb_tensor *t, int axis)
{
	enum lb_dtype dtype = (enum lb_dtype)t->dtype;
	int64_t n = t->rank ? t->shape[axis] : 1, step = t->rank ? t->strides[axis] * lb_dtypes[dtype].bytes : 0;

	for (int64_t i = 0; i < n; i++) {
		if (axis < t->rank - 1)
			see_axis(f, at + i * step, t, axis + 1);
		else
			see(f, at + i * step, dtype);
	}
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
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c == '"' || c == '\\')
			add(l, "\\%c", c);
		else if (c < ' ')
			add(l, "\\u%04x", c);
		else
			add(l, "%c", c);
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

static void write_line(const struct lb_tensor *t, const struct figures *f)
{
	struct line l = { .n = 0 };
	double n = (double)f->finite, mean = f->sum / n, variance = f->squares / n - mean * mean;

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
	add_real(&l, "mean", f->finite, f->shift + mean);
	add_real(&l, "std", f->finite, sqrt(variance > 0 ? variance : 0));
	add_real(&l, "l2", true, sqrt(f->norm));
	add(&l, ",\"nan\":%" PRId64 ",\"inf\":%" PRId64 ",\"zero\":%" PRId64, f->nan, f->inf, f->zero);
	add(&l, ",\"hash\":\"%016" PRIx64 "\",\"bag\":\"%016" PRIx64 "\"}\n", f->hash, f->bag);
	put(l.text, l.n);
}

void lb_journal(const struct lb_tensor *t)
{
	struct figures f = { .hash = (uint64_t)t->dtype };

	if (!lb_journal_wants(t))
		return;
	if (t->size > 0)
		see_axis(&f, lb_tensor_data(t), t, 0);
	lb_journal_lock();
	if (open_file())
		write_line(t, &f);
	lb_journal_unlock();
}
