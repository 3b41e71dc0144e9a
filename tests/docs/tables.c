/* Prints a table of the README from its source: `tables commands`, `tables cli`, …. */
#include <stdio.h>
#include <string.h>

#include "inspect/command.h"
#include "inspect/convenience.h"
#include "plugin/commands.h"

static void print_cell(const char *text)
{
	for (; *text; text++) {
		if (*text == '|')
			putchar('\\');
		putchar(*text);
	}
}

/* Those that need something of `without` are left out, and those that need nothing of `only`. */
static void print_rows(const struct lbx_command *c, const char *prefix, unsigned without,
		       unsigned only)
{
	for (; c->name; c++) {
		if ((c->needs & without) || (only && !(c->needs & only)))
			continue;
		printf("| `%s%s", prefix, c->name);
		if (c->arguments && *c->arguments) {
			putchar(' ');
			print_cell(c->arguments);
		}
		for (const struct lbx_option *o = c->options; o->name; o++) {
			printf(o->value ? " [--%s " : " [--%s", o->name);
			print_cell(o->value ? o->value : "");
			putchar(']');
		}
		printf("` | ");
		print_cell(c->summary);
		puts(" |");
	}
}

static void print_commands(void)
{
	puts("| command | does |\n|---|---|");
	print_rows(lbx_commands, "tensor ", LBX_GDB_LACKS, 0);
	print_rows(lbx_gdb_commands, "tensor ", 0, 0);
}

/* What the `lazybones` command has beyond gdb's. */
static void print_cli(void)
{
	puts("| command | does |\n|---|---|");
	print_rows(lbx_commands, "lazybones core CORE ", LBX_NEEDS_LIVE, LBX_NEEDS_STACKS);
	print_rows(lbx_commands, "lazybones ", LBX_NEEDS_LIVE, LBX_NEEDS_CORES);
}

static const struct {
	const char *name, *arguments, *when;
} probes[] = {
#define LB_PROBE(name, n, params, args, meaning, when) { #name, meaning, when },
#include "probes.def"
#undef LB_PROBE
};

static void print_probes(void)
{
	puts("| probe | fires when | arguments |\n|---|---|---|");
	for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
		printf("| `%s` | %s | %s |\n", probes[i].name, probes[i].when,
		       probes[i].arguments);
}

static void print_variables(void)
{
	puts("| variable | set by | is |\n|---|---|---|");
	for (const struct lbx_convenience *v = lbx_conveniences; v->name; v++)
		printf("| `$%s` | %s | %s |\n", v->name, v->commands, v->meaning);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "commands") == 0) {
		print_commands();
	} else if (argc == 2 && strcmp(argv[1], "cli") == 0) {
		print_cli();
	} else if (argc == 2 && strcmp(argv[1], "probes") == 0) {
		print_probes();
	} else if (argc == 2 && strcmp(argv[1], "variables") == 0) {
		print_variables();
	} else {
		fprintf(stderr, "usage: tables commands|cli|probes|variables\n");
		return 1;
	}
	return 0;
}
