/* Prints a generated part of a document from its source: `tables commands`, `cli`,
 * `probe-units`, `probe-reference`, `recipes`, `routes`, `start`, `variables`. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/forms.h"
#include "cli/verbs.h"
#include "ggml/recipe.h"
#include "inspect/command.h"
#include "inspect/convenience.h"
#include "plugin/commands/commands.h"
#include "serve/route.h"

static void print_cell(const char *text)
{
	for (; *text; text++) {
		if (*text == '|')
			putchar('\\');
		putchar(*text);
	}
}

/* Those that need something of `without` are left out, and those that need nothing of `only`. */
static void print_rows(const struct lbx_command *const *table, const char *prefix, unsigned without, unsigned only)
{
	for (; *table; table++) {
		const struct lbx_command *c = *table;

		if ((c->needs & without) || (only && !(c->needs & only)))
			continue;
		printf("| %s`%s%s", *prefix == 't' ? "[" : "", prefix, c->name);
		if (c->arguments && *c->arguments) {
			putchar(' ');
			print_cell(c->arguments);
		}
		for (const struct lbx_option *o = c->options; o->name; o++) {
			printf(o->value ? " [--%s " : " [--%s", o->name);
			print_cell(o->value ? o->value : "");
			putchar(']');
		}
		printf("`");
		if (*prefix == 't') /* to its session */
			printf("](#tensor-%s)", c->name);
		printf(" | ");
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
	for (int i = 0; i < LBX_FORMS; i++) {
		const struct lbx_command *verb[] = { lbx_forms[i].verb ? &lbx_forms[i].verb->row : NULL, NULL };
		print_rows(verb, "lazybones ", 0, 0);
	}
}

/* What gdb knows from its start on (start.gdb.in). */
static void print_start(void)
{
	for (const struct lbx_command *const *const *table = lbx_gdb_tables; *table; table++)
		for (const struct lbx_command *const *row = *table; *row; row++)
			if (!((*row)->needs & LBX_GDB_LACKS))
				printf("alias tensor %s = tensor load %s\ndocument tensor %s\n%s: `tensor help %s`\nend\n",
				       (*row)->name, (*row)->name, (*row)->name, (*row)->summary, (*row)->name);
}

static const struct probe {
	const char *name, *params, *arguments, *when, *since, *rate;
	const char *recorded;
} probes[] = {
#define ROW(name, params, meaning, when, since, rate, recorded) \
	{ #name, #params, meaning, when, since, rate, recorded },
#define LB_PROBE(name, n, params, args, meaning, when, since, rate) ROW(name, params, meaning, when, since, rate, "")
#define LB_EVENT(name, n, params, args, meaning, when, since, rate) \
	ROW(name, params, meaning, when, since, rate, " The flight recorder keeps it.")
#define LB_DETAIL(name, n, params, args, meaning, when, since, rate) \
	ROW(name, params, meaning, when, since, rate, " The flight recorder keeps it while the program is traced.")
#include "probes.def"
#undef LB_EVENT
#undef LB_PROBE
};

static void print_variables(void)
{
	puts("| variable | set by | is |\n|---|---|---|");
	for (const struct lbx_convenience *v = lbx_conveniences; v->name; v++)
		printf("| `$%s` | %s | %s |\n", v->name, v->commands, v->meaning);
}

/* ggml's operations by how near they come. */
/* What the server of sessions answers. */
static void print_routes(void)
{
	puts("| request | takes | does | tool |\n|---|---|---|---|");
	for (const struct lbx_route *const *r = lbx_routes; *r; r++) {
		printf("| `%s %s` | ", (*r)->method, (*r)->path);
		for (const struct lbx_param *p = (*r)->params; p < (*r)->params + LBX_PARAMS_MAX && p->name; p++)
			if (!strchr((*r)->path, '{') || strcmp(p->name, "id") != 0)
				printf("%s%s%s%s ", p->is_needed ? "**" : "", p->name, p->is_needed ? "**" : "",
				       p + 1 < (*r)->params + LBX_PARAMS_MAX && p[1].name ? "," : "");
		printf("| ");
		print_cell((*r)->summary);
		printf(" | %s |\n", (*r)->tool ? (*r)->tool : "");
	}
}

static void print_recipes(void)
{
	static const struct {
		const char *near, *means;
	} rows[] = {
		{ "COPY", "the same bits" },
		{ "FLOAT", "within some units in the last place of what is added up" },
		{ "HALF", "within some 2^-10: ggml looks values up in tables of float16, or adds them up so" },
		{ "BLOCK", "within some 2^-6: ggml rounds the other side of a quantised matrix to 8 bits a value" },
	};
	static const struct {
		const char *why, *means;
	} without[] = {
		{ "OWN", "not computed again: the program brings the function along" },
		{ "TRAINING", "not computed again: they are of training" },
		{ "RARE", "not computed again: no graph of llama, gemma, qwen, bert or whisper has them" },
	};
	const char *name, *near, *why;

	puts("| operations of ggml | beside what ggml computes |\n|---|---|");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *comma = "| ";
		for (size_t k = 0; (name = lbx_ggml_recipe_name(k, &near)); k++)
			if (strcmp(near, rows[i].near) == 0) {
				printf("%s`%s`", comma, name);
				comma = ", ";
			}
		printf(" | %s |\n", rows[i].means);
	}
	for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
		const char *comma = "| ";
		for (size_t k = 0; (name = lbx_ggml_no_recipe_name(k, &why)); k++)
			if (strcmp(why, without[i].why) == 0) {
				printf("%s`%s`", comma, name);
				comma = ", ";
			}
		printf(" | %s |\n", without[i].means);
	}
}

/* What an argument is where its probe says no more of it. */
static const struct unit {
	const char *name, *is;
} units[] = {
	{ "id", "a tensor's number, from 1, never reused: the `#12` of `tensor list`" },
	{ "tensor", "the address of the tensor's record (runtime/symtab.h)" },
	{ "site", "a return address in the program: the line that made the tensor, or that asks for the evaluation" },
	{ "eval", "the number of an evaluation; a stream's job has the number of its evaluation" },
	{ "buffer", "a buffer's number, never reused" },
	{ "address", "the address of a buffer's bytes" },
	{ "nbytes", "bytes" },
	{ "active", "bytes in use afterwards, the cache's not among them" },
	{ "op",
	  "an index into the runtime's operations; `op=` in strace's markers, and the tools of this folder, show the name" },
	{ "dtype", "an index: `enum lb_dtype` in lazybones.h" },
	{ "stream", "the number of a stream" },
	{ "ok", "1, or 0 when it failed" },
	{ "compiled", "the address of the compiled function's record" },
	{ "ns", "nanoseconds" },
};

static void print_units(void)
{
	puts("| argument | is |\n|---|---|");
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		printf("| %s | %s |\n", units[i].name, units[i].is);
}

enum { MAX_ARGS = 6 };

struct argument {
	const char *name;
	int n;
	bool is_signed;
	const char *means;
	int n_means;
};

/* "(uint64_t id, int64_t size)" */
static int split_params(const char *params, struct argument ret[MAX_ARGS])
{
	int n = 0;

	for (params++; *params && n < MAX_ARGS; n++) {
		size_t type = strcspn(params, " "), name = strcspn(params + type + 1, ",)");
		ret[n] = (struct argument){ params + type + 1, (int)name, *params == 'i', NULL, 0 };
		params += type + 1 + name + 1;
		params += strspn(params, " ");
	}
	return n;
}

static bool names(const char *text, const struct argument *arg)
{
	return strncmp(text, arg->name, (size_t)arg->n) == 0 && strchr(",:", text[arg->n]);
}

/* "id, tensor: its record's address, low, high: least and largest": what stands after a name and its
 * colon, up to the next name. A name without is one of units, or shares what the next one says. */
static bool find_meanings(const char *text, struct argument *args, int n)
{
	for (int i = 0; i < n; i++) {
		if (!names(text, &args[i]))
			return false;
		text += args[i].n;
		const char *end = text + strlen(text);
		for (const char *at = text; i + 1 < n && at; at = strstr(at + 1, ", "))
			if (strncmp(at, ", ", 2) == 0 && names(at + 2, &args[i + 1])) {
				end = at;
				break;
			}
		if (i + 1 < n && !*end)
			return false;
		if (*text == ':') {
			args[i].means = text + 2;
			args[i].n_means = (int)(end - text) - 2;
		}
		text = *end ? end + 2 : end;
	}
	for (int i = n; i-- > 0;) {
		for (size_t u = 0; u < sizeof units / sizeof *units && !args[i].means; u++)
			if (strlen(units[u].name) == (size_t)args[i].n &&
			    strncmp(units[u].name, args[i].name, (size_t)args[i].n) == 0) {
				args[i].means = units[u].is;
				args[i].n_means = (int)strlen(units[u].is);
			}
		if (!args[i].means && i + 1 < n) {
			args[i].means = args[i + 1].means;
			args[i].n_means = args[i + 1].n_means;
		}
		if (!args[i].means)
			return false;
	}
	return true;
}

static bool print_probe_reference(void)
{
	struct argument args[MAX_ARGS];

	for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
		const struct probe *p = &probes[i];
		printf("### %s\n\nFires when %s. Since %s. How often: %s.%s\n\n", p->name, p->when, p->since, p->rate,
		       p->recorded);
		puts("| for tracers | argument | type | is |\n|---|---|---|---|");
		int n = split_params(p->params, args);
		if (!find_meanings(p->arguments, args, n)) {
			fprintf(stderr, "probes.def: %s does not say what each argument is\n", p->name);
			return false;
		}
		for (int a = 0; a < n; a++)
			printf("| `arg%d` | `%.*s` | %s | %.*s |\n", a, args[a].n, args[a].name,
			       args[a].is_signed ? "int64" : "uint64", args[a].n_means, args[a].means);
		puts("");
	}
	return true;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "commands") == 0) {
		print_commands();
	} else if (argc == 2 && strcmp(argv[1], "cli") == 0) {
		print_cli();
	} else if (argc == 2 && strcmp(argv[1], "variables") == 0) {
		print_variables();
	} else if (argc == 2 && strcmp(argv[1], "start") == 0) {
		print_start();
	} else if (argc == 2 && strcmp(argv[1], "routes") == 0) {
		print_routes();
	} else if (argc == 2 && strcmp(argv[1], "recipes") == 0) {
		print_recipes();
	} else if (argc == 2 && strcmp(argv[1], "probe-units") == 0) {
		print_units();
	} else if (argc == 2 && strcmp(argv[1], "probe-reference") == 0) {
		if (!print_probe_reference())
			return 1;
	} else {
		fprintf(stderr, "usage: tables commands|cli|probe-units|probe-reference|recipes|routes|start|variables\n");
		return 1;
	}
	return 0;
}
