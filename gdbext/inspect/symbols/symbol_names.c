#define _GNU_SOURCE
#include "inspect/symbols/symbol_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { EARLIER = UINT32_MAX }; /* instead of an index */

/* FNV-1a. Two texts of one hash are taken for the same; then one has a longer name than it needs. */
static uint64_t hash_of(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ULL;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ULL;
	return hash ? hash : 1;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool lbx_symbol_hides_file(const char *name)
{
	return strcmp(name, "tensor") == 0;
}

/* What gdb reads as a type or an operator, and what is not there as it is. */
static bool is_keyword(const char *name)
{
	static const char *const words[] = {
		"unsigned", "signed",   "long",     "short",    "int",      "char",     "double",  "float",    "struct",
		"union",    "enum",     "const",    "volatile", "restrict", "sizeof",   "alignof", "_Alignof", "class",
		"template", "typename", "operator", "new",      "delete",   "true",     "false",   "and",      "or",
		"xor",      "not",      "bitand",   "bitor",    "compl",    "_Complex", "_Atomic",
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i], name) == 0)
			return true;
	return lbx_symbol_hides_file(name);
}

static bool c_can_spell(const char *name)
{
	if (!is_letter(*name) || is_keyword(name))
		return false;
	while (is_letter(*name) || is_digit(*name))
		name++;
	return !*name;
}

/* The name, spelt as C can, with the id if wanted. NULL when memory is out. */
static char *spell(const struct lbx_symbol *s, bool with_id)
{
	char *spelt;
	int n =
	    with_id
		? asprintf(&spelt, "%s%s_%llu", is_digit(*s->name) ? "_" : "", s->name, (unsigned long long)s->id)
		: asprintf(&spelt, "%s%s%s", is_digit(*s->name) ? "_" : "", s->name, is_keyword(s->name) ? "_" : "");

	if (n < 0)
		return NULL;
	for (char *c = spelt; *c; c++)
		if (!is_letter(*c) && !is_digit(*c))
			*c = '_';
	return spelt;
}

static bool add_c_name(struct lbx_number_map *taken, struct lbx_symbol *s)
{
	for (int with_id = !s->plain; with_id < 2; with_id++) {
		bool is_new;
		char *name = spell(s, with_id);
		if (!name || !lbx_number_at(taken, NULL, hash_of(name), &is_new)) {
			free(name);
			return lb_fail("out of memory for the names of variables");
		}
		if (is_new) {
			s->c_name = name;
			return true;
		}
		free(name);
	}
	return true; /* somebody has named a tensor so, too */
}

/* Gives each name to the newest that has it. */
static bool find_newest(struct lbx_symbol_space *space, struct lbx_symbol *symbols, size_t n)
{
	struct lbx_number_map *taken = &space->names;
	bool is_new;

	for (size_t i = 0; i < n; i++) {
		struct lbx_number *newest;

		if (space->stays && symbols[i].is_passing)
			continue;
		newest = lbx_number_at(taken, NULL, hash_of(symbols[i].name), &is_new);
		if (!newest)
			return false;
		if (!is_new && (newest->value == EARLIER || symbols[newest->value].id > symbols[i].id))
			continue;
		if (!is_new)
			symbols[newest->value].plain = false;
		symbols[i].plain = true;
		newest->value = (uint32_t)i;
	}
	return true;
}

bool lbx_symbol_names(struct lbx_symbol_space *space, struct lbx_symbol *symbols, size_t n)
{
	struct lbx_number_map *taken = &space->names;
	bool ok = n < EARLIER || lb_fail("%zu tensors are too many for variables", n);

	ok = ok && find_newest(space, symbols, n);
	for (size_t i = 0; i < n && ok; i++)
		if (!symbols[i].plain || !c_can_spell(symbols[i].name))
			ok = add_c_name(taken, &symbols[i]);
	for (uint32_t i = 0; i < taken->n_slots; i++)
		if (taken->slots[i].key)
			taken->slots[i].value = EARLIER;
	return ok;
}

void lbx_symbol_space_deinit(struct lbx_symbol_space *space)
{
	lbx_number_map_deinit(&space->names);
	lbx_number_map_deinit(&space->tensors);
	*space = (struct lbx_symbol_space){ .names = { 0 } };
}
