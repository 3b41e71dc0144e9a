#define _GNU_SOURCE
#include "publish/marker.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/op.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif
#ifndef PR_SET_VMA_ANON_NAME
#define PR_SET_VMA_ANON_NAME 0
#endif

enum { MARKER_BYTES = 512, MAPPING_NAME_BYTES = 80, PATH_BYTES = 160 };

struct text {
	size_t n, size;
	char *bytes;
};

static void put(struct text *to, char c)
{
	if (to->n + 1 < to->size)
		to->bytes[to->n++] = c;
}

/* What does not print, and what a mapping's name or a quoted text must not hold, becomes '?'. */
static void put_text(struct text *to, const char *from, size_t most)
{
	for (size_t i = 0; i < most && from[i]; i++)
		put(to, from[i] < ' ' || from[i] > '~' || strchr("\\`$[]'\"", from[i]) ? '?' : from[i]);
}

static void put_number(struct text *to, uint64_t value, unsigned base)
{
	char digits[24];
	int n = 0;

	do
		digits[n++] = "0123456789abcdef"[value % base];
	while (value /= base);
	while (n)
		put(to, digits[--n]);
}

static char program[PATH_BYTES + 1];

void lb_marker_start(void)
{
	ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);

	program[n < 0 ? 0 : n] = '\0';
}

static bool is_plain(const char *path)
{
	size_t n = 0;

	for (; path[n]; n++)
		if (path[n] <= ' ' || path[n] > '~' || strchr("\\`$[]'\"+", path[n]))
			return false;
	return path[0] == '/' && n < PATH_BYTES;
}

/* The file of the module that an address is in, and the address as that file has it, which also
 * serves once the process is gone. False where there is none, or its path is not fit to be read
 * back. */
static bool put_place(struct text *to, uint64_t address)
{
	struct dl_find_object found;

	if (_dl_find_object((void *)(uintptr_t)address, &found) != 0 || !found.dlfo_link_map)
		return false;
	const char *path = found.dlfo_link_map->l_name;
	if (!path || !*path)
		path = program;
	if (!is_plain(path))
		return false;
	put_text(to, path, PATH_BYTES);
	put_text(to, "+0x", 3);
	put_number(to, address - found.dlfo_link_map->l_addr, 16);
	return true;
}

static bool is(const char *name, size_t n, const char *word)
{
	return strlen(word) == n && memcmp(name, word, n) == 0;
}

static bool is_address(const char *name, size_t n)
{
	return is(name, n, "site") || is(name, n, "address") || is(name, n, "root") || is(name, n, "compiled");
}

static void put_arg(struct text *to, const char *name, size_t n, uint64_t value)
{
	put_text(to, name, n);
	put(to, '=');
	if (is(name, n, "op")) {
		put_text(to, value < LB_OPS ? lb_ops[value].name : "?", sizeof lb_ops[0].name);
	} else if (is(name, n, "message") || is(name, n, "name") || is(name, n, "reason")) {
		put(to, '\'');
		put_text(to, value ? (const char *)(uintptr_t)value : "", LB_FLIGHT_TEXT_BYTES);
		put(to, '\'');
	} else if (is(name, n, "site") && value && put_place(to, value)) {
		return;
	} else if (is_address(name, n)) {
		put_text(to, "0x", 2);
		put_number(to, value, 16);
	} else if ((int64_t)value < 0) {
		put(to, '-');
		put_number(to, -value, 10);
	} else {
		put_number(to, value, 10);
	}
}

/* Addresses come last: strace shows 32 characters of a text, unless told otherwise (-s). */
static void put_args(struct text *to, const struct lb_event_info *event, const uint64_t args[LB_EVENT_ARGS],
		     bool addresses)
{
	const char *names = event->args;

	for (uint32_t i = 0; i < event->n_args; i++) {
		names += strspn(names, "(, ");
		size_t n = strcspn(names, ",)");
		/* a record's address: its id says as much */
		if (!is(names, n, "tensor") && is_address(names, n) == addresses) {
			put(to, ' ');
			put_arg(to, names, n, args[i]);
		}
		names += n;
	}
}

void lb_marker_write(const struct lb_event_info *event, const uint64_t args[LB_EVENT_ARGS])
{
	char bytes[MARKER_BYTES];
	struct text text = { .size = sizeof bytes, .bytes = bytes };
	int before = errno;

	put_text(&text, "lazybones: ", 11);
	put_text(&text, event->name, sizeof event->name);
	put_args(&text, event, args, false);
	put_args(&text, event, args, true);
	/* not write(): a thread must not be cancelled here */
	if (syscall(SYS_write, -1, bytes, text.n) < 0)
		errno = before;
}

void lb_marker_name_tensor(const struct lb_tensor *t)
{
	const struct lb_buffer *buffer =
	    (const struct lb_buffer *)(uintptr_t)__atomic_load_n(&t->buffer, __ATOMIC_ACQUIRE);
	const char *name = (const char *)(uintptr_t)__atomic_load_n(&t->name, __ATOMIC_ACQUIRE);
	char bytes[MAPPING_NAME_BYTES];
	struct text text = { .size = sizeof bytes, .bytes = bytes };
	int before = errno;

	if (!buffer || !(buffer->flags & LB_BUFFER_MAPPED))
		return;
	put_text(&text, "lazybones #", 11);
	put_number(&text, t->id, 10);
	if (name) {
		put(&text, ' ');
		put_text(&text, name, LB_NAME_MAX);
	}
	bytes[text.n] = '\0';
	prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, buffer->data, buffer->capacity, bytes);
	errno = before;
}
