#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/symbols/displays.h"

#include <stdio.h>
#include <string.h>

#include "plugin/bridge/bridge.h"

enum { DISPLAYS = 32, LEVELS = 8, EXPRESSION = 512 };

static struct {
	struct display {
		char format[16]; /* "/x", or "" */
		char expression[EXPRESSION];
		int level; /* the innermost frame where it means something */
	} v[DISPLAYS];
	int n;
} displays;

/* "2:   y  /x argc" */
static bool take_line(const char *line, size_t n, struct display *ret)
{
	static const char elsewhere[] = " (cannot be evaluated in the current context)";
	const char *end = line + n, *suffix = memmem(line, n, elsewhere, sizeof(elsewhere) - 1);
	size_t digits = strspn(line, "0123456789");
	char enabled;

	if (!digits || sscanf(line + digits, ":   %c  ", &enabled) != 1 || digits + 7 >= n)
		return false;
	line += digits + 7;
	if (suffix)
		end = suffix;
	*ret = (struct display){ .level = 0 };
	if (*line == '/') {
		size_t length = strcspn(line, " \n");

		if (length >= sizeof(ret->format) || line + length >= end)
			return false;
		memcpy(ret->format, line, length);
		line += length + 1;
	}
	if (line >= end || end - line >= EXPRESSION)
		return false;
	memcpy(ret->expression, line, (size_t)(end - line));
	return true;
}

/* Where it means nothing, gdb could show nothing either. */
static bool find_level(struct display *d, bool *found)
{
	bool known = true;

	*found = false;
	for (int level = LEVELS; level-- > 0;) {
		const char *type;

		if (!lbx_bridge_ask(&type, LBX_ANYWHERE, "frame apply level %d -q -s -- with language %s -- whatis %s",
				    level, lbx_bridge_language(), d->expression)) {
			known = false;
		} else if (strncmp(type, "type = ", 7) == 0) {
			d->level = level;
			*found = true;
		}
	}
	return known;
}

bool lbx_displays_note(void)
{
	const char *text;
	bool known = true, found;

	displays.n = 0;
	if (!lbx_bridge_ask(&text, LBX_WITHOUT_FRAME, "info display"))
		return false;
	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		struct display *d = &displays.v[displays.n];

		if (displays.n == DISPLAYS || !take_line(text, strcspn(text, "\n"), d))
			continue;
		known &= find_level(d, &found);
		displays.n += found;
	}
	return known;
}

void lbx_displays_restore(void)
{
	for (int i = 0; i < displays.n; i++) {
		const struct display *d = &displays.v[i];

		char line[EXPRESSION + 128];

		snprintf(line, sizeof(line), "with language %s -- display%s %s", lbx_bridge_language(), d->format,
			 d->expression);
		/* it shows them at once: `frame apply` drops the output of what fails */
		lbx_bridge_script("define _lb_display\n%s\n_lb_fails_here\nend\n"
				  "frame apply level %d -q -s -- _lb_display",
				  line, d->level);
	}
}
