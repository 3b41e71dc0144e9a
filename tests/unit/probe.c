#include "probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sanitizer.h"

extern struct lb_symtab lb_symtab_root;

int without_error(void **state)
{
	(void)state;
	lb_clear_error();
	return 0;
}

const struct lb_counters *counters(void)
{
	return (const struct lb_counters *)(uintptr_t)lb_symtab_root.counters;
}

int64_t live_tensors(void)
{
	const struct lb_counters *now = counters();
	return (int64_t)(now->created - now->freed);
}

bool is_instrumented(void)
{
	const char *preload = getenv("LD_PRELOAD");
	return LB_SANITIZED || (preload && strstr(preload, "vgpreload"));
}

uint64_t available_memory(void)
{
	unsigned long long kilobytes = 0;
	char line[256];
	FILE *file = fopen("/proc/meminfo", "r");
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1)
			break;
	if (file)
		fclose(file);
	return kilobytes * 1024;
}

lb_tensor *counting(lb_list shape)
{
	int64_t n = 1;
	for (int k = 0; k < shape.n; k++)
		n *= shape.v[k];
	return lb_reshape(lb_arange(0, (double)n, 1, LB_F32), shape);
}

bool error_has(const char *words)
{
	char copy[1024], *rest;
	bool ok = !lb_ok();
	snprintf(copy, sizeof copy, "%s", words);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		ok = ok && strstr(lb_error_message(), word);
	if (!ok)
		fprintf(stderr, "the error \"%s\" lacks one of: %s\n", lb_error_message(), words);
	lb_clear_error();
	return ok;
}
