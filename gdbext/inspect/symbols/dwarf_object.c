/* Three sections, .debug_info with one unit, .debug_abbrev and .debug_str, in DWARF 4: every
 * debugger knows all that is used of it. What was learnt about gdb 13:
 *   - a variable that is not external comes after all of the program's own, external or static:
 *     gdb searches its files in the order in which it got them;
 *   - a unit needs code, or gdb warns at each address: this one has one byte, where no program can
 *     have any (neither x86-64 nor aarch64 has such addresses);
 *   - DW_AT_byte_stride corrupts gdb's heap when it is negative, or less than the element's size:
 *     there is none here;
 *   - DW_OP_piece on an empty stack is `<optimized out>`, also at the end of one of two branches; a
 *     variable without a place would be the same, but gdb's index leaves it out. */
#define _GNU_SOURCE
#include "inspect/symbols/dwarf_object.h"

#include <dwarf.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { UNIT = 1, NUMBER, ARRAY, AXIS, VARIABLE, NAME }; /* abbreviations */
enum { HEADER = 11 /* bytes of a unit's */, PLACE_MAX = 128, SECTIONS = 5 };
static const uint64_t no_code = 0x8000000000000000ULL;

static const unsigned char abbreviations[] = {
	UNIT,
	DW_TAG_compile_unit,
	true,
	DW_AT_producer,
	DW_FORM_strp,
	DW_AT_language,
	DW_FORM_data1,
	DW_AT_name,
	DW_FORM_strp,
	DW_AT_low_pc,
	DW_FORM_addr,
	DW_AT_high_pc,
	DW_FORM_data1,
	0,
	0,
	NUMBER,
	DW_TAG_base_type,
	false,
	DW_AT_name,
	DW_FORM_strp,
	DW_AT_encoding,
	DW_FORM_data1,
	DW_AT_byte_size,
	DW_FORM_data1,
	0,
	0,
	ARRAY,
	DW_TAG_array_type,
	true,
	DW_AT_type,
	DW_FORM_ref4,
	0,
	0,
	AXIS,
	DW_TAG_subrange_type,
	false,
	DW_AT_count,
	DW_FORM_udata,
	0,
	0,
	VARIABLE,
	DW_TAG_variable,
	false,
	DW_AT_name,
	DW_FORM_strp,
	DW_AT_type,
	DW_FORM_ref4,
	DW_AT_location,
	DW_FORM_exprloc,
	0,
	0,
	NAME,
	DW_TAG_typedef,
	false,
	DW_AT_name,
	DW_FORM_strp,
	DW_AT_type,
	DW_FORM_ref4,
	0,
	0,
	0,
};

struct section {
	FILE *file;
	char *bytes; /* after a flush */
	size_t size;
	uint64_t n; /* bytes written */
};

struct lbx_dwarf {
	struct section info, strings, object;
};

/* ---- bytes ---- */

static void put(struct section *s, const void *bytes, size_t n)
{
	if (n == 0)
		return;
	s->n += n;
	fwrite_unlocked(bytes, 1, n, s->file);
}

static void put_int(struct section *s, uint64_t value, size_t n)
{
	put(s, &value, n); /* little endian, as all that the runtime runs on */
}

static size_t uleb(uint64_t value, unsigned char *to)
{
	size_t n = 0;

	do {
		to[n] = (value & 0x7f) | (value > 0x7f ? 0x80 : 0);
		value >>= 7;
	} while (to[n++] & 0x80);
	return n;
}

static void put_uleb(struct section *s, uint64_t value)
{
	unsigned char bytes[10];
	put(s, bytes, uleb(value, bytes));
}

/* Puts the text among the strings, and its place into .debug_info. */
static void put_string(struct lbx_dwarf *d, const char *text)
{
	put_int(&d->info, d->strings.n, 4);
	put(&d->strings, text, strlen(text) + 1);
}

static bool open_section(struct section *s)
{
	s->file = open_memstream(&s->bytes, &s->size);
	return s->file;
}

static void close_section(struct section *s)
{
	if (s->file)
		fclose(s->file);
	free(s->bytes);
}

struct lbx_dwarf *lbx_dwarf_create(const char *unit)
{
	struct lbx_dwarf *d = calloc(1, sizeof *d);

	if (!d || !open_section(&d->info) || !open_section(&d->strings) || !open_section(&d->object)) {
		lbx_dwarf_destroy(d);
		lb_fail("out of memory");
		return NULL;
	}
	put_int(&d->info, 0, 4); /* its length, in the end */
	put_int(&d->info, 4, 2); /* version */
	put_int(&d->info, 0, 4); /* the abbreviations' place */
	put_int(&d->info, 8, 1); /* bytes of an address */
	put_int(&d->info, UNIT, 1);
	put_string(d, "lazybones");
	put_int(&d->info, DW_LANG_C99, 1);
	put_string(d, unit);
	put_int(&d->info, no_code, 8);
	put_int(&d->info, 1, 1);
	return d;
}

void lbx_dwarf_destroy(struct lbx_dwarf *d)
{
	if (!d)
		return;
	close_section(&d->info);
	close_section(&d->strings);
	close_section(&d->object);
	free(d);
}

/* ---- types ---- */

uint32_t lbx_dwarf_number(struct lbx_dwarf *d, const char *name, enum lbx_dwarf_encoding encoding, unsigned bytes)
{
	static const unsigned char encodings[] = {
		[LBX_BOOLEAN] = DW_ATE_boolean, [LBX_SIGNED] = DW_ATE_signed,         [LBX_UNSIGNED] = DW_ATE_unsigned,
		[LBX_FLOAT] = DW_ATE_float,     [LBX_COMPLEX] = DW_ATE_complex_float,
	};
	uint32_t type = (uint32_t)d->info.n;

	put_int(&d->info, NUMBER, 1);
	put_string(d, name);
	put_int(&d->info, encodings[encoding], 1);
	put_int(&d->info, bytes, 1);
	return type;
}

uint32_t lbx_dwarf_name(struct lbx_dwarf *d, const char *name, uint32_t of)
{
	uint32_t type = (uint32_t)d->info.n;

	put_int(&d->info, NAME, 1);
	put_string(d, name);
	put_int(&d->info, of, 4);
	return type;
}

uint32_t lbx_dwarf_array(struct lbx_dwarf *d, uint32_t element, int rank, const int64_t *shape)
{
	uint32_t type = (uint32_t)d->info.n;

	put_int(&d->info, ARRAY, 1);
	put_int(&d->info, element, 4);
	for (int i = 0; i < rank; i++) {
		put_int(&d->info, AXIS, 1);
		put_uleb(&d->info, (uint64_t)shape[i]);
	}
	put_int(&d->info, 0, 1);
	return type;
}

/* ---- places ---- */

struct expression {
	unsigned char bytes[PLACE_MAX];
	size_t n;
};

static void add(struct expression *e, unsigned op, uint64_t operand, size_t n)
{
	e->bytes[e->n++] = (unsigned char)op;
	memcpy(e->bytes + e->n, &operand, n);
	e->n += n;
}

static void add_uleb(struct expression *e, unsigned op, uint64_t operand)
{
	e->bytes[e->n++] = (unsigned char)op;
	e->n += uleb(operand, e->bytes + e->n);
}

/* Pushes whether the integer has another value. */
static void add_differs(struct expression *e, const struct lbx_condition *c)
{
	add(e, DW_OP_addr, c->word.at, 8);
	add(e, DW_OP_deref_size, c->word.bytes, 1);
	add(e, DW_OP_const8u, c->value, 8);
	add(e, DW_OP_ne, 0, 0);
}

/* if (one differs | another differs …) nothing; else record->data + offset */
static void by_record(const struct lbx_place *place, struct expression *e)
{
	const struct lbx_words *r = &place->by_record.words;
	struct expression value = { .n = 0 }, nothing = { .n = 0 };

	add(&value, DW_OP_addr, r->record.at, 8);
	if (r->record.bytes)
		add(&value, DW_OP_deref_size, r->record.bytes, 1);
	add_uleb(&value, DW_OP_plus_uconst, r->data.at);
	add(&value, DW_OP_deref_size, r->data.bytes, 1);
	add_uleb(&value, DW_OP_plus_uconst, place->by_record.offset);
	add_uleb(&nothing, DW_OP_piece, place->nbytes);
	add(&value, DW_OP_skip, nothing.n, 2);
	for (int i = 0; i < LBX_CONDITIONS; i++) {
		add_differs(e, &r->conditions[i]);
		if (i > 0)
			add(e, DW_OP_or, 0, 0);
	}
	add(e, DW_OP_bra, value.n, 2);
	memcpy(e->bytes + e->n, value.bytes, value.n);
	memcpy(e->bytes + e->n + value.n, nothing.bytes, nothing.n);
	e->n += value.n + nothing.n;
}

void lbx_dwarf_variable(struct lbx_dwarf *d, const char *name, uint32_t type, const struct lbx_place *place)
{
	struct expression e = { .n = 0 };
	uint64_t nbytes = place->kind == LBX_COPIED ? place->nbytes : 0;

	if (place->kind == LBX_BY_RECORD)
		by_record(place, &e);
	else
		add_uleb(&e, place->kind == LBX_COPIED ? DW_OP_implicit_value : DW_OP_piece, place->nbytes);
	put_int(&d->info, VARIABLE, 1);
	put_string(d, name);
	put_int(&d->info, type, 4);
	put_uleb(&d->info, e.n + nbytes);
	put(&d->info, e.bytes, e.n);
	put(&d->info, place->bytes, nbytes);
}

/* ---- the file ---- */

static bool flush(struct section *s)
{
	return fflush(s->file) == 0 && !ferror(s->file) && s->size == s->n;
}

static const char section_names[] = "\0.debug_info\0.debug_abbrev\0.debug_str\0.shstrtab";

static void put_object(struct lbx_dwarf *d, unsigned machine)
{
	const struct {
		unsigned name, type, flags;
		const void *bytes;
		uint64_t n;
	} sections[SECTIONS] = {
		[1] = { 1, SHT_PROGBITS, 0, d->info.bytes, d->info.n },
		[2] = { 13, SHT_PROGBITS, 0, abbreviations, sizeof abbreviations },
		[3] = { 27, SHT_PROGBITS, SHF_MERGE | SHF_STRINGS, d->strings.bytes, d->strings.n },
		[4] = { 38, SHT_STRTAB, 0, section_names, sizeof section_names },
	};
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = (Elf64_Half)machine,
		.e_version = EV_CURRENT,
		.e_shoff = sizeof header,
		.e_ehsize = sizeof header,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS,
		.e_shstrndx = SECTIONS - 1,
	};
	uint64_t at = sizeof header + SECTIONS * sizeof(Elf64_Shdr);

	put(&d->object, &header, sizeof header);
	for (int i = 0; i < SECTIONS; i++) {
		Elf64_Shdr s = { .sh_name = sections[i].name,
				 .sh_type = sections[i].type,
				 .sh_flags = sections[i].flags,
				 .sh_offset = i ? at : 0,
				 .sh_size = sections[i].n,
				 .sh_addralign = 1,
				 .sh_entsize = sections[i].flags ? 1 : 0 };
		put(&d->object, &s, sizeof s);
		at += sections[i].n;
	}
	for (int i = 1; i < SECTIONS; i++)
		put(&d->object, sections[i].bytes, sections[i].n);
}

bool lbx_dwarf_finish(struct lbx_dwarf *d, unsigned machine, const void **ret, size_t *n)
{
	put_int(&d->info, 0, 1);
	if (d->info.n > INT32_MAX || d->strings.n > INT32_MAX)
		return lb_fail("the symbols would take more than %d bytes", INT32_MAX);
	if (!flush(&d->info) || !flush(&d->strings))
		return lb_fail("out of memory for %llu bytes of symbols", (unsigned long long)d->info.n);
	uint32_t length = (uint32_t)d->info.n - 4;
	memcpy(d->info.bytes, &length, sizeof length);
	put_object(d, machine);
	if (!flush(&d->object))
		return lb_fail("out of memory for %llu bytes of symbols", (unsigned long long)d->object.n);
	*ret = d->object.bytes;
	*n = d->object.size;
	return true;
}
