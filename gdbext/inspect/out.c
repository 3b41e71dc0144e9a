#include "inspect/out.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static void vprint(struct lbx_out *out, const char *format, va_list args)
{
	char text[1024], *whole = text;
	va_list again;

	va_copy(again, args);
	int n = vsnprintf(text, sizeof text, format, args);
	if (n >= (int)sizeof text) {
		whole = malloc((size_t)n + 1);
		if (whole) {
			vsnprintf(whole, (size_t)n + 1, format, again);
		} else {
			whole = text;
			n = sizeof text - 1;
		}
	}
	va_end(again);
	if (n > 0)
		out->write(out, whole, (size_t)n);
	if (whole != text)
		free(whole);
}

void lbx_printf(struct lbx_out *out, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vprint(out, format, args);
	va_end(args);
}

void lbx_styled(struct lbx_out *out, enum lbx_style style, const char *format, ...)
{
	/* as gdb's own styles: function, address and file names, titles */
	static const char *const start[] = {
		[LBX_PLAIN] = "", [LBX_NAME] = "\033[33m", [LBX_ADDRESS] = "\033[34m",
		[LBX_FILE] = "\033[32m", [LBX_TITLE] = "\033[1m", [LBX_WARNING] = "\033[31m",
		[LBX_DIM] = "\033[2m",
	};
	bool coloured = out->colour && style != LBX_PLAIN;
	va_list args;

	if (coloured)
		out->write(out, start[style], strlen(start[style]));
	va_start(args, format);
	vprint(out, format, args);
	va_end(args);
	if (coloured)
		out->write(out, "\033[m", 3);
}

/* In one piece: a front end's write may cost more than the text. */
static void dump(struct lbx_out *out, json_t *value)
{
	char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	if (text)
		out->write(out, text, strlen(text));
	else
		lb_fail("out of memory for JSON");
	free(text);
	json_decref(value);
}

int lbx_terminal_colours(void)
{
	const char *colorterm = getenv("COLORTERM"), *term = getenv("TERM");

	if (colorterm && (strcmp(colorterm, "truecolor") == 0 || strcmp(colorterm, "24bit") == 0))
		return 1 << 24;
	return term && strstr(term, "256color") ? 256 : 0;
}

void lbx_json(struct lbx_out *out, json_t *document)
{
	dump(out, document);
	out->write(out, "\n", 1);
}

void lbx_json_part(struct lbx_out *out, json_t *value)
{
	dump(out, value);
}

json_t *lbx_json_double(double value)
{
	if (isnan(value))
		return json_string("NaN");
	if (isinf(value))
		return json_string(value < 0 ? "-Infinity" : "Infinity");
	return json_real(value);
}

json_t *lbx_json_address(uint64_t address)
{
	return address ? json_sprintf("0x%llx", (unsigned long long)address) : json_null();
}

/* jansson refuses what is not UTF-8; names come from anywhere. */
json_t *lbx_json_string(const char *text)
{
	json_t *s = json_string(text);
	if (s)
		return s;
	char safe[512];
	size_t i;
	for (i = 0; text[i] && i < sizeof safe - 1; i++)
		safe[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
	safe[i] = '\0';
	return json_string(safe);
}

bool lbx_progress(struct lbx_out *out, const char *what, int64_t done, int64_t total)
{
	return !out->progress || out->progress(out, what, done, total) || lb_fail("interrupted");
}

void lbx_set_int(struct lbx_out *out, const char *name, int64_t value)
{
	if (out->set_int)
		out->set_int(out, name, value);
}

void lbx_set_double(struct lbx_out *out, const char *name, double value)
{
	if (out->set_double)
		out->set_double(out, name, value);
}
