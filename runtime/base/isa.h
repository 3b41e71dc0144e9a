/* One source, several instruction sets.
 *
 * Files under kernels/simd/ are compiled once for each level of the target (x86-64:
 * base, v3 = AVX2+FMA+F16C, v4 = AVX-512; other targets: base only), with LB_ISA set to
 * the suffix. LB_ISA_NAME(f) gives each copy its own symbol; lb_isa_level() says which
 * one this machine can run. The level bf16 is v4 with AVX512-BF16, the level amx that with AMX's
 * tiles of bfloat16 and bytes; matrix products alone use them. LAZYBONES_ISA=base|v3|v4|bf16|amx
 * chooses a lower one. */
#ifndef LB_BASE_ISA_H
#define LB_BASE_ISA_H

#include <stdbool.h>

#define LB_ISA_PASTE_(name, isa) name##_##isa
#define LB_ISA_PASTE(name, isa) LB_ISA_PASTE_(name, isa)
#define LB_ISA_NAME(name) LB_ISA_PASTE(name, LB_ISA)

enum lb_isa { LB_ISA_BASE, LB_ISA_V3, LB_ISA_V4, LB_ISA_BF16, LB_ISA_AMX };

enum lb_isa lb_isa_level(void);
/* Whether the level is amx and the kernel lets this process have tiles, for which it is asked when this is called
 * first: afterwards signal stacks below some 11 KiB are refused, so a program that multiplies nothing is not
 * to pay for it. */
bool lb_may_use_amx(void);

#endif
