#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scene.h"

static const struct {
	const char *name, *rule, *severity;
	void (*play)(bool sick);
} scenes[] = {
#define SCENE(name, rule) { #name, #rule, "above-low", play_##name },
#define LOW(name, rule) { #name, #rule, "low", play_##name },
#define DEATH(name, rule) { #name, #rule, "death", play_##name },
#define LOW_DEATH(name, rule) { #name, #rule, "low death", play_##name },
#include "scenes.def"
#undef SCENE
};

enum { SCENES = sizeof scenes / sizeof *scenes };

/* Until standard input ends, or is ready to. */
static void leak(void)
{
	struct pollfd input = { .fd = 0, .events = POLLIN };

	while (poll(&input, 1, 2) == 0) {
		LB_SCOPE {
			lb_tensor *x = normal(64, 64, 1);
			lb_eval(x, lb_keep(lb_named("kept", lb_exp(x))));
		}
	}
	exit(0);
}

/* A list that grows while anybody looks at it, until standard input ends, or is ready to. */
static void grow(void)
{
	struct pollfd input = { .fd = 0, .events = POLLIN };

	for (int i = 0; i < 20000 || poll(&input, 1, 0) == 0; i++) {
		LB_SCOPE
			lb_eval(lb_keep(lb_named("state", lb_exp(normal(8, 8, 1)))));
		if (i == 20000) {
			puts("ready");
			fflush(stdout);
		}
		if (i > 20000)
			usleep(200);
	}
	exit(0);
}

/* A NaN, until there is something on standard input. */
static void heal(void)
{
	lb_tensor *x = NULL;

	LB_SCOPE
		lb_eval(x = lb_keep(lb_named("wrong", lb_log(lb_full(LB_SHAPE(8), -1, LB_F32)))));
	puts("ready");
	fflush(stdout);
	if (getchar() == EOF)
		exit(1);
	lb_release(x);
	while (getchar() != EOF)
		;
	exit(0);
}

/* Has a tensor for long enough to be looked at, and becomes a program that has none. */
static void become_another(void)
{
	lb_eval(normal(4, 4, 1));
	usleep(500000);
	execl("/bin/true", "true", (char *)NULL);
	exit(1);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "list") == 0) {
		for (int i = 0; i < SCENES; i++)
			printf("%s %s %s\n", scenes[i].name, scenes[i].rule, scenes[i].severity);
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "crash") == 0) {
		lb_eval(normal(4, 4, 1));
		raise(SIGSEGV);
	}
	if (argc > 1 && strcmp(argv[1], "overrun") == 0) {
		lb_tensor *x = NULL;
		LB_SCOPE {
			x = lb_keep(lb_exp(normal(4, 4, 1)));
			((volatile float *)(uintptr_t)lb_data(x))[16] = 1;
		}
		lb_release(x);
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "raw_often") == 0) {
		LB_SCOPE {
			lb_tensor *x = lb_transpose(normal(4, 6, 1), LB_AXES(1, 0));
			lb_eval(x);
			for (int i = 0; i < 10000; i++)
				lb_raw_data(x);
		}
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "leak") == 0)
		leak();
	if (argc > 1 && strcmp(argv[1], "grow") == 0)
		grow();
	if (argc > 1 && strcmp(argv[1], "heal") == 0)
		heal();
	if (argc > 1 && strcmp(argv[1], "become") == 0)
		become_another();
	for (int i = 0; argc == 3 && i < SCENES; i++) {
		if (strcmp(scenes[i].name, argv[1]) != 0)
			continue;
		LB_SCOPE {
			scenes[i].play(strcmp(argv[2], "sick") == 0);
			puts("ready");
			fflush(stdout);
			while (getchar() != EOF)
				;
		}
		return 0;
	}
	fprintf(stderr, "usage: scenes list | scenes NAME sick|well\n");
	return 2;
}
