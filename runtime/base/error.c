#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lazybones.h"

static __thread struct {
	bool set;
	const void *site;
	char text[LB_ERROR_MAX];
} last;
static __thread const void *current_site;

void (*lb_fail_hook)(const void *site, const char *message);

void lb_fail_with(const char *format, ...)
{
	if (!last.set) {
		va_list args;
		va_start(args, format);
		vsnprintf(last.text, sizeof last.text, format, args);
		va_end(args);
		last.site = current_site;
		last.set = true;
	}
	if (lb_fail_hook)
		lb_fail_hook(last.site, last.text);
}

void lb_fail_within(const char *format, ...)
{
	if (!last.set)
		return;
	char inner[LB_ERROR_MAX];
	memcpy(inner, last.text, sizeof inner);
	va_list args;
	va_start(args, format);
	int used = vsnprintf(last.text, sizeof last.text, format, args);
	va_end(args);
	if (used < 0 || (size_t)used + 3 > sizeof last.text)
		return;
	memcpy(last.text + used, ": ", 3);
	strncat(last.text, inner, sizeof last.text - (size_t)used - 3);
}

void lb_fail_site(const void *site)
{
	current_site = site;
}

const void *lb_fail_site_now(void)
{
	return current_site;
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
