/* Prints a generated part of a document from its source: `tables commands`, `cli`, `probes`,
 * `probe-reference`, `variables`. */
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

static const struct probe {
	const char *name, *params, *arguments, *when, *since, *rate;
	bool recorded;
} probes[] = {
#define ROW(name, params, meaning, when, since, rate, recorded) \
	{ #name, #params, meaning, when, since, rate, recorded },
#define LB_PROBE(name, n, params, args, meaning, when, since, rate) \
	ROW(name, params, meaning, when, since, rate, false)
#define LB_EVENT(name, n, params, args, meaning, when, since, rate) \
	ROW(name, params, meaning, when, since, rate, true)
#include "probes.def"
#undef LB_EVENT
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

/* One line an argument of "(uint64_t id, int64_t size)", as tracers count them. */
static void print_arguments(const char *params)
{
	int i = 0;

	for (params++; *params; i++) {
		size_t type = strcspn(params, " "), name = strcspn(params + type + 1, ",)");
		printf("| `arg%d` | `%.*s` | %s |\n", i, (int)name, params + type + 1,
		       *params == 'i' ? "signed, 64 bits" : "unsigned, 64 bits");
		params += type + 1 + name + 1;
		params += strspn(params, " ");
	}
}

static void print_probe_reference(void)
{
	for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
		const struct probe *p = &probes[i];
		printf("### %s\n\nFires when %s. Since %s. How often: %s.%s\n\n", p->name, p->when,
		       p->since, p->rate, p->recorded ? " The flight recorder keeps it." : "");
		puts("| for tracers | argument | type |\n|---|---|---|");
		print_arguments(p->params);
		printf("\nArguments: %s.\n\n", p->arguments);
	}
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
	} else if (argc == 2 && strcmp(argv[1], "probe-reference") == 0) {
		print_probe_reference();
	} else {
		fprintf(stderr, "usage: tables commands|cli|probes|probe-reference|variables\n");
		return 1;
	}
	return 0;
}
