/* Quantising, group by group. Each part of the result is computed from x anew: finding a
 * group's scale costs little beside reading it, and so each part is an operation of its
 * own, that a replay can repeat.
 *
 * affine, after MLX's affine_quantize: the step is the range over 2^bits - 1; the end of
 * larger magnitude becomes an exact multiple of the scale, so that it and often zero are
 * kept exactly, and the scale's sign says which end code 0 is. Codes are those of the
 * scale before it is rounded to x's dtype. */
#include "kernels/codes.h"
#include "kernels/layout.h"
#include "kernels/tile.h"

enum { GROUP_MAX = 128, GRAIN = 1 << 13 };

struct quantize {
	const struct lb_tiles *tiles;
	struct lb_quant_format format;
	int part, kind;
	const struct lb_view *x;
	float encode; /* nvfp4: 448 * 6 / the global scale, or 1 */
	bool by_global;
	char *to;
	int64_t row_groups; /* groups in a row */
};

/* The scale as it is used, and as it is stored. */
struct scale {
	bool finite;
	float value, bias;
	uint8_t code;
};

static struct scale affine_scale(const struct lb_tiles *tiles, const float *x, int n, int bits)
{
	struct scale s = { .finite = true };
	float low, high, levels = (float)((1 << bits) - 1);
	s.finite = tiles->range(n, x, &low, &high);
	float step = (high - low) / levels;
	s.finite &= step < INFINITY;
	if (!s.finite)
		return (struct scale){ .value = NAN, .bias = NAN };
	step = step > 1e-7f ? step : 1e-7f;
	bool at_low = fabsf(low) > fabsf(high);
	float edge = at_low ? low : high;
	s.value = at_low ? step : -step;
	float steps = rintf(edge / s.value);
	if (steps != 0) {
		s.value = edge / steps;
		s.bias = edge;
	}
	return s;
}

static struct scale float_scale(const struct quantize *q, const float *x, int n)
{
	struct scale s = { .finite = true };
	float low, high;
	s.finite = q->tiles->range(n, x, &low, &high);
	float largest = fabsf(low) > fabsf(high) ? fabsf(low) : fabsf(high);
	if (!s.finite)
		largest = 0;
	bool e4m3 = q->format.mode == LB_QUANT_NVFP4;
	s.value = largest / (q->kind == LB_CODES_E2M1 ? LB_E2M1_MAX : LB_E4M3_MAX);
	if (e4m3 && q->by_global)
		s.value *= q->encode;
	s.finite &= s.value == s.value;
	if (!s.finite)
		s.code = e4m3 ? LB_E4M3_NAN : LB_E8M0_NAN;
	else
		s.code = e4m3 ? lb_float_to_e4m3(s.value) : lb_float_to_e8m0(s.value);
	s.value = e4m3 ? lb_e4m3_to_float(s.code) : lb_e8m0_to_float(s.code);
	return s;
}

/* Of a format whose codes are floats. */
static uint8_t code_of(const struct quantize *q, const struct scale *s, float x)
{
	float scaled = s->value == 0 ? 0 : x / s->value;
	if (q->by_global && s->value != 0)
		scaled *= q->encode;
	return q->kind == LB_CODES_E2M1 ? lb_float_to_e2m1(scaled) : lb_float_to_e4m3(scaled);
}

/* Eight codes, a byte each, to so many bits each. */
static uint64_t packed(uint64_t codes, int bits)
{
	uint64_t word = 0;
	if (bits == 8)
		return codes;
	if (bits == 4) {
		word = (codes | codes >> 4) & 0x00ff00ff00ff00ff;
		word = (word | word >> 8) & 0x0000ffff0000ffff;
		return (word | word >> 16) & 0xffffffff;
	}
	for (int k = 0; k < 8; k++)
		word |= (codes >> 8 * k & 255) << k * bits;
	return word;
}

static void pack(const struct quantize *q, const struct scale *s, const float *x, uint8_t *to)
{
	int bits = q->format.bits, group = q->format.group;
	uint8_t codes[GROUP_MAX] = { 0 };
	if (s->finite && q->format.mode == LB_QUANT_AFFINE)
		q->tiles->affine_codes(group, x, s->value, s->bias, (float)((1 << bits) - 1), codes);
	else if (s->finite)
		for (int i = 0; i < group; i++)
			codes[i] = code_of(q, s, x[i]);
	for (int i = 0; i < group; i += 8, to += bits) {
		uint64_t word;
		memcpy(&word, codes + i, sizeof word);
		word = packed(word, bits);
		memcpy(to, &word, (size_t)bits);
	}
}

static void put_group(const struct quantize *q, int64_t at, const float *x)
{
	int group = q->format.group;
	bool affine = q->format.mode == LB_QUANT_AFFINE;
	struct scale s = affine ? affine_scale(q->tiles, x, group, q->format.bits) : float_scale(q, x, group);
	if (q->part == LB_QUANT_WORDS)
		pack(q, &s, x, (uint8_t *)q->to + at * (group / 8) * q->format.bits);
	else if (affine)
		q->tiles->convert(q->x->dtype, LB_F32)(1, q->to + at * lb_width_of(q->x->dtype),
						       q->part == LB_QUANT_SCALES ? &s.value : &s.bias, NULL, NULL);
	else
		q->to[at] = (char)s.code;
}

static void quantize_groups(void *arg, int64_t begin, int64_t end)
{
	const struct quantize *q = arg;
	const struct lb_view *x = q->x;
	int rank = x->rank, group = q->format.group;
	int64_t bytes = lb_width_of(x->dtype), stride = x->strides[rank - 1];
	float line[GROUP_MAX] __attribute__((aligned(64)));
	char raw[GROUP_MAX * 4] __attribute__((aligned(64)));
	while (begin < end) {
		int64_t index[LB_MAX_RANK], first = begin % q->row_groups, n = q->row_groups - first;
		n = n < end - begin ? n : end - begin;
		lb_index_of(rank - 1, x->shape, begin / q->row_groups, index);
		int64_t at = lb_offset_of(rank - 1, index, x->strides) + first * group * stride;
		for (int64_t i = 0; i < n; i++, at += group * stride) {
			const char *from = (const char *)x->data + at * bytes;
			const void *floats = from;
			if (stride != 1) {
				lb_gather_row(raw, from, group, stride, bytes);
				floats = raw;
			}
			if (x->dtype != LB_F32) {
				q->tiles->convert(LB_F32, x->dtype)(group, line, floats, NULL, NULL);
				floats = line;
			}
			put_group(q, begin + i, floats);
		}
		begin += n;
	}
}

bool lb_kernel_quantize(struct lb_exec *exec, const struct lb_quant_format *format, int part, const struct lb_view *x,
			const float *global, void *to)
{
	int64_t size = lb_shape_size(x->rank, x->shape);
	if (x->rank < 1 || x->dtype < LB_F16 || x->dtype > LB_F32 || format->group > GROUP_MAX ||
	    x->shape[x->rank - 1] % format->group)
		return lb_fail("quantize: groups of %d do not fit the rows of x", format->group);
	if (size == 0)
		return true;
	struct quantize q = { .tiles = lb_tiles(),
			      .format = *format,
			      .part = part,
			      .kind = lb_codes_kind(format),
			      .x = x,
			      .to = to,
			      .by_global = global != NULL,
			      .row_groups = x->shape[x->rank - 1] / format->group };
	if (global)
		q.encode = LB_E4M3_MAX * LB_E2M1_MAX / *global;
	lb_parallel(exec, size / format->group, GRAIN / format->group, quantize_groups, &q);
	return true;
}
