/* dit: the blocks of a diffusion transformer, with adaptive layer norm.
 *
 *	dit [--swapped[=gate]]
 *
 * Each block turns the conditioning vector (time step and class) into six vectors: shift, scale
 * and gate for its attention, and again for its MLP. Every stage is compared with plain C.
 *
 * What it teaches: the six lie in one vector, and which is which is a convention. Published
 * models do not agree: [shift, scale, gate] here, [scale, shift, gate] elsewhere. All six have
 * one shape, so a swap is no error anywhere; pictures come out black, or three times too bright,
 * after many blocks. `dit --swapped` takes shift for scale, `--swapped=gate` scale for gate.
 *
 * See it from gdb, before anything is computed:
 *
 *	$ gdb -q -x build/lazybones.gdb --args build/examples/dit --swapped
 *	(gdb) break compare
 *	(gdb) run
 *	(gdb) tensor list block0.*             all lazy
 *	(gdb) tensor info block0.attention.shift       a view of block0.modulation at offset 32:
 *	                                               the second of the six; it should be at 0
 *	(gdb) tensor peek block0.attention.shift[0, 0, 0:4]
 *	(gdb) tensor peek block0.modulation[0, 0:4]    where shift is by convention: not the same
 *	(gdb) print reference->stages[0][0][0]@4       what plain C says it is
 */
#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/named.h"
#include "dit.h"

enum swap { SWAP_NOTHING, SWAP_SCALE, SWAP_GATE };

static const char *const stage_names[STAGES] = {
	"attention.shift", "attention.scale", "attention.gate",
	"mlp.shift", "mlp.scale", "mlp.gate",
	"attention.input", "attention.output", "mlp.input", "mlp.output", "output",
};

/* ---- weights ---- */

static lb_tensor *normal(lb_random_key key, uint64_t index, int64_t rows, int64_t columns)
{
	lb_tensor *x = lb_random_normal(LB_SHAPE(rows, columns), LB_F32, lb_key_split(key, index));

	return lb_multiply(x, lb_scalar(1 / sqrt((double)columns)));
}

/* As training leaves it: shifts around 0, scales below it, gates mostly open. */
static lb_tensor *modulation_bias(lb_random_key key)
{
	static const float typical[PARTS] = {0, -0.5F, 1, 0, -0.5F, 1};
	lb_tensor *parts = lb_from_data(typical, sizeof(typical), LB_SHAPE(PARTS, 1), LB_F32);
	lb_tensor *noise = lb_random_normal(LB_SHAPE(PARTS, WIDTH), LB_F32, key);

	return lb_flatten(lb_add(parts, lb_multiply(noise, lb_scalar(0.25))), 0, 1);
}

/* The weights outlive the scope that they are made in. */
static void block_init(struct block_weights *w, lb_random_key key)
{
	w->modulation = lb_keep(normal(key, 0, PARTS * WIDTH, WIDTH));
	w->modulation_bias = lb_keep(modulation_bias(lb_key_split(key, 1)));
	w->qkv = lb_keep(normal(key, 2, 3 * WIDTH, WIDTH));
	w->proj = lb_keep(normal(key, 3, WIDTH, WIDTH));
	w->up = lb_keep(normal(key, 4, HIDDEN, WIDTH));
	w->down = lb_keep(normal(key, 5, WIDTH, HIDDEN));
}

/* Sines and cosines of the time step, at frequencies from 1 to 1/10000. */
static lb_tensor *embed_time(const float steps[BATCH])
{
	lb_tensor *i = lb_arange(0, WIDTH / 2, 1, LB_F32);
	lb_tensor *frequency = lb_exp(lb_multiply(i, lb_scalar(-log(10000) * 2 / WIDTH)));
	lb_tensor *step = lb_from_data(steps, BATCH * sizeof(*steps), LB_SHAPE(BATCH, 1), LB_F32);
	lb_tensor *angle = lb_multiply(step, frequency);

	return lb_concatenate(2, (lb_tensor *[]){lb_cos(angle), lb_sin(angle)}, 1);
}

static void model_init(struct model *model)
{
	static const float steps[BATCH] = {999, 250};

	LB_SCOPE {
		lb_random_key key = lb_key(2212); /* arXiv 2212.09748 */
		lb_tensor *class = lb_random_normal(LB_SHAPE(BATCH, WIDTH), LB_F32,
						    lb_key_split(key, 0));
		lb_tensor *latents = lb_random_normal(LB_SHAPE(BATCH, TOKENS, WIDTH), LB_F32,
						      lb_key_split(key, 1));
		model->conditioning = lb_keep(lb_named("conditioning",
						       lb_add(embed_time(steps), class)));
		model->latents = lb_keep(lb_named("latents", latents));
		for (int i = 0; i < BLOCKS; i++)
			block_init(&model->blocks[i], lb_key_split(key, 2 + (uint64_t)i));
	}
}

static void model_release(struct model *model)
{
	lb_release(model->latents);
	lb_release(model->conditioning);
	for (int i = 0; i < BLOCKS; i++) {
		struct block_weights *w = &model->blocks[i];
		lb_release(w->modulation);
		lb_release(w->modulation_bias);
		lb_release(w->qkv);
		lb_release(w->proj);
		lb_release(w->up);
		lb_release(w->down);
	}
}

/* ---- a block ---- */

/* Which of the six vectors is taken for a part. */
static int place_of(int part, enum swap swap)
{
	static const int places[][3] = {
		[SWAP_NOTHING] = {0, 1, 2}, [SWAP_SCALE] = {1, 0, 2}, [SWAP_GATE] = {0, 2, 1},
	};

	return part / 3 * 3 + places[swap][part % 3];
}

/* The conditioning (BATCH, WIDTH) to six views (BATCH, 1, WIDTH), which broadcast over tokens. */
static void modulation(const struct block_weights *w, lb_tensor *conditioning, int block,
		       enum swap swap, lb_tensor *parts[PARTS])
{
	lb_tensor *all = lb_linear(lb_silu(conditioning), w->modulation, w->modulation_bias);

	named(all, "block%d.modulation", block);
	for (int i = 0; i < PARTS; i++) {
		int64_t at = place_of(i, swap) * WIDTH;
		parts[i] = lb_slice(all, LB_ALL, LB_NEW_AXIS, LB_RANGE(at, at + WIDTH));
	}
}

static lb_tensor *modulate(lb_tensor *x, lb_tensor *shift, lb_tensor *scale)
{
	lb_tensor *norm = lb_layer_norm(x, NULL, NULL, EPSILON);

	return lb_add(lb_multiply(norm, lb_add(scale, lb_scalar(1))), shift);
}

/* (BATCH, TOKENS, WIDTH) to (BATCH, HEADS, TOKENS, HEAD_SIZE) */
static lb_tensor *split_heads(lb_tensor *x)
{
	return lb_transpose(lb_reshape(x, LB_SHAPE(BATCH, TOKENS, HEADS, HEAD_SIZE)),
			    LB_AXES(0, 2, 1, 3));
}

static lb_tensor *attention(const struct block_weights *w, lb_tensor *x)
{
	lb_tensor *qkv[3];

	if (!lb_split(lb_linear(x, w->qkv, NULL), 3, -1, qkv))
		return NULL;
	lb_tensor *heads = lb_attention(split_heads(qkv[0]), split_heads(qkv[1]),
					split_heads(qkv[2]),
					1 / sqrt(HEAD_SIZE), false, NULL);
	lb_tensor *joined = lb_reshape(lb_transpose(heads, LB_AXES(0, 2, 1, 3)),
				       LB_SHAPE(BATCH, TOKENS, WIDTH));
	return lb_linear(joined, w->proj, NULL);
}

static lb_tensor *mlp(const struct block_weights *w, lb_tensor *x)
{
	return lb_linear(lb_gelu_tanh(lb_linear(x, w->up, NULL)), w->down, NULL);
}

static lb_tensor *run_block(const struct model *model, int i, lb_tensor *x, enum swap swap,
			    lb_tensor *stages[STAGES])
{
	const struct block_weights *w = &model->blocks[i];

	modulation(w, model->conditioning, i, swap, stages);
	stages[ATTENTION_INPUT] = modulate(x, stages[ATTENTION_SHIFT], stages[ATTENTION_SCALE]);
	stages[ATTENTION_OUTPUT] = attention(w, stages[ATTENTION_INPUT]);
	x = lb_add(x, lb_multiply(stages[ATTENTION_GATE], stages[ATTENTION_OUTPUT]));

	stages[MLP_INPUT] = modulate(x, stages[MLP_SHIFT], stages[MLP_SCALE]);
	stages[MLP_OUTPUT] = mlp(w, stages[MLP_INPUT]);
	stages[BLOCK_OUTPUT] = lb_add(x, lb_multiply(stages[MLP_GATE], stages[MLP_OUTPUT]));
	for (int stage = 0; stage < STAGES; stage++)
		named(stages[stage], "block%d.%s", i, stage_names[stage]);
	return stages[BLOCK_OUTPUT];
}

/* Nothing is computed here. */
static struct run describe(const struct model *model, enum swap swap)
{
	struct run run;
	lb_tensor *x = model->latents;

	for (int i = 0; i < BLOCKS; i++)
		x = run_block(model, i, x, swap, run.stages[i]);
	return run;
}

/* ---- the comparison ---- */

/* The largest difference from the reference; a NaN is the worst. NaN, too, on error. */
static double difference(lb_tensor *x, const double *expected, int size)
{
	float got[ELEMENTS];
	double worst = 0;

	if (!lb_copy_out(x, got, (size_t)size * sizeof(*got)))
		return NAN;
	for (int i = 0; i < size; i++) {
		double by = fabs((double)got[i] - expected[i]);
		if (!isnan(worst) && !(by <= worst))
			worst = by;
	}
	return worst;
}

static bool compare(const struct run *run, const struct reference *reference)
{
	const char *first = NULL;
	int block = 0;

	printf("%-24s %19s  %s\n", "stage", "range", "off by");
	for (int i = 0; i < BLOCKS; i++) {
		for (int stage = 0; stage < STAGES; stage++) {
			lb_tensor *x = run->stages[i][stage];
			double by = difference(x, reference->stages[i][stage], stage_size(stage));
			bool wrong = !(by <= TOLERANCE);
			printf("%-24s [%8.3f, %8.3f] %.3g%s\n", lb_name(x),
			       lb_item(lb_min(x, LB_ALL_AXES, false)),
			       lb_item(lb_max(x, LB_ALL_AXES, false)), by, wrong ? "  WRONG" : "");
			if (wrong && !first) {
				first = stage_names[stage];
				block = i;
			}
		}
	}
	if (first)
		printf("dit: block%d.%s is the first that differs from the reference\n", block,
		       first);
	else
		printf("dit: ok\n");
	return !first && lb_ok();
}

/* ---- the program ---- */

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	enum swap *swap = state->input;

	switch (key) {
	case 's':
		if (arg && strcmp(arg, "scale") != 0 && strcmp(arg, "gate") != 0)
			argp_error(state, "--swapped takes scale or gate, not '%s'", arg);
		*swap = arg && *arg == 'g' ? SWAP_GATE : SWAP_SCALE;
		return 0;
	case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'", arg); return EINVAL;
	default: return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{"swapped", 's', "WHAT", OPTION_ARG_OPTIONAL,
		 "take shift for scale, or scale for gate (WHAT: "
		 "scale, the default, or gate)", 0},
		{0},
	};
	static const struct argp argp = {
		.options = options, .parser = parse_option,
		.doc = "Runs two blocks of a diffusion transformer, and compares each stage with "
		       "plain C."
		       "\vThe exit status is 1 when one is off.",
	};
	static struct reference reference;
	enum swap swap = SWAP_NOTHING;
	struct model model;
	bool ok = false;

	argp_err_exit_status = 2;
	if (argp_parse(&argp, argc, argv, 0, NULL, &swap) != 0)
		return 2;
	model_init(&model);
	LB_SCOPE {
		struct run run = describe(&model, swap);
		ok = reference_run(&model, &reference) && compare(&run, &reference);
	}
	model_release(&model);
	return complain_of_errors() && ok ? 0 : 1;
}
