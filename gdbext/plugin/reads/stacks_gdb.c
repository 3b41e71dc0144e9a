#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/reads/stacks_gdb.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "plugin/bridge/bridge.h"
#include "plugin/reads/variables.h"

enum { MAX_FRAMES = 64, MAX_POINTEES = 64 };

/* As few surprises as possible, whatever the user has set. */
#define PLAINLY \
	"with width 0 -- with print pretty off -- with print address on -- with print symbol on -- " \
	"with print elements 200 -- with print repeats 10 -- with print object off -- "

/* As variables.c reads them. */
#define MEMBERS "with print raw-values on -- with print array-indexes on -- with print union on -- "

static struct gdb_stacks {
	struct lbx_stacks stacks;
	int n;
	int levels[MAX_FRAMES];
	struct lbx_source_line lines[MAX_FRAMES]; /* of these levels */
} gdb;

static bool ask_thread(uint64_t *ret)
{
	const char *answer, *number;

	if (!lbx_bridge_ask(&answer, LBX_IN_FRAME, "thread"))
		return false;
	/* "[Current thread is 1 (Thread 0x7ff… (LWP 4711))]", "(process 4711)", "(Thread 1.4711)" */
	if ((number = strstr(answer, "LWP ")))
		number += 4;
	else if ((number = strstr(answer, "process ")))
		number += 8;
	else if ((number = strstr(answer, "(Thread ")) && (number = strchr(number, '.')))
		number++;
	*ret = number ? strtoull(number, NULL, 10) : 0;
	return true;
}

static int threads(struct lbx_stacks *stacks, uint64_t *tids, int max)
{
	(void)stacks;
	return max > 0 && ask_thread(tids) ? 1 : -1;
}

/* gdb stands where it stopped: that is the user's to see. */
static bool death(struct lbx_stacks *stacks, struct lbx_death *ret)
{
	(void)stacks;
	(void)ret;
	return false;
}

/* A name may have brackets: "eval(graph 3) () at graph-3.lb:4", "nn::L::operator() (this=...) at nn.cc:4". What
 * stands in the last ones, the arguments without values, has none. */
static size_t name_length(const char *in)
{
	size_t line = strcspn(in, "\n");

	for (const char *p = in; (p = strstr(p, " (")) && p < in + line; p += 2) {
		const char *end = p + 2 + strcspn(p + 2, "()\n");

		if (*end == ')' && (!end[1] || strchr(" \n", end[1])))
			return (size_t)(p - in);
	}
	return strcspn(in, " (\n");
}

/* "#1  0x000055… in main (argc=…) at photo.c:42" or "… () from /lib/libc.so.6" */
static bool parse_frame(const char *text, struct lbx_frame *frame, struct lbx_source_line *line)
{
	char *end;
	long level = *text == '#' ? strtol(text + 1, &end, 10) : -1;

	memset(frame, 0, sizeof *frame);
	memset(line, 0, sizeof *line);
	if (level < 0 || level > INT_MAX)
		return false;
	frame->level = (int)level;
	size_t length = strcspn(text, "\n");
	const char *in = strstr(end, " in "), *at = NULL;
	if (!in || in >= text + length)
		return false;
	frame->pc = strtoull(end, NULL, 0);
	frame->after_call = level > 0;
	in += 4;
	snprintf(line->function, sizeof line->function, "%.*s", (int)name_length(in), in);
	for (const char *p = in; (p = strstr(p, " at ")) && p < text + length; p += 4)
		at = p + 4;
	if (at) {
		const char *colon = memrchr(at, ':', (size_t)(text + length - at));
		if (colon) {
			snprintf(line->file, sizeof line->file, "%.*s", (int)(colon - at), at);
			line->line = (int)strtol(colon + 1, NULL, 10);
		}
	}
	return true;
}

/* Keeps the frames of an answer, at most up to `max` in all. */
static void take_frames(const char *answer, int max, struct lbx_stack *ret)
{
	while (*answer && ret->n < max) {
		struct lbx_frame *frame = &ret->frames[ret->n];
		if (parse_frame(answer, frame, &gdb.lines[ret->n]))
			gdb.levels[ret->n++] = frame->level;
		answer += strcspn(answer, "\n");
		answer += *answer == '\n';
	}
	gdb.n = ret->n;
}

/* More frames are wanted than gdb is asked for: the one of level `last`, if it is there, and if not, or if `tail` are
 * wanted, the outermost ones, which tell how many there are. False: not known yet. */
static bool walk_on(int last, int tail, struct lbx_stack *ret)
{
	const char *answer;
	int n = ret->n - (tail ? tail : 1);

	if (tail == 0) {
		if (!lbx_bridge_ask(&answer, LBX_IN_FRAME,
				    PLAINLY
				    "with print frame-arguments none -- "
				    "with print frame-info location-and-address -- frame apply level %d -q frame",
				    last))
			return false;
		ret->n = n;
		take_frames(answer, n + 1, ret);
		ret->cut = ret->n > n;
		tail = 1;
	}
	if (ret->n != n + 1 || !ret->cut) {
		if (!lbx_bridge_ask(&answer, LBX_IN_FRAME,
				    PLAINLY "bt -frame-arguments none "
					    "-frame-info location-and-address -- -%#x",
				    (unsigned)tail))
			return false;
		ret->n = n;
		take_frames(answer, n + tail, ret);
	}
	if (ret->n == n)
		return true;
	ret->gap = n;
	ret->left_out = (uint64_t)(ret->frames[n].level - n);
	return true;
}

static bool walk(struct lbx_stacks *stacks, uint64_t tid, int max, int tail, struct lbx_stack *ret)
{
	int n = max < MAX_FRAMES ? max : MAX_FRAMES;
	const char *answer;
	uint64_t selected;

	(void)stacks;
	memset(ret, 0, sizeof *ret);
	if (!ask_thread(&selected))
		return false;
	if (tid != selected)
		return lb_fail("gdb looks at thread %llu: select the other with `thread N` first",
			       (unsigned long long)selected);
	if (!lbx_bridge_ask(&answer, LBX_IN_FRAME,
			    PLAINLY "bt -frame-arguments none "
				    "-frame-info location-and-address -- %#x",
			    (unsigned)n))
		return false;
	ret->frames = malloc((size_t)n * sizeof *ret->frames);
	if (!ret->frames)
		return lb_fail("out of memory");
	take_frames(answer, n, ret);
	if (ret->n == 0)
		return lb_fail("gdb shows no frame: %.80s", answer);
	ret->cut = ret->n == n && max == n;
	if (ret->n < n || max == n || walk_on(max - 1, tail, ret))
		return true;
	lbx_stack_release(ret);
	return false;
}

static bool line(struct lbx_stacks *stacks, const struct lbx_frame *frame, struct lbx_source_line *ret)
{
	(void)stacks;
	memset(ret, 0, sizeof *ret);
	for (int i = 0; i < gdb.n; i++)
		if (gdb.levels[i] == frame->level)
			*ret = gdb.lines[i];
	return ret->function[0] || ret->file[0];
}

struct variables {
	lbx_pointer_fn *fn;
	void *context;
	int n;
	struct lbx_pointer first[MAX_POINTEES]; /* plain variables, which may lead to a struct */
};

static bool take(void *context, const struct lbx_pointer *pointer)
{
	struct variables *v = context;

	if (v->n < MAX_POINTEES && pointer->value && !strpbrk(pointer->expression, ".["))
		v->first[v->n++] = *pointer;
	return v->fn(v->context, pointer);
}

static bool pointers(struct lbx_stacks *stacks, const struct lbx_frame *frame, lbx_pointer_fn *fn, void *context)
{
	const char *arguments, *locals, *pointee;
	struct variables v = { .fn = fn, .context = context, .n = 0 };

	(void)stacks;
	bool known = lbx_bridge_ask(&arguments, LBX_ANYWHERE,
				    PLAINLY MEMBERS "frame apply level %d -q "
						    "info args",
				    frame->level);
	known &= lbx_bridge_ask(&locals, LBX_ANYWHERE,
				PLAINLY MEMBERS "frame apply level %d -q "
						"info locals",
				frame->level);
	if (!known)
		return false;
	bool more = lbx_variables_parse(arguments, true, take, &v) && lbx_variables_parse(locals, false, take, &v);
	for (int i = 0; i < v.n && more; i++) {
		const struct lbx_pointer *p = &v.first[i];
		if (lbx_bridge_ask(&pointee, LBX_ANYWHERE,
				   PLAINLY MEMBERS "frame apply level %d -q "
						   "output *%s",
				   frame->level, p->expression))
			more = lbx_variables_parse_pointee(pointee, p->expression, p->is_argument, fn, context);
	}
	return true;
}

bool lbx_stacks_gdb_selected(int *ret)
{
	const char *answer;

	if (!lbx_bridge_ask(&answer, LBX_IN_FRAME, "with print frame-info short-location -- frame"))
		return false;
	if (*answer != '#')
		return lb_fail("no frame is selected: %.80s", answer);
	*ret = (int)strtol(answer + 1, NULL, 10);
	return true;
}

static void destroy(struct lbx_stacks *stacks)
{
	(void)stacks;
}

static const struct lbx_stacks_ops ops = {
	.threads = threads,
	.death = death,
	.walk = walk,
	.line = line,
	.pointers = pointers,
	.destroy = destroy,
};

struct lbx_stacks *lbx_stacks_gdb(void)
{
	gdb.stacks.ops = &ops;
	return &gdb.stacks;
}
