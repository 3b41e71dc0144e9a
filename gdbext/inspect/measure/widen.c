#include "inspect/measure/isa.h"

#include "inspect/measure/widen.h"

#include <string.h>

enum { BLOCK = 1024 };

/* formulas as in kernels/half.h without its branches */
INLINE void widen_f16(const uint16_t *from, int n, float *to)
{
	for (int i = 0; i < n; i++) {
		uint32_t h = from[i], magnitude = h & 0x7fff;
		uint32_t bits = magnitude << 13;
		float f;
		memcpy(&f, &bits, sizeof f);
		f *= 0x1p112f; /* rebias; exact for denormals too */
		memcpy(&bits, &f, sizeof bits);
		bits |= magnitude >= 0x7c00 ? 0x7f800000 : 0;
		bits |= (h & 0x8000) << 16;
		memcpy(&to[i], &bits, sizeof bits);
	}
}

INLINE void widen_bf16(const uint16_t *from, int n, float *to)
{
	for (int i = 0; i < n; i++) {
		uint32_t bits = (uint32_t)from[i] << 16;
		memcpy(&to[i], &bits, sizeof bits);
	}
}

INLINE void widen(enum lb_dtype dtype, const void *from, int n, double *to)
{
#define WIDEN(type) \
	for (int i = 0; i < n; i++) { \
		type v; \
		memcpy(&v, (const char *)from + i * (int)sizeof v, sizeof v); \
		to[i] = (double)v; \
	}
	switch (dtype) {
	case LB_BOOL:
		for (int i = 0; i < n; i++)
			to[i] = ((const uint8_t *)from)[i] != 0;
		break;
	case LB_U8: WIDEN(uint8_t) break;
	case LB_U16: WIDEN(uint16_t) break;
	case LB_U32: WIDEN(uint32_t) break;
	case LB_U64: WIDEN(uint64_t) break;
	case LB_I8: WIDEN(int8_t) break;
	case LB_I16: WIDEN(int16_t) break;
	case LB_I32: WIDEN(int32_t) break;
	case LB_I64: WIDEN(int64_t) break;
	case LB_F64: memcpy(to, from, (size_t)n * sizeof *to); break;
	default: WIDEN(float) break;
	}
#undef WIDEN
}

struct kernels {
	void (*f16)(const uint16_t *, int, float *);
	void (*bf16)(const uint16_t *, int, float *);
	void (*any)(enum lb_dtype, const void *, int, double *);
};

#define LEVEL(isa, attribute) \
	attribute static void widen_f16_##isa(const uint16_t *x, int n, float *to) \
	{ \
		widen_f16(x, n, to); \
	} \
	attribute static void widen_bf16_##isa(const uint16_t *x, int n, float *to) \
	{ \
		widen_bf16(x, n, to); \
	} \
	attribute static void widen_##isa(enum lb_dtype t, const void *x, int n, double *to) \
	{ \
		widen(t, x, n, to); \
	} \
	static const struct kernels kernels_##isa = { \
		widen_f16_##isa, \
		widen_bf16_##isa, \
		widen_##isa, \
	};
LEVEL(base, )
#ifdef __x86_64__
LEVEL(v3, LBX_ISA_V3)
LEVEL(v4, LBX_ISA_V4)
#endif

void lbx_widen_halves(enum lb_dtype dtype, const uint16_t *from, int n, float *to)
{
	const struct kernels *kernels = LBX_ISA_CHOOSE(kernels);

	(dtype == LB_F16 ? kernels->f16 : kernels->bf16)(from, n, to);
}

void lbx_widen(enum lb_dtype dtype, const void *from, int n, double *to)
{
	const struct kernels *kernels = LBX_ISA_CHOOSE(kernels);
	uint16_t halves[BLOCK];
	float wide[BLOCK];

	if (dtype != LB_F16 && dtype != LB_BF16) {
		kernels->any(dtype, from, n, to);
		return;
	}
	for (int done = 0; done < n; done += BLOCK) {
		int m = n - done < BLOCK ? n - done : BLOCK;
		memcpy(halves, (const char *)from + done * 2, (size_t)m * sizeof *halves);
		lbx_widen_halves(dtype, halves, m, wide);
		kernels->any(LB_F32, wide, m, to + done);
	}
}

void lbx_widen_local(const struct lbx_array *array, int64_t first, int64_t n, double *to)
{
	enum { AT_ONCE = 1 << 20 };
	int64_t width = lbx_dtype_bytes(array->dtype);

	for (int64_t done = 0; done < n; done += AT_ONCE)
		lbx_widen(array->dtype, array->local + (array->offset + first + done) * width,
			  n - done < AT_ONCE ? (int)(n - done) : AT_ONCE, to + done);
}
