/* Rotary positions. Angles are made as ggml makes them, by one multiplication after the other in float32: at far
 * positions their last bits are degrees. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "ggml/recipe.h"

enum { NORMAL = 0, NEOX = 2, MROPE = 8, VISION = 24, IMROPE = 40, KINDS = 4, MOST = 1 << 12 };

struct rope {
	struct lbx_ggml_node *n;
	int dims, mode, original, sections[KINDS], first;
	float base, scale, extension, magnitude, fast, slow;
	int half; /* pairs */
	int positions[KINDS]; /* values (tokens, 1) */
	int chains[KINDS][MOST], lengths[KINDS]; /* positions times powers of the scale */
};

static bool read_params(struct rope *rope)
{
	struct lbx_ggml_node *n = rope->n;
	bool old = lbx_ggml_has_op(n->anchor, "ALIBI");

	rope->dims = lbx_ggml_int(n, 1);
	rope->mode = lbx_ggml_int(n, 2);
	rope->original = lbx_ggml_int(n, 4);
	rope->base = lbx_ggml_float(n, 5);
	rope->scale = lbx_ggml_float(n, 6);
	rope->extension = lbx_ggml_float(n, 7);
	rope->magnitude = lbx_ggml_float(n, 8);
	rope->fast = lbx_ggml_float(n, 9);
	rope->slow = lbx_ggml_float(n, 10);
	rope->first = old ? 0 : lbx_ggml_int(n, 15);
	for (int i = 0; i < KINDS; i++)
		rope->sections[i] = old ? 0 : lbx_ggml_int(n, 11 + i);
	rope->half = rope->dims / 2;
	if (rope->mode == VISION)
		rope->half = rope->dims;
	bool known = rope->mode == NORMAL || rope->mode == NEOX || rope->mode == MROPE || rope->mode == VISION ||
		     rope->mode == IMROPE;
	if (!known || rope->dims < 2 || rope->dims % 2 || rope->half > MOST || rope->first < 0 || rope->first > MOST ||
	    (rope->mode == VISION ? 2 : 1) * (int64_t)rope->dims + rope->first > n->shape[3])
		return lbx_ggml_no_recipe(n, "such a mode") != LBX_FAIL;
	/* once there were positions by another scale, and what was told apart by less than now */
	if (old && (lbx_ggml_int(n, 11) || (rope->mode == NEOX && (rope->scale != 1 || rope->extension != 0)) ||
		    (rope->mode == NORMAL && rope->dims != n->shape[3])))
		return lbx_ggml_no_recipe(n, "an older kind") != LBX_FAIL;
	return true;
}

/* The positions of each kind, one a token. */
static bool read_positions(struct rope *rope)
{
	struct lbx_ggml_node *n = rope->n;
	int64_t tokens = n->shape[1];
	int kinds = rope->mode & MROPE ? KINDS : 1, ids = lbx_ggml_source_float(n, 1);

	ids = lbx_step_reshape(n->r, ids, 2, (int64_t[]){ kinds * tokens, 1 });
	for (int i = 0; i < KINDS; i++) {
		rope->positions[i] = i < kinds ? lbx_step_narrow(n->r, ids, 0, i * tokens, tokens, 1) : LBX_FAIL;
		if (i < kinds && rope->positions[i] == LBX_FAIL)
			return false;
	}
	return true;
}

/* Position times scale to the power of `power`. */
static int angle(struct rope *rope, int kind, int power)
{
	float by = powf(rope->base, -2.0F / (float)rope->dims);

	if (rope->lengths[kind] == 0)
		rope->chains[kind][rope->lengths[kind]++] = rope->positions[kind];
	while (rope->lengths[kind] <= power) {
		int last = rope->chains[kind][rope->lengths[kind] - 1];
		rope->chains[kind][rope->lengths[kind]++] = lbx_step_with(rope->n->r, LB_OP_MULTIPLY, last, by);
	}
	return rope->chains[kind][power];
}

/* Of which positions pair i turns by, and by which power. */
static int choose(const struct rope *rope, int i, int *ret_power)
{
	const int *s = rope->sections;
	int64_t all = (int64_t)s[0] + s[1] + s[2] + s[3];
	int sector = (int)(i % all), kind, begin[KINDS] = { 0, s[0], s[0] + s[1], s[0] + s[1] + s[2] };

	if (rope->mode == IMROPE) {
		int third = sector % 3;
		kind = sector < 3 * (int64_t)s[third] ? third : 3;
	} else {
		kind = sector >= begin[3] ? 3 : sector >= begin[2] ? 2 : sector >= begin[1] ? 1 : 0;
	}
	*ret_power = rope->mode == VISION ? sector - begin[kind] : i;
	return kind;
}

static float correction(const struct rope *rope, float rotations)
{
	return (float)rope->dims * logf((float)rope->original / (rotations * 2 * (float)M_PI)) / (2 * logf(rope->base));
}

/* How much of each pair's angle is extrapolated. */
static int ramp(struct rope *rope)
{
	float mix[MOST];
	float low = floorf(correction(rope, rope->fast)), high = ceilf(correction(rope, rope->slow));

	low = low > 0 ? low : 0;
	high = high < (float)(rope->dims - 1) ? high : (float)(rope->dims - 1);
	for (int i = 0; i < rope->half; i++) {
		float width = high - low > 0.001F ? high - low : 0.001F, y = ((float)i - low) / width;
		y = y > 0 ? y : 0;
		mix[i] = (1 - (y < 1 ? y : 1)) * rope->extension;
	}
	return lbx_step_constant(rope->n->r, mix, rope->half);
}

/* (tokens, half), and what cosine and sine are multiplied by. */
static int angles(struct rope *rope, float *ret_magnitude)
{
	struct lbx_ggml_node *n = rope->n;
	int parts[MOST], power;

	if (rope->mode & MROPE) {
		int64_t all = 0;
		for (int i = 0; i < KINDS; i++) {
			if (rope->sections[i] < 0 || rope->sections[i] > MOST)
				return lbx_ggml_no_recipe(n, "such sections");
			all += rope->sections[i];
		}
		if (all == 0)
			return lbx_ggml_no_recipe(n, "such sections");
	}
	for (int i = 0; i < rope->half; i++) {
		int kind = rope->mode & MROPE ? choose(rope, i, &power) : 0;
		parts[i] = angle(rope, kind, rope->mode & MROPE ? power : i);
	}
	int full = lbx_step_join(n->r, rope->half, parts, 1);
	if (lbx_ggml_has(n, 2)) {
		int factors = lbx_step_narrow(n->r, lbx_ggml_source_float(n, 2), 3, 0, rope->half, 1);
		factors = lbx_step_reshape(n->r, factors, 1, (int64_t[]){ rope->half });
		full = lbx_step_binary(n->r, LB_OP_DIVIDE, full, factors);
	}
	*ret_magnitude = rope->magnitude;
	int part = lbx_step_with(n->r, LB_OP_MULTIPLY, full, rope->scale);
	if (rope->extension == 0)
		return part;
	*ret_magnitude *= 1.0F + 0.1F * logf(1.0F / rope->scale);
	int mix = ramp(rope), rest = lbx_step_with(n->r, LB_OP_ADD, lbx_step_unary(n->r, LB_OP_NEGATIVE, mix), 1);
	return lbx_step_binary(n->r, LB_OP_ADD, lbx_step_binary(n->r, LB_OP_MULTIPLY, part, rest),
			       lbx_step_binary(n->r, LB_OP_MULTIPLY, full, mix));
}

/* One of a cosine or sine, for each head of each token: (tokens, 1, half). */
static int turned(struct rope *rope, int op, int angle, float magnitude)
{
	struct lbx_recipe *r = rope->n->r;

	return lbx_step_reshape(r, lbx_step_with(r, LB_OP_MULTIPLY, lbx_step_unary(r, op, angle), magnitude), 3,
				(int64_t[]){ rope->n->shape[1], 1, rope->half });
}

static int product(struct rope *rope, int a, int b)
{
	return lbx_step_binary(rope->n->r, LB_OP_MULTIPLY, a, b);
}

/* What is turned, of x: neighbours, or what is half of it apart. */
static int rotate(struct rope *rope, int x, int cosine, int sine)
{
	struct lbx_recipe *r = rope->n->r;
	const int64_t *shape = rope->n->shape;
	bool neighbours = rope->mode == NORMAL;
	int first = lbx_step_narrow(r, x, 3, neighbours ? 0 : 0, rope->half, neighbours ? 2 : 1);
	int second = lbx_step_narrow(r, x, 3, neighbours ? 1 : rope->half, rope->half, neighbours ? 2 : 1);
	int a = lbx_step_binary(r, LB_OP_SUBTRACT, product(rope, first, cosine), product(rope, second, sine));
	int b = lbx_step_binary(r, LB_OP_ADD, product(rope, first, sine), product(rope, second, cosine));

	if (!neighbours)
		return lbx_step_join(r, 2, (int[]){ a, b }, 3);
	int64_t apart[] = { shape[0], shape[1], shape[2], rope->half, 1 };
	int both =
	    lbx_step_join(r, 2, (int[]){ lbx_step_reshape(r, a, 5, apart), lbx_step_reshape(r, b, 5, apart) }, 4);
	return lbx_step_reshape(r, both, LBX_GGML_AXES, (int64_t[]){ shape[0], shape[1], shape[2], 2 * rope->half });
}

static int rope_of(struct rope *rope)
{
	struct lbx_ggml_node *n = rope->n;
	int parts[3], count = 0, x = lbx_ggml_source_float(n, 0);
	float magnitude = 1;

	if (x == LBX_FAIL || !read_params(rope) || !read_positions(rope))
		return LBX_FAIL;
	int by = angles(rope, &magnitude);
	int cosine = turned(rope, LB_OP_COS, by, magnitude), sine = turned(rope, LB_OP_SIN, by, magnitude);
	int64_t before = rope->first, behind = before + 2 * (int64_t)rope->half;
	if (before)
		parts[count++] = lbx_step_narrow(n->r, x, 3, 0, before, 1);
	parts[count++] = rotate(rope, lbx_step_narrow(n->r, x, 3, before, 2 * rope->half, 1), cosine, sine);
	if (behind < n->shape[3])
		parts[count++] = lbx_step_narrow(n->r, x, 3, behind, n->shape[3] - behind, 1);
	return lbx_step_join(n->r, count, parts, 3);
}

int lbx_ggml_recipe_rope(struct lbx_ggml_node *n)
{
	struct rope rope = { .n = n };

	return rope_of(&rope);
}
