/* One source, several instruction sets.
 *
 * Files under kernels/simd/ are compiled once for each level of the target (x86-64:
 * base, v3 = AVX2+FMA+F16C, v4 = AVX-512; other targets: base only), with LB_ISA set to
 * the suffix. LB_ISA_NAME(f) gives each copy its own symbol; lb_isa_level() says which
 * one this machine can run. The level bf16 is v4 with AVX512-BF16, which products of bfloat16
 * alone use. LAZYBONES_ISA=base|v3|v4|bf16 chooses a lower one. */
#ifndef LB_BASE_ISA_H
#define LB_BASE_ISA_H

#define LB_ISA_PASTE_(name, isa) name##_##isa
#define LB_ISA_PASTE(name, isa) LB_ISA_PASTE_(name, isa)
#define LB_ISA_NAME(name) LB_ISA_PASTE(name, LB_ISA)

enum lb_isa { LB_ISA_BASE, LB_ISA_V3, LB_ISA_V4, LB_ISA_BF16 };

enum lb_isa lb_isa_level(void);

#endif
