#define _GNU_SOURCE
#include "target/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/mix.h"
#include "base/plural.h"
#include "target/auxv.h"
#include "target/copy.h"
#include "target/footprint.h"
#include "target/hold.h"
#include "target/lines.h"
#include "target/pages.h"
#include "target/permission.h"
#include "target/ranges.h"
#include "target/thread_numbers.h"

enum { PAGE = 4096, MAX_AUXV = 4096, FEW_UNITS = 4 };

struct process {
	struct lbx_target target;
	pid_t pid;
	int memory; /* /proc/PID/mem, for where process_vm_readv is forbidden; or -1 */
	struct lbx_ranges ranges;
	struct lbx_lines *lines;
	struct lbx_hold *hold; /* or NULL: it runs */
	bool is_let_go; /* likewise, and it is known what its threads did when it was copied */
	struct lbx_copy *copy; /* or NULL */
	struct lbx_copy *room; /* what a copy can be taken into; or NULL */
	bool is_too_large; /* to be copied */
	struct lbx_pages *pages; /* without a copy; or NULL: nothing is kept */
	struct lbx_pages *old; /* of before it was held; what was mapped of them is still looked at */
	struct lbx_target glance; /* reads as it does, and keeps nothing */
	struct lbx_target now; /* reads past what is kept */
	uint64_t n_changed;
};

static struct process *process_of(struct lbx_target *target)
{
	return (struct process *)target;
}

static struct process *process_of_glance(struct lbx_target *glance)
{
	return (struct process *)((char *)glance - offsetof(struct process, glance));
}

static struct process *process_of_now(struct lbx_target *now)
{
	return (struct process *)((char *)now - offsetof(struct process, now));
}

/* Bytes read; stops at the first that cannot be. */
static size_t read_some(struct process *p, uint64_t address, void *to, size_t n)
{
	struct iovec local = { to, n };
	struct iovec remote = { (void *)(uintptr_t)address, n };
	ssize_t got = process_vm_readv(p->pid, &local, 1, &remote, 1, 0);

	if (got < 0 && p->memory >= 0 && address <= INT64_MAX)
		got = pread(p->memory, to, n, (off_t)address);
	return got < 0 ? 0 : (size_t)got;
}

static bool read_now(struct lbx_target *now, uint64_t address, void *to, size_t n)
{
	struct process *p = process_of_now(now);
	size_t done = 0;

	while (done < n) {
		size_t got = read_some(p, address + done, (char *)to + done, n - done);
		if (got == 0) {
			/* up to the end of a page there may still be some */
			size_t rest = PAGE - (size_t)((address + done) % PAGE);
			if (rest < n - done)
				got = read_some(p, address + done, (char *)to + done, rest);
		}
		if (got == 0)
			return lb_fail("cannot read the memory of process %d at 0x%llx: %s", (int)p->pid,
				       (unsigned long long)(address + done),
				       errno == ESRCH ? "it is gone" : "not mapped or not permitted");
		done += got;
	}
	return true;
}

/* What has been kept, and what is between it from the process. */
static bool read_kept(struct process *p, uint64_t address, void *to, size_t n)
{
	size_t done = 0, next = 0; /* what has been read; from there on nothing is kept up to the next */
	const void *kept = NULL;

	while (done < n) {
		size_t some = LBX_PAGES_UNIT - (size_t)((address + next) % LBX_PAGES_UNIT);
		some = some < n - next ? some : n - next;
		kept = next < n ? lbx_pages_kept(p->pages, address + next, some) : NULL;
		if (next < n && !kept) {
			next += some;
			continue;
		}
		if (next > done && !read_now(&p->now, address + done, (char *)to + done, next - done))
			return false;
		if (kept)
			memcpy((char *)to + next, kept, some);
		done = next += kept ? some : 0;
	}
	return true;
}

/* Keeps it, if it is no more than a few units: tensors' elements are not worth it. */
static bool read_and_keep(struct process *p, uint64_t address, void *to, size_t n)
{
	size_t some;

	if (n > FEW_UNITS * LBX_PAGES_UNIT)
		return read_kept(p, address, to, n);
	for (size_t done = 0; done < n; done += some) {
		some = LBX_PAGES_UNIT - (size_t)((address + done) % LBX_PAGES_UNIT);
		some = some < n - done ? some : n - done;
		const void *kept = lbx_pages_take(p->pages, &p->now, address + done, some);
		if (kept)
			memcpy((char *)to + done, kept, some);
		else if (!read_now(&p->now, address + done, (char *)to + done, some))
			return false;
	}
	return true;
}

static bool read_copied(struct process *p, uint64_t address, void *to, size_t n)
{
	uint64_t some;

	for (size_t done = 0; done < n; done += some) {
		const void *copied = lbx_copy_at(p->copy, address + done, &some);
		some = some < n - done ? some : n - done;
		if (copied)
			memcpy((char *)to + done, copied, some);
		else if (!read_now(&p->now, address + done, (char *)to + done, some))
			return false;
	}
	return true;
}

static bool process_read(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	struct process *p = process_of(target);

	return p->copy    ? read_copied(p, address, to, n)
	       : p->pages ? read_and_keep(p, address, to, n)
			  : read_now(&p->now, address, to, n);
}

static bool read_glance(struct lbx_target *glance, uint64_t address, void *to, size_t n)
{
	struct process *p = process_of_glance(glance);

	return p->copy    ? read_copied(p, address, to, n)
	       : p->pages ? read_kept(p, address, to, n)
			  : read_now(&p->now, address, to, n);
}

static const void *process_map(struct lbx_target *target, uint64_t address, size_t n)
{
	struct process *p = process_of(target);
	uint64_t some;

	if (p->copy) {
		const void *copied = lbx_copy_at(p->copy, address, &some);
		return copied && some >= n ? copied : NULL;
	}
	return p->pages && n <= LBX_PAGES_UNIT - address % LBX_PAGES_UNIT
		   ? lbx_pages_take(p->pages, &p->now, address, n)
		   : NULL;
}

static struct lbx_target *process_direct(struct lbx_target *target)
{
	return target;
}

static bool process_headers(struct lbx_target *target, uint64_t *ret, uint64_t *ret_n)
{
	char path[64], vector[MAX_AUXV];

	snprintf(path, sizeof path, "/proc/%d/auxv", (int)process_of(target)->pid);
	lb_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, vector, sizeof vector);
	if (n < 0)
		return false;
	*ret = lbx_auxv(vector, (size_t)n, AT_PHDR);
	*ret_n = lbx_auxv(vector, (size_t)n, AT_PHNUM);
	return true;
}

static bool process_find_root(struct lbx_target *target, uint64_t *ret)
{
	uint64_t headers, n;

	if (!process_headers(target, &headers, &n))
		return lb_fail("cannot read /proc/%d/auxv: %s", (int)process_of(target)->pid, strerror(errno));
	return lbx_find_root_by_note(target, headers, n, ret);
}

static bool process_source_line(struct lbx_target *target, uint64_t pc, struct lbx_source_line *ret)
{
	struct process *p = process_of(target);

	if (!p->lines)
		p->lines = lbx_lines_of_process(p->pid);
	return lbx_lines_find(p->lines, pc, 0, ret);
}

static bool process_range(struct lbx_target *target, uint64_t from, struct lbx_range *ret)
{
	struct process *p = process_of(target);

	return lbx_ranges_next(&p->ranges, p->pid, from, ret);
}

static bool process_pid(struct lbx_target *target, uint64_t *ret)
{
	*ret = (uint64_t)process_of(target)->pid;
	return true;
}

static bool process_runs(struct lbx_target *target)
{
	return !process_of(target)->hold || process_of(target)->is_let_go;
}

static uint64_t process_thread(struct lbx_target *target, uint64_t own)
{
	return lbx_thread_by_own(process_of(target)->pid, own);
}

/* The system gives memory slower than the bytes are copied: a copy of what runs on is taken for its memory alone. */
static void process_prepare(struct lbx_target *target)
{
	struct process *p = process_of(target);

	if (p->hold || p->copy || p->room || p->is_too_large)
		return;
	p->room = lbx_copy_take(target, p->pid, LBX_COPY_MAX);
	p->is_too_large = !p->room;
}

static struct lbx_copy *take_copy(struct process *p)
{
	struct lbx_copy *copy = p->room;

	p->room = NULL;
	if (!copy)
		return p->is_too_large ? NULL : lbx_copy_take(&p->target, p->pid, LBX_COPY_MAX);
	if (lbx_copy_again(copy, &p->target, p->pid))
		return copy;
	lbx_copy_free(copy);
	return NULL;
}

/* Who is let go must have been copied; of who runs, or is held until it has been looked at, no more is held than is read. */
static enum lbx_copied process_copy(struct lbx_target *target, bool let_go)
{
	struct process *p = process_of(target);

	if (p->hold && let_go && !p->copy && (p->copy = take_copy(p))) {
		lbx_hold_let_go(p->hold);
		p->is_let_go = true;
	}
	if (!p->copy && !p->pages)
		p->pages = lbx_pages_create(LBX_COPY_MAX);
	return p->hold ? LBX_COPIED_STILL : p->pages ? LBX_COPIED_RUNNING : LBX_NOT_COPIED;
}

static bool process_copied(struct lbx_target *target, uint64_t from, struct lbx_range *ret)
{
	const struct process *p = process_of(target);

	return p->copy && lbx_copy_range(p->copy, from, ret);
}

static struct lbx_target *process_glance(struct lbx_target *target)
{
	struct process *p = process_of(target);

	return p->pages && !p->copy ? &p->glance : target;
}

static struct lbx_target *process_now(struct lbx_target *target)
{
	return &process_of(target)->now;
}

static void process_changed(struct lbx_target *target, uint64_t n)
{
	process_of(target)->n_changed += n;
}

static bool process_notice(struct lbx_target *target, char *ret, size_t size)
{
	struct process *p = process_of(target);
	uint64_t n = p->n_changed;

	p->n_changed = 0;
	if (n)
		snprintf(ret, size, "%" PRIu64 " record%s changed while %s read, and %s left out", n, LB_S(n),
			 n == 1 ? "it was" : "they were", n == 1 ? "is" : "are");
	return n > 0;
}

/* The file of a thread, with one line; "" if it cannot be read. */
static void read_thread(const char *tid, const char *file, char *ret, int size)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%.20s/%s", tid, file);
	FILE *f = fopen(path, "re");
	if (!f || !fgets(ret, size, f))
		ret[0] = '\0';
	if (f)
		fclose(f);
}

/* Whether a thread stands still, and how often it has been put on a processor, which it must be to run again. It
 * may be called stopped, and go on, before it has left its processor: who asks for its system call waits for that. Some
 * kernels count or tell less: then it is not known. */
static bool add_thread(const char *tid, uint64_t *sum)
{
	char call[256], counts[128];
	unsigned long long times = 0;

	read_thread(tid, "syscall", call, sizeof call);
	read_thread(tid, "schedstat", counts, sizeof counts);
	sscanf(counts, "%*u %*u %llu", &times);
	/* threads come in any order, and what one gains another may lose: a sum of well mixed numbers */
	*sum += lb_mix(lb_mix(strtoull(tid, NULL, 10)) + times);
	return call[0] && strncmp(call, "running", 7) != 0 && times > 0 &&
	       strchr("tTZ", lbx_thread_state((pid_t)atoi(tid)));
}

static bool process_moment(struct lbx_target *target, uint64_t *ret)
{
	struct process *p = process_of(target);
	struct dirent *entry;
	char path[64];
	bool stands = true;

	*ret = (uint64_t)p->pid;
	snprintf(path, sizeof path, "/proc/%d/task", (int)p->pid);
	DIR *threads = opendir(path);
	while (threads && stands && (entry = readdir(threads)))
		stands = entry->d_name[0] == '.' || add_thread(entry->d_name, ret);
	if (threads)
		closedir(threads);
	return threads && stands;
}

static bool process_footprint(struct lbx_target *target, struct lbx_footprint *ret)
{
	return lbx_process_footprint(process_of(target)->pid, ret);
}

static bool process_resident(struct lbx_target *target, uint64_t address, uint64_t n, uint64_t *ret)
{
	return lbx_process_resident(process_of(target)->pid, address, n, ret);
}

static void process_destroy(struct lbx_target *target)
{
	struct process *p = process_of(target);

	lbx_hold_end(p->hold);
	lbx_copy_free(p->copy);
	lbx_copy_free(p->room);
	lbx_pages_destroy(p->pages);
	lbx_pages_destroy(p->old);
	lbx_ranges_close(&p->ranges);
	lbx_lines_destroy(p->lines);
	if (p->memory >= 0)
		close(p->memory);
	free(p);
}

static const struct lbx_target_ops process_ops = {
	.read = process_read,
	.map = process_map,
	.direct = process_direct,
	.find_root = process_find_root,
	.headers = process_headers,
	.source_line = process_source_line,
	.range = process_range,
	.pid = process_pid,
	.thread = process_thread,
	.runs = process_runs,
	.copy = process_copy,
	.prepare = process_prepare,
	.copied = process_copied,
	.glance = process_glance,
	.now = process_now,
	.changed = process_changed,
	.notice = process_notice,
	.moment = process_moment,
	.footprint = process_footprint,
	.resident = process_resident,
	.destroy = process_destroy,
};

static const struct lbx_target_ops glance_ops = { .read = read_glance, .direct = process_direct };
static const struct lbx_target_ops now_ops = { .read = read_now };

bool lbx_process_open(pid_t pid, struct lbx_target **ret)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	if (pid <= 0 || access(path, F_OK) != 0)
		return lb_fail("there is no process %d", (int)pid);
	snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
	lb_auto_close int memory = open(path, O_RDONLY | O_CLOEXEC);
	if (memory < 0 && (errno == EACCES || errno == EPERM)) {
		snprintf(path, sizeof path, "cannot look into process %d", (int)pid);
		return lbx_fail_permission(pid, path, errno);
	}
	struct process *p = calloc(1, sizeof *p);
	if (!p)
		return lb_fail("out of memory");
	p->target = (struct lbx_target){ .ops = &process_ops, .liveness = LBX_LIVE };
	p->glance = (struct lbx_target){ .ops = &glance_ops, .liveness = LBX_LIVE };
	p->now = (struct lbx_target){ .ops = &now_ops, .liveness = LBX_LIVE };
	p->pid = pid;
	p->memory = memory;
	memory = -1;
	*ret = &p->target;
	return true;
}

struct lbx_hold *lbx_process_hold(struct lbx_target *target)
{
	struct process *p = process_of(target);

	if (p->hold)
		return p->hold;
	p->hold = lbx_hold_start(p->pid);
	if (p->hold && p->pages) { /* what threads do now does not go with what memory held then */
		p->old = p->pages;
		p->pages = NULL;
	}
	return p->hold;
}

bool lbx_process_write(struct lbx_target *target, uint64_t address, const void *from, size_t n)
{
	pid_t pid = process_of(target)->pid;
	struct iovec local = { (void *)from, n };
	struct iovec remote = { (void *)(uintptr_t)address, n };

	return process_vm_writev(pid, &local, 1, &remote, 1, 0) == (ssize_t)n ||
	       lb_fail("cannot write to the memory of process %d: %s", (int)pid, strerror(errno));
}

struct lbx_lines *lbx_process_lines(struct lbx_target *target)
{
	struct lbx_source_line unused;

	process_source_line(target, 0, &unused);
	return process_of(target)->lines;
}
