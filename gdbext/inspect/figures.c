#include "inspect/figures.h"

#include <stdio.h>

void lbx_format_list(const int64_t *values, int n, char *ret, size_t size)
{
	size_t used = (size_t)snprintf(ret, size, "(");

	for (int i = 0; i < n && used < size; i++)
		used += (size_t)snprintf(ret + used, size - used, "%s%lld", i ? ", " : "", (long long)values[i]);
	if (used < size)
		snprintf(ret + used, size - used, n == 1 ? ",)" : ")");
}

void lbx_format_place(const int64_t *coordinates, int n, char *ret, size_t size)
{
	size_t used = (size_t)snprintf(ret, size, "[");

	for (int i = 0; i < n && used < size; i++)
		used += (size_t)snprintf(ret + used, size - used, "%s%lld", i ? ", " : "", (long long)coordinates[i]);
	if (used < size)
		snprintf(ret + used, size - used, "]");
}

void lbx_format_bytes(int64_t bytes, char *ret, size_t size)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double n = (double)bytes / 1024;
	int unit = 0;

	if (bytes < 1024) {
		snprintf(ret, size, "%lld B", (long long)bytes);
		return;
	}
	while (n >= 1024 && unit < 5) {
		n /= 1024;
		unit++;
	}
	snprintf(ret, size, "%.*f %s", n < 10 ? 1 : 0, n, units[unit]);
}
