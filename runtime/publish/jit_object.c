/* The code's section has no bytes in the object: it lies where its address says. DWARF 4, for every
 * debugger knows all that is used of it. A breakpoint at a function goes behind its prologue, which
 * gdb finds by the function's second row of lines: so the first line has one there.
 *
 * On aarch64 gdb looks for the frame's set-up in the first row alone, and lets a breakpoint at the
 * function slide to the next: that one begins at the last instruction, of 4 bytes there and on
 * x86-64, and a third where the first call begins. */
#include "publish/jit_object.h"

#include <elf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAST_INSTRUCTION = 4 };

/* As in the DWARF standard. */
enum {
	TAG_COMPILE_UNIT = 0x11,
	TAG_SUBPROGRAM = 0x2e,
	AT_NAME = 0x03,
	AT_STMT_LIST = 0x10,
	AT_LOW_PC = 0x11,
	AT_HIGH_PC = 0x12,
	AT_LANGUAGE = 0x13,
	AT_PRODUCER = 0x25,
	AT_EXTERNAL = 0x3f,
	FORM_ADDR = 0x01,
	FORM_DATA8 = 0x07,
	FORM_STRING = 0x08,
	FORM_DATA1 = 0x0b,
	FORM_SEC_OFFSET = 0x17,
	FORM_FLAG_PRESENT = 0x19,
	LANG_C99 = 0x0c,
	LNS_COPY = 1,
	LNS_ADVANCE_PC,
	LNS_ADVANCE_LINE,
	LNS_OPCODES = 13,
	LNE_END_SEQUENCE = 1,
	LNE_SET_ADDRESS,
};

enum { UNIT = 1, FUNCTION }; /* abbreviations */

static const uint8_t abbreviations[] = {
	UNIT,
	TAG_COMPILE_UNIT,
	true,
	AT_PRODUCER,
	FORM_STRING,
	AT_LANGUAGE,
	FORM_DATA1,
	AT_NAME,
	FORM_STRING,
	AT_LOW_PC,
	FORM_ADDR,
	AT_HIGH_PC,
	FORM_DATA8,
	AT_STMT_LIST,
	FORM_SEC_OFFSET,
	0,
	0,
	FUNCTION,
	TAG_SUBPROGRAM,
	false,
	AT_NAME,
	FORM_STRING,
	AT_EXTERNAL,
	FORM_FLAG_PRESENT,
	AT_LOW_PC,
	FORM_ADDR,
	AT_HIGH_PC,
	FORM_DATA8,
	0,
	0,
	0,
};

enum { STRINGS = 1, CODE, SYMBOLS, ABBREVIATIONS, INFO, LINES, SECTIONS };
enum { CALLED = 1, NAMED, N_SYMBOLS };

static const char section_names[] = "\0.strtab\0.text\0.symtab\0.debug_abbrev\0.debug_info\0.debug_line";

/* Written twice: first only counted, without bytes. */
struct object {
	uint8_t *bytes;
	size_t n;
	Elf64_Shdr sections[SECTIONS];
};

/* ---- bytes ---- */

static void put(struct object *o, const void *bytes, size_t n)
{
	if (o->bytes)
		memcpy(o->bytes + o->n, bytes, n);
	o->n += n;
}

static void put_int(struct object *o, uint64_t value, size_t n)
{
	put(o, &value, n); /* little endian, as all that there is code for */
}

static void put_text(struct object *o, const char *text)
{
	put(o, text, strlen(text) + 1);
}

static void put_uleb(struct object *o, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		put_int(o, (value & 0x7f) | 0x80, 1);
	put_int(o, value, 1);
}

/* A number of bytes that is known when they are written, in the place of these 4. */
static size_t begin_length(struct object *o)
{
	put_int(o, 0, 4);
	return o->n;
}

static void end_length(struct object *o, size_t begin)
{
	uint32_t length = (uint32_t)(o->n - begin);

	if (o->bytes)
		memcpy(o->bytes + begin - sizeof length, &length, sizeof length);
}

/* ---- sections ---- */

static uint32_t section_name(int section)
{
	const char *name = section_names;

	for (int i = 0; i < section; i++)
		name += strlen(name) + 1;
	return (uint32_t)(name - section_names);
}

static void begin_section(struct object *o, int section, uint32_t type)
{
	static const uint8_t padding[8];

	put(o, padding, -o->n % sizeof padding);
	o->sections[section] = (Elf64_Shdr){
		.sh_name = section_name(section),
		.sh_type = type,
		.sh_offset = o->n,
		.sh_addralign = 1,
	};
}

static void end_section(struct object *o, int section)
{
	o->sections[section].sh_size = o->n - o->sections[section].sh_offset;
}

static void put_strings_and_symbols(struct object *o, const char *called, const char *named,
				    const struct lb_graph_record *graph)
{
	Elf64_Sym symbols[N_SYMBOLS] = { [CALLED].st_name = sizeof section_names };

	symbols[NAMED].st_name = symbols[CALLED].st_name + (uint32_t)strlen(called) + 1;
	for (int i = CALLED; i < N_SYMBOLS; i++) {
		symbols[i].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
		symbols[i].st_shndx = CODE;
		symbols[i].st_size = graph->code_bytes;
	}
	begin_section(o, STRINGS, SHT_STRTAB);
	put(o, section_names, sizeof section_names);
	put_text(o, called);
	put_text(o, named);
	end_section(o, STRINGS);
	begin_section(o, SYMBOLS, SHT_SYMTAB);
	put(o, symbols, sizeof symbols);
	end_section(o, SYMBOLS);
	o->sections[SYMBOLS].sh_link = STRINGS;
	o->sections[SYMBOLS].sh_info = CALLED;
	o->sections[SYMBOLS].sh_addralign = 8;
	o->sections[SYMBOLS].sh_entsize = sizeof(Elf64_Sym);
}

static void put_code(struct object *o, const struct lb_graph_record *graph)
{
	begin_section(o, CODE, SHT_NOBITS);
	o->sections[CODE].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	o->sections[CODE].sh_addr = graph->code;
	o->sections[CODE].sh_size = graph->code_bytes;
}

/* ---- DWARF ---- */

static void put_info(struct object *o, const char *file, const char *called, const struct lb_graph_record *graph)
{
	begin_section(o, ABBREVIATIONS, SHT_PROGBITS);
	put(o, abbreviations, sizeof abbreviations);
	end_section(o, ABBREVIATIONS);
	begin_section(o, INFO, SHT_PROGBITS);
	size_t unit = begin_length(o);
	put_int(o, 4, 2); /* version */
	put_int(o, 0, 4); /* the abbreviations' place */
	put_int(o, 8, 1); /* bytes of an address */
	put_int(o, UNIT, 1);
	put_text(o, "lazybones");
	put_int(o, LANG_C99, 1);
	put_text(o, file);
	put_int(o, graph->code, 8);
	put_int(o, graph->code_bytes, 8);
	put_int(o, 0, 4); /* its lines' place */
	put_int(o, FUNCTION, 1);
	put_text(o, called);
	put_int(o, graph->code, 8);
	put_int(o, graph->code_bytes, 8);
	put_int(o, 0, 1); /* the unit's last */
	end_length(o, unit);
	end_section(o, INFO);
}

struct row {
	uint32_t line, code;
};

/* Lines and places only grow. */
static void put_row(struct object *o, struct row *last, struct row row)
{
	uint32_t lines = row.line - last->line;

	put_int(o, LNS_ADVANCE_PC, 1);
	put_uleb(o, row.code - last->code);
	put_int(o, LNS_ADVANCE_LINE, 1);
	for (; lines > 0x3f; lines >>= 7) /* signed */
		put_int(o, (lines & 0x7f) | 0x80, 1);
	put_int(o, lines, 1);
	put_int(o, LNS_COPY, 1);
	*last = row;
}

static void put_rows(struct object *o, const struct lb_graph_record *graph)
{
	const struct lb_listing *listing = (const void *)(uintptr_t)graph->listing;
	const struct lb_listing_line *lines = (const void *)(listing + 1);
	struct row last = { .line = 1 };

	put_int(o, 0, 1);
	put_uleb(o, 1 + 8);
	put_int(o, LNE_SET_ADDRESS, 1);
	put_int(o, graph->code, 8);
	for (uint32_t i = 0; i < listing->n_lines; i++) {
		uint32_t code = lines[i].code;
		if (code <= last.code)
			continue; /* a later line's call computes it */
		if (!last.code) {
			put_row(o, &last, (struct row){ i + 1, 0 });
			put_row(o, &last, (struct row){ i + 1, code - LAST_INSTRUCTION });
		}
		put_row(o, &last, (struct row){ i + 1, code });
	}
	put_int(o, LNS_ADVANCE_PC, 1);
	put_uleb(o, graph->code_bytes - last.code);
	put_int(o, 0, 1);
	put_uleb(o, 1);
	put_int(o, LNE_END_SEQUENCE, 1);
}

static void put_lines(struct object *o, const char *file, const struct lb_graph_record *graph)
{
	static const uint8_t operands[LNS_OPCODES - 1] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };

	begin_section(o, LINES, SHT_PROGBITS);
	size_t unit = begin_length(o);
	put_int(o, 4, 2); /* version */
	size_t header = begin_length(o);
	put_int(o, 1, 1); /* bytes of the shortest instruction */
	put_int(o, 1, 1); /* operations of one */
	put_int(o, true, 1); /* each row begins a statement */
	put_int(o, 0, 1); /* of the special opcodes, which it does without: the first line, */
	put_int(o, 1, 1); /* and how many */
	put_int(o, LNS_OPCODES, 1);
	put(o, operands, sizeof operands);
	put_int(o, 0, 1); /* the last folder */
	put_text(o, file);
	put_int(o, 0, 3); /* its folder, time, size */
	put_int(o, 0, 1); /* the last file */
	end_length(o, header);
	put_rows(o, graph);
	end_length(o, unit);
	end_section(o, LINES);
}

/* ---- the object ---- */

static void put_object(struct object *o, const struct lb_graph_record *graph)
{
	char file[40], called[40], named[40];
	struct lb_symfile symfile = { .magic = LB_GRAPHFILE_MAGIC, .root = (uint64_t)(uintptr_t)graph };
	Elf64_Ehdr header = lb_jit_elf_header(SECTIONS);

	snprintf(file, sizeof file, "graph-%" PRIu64 ".lb", graph->id);
	snprintf(called, sizeof called, "eval(graph %" PRIu64 ")", graph->id);
	snprintf(named, sizeof named, "eval_graph_%" PRIu64, graph->id);
	header.e_shoff = sizeof symfile;
	memcpy(symfile.elf, &header, sizeof header);
	put(o, &symfile, sizeof symfile);
	put(o, o->sections, sizeof o->sections); /* complete the second time: nothing moves */
	put_strings_and_symbols(o, called, named, graph);
	put_code(o, graph);
	put_info(o, file, called, graph);
	put_lines(o, file, graph);
}

Elf64_Ehdr lb_jit_elf_header(uint16_t n_sections)
{
	return (Elf64_Ehdr){
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_REL,
#if defined(__aarch64__)
		.e_machine = EM_AARCH64,
#else
		.e_machine = EM_X86_64,
#endif
		.e_version = EV_CURRENT,
		.e_shoff = sizeof(Elf64_Ehdr),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = n_sections,
		.e_shstrndx = 1,
	};
}

void *lb_jit_object(const struct lb_graph_record *graph, size_t *n)
{
	struct object o = { 0 };

	put_object(&o, graph);
	o.bytes = malloc(o.n);
	if (!o.bytes)
		return NULL;
	o.n = 0;
	put_object(&o, graph);
	*n = o.n;
	return o.bytes;
}
