/* Which elements of its sources an element of a node depends on, beside what happens when one after the other is spoilt.
 * Straight loops, written from what ggml documents, compute each node: a NaN in a source shows which results it reaches, and
 * another number in a source of numbers, which results change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ggml_seen.h"
#include "tensors/part.h"

enum { SOURCES = 8, PARAMS = 8, ROOM = 512 };

/* The sources that a case has, from 0 on, and what comes out. */
static struct plain {
	uint64_t tensor;
	int64_t ne[LBX_GGML_AXES], n;
	bool is_whole;
	double holds[ROOM];
} from[SOURCES], to;
static int n_from;
static int32_t params[PARAMS];

static double *of(struct plain *p, int64_t i0, int64_t i1, int64_t i2, int64_t i3)
{
	int64_t i = ((i3 * p->ne[2] + i2) * p->ne[1] + i1) * p->ne[0] + i0;

	assert_true(i0 >= 0 && i0 < p->ne[0] && i1 >= 0 && i1 < p->ne[1] && i2 >= 0 && i2 < p->ne[2] && i3 >= 0 &&
		    i3 < p->ne[3]);
	return &p->holds[i];
}

static double at(int source, int64_t i0, int64_t i1, int64_t i2, int64_t i3)
{
	return *of(&from[source], i0, i1, i2, i3);
}

static int number(int source, int64_t i0, int64_t i1, int64_t i2)
{
	return (int)at(source, i0, i1, i2, 0);
}

static void set_sizes(struct plain *p, const int64_t *ne)
{
	memcpy(p->ne, ne, sizeof p->ne);
	p->n = ne[0] * ne[1] * ne[2] * ne[3];
	assert_true(p->n <= ROOM);
}

/* A source; of numbers, they are below `below`. */
static void source(const int64_t *ne, int below)
{
	struct plain *p = &from[n_from++];
	static uint32_t state = 7;

	set_sizes(p, ne);
	p->is_whole = below != 0;
	p->tensor = ggml_tensor("source", below ? GGML_I32 : GGML_F32, ne);
	uint64_t data = ggml_image_get(&image, p->tensor + image.layout.data, 8);
	for (int64_t i = 0; i < p->n; i++) {
		state = state * 1664525 + 1013904223;
		p->holds[i] = below ? (double)(state >> 8) / (1 << 24) * below : (double)(state >> 8) / (1 << 24);
		p->holds[i] = below ? floor(p->holds[i]) : p->holds[i];
		if (below)
			ggml_image_put(&image, data + 4 * (uint64_t)i, (uint64_t)p->holds[i], 4);
	}
}

static bool has_begun;

static int finish(void **state)
{
	if (has_begun)
		ggml_finish(state);
	has_begun = false;
	return 0;
}

static void begin(void)
{
	finish(NULL);
	has_begun = true;
	ggml_begin(false, 0x1800, 0x1800);
	n_from = 0;
	memset(params, 0, sizeof params);
}

static bool is_in(const struct lbx_part *part, const struct plain *p, int rank, int64_t i)
{
	if (part->nothing)
		return false;
	for (int d = 0; d < LBX_GGML_AXES; i /= p->ne[d], d++) {
		int64_t at = i % p->ne[d];
		int k = rank - 1 - d;
		if (k < 0)
			continue;
		int64_t far = at - part->first[k];
		if (far < 0 || far % part->step[k] || far / part->step[k] >= part->count[k])
			return false;
	}
	return true;
}

/* What is said of all results and one source, whose element i has been spoilt: it reaches those that are `bad`. */
static void reaches(const char *what, const struct lbx_tensor *t, uint32_t s, int64_t i, const bool *bad)
{
	struct lbx_tensor x;

	assert_true(lbx_tensor_input(t, s, &x));
	for (int64_t k = 0; k < to.n; k++) {
		int64_t place[LBX_GGML_AXES] = { 0 }, rest = k;
		struct lbx_part part;
		for (int d = 0; d < LBX_GGML_AXES; rest /= to.ne[d], d++)
			if (t->rank - 1 - d >= 0)
				place[t->rank - 1 - d] = rest % to.ne[d];
		if (!lbx_tensor_part(t, place, s, &part))
			fail_msg("%s: element %d: what of source %u is not known", what, (int)k, s);
		bool told = is_in(&part, &from[s], x.rank, i), may = !from[s].is_whole && part.exact;
		if (bad[k] ? !told : told && may)
			fail_msg("%s: element %d of source %u %s element %d of the result", what, (int)i, s,
				 bad[k] ? "reaches" : "does not reach", (int)k);
	}
}

/* Whether another number in place of one changes a result. */
static void spoil_number(void (*loops)(void), struct plain *p, int64_t i, int below, bool *bad)
{
	static struct plain before;
	double was = p->holds[i];

	before = to;
	for (int other = 0; other < below; other++) {
		p->holds[i] = other;
		loops();
		for (int64_t k = 0; k < to.n; k++)
			bad[k] |= to.holds[k] != before.holds[k];
	}
	p->holds[i] = was;
	loops();
}

static void spoil(void (*loops)(void), struct plain *p, int64_t i, bool *bad)
{
	double was = p->holds[i];

	p->holds[i] = NAN;
	loops();
	for (int64_t k = 0; k < to.n; k++)
		bad[k] = isnan(to.holds[k]);
	p->holds[i] = was;
	loops();
}

/* The node of these sources, which the loops compute. `view_of` is a source, or -1. */
static void depends(const char *what, uint32_t op, const int64_t *ne, int view_of, int below, void (*loops)(void))
{
	struct lbx_tensor t;

	set_sizes(&to, ne);
	to.tensor = ggml_image_node(&image, "node", op, ne, 0, 0);
	if (view_of < 0)
		ggml_image_allocate(&image, to.tensor);
	for (int i = 0; i < n_from; i++)
		ggml_image_put(&image, to.tensor + image.layout.sources + 8 * (uint64_t)i, from[i].tensor, 8);
	for (int i = 0; i < PARAMS; i++)
		ggml_image_put(&image, to.tensor + LBX_GGML_OP_PARAMS + 4 * (uint64_t)i, (uint32_t)params[i], 4);
	if (view_of >= 0) {
		uint64_t data = ggml_image_get(&image, from[view_of].tensor + image.layout.data, 8);
		ggml_image_put(&image, to.tensor + image.layout.view_source, from[view_of].tensor, 8);
		ggml_image_put(&image, to.tensor + image.layout.data, data, 8);
	}
	ggml_see(&ggml_image_rests);
	assert_true(lbx_tensors_by_address(set, to.tensor, &t));
	loops();
	for (int s = 0; s < n_from; s++)
		for (int64_t i = 0; i < from[s].n; i++) {
			bool bad[ROOM] = { false };
			if (from[s].is_whole)
				spoil_number(loops, &from[s], i, below, bad);
			else
				spoil(loops, &from[s], i, bad);
			reaches(what, &t, (uint32_t)s, i, bad);
		}
	assert_true(lb_ok());
}

#define EACH(ne) \
	for (int64_t i3 = 0; i3 < (ne)[3]; i3++) \
		for (int64_t i2 = 0; i2 < (ne)[2]; i2++) \
			for (int64_t i1 = 0; i1 < (ne)[1]; i1++) \
				for (int64_t i0 = 0; i0 < (ne)[0]; i0++)

/* ---- two sources, one behind the other ---- */

static void join(void)
{
	int axis = params[0];

	EACH(to.ne)
	{
		int64_t i[] = { i0, i1, i2, i3 };
		bool is_second = i[axis] >= from[0].ne[axis];
		i[axis] -= is_second ? from[0].ne[axis] : 0;
		*of(&to, i0, i1, i2, i3) = at(is_second, i[0], i[1], i[2], i[3]);
	}
}

static void of_two_joined(void **state)
{
	(void)state;
	for (int axis = 0; axis < LBX_GGML_AXES; axis++) {
		int64_t ne[] = { 3, 2, 2, 2 };
		begin();
		source(ne, 0);
		ne[axis] += 2;
		source(ne, 0);
		ne[axis] += from[0].ne[axis];
		params[0] = axis;
		depends("CONCAT", GGML_CONCAT, ne, -1, 0, join);
	}
}

/* ---- rows by number ---- */

static void set_rows(void)
{
	EACH(to.ne)
	*of(&to, i0, i1, i2, i3) = at(2, i0, i1, i2, i3);
	EACH(from[0].ne)
	*of(&to, i0, number(1, i1, i2 % from[1].ne[1], i3 % from[1].ne[2]), i2, i3) = at(0, i0, i1, i2, i3);
}

static void put_number(int s, int64_t i, int value)
{
	from[s].holds[i] = value;
	ggml_image_put(&image, ggml_image_get(&image, from[s].tensor + image.layout.data, 8) + 4 * (uint64_t)i,
		       (uint64_t)value, 4);
}

static void of_rows_that_were_set(void **state)
{
	static const int places[] = { 4, 0, 2, 3, 1, 4 };

	(void)state;
	begin();
	source(NE(3, 3, 2, 2), 0);
	source(NE(3, 1, 2, 1), 5);
	source(NE(3, 5, 2, 2), 0);
	for (int i = 0; i < 6; i++)
		put_number(1, i, places[i]);
	depends("SET_ROWS", GGML_SET_ROWS, NE(3, 5, 2, 2), 2, 5, set_rows);
	/* where it goes is no source in other builds */
	struct lbx_tensor t;
	struct lbx_part part;
	ggml_image_put(&image, to.tensor + image.layout.sources + 16, 0, 8);
	ggml_see(&ggml_image_rests);
	assert_true(lbx_tensors_by_address(set, to.tensor, &t));
	assert_int_equal(t.n_inputs, 3);
	assert_true(lbx_tensor_part(&t, (int64_t[]){ 0, 0, 1, 2 }, 2, &part));
	assert_true(!part.nothing && part.exact && part.first[2] == 1 && part.first[3] == 2);
	assert_true(lbx_tensor_part(&t, (int64_t[]){ 0, 0, 2, 2 }, 2, &part));
	assert_true(part.nothing);
	/* of two that go to one place, one has won */
	put_number(1, 2, 0);
	assert_true(lbx_tensor_part(&t, (int64_t[]){ 0, 0, 0, 2 }, 0, &part));
	assert_true(!part.exact && part.first[2] == 1 && part.count[2] == 2);
}

static void choose_experts(void)
{
	EACH(to.ne)
	{
		double sum = 0;
		for (int k = 0; k < from[0].ne[0]; k++)
			sum += at(0, k, i0, number(2, i1, i2, 0), 0) * at(1, k, i1 % from[1].ne[1], i2, 0);
		*of(&to, i0, i1, i2, i3) = sum;
	}
}

/* Numbers first, and an expert a source. */
static void choose_sources(void)
{
	EACH(to.ne)
	{
		double sum = 0;
		for (int k = 0; k < from[1].ne[0]; k++)
			sum += at(2 + number(0, params[0], i1, 0), k, i0, 0, 0) * at(1, k, i1, 0, 0);
		*of(&to, i0, i1, i2, i3) = sum;
	}
}

static void of_experts(void **state)
{
	enum { K = 3, M = 4, EXPERTS = 3, USED = 2, TOKENS = 3 };

	(void)state;
	for (int each = 1; each <= USED; each++) {
		begin();
		source(NE(K, M, EXPERTS, 1), 0);
		source(NE(K, each, TOKENS, 1), 0);
		source(NE(USED, TOKENS, 1, 1), EXPERTS);
		depends("MUL_MAT_ID", GGML_MUL_MAT_ID, NE(M, USED, TOKENS, 1), -1, EXPERTS, choose_experts);
	}
	begin();
	source(NE(USED, TOKENS, 1, 1), EXPERTS);
	source(NE(K, TOKENS, 1, 1), 0);
	for (int i = 0; i < EXPERTS; i++)
		source(NE(K, M, 1, 1), 0);
	params[0] = 1;
	params[1] = EXPERTS;
	depends("MUL_MAT_ID of 2024-02", GGML_MUL_MAT_ID, NE(M, TOKENS, 1, 1), -1, EXPERTS, choose_sources);
}

/* ---- windows ---- */

static void unfold(void)
{
	bool is_plane = params[6];
	int64_t across = from[0].ne[0], down = is_plane ? from[0].ne[1] : 1;

	EACH(to.ne)
	{
		int64_t x = i1 * params[0] + i0 % across * params[4] - params[2];
		int64_t y = is_plane ? i2 * params[1] + i0 / across % down * params[5] - params[3] : 0;
		int64_t channel = i0 / (across * down);
		bool is_there = x >= 0 && x < from[1].ne[0] && y >= 0 && (!is_plane || y < from[1].ne[1]);
		*of(&to, i0, i1, i2, i3) = !is_there  ? 0
					   : is_plane ? at(1, x, y, channel, i3)
						      : at(1, x, channel, i2, 0);
	}
}

static void of_windows(void **state)
{
	static const int32_t ways[][6] = { { 1, 1, 0, 0, 1, 1 }, { 2, 1, 1, 2, 1, 2 }, { 1, 2, 2, 1, 2, 1 } };

	(void)state;
	for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
		begin();
		source(NE(3, 2, 2, 1), 0);
		source(NE(5, 4, 2, 2), 0);
		memcpy(params, ways[w], sizeof ways[w]);
		params[6] = 1;
		int64_t columns = (5 + 2 * params[2] - params[4] * 2 - 1) / params[0] + 1,
			rows = (4 + 2 * params[3] - params[5] - 1) / params[1] + 1;
		depends("IM2COL", GGML_IM2COL, NE(12, columns, rows, 2), -1, 0, unfold);
		begin();
		source(NE(3, 2, 1, 1), 0);
		source(NE(7, 2, 2, 1), 0);
		memcpy(params, ways[w], sizeof ways[w]);
		columns = (7 + 2 * params[2] - params[4] * 2 - 1) / params[0] + 1;
		depends("IM2COL of rows", GGML_IM2COL, NE(6, columns, 2, 1), -1, 0, unfold);
	}
}

static void convolve(void)
{
	EACH(to.ne)
	{
		double sum = 0;
		for (int64_t k = 0; k < from[1].ne[0]; k++)
			sum += at(0, i1 + k, i0, i2, 0) * at(1, k, i0, 0, 0);
		*of(&to, i0, i1, i2, i3) = sum;
	}
}

static void of_channels(void **state)
{
	(void)state;
	begin();
	source(NE(3 + 4 - 1, 3, 2, 1), 0);
	source(NE(3, 3, 1, 1), 0);
	depends("SSM_CONV", GGML_SSM_CONV, NE(3, 4, 2, 1), -1, 0, convolve);
}

/* ---- from token to token ---- */

enum { SIZE = 2, HEADS = 2, SEQUENCES = 2, TOKENS = 3, ALL = SEQUENCES * TOKENS, SQUARE = SIZE * SIZE };

static double squares[SEQUENCES][HEADS][SIZE][SIZE];

static void take_squares(int s)
{
	memcpy(squares, from[s].holds, sizeof squares);
}

/* Behind the results of all tokens. */
static void give_squares(void)
{
	memcpy(to.holds + SIZE * HEADS * ALL, squares, sizeof squares);
}

static void sixth(void)
{
	take_squares(5);
	for (int t = 0; t < ALL; t++)
		for (int h = 0; h < HEADS; h++)
			for (int j = 0; j < SIZE; j++) {
				double sum = 0;
				for (int i = 0; i < SIZE; i++) {
					double *s = &squares[t / TOKENS][h][i][j];
					double kv = at(0, i, h, t, 0) * at(1, j, h, t, 0);
					sum += (*s + kv * at(3, i, h, 0, 0)) * at(2, i, h, t, 0);
					*s = *s * at(4, i, h, t, 0) + kv;
				}
				*of(&to, h * SIZE + j, t, 0, 0) = sum;
			}
	give_squares();
}

static void linear(void)
{
	take_squares(4);
	for (int t = 0; t < ALL; t++)
		for (int h = 0; h < HEADS; h++)
			for (int j = 0; j < SIZE; j++) {
				double sum = 0;
				for (int i = 0; i < SIZE; i++) {
					double *s = &squares[t / TOKENS][h][i][j];
					*s = *s * at(3, i, h, t, 0) + at(0, i, h, t, 0) * at(1, j, h, t, 0);
					sum += *s * at(2, i, h, t, 0);
				}
				*of(&to, h * SIZE + j, t, 0, 0) = sum;
			}
	give_squares();
}

static void seventh(void)
{
	take_squares(6);
	for (int t = 0; t < ALL; t++)
		for (int h = 0; h < HEADS; h++)
			for (int i = 0; i < SIZE; i++) {
				double *s = squares[t / TOKENS][h][i], seen = 0, sum = 0;
				for (int j = 0; j < SIZE; j++)
					seen += s[j] * at(4, j, h, t, 0);
				for (int j = 0; j < SIZE; j++) {
					s[j] = s[j] * at(1, j, h, t, 0) + at(3, i, h, t, 0) * at(2, j, h, t, 0) +
					       seen * at(5, j, h, t, 0);
					sum += s[j] * at(0, j, h, t, 0);
				}
				*of(&to, h * SIZE + i, t, 0, 0) = sum;
			}
	give_squares();
}

static void of_tokens(void **state)
{
	static const struct {
		const char *what;
		uint32_t op;
		int n, bonus;
		void (*loops)(void);
	} kinds[] = { { "RWKV_WKV6", GGML_RWKV_WKV6, 5, 3, sixth },
		      { "GATED_LINEAR_ATTN", GGML_GATED_LINEAR_ATTN, 4, -1, linear },
		      { "RWKV_WKV7", GGML_RWKV_WKV7, 6, -1, seventh } };

	(void)state;
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		for (int apart = 0; apart < 2; apart++) { /* the state's axes */
			begin();
			for (int i = 0; i < kinds[k].n; i++)
				source(i == kinds[k].bonus ? NE(SIZE, HEADS, 1, 1) : NE(SIZE, HEADS, ALL, 1), 0);
			source(apart ? NE(SIZE, SIZE, HEADS, SEQUENCES) : NE(SQUARE * HEADS, SEQUENCES, 1, 1), 0);
			depends(kinds[k].what, kinds[k].op, NE(SIZE * HEADS, ALL + SIZE * SEQUENCES, 1, 1), -1, 0,
				kinds[k].loops);
		}
}

/* S = exp(g) S, S += k beta (v - S' k)', S' q; S is transposed. */
static void delta(void)
{
	bool each = from[3].ne[0] > 1;

	take_squares(5);
	for (int s = 0; s < SEQUENCES; s++)
		for (int t = 0; t < TOKENS; t++)
			for (int h = 0; h < HEADS; h++)
				for (int j = 0; j < SIZE; j++) {
					double *row = squares[s][h][j], sum = 0, result = 0;
					int64_t own = h % from[0].ne[1], q = s / (SEQUENCES / from[0].ne[3]);
					for (int i = 0; i < SIZE; i++) {
						row[i] *= exp(at(3, each ? i : 0, h, t, s));
						sum += row[i] * at(1, i, own, t, q);
					}
					for (int i = 0; i < SIZE; i++) {
						row[i] +=
						    at(1, i, own, t, q) * at(4, 0, h, t, s) * (at(2, j, h, t, s) - sum);
						result += row[i] * at(0, i, own, t, q);
					}
					*of(&to, h * SIZE + j, s * TOKENS + t, 0, 0) = result;
				}
	give_squares();
}

static void of_the_delta_rule(void **state)
{
	(void)state;
	for (int way = 0; way < 8; way++) {
		int own = way & 1 ? 1 : HEADS, gates = way & 2 ? SIZE : 1, sequences = way & 4 ? 1 : SEQUENCES;
		begin();
		source(NE(SIZE, own, TOKENS, sequences), 0);
		source(NE(SIZE, own, TOKENS, sequences), 0);
		source(NE(SIZE, HEADS, TOKENS, SEQUENCES), 0);
		source(NE(gates, HEADS, TOKENS, SEQUENCES), 0);
		source(NE(1, HEADS, TOKENS, SEQUENCES), 0);
		source(NE(SIZE, SIZE, HEADS, SEQUENCES), 0);
		depends("GATED_DELTA_NET", GGML_GATED_DELTA_NET, NE(SIZE * HEADS, ALL + SIZE * SEQUENCES, 1, 1), -1, 0,
			delta);
	}
}

enum { STATES = 2, DIM = 2, KEPT = 3, GROUPS = 1 };

/* s = s exp(dt A) + B x dt; y = C s. */
static void scan(void)
{
	bool is_old = n_from == 6, each = from[3].ne[0] > 1;
	int heads = (int)from[3].ne[1], dim = is_old ? 1 : DIM;
	int64_t out = 0, left = from[1].n;

	for (int q = 0; q < SEQUENCES; q++) {
		static double s[8][DIM][STATES];
		for (int h = 0; h < heads; h++)
			for (int d = 0; d < dim; d++)
				for (int i = 0; i < STATES; i++)
					s[h][d][i] = is_old ? at(0, i, h, q, 0) : at(0, i, d, h, number(6, q, 0, 0));
		for (int t = 0; t < TOKENS; t++)
			for (int h = 0; h < heads; h++)
				for (int d = 0; d < dim; d++) {
					double step = log1p(exp(at(2, h, t, q, 0))), y = 0;
					double x = step * (is_old ? at(1, h, t, q, 0) : at(1, d, h, t, q));
					int group = h / (heads / GROUPS);
					for (int i = 0; i < STATES; i++) {
						double in = is_old ? at(4, i, t, q, 0) : at(4, i, group, t, q),
						       by = is_old ? at(5, i, t, q, 0) : at(5, i, group, t, q);
						s[h][d][i] =
						    s[h][d][i] * exp(step * at(3, each ? i : 0, h, 0, 0)) + in * x;
						y += s[h][d][i] * by;
					}
					to.holds[out++] = y;
				}
		for (int h = 0; h < heads; h++)
			for (int d = 0; d < dim; d++)
				for (int i = 0; i < STATES; i++)
					to.holds[left++] = s[h][d][i];
	}
}

static void of_states(void **state)
{
	(void)state;
	for (int each = 0; each < 2; each++)
		for (int is_old = 0; is_old < 2; is_old++) {
			begin();
			if (is_old) {
				source(NE(STATES, HEADS, SEQUENCES, 1), 0);
				source(NE(HEADS, TOKENS, SEQUENCES, 1), 0);
				source(NE(HEADS, TOKENS, SEQUENCES, 1), 0);
				source(NE(each ? STATES : 1, HEADS, 1, 1), 0);
				source(NE(STATES, TOKENS, SEQUENCES, 1), 0);
				source(NE(STATES, TOKENS, SEQUENCES, 1), 0);
			} else {
				source(NE(STATES, DIM, HEADS, KEPT), 0);
				source(NE(DIM, HEADS, TOKENS, SEQUENCES), 0);
				source(NE(HEADS, TOKENS, SEQUENCES, 1), 0);
				source(NE(each ? STATES : 1, HEADS, 1, 1), 0);
				source(NE(STATES, GROUPS, TOKENS, SEQUENCES), 0);
				source(NE(STATES, GROUPS, TOKENS, SEQUENCES), 0);
				source(NE(SEQUENCES, 1, 1, 1), KEPT);
			}
			int64_t n = from[1].n + STATES * (is_old ? 1 : DIM) * HEADS * SEQUENCES;
			depends(is_old ? "SSM_SCAN of 2024" : "SSM_SCAN", GGML_SSM_SCAN, NE(n, 1, 1, 1), -1, KEPT,
				scan);
		}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(of_two_joined, finish),
		cmocka_unit_test_teardown(of_rows_that_were_set, finish),
		cmocka_unit_test_teardown(of_experts, finish),
		cmocka_unit_test_teardown(of_windows, finish),
		cmocka_unit_test_teardown(of_channels, finish),
		cmocka_unit_test_teardown(of_tokens, finish),
		cmocka_unit_test_teardown(of_the_delta_rule, finish),
		cmocka_unit_test_teardown(of_states, finish),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
