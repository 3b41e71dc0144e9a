#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lazybones.h"

/* The name is kept by every build: gdb and crash handlers read it in cores. */
static __thread struct {
	bool set;
	const void *site;
	char text[LB_ERROR_MAX];
} last;
static __thread const void *current_site;

bool lb_fail(const char *format, ...)
{
	if (last.set)
		return false;
	va_list args;
	va_start(args, format);
	vsnprintf(last.text, sizeof last.text, format, args);
	va_end(args);
	last.site = current_site;
	last.set = true;
	return false;
}

void lb_fail_within(const char *format, ...)
{
	if (!last.set)
		return;
	char outer[LB_ERROR_MAX], whole[LB_ERROR_MAX];
	va_list args;
	va_start(args, format);
	vsnprintf(outer, sizeof outer, format, args);
	va_end(args);
	int used = snprintf(whole, sizeof whole, "%s: ", outer);
	if (used > 0 && (size_t)used < sizeof whole)
		snprintf(whole + used, sizeof whole - (size_t)used, "%s", last.text);
	memcpy(last.text, whole, sizeof whole);
}

void lb_fail_site(const void *site)
{
	current_site = site;
}

bool lb_ok(void)
{
	return !last.set;
}

const char *lb_error_message(void)
{
	return last.set ? last.text : "";
}

const void *lb_error_site(void)
{
	return last.set ? last.site : NULL;
}

void lb_clear_error(void)
{
	last.set = false;
}
