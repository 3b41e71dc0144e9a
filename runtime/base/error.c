#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lazybones.h"

/* Noted by every call, so in the thread's fixed memory; the text has a place that the thread gets
 * at its first use, from malloc. */
static __thread struct {
	const void *current_site;
	const void *site;
	char *text;
	bool set;
} last __attribute__((tls_model("initial-exec")));
static __thread char text_of_thread[LB_ERROR_MAX];

void (*lb_fail_hook)(const void *site, const char *message);

void lb_fail_with(const char *format, ...)
{
	if (!last.set) {
		va_list args;
		lb_fail_prepare();
		va_start(args, format);
		vsnprintf(last.text, LB_ERROR_MAX, format, args);
		va_end(args);
		last.site = last.current_site;
		last.set = true;
	}
	if (lb_fail_hook)
		lb_fail_hook(last.site, last.text);
}

void lb_fail_prepare(void)
{
	if (!last.text)
		last.text = text_of_thread;
}

void lb_fail_again(const void *site, const char *message)
{
	const void *own = last.current_site;
	last.current_site = site;
	lb_fail_with("%s", message);
	last.current_site = own;
}

void lb_fail_within(const char *format, ...)
{
	if (!last.set)
		return;
	char inner[LB_ERROR_MAX];
	memcpy(inner, last.text, LB_ERROR_MAX);
	va_list args;
	va_start(args, format);
	int used = vsnprintf(last.text, LB_ERROR_MAX, format, args);
	va_end(args);
	if (used < 0 || (size_t)used + 3 > LB_ERROR_MAX)
		return;
	memcpy(last.text + used, ": ", 3);
	strncat(last.text, inner, LB_ERROR_MAX - (size_t)used - 3);
}

void lb_fail_site(const void *site)
{
	last.current_site = site;
}

const void *lb_fail_site_now(void)
{
	return last.current_site;
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
