/* Rotary positions: pairs of a head's elements are turned by the token's position times base^(-2 i / dims). */
#include <math.h>

#include "ggml_recipes.h"

enum { NORMAL = 0, NEOX = 2, MROPE = 8, VISION = 24, IMROPE = 40 };
enum { SIZE = 16, HEADS = 3, TOKENS = 5, KINDS = 4 };

struct rope {
	int mode, dims;
	float base, scale, extension, magnitude;
	int original, fast, slow; /* of YaRN */
	int sections[KINDS], factors, first;
};

static double correction(const struct rope *r, double rotations)
{
	return r->dims * log(r->original / (rotations * 2 * M_PI)) / (2 * log(r->base));
}

/* How much pair i is extrapolated: as YaRN's paper has it. */
static double mix(const struct rope *r, int i)
{
	double low = fmax(0, floor(correction(r, r->fast))), high = fmin(r->dims - 1, ceil(correction(r, r->slow)));
	double y = (i - low) / fmax(0.001, high - low);

	return (1 - fmin(1, fmax(0, y))) * r->extension;
}

/* Which of the four positions pair i has, and its power. */
static int kind_of(const struct rope *r, int i, int *ret_power)
{
	const int *s = r->sections;
	int all = s[0] + s[1] + s[2] + s[3], sector = all ? i % all : 0, begin = 0, kind = 0;

	*ret_power = i;
	if (r->mode == IMROPE) {
		int third = sector % 3;
		return sector < 3 * s[third] ? third : 3;
	}
	if (r->mode != MROPE && r->mode != VISION)
		return 0;
	while (kind < 3 && sector >= begin + s[kind])
		begin += s[kind++];
	if (r->mode == VISION)
		*ret_power = sector - begin;
	return kind;
}

static void turn(const struct rope *r, int positions, int pair, int64_t token, double *ret_cosine, double *ret_sine)
{
	int power, kind = kind_of(r, pair, &power);
	double magnitude = r->magnitude, p = at(positions, kind * TOKENS + token, 0, 0, 0);
	double angle = p * pow(r->base, -2.0 * power / r->dims) / (r->factors ? at(r->factors, pair, 0, 0, 0) : 1);

	if (r->extension != 0) {
		double m = mix(r, pair);
		angle = r->scale * angle * (1 - m) + angle * m;
		magnitude *= 1 + 0.1 * log(1 / r->scale);
	} else {
		angle *= r->scale;
	}
	*ret_cosine = cos(angle) * magnitude;
	*ret_sine = sin(angle) * magnitude;
}

static void want_row(const struct rope *r, int x, int positions, int64_t head, int64_t token)
{
	int pairs = r->mode == VISION ? r->dims : r->dims / 2;
	double row[SIZE], cosine, sine;

	for (int i = 0; i < SIZE; i++)
		row[i] = at(x, i, head, token, 0);
	for (int i = 0; i < pairs; i++) {
		int a = r->first + (r->mode == NORMAL ? 2 * i : i), b = r->mode == NORMAL ? a + 1 : a + pairs;
		turn(r, positions, i, token, &cosine, &sine);
		row[a] = at(x, a, head, token, 0) * cosine - at(x, b, head, token, 0) * sine;
		row[b] = at(x, a, head, token, 0) * sine + at(x, b, head, token, 0) * cosine;
	}
	for (int i = 0; i < SIZE; i++)
		want(row[i]);
}

void recipes_of_rope(void **state)
{
	(void)state;
	nodes_reset();
	int x = leaf(SIZE, HEADS, TOKENS, 1), positions = leaf_of(LB_I32, KINDS * TOKENS, 1, 1, 1, 40),
	    factors = leaf(SIZE, 1, 1, 1);
	const struct rope kinds[] = {
		{ .mode = NORMAL, .dims = SIZE, .base = 10000, .scale = 1, .magnitude = 1 },
		{ .mode = NEOX, .dims = SIZE, .base = 10000, .scale = 1, .magnitude = 1 },
		{ .mode = NORMAL, .dims = 10, .base = 500, .scale = 0.5F, .magnitude = 1.25F },
		{ .mode = NEOX, .dims = 10, .base = 500, .scale = 0.5F, .magnitude = 1.25F },
		{ .mode = NEOX, .dims = SIZE, .base = 10000, .scale = 1, .magnitude = 1, .factors = factors },
		{ .mode = NORMAL, .dims = 12, .base = 10000, .scale = 0.25F, .magnitude = 1, .factors = factors },
		{ .mode = NEOX,
		  .dims = SIZE,
		  .base = 100,
		  .scale = 0.25F,
		  .extension = 1,
		  .magnitude = 1,
		  .original = 64,
		  .fast = 8,
		  .slow = 1 },
		{ .mode = NORMAL,
		  .dims = SIZE,
		  .base = 100,
		  .scale = 0.125F,
		  .extension = 0.5F,
		  .magnitude = 0.9F,
		  .original = 128,
		  .fast = 16,
		  .slow = 1,
		  .factors = factors },
		{ .mode = NEOX, .dims = 8, .base = 100, .scale = 1, .magnitude = 1, .first = 4 },
		{ .mode = MROPE, .dims = SIZE, .base = 10000, .scale = 1, .magnitude = 1, .sections = { 2, 3, 2, 1 } },
		{ .mode = MROPE, .dims = SIZE, .base = 10000, .scale = 1, .magnitude = 1, .sections = { 1, 2, 1, 0 } },
		{ .mode = IMROPE, .dims = SIZE, .base = 10000, .scale = 1, .magnitude = 1, .sections = { 3, 2, 2, 1 } },
		{ .mode = VISION,
		  .dims = SIZE / 2,
		  .base = 10000,
		  .scale = 1,
		  .magnitude = 1,
		  .sections = { 4, 4, 0, 0 } },
	};

	for (int i = 0; i < SIZE; i++)
		elements_of(factors)[i] = 1 + fabsf(elements_of(factors)[i]);
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		const struct rope *r = &kinds[k];
		int ids = positions;
		if (r->mode == NORMAL || r->mode == NEOX)
			ids = leaf_of(LB_I32, TOKENS, 1, 1, 1, 40);
		for (int64_t t = 0; t < TOKENS; t++)
			for (int64_t h = 0; h < HEADS; h++)
				want_row(r, x, ids, h, t);
		holds(&(struct node){ .op = "ROPE",
				      .ne = { SIZE, HEADS, TOKENS, 1 },
				      .sources = { x, ids, r->factors },
				      .params = { 0, r->dims, r->mode, 0, r->original, bits_of(r->base),
						  bits_of(r->scale), bits_of(r->extension), bits_of(r->magnitude),
						  bits_of((float)r->fast), bits_of((float)r->slow), r->sections[0],
						  r->sections[1], r->sections[2], r->sections[3], r->first } },
		      1e-5);
	}
	is_without(&(struct node){ .op = "ROPE",
				   .ne = { SIZE, HEADS, TOKENS, 1 },
				   .sources = { x, positions },
				   .params = { 0, SIZE, 4, 0, 0, bits_of(10000), bits_of(1), 0, bits_of(1) } },
		   "such a mode");
}
