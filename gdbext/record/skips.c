#include "record/skips.h"

#include <pthread.h>
#include <regex.h>
#include <stddef.h>

const char *const lbx_skips[] = {
	"^(std|__gnu_cxx)::", "^_*lb_",        "^lbx_", "^(mlx::core|nanobind)::",
	"^(at|c10|torch)::",  "^(ggml|gguf)_", "^__",   NULL,
};

enum { SKIPS = sizeof lbx_skips / sizeof *lbx_skips - 1 };

static regex_t compiled[SKIPS];
static bool is_compiled[SKIPS];

/* gdb takes basic patterns of its own; these are read as extended ones, which mean the same here. */
static void compile(void)
{
	for (int i = 0; i < SKIPS; i++)
		is_compiled[i] = regcomp(&compiled[i], lbx_skips[i], REG_EXTENDED | REG_NOSUB) == 0;
}

bool lbx_is_librarys(const char *function)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	bool ret = false;

	pthread_once(&once, compile);
	for (int i = 0; !ret && i < SKIPS; i++)
		ret = is_compiled[i] && regexec(&compiled[i], function, 0, NULL, 0) == 0;
	return ret;
}
