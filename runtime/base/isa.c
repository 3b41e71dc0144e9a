#include "base/isa.h"

#include <stdatomic.h>
#ifdef __x86_64__
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "base/environment.h"

#ifdef __x86_64__
/* The instructions, and a kernel that keeps tiles with the other registers (XCR0). */
static bool has_amx(void)
{
	enum { BF16 = 1 << 22, TILES = 1 << 24, INT8 = 1 << 25, KEPT = 3 << 17 };
	unsigned a, b, c, d, low, high;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !__get_cpuid_count(7, 0, &a, &b, &c, &d) ||
	    (~d & (BF16 | TILES | INT8)))
		return false;
	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (low & KEPT) == KEPT;
}
#endif

static enum lb_isa detect(void)
{
	enum lb_isa level = LB_ISA_BASE;
#ifdef __x86_64__
	unsigned a, b, c = 0, d; /* clang 14 does not know the name "f16c" */
	__get_cpuid(1, &a, &b, &c, &d);
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
	    __builtin_cpu_supports("bmi2") && (c & bit_F16C)) {
		level = LB_ISA_V3;
		if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
		    __builtin_cpu_supports("avx512vl"))
			level = LB_ISA_V4;
		/* known by number: not all compilers have a name for it */
		if (level == LB_ISA_V4 && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & 1u << 5))
			level = has_amx() ? LB_ISA_AMX : LB_ISA_BF16;
	}
#endif
	static const char *const names[] = {
		[LB_ISA_BASE] = "base", [LB_ISA_V3] = "v3",   [LB_ISA_V4] = "v4",
		[LB_ISA_BF16] = "bf16", [LB_ISA_AMX] = "amx",
	};
	enum lb_isa wanted =
	    (enum lb_isa)lb_environment_choice("LAZYBONES_ISA", sizeof names / sizeof *names, names, (int)level);
	return wanted < level ? wanted : level;
}

enum lb_isa lb_isa_level(void)
{
	static _Atomic int known; /* level + 1 */
	int level = atomic_load_explicit(&known, memory_order_relaxed);
	if (level == 0) {
		level = (int)detect() + 1;
		atomic_store_explicit(&known, level, memory_order_relaxed);
	}
	return (enum lb_isa)(level - 1);
}

bool lb_may_use_amx(void)
{
#ifdef __x86_64__
	enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
	static _Atomic int known; /* 1: no, 2: yes */
	int answer = atomic_load_explicit(&known, memory_order_relaxed);
	if (answer == 0) {
		bool may = lb_isa_level() >= LB_ISA_AMX && syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
		answer = may ? 2 : 1;
		atomic_store_explicit(&known, answer, memory_order_relaxed);
	}
	return answer == 2;
#else
	return false;
#endif
}
