/* A module that exports a base class exports what tells its type at run time (the Itanium C++ ABI, 2.9.5). A class that is
 * derived from one has a type_info that leads to its base's, and a virtual table that has that type_info in front. Both lie in
 * data that the loader has relocated, so whole words there are their addresses. No symbol of a derived class is needed, so a
 * program's own are found, too. */
#include "target/cxx_classes.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

enum { DATA_MAX = 1 << 28, PIECE = 1 << 20, TYPES = 256, WORD = 8, BASES_MAX = 16, ROUNDS = 16 };
#define ALL_DATA_MAX (1LL << 30)

/* type_info, of the class itself, and which of the bases it leads to. */
struct type {
	uint64_t at;
	int base;
};

struct search {
	struct lbx_target *target;
	const struct lbx_loaded *modules;
	int n_modules;
	const struct lbx_cxx_sought *sought;
	struct type types[TYPES];
	int n_types;
	int64_t left; /* bytes that may still be looked at */
	uint64_t *words; /* a piece */
	struct lbx_cxx_classes *ret;
};

const struct lbx_cxx_class *lbx_cxx_class_at(const struct lbx_cxx_classes *classes, uint64_t vtable)
{
	int low = 0, high = classes->n;

	if (!lbx_cxx_may_be_class(classes, vtable))
		return NULL;
	while (low < high) {
		int middle = low + (high - low) / 2;
		if (classes->list[middle].vtable == vtable)
			return &classes->list[middle];
		if (classes->list[middle].vtable < vtable)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* ---- types ---- */

static const struct type *type_at(const struct search *s, uint64_t at)
{
	for (int i = 0; i < s->n_types; i++)
		if (s->types[i].at == at)
			return &s->types[i];
	return NULL;
}

static void add_type(struct search *s, uint64_t at, int base)
{
	if (s->n_types < TYPES && !type_at(s, at))
		s->types[s->n_types++] = (struct type){ at, base };
}

/* Calls `look` with each piece of data of each module. */
static void for_data(struct search *s,
		     void (*look)(struct search *s, const uint64_t *words, size_t n, uint64_t address))
{
	enum { OVERLAP = 4 * WORD };

	for (int i = 0; i < s->n_modules; i++)
		for (int k = 0; k < s->modules[i].n_segments; k++) {
			const struct lbx_segment *segment = &s->modules[i].segments[k];
			if (!segment->writable || segment->from_file > DATA_MAX)
				continue;
			uint64_t end = segment->start + segment->from_file;
			for (uint64_t at = (segment->start + WORD - 1) & ~(uint64_t)(WORD - 1); at + OVERLAP < end;
			     at += PIECE) {
				if ((s->left -= PIECE) < 0)
					return;
				size_t n = (size_t)(end - at < PIECE + OVERLAP ? end - at : PIECE + OVERLAP) / WORD;
				if (lbx_target_try_read(s->target, at, s->words, n * WORD))
					look(s, s->words, n, at);
			}
		}
}

static bool is_sought(const struct search *s, uint64_t type)
{
	const char *begins = s->sought->begins ? s->sought->begins : "";
	char name[LBX_CXX_MANGLED];

	return lbx_cxx_type_mangled(s->target, type, name) && strncmp(name, begins, strlen(begins)) == 0;
}

/* A type_info with a single base: its virtual table, its name, the base. With several: flags and their number before the
 * first base. */
static void look_for_types(struct search *s, const uint64_t *words, size_t n, uint64_t address)
{
	for (size_t i = 2; i < n; i++) {
		const struct type *base = words[i] ? type_at(s, words[i]) : NULL;
		if (!base)
			continue;
		bool is_first_of_several = i >= 3 && words[i - 1] >> 32 >= 1 && words[i - 1] >> 32 <= BASES_MAX &&
					   (words[i - 1] & UINT32_MAX) < 4;
		uint64_t at = address + (i - (is_first_of_several ? 3 : 2)) * WORD;
		if (is_sought(s, at))
			add_type(s, at, base->base);
	}
}

/* ---- virtual tables ---- */

static void add_class(struct search *s, uint64_t vtable, const struct type *type)
{
	struct lbx_cxx_classes *c = s->ret;
	struct lbx_cxx_class new = { .vtable = vtable, .base = type->base };
	int at = 0;

	while (at < c->n && c->list[at].vtable < vtable)
		at++;
	if (c->n == LBX_CXX_CLASSES || (at < c->n && c->list[at].vtable == vtable) || !is_sought(s, type->at) ||
	    !lbx_cxx_type_name(s->target, type->at, new.name))
		return;
	memmove(&c->list[at + 1], &c->list[at], (size_t)(c->n++ - at) * sizeof new);
	c->list[at] = new;
	c->filter |= 1ULL << (vtable >> 3 & 63);
}

/* How far it is from the whole object, which is 0; the type_info; and the functions, where objects lead to. */
static void look_for_vtables(struct search *s, const uint64_t *words, size_t n, uint64_t address)
{
	for (size_t i = 1; i + 1 < n; i++) {
		const struct type *type = words[i] && words[i - 1] == 0 ? type_at(s, words[i]) : NULL;
		if (type && lbx_loaded_is_code(s->modules, s->n_modules, words[i + 1]))
			add_class(s, address + (i + 1) * WORD, type);
	}
}

/* ---- all of them ---- */

/* Weak copies of the base classes may be in any module. */
static bool find_bases(struct search *s)
{
	uint64_t at;

	for (int i = 0; i < s->n_modules; i++)
		for (int k = 0; s->sought->bases[k]; k++)
			if (lbx_loaded_symbol(s->target, &s->modules[i], s->sought->bases[k], &at))
				add_type(s, at, k);
	return s->n_types > 0;
}

bool lbx_cxx_classes_find(struct lbx_target *target, const struct lbx_loaded *modules, int n,
			  const struct lbx_cxx_sought *sought, struct lbx_cxx_classes *ret)
{
	lb_auto_free struct search *s = calloc(1, sizeof *s);

	*ret = (struct lbx_cxx_classes){ .n = 0 };
	if (!s || !(s->words = malloc(PIECE + 4 * WORD)))
		return false;
	s->target = target;
	s->modules = modules;
	s->n_modules = n;
	s->sought = sought;
	s->ret = ret;
	bool found = find_bases(s);
	/* what is derived from what was derived, until nothing is new */
	s->left = ROUNDS * ALL_DATA_MAX;
	for (int before = -1, i = 0; found && before != s->n_types && i < ROUNDS; i++) {
		before = s->n_types;
		for_data(s, look_for_types);
	}
	s->left = ALL_DATA_MAX;
	if (found)
		for_data(s, look_for_vtables);
	free(s->words);
	return ret->n > 0;
}

bool lbx_cxx_classes_add(struct lbx_target *target, const struct lbx_loaded *modules, int n,
			 const struct lbx_cxx_sought *sought, uint64_t vtable, struct lbx_cxx_classes *ret)
{
	static const char symbol[] = "_ZTI"; /* in front of a class's name */
	struct search s = { .target = target, .sought = sought, .ret = ret };
	struct type type = { 0 };
	uint64_t function;

	if (lbx_cxx_class_at(ret, vtable))
		return true;
	if (lbx_loaded_at(modules, n, vtable) < 0 || !lbx_cxx_type_of(target, vtable, &type.at) ||
	    !lbx_target_try_read(target, vtable, &function, sizeof function) ||
	    !lbx_loaded_is_code(modules, n, function))
		return false;
	while (sought->bases[type.base] &&
	       !lbx_cxx_type_is(target, type.at, sought->bases[type.base] + sizeof symbol - 1))
		type.base++;
	if (sought->bases[type.base])
		add_class(&s, vtable, &type);
	return lbx_cxx_class_at(ret, vtable) != NULL;
}
