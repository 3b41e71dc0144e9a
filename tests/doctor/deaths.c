/* Programs that die, and those that do the same without dying of it. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scene.h"

/* A watchdog hears nothing of its program, and ends it. */
void play_killed_by_watchdog(bool sick)
{
	pid_t watched = getpid(), watchdog;

	lb_eval(normal(8, 8, 1));
	watchdog = fork();
	if (watchdog == 0) {
		if (sick)
			kill(watched, SIGABRT);
		_exit(0);
	}
	waitpid(watchdog, NULL, 0);
	while (sick)
		pause();
}
