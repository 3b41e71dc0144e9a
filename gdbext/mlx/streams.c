/* A thread of a stream is told by the function that it has begun with, one that waits by the library's that it has called: all by
 * the names of frames. */
#include "mlx/streams.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "mlx/tasks.h"
#include "mlx/version.h"
#include "target/cxx_types.h"
#include "target/printable.h"

#define BEGINS "mlx::core::scheduler::StreamThread::thread_fn"
#define STATE "std::thread::_State_impl" /* what std::thread is given */
#define UNNAMED "(anonymous namespace)"

enum { MOST_THREADS = 4096, FRAMES = 256, WORD = 8, WORDS = 4096 };

/* ---- frames ---- */

struct thread {
	struct lbx_mlx_set *set;
	struct lbx_stacks *stacks;
	struct lbx_stack stack;
	int begins; /* the frame that a stream's thread has begun with; -1: it is none */
	int outer, inner; /* of the library's frames; -1: there is none */
	char inmost[LBX_WORK_TEXT],
	    outmost[LBX_WORK_TEXT]; /* names of those with one, within where the thread begins */
	bool blocks; /* within the innermost of the library's it waits */
};

static bool is_of(const char *name, const char *begins)
{
	return strncmp(name, begins, strlen(begins)) == 0;
}

/* A debugger tells what a function gives and takes, too. */
static void tidy(const char *function, char ret[LBX_WORK_TEXT])
{
	size_t n = 0;
	int depth = 0;

	for (const char *c = function; *c && n + 1 < LBX_WORK_TEXT; c++) {
		if (depth == 0 && is_of(c, UNNAMED)) {
			if (n + sizeof UNNAMED > LBX_WORK_TEXT)
				break;
			memcpy(ret + n, UNNAMED, sizeof UNNAMED - 1);
			n += sizeof UNNAMED - 1;
			c += sizeof UNNAMED - 2;
			continue;
		}
		if (depth == 0 && *c == '(')
			break;
		depth += (*c == '<') - (*c == '>');
		if (depth == 0 && *c == ' ')
			n = 0;
		else
			ret[n++] = *c;
	}
	ret[n] = '\0';
}

static bool is_wait(const char *function)
{
	const char *name = function + strspn(function, "_");

	return is_of(name, "pthread_cond_") || is_of(name, "futex_") || is_of(name, "lll_lock_wait");
}

/* From the innermost frame on. */
static void look_at(struct thread *t, int i)
{
	const struct lbx_frame *frame = &t->stack.frames[i];
	struct lbx_source_line line = { .function = "" };
	bool is_named = t->stacks->ops->line(t->stacks, frame, &line) && line.function[0];

	if (!lbx_mlx_is_code(t->set, lbx_frame_code(frame))) {
		t->blocks |= t->inner < 0 && is_named && is_wait(line.function);
		return;
	}
	if (is_named && is_of(line.function, BEGINS)) {
		t->begins = i;
		return;
	}
	if (t->inner < 0)
		t->inner = i;
	t->outer = i;
	if (!is_named || is_of(line.function, "std::_Function_handler"))
		return;
	tidy(line.function, t->outmost);
	if (!t->inmost[0])
		memcpy(t->inmost, t->outmost, sizeof t->inmost);
}

/* ---- its queue ---- */

/* The object that the thread runs is what std::thread was given, which lies on its stack. */
static uint64_t stream_of(struct lbx_target *now, const struct thread *t)
{
	const struct lbx_stack *stack = &t->stack;
	uint64_t words[WORDS], object[2], type, from = 0, to = 0;
	char name[LBX_CXX_NAME];

	if (t->begins < 1 || !(from = stack->frames[t->begins - 1].cfa))
		return 0;
	for (int i = t->begins; i < stack->n; i++)
		to = stack->frames[i].cfa > to ? stack->frames[i].cfa : to;
	if (to <= from || from % WORD || (to - from) / WORD > WORDS ||
	    !lbx_target_try_read(now, from, words, (to - from) / WORD * WORD))
		return 0;
	for (size_t i = 0; i < (to - from) / WORD; i++)
		if (words[i] && words[i] % WORD == 0 && lbx_target_try_read(now, words[i], object, sizeof object) &&
		    object[0] % WORD == 0 && lbx_cxx_type_of(now, object[0], &type) &&
		    lbx_cxx_type_name(now, type, name) && is_of(name, STATE))
			return object[1];
	return 0;
}

/* ---- what is told ---- */

static void tell_stream(const struct thread *t, struct lbx_work *ret)
{
	struct lbx_target *target = lbx_mlx_set_target(t->set);
	const struct lbx_frame *frames = t->stack.frames;
	struct lbx_mlx_queue queue;
	bool is_idle = t->inner < 0 && t->blocks;

	lbx_mlx_queue_read(target, stream_of(target, t), &queue);
	ret->is_stream = true;
	ret->has_queue = queue.n >= 0;
	ret->queued = queue.n >= 0 ? queue.n : 0;
	snprintf(ret->function, sizeof ret->function, "%s", t->inmost);
	ret->doing = is_idle ? LBX_IS_IDLE : t->blocks ? LBX_WAITS : LBX_COMPUTES;
	if (t->inner < 0 && !t->blocks) {
		ret->doing = LBX_IS_WITHIN;
		snprintf(ret->why, sizeof ret->why, "it is between two tasks");
	} else if (ret->doing == LBX_COMPUTES) {
		/* the task is a variable of the function that the thread has begun with */
		ret->id = lbx_mlx_task_of(t->set, frames[t->begins - 1].cfa, frames[t->begins].cfa, &queue, ret->why);
	}
}

/* Of which an evaluation waits, where no more than one has a name. */
static uint64_t under_way(struct lbx_mlx_set *s, uint64_t *ret_n)
{
	struct lbx_target *target = lbx_mlx_set_target(s);
	struct lbx_mlx_record r;
	uint64_t named = 0, n_named = 0;

	*ret_n = 0;
	for (size_t i = 0; i < s->n; i++) {
		if (!lbx_mlx_record_read(target, &s->classes, s->layout, s->objects[i], &r) ||
		    r.status == LBX_MLX_UNSCHEDULED || !r.event || lbx_mlx_is_available(target, &r))
			continue;
		++*ret_n;
		if (lbx_mlx_node(s, i + 1) == UINT32_MAX)
			continue;
		named = i + 1;
		n_named++;
	}
	return n_named == 1 ? named : 0;
}

static void tell_caller(const struct thread *t, struct lbx_work *ret)
{
	uint64_t n;

	if (t->blocks && is_of(t->outmost, STATE)) { /* it loads files */
		ret->doing = LBX_IS_IDLE;
		return;
	}
	snprintf(ret->call, sizeof ret->call, "%.*s (libmlx)", LBX_WORK_TEXT - 16, t->outmost);
	if (t->outer + 1 < t->stack.n)
		ret->caller = t->stack.frames[t->outer + 1].pc;
	ret->doing = t->blocks ? LBX_WAITS : LBX_IS_WITHIN;
	ret->is_stream = true;
	ret->result = under_way(t->set, &n);
	if (ret->doing == LBX_IS_WITHIN)
		snprintf(ret->why, sizeof ret->why, "it hands tasks to streams, or is within the library otherwise");
	else if (!ret->result && n)
		snprintf(ret->why, sizeof ret->why, "%llu array%s being computed", (unsigned long long)n,
			 LB_PLURAL(n, " is", "s are"));
	snprintf(ret->function, sizeof ret->function, "%s", t->inmost);
}

/* False: it has nothing to do with MLX. */
static bool tell(struct thread *t, uint64_t tid, struct lbx_work *ret)
{
	if (!t->stacks->ops->walk(t->stacks, tid, FRAMES, 8, &t->stack))
		return false;
	t->begins = t->outer = t->inner = -1;
	for (int i = 0; i < t->stack.n && t->begins < 0; i++)
		look_at(t, i);
	*ret = (struct lbx_work){ .of = &t->set->tensors, .thread = tid };
	lbx_make_printable(t->inmost);
	lbx_make_printable(t->outmost);
	bool is_one = t->begins >= 0 || (t->outer >= 0 && t->outmost[0]);
	if (is_one)
		(t->begins >= 0 ? tell_stream : tell_caller)(t, ret);
	lbx_stack_release(&t->stack);
	return is_one;
}

bool lbx_mlx_work(struct lbx_tensors *tensors, struct lbx_stacks *stacks, uint64_t *slot, struct lbx_work *ret)
{
	uint64_t tids[MOST_THREADS];
	bool clean = lb_ok(), found = false;
	int n = stacks ? stacks->ops->threads(stacks, tids, MOST_THREADS) : 0;

	n = n > MOST_THREADS ? MOST_THREADS : n;
	while (!found && *slot < (uint64_t)(n > 0 ? n : 0)) {
		struct thread t = { .set = lbx_mlx_set_of(tensors), .stacks = stacks };
		found = tell(&t, tids[(*slot)++], ret);
		if (clean && !lbx_target_waits(tensors->target))
			lb_clear_error();
	}
	return found;
}
