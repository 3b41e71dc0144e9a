#include "plugin/bridge/front_end.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* -i=mi, --interpreter mi3, …, -ex "new-ui mi /dev/pts/3" */
static bool command_line_names_mi(void)
{
	FILE *file = fopen("/proc/self/cmdline", "re");
	lb_auto_free char *word = NULL;
	size_t room = 0;
	bool names_it = false, mi = false;

	while (file && !mi && getdelim(&word, &room, '\0', file) > 0) {
		const char *value = strchr(word, '=');
		size_t dashes = strspn(word, "-");
		bool option = dashes && dashes <= 2 &&
			      (strncmp(word + dashes, "i=", 2) == 0 || strcmp(word + dashes, "i") == 0 ||
			       strncmp(word + dashes, "interp", 6) == 0);

		if (strcmp(word, "--args") == 0 || strcmp(word, "-args") == 0)
			break;
		mi = (names_it && strncmp(word, "mi", 2) == 0) || (option && value && strncmp(value, "=mi", 3) == 0) ||
		     strncmp(word, "new-ui mi", 9) == 0;
		names_it = option && !value;
	}
	if (file)
		fclose(file);
	return mi;
}

bool lbx_front_end_speaks_mi(void)
{
	static int mi = -1;

	if (mi < 0)
		mi = command_line_names_mi();
	return mi;
}
