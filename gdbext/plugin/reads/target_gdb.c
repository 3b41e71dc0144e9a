#include "plugin/reads/target_gdb.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "plugin/reads/core_gdb.h"
#include "plugin/reads/lines_gdb.h"
#include "plugin/reads/lookup_gdb.h"
#include "plugin/reads/moment_gdb.h"
#include "plugin/reads/standing.h"
#include "symtab.h"
#include "target/core.h"
#include "target/loader.h"
#include "target/process.h"

enum {
	CHUNK = 4 << 20, /* bytes gdb reads at once: between two, Ctrl-C is noticed */
	SOME = 1 << 12,  /* worth reading past gdb, where it is known what the program is */
	MUCH = 1 << 20,  /* not worth reading for a command that will run again */
	PAGE = 4096,
	MAX_ROOTS = 32,
};

static struct {
	struct lbx_target target;
	lbx_bridge_read *read;
	struct lbx_target *process; /* of the command that runs; or NULL */
	struct lbx_target *core;    /* that the command has read from; or NULL */
	bool looked_for_known;      /* by use_known() */
	uint64_t roots[MAX_ROOTS]; /* newest first */
	int n_roots;
	struct lbx_loader_watch watch; /* of the last program's modules */
} gdb;

void lbx_target_gdb_remember_root(uint64_t address)
{
	int i = 0;

	while (i < gdb.n_roots && gdb.roots[i] != address)
		i++;
	if (i == gdb.n_roots && gdb.n_roots < MAX_ROOTS)
		gdb.n_roots++;
	if (i == MAX_ROOTS)
		i--;
	memmove(gdb.roots + 1, gdb.roots, (size_t)i * sizeof(*gdb.roots));
	gdb.roots[0] = address;
}

bool lbx_target_gdb_root(int i, uint64_t *ret)
{
	if (i >= gdb.n_roots)
		return false;
	*ret = gdb.roots[i];
	return true;
}

static bool fault(uint64_t address, size_t n)
{
	char byte;

	/* the first page of [address, address + n) that cannot be read */
	for (size_t at = 0; at < n; at += PAGE - ((address + at) % PAGE)) {
		if (!gdb.read(address + at, &byte, 1))
			return lb_fail("memory at 0x%" PRIx64 " cannot be read", address + at);
	}
	return lb_fail("memory at 0x%" PRIx64 " (%zu byte%s) cannot be read", address, n, LB_S(n));
}

/* What gdb's own core reader gives for bytes that were not saved is zeros. */
static bool plain_read(uint64_t address, void *to, size_t n)
{
	for (size_t done = 0; done < n;) {
		size_t part = n - done < CHUNK ? n - done : CHUNK;

		if (lbx_bridge_interrupted())
			return lb_fail_because(LB_INTERRUPTED, "interrupted");
		if (!gdb.read(address + done, (char *)to + done, (int)part))
			return fault(address + done, part);
		done += part;
	}
	return true;
}

/* The bytes are read by our own reader of cores, or, of the program's files that only gdb finds,
 * have been by gdb (`whole`). With NULL for `to` it is only found out whether they can be. */
static bool read_core(struct lbx_target *core, uint64_t address, void *to, size_t n, bool whole)
{
	uint64_t done = 0, part;
	char byte;

	for (; done < n; done += part) {
		part = n - done;
		switch (lbx_core_bytes(core, address + done, &part)) {
		case LBX_BYTES_OF_A_FILE:
			if (whole && lbx_core_gdb_has_section(address + done, &part))
				break;
			return lbx_target_read(core, address + done, &byte, 1);
		case LBX_BYTES_LOST: return lbx_target_read(core, address + done, &byte, 1);
		case LBX_BYTES_NOWHERE:
			if (!whole)
				return fault(address + done, 1);
			break;
		default:
			if (to && !lbx_target_read(core, address + done, (char *)to + done, part))
				return false;
		}
		if (part > n - done)
			part = n - done;
	}
	return true;
}

static bool is_held(struct lbx_target *core, uint64_t address, size_t n)
{
	uint64_t part;

	for (uint64_t done = 0; done < n; done += part) {
		part = n - done;
		if (lbx_core_bytes(core, address + done, &part) != LBX_BYTES_HELD)
			return false;
	}
	return true;
}

/* Whether what gdb has made of a read (`whole`: bytes) may be otherwise in the core. NULL: in one of
 * several cores. */
static bool is_doubtful(struct lbx_target *core, uint64_t address, size_t n, bool whole)
{
	uint64_t part;

	for (uint64_t done = 0; core && done < n; done += part) {
		part = n - done;
		enum lbx_core_bytes from = lbx_core_bytes(core, address + done, &part);
		if (from == LBX_BYTES_NOWHERE && !whole)
			return false;
		if (from != LBX_BYTES_NOWHERE && from != LBX_BYTES_HELD && whole)
			return true;
	}
	return !core || !whole;
}

/* Only where a core that gdb has open may know better is gdb asked whether the program is in one. When
 * gdb has answered, all is read again. */
static bool core_knows_better(uint64_t address, size_t n, bool whole, struct lbx_target **ret)
{
	if (!lbx_core_gdb_has_open(ret) || !is_doubtful(*ret, address, n, whole))
		return false;
	enum lbx_liveness liveness = lbx_target_gdb_liveness();
	*ret = lbx_core_of_gdb();
	if (liveness != LBX_CORE || !*ret || lbx_bridge_waits())
		return false;
	gdb.core = *ret;
	return true;
}

/* NULL: gdb has not told what the program is. */
static const char *known_stack(void)
{
	return lbx_standing_answer("maintenance print target-stack");
}

static enum lbx_liveness liveness_of(const char *stack)
{
	return strstr(stack, "- core (")     ? LBX_CORE
	       : strstr(stack, "remote (")   ? LBX_REMOTE
	       : strstr(stack, "- native (") ? LBX_LIVE
					     : LBX_UNKNOWN;
}

/* "process 4711"; 0: it is none. */
static uint64_t pid_of(const char *process)
{
	static const char title[] = "process ";

	return strncmp(process, title, sizeof(title) - 1) == 0 ? strtoull(process + sizeof(title) - 1, NULL, 10) : 0;
}

static bool open_process(uint64_t pid)
{
	bool clean = lb_ok();

	if (!gdb.process && pid && !lbx_process_open((pid_t)pid, &gdb.process) && clean)
		lb_clear_error(); /* gdb itself can read it, if slower */
	return gdb.process;
}

/* gdb reads a process page by page, and a core by read(). Where an earlier line has found out which one it is, it is read
 * without gdb from the beginning on. */
static void use_known(void)
{
	const char *stack, *process;

	if (gdb.looked_for_known)
		return;
	gdb.looked_for_known = true;
	stack = known_stack();
	enum lbx_liveness liveness = stack ? liveness_of(stack) : LBX_UNKNOWN;
	if (liveness == LBX_CORE && !gdb.core)
		gdb.core = lbx_core_gdb_known();
	/* where gdb plays a recorded run, memory may be of another moment */
	if (liveness == LBX_LIVE && !strstr(stack, "record") && (process = lbx_standing_answer("info proc")))
		open_process(pid_of(process));
}

static bool read_process(uint64_t address, void *to, size_t n)
{
	bool clean = lb_ok(), done = lbx_target_read(gdb.process, address, to, n);

	if (!done && clean)
		lb_clear_error(); /* a page that is protected gdb can read */
	return done;
}

static bool gdb_read(struct lbx_target *target, uint64_t address, void *to, size_t n)
{
	struct lbx_target *core;

	(void)target;
	if (n && address + n - 1 < address)
		return lb_fail("%zu byte%s at 0x%" PRIx64 " go beyond the address space", n, LB_S(n), address);
	if (n > MUCH && lbx_bridge_waits())
		return lb_fail("an answer of gdb is awaited first");
	use_known();
	if (gdb.core && is_held(gdb.core, address, n))
		return lbx_target_read(gdb.core, address, to, n);
	if (gdb.process && n >= SOME && read_process(address, to, n))
		return true;
	bool clean = lb_ok(), whole = plain_read(address, to, n);
	if (lbx_bridge_interrupted() || !core_knows_better(address, n, whole, &core))
		return whole;
	if (clean)
		lb_clear_error();
	return read_core(core, address, to, n, whole);
}

static bool gdb_saved(struct lbx_target *target, uint64_t address, uint64_t n)
{
	struct lbx_target *core;

	(void)target;
	return !core_knows_better(address, n, true, &core) || read_core(core, address, NULL, n, true);
}

/* The pages of a core are used in place. */
static const void *gdb_map(struct lbx_target *target, uint64_t address, size_t n)
{
	struct lbx_target *core;

	(void)target;
	use_known();
	if (gdb.core && is_held(gdb.core, address, n))
		return lbx_target_map(gdb.core, address, n);
	if (n < MUCH || !lb_ok() || lbx_target_gdb_liveness() != LBX_CORE)
		return NULL;
	core = lbx_core_of_gdb();
	if (core)
		gdb.core = core;
	return core ? lbx_target_map(core, address, n) : NULL;
}

static bool gdb_read_ahead(struct lbx_target *target, uint64_t address, uint64_t n)
{
	struct lbx_target *core;

	(void)target;
	return !lbx_core_gdb_has_open(&core) || !core || lbx_target_read_ahead(core, address, n);
}

static bool gdb_notice(struct lbx_target *target, char *ret, size_t size)
{
	(void)target;
	return gdb.core && lbx_target_notice(gdb.core, ret, size);
}

/* Of a process here. */
static bool gdb_pid(struct lbx_target *target, uint64_t *ret)
{
	const char *process;

	(void)target;
	/* both at once */
	bool known = lbx_standing_ask(&process, "info proc");
	if (lbx_target_gdb_liveness() != LBX_LIVE || !known)
		return false;
	*ret = pid_of(process);
	return *ret > 0;
}

/* gdb reads a process here page by page, in one thread; what is long is read past it. */
static struct lbx_target *gdb_direct(struct lbx_target *target)
{
	uint64_t pid;

	if (!gdb.process && lb_ok() && gdb_pid(target, &pid))
		open_process(pid);
	return gdb.process;
}

static bool gdb_moment(struct lbx_target *target, uint64_t *ret)
{
	enum lbx_liveness liveness = lbx_target_gdb_liveness();
	struct lbx_target *other = liveness == LBX_CORE ? lbx_core_of_gdb() : gdb_direct(target);

	if (liveness == LBX_REMOTE)
		return lbx_moment_gdb_remote(ret);
	return other && lbx_target_moment(other, ret);
}

/* "      0x7ffff7a00000     0x7ffff7a21000    0x21000        0x0  rw-p   [heap]" */
static bool take_mapping(const char *line, uint64_t from, struct lbx_range *ret)
{
	unsigned long long start, end;
	char mode[8];

	if (sscanf(line, " %llx %llx %*x %*x %7s", &start, &end, mode) != 3 || mode[0] != 'r' || mode[1] != 'w' ||
	    end <= from || start >= end)
		return false;
	ret->start = start > from ? start : from;
	ret->size = end - ret->start;
	return true;
}

/* What the program can write. */
static bool gdb_range(struct lbx_target *target, uint64_t from, struct lbx_range *ret)
{
	enum lbx_liveness liveness = lbx_target_gdb_liveness();
	struct lbx_target *other = liveness == LBX_CORE ? lbx_core_of_gdb() : gdb_direct(target);
	const char *at;

	if (other || liveness == LBX_CORE)
		return other && lbx_target_range(other, from, ret);
	if (!lbx_bridge_ask(&at, LBX_ANYWHERE, "info proc mappings"))
		return false;
	for (; *at; at += *at == '\n') {
		if (take_mapping(at, from, ret))
			return true;
		at += strcspn(at, "\n");
	}
	return false;
}

/* One value of `info auxv`: "3    AT_PHDR    Program headers for program    0x5555…" */
static bool auxv_value(const char *auxv, const char *name, uint64_t *ret)
{
	size_t n = strlen(name);

	for (const char *at = auxv; (at = strstr(at, name)); at += n) {
		size_t length = strcspn(at, "\n"), from = length;

		if (at[n] != ' ')
			continue;
		while (from && at[from - 1] != ' ')
			from--;
		*ret = strtoull(at + from, NULL, 0);
		return true;
	}
	return false;
}

/* Quiet. What kind of program it is, is asked at once, and known then (liveness). */
static bool ask_headers(const char **auxv, uint64_t *ret, uint64_t *ret_n)
{
	bool known = lbx_standing_ask(auxv, "info auxv");

	lbx_target_gdb_liveness();
	return known && !lbx_bridge_waits() && auxv_value(*auxv, "AT_PHDR", ret) &&
	       auxv_value(*auxv, "AT_PHNUM", ret_n);
}

static bool gdb_headers(struct lbx_target *target, uint64_t *ret, uint64_t *ret_n)
{
	const char *auxv;

	(void)target;
	return ask_headers(&auxv, ret, ret_n);
}

/* Without a question, but for the first time in a program. */
static bool gdb_loaded(struct lbx_target *target, uint64_t *ret)
{
	uint64_t headers, n, random;
	const char *auxv;

	return lbx_loader_watched(target, &gdb.watch, ret) ||
	       (ask_headers(&auxv, &headers, &n) && auxv_value(auxv, "AT_RANDOM", &random) &&
		lbx_loader_watch(target, headers, n, random, &gdb.watch) &&
		lbx_loader_watched(target, &gdb.watch, ret));
}

static bool root_is_at(uint64_t address)
{
	uint64_t magic;

	return gdb.read(address, &magic, sizeof(magic)) && magic == LB_SYMTAB_MAGIC;
}

static bool gdb_find_root(struct lbx_target *target, uint64_t *ret)
{
	const char *auxv;
	struct lbx_target *core;
	enum lbx_liveness liveness;
	uint64_t phdr, phnum;
	bool known;

	for (int i = 0; i < gdb.n_roots; i++) {
		if (root_is_at(gdb.roots[i])) {
			*ret = gdb.roots[i];
			return true;
		}
	}
	known = lbx_standing_ask(&auxv, "info auxv");
	liveness = lbx_target_gdb_liveness();
	if (!known)
		return lb_fail("no Lazybones runtime was found in this program");
	if (!auxv_value(auxv, "AT_PHDR", &phdr) || !auxv_value(auxv, "AT_PHNUM", &phnum))
		return lb_fail("no Lazybones runtime was found in this program: gdb knows neither a "
			       "JIT entry of it nor where the program headers are (info auxv)");
	core = liveness == LBX_CORE ? lbx_core_of_gdb() : NULL;
	if (lbx_find_root_by_note(target, phdr, phnum, ret))
		return true;
	if (!core)
		return false;
	/* what a core lacks gdb reads from the program's files; the core itself knows better */
	lb_clear_error();
	return core->ops->find_root(core, ret);
}

static bool gdb_waits(struct lbx_target *target)
{
	(void)target;
	return lbx_bridge_waits();
}

/* Takes effect when the response runs. */
static bool gdb_write(struct lbx_target *target, uint64_t address, const void *from, size_t n)
{
	uint64_t value = 0;
	const char *type = n == 8   ? "unsigned long"
			   : n == 4 ? "unsigned int"
			   : n == 2 ? "unsigned short"
			   : n == 1 ? "unsigned char"
				    : NULL;

	(void)target;
	if (!type)
		return lb_fail("cannot write %zu byte%s at once", n, LB_S(n));
	memcpy(&value, from, n);
	lbx_bridge_script("set var {%s}0x%" PRIx64 " = 0x%" PRIx64, type, address, value);
	return true;
}

static const struct lbx_target_ops ops = {
	.read = gdb_read,
	.map = gdb_map,
	.direct = gdb_direct,
	.find_root = gdb_find_root,
	.headers = gdb_headers,
	.loaded = gdb_loaded,
	.source_line = lbx_gdb_source_line,
	.evaluate = lbx_gdb_evaluate,
	.waits = gdb_waits,
	.machine = lbx_gdb_machine,
	.write = gdb_write,
	.saved = gdb_saved,
	.range = gdb_range,
	.pid = gdb_pid,
	.moment = gdb_moment,
	.read_ahead = gdb_read_ahead,
	.notice = gdb_notice,
};

struct lbx_target *lbx_target_gdb(lbx_bridge_read *read)
{
	lbx_target_destroy(gdb.process);
	gdb.process = gdb.core = NULL;
	gdb.looked_for_known = false;
	lbx_standing_begin();
	lbx_core_gdb_begin();
	gdb.read = read;
	gdb.target = (struct lbx_target){ .ops = &ops };
	return &gdb.target;
}

struct lbx_target *lbx_target_gdb_now(void)
{
	return &gdb.target;
}

enum lbx_liveness lbx_target_gdb_liveness(void)
{
	const char *stack;

	if (!lbx_standing_ask(&stack, "maintenance print target-stack"))
		return LBX_UNKNOWN;
	return gdb.target.liveness = liveness_of(stack);
}

bool lbx_target_gdb_expect(void)
{
	const char *unused;
	bool clean = lb_ok();

	use_known();
	if (gdb.process || gdb.core || !gdb.read || !lbx_standing_may())
		return true;
	/* all at once */
	enum lbx_liveness liveness = lbx_target_gdb_liveness();
	if (liveness == LBX_UNKNOWN || liveness == LBX_LIVE)
		lbx_standing_ask(&unused, "info proc");
	if (liveness == LBX_UNKNOWN || liveness == LBX_CORE)
		lbx_standing_ask(&unused, "info files");
	if (liveness == LBX_LIVE)
		gdb_direct(&gdb.target);
	if (liveness == LBX_CORE)
		gdb.core = lbx_core_of_gdb();
	if (clean)
		lb_clear_error();
	return !lbx_bridge_waits();
}
