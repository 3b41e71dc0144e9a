#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/bridge/front_end.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "plugin/bridge/answers.h"

static struct {
	bool known, mi, new_ui, batch;
} line;

/* -i=mi, --interpreter mi3, …, -ex "new-ui mi /dev/pts/3"; -batch */
static void read_command_line(void)
{
	FILE *file = fopen("/proc/self/cmdline", "re");
	lb_auto_free char *word = NULL;
	size_t room = 0;
	bool names_it = false;

	while (file && getdelim(&word, &room, '\0', file) > 0) {
		const char *value = strchr(word, '=');
		size_t dashes = strspn(word, "-");
		bool option = dashes && dashes <= 2 &&
			      (strncmp(word + dashes, "i=", 2) == 0 || strcmp(word + dashes, "i") == 0 ||
			       strncmp(word + dashes, "interp", 6) == 0);

		if (strcmp(word, "--args") == 0 || strcmp(word, "-args") == 0)
			break;
		line.mi |=
		    (names_it && strncmp(word, "mi", 2) == 0) || (option && value && strncmp(value, "=mi", 3) == 0);
		line.new_ui |= strncmp(word, "new-ui mi", 9) == 0;
		line.batch |= dashes && dashes <= 2 && strncmp(word + dashes, "batch", 5) == 0;
		names_it = option && !value;
	}
	if (file)
		fclose(file);
	line.known = true;
}

bool lbx_front_end_is_mi(void)
{
	if (!line.known)
		read_command_line();
	return line.mi;
}

bool lbx_front_end_speaks_mi(void)
{
	return lbx_front_end_is_mi() || line.new_ui;
}

bool lbx_front_end_draws_screen(void)
{
	void **screen = dlsym(RTLD_DEFAULT, "stdscr");
	bool (*has_ended)(void) = (bool (*)(void))dlsym(RTLD_DEFAULT, "isendwin");

	return screen && *screen && has_ended && !has_ended();
}

bool lbx_front_end_is_batch(void)
{
	if (!line.known)
		read_command_line();
	return line.batch;
}

bool lbx_front_end_shows_stops(void)
{
	return lbx_front_end_speaks_mi() && !lbx_answers_are_wanted();
}
