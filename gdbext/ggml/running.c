/* Who computes a graph, or is about to, has a frame in ggml, or in a library that makes graphs of it, such as libllama:
 * that is what the stacks tell, by their frames alone, since what else lies in a stack may be left from an earlier call.
 * The program's own code is not looked at: it is always within itself.
 *
 * ggml's workers have nothing but ggml's frames. They compute for a thread that waits for them in ggml, so they
 * need not be looked at.
 *
 * Where ggml is part of the program itself, its frames are told by their functions' names.
 *
 * An add-on, or a server in one library, has ggml among code of its own. There who waits for work to come is not within
 * ggml, unless a function of ggml's, or of a library with it, has called that: those are exported, and so have names. */
#include "ggml/running.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "ggml/message.h"
#include "ggml/seen.h"
#include "target/demangle.h"
#include "target/printable.h"

enum { MAX_THREADS = 4096, FRAME_MAX = 1 << 16, WORDS_MAX = 1 << 23 /* of all threads: those of a real one are few */ };

struct search {
	struct lbx_ggml_modules modules;
	struct lbx_ggml_running *ret;
	size_t n_words; /* that tellers hold */
};

__attribute__((format(printf, 2, 3))) static void tell_why(struct search *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(s->ret->why, sizeof s->ret->why, format, args);
	va_end(args);
	lbx_make_printable(s->ret->why);
}

/* The first reason is told. */
static void be_unsure(struct search *s, const char *why)
{
	if (s->ret->doing != LBX_GGML_UNSURE)
		tell_why(s, "%s", why);
	s->ret->doing = LBX_GGML_UNSURE;
}

/* A frame's part of the stack, which begins where that of the frame within it ends: how many bytes; 0: it is not known. */
static size_t measure_frame(const struct lbx_stack *stack, int i, uint64_t *ret_start)
{
	uint64_t end = stack->frames[i].cfa;
	int within = i - 1;

	*ret_start = 0;
	while (within >= 0 && stack->frames[within].is_inlined)
		within--;
	if (within >= 0)
		*ret_start = stack->frames[within].cfa;
	else if (!lbx_stack_pointer(&stack->frames[i].registers, ret_start))
		return 0;
	return *ret_start && end > *ret_start && end - *ret_start <= FRAME_MAX ? (size_t)(end - *ret_start) : 0;
}

/* Of more than there may be none are taken: what runs is not told by a part of them. */
static bool has_room(struct search *s, size_t n)
{
	if (n <= WORDS_MAX - s->n_words)
		return true;
	be_unsure(s, "the frames of ggml's functions hold more than can be looked at");
	return false;
}

/* The words of a frame: its registers as far as they are known, and its part of the stack. */
static bool take_words(struct search *s, const struct lbx_stack *stack, int i, uint64_t **words, size_t *n)
{
	const struct lbx_registers *r = &stack->frames[i].registers;
	uint64_t start, *more;
	size_t slots = measure_frame(stack, i, &start) / sizeof *more;

	if (!has_room(s, LBX_REGISTERS + slots))
		return true;
	size_t before = *n;
	more = realloc(*words, (*n + LBX_REGISTERS + slots) * sizeof *more);
	if (!more)
		return lb_fail("out of memory");
	*words = more;
	for (int k = 0; k < LBX_REGISTERS; k++)
		if (r->known >> k & 1)
			more[(*n)++] = r->r[k];
	if (slots && lbx_target_try_read(s->modules.target, start, more + *n, slots * sizeof *more))
		*n += slots;
	s->n_words += *n - before;
	return true;
}

static bool take_registers(struct search *s, const struct lbx_stack *stack, int n, struct lbx_ggml_teller *ret)
{
	if (!has_room(s, (size_t)n * LBX_REGISTERS))
		return true;
	ret->registers = calloc((size_t)n * LBX_REGISTERS + 1, sizeof *ret->registers);
	if (!ret->registers)
		return lb_fail("out of memory");
	for (int i = 0; i < n; i++)
		for (int k = 0; k < LBX_REGISTERS; k++)
			if (stack->frames[i].registers.known >> k & 1)
				ret->registers[ret->n_registers++] = stack->frames[i].registers.r[k];
	s->n_words += ret->n_registers;
	return true;
}

static bool add_teller(struct search *s, const struct lbx_stack *stack, const struct lbx_ggml_seen *seen)
{
	struct lbx_ggml_running *r = s->ret;
	struct lbx_ggml_teller t = { .n_own = 0 }, *more;

	more = realloc(r->tellers, (size_t)(r->n_tellers + 1) * sizeof *more);
	if (!more)
		return lb_fail("out of memory");
	r->tellers = more;
	memcpy(t.function, seen->function, sizeof t.function);
	t.node = seen->node;
	bool ok = take_words(s, stack, seen->loop, &t.own, &t.n_own);
	for (int i = seen->forward; ok && i < seen->loop; i++)
		ok = take_words(s, stack, i, &t.inner, &t.n_inner);
	ok = ok && take_registers(s, stack, seen->loop, &t);
	r->tellers[r->n_tellers++] = t;
	return ok;
}

/* ---- threads ---- */

static struct lbx_ggml_thread *add_thread(struct search *s, uint64_t tid)
{
	struct lbx_ggml_running *r = s->ret;
	struct lbx_ggml_thread *more = realloc(r->threads, (size_t)(r->n_threads + 1) * sizeof *more);

	if (!more) {
		lb_fail("out of memory");
		return NULL;
	}
	r->threads = more;
	more[r->n_threads] = (struct lbx_ggml_thread){ .tid = tid, .teller = -1 };
	return &more[r->n_threads++];
}

/* What the stack says of the thread itself. */
static bool tell_thread(struct search *s, uint64_t tid, const struct lbx_stack *stack, const struct lbx_ggml_seen *seen)
{
	struct lbx_ggml_thread *t = add_thread(s, tid);
	uint64_t start;

	if (!t)
		return false;
	t->is_worker = seen->is_worker;
	t->computes = seen->computes;
	t->waits = seen->is_at_barrier;
	t->is_idle = seen->is_idle;
	if (seen->function[0])
		snprintf(t->function, sizeof t->function, "ggml_compute_forward_%s", seen->function);
	else
		lbx_demangle(seen->innermost.module >= 0 ? seen->innermost.name : "", t->function, sizeof t->function);
	lbx_make_printable(t->function);
	if (!seen->is_worker) {
		lbx_ggml_describe_location(&s->modules, &seen->outermost, t->call);
		t->caller = seen->caller;
	}
	if (seen->gives_up >= 0) {
		size_t n = measure_frame(stack, seen->gives_up, &start);
		lbx_ggml_find_message(s->modules.target, start, n, t->message, sizeof t->message);
	}
	if (seen->forward < 0 || seen->loop <= seen->forward)
		return true;
	t->teller = s->ret->n_tellers;
	return add_teller(s, stack, seen);
}

static bool fail_thread(struct search *s, uint64_t tid, const char *why)
{
	struct lbx_ggml_thread *t = add_thread(s, tid);

	if (!t)
		return false;
	snprintf(t->why, sizeof t->why, "%s", why);
	lbx_make_printable(t->why);
	return true;
}

/* False only without memory. */
static bool judge(struct search *s, uint64_t tid, const struct lbx_stack *stack)
{
	bool is_whole = stack->n > 0 && !stack->cut && !stack->damaged && !stack->left_out && !stack->end[0];
	struct lbx_ggml_running *r = s->ret;
	char why[LBX_GGML_WHY];
	struct lbx_ggml_seen seen;

	if (stack->n > 0)
		lbx_ggml_asked_take(s->modules.target, tid, &stack->frames[0], &r->asked);
	lbx_ggml_look_at_stack(&s->modules, stack, &seen);
	bool is_within = seen.outermost.module >= 0, counts = is_within && !seen.is_worker;
	bool waits_for_work = counts && !seen.is_of_library && lbx_ggml_waits_for_work(&s->modules, stack);
	seen.is_idle |= is_whole && waits_for_work;
	if (is_within && !tell_thread(s, tid, stack, &seen))
		return false;
	if (counts && !(is_whole && (seen.is_harmless || waits_for_work))) {
		if (r->doing == LBX_GGML_RESTS)
			tell_why(s, "thread %llu is in %s", (unsigned long long)tid, r->threads[r->n_threads - 1].call);
		r->doing = r->doing == LBX_GGML_RESTS && seen.computes ? LBX_GGML_COMPUTES : LBX_GGML_UNSURE;
		return true;
	}
	if (!is_whole)
		snprintf(why, sizeof why, "where thread %llu comes from is not known%s%.120s", (unsigned long long)tid,
			 stack->end[0] ? ": " : "", stack->end);
	else if (seen.is_unnamed)
		snprintf(
		    why, sizeof why,
		    "ggml is part of the program, whose functions have no names: what thread %llu does is not known",
		    (unsigned long long)tid);
	else
		return true;
	be_unsure(s, why);
	return is_within || fail_thread(s, tid, why);
}

static bool look_at_thread(struct search *s, uint64_t tid)
{
	struct lbx_stack stack;
	char why[LBX_GGML_WHY];
	bool clean = lb_ok();

	if (!s->modules.stacks->ops->walk(s->modules.stacks, tid, LBX_FRAMES_MAX, 0, &stack)) {
		snprintf(why, sizeof why, "the stack of thread %llu cannot be read: %.120s", (unsigned long long)tid,
			 lb_error_message());
		if (clean)
			lb_clear_error();
		be_unsure(s, why);
		return fail_thread(s, tid, why);
	}
	bool ok = judge(s, tid, &stack);
	lbx_stack_release(&stack);
	return ok;
}

static bool look_at_threads(struct search *s)
{
	lb_auto_free uint64_t *tids = calloc(MAX_THREADS, sizeof *tids);
	char why[LBX_GGML_WHY];
	bool clean = lb_ok();

	if (!tids)
		return lb_fail("out of memory");
	int n = s->modules.stacks->ops->threads(s->modules.stacks, tids, MAX_THREADS);
	if (n <= 0 || n > MAX_THREADS) {
		if (clean && lb_ok() && lbx_target_waits(s->modules.target))
			return false;
		snprintf(why, sizeof why, "what the program's threads do is not known%s%.150s", lb_ok() ? "" : ": ",
			 lb_ok() ? "" : lb_error_message());
		be_unsure(s, why);
		if (clean)
			lb_clear_error();
		return fail_thread(s, 0, why);
	}
	for (int i = 0; i < n; i++)
		if (!look_at_thread(s, tids[i]))
			return false;
	return !lbx_target_waits(s->modules.target);
}

bool lbx_ggml_running_find(struct lbx_target *target, struct lbx_stacks *stacks, const struct lbx_loaded *modules,
			   int n_modules, const struct lbx_ggml_anchor *anchor, struct lbx_ggml_running *ret)
{
	struct search s = { .ret = ret };

	*ret = (struct lbx_ggml_running){ .doing = LBX_GGML_RESTS };
	if (!stacks || !stacks->ops->all_threads) {
		be_unsure(&s, "what the program's threads do is not known here");
		return true;
	}
	bool ok = lbx_ggml_modules_open(target, stacks, modules, n_modules, anchor, &s.modules) && look_at_threads(&s);
	lbx_ggml_modules_close(&s.modules);
	return ok;
}

void lbx_ggml_running_free(struct lbx_ggml_running *running)
{
	for (int i = 0; i < running->n_tellers; i++) {
		free(running->tellers[i].own);
		free(running->tellers[i].inner);
		free(running->tellers[i].registers);
	}
	free(running->tellers);
	free(running->threads);
	running->tellers = NULL;
	running->threads = NULL;
	running->n_tellers = running->n_threads = 0;
}
