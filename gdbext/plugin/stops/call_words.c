#include "plugin/stops/call_words.h"

#include <elf.h>

const struct lbx_call_words *lbx_call_words(unsigned machine)
{
	static const struct lbx_call_words
	    x86_64 = { "$rdi", "$rsi", "$rdx", "$rsp", "{unsigned long}$rsp", 8, "$rax" },
	    aarch64 = { "$x0", "$x1", "$x2", "$sp", "(unsigned long)$x30", 0, "$x0" };

	return machine == EM_AARCH64 ? &aarch64 : &x86_64;
}
