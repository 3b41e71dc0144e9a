/* generate: writes with what examples/train has saved.
 *
 *	generate [--prompt=TEXT] [--buggy] [OPTION]... MODEL.safetensors
 *
 * Keys and values of what has been read are cached; the next token is under way while the one
 * before is shown. Figures come in the end: the first call, which finds the weights, by itself.
 *
 * What it teaches: reading a value waits for it. The pipeline is only one as long as nobody asks
 * for a token before the next is under way; `generate --buggy` does, as does a print for debugging.
 * The text is the same, and the machine idles while it is shown.
 *
 * See it from gdb, once with --buggy and once without:
 *
 *	$ gdb -q -x build/lazybones.gdb --args build/examples/generate --buggy model.safetensors
 *	(gdb) break write_tokens
 *	(gdb) run
 *	(gdb) tensor catch implicit
 *	(gdb) continue                 with --buggy: lb_item_int() has the program evaluate it
 *	(gdb) up 2
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/checkpoint.h"
#include "common/named.h"
#include "common/options.h"
#include "common/output.h"

struct options {
	struct writing_options writing;
	const char *model;
};

struct sink {
	const struct alphabet *alphabet;
	struct output output;
};

static bool put_token(void *context, int64_t id)
{
	struct sink *sink = context;
	char byte = id >= 0 && id < sink->alphabet->n ? (char)sink->alphabet->bytes[id] : '?';

	return output_put(&sink->output, id, &byte, 1);
}

static bool run(const struct options *options)
{
	const char *prompt = options->writing.prompt ? options->writing.prompt : "\n";
	struct model model;
	struct alphabet alphabet;
	struct sink sink = {&alphabet, {.json = options->writing.json}};
	struct timing timing;
	int32_t *tokens = NULL;

	if (!*prompt)
		return complain("an empty prompt: the model needs a character to begin with");
	bool ok = checkpoint_load(options->model, &model, &alphabet) &&
		  (tokens = alphabet_encode(&alphabet, prompt, strlen(prompt))) &&
		  generate(&model, &options->writing.generation, tokens, (int64_t)strlen(prompt),
			   put_token,
			   &sink, &timing) &&
		  output_end(&sink.output, &timing);
	output_free(&sink.output);
	free(tokens);
	model_release(&model);
	return ok;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &options->writing; return 0;
	case 'B': options->writing.generation.waits = true; return 0;
	case ARGP_KEY_ARG:
		if (options->model)
			argp_error(state, "unexpected argument '%s': give one model", arg);
		options->model = arg;
		return 0;
	case ARGP_KEY_NO_ARGS: argp_error(state, "which model?"); return EINVAL;
	default: return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp_option table[] = {
		{"buggy", 'B', NULL, 0, "ask for each token before the next is under way", 0},
		{0},
	};
	static const struct argp_child children[] = {{&writing_argp, 0, "Writing:", 0}, {0}};
	static const struct argp argp = {
		.options = table, .parser = parse_option, .args_doc = "MODEL.safetensors",
			.children = children,
		.doc = "Writes, character by character, with a model that train has saved.",
	};
	struct options options = {.writing = WRITING_DEFAULTS};

	argp_err_exit_status = 2;
	if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0)
		return 2;
	bool ok = run(&options);
	return complain_of_errors() && ok ? 0 : 1;
}
