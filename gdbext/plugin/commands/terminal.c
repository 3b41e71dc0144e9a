#include "plugin/commands/terminal.h"

#include <stdio.h>
#include <unistd.h>

/* One that has ended may not have been waited for yet. */
static bool runs(int pid)
{
	char path[32], state = 'Z';
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1) /* a name of its own may have any form */
		state = 'R';
	fclose(f);
	return state != 'Z' && state != 'X';
}

bool lbx_terminal_is_shared(void)
{
	char path[64];
	bool shared = false;
	FILE *f;
	int pid;

	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	f = fopen(path, "r");
	if (!f)
		return false;
	while (!shared && fscanf(f, "%d", &pid) == 1)
		shared = getpgid(pid) == getpgrp() && runs(pid);
	fclose(f);
	return shared;
}
