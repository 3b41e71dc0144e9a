/* libiberty's demangler is gdb's own: it leaves the parameters out, as gdb does in a stack, bounds its
 * recursion, and is linked in statically, so that nothing comes to depend on a C++ library. (libstdc++'s
 * __cxa_demangle has the same code without these choices.)
 *
 * What a name stands for may be longer than memory, since a part of it can name the whole before it: so
 * the demangler hands it out in pieces, and is left, which it knows no word for, when there are enough.
 * It allocates nothing meanwhile. */
#include "target/demangle.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#if LB_HAVE_IBERTY
#include <libiberty/demangle.h>
#endif

enum {
	MOST = 4096, /* of what is demangled: names have a bound, hostile ones have none */
	ROOM = 4 * MOST, /* for what comes of it */
	LONG = 100 /* arguments are left out from there on */
};

static void copy(const char *name, size_t n, char *ret, size_t size)
{
	static const char dots[] = "…";

	if (n < size) {
		memcpy(ret, name, n);
		ret[n] = '\0';
		return;
	}
	n = size - sizeof dots;
	while (n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80)
		n--;
	memcpy(ret, name, n);
	memcpy(ret + n, dots, sizeof dots);
}

#if LB_HAVE_IBERTY
struct plain {
	char *text;
	size_t n, room;
	jmp_buf enough;
};

static void take(const char *piece, size_t n, void *context)
{
	struct plain *plain = context;
	size_t left = plain->room - plain->n;

	memcpy(plain->text + plain->n, piece, n < left ? n : left);
	plain->n += n < left ? n : left;
	if (n > left)
		longjmp(plain->enough, 1);
}

/* Up to a byte more than fits. */
static bool demangle(const char *mangled, struct plain *ret)
{
	if (setjmp(ret->enough))
		return true;
	if (rust_demangle_callback(mangled, DMGL_ANSI, take, ret))
		return true;
	ret->n = 0;
	return cplus_demangle_v3_callback(mangled, DMGL_ANSI, take, ret);
}

/* How much of the text is a word whose signs open no list: that of an operator, or of a namespace without a name. */
static size_t plain_at(const char *text, size_t n)
{
	static const char word[] = "operator", unnamed[] = "(anonymous namespace)";
	size_t end = sizeof word - 1;

	if (n >= sizeof unnamed - 1 && memcmp(text, unnamed, sizeof unnamed - 1) == 0)
		return sizeof unnamed - 1;
	if (n < end || memcmp(text, word, end) != 0)
		return 0;
	if (n >= end + 2 && memcmp(text + end, "()", 2) == 0)
		return end + 2;
	while (end < n && strchr("<>=-", text[end]))
		end++;
	return end;
}

/* Without what stands in brackets: "…" does, also for a list that does not end. */
static void copy_folded(const char *text, size_t n, char *ret, size_t size)
{
	static const char dots[] = "…";
	char folded[ROOM];
	size_t used = 0, depth = 0;

	for (size_t i = 0, step; i < n; i += step) {
		step = plain_at(text + i, n - i);
		bool opens = step == 0 && strchr("<(", text[i]), closes = step == 0 && strchr(">)", text[i]);
		step = step ? step : 1;
		depth -= closes && depth > 0;
		if (depth == 0 && used + step + sizeof dots <= sizeof folded) {
			memcpy(folded + used, text + i, step);
			used += step;
			if (opens) {
				memcpy(folded + used, dots, sizeof dots - 1);
				used += sizeof dots - 1;
			}
		}
		depth += opens;
	}
	copy(folded, used, ret, size);
}

static bool copy_plain(const char *name, size_t n, char *ret, size_t size)
{
	char mangled[MOST];
	struct plain plain = { .room = ROOM };

	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') || n >= MOST || !(plain.text = malloc(ROOM)))
		return false;
	memcpy(mangled, name, n);
	mangled[n] = '\0';
	bool done = demangle(mangled, &plain);
	if (done && (plain.n >= size || plain.n > LONG))
		copy_folded(plain.text, plain.n, ret, size);
	else if (done)
		copy(plain.text, plain.n, ret, size);
	free(plain.text);
	return done;
}
#else
static bool copy_plain(const char *name, size_t n, char *ret, size_t size)
{
	(void)name, (void)n, (void)ret, (void)size;
	return false;
}
#endif

void lbx_demangle(const char *name, char *ret, size_t size)
{
	size_t n = strcspn(name, "@");

	if (!copy_plain(name, n, ret, size))
		copy(name, n ? n : strlen(name), ret, size);
}
