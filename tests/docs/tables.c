/* Prints a table of the README from its source: `tables commands`, `tables probes`. */
#include <stdio.h>
#include <string.h>

#include "inspect/command.h"
#include "plugin/commands.h"

static void print_cell(const char *text)
{
	for (; *text; text++) {
		if (*text == '|')
			putchar('\\');
		putchar(*text);
	}
}

static void print_rows(const struct lbx_command *c)
{
	for (; c->name; c++) {
		printf("| `tensor %s", c->name);
		if (c->arguments && *c->arguments) {
			putchar(' ');
			print_cell(c->arguments);
		}
		for (const struct lbx_option *o = c->options; o->name; o++)
			printf(o->value ? " [--%s %s]" : " [--%s]", o->name, o->value);
		printf("` | ");
		print_cell(c->summary);
		puts(" |");
	}
}

static void print_commands(void)
{
	puts("| command | does |\n|---|---|");
	print_rows(lbx_commands);
	print_rows(lbx_gdb_commands);
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

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "commands") == 0) {
		print_commands();
	} else if (argc == 2 && strcmp(argv[1], "probes") == 0) {
		print_probes();
	} else {
		fprintf(stderr, "usage: tables commands|probes\n");
		return 1;
	}
	return 0;
}
