#include "base/error.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lazybones.h"

/* Noted by every call, so in the thread's fixed memory, of which there is little for a library that is
 * opened while its program runs; the text has a place that the thread gets from malloc. */
static __thread struct {
	const void *current_site;
	const void *site;
	char *text;
	const char *holder; /* the name of the call that holds the site, or NULL */
	bool set;
	enum lb_cause cause;
} last __attribute__((tls_model("initial-exec")));
static pthread_key_t key_of_text;
static bool has_key; /* without one, the text of a thread that ends is lost */

void (*lb_fail_hook)(const void *site, const char *message);

/* Where a message goes: NULL where an earlier one is kept. */
static char *begin(void)
{
	if (last.set)
		return NULL;
	lb_fail_prepare();
	last.site = last.current_site;
	last.cause = LB_OTHER_CAUSE;
	last.set = true;
	return last.text;
}

/* What has no room is not left out silently. */
static void end_with_ellipsis(char text[LB_ERROR_MAX])
{
	static const char ellipsis[] = "…";
	size_t at = LB_ERROR_MAX - sizeof ellipsis;

	while (at && ((unsigned char)text[at] & 0xc0) == 0x80) /* within a character */
		at--;
	memcpy(text + at, ellipsis, sizeof ellipsis);
}

/* A later failure is told, though not kept. */
static void keep_message(enum lb_cause cause, const char *format, va_list args)
{
	char later[LB_ERROR_MAX], *text = begin();
	if (!text && !lb_fail_hook)
		return;
	if (text)
		last.cause = cause;
	else
		text = later;
	/* what the call is made of speaks of itself, which the program has not called */
	int used = last.holder ? snprintf(text, LB_ERROR_MAX, "%s: ", last.holder) : 0;
	int n = vsnprintf(text + used, LB_ERROR_MAX - (size_t)used, format, args);
	if (n >= LB_ERROR_MAX - used)
		end_with_ellipsis(text);
	if (used && strncmp(text + used, text, (size_t)used) == 0)
		memmove(text, text + used, LB_ERROR_MAX - (size_t)used);
	if (lb_fail_hook)
		lb_fail_hook(last.current_site, text);
}

void lb_fail_with(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	keep_message(LB_OTHER_CAUSE, format, args);
	va_end(args);
}

void lb_fail_because_with(enum lb_cause cause, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	keep_message(cause, format, args);
	va_end(args);
}

enum lb_cause lb_error_cause(void)
{
	return last.set ? last.cause : LB_OTHER_CAUSE;
}

/* What ends after this one may fail once more: that gets a text of its own, and another end. */
static void end_text(void *text)
{
	last.text = NULL;
	last.set = false;
	free(text);
}

static void make_key(void)
{
	has_key = pthread_key_create(&key_of_text, end_text) == 0;
}

bool lb_fail_null(const char *op, const char *argument)
{
	return lb_ok() ? lb_fail("%s: %s is NULL, and no earlier call has failed", op, argument) : false;
}

bool lb_fail_null_at(const char *op, int i, int n)
{
	return lb_ok()
		   ? lb_fail("%s: tensor %d of %d, counted from 0, is NULL, and no earlier call has failed", op, i, n)
		   : false;
}

void lb_fail_prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static char shared[LB_ERROR_MAX]; /* by all threads that cannot get one of their own */

	if (last.text)
		return;
	pthread_once(&once, make_key);
	last.text = calloc(1, LB_ERROR_MAX);
	if (last.text && has_key)
		pthread_setspecific(key_of_text, last.text);
	else if (!last.text)
		last.text = shared;
}

void lb_fail_again(const void *site, const char *message)
{
	char *text = begin();
	if (!text)
		return;
	last.site = site;
	snprintf(text, LB_ERROR_MAX, "%s", message);
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

const void *lb_fail_site(const void *site)
{
	if (!last.holder)
		last.current_site = site;
	return last.current_site;
}

bool lb_fail_site_hold(const void *site, const char *name)
{
	bool is_first = !last.holder;
	lb_fail_site(site);
	if (is_first)
		last.holder = name;
	return is_first;
}

void lb_fail_site_give_back(const bool *held)
{
	if (*held)
		last.holder = NULL;
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
