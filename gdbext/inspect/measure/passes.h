/* Loops over a block of numbers that lies in the first-level cache, for several instruction sets: each reads it once. */
#ifndef LBX_PASSES_H
#define LBX_PASSES_H

#include <stdbool.h>
#include <stdint.h>

enum { LBX_PASS_BLOCK = 4096 };

/* The bits of finite numbers; those of magnitudes are ordered as the numbers are, and below those of Inf and NaN. */
struct lbx_extent {
	int64_t least, most; /* magnitudes, of any number */
	int64_t min, max; /* with their signs; of no meaning if not all are finite */
};

struct lbx_zeros {
	int64_t zeros, least; /* the smallest magnitude of another, if there is one */
};

struct lbx_not_finite {
	int64_t nan, above, below;
};

struct lbx_moments {
	double s, q; /* sums of x - k and of its square */
};

#define LBX_PASSES(T, value_t) \
	struct lbx_passes_##T { \
		void (*range)(const value_t *, int n, struct lbx_extent *ret); \
		/* The extent and, if all are finite, sums around 0: whether they are. `more`: others follow in memory. */ \
		bool (*look)(const value_t *, int n, bool more, struct lbx_extent *ret, \
			     struct lbx_moments *ret_moments); \
		void (*zeros)(const value_t *, int n, struct lbx_zeros *ret); \
		/* How many magnitudes are less. */ \
		int64_t (*less)(const value_t *, int n, int64_t bits); \
		/* A copy with k instead of what is not finite. */ \
		void (*mask)(const value_t *, int n, value_t k, value_t *to, struct lbx_not_finite *ret); \
		void (*moments)(const value_t *, int n, double k, struct lbx_moments *ret); \
	};
LBX_PASSES(f32, float)
LBX_PASSES(f64, double)
#undef LBX_PASSES

struct lbx_passes {
	struct lbx_passes_f32 f32;
	struct lbx_passes_f64 f64;
	/* of n complex numbers */
	void (*absolute)(const float *, int n, float *to);
};

/* Those for this machine. */
const struct lbx_passes *lbx_passes(void);

#endif
