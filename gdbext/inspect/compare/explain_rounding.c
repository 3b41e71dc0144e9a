/* Values as other formats have them. */
#include <math.h>

#include "inspect/compare/hypothesis.h"
#include "kernels/codes.h"
#include "kernels/half.h"

const char *const lbx_rounding_names[LBX_ROUNDINGS] = {
	[LBX_ROUND_F32] = "rounded to float32",      [LBX_ROUND_F16] = "rounded to float16",
	[LBX_ROUND_BF16] = "rounded to bfloat16",    [LBX_CUT_BF16] = "cut off to bfloat16",
	[LBX_ROUND_E4M3] = "rounded to float8 e4m3", [LBX_ROUND_E5M2] = "rounded to float8 e5m2",
	[LBX_ROUND_INTEGER] = "rounded to integers", [LBX_CUT_INTEGER] = "cut off to integers",
};

/* Half precision without its last eight bits, to nearest, ties to even. */
static float to_e5m2(float x)
{
	uint32_t h = lb_float_to_f16(x);

	if ((h & 0x7c00) == 0x7c00)
		return lb_f16_to_float((uint16_t)h);
	return lb_f16_to_float((uint16_t)((h + 0x7f + (h >> 8 & 1)) & 0xff00));
}

double lbx_round(enum lbx_rounding rounding, double x)
{
	float f = (float)x;

	switch (rounding) {
	case LBX_ROUND_F32: return f;
	case LBX_ROUND_F16: return lb_f16_to_float(lb_float_to_f16(f));
	case LBX_ROUND_BF16: return lb_bf16_to_float(lb_float_to_bf16(f));
	case LBX_CUT_BF16: return lb_bits_to_float(lb_float_to_bits(f) & 0xffff0000);
	case LBX_ROUND_E4M3: return lb_e4m3_to_float(lb_float_to_e4m3(f));
	case LBX_ROUND_E5M2: return to_e5m2(f);
	case LBX_ROUND_INTEGER: return nearbyint(x);
	default: return trunc(x);
	}
}
