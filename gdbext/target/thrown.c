/* The unwinder is given the address of an exception's header (struct _Unwind_Exception of the Itanium C++ ABI), which begins
 * with eight bytes that say whose it is. That address stays on the stack of who throws. In front of it lies what the C++
 * library keeps (struct __cxa_exception: of libstdc++ and of libc++abi, alike as far as it is
 * read), behind it the object. Exceptions that were caught and are gone may have left theirs there, too: the one that
 * terminates is still had by somebody, and has a handler, which std::terminate() counts as. Of
 * two the later one leads to the other. */
#include "target/thrown.h"

#include <stdio.h>
#include <string.h>

#include "lazybones.h"
#include "target/printable.h"

enum {
	WORD = 8,
	STACK_MOST = 1 << 20,
	PIECE = 512,
	TYPE_AT = -0x50, /* the type_info of the object; where what the library keeps begins, as far as it is read */
	NEXT_AT = -0x30, /* which was caught before it, and is still being handled */
	HANDLERS_AT = -0x28, /* an int: how many handle it */
	OBJECT_AT = 0x20,
	COUNT_MOST = 64,
	MESSAGE_AT = WORD, /* of exceptions that begin with their text, behind the virtual table */
};

/* Its name with the NUL, from the last byte to the first; and where an int counts those that have the exception. */
static const struct library {
	char name[8];
	int users_at;
} libraries[] = { { "GNUCC++", -0x60 }, { "CLNGC++", -0x58 } };

/* NULL: it is none. */
static const struct library *library_of(uint64_t word)
{
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
		uint64_t value = 0;
		for (int k = 0; k < WORD; k++)
			value = value << 8 | (unsigned char)libraries[i].name[k];
		if (word == value)
			return &libraries[i];
	}
	return NULL;
}

static bool is_count(struct lbx_target *target, uint64_t at)
{
	int32_t count;

	return lbx_target_try_read(target, at, &count, sizeof count) && count > 0 && count <= COUNT_MOST;
}

static bool is_terminating(struct lbx_target *target, uint64_t header)
{
	const struct library *library;
	uint64_t word;

	return header && header % WORD == 0 && lbx_target_try_read(target, header, &word, sizeof word) &&
	       (library = library_of(word)) && is_count(target, header + HANDLERS_AT) &&
	       is_count(target, header + library->users_at);
}

/* Whether a thread has caught one while it handled the other. */
static bool leads_to(struct lbx_target *target, uint64_t later, uint64_t earlier)
{
	uint64_t next;

	return later && earlier && lbx_target_try_read(target, later + NEXT_AT, &next, sizeof next) &&
	       next == earlier + TYPE_AT;
}

/* The latest that the stack leads to; 0: none, or it is not certain which. */
static uint64_t find_header(struct lbx_target *target, uint64_t from, uint64_t to)
{
	uint64_t words[PIECE], found = 0, end = to - from > STACK_MOST ? from + STACK_MOST : to;

	for (uint64_t at = (from + WORD - 1) / WORD * WORD; at + WORD <= end; at += sizeof words) {
		size_t n = end - at < sizeof words ? (size_t)(end - at) / WORD : PIECE;
		if (!lbx_target_try_read(target, at, words, n * WORD))
			return 0;
		for (size_t i = 0; i < n; i++) {
			if (words[i] == found || !is_terminating(target, words[i]) || leads_to(target, found, words[i]))
				continue;
			if (found && !leads_to(target, words[i], found))
				return 0;
			found = words[i];
		}
	}
	return found;
}

static bool is_text(const char *text, size_t n)
{
	for (size_t i = 0; i < n;) {
		int length = text[i] == '\n' || text[i] == '\t' ? 1 : lbx_printable(text + i);
		if (length == 0)
			return false;
		i += (size_t)length;
	}
	return n > 0;
}

/* The first line of what is there, which is `length` bytes long: else it is no text. */
static bool take_text(struct lbx_target *target, uint64_t at, uint64_t length, struct lbx_thrown *ret)
{
	char text[sizeof ret->text] = "";
	size_t n = length < sizeof text ? (size_t)length : sizeof text - 1;
	char end;

	if (!at || !length || length > 1 << 30 || !lbx_target_try_read(target, at, text, n) ||
	    !lbx_target_try_read(target, at + length, &end, 1) || end)
		return false;
	text[n] = '\0';
	while (n < length && n > 0 && (text[n - 1] & 0xc0) == 0x80) /* not a part of a character */
		text[--n] = '\0';
	if (n < length && n > 0 && text[n - 1] & 0x80)
		text[--n] = '\0';
	if (!is_text(text, n))
		return false;
	snprintf(ret->text, sizeof ret->text, "%.*s", (int)strcspn(text, "\n"), text);
	return true;
}

/* A string that counts its users has in front of its characters: its length, its room, and how many they are. */
static bool take_counted(struct lbx_target *target, uint64_t at, struct lbx_thrown *ret)
{
	uint64_t head[2];

	return at > sizeof head + WORD && lbx_target_try_read(target, at - sizeof head - WORD, head, sizeof head) &&
	       head[0] <= head[1] && take_text(target, at, head[0], ret);
}

/* std::string of either ABI of libstdc++. */
static bool take_string(struct lbx_target *target, uint64_t at, struct lbx_thrown *ret)
{
	uint64_t words[2];

	return lbx_target_try_read(target, at, words, sizeof words) &&
	       (take_text(target, words[0], words[1], ret) || take_counted(target, words[0], ret));
}

static bool is_string(struct lbx_target *target, uint64_t type)
{
	return lbx_cxx_type_is(target, type, "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE") ||
	       lbx_cxx_type_is(target, type, "Ss");
}

static void take_message(struct lbx_target *target, uint64_t type, uint64_t object, struct lbx_thrown *ret)
{
	if (lbx_cxx_type_is(target, type, "St11logic_error") || lbx_cxx_type_is(target, type, "St13runtime_error") ||
	    lbx_cxx_type_is(target, type, "N3c105ErrorE") ||
	    lbx_cxx_type_is(target, type, "NSt8ios_base7failureB5cxx11E"))
		take_string(target, object + MESSAGE_AT, ret);
	if (!is_string(target, type))
		return;
	take_string(target, object, ret);
	snprintf(ret->type, sizeof ret->type, "std::string");
}

/* What is no class: `throw "text"`, `throw 3`. */
static bool take_plain(struct lbx_target *target, uint64_t type, uint64_t object, struct lbx_thrown *ret)
{
	char mangled[8];
	uint64_t name, at;
	int32_t number;

	if (!lbx_target_try_read(target, type + WORD, &name, sizeof name) ||
	    !lbx_target_read_string(target, name, mangled, sizeof mangled))
		return false;
	if (strcmp(mangled, "i") == 0 && lbx_target_try_read(target, object, &number, sizeof number)) {
		snprintf(ret->type, sizeof ret->type, "int");
		snprintf(ret->text, sizeof ret->text, "%d", number);
	} else if (strcmp(mangled, "PKc") == 0 && lbx_target_try_read(target, object, &at, sizeof at)) {
		char text[sizeof ret->text];
		snprintf(ret->type, sizeof ret->type, "const char *");
		if (lbx_target_read_string(target, at, text, sizeof text))
			take_text(target, at, strlen(text), ret);
	}
	return ret->type[0];
}

static bool describe(struct lbx_target *target, uint64_t header, struct lbx_thrown *ret)
{
	uint64_t type, object = header + OBJECT_AT;

	if (!lbx_target_try_read(target, header + TYPE_AT, &type, sizeof type))
		return false;
	if (lbx_cxx_type_name(target, type, ret->type))
		take_message(target, type, object, ret);
	else if (!take_plain(target, type, object, ret))
		return false;
	lbx_make_printable(ret->type);
	lbx_make_printable(ret->text);
	return true;
}

bool lbx_thrown_find(struct lbx_target *target, uint64_t from, uint64_t to, struct lbx_thrown *ret)
{
	bool clean = lb_ok();
	uint64_t header = from && from < to ? find_header(target, from, to) : 0;

	*ret = (struct lbx_thrown){ .type = "" };
	bool found = header && describe(target, header, ret);
	if (clean)
		lb_clear_error();
	return found;
}
