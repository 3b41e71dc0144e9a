/* llama: writes with a model of the architectures llama, qwen2, qwen3, gemma, gemma2 and gemma3.
 *
 *	llama MODEL [--prompt=TEXT] [--buggy] [OPTION]...
 *
 * MODEL is a GGUF file, or a folder with config.json, tokenizer.json and safetensors (llama alone).
 * Weights stay as the file has them, quantised ones too, where they can be multiplied with so: the
 * others become float16, and it says how much. --logits writes the logits of the prompt to an .npy
 * file, to compare them with those of another implementation.
 *
 * What it teaches: rotary positions turn pairs of features, and there are two ways to pair them.
 * GGUF files of llama have the rows of the query and key weights permuted for neighbours; those of
 * the others, and checkpoints of Hugging Face, pair each feature with the one half a head further.
 * `llama --buggy` takes the other way. The first token is right, for position 0 turns nothing; what
 * follows is fluent nonsense.
 *
 * See it from gdb, once with --buggy and once without:
 *
 *	$ gdb -q -x build/lazybones.gdb --args build/examples/llama model.gguf -p Hello --buggy
 *	(gdb) break sample
 *	(gdb) run
 *	(gdb) tensor list layer0.*                     lazy
 *	(gdb) tensor peek layer0.keys[0, 0, 0, 0:4]    position 0: the same in both
 *	(gdb) tensor peek layer0.keys[0, 0, 1, 0:4]    position 1: not the same
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/named.h"
#include "common/options.h"
#include "common/output.h"
#include "llama.h"

struct options {
	struct writing_options writing;
	const char *model, *logits, *ids;
	bool buggy, ignore_end, tokenize;
};

/* ---- files ---- */

bool llama_open(struct llama *llama, const char *path)
{
	struct stat st;

	*llama = (struct llama){0};
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return llama_open_folder(llama, path);
	return llama_open_gguf(llama, path);
}

void llama_close(struct llama *llama)
{
	model_release(&llama->model);
	tokenizer_free(llama->tokenizer);
}

/* ---- the prompt ---- */

/* "1,2,3"; the caller frees it. */
static int32_t *parse_ids(const char *text, int64_t *n)
{
	int32_t *ids = calloc(strlen(text) / 2 + 1, sizeof(*ids));

	if (!ids) {
		complain("no memory for the prompt");
		return NULL;
	}
	for (*n = 0; *text;) {
		char *end;
		long long id = strtoll(text, &end, 10);
		if (end == text || (*end && *end != ',') || id < 0 || id > INT32_MAX) {
			complain("--ids takes numbers separated by commas, not '%s'", text);
			free(ids);
			return NULL;
		}
		ids[(*n)++] = (int32_t)id;
		text = *end ? end + 1 : end;
	}
	return ids;
}

/* At least one token, each in the model's vocabulary. */
static bool check_prompt(const struct llama *llama, const int32_t *ids, int64_t n)
{
	if (n == 0)
		return complain("an empty prompt: this model has nothing to begin with");
	for (int64_t i = 0; i < n; i++) {
		if (ids[i] >= llama->model.config.vocabulary)
			return complain("token %d is outside the model's vocabulary of %lld",
					ids[i],
					(long long)llama->model.config.vocabulary);
	}
	return true;
}

static int32_t *read_prompt(const struct llama *llama, const struct options *options, int64_t *n)
{
	const char *text = options->writing.prompt ? options->writing.prompt : "";

	*n = 0;
	if (options->ids)
		return parse_ids(options->ids, n);
	return tokenizer_encode(llama->tokenizer, text, strlen(text), n);
}

/* ---- writing ---- */

struct sink {
	const struct llama *llama;
	const struct options *options;
	struct output output;
};

static bool put_token(void *context, int64_t id)
{
	struct sink *sink = context;
	size_t nbytes;
	const char *text = tokenizer_decode(sink->llama->tokenizer, id, &nbytes);

	if (tokenizer_is_end(sink->llama->tokenizer, id) && !sink->options->ignore_end)
		return false;
	return output_put(&sink->output, id, text, nbytes);
}

static bool save_logits(const struct llama *llama, const char *path, const int32_t *ids, int64_t n)
{
	bool saved = false;

	LB_SCOPE {
		lb_tensor *tokens = lb_from_data(ids, (size_t)n * sizeof(*ids), LB_SHAPE(1, n),
						 LB_I32);
		saved = lb_save_npy(path, lb_squeeze(model_forward(&llama->model, tokens, NULL,
			false), LB_AXES(0)));
	}
	return saved;
}

static bool write_text(const struct llama *llama, const struct options *options, const int32_t *ids,
		       int64_t n)
{
	struct sink sink = {llama, options, {.json = options->writing.json}};
	struct timing timing;

	bool ok = generate(&llama->model, &options->writing.generation, ids, n, put_token, &sink,
			   &timing) &&
		  output_end(&sink.output, &timing);
	output_free(&sink.output);
	return ok;
}

static bool print_tokens(const int32_t *ids, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		printf(i ? " %d" : "%d", ids[i]);
	putchar('\n');
	return true;
}

static bool run(const struct options *options)
{
	struct llama llama;
	int32_t *ids = NULL;
	int64_t n = 0;

	bool ok = llama_open(&llama, options->model);
	if (ok && options->buggy) {
		llama.model.config.rope.traditional ^= true;
		llama.model.config.local_rope.traditional ^= true;
	}
	ok = ok && (ids = read_prompt(&llama, options, &n));
	if (ok && options->tokenize)
		ok = print_tokens(ids, n);
	else if (ok)
		ok = check_prompt(&llama, ids, n) &&
		     (!options->logits || save_logits(&llama, options->logits, ids, n)) &&
		     write_text(&llama, options, ids, n);
	free(ids);
	llama_close(&llama);
	return ok;
}

/* ---- the command line ---- */

enum { LOGITS = 0x200, IDS, BUGGY, IGNORE_END, TOKENIZE };

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &options->writing; return 0;
	case LOGITS: options->logits = arg; return 0;
	case IDS: options->ids = arg; return 0;
	case BUGGY: options->buggy = true; return 0;
	case IGNORE_END: options->ignore_end = true; return 0;
	case TOKENIZE: options->tokenize = true; return 0;
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
		{"logits", LOGITS, "FILE", 0,
		 "save the logits of the prompt, (tokens, vocabulary), as .npy", 0},
		{"ids", IDS, "N,N,...", 0, "the prompt as tokens", 0},
		{"tokenize", TOKENIZE, NULL, 0, "print the prompt's tokens, and stop", 0},
		{"ignore-end", IGNORE_END, NULL, 0, "continue after the token that ends a text", 0},
		{"buggy", BUGGY, NULL, 0, "pair the features of a position the other way", 0},
		{0},
	};
	static const struct argp_child children[] = {{&writing_argp, 0, "Writing:", 0}, {0}};
	static const struct argp argp = {
		.options = table, .parser = parse_option, .args_doc = "MODEL", .children = children,
		.doc = "Writes with a model: a GGUF file of llama, qwen2, qwen3, gemma, gemma2 or "
		       "gemma3, or a folder of llama with config.json, tokenizer.json and "
		       "safetensors.",
	};
	struct options options = {.writing = WRITING_DEFAULTS};

	argp_err_exit_status = 2;
	if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0)
		return 2;
	bool ok = run(&options);
	return complain_of_errors() && ok ? 0 : 1;
}
