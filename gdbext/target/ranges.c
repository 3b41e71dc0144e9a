#include "target/ranges.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "target/allocations.h"

enum { ENTRIES = 4096, GAP = 64 /* pages that are not worth an end */ };

/* In an entry of /proc/PID/pagemap: in memory, swapped out, or shared. */
#define TOUCHED (7ULL << 61)

void lbx_ranges_close(struct lbx_ranges *r)
{
	if (!r->maps)
		return;
	fclose(r->maps);
	if (r->pagemap >= 0)
		close(r->pagemap);
	*r = (struct lbx_ranges){ .reader = r->reader };
}

static bool begin(struct lbx_ranges *r, pid_t pid)
{
	char path[64];

	lbx_ranges_close(r);
	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	r->maps = fopen(path, "re");
	snprintf(path, sizeof path, "/proc/%d/pagemap", (int)pid);
	r->pagemap = r->maps ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	return r->maps != NULL;
}

/* A tensor's gigabytes are pages by the hundred thousand, and a few words tell what they are. */
static void pass_over(struct lbx_ranges *r)
{
	const struct lbx_range range = { r->start, r->end - r->start };
	uint64_t large = lbx_large_allocations(r->reader, &range);

	if (large < range.size || !lbx_is_stack(r->reader, &range))
		r->start += large;
}

/* "55d0-55e0 rw-p 00000000 00:00 0 …" */
static bool next_mapping(struct lbx_ranges *r)
{
	lb_auto_free char *line = NULL;
	unsigned long long start, end, inode;
	size_t room = 0;
	char mode[8];

	while (getline(&line, &room, r->maps) > 0) {
		if (sscanf(line, "%llx-%llx %7s %*s %*s %llu", &start, &end, mode, &inode) != 4 || mode[0] != 'r' ||
		    mode[1] != 'w')
			continue;
		r->start = start;
		r->end = end;
		r->is_own = inode == 0 && mode[3] == 'p';
		if (r->reader && r->is_own)
			pass_over(r);
		if (r->start == r->end)
			continue;
		return true;
	}
	return false;
}

/* The first part of the mapping at or after `from` that has been touched; where this is not known, all of it. */
static bool touched(const struct lbx_ranges *r, uint64_t from, struct lbx_range *ret)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = (r->end + page - 1) / page, first = 0, last = 0;
	uint64_t entries[ENTRIES];
	bool any = false, ended = false;

	for (uint64_t at = from / page, n; at < end && !ended; at += n) {
		n = end - at < ENTRIES ? end - at : ENTRIES;
		size_t bytes = (size_t)n * sizeof *entries;
		if (!r->is_own || r->pagemap < 0 ||
		    pread(r->pagemap, entries, bytes, (off_t)(at * sizeof *entries)) != (ssize_t)bytes) {
			first = any ? first : at;
			last = end - 1;
			any = ended = true;
		}
		for (uint64_t i = 0; i < n && !ended; i++) {
			if (entries[i] & TOUCHED) {
				first = any ? first : at + i;
				last = at + i;
				any = true;
			}
			ended = any && at + i - last >= GAP;
		}
	}
	if (!any)
		return false;
	ret->start = first * page > from ? first * page : from;
	ret->size = ((last + 1) * page < r->end ? (last + 1) * page : r->end) - ret->start;
	return true;
}

bool lbx_ranges_next(struct lbx_ranges *r, pid_t pid, uint64_t from, struct lbx_range *ret)
{
	if ((!r->maps || from < r->start || from == 0) && !begin(r, pid))
		return false;
	do {
		if (from < r->end && touched(r, from > r->start ? from : r->start, ret))
			return true;
	} while (next_mapping(r));
	lbx_ranges_close(r);
	return false;
}
