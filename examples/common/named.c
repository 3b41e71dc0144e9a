#define _GNU_SOURCE /* program_invocation_short_name */
#include "common/named.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

lb_tensor *named(lb_tensor *x, const char *format, ...)
{
	char name[256];
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	return lb_named(name, x);
}

bool complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	return false;
}

bool complain_of_errors(void)
{
	if (lb_ok())
		return true;
	return complain("%s", lb_error_message());
}
