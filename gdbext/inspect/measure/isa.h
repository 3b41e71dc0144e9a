/* One loop, several instruction sets, chosen when it runs. A file that includes this first writes
 * its loops as INLINE functions, wraps them once for each level in functions with the attribute
 * LBX_ISA_V3 or LBX_ISA_V4 (x86-64 alone has those), and calls them by a table for each level,
 * NAME_base, NAME_v3, NAME_v4: LBX_ISA_CHOOSE(NAME) is the right one's address. */
#ifndef LBX_ISA_H
#define LBX_ISA_H

#include "base/isa.h"

#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("O3")
#endif

#define INLINE static inline __attribute__((always_inline))

#ifdef __x86_64__
#define LBX_ISA_V3 __attribute__((target("avx2,fma")))
#ifdef __clang__
#define LBX_ISA_WIDTH ""
#else
#define LBX_ISA_WIDTH ",prefer-vector-width=512"
#endif
#define LBX_ISA_V4 __attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl" LBX_ISA_WIDTH)))
#define LBX_ISA_CHOOSE(name) \
	(lb_isa_level() >= LB_ISA_V4 ? &name##_v4 : lb_isa_level() == LB_ISA_V3 ? &name##_v3 : &name##_base)
#else
#define LBX_ISA_CHOOSE(name) (&name##_base)
#endif

#endif
