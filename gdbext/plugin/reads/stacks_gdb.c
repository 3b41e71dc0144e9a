#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/reads/stacks_gdb.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vector.h"
#include "plugin/bridge/bridge.h"
#include "plugin/reads/objects_gdb.h"
#include "plugin/reads/variables.h"
#include "record/libraries.h"

enum { MAX_FRAMES = 64, MAX_POINTEES = 64, REGISTER_FRAMES = 8 };

/* No arguments, and each frame's place. */
#define BRIEFLY "-frame-arguments none -frame-info location-and-address -- "
#define WITH_PLACE "with print frame-arguments none -- with print frame-info location-and-address -- "

static struct gdb_stacks {
	struct lbx_stacks stacks;
	int n;
	int levels[MAX_FRAMES];
	struct lbx_source_line lines[MAX_FRAMES]; /* of these levels */
} gdb;

uint64_t lbx_stacks_gdb_thread_in(const char *text)
{
	const char *number;

	if ((number = strstr(text, "LWP ")))
		number += 4;
	else if ((number = strstr(text, "process ")))
		number += 8;
	else if ((number = strstr(text, "(Thread ")) && (number = strchr(number, '.')))
		number++;
	return number ? strtoull(number, NULL, 10) : 0;
}

static bool ask_thread(uint64_t *ret)
{
	const char *answer;

	if (!lbx_bridge_ask(&answer, LBX_ANYWHERE, "thread"))
		return false;
	*ret = lbx_stacks_gdb_thread_in(answer);
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
		if (!lbx_bridge_ask(&answer, LBX_ANYWHERE, LBX_PLAINLY WITH_PLACE "frame apply level %d -q frame",
				    last))
			return false;
		ret->n = n;
		take_frames(answer, n + 1, ret);
		ret->cut = ret->n > n;
		tail = 1;
	}
	if (ret->n != n + 1 || !ret->cut) {
		if (!lbx_bridge_ask(&answer, LBX_ANYWHERE, LBX_PLAINLY "bt " BRIEFLY "-%#x", (unsigned)tail))
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
	if (!lbx_bridge_ask(&answer, LBX_ANYWHERE, LBX_PLAINLY "bt " BRIEFLY "%#x", (unsigned)n))
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
	bool has_objects; /* debug information has told of the frame */
	int n;
	struct lbx_pointer first[MAX_POINTEES]; /* plain variables, which may lead to a struct */
	size_t n_told, told_room;
	struct lbx_pointer *told;
};

static bool take_object(void *context, const struct lbx_pointer *pointer)
{
	struct variables *v = context;

	v->has_objects = true;
	if (lb_reserve(v->told, v->told_room, v->n_told + 1))
		v->told[v->n_told++] = *pointer;
	return v->fn(v->context, pointer);
}

/* Names that are the implementation's, as of a container's members in libc++, or of the variables of a loop. */
static bool has_reserved(const char *expression)
{
	return strncmp(expression, "__", 2) == 0 || strstr(expression, ".__") || strstr(expression, ">__") ||
	       strstr(expression, "._M_") || strstr(expression, ">_M_");
}

/* Whether it has been told, perhaps as what it is within: `w` of w.t_; or is no user's. */
static bool is_told(const struct variables *v, const struct lbx_pointer *pointer)
{
	const char *expression = pointer->expression;

	for (size_t i = 0; i < v->n_told; i++) {
		const struct lbx_pointer *t = &v->told[i];
		size_t n = strlen(t->expression);
		if (strncmp(t->expression, expression, n) == 0 &&
		    (!expression[n] || (strchr(".-[", expression[n]) && t->value == pointer->value)))
			return true;
	}
	return v->has_objects && has_reserved(expression);
}

static bool take(void *context, const struct lbx_pointer *pointer)
{
	struct variables *v = context;

	if (v->n < MAX_POINTEES && pointer->value && !strpbrk(pointer->expression, ".["))
		v->first[v->n++] = *pointer;
	return is_told(v, pointer) || v->fn(v->context, pointer);
}

static bool take_member(void *context, const struct lbx_pointer *pointer)
{
	struct variables *v = context;

	return is_told(v, pointer) || v->fn(v->context, pointer);
}

/* What gdb sees. False: not known yet. */
static bool ask_pointers(int level, struct variables *v)
{
	const char *arguments, *locals, *pointee;
	bool known = lbx_bridge_ask(&arguments, LBX_ANYWHERE, LBX_INDEXED "frame apply level %d -q info args", level);

	known &= lbx_bridge_ask(&locals, LBX_ANYWHERE, LBX_INDEXED "frame apply level %d -q info locals", level);
	if (!known)
		return false;
	bool more = lbx_variables_parse(arguments, true, take, v) && lbx_variables_parse(locals, false, take, v);
	for (int i = 0; i < v->n && more; i++) {
		const struct lbx_pointer *p = &v->first[i];
		if (lbx_bridge_ask(&pointee, LBX_ANYWHERE, LBX_INDEXED "frame apply level %d -q output *%s", level,
				   p->expression))
			more = lbx_variables_parse_pointee(pointee, p->expression, p->is_argument, take_member, v);
	}
	return true;
}

/* What debug information tells. If it lacks something, what gdb sees besides, where it has symbols: front ends are told of
 * settings that change for that, and it takes time. */
static bool pointers(struct lbx_stacks *stacks, const struct lbx_frame *frame, lbx_pointer_fn *fn, void *context,
		     struct lbx_variables_told *ret)
{
	struct variables v = { .fn = fn, .context = context, .n = 0 };
	struct lbx_source_line place;
	bool is_whole;

	if (ret)
		*ret = (struct lbx_variables_told){ .cut = 0 };
	if (!lbx_objects_gdb_are_known(frame->level))
		return false;
	bool more = lbx_objects_gdb_pointers(frame->level, take_object, &v, &is_whole, ret);
	bool is_gdbs = more && !is_whole && line(stacks, frame, &place) && place.file[0];
	bool known = !is_gdbs || ask_pointers(frame->level, &v);
	free(v.told);
	return known;
}

int lbx_stacks_gdb_own_level(const char *frames, const char *libraries)
{
	struct lbx_libraries known = { 0 };
	struct lbx_source_line line;
	struct lbx_frame frame;
	uint64_t ours = 0;
	int level = 0;

	lbx_libraries_add_shown(&known, libraries);
	for (; *frames && level == 0; frames += strcspn(frames, "\n"), frames += *frames == '\n') {
		if (!parse_frame(frames, &frame, &line))
			continue;
		if (!ours)
			ours = frame.pc;
		if (lbx_is_own_frame(&(struct lbx_told_frame){ frame.pc, line.function, line.file[0] }, &known, ours))
			level = frame.level;
	}
	lbx_libraries_clear(&known);
	return level;
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
	.statics = lbx_objects_gdb_statics,
	.evaluate = lbx_objects_gdb_evaluate,
	.within = lbx_objects_gdb_within,
	.elsewhere = lbx_objects_gdb_elsewhere,
	.destroy = destroy,
};

struct lbx_stacks *lbx_stacks_gdb(void)
{
	gdb.stacks.ops = &ops;
	return &gdb.stacks;
}

/* ---- of all threads ---- */

/* What gdb has told of the thread that was walked last: the line of its frame 0, and those after it. */
static struct all_stacks {
	struct lbx_stacks stacks;
	const char *frames;
} all;

/* One question for all of them. A thread that runs has an error in the place of its frames. */
static bool ask_all(const char **ret)
{
	return lbx_bridge_ask(ret, LBX_ANYWHERE,
			      LBX_PLAINLY "with backtrace limit unlimited -- thread apply all -c -- bt " BRIEFLY "%#x",
			      (unsigned)LBX_FRAMES_MAX);
}

static const char *next_line(const char *at)
{
	at += strcspn(at, "\n");
	return at + (*at == '\n');
}

/* By their DWARF numbers, as struct lbx_machine has them. */
#if defined __x86_64__
#define REGISTERS "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15"
#elif defined __aarch64__
#define REGISTERS \
	"x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x20 x21 x22 x23 x24 x25 " \
	"x26 x27 x28 x29 x30 sp"
#else
#define REGISTERS ""
#endif

/* Those of their innermost frames, each behind the frame's own line. */
static bool ask_registers(const char **ret)
{
	return lbx_bridge_ask(ret, LBX_ANYWHERE,
			      LBX_PLAINLY WITH_PLACE
			      "thread apply all -c -- frame apply %d -c -- info registers " REGISTERS,
			      REGISTER_FRAMES);
}

/* "rbx            0x7fff…            1407…": the register's DWARF number, or -1. */
static int parse_register(const char *line, uint64_t *ret)
{
	size_t n = strcspn(line, " \n");
	int i = 0;

	for (const char *name = REGISTERS; *name; name += strspn(name, " "), i++) {
		size_t length = strcspn(name, " ");
		const char *value = line + n + strspn(line + n, " ");
		if (length == n && strncmp(name, line, n) == 0 && strncmp(value, "0x", 2) == 0) {
			*ret = strtoull(value, NULL, 16);
			return i;
		}
		name += length;
	}
	return -1;
}

const char *lbx_stacks_gdb_registers(void)
{
	return REGISTERS;
}

/* Of a frame that has called another one only those are right which the other had to preserve. */
static void take_register(const char *line, struct lbx_frame *frame)
{
	struct lbx_registers *r = &frame->registers;
	const struct lbx_machine *machine = lbx_machine(LBX_MACHINE);
	uint64_t value;
	int i = machine ? parse_register(line, &value) : -1;

	if (i < 0 || i >= machine->n ||
	    (frame->level > 0 && i != machine->stack_pointer && !(machine->preserved >> i & 1)))
		return;
	r->machine = machine;
	r->pc = frame->pc;
	r->known |= 1U << i;
	r->r[i] = value;
}

bool lbx_stacks_gdb_take_registers(const char *answer, struct lbx_frame *ret)
{
	for (const char *at = answer; *at; at = next_line(at))
		if (strncmp(at, "pc ", 3) == 0)
			ret->pc = strtoull(at + 3, NULL, 0);
	for (const char *at = answer; *at; at = next_line(at))
		take_register(at, ret);
	return ret->pc != 0;
}

/* The stack pointer before a call is what it is in the frame that has called. */
static void take_registers(const char *at, const char *end, struct lbx_stack *stack)
{
	struct lbx_frame found, *frame = NULL;
	struct lbx_source_line unused;

	for (; *at && at != end; at = next_line(at)) {
		if (*at != '#') {
			if (frame)
				take_register(at, frame);
			continue;
		}
		frame = NULL;
		for (int i = 0; parse_frame(at, &found, &unused) && i < stack->n && !frame; i++)
			if (stack->frames[i].level == found.level && stack->frames[i].pc == found.pc)
				frame = &stack->frames[i];
	}
	for (int i = 0; i + 1 < stack->n; i++)
		if (stack->frames[i + 1].level != stack->frames[i].level + 1 ||
		    !lbx_stack_pointer(&stack->frames[i + 1].registers, &stack->frames[i].cfa))
			stack->frames[i].cfa = 0;
}

/* "Thread 2 (Thread 0x7ff… (LWP 4712) "name"):", then its frames: the next such line at or after `at`, or NULL. */
static const char *find_thread(const char *at, uint64_t *ret)
{
	char line[256];

	for (; *at; at += *at == '\n') {
		size_t n = strcspn(at, "\n");
		snprintf(line, sizeof line, "%.*s", (int)(n < sizeof line ? n : sizeof line - 1), at);
		if (strncmp(line, "Thread ", 7) == 0 && n > 2 && strncmp(at + n - 2, "):", 2) == 0) {
			*ret = lbx_stacks_gdb_thread_in(line);
			return at;
		}
		at += n;
	}
	return NULL;
}

static const char *find_that(const char *at, uint64_t tid)
{
	uint64_t found;

	while ((at = find_thread(at, &found)) && found != tid)
		at = next_line(at);
	return at;
}

static int threads_of_all(struct lbx_stacks *stacks, uint64_t *tids, int max)
{
	const char *at, *registers;
	int n = 0;

	(void)stacks;
	bool known = ask_all(&at);
	if (!ask_registers(&registers) || !known)
		return -1;
	for (uint64_t tid; (at = find_thread(at, &tid)); at = next_line(at), n++)
		if (n < max)
			tids[n] = tid;
	return n;
}

/* What is said behind the last frame: "(More stack frames follow...)", "Backtrace stopped: …", an error. */
static void take_end(const char *line, struct lbx_stack *ret)
{
	size_t n = strcspn(line, "\n");

	if (strncmp(line, "(More stack frames follow", 25) == 0)
		ret->cut = true;
	else if (n && !ret->end[0])
		snprintf(ret->end, sizeof ret->end, "%.*s", (int)(n < sizeof ret->end ? n : sizeof ret->end - 1), line);
}

static bool walk_of_all(struct lbx_stacks *stacks, uint64_t tid, int max, int tail, struct lbx_stack *ret)
{
	struct lbx_source_line unused;
	const char *at, *end, *registers;
	uint64_t next;

	(void)stacks;
	(void)tail;
	memset(ret, 0, sizeof *ret);
	bool known = ask_all(&at);
	if (!ask_registers(&registers) || !known)
		return false;
	at = find_that(at, tid);
	if (!at)
		return lb_fail("gdb knows no thread %llu", (unsigned long long)tid);
	max = max < LBX_FRAMES_MAX ? max : LBX_FRAMES_MAX;
	ret->frames = calloc((size_t)max + 1, sizeof *ret->frames);
	if (!ret->frames)
		return lb_fail("out of memory");
	all.frames = at = next_line(at);
	end = find_thread(at, &next);
	for (; *at && at != end; at = next_line(at)) {
		if (ret->n == max)
			ret->cut = true;
		else if (parse_frame(at, &ret->frames[ret->n], &unused))
			ret->n++;
		else if (*at != '#') /* "#4  <signal handler called>" */
			take_end(at, ret);
	}
	if ((registers = find_that(registers, tid)))
		take_registers(next_line(registers), find_thread(next_line(registers), &next), ret);
	return true;
}

static bool line_of_all(struct lbx_stacks *stacks, const struct lbx_frame *frame, struct lbx_source_line *ret)
{
	struct lbx_frame found;

	(void)stacks;
	for (const char *at = all.frames; at && *at == '#'; at = next_line(at))
		if (parse_frame(at, &found, ret) && found.level == frame->level) {
			if (strcmp(ret->function, "??") == 0)
				ret->function[0] = '\0';
			return ret->function[0] || ret->file[0];
		}
	memset(ret, 0, sizeof *ret);
	return false;
}

/* Of variables nothing is known. */
static bool pointers_of_all(struct lbx_stacks *stacks, const struct lbx_frame *frame, lbx_pointer_fn *fn, void *context,
			    struct lbx_variables_told *ret)
{
	(void)stacks, (void)frame, (void)fn, (void)context;
	if (ret)
		*ret = (struct lbx_variables_told){ .cut = 0 };
	return false;
}

static const struct lbx_stacks_ops ops_of_all = {
	.all_threads = true,
	.threads = threads_of_all,
	.death = death,
	.walk = walk_of_all,
	.line = line_of_all,
	.pointers = pointers_of_all,
	.destroy = destroy,
};

struct lbx_stacks *lbx_stacks_gdb_all(void)
{
	all.stacks.ops = &ops_of_all;
	all.frames = NULL;
	return &all.stacks;
}
