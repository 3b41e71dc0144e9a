/* The functions that multiply a panel with VNNI: KIND(name, e2m1, planes, elements whose scale is one). */
#ifndef LB_KERNELS_SIMD_PANELS_H
#define LB_KERNELS_SIMD_PANELS_H

#include "kernels/simd/tiles.h"

#define LB_PANEL_KINDS(KIND) \
	KIND(affine_1, false, 1, 32) \
	KIND(affine_3, false, 3, 32) \
	KIND(e2m1_1, true, 1, 32) \
	KIND(e2m1_3, true, 3, 32) \
	KIND(small_1, true, 1, 16) \
	KIND(small_3, true, 3, 16)
/* Of a panel and a number of planes. */
#define LB_PANEL_FUNCTION(panel, planes) \
	(((function *const[3][2]){ { affine_1, affine_3 }, \
				   { e2m1_1, e2m1_3 }, \
				   { small_1, small_3 } })[(panel)->group == 16 ? 2 : (panel)->e2m1][(planes) > 1])
_Static_assert(LB_PLANES == 3, "the number of planes");

#endif
