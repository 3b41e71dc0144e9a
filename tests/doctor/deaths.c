/* Programs that die, and those that do the same without dying of it. */
#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
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

static void need_rows(int64_t rows)
{
	assert(rows > 4);
}

void play_failed_assertion(bool sick)
{
	lb_tensor *x = normal(sick ? 4 : 8, 8, 2);

	lb_eval(x);
	need_rows(lb_shape(x)[0]);
}

void play_freed_twice(bool sick)
{
	float *volatile rows = malloc(40 * sizeof *rows);

	free(rows);
	if (sick)
		free(rows);
}

/* Writes over the header in front of an allocation. */
void play_damaged_heap(bool sick)
{
	void *volatile memory = malloc(5 * sizeof(uint64_t));
	volatile uint64_t *row = memory;

	for (int i = sick ? -1 : 0; i < 5; i++)
		row[i] = 0;
	free(memory);
}

__attribute__((noinline)) static void copy_name(const char *from)
{
	char name[8];
	char *volatile to = name;

	strcpy(to, from);
}

void play_smashed_stack(bool sick)
{
	copy_name(sick ? "layers.0.attention.query" : "query");
}
