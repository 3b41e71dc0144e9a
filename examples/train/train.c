/* train: teaches a small transformer to write a text, character by character.
 *
 *	train [--steps=N] [--buggy] [OPTION]... OUT.safetensors
 *
 * The text is the GNU GPL, which every Debian has. The loss, the mean surprise of the next
 * character in nats, begins near the logarithm of the number of different characters. Ctrl-C ends
 * it early, and saves; examples/generate writes with what has been saved.
 *
 * What it teaches: a graph grows as long as someone builds on it and nobody evaluates. `train
 * --buggy` keeps a running mean of the loss as a tensor, to be read once at the end: each step adds
 * to it, so that nothing of what it stands on can go. Memory grows, and the end takes long.
 *
 * See it from gdb, once with --buggy and once without:
 *
 *	$ gdb -q -x build/lazybones.gdb --args build/examples/train --buggy -n 100 x.safetensors
 *	(gdb) break finish
 *	(gdb) run
 *	(gdb) tensor list mean --limit 3       100 of them, all lazy, where one would do
 */
#include <argp.h>
#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/named.h"
#include "common/options.h"
#include "progress.h"
#include "train.h"

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

/* ---- the optimisation ---- */

/* Up over the first steps, then down along a cosine. */
static double rate_at(const struct options *options, int64_t step)
{
	double most = options->rate, warmup = fmin(20, (double)options->steps / 10);

	if ((double)step < warmup)
		return most * (double)(step + 1) / (warmup + 1);
	double way = ((double)step - warmup) / fmax(1, (double)options->steps - warmup);
	return most * (0.1 + 0.9 * (1 + cos(M_PI * way)) / 2);
}

/* One step; the loss as a number. NaN on error. */
static double step(struct training *training, lb_optimizer *optimizer, int64_t i)
{
	double value = NAN;

	LB_SCOPE {
		lb_tensor *loss;
		training_draw(training, &training->text.train, (uint64_t)i);
		if (!lb_value_and_grad(training_loss, training, training->n, training->weights,
				       training->n, NULL,
				       1, &loss, training->gradients))
			break;
		lb_named("loss", loss);
		lb_clip_by_global_norm(training->n, training->gradients, 1, training->gradients,
				       NULL);
		if (!lb_optimizer_step(optimizer, training->n, training->weights,
				       training->gradients, loss))
			break;
		if (training->options->buggy) {
			lb_tensor *mean = training->mean ? lb_multiply(training->mean,
				lb_scalar(0.9)) : lb_scalar(0);
			mean = lb_add(mean, lb_multiply(loss, lb_scalar(0.1)));
			lb_replace(&training->mean, lb_named("mean", mean));
		}
		value = lb_item(loss);
	}
	return value;
}

/* Ends early when interrupted. The smoothed loss, or NaN on error. */
static double optimise(struct training *training, lb_optimizer *optimizer, int64_t *done)
{
	const struct options *options = training->options;
	struct progress progress;
	double smooth = 0;
	char note[80];

	progress_begin(&progress, options->steps);
	for (*done = 0; *done < options->steps && !interrupted; ++*done) {
		lb_optimizer_set_rate(optimizer, rate_at(options, *done));
		double loss = step(training, optimizer, *done);
		if (isnan(loss))
			break;
		smooth = *done ? 0.95 * smooth + 0.05 * loss : loss;
		snprintf(note, sizeof(note), "step %lld  loss %.3f", (long long)*done + 1, smooth);
		progress_show(&progress, *done + 1, note);
	}
	progress_end(&progress);
	return lb_ok() ? smooth : NAN;
}

static bool finish(struct training *training, const struct options *options, int64_t done,
		   double loss)
{
	double held_out = training_evaluate(training);

	if (!lb_ok())
		return false;
	printf("%lld steps, loss %.4f, on held-out text %.4f\n", (long long)done, loss, held_out);
	if (training->mean)
		printf("running mean %.4f\n", lb_item(training->mean));
	training_restore(training);
	if (!checkpoint_save(options->out, &training->model, &training->text.alphabet))
		return false;
	printf("saved %s%s\n", options->out, interrupted ? ", interrupted" : "");
	return true;
}

/* Asked before the work is done, not after it. */
static bool may_save(const char *path)
{
	struct stat st;
	char *copy = strdup(path);

	if (!copy)
		return complain("no memory for a path");
	bool ok = stat(path, &st) == 0 && !S_ISREG(st.st_mode)
		? complain("%s: cannot be replaced: not a regular file", path)
		: access(dirname(copy), W_OK | X_OK) == 0 ||
			complain("%s: cannot be written: %s", path, strerror(errno));
	free(copy);
	return ok;
}

/* The exit status. */
static int run(const struct options *options)
{
	struct training training;
	struct sigaction once = {.sa_handler = interrupt, .sa_flags = SA_RESETHAND};
	lb_optimizer *optimizer = NULL;
	int64_t done = 0;

	bool ok = training_init(&training, options) && may_save(options->out) &&
		  (optimizer = lb_adamw((lb_adam_options){.rate = options->rate, .beta2 = 0.99,
							  .weight_decay = 0.1,
								.bias_correction = true}));
	if (ok) {
		printf("%lld weights, %lld characters of %d kinds: loss %.3f by chance\n",
		       (long long)training_size(&training), (long long)training.text.train.n,
		       training.text.alphabet.n, log(training.text.alphabet.n));
		fflush(stdout);
		sigaction(SIGINT, &once, NULL); /* the second one ends it as usual */
		double loss = optimise(&training, optimizer, &done);
		ok = !isnan(loss) && finish(&training, options, done, loss);
	}
	lb_optimizer_free(optimizer);
	training_release(&training);
	return !complain_of_errors() || !ok ? 1 : interrupted ? 128 + SIGINT : 0;
}

/* ---- the command line ---- */

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'n': options->steps = parse_int(state, "steps", arg, 1, 1 << 30); return 0;
	case 'i': options->text = arg; return 0;
	case 'w': options->width = parse_int(state, "width", arg, 1, 64); return 0;
	case 'l': options->layers = parse_int(state, "layers", arg, 1, 100); return 0;
	case 'c': options->context = parse_int(state, "context", arg, 2, 4096); return 0;
	case 'b': options->batch = parse_int(state, "batch", arg, 1, 4096); return 0;
	case 'r': options->rate = parse_double(state, "rate", arg, 0, 1); return 0;
	case 's': options->seed = (uint64_t)parse_int(state, "seed", arg, 0, INT64_MAX); return 0;
	case 'B': options->buggy = true; return 0;
	case ARGP_KEY_ARG:
		if (options->out)
			argp_error(state, "unexpected argument '%s': give one file to save to", arg);
		options->out = arg;
		return 0;
	case ARGP_KEY_NO_ARGS: argp_error(state, "which file to save to?"); return EINVAL;
	default: return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp_option table[] = {
		{"steps", 'n', "N", 0, "steps of the optimiser (default 400)", 0},
		{"text", 'i', "FILE", 0, "text to learn from (default " DEFAULT_TEXT ")", 0},
		{"width", 'w', "N", 0, "width of the model, in heads of 32 (default 4)", 0},
		{"layers", 'l', "N", 0, "layers of the model (default 3)", 0},
		{"context", 'c', "N", 0, "characters that the model sees (default 128)", 0},
		{"batch", 'b', "N", 0, "stretches of text in each step (default 8)", 0},
		{"rate", 'r', "X", 0, "highest learning rate (default 0.003)", 0},
		{"seed", 's', "N", 0, "seed of weights and draws (default 0)", 0},
		{"buggy", 'B', NULL, 0, "keep a mean that nobody evaluates", 0},
		{0},
	};
	static const struct argp argp = {
		.options = table, .parser = parse_option, .args_doc = "OUT.safetensors",
		.doc = "Teaches a small transformer to write a text, character by character, and "
		       "saves it.",
	};
	struct options options = {
		.text = DEFAULT_TEXT, .steps = 400, .width = 4, .layers = 3, .context = 128,
			.batch = 8,
		.rate = 0.003,
	};

	argp_err_exit_status = 2;
	if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0)
		return 2;
	return run(&options);
}
