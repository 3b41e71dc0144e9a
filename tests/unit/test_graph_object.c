/* The object behind a graph's JIT entry, as any reader of DWARF sees it: one function over the code,
 * whose lines are the listing's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lazybones.h"
#include "publish/jit_object.h"

/* A listing of n lines, of which each third is computed by a later line's call. */
static struct lb_graph_record *make_graph(uint32_t n)
{
	enum { PROLOGUE = 12, CALL = 19, EPILOGUE = 2 };
	struct lb_graph_record *graph = calloc(1, sizeof *graph);
	struct lb_listing *listing = calloc(1, sizeof *listing + n * sizeof(struct lb_listing_line));
	struct lb_listing_line *lines = (void *)(listing + 1);
	uint32_t at = PROLOGUE;

	listing->n_lines = n;
	for (uint32_t i = 0; i < n; i++) {
		if (i % 3 == 0 && i + 1 < n)
			continue;
		lines[i].code = at;
		at += CALL;
	}
	*graph = (struct lb_graph_record){
		.id = 17, .listing = (uint64_t)(uintptr_t)listing, .code = 0x7ffff7fb9000, .code_bytes = at + EPILOGUE
	};
	return graph;
}

static void free_graph(struct lb_graph_record *graph)
{
	free((void *)(uintptr_t)graph->listing);
	free(graph);
}

static void check_lines(Dwarf_Die *unit, const struct lb_graph_record *graph)
{
	const struct lb_listing *listing = (const void *)(uintptr_t)graph->listing;
	const struct lb_listing_line *lines = (const void *)(listing + 1);
	uint64_t first = 0;

	for (uint32_t i = 0; i < listing->n_lines; i++) {
		int line = 0;
		Dwarf_Addr at = 0;
		bool statement = false;
		if (!lines[i].code)
			continue;
		Dwarf_Line *row = dwarf_getsrc_die(unit, graph->code + lines[i].code);
		assert_non_null(row);
		assert_int_equal(dwarf_lineno(row, &line), 0);
		assert_int_equal(dwarf_lineaddr(row, &at), 0);
		assert_int_equal(dwarf_linebeginstatement(row, &statement), 0);
		assert_int_equal(line, i + 1);
		assert_int_equal(at, graph->code + lines[i].code);
		assert_true(statement);
		assert_string_equal(dwarf_linesrc(row, NULL, NULL), "graph-17.lb");
		first = first ? first : (uint64_t)line;
	}
	/* the function's set-up belongs to its first line, and the end to the last */
	int line = 0;
	dwarf_lineno(dwarf_getsrc_die(unit, graph->code), &line);
	assert_int_equal(line, first);
	dwarf_lineno(dwarf_getsrc_die(unit, graph->code + graph->code_bytes - 1), &line);
	assert_int_equal(line, listing->n_lines);
}

static void check_function(Dwarf_Die *unit, const struct lb_graph_record *graph)
{
	Dwarf_Addr low, high;
	Dwarf_Die function, other;

	assert_int_equal(dwarf_child(unit, &function), 0);
	assert_int_equal(dwarf_tag(&function), DW_TAG_subprogram);
	assert_string_equal(dwarf_diename(&function), "eval(graph 17)");
	assert_int_equal(dwarf_lowpc(&function, &low), 0);
	assert_int_equal(dwarf_highpc(&function, &high), 0);
	assert_int_equal(low, graph->code);
	assert_int_equal(high, graph->code + graph->code_bytes);
	assert_int_equal(dwarf_siblingof(&function, &other), 1);
}

/* Names of functions of the code's section, which lies where the code does. */
static void check_symbols(Elf *elf, const struct lb_graph_record *graph)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header, code;
	GElf_Sym symbol;
	int found = 0;

	while ((section = elf_nextscn(elf, section))) {
		assert_non_null(gelf_getshdr(section, &header));
		for (int i = 1; header.sh_type == SHT_SYMTAB && i < 3; i++) {
			assert_non_null(gelf_getsym(elf_getdata(section, NULL), i, &symbol));
			assert_string_equal(elf_strptr(elf, header.sh_link, symbol.st_name),
					    i == 1 ? "eval(graph 17)" : "eval_graph_17");
			assert_non_null(gelf_getshdr(elf_getscn(elf, symbol.st_shndx), &code));
			assert_int_equal(code.sh_addr + symbol.st_value, graph->code);
			assert_int_equal(code.sh_size, graph->code_bytes);
			assert_int_equal(symbol.st_size, graph->code_bytes);
			found++;
		}
	}
	assert_int_equal(found, 2);
}

static void check_object(uint32_t n_lines)
{
	struct lb_graph_record *graph = make_graph(n_lines);
	size_t n, header, next;
	Dwarf_Off at = 0;
	Dwarf_Die unit;
	char *object = lb_jit_object(graph, &n);

	assert_non_null(object);
	struct lb_symfile *symfile = (void *)object;
	assert_int_equal(symfile->magic, LB_GRAPHFILE_MAGIC);
	assert_int_equal(symfile->root, (uintptr_t)graph);
	elf_version(EV_CURRENT);
	Elf *elf = elf_memory(object, n);
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	assert_non_null(dwarf);
	assert_int_equal(dwarf_nextcu(dwarf, at, &next, &header, NULL, NULL, NULL), 0);
	assert_non_null(dwarf_offdie(dwarf, at + header, &unit));
	assert_string_equal(dwarf_diename(&unit), "graph-17.lb");
	check_function(&unit, graph);
	check_lines(&unit, graph);
	check_symbols(elf, graph);
	assert_int_equal(dwarf_nextcu(dwarf, next, &next, &header, NULL, NULL, NULL), 1);
	dwarf_end(dwarf);
	elf_end(elf);
	free(object);
	free_graph(graph);
}

static void any_reader_finds_each_line(void **state)
{
	(void)state;
	check_object(1);
	check_object(2);
	check_object(7);
	check_object(300); /* steps that take more than 6 bits, and more than 7 */
	check_object(100000);
}

/* Lines that are far from each other, and from the first. */
static void long_steps_are_kept(void **state)
{
	static const uint32_t gaps[] = { 63, 64, 127, 128, 8191, 8192, 70000 };

	(void)state;
	for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
		struct lb_graph_record *graph = make_graph(2 + gaps[i]);
		struct lb_listing *listing = (void *)(uintptr_t)graph->listing;
		struct lb_listing_line *lines = (void *)(listing + 1);
		size_t n, header, next;
		Dwarf_Die unit;
		for (uint32_t k = 1; k <= gaps[i]; k++)
			lines[k].code = 0;
		lines[0].code = 12;
		lines[gaps[i] + 1].code = 12 + gaps[i];
		graph->code_bytes = 12 + gaps[i] + 19;
		char *object = lb_jit_object(graph, &n);
		assert_non_null(object);
		Elf *elf = elf_memory(object, n);
		Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
		assert_int_equal(dwarf_nextcu(dwarf, 0, &next, &header, NULL, NULL, NULL), 0);
		assert_non_null(dwarf_offdie(dwarf, header, &unit));
		check_lines(&unit, graph);
		dwarf_end(dwarf);
		elf_end(elf);
		free(object);
		free_graph(graph);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_reader_finds_each_line),
		cmocka_unit_test(long_steps_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
