/* On aarch64 a module may say that its code is guarded (target/guarded.h): then a call by address must lead to an instruction
 * that is made for it, or the program dies. Linux guards no program's code on x86-64 so; there endbr64 is not needed. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "ggml/true_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "target/guarded.h"

enum { PIECE = 1 << 16, CODE_MAX = 1 << 26, MOST = 16 };

#define MOV "\x20\x00\x80\x52" /* mov w0, #1 */
#define RET "\xc0\x03\x5f\xd6"

static const struct form {
	unsigned elf;
	size_t n, n_first, n_last; /* bytes: of all, of the first instruction and of the last one */
	bool may_land; /* it begins with an instruction that calls by address may lead to */
	const char *code;
} forms[] = {
	{ EM_X86_64, 6, 1, 1, true,
	  "\xb8\x01\x00\x00\x00\xc3" }, /* mov $1, %eax; ret; of the first a debugger replaces a byte */
	{ EM_AARCH64, 12, 4, 4, true, "\x5f\x24\x03\xd5" MOV RET }, /* bti c */
	{ EM_AARCH64, 12, 4, 4, true, "\xdf\x24\x03\xd5" MOV RET }, /* bti jc */
	{ EM_AARCH64, 16, 4, 4, true, "\x3f\x23\x03\xd5" MOV "\xbf\x23\x03\xd5" RET }, /* paciasp; …; autiasp */
	{ EM_AARCH64, 8, 4, 4, false, MOV RET },
};
enum { FORMS = sizeof forms / sizeof *forms };

bool lbx_true_code_knows(unsigned machine)
{
	for (int i = 0; i < FORMS; i++)
		if (forms[i].elf == machine)
			return true;
	return false;
}

static bool is_form(const struct form *form, const char *code)
{
	/* int3, or brk #0 */
	bool is_replaced = form->elf == EM_X86_64 ? *code == '\xcc' : memcmp(code, "\x00\x00\x20\xd4", 4) == 0;
	size_t first = is_replaced ? form->n_first : 0;

	return memcmp(code + first, form->code + first, form->n - first) == 0;
}

bool lbx_true_code_at(struct lbx_target *target, unsigned machine, uint64_t at)
{
	char code[MOST];

	for (int i = 0; i < FORMS; i++)
		if (forms[i].elf == machine && lbx_target_try_read(target, at, code, forms[i].n) &&
		    is_form(&forms[i], code))
			return true;
	return false;
}

/* ---- one that will serve ---- */

static bool ends_with(const char *code, size_t n, const char *with, size_t n_with)
{
	return n >= n_with && memcmp(code + n - n_with, with, n_with) == 0;
}

/* By what lies before a function, as compilers fill it up. Elsewhere these bytes may be part of other instructions, in
 * which a breakpoint does harm, and the stack cannot be told. */
static bool begins_function(const struct form *form, const char *code, size_t at, uint64_t address)
{
	static const struct {
		const char *bytes;
		size_t n;
	} before[] = { { "\xc3", 1 },
		       { "\xcc", 1 },
		       { "\x90", 1 },
		       { "\x0f\x1f\x00", 3 },
		       { "\x0f\x1f\x40\x00", 4 },
		       { "\x0f\x1f\x44\x00\x00", 5 },
		       { "\x0f\x1f\x80\x00\x00\x00\x00", 7 },
		       { "\x0f\x1f\x84\x00\x00\x00\x00\x00", 8 } };

	if (form->elf == EM_AARCH64)
		return address % 4 == 0 && (form->may_land || ends_with(code, at, RET, 4));
	if (ends_with(code, at, "\xf3\x0f\x1e\xfa", 4)) /* endbr64 */
		return true;
	for (size_t i = 0; address % 16 == 0 && i < sizeof before / sizeof *before; i++)
		if (ends_with(code, at, before[i].bytes, before[i].n))
			return true;
	return false;
}

/* In a piece of code that lies at `address`. */
static bool search_piece(const struct form *form, const char *code, size_t n, uint64_t address,
			 struct lbx_true_code *ret)
{
	const char *at = code, *found;

	while ((found = memmem(at, n - (size_t)(at - code), form->code, form->n))) {
		uint64_t start = address + (uint64_t)(found - code);
		if (begins_function(form, code, (size_t)(found - code), start)) {
			*ret = (struct lbx_true_code){ start, start + form->n - form->n_last };
			return true;
		}
		at = found + 1;
	}
	return false;
}

static bool search_segment(struct lbx_target *target, unsigned machine, bool is_guarded, const struct lbx_segment *s,
			   struct lbx_true_code *ret)
{
	lb_auto_free char *code = malloc(PIECE + MOST);
	uint64_t end = s->size < CODE_MAX ? s->size : CODE_MAX;

	for (uint64_t done = 0; code && done < end; done += PIECE) {
		size_t n = end - done < PIECE + MOST ? (size_t)(end - done) : PIECE + MOST;
		if (!lbx_target_try_read(target, s->start + done, code, n))
			continue;
		for (int i = 0; i < FORMS; i++)
			if (forms[i].elf == machine && (forms[i].may_land || !is_guarded) &&
			    search_piece(&forms[i], code, n, s->start + done, ret))
				return true;
	}
	return false;
}

bool lbx_true_code_find(struct lbx_target *target, unsigned machine, const struct lbx_loaded *modules, int n,
			const struct lbx_loaded *first, struct lbx_true_code *ret)
{
	for (int i = -1; i < n; i++) {
		const struct lbx_loaded *module = i < 0 ? first : &modules[i];
		bool is_guarded = machine == EM_AARCH64 && lbx_loaded_is_guarded(target, module);
		for (int k = 0; k < module->n_segments; k++)
			if (module->segments[k].executable &&
			    search_segment(target, machine, is_guarded, &module->segments[k], ret))
				return true;
	}
	return false;
}
