/* A thread of a stream is told by the function that it has begun with, one that waits by the library's that it has called: all by
 * the names of frames. What a task computes for it does not say: it holds copies of arrays, which lead to no other one. */
#include "mlx/streams.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
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

static bool is_mlxs(const struct lbx_mlx_set *s, uint64_t pc)
{
	int at = lbx_loaded_at(s->modules, s->n_modules, pc);

	return at >= 0 && lbx_mlx_is_library(lbx_mlx_set_target(s), &s->modules[at]);
}

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

	if (!is_mlxs(t->set, lbx_frame_code(frame))) {
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

/* ---- the queue of a stream ---- */

/* A std::deque of std::function: where its list of blocks is, how many these are, and its first and last element, each by
 * address, its block, the end of that, and where the list has it. */
enum { LIST, BLOCKS, FIRST, LAST = FIRST + 4, QUEUE = LAST + 4, TASK = 32, BLOCK = 512, OBJECT = 64 };
enum { AT, BEGIN, END, NODE };

static bool is_end(const uint64_t *end, const uint64_t *queue)
{
	return end[END] - end[BEGIN] == BLOCK && end[AT] >= end[BEGIN] && end[AT] < end[END] &&
	       (end[AT] - end[BEGIN]) % TASK == 0 && end[NODE] >= queue[LIST] && end[NODE] % WORD == 0 &&
	       (end[NODE] - queue[LIST]) / WORD < queue[BLOCKS];
}

static bool is_queue(struct lbx_target *now, const uint64_t *queue, int64_t *ret)
{
	const uint64_t *first = queue + FIRST, *last = queue + LAST;
	uint64_t begin, end;

	if (!queue[LIST] || queue[BLOCKS] - 1 >= 1 << 20 || !is_end(first, queue) || !is_end(last, queue) ||
	    last[NODE] < first[NODE] || !lbx_target_try_read(now, first[NODE], &begin, sizeof begin) ||
	    !lbx_target_try_read(now, last[NODE], &end, sizeof end) || begin != first[BEGIN] || end != last[BEGIN])
		return false;
	*ret = (int64_t)((last[NODE] - first[NODE]) / WORD * (BLOCK / TASK)) +
	       ((int64_t)(last[AT] - last[BEGIN]) - (int64_t)(first[AT] - first[BEGIN])) / TASK;
	return *ret >= 0;
}

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

/* How many tasks wait; -1: not known. */
static int64_t queued(const struct thread *t)
{
	struct lbx_target *now = lbx_target_now(t->set->tensors.target);
	uint64_t object = stream_of(now, t), words[OBJECT];
	int64_t found = -1, n;

	if (!object || !lbx_target_try_read(now, object, words, sizeof words))
		return -1;
	for (int i = 0; i + QUEUE <= OBJECT; i++) {
		if (!is_queue(now, words + i, &n))
			continue;
		if (found >= 0)
			return -1;
		found = n;
	}
	return found;
}

/* ---- what is told ---- */

static void tell_stream(const struct thread *t, struct lbx_work *ret)
{
	int64_t n = queued(t);
	bool is_idle = t->inner < 0 && t->blocks;

	ret->is_stream = true;
	ret->has_queue = n >= 0;
	ret->queued = n >= 0 ? n : 0;
	snprintf(ret->function, sizeof ret->function, "%s", t->inmost);
	ret->doing = is_idle ? LBX_IS_IDLE : t->blocks ? LBX_WAITS : LBX_COMPUTES;
	if (t->inner < 0 && !t->blocks) {
		ret->doing = LBX_IS_WITHIN;
		snprintf(ret->why, sizeof ret->why, "it is between two tasks");
	} else if (ret->doing == LBX_COMPUTES) {
		snprintf(ret->why, sizeof ret->why, "a task of MLX's holds copies of arrays, which do not lead back");
	}
}

/* Of which an evaluation waits, where no more than one has a name. */
static uint64_t under_way(struct lbx_mlx_set *s, uint64_t *ret_n)
{
	struct lbx_target *target = lbx_target_now(s->tensors.target);
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
