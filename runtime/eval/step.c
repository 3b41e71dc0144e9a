/* In step mode a schedule runs through machine code with one call an op (code.c), so that the
 * calls have addresses: a debugger's reader maps each to a line of the graph's listing, and the
 * evaluation is a function like any other to it.
 *
 * A graph is what its listing says (listing.c): ops, dtypes, shapes, names, and the calls of the
 * program that made them. Equal listings are one graph, with one number, one piece of code and
 * one JIT entry; so a loop that builds the same graph again and again tells a debugger of it
 * once, and a breakpoint on its line 4 stops in each round. Any number of threads may run one
 * graph's code at once: what differs is on their stacks.
 *
 * At most GRAPHS_MOST are kept, and BYTES_MOST of listings and code; then the one that was used
 * least recently goes, unless it is running. A debugger may have breakpoints in its code, and gives
 * up their places, with what it had found there, only when it hears of the next graph (jit.h). So
 * the pages rest till then, as they are, and serve the graph after that. */
#include "eval/step.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval/code.h"
#include "eval/eval.h"
#include "eval/listing.h"
#include "memory/thread.h"
#include "probes.h"
#include "publish/jit.h"

enum { GRAPHS_MOST = 256, BYTES_MOST = 64 << 20 };

struct graph {
	struct lb_graph_record *record;
	struct lb_listing *listing;
	uint64_t *tensors; /* one a line, one an input; NULL of a trace, like the code */
	lb_code *code;
	size_t capacity;   /* of the code's pages */
	struct lb_jit_entry *entry;
	uint64_t hash;
	uint64_t used;     /* when, by the count of runs */
	struct graph *next; /* of those that are retired */
};

static struct {
	pthread_mutex_t lock;
	int n;
	struct graph *v[GRAPHS_MOST];
	uint64_t last, runs;
	size_t bytes;
	struct graph *resting, *rested; /* retired: before and after a debugger gave up their code */
} graphs = { .lock = PTHREAD_MUTEX_INITIALIZER };

void lb_step_lock(void)
{
	pthread_mutex_lock(&graphs.lock);
}

void lb_step_unlock(void)
{
	pthread_mutex_unlock(&graphs.lock);
}

/* ---- the graphs that are kept; all with the lock held ---- */

static uint64_t hash_of(const void *bytes, size_t n)
{
	uint64_t hash = 0xcbf29ce484222325ULL, word = 0;
	for (size_t i = 0; i < n; i += sizeof word) {
		word = 0;
		memcpy(&word, (const char *)bytes + i, n - i < sizeof word ? n - i : sizeof word);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 32;
	}
	return hash;
}

static size_t tensors_bytes(const struct lb_listing *listing)
{
	return ((size_t)listing->n_lines + listing->n_inputs) * sizeof(uint64_t);
}

static size_t bytes_of(const struct graph *g)
{
	return g->capacity + g->listing->size + (g->tensors ? tensors_bytes(g->listing) : 0);
}

/* What a graph with this listing will take. */
static size_t bytes_with_code(const struct lb_listing *listing)
{
	return lb_code_bytes(listing->n_calls) + listing->size + tensors_bytes(listing);
}

static struct graph *find_graph(const struct lb_listing *listing, uint64_t hash)
{
	for (int i = 0; i < graphs.n; i++) {
		struct graph *g = graphs.v[i];
		if (g->hash == hash && g->listing->size == listing->size &&
		    memcmp(g->listing, listing, listing->size) == 0)
			return g;
	}
	return NULL;
}

/* The idle graph that was used least recently; -1 if all run. */
static int oldest(void)
{
	int found = -1;
	for (int i = 0; i < graphs.n; i++) {
		const struct graph *g = graphs.v[i];
		if (!g->record->running && (found < 0 || g->used < graphs.v[found]->used))
			found = i;
	}
	return found;
}

static void destroy(struct graph *g)
{
	if (!g)
		return;
	lb_code_free(g->code, g->capacity);
	free(g->listing);
	free(g->tensors);
	free(g);
}

static void unpublish(struct graph *g)
{
	lb_record_begin(&g->record->seq);
	g->record->id = g->record->listing = g->record->code = g->record->tensors = 0;
	lb_record_end(&g->record->seq);
	lb_slab_give(LB_KIND_GRAPH, &lb_self_pointer->magazines[LB_KIND_GRAPH], g->record);
}

/* Takes graph i out of the list, and away from debuggers. */
static void retire(int i)
{
	struct graph *g = graphs.v[i];
	graphs.bytes -= bytes_of(g);
	graphs.v[i] = graphs.v[--graphs.n];
	lb_jit_remove(g->entry);
	unpublish(g);
	if (!g->code) { /* no debugger has a place in it */
		destroy(g);
		return;
	}
	g->next = graphs.resting;
	graphs.resting = g;
}

/* A debugger has heard of a graph since these were retired. */
static void end_rest(void)
{
	struct graph **last = &graphs.rested;
	while (*last)
		last = &(*last)->next;
	*last = graphs.resting;
	graphs.resting = NULL;
}

static void destroy_rested(void)
{
	for (struct graph *g; (g = graphs.rested);) {
		graphs.rested = g->next;
		destroy(g);
	}
}

/* False: there is no room. */
static bool make_room(size_t bytes)
{
	while (graphs.n == GRAPHS_MOST || (graphs.n && graphs.bytes + bytes > BYTES_MOST)) {
		int i = oldest();
		if (i < 0)
			return graphs.n < GRAPHS_MOST;
		retire(i);
	}
	return true;
}

static bool publish(struct graph *g)
{
	struct lb_self *self = lb_self_pointer;
	struct lb_graph_record *r = lb_slab_take(LB_KIND_GRAPH, &self->magazines[LB_KIND_GRAPH], true);
	if (!r)
		return false;
	g->record = r;
	lb_record_begin(&r->seq);
	r->generation++;
	r->id = ++graphs.last;
	r->listing = (uint64_t)(uintptr_t)g->listing;
	r->code = (uint64_t)(uintptr_t)g->code;
	r->code_bytes = g->code ? lb_code_bytes(g->listing->n_calls) : 0;
	r->tensors = (uint64_t)(uintptr_t)g->tensors;
	r->runs = r->running = 0;
	lb_record_end(&r->seq);
	if (g->code)
		g->entry = lb_jit_add(r);
	if (g->code && !g->entry) {
		unpublish(g);
		return false;
	}
	graphs.v[graphs.n++] = g;
	graphs.bytes += bytes_of(g);
	if (g->code)
		end_rest();
	return true;
}

/* The pages of a graph that is gone, if there is one, serve the new one. */
static lb_code *make_code(uint32_t n, size_t *capacity)
{
	struct graph *old = graphs.rested;
	lb_code *code = NULL;
	if (old && old->code) {
		*capacity = old->capacity;
		code = lb_code_remake(old->code, old->capacity, n);
		old->code = NULL;
	}
	destroy_rested();
	return code ? code : lb_code_make(n, capacity);
}

static struct graph *make(struct lb_listed *listed, uint64_t hash)
{
	const struct lb_listing *listing = listed->listing;
	bool room = make_room(bytes_with_code(listing));
	struct graph *g = room ? calloc(1, sizeof *g) : NULL;
	if (g) {
		g->hash = hash;
		g->listing = malloc(listing->size);
		g->tensors = malloc(tensors_bytes(listing));
		g->code = make_code(listing->n_calls, &g->capacity);
	}
	if (g && g->listing)
		memcpy(g->listing, listing, listing->size);
	if (g && g->listing && g->tensors && g->code && publish(g))
		return g;
	if (!room)
		snprintf(listed->refusal, sizeof listed->refusal, "%d graphs are under way at once", GRAPHS_MOST);
	else if (g && !g->code)
		snprintf(listed->refusal, sizeof listed->refusal, "cannot get memory for code: %s", strerror(errno));
	destroy(g);
	return NULL;
}

void lb_step_keep(struct lb_listing *listing)
{
	uint64_t hash = hash_of(listing, listing->size);
	bool clean = lb_ok();

	lb_step_lock();
	struct graph *g = find_graph(listing, hash) ? NULL : calloc(1, sizeof *g);
	if (g) {
		*g = (struct graph){ .listing = listing, .hash = hash, .used = ++graphs.runs };
		listing = NULL;
		if (!make_room(g->listing->size) || !publish(g))
			destroy(g);
	}
	lb_step_unlock();
	free(listing);
	if (clean)
		lb_clear_error();
}

/* ---- a run ---- */

static struct graph *enter(struct lb_listed *listed)
{
	uint64_t hash = hash_of(listed->listing, listed->listing->size);
	lb_step_lock();
	struct graph *g = find_graph(listed->listing, hash);
	if (!g)
		g = make(listed, hash);
	if (g) {
		g->used = ++graphs.runs;
		g->record->runs++;
		g->record->running++;
		memcpy(g->tensors, listed->tensors, tensors_bytes(g->listing));
	}
	lb_step_unlock();
	return g;
}

static void leave(struct graph *g)
{
	lb_step_lock();
	g->record->running--;
	lb_step_unlock();
}

struct stepping {
	struct lb_code_frame frame; /* first: the code gets its address */
	struct lb_run *run;
	struct lb_thread *record;
	const struct lb_call *calls;
	struct lb_under_way under_way;
	void *registers[LB_FUSE_REGS];
};

static int run_call(struct lb_code_frame *frame, uint32_t number)
{
	struct stepping *s = (struct stepping *)frame;
	const struct lb_call *call = &s->calls[number];

	s->record->line = call->line;
	return call->insn < 0
		   ? lb_run_group(s->run, call->step, s->record)
		   : lb_run_group_insn(s->run, call->step, call->insn, s->record, &s->under_way, s->registers);
}

static void note_unstepped(const char *why)
{
	lb_step_lock();
	lb_note_unstepped(why);
	lb_step_unlock();
}

bool lb_step_through(struct lb_run *run, struct lb_thread *record, bool *ok)
{
	struct stepping s = { .frame = { run_call }, .run = run, .record = record };
	struct lb_listed listed;
	bool clean = lb_ok();

	if (run->schedule.n == 0)
		return false;
	if (!lb_code_known()) {
		note_unstepped("step mode does not support this processor");
		return false;
	}
	bool apart = run->step == LB_STEP_OPS;
	struct graph *g = lb_listing_build(&run->schedule, apart, &listed) ? enter(&listed) : NULL;
	if (!g) {
		note_unstepped(listed.refusal[0] ? listed.refusal : "out of memory");
		if (clean)
			lb_clear_error();
		return false;
	}
	s.calls = listed.calls;
	run->stepped = g;
	struct lb_thread outer = *record;
	record->line = 0;
	record->tensors = (uint64_t)(uintptr_t)listed.tensors;
	record->graph = g->record->id;
	lb_probe_graph_start(g->record->id, (uint64_t)(uintptr_t)g->code + lb_code_offset(0), run->schedule.eval,
			     g->listing->n_lines);
	*ok = g->code(&s.frame) != 0;
	record->graph = outer.graph;
	record->line = outer.line;
	record->tensors = outer.tensors;
	run->stepped = NULL;
	leave(g);
	return true;
}

void lb_step_after_fork(void)
{
	for (int i = 0; i < graphs.n; i++)
		graphs.v[i]->record->running = 0;
	for (const struct lb_run *run = lb_innermost_run; run; run = run->outer)
		if (run->stepped)
			((struct graph *)run->stepped)->record->running++;
	lb_step_unlock();
}

/* ---- the switch ---- */

lb_step_mode lb_set_step_mode(lb_step_mode mode)
{
	LB_ENTER();
	(void)site;
	lb_step_mode before = (lb_step_mode)lb_step_wanted();
	if (mode < LB_STEP_OFF || mode > LB_STEP_FUSED) {
		lb_fail("set_step_mode: there is no mode %d", (int)mode);
		return before;
	}
	if (!lb_self())
		return before;
	__atomic_store_n(&lb_root->step, (uint32_t)mode, __ATOMIC_RELAXED);
	lb_step_lock();
	for (int i = graphs.n; mode == LB_STEP_OFF && i-- > 0;) {
		if (!graphs.v[i]->record->running)
			retire(i);
	}
	if (mode == LB_STEP_OFF) {
		if (graphs.resting)
			lb_jit_settle();
		end_rest();
		destroy_rested();
	}
	lb_step_unlock();
	return before;
}
