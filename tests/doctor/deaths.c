/* Programs that die, and those that do the same without dying of it. */
#include <assert.h>
#include <pthread.h>
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

/* Runs a function in a thread of its own, whose stack is small and of the same size everywhere. */
static void in_small_stack(void *(*run)(void *), void *argument)
{
	enum { STACK = 1 << 18 };
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	if (pthread_create(&thread, &attributes, run, argument) == 0)
		pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
}

struct node {
	struct node *parent;
};

__attribute__((noinline)) static int depth_of(const struct node *node)
{
	volatile int depth = 1;

	if (node->parent)
		depth += depth_of(node->parent);
	return depth;
}

static void *measure_depth(void *node)
{
	depth_of(node);
	return NULL;
}

/* The root is its own parent. */
void play_endless_recursion(bool sick)
{
	struct node root = { NULL }, leaf = { &root };

	root.parent = sick ? &root : NULL;
	in_small_stack(measure_depth, &leaf);
}

static int count_inputs(struct node *node, int depth);

__attribute__((noinline)) static int count_node(struct node *node, int depth)
{
	volatile int count = 1;

	count += count_inputs(node->parent, depth + 1);
	return count;
}

__attribute__((noinline)) static int count_inputs(struct node *node, int depth)
{
	volatile int count = 0;

	count += node ? count_node(node, depth) : 0;
	return count;
}

static void *count_all(void *node)
{
	count_node(node, 0);
	return NULL;
}

void play_endless_circle(bool sick)
{
	struct node root = { NULL };

	root.parent = sick ? &root : NULL;
	in_small_stack(count_all, &root);
}

static void *fill_rows(void *argument)
{
	size_t rows = *(size_t *)argument;
	volatile float row[rows];

	for (size_t i = rows; i-- > 0;)
		row[i] = 1;
	return row[0] > 0 ? NULL : argument;
}

void play_large_local(bool sick)
{
	size_t rows = sick ? 1 << 17 : 1 << 10;

	in_small_stack(fill_rows, &rows);
}

/* What is wanted is more than the limit, and nobody looks whether it is there. */
void play_null_beyond_limit(bool sick)
{
	const volatile float *row;

	lb_set_memory_limit(sick ? 1 << 20 : 1 << 24);
	row = lb_data(lb_named("states", normal(1024, 1024, 5)));
	(void)row[8];
}

struct layer {
	void (*forward)(const struct layer *);
};

static void do_nothing(const struct layer *layer)
{
	(void)layer;
}

void play_null_function(bool sick)
{
	volatile struct layer layer = { sick ? NULL : do_nothing };

	layer.forward(NULL);
}
