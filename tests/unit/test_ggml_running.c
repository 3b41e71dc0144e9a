/* What threads do with ggml, and how far a graph has been computed, by stacks and memory made by hand. The program is a
 * static one: its functions are known by their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ggml/callback.h"
#include "ggml_seen.h"
#include "tensors/work.h"

enum { POOL = 0x1800, FRAME_BYTES = 1 << 16 };
enum { NODES = 5, FRAMES = 6, THREADS = 2, GRAPH = 3, INDEX = 12, NODE = 13 /* registers */ };

static uint64_t x, nodes[NODES], graph;

/* What a thread's stack holds, the innermost frame first; NULL ends it. */
static struct thread {
	const char *functions[FRAMES];
	uint64_t registers[FRAMES][LBX_REGISTERS];
	const char *end;
	bool cut;
	int deep; /* frames, two times as many, between the second and the third, of which every other one is large */
} threads[THREADS];
static int n_threads;

static int tell_threads(struct lbx_stacks *stacks, uint64_t *tids, int max)
{
	(void)stacks;
	for (int i = 0; i < n_threads && i < max; i++)
		tids[i] = 100 + (uint64_t)i;
	return n_threads;
}

static bool walk(struct lbx_stacks *stacks, uint64_t tid, int max, int tail, struct lbx_stack *ret)
{
	const struct thread *t = &threads[tid - 100];

	(void)stacks, (void)max, (void)tail;
	*ret =
	    (struct lbx_stack){ .cut = t->cut, .frames = calloc((size_t)(FRAMES + 2 * t->deep), sizeof *ret->frames) };
	strcpy(ret->end, t->end ? t->end : "");
	for (int i = 0; i < FRAMES && t->functions[i]; i++) {
		for (int k = 0; i == 2 && k < 2 * t->deep; k++) {
			ret->frames[ret->n] = ret->frames[0];
			ret->frames[ret->n++].cfa = GGML_POOL + POOL + (k % 2 ? FRAME_BYTES : 0);
		}
		struct lbx_frame *f = &ret->frames[ret->n++];
		bool is_ggml = strncmp(t->functions[i], "ggml_", 5) == 0 ||
			       strncmp(t->functions[i], "llama_", 6) == 0 ||
			       strncmp(t->functions[i], "whisper_", 8) == 0 || strcmp(t->functions[i], "main") == 0;
		*f = (struct lbx_frame){ .level = (int)(tid - 100) * FRAMES + i,
					 .pc = is_ggml ? GGML_CODE + 8 : 1,
					 .registers = { .machine = lbx_machine(EM_X86_64), .known = UINT16_MAX } };
		memcpy(f->registers.r, t->registers[i], sizeof f->registers.r);
	}
	return true;
}

static bool line(struct lbx_stacks *stacks, const struct lbx_frame *frame, struct lbx_source_line *ret)
{
	(void)stacks;
	*ret = (struct lbx_source_line){ .line = 0 };
	strcpy(ret->function, threads[frame->level / FRAMES].functions[frame->level % FRAMES]);
	return true;
}

static const struct lbx_stacks_ops ops = { .all_threads = true, .threads = tell_threads, .walk = walk, .line = line };
static struct lbx_stacks stacks = { &ops };

/* x, then ADD, MUL_MAT, CPY, ADD, CONT: the fourth node has the memory of the first. */
static void make(bool exports, uint64_t pool)
{
	static const uint32_t op[NODES] = { GGML_ADD, GGML_MUL_MAT, GGML_CPY, GGML_ADD, GGML_CONT };

	ggml_begin(exports, pool, 0x1400);
	x = ggml_tensor("x", GGML_F32, NE(4, 4, 1, 1));
	for (int i = 0; i < NODES; i++) {
		char name[3] = { 'n', (char)('0' + i) };
		nodes[i] = ggml_node(name, op[i], NE(4, 4, 1, 1), i ? nodes[i - 1] : x, x);
	}
	uint64_t data = image.layout.data;
	ggml_image_put(&image, nodes[3] + data, ggml_image_get(&image, nodes[0] + data, 8), 8);
	graph = ggml_graph(nodes, NODES);
	memset(threads, 0, sizeof threads);
	n_threads = 1;
}

static int start(void **state)
{
	(void)state;
	make(false, POOL);
	return 0;
}

/* With names of ggml's functions. */
static int start_exported(void **state)
{
	(void)state;
	make(true, POOL);
	return 0;
}

static void call(int thread, const char *const *functions)
{
	for (int i = 0; i < FRAMES; i++)
		threads[thread].functions[i] = *functions ? *functions++ : NULL;
}

#define CALL(thread, ...) call(thread, (const char *const[]){ __VA_ARGS__, NULL })

/* Thread `i` computes the node at a place. */
static void compute(int thread, const char *function, uint64_t at)
{
	CALL(thread, "kernel", function, "ggml_graph_compute_thread", "ggml_graph_compute", "main");
	threads[thread].registers[1][NODE] = nodes[at];
	threads[thread].registers[2][GRAPH] = graph;
	threads[thread].registers[2][INDEX] = at;
}

static void states_are(const char *expected)
{
	struct lbx_tensor t;
	char found[256] = "";
	uint64_t slot = 0, bad = 0;

	ggml_see(&stacks);
	while (lbx_tensors_next(set, &slot, &t, &bad) == LBX_NEXT_TENSOR)
		sprintf(found + strlen(found), "%s%s", *found ? ", " : "", lbx_state_name(lbx_told_state(&t)));
	assert_string_equal(found, expected);
	assert_int_equal(bad, 0);
	assert_true(lb_ok());
}

static void reason_is(const char *expected)
{
	struct lbx_tensor t;
	char why[256];

	states_are("ready, unsure, unsure, unsure, unsure, unsure");
	assert_true(lbx_tensors_by_id(set, 2, &t));
	lbx_describe_state(&t, why, sizeof why);
	assert_string_equal(why, expected);
}

/* What threads do: who, what, the node and its place, what has been called by whom. */
static void works_are(const char *expected)
{
	static const char *const doing[] = { "computes", "waits", "within", "idle", "comes to", "has computed" };
	char found[1024] = "";
	struct lbx_work w;
	uint64_t slot = 0;

	ggml_see(&stacks);
	while (lbx_tensors_work(set, NULL, &slot, &w)) {
		char *to = found + strlen(found);
		to += sprintf(to, "%s%llu %s %s", *found ? "; " : "", (unsigned long long)w.thread, doing[w.doing],
			      w.function);
		if (w.id)
			to += sprintf(to, " #%llu %lld/%lld of #%llu", (unsigned long long)w.id, (long long)w.number,
				      (long long)w.count, (unsigned long long)w.result);
		if (w.call[0])
			to += sprintf(to, " in %s from 0x%llx", w.call, (unsigned long long)w.caller);
		if (w.helps)
			to += sprintf(to, " for %llu", (unsigned long long)w.helps);
		if (w.why[0])
			to += sprintf(to, " (%s)", w.why);
	}
	assert_string_equal(found, expected);
}

static void at_rest_nodes_are_as_they_lie(void **state)
{
	(void)state;
	CALL(0, "wait", "main");
	states_are("ready, overwritten, in memory, in memory, in memory, in memory");
}

static void within_a_library_nothing_is_sure(void **state)
{
	(void)state;
	CALL(0, "wait", "llama_decode", "main");
	reason_is("may not have been computed yet: thread 100 is in llama_decode");
	CALL(0, "wait", "main");
	threads[0].end = "no rules";
	reason_is("may not have been computed yet: where thread 100 comes from is not known: no rules");
	threads[0].end = NULL;
	threads[0].cut = true;
	reason_is("may not have been computed yet: where thread 100 comes from is not known");
	n_threads = 0;
	reason_is("may not have been computed yet: what the program's threads do is not known");
}

/* Functions of the libraries that neither build nor compute a graph, whatever they call. */
static void who_only_reads_leaves_nodes_alone(void **state)
{
	static const char at_rest[] = "ready, overwritten, in memory, in memory, in memory, in memory",
			  unsure[] = "ready, unsure, unsure, unsure, unsure, unsure";

	(void)state;
	CALL(0, "wait", "llama_sampler_sample", "main");
	states_are(at_rest);
	CALL(0, "wait", "ggml_time_us", "llama_get_logits_ith", "llama_sampler_sample", "main");
	states_are(at_rest);
	CALL(0, "wait", "whisper_full_get_segment_text", "main");
	states_are(at_rest);
	threads[0].cut = true; /* who has called it may compute */
	states_are(unsure);
	threads[0].cut = false;
	CALL(0, "wait", "ggml_backend_sched_synchronize", "llama_get_logits_ith", "main"); /* a device is waited for */
	states_are(unsure);
	CALL(0, "wait", "llama_decode", "main", "llama_sampler_sample", "main"); /* a sampler of the program's */
	states_are(unsure);
	CALL(0, "wait", "llama_sampler_free", "llama_decode", "main");
	states_are(unsure);
	CALL(0, "wait", "llama_set_sampler", "main");
	states_are(unsure);
	CALL(0, "wait", "llama_get_logits_of", "main"); /* nobody knows that */
	states_are(unsure);
	CALL(0, "wait", "whisper_full", "main");
	states_are(unsure);
	CALL(0, "wait", "llama_sampler_sample", "main");
	n_threads = 2;
	compute(1, "ggml_compute_forward_mul_mat", 1);
	states_are("ready, unsure, evaluating, lazy, lazy, lazy");
}

static void nodes_before_the_place_are_computed(void **state)
{
	(void)state;
	compute(0, "ggml_compute_forward_add", 0);
	states_are("ready, evaluating, lazy, lazy, lazy, lazy");
	compute(0, "ggml_compute_forward_mul_mat", 1);
	/* the fourth may be computed together with this one */
	states_are("ready, unsure, evaluating, lazy, lazy, lazy");
	compute(0, "ggml_compute_forward_cont", 4);
	states_are("ready, overwritten, ready, ready, ready, evaluating");
	compute(0, "ggml_compute_forward_dup", 4); /* by which it is done */
	states_are("ready, overwritten, ready, ready, ready, evaluating");
}

/* The last node has the memory of what the first ones read. */
static void inputs_are_there_until_they_are_written_over(void **state)
{
	uint64_t data = image.layout.data;

	(void)state;
	ggml_image_put(&image, x + data, ggml_image_get(&image, nodes[4] + data, 8), 8);
	CALL(0, "wait", "main");
	states_are("overwritten, overwritten, in memory, in memory, in memory, in memory");
	compute(0, "ggml_compute_forward_mul_mat", 1);
	states_are("ready, unsure, evaluating, lazy, lazy, lazy");
	compute(0, "ggml_compute_forward_dup", 2); /* the last may be computed together with this one */
	states_are("unsure, unsure, ready, evaluating, lazy, lazy");
	compute(0, "ggml_compute_forward_cont", 4);
	states_are("unsure, overwritten, ready, ready, ready, evaluating");
	CALL(0, "wait", "llama_decode", "main");
	states_are("unsure, unsure, unsure, unsure, unsure, unsure");
}

static void the_place_needs_witnesses(void **state)
{
	static const char nothing[] = "ready, unsure, unsure, unsure, unsure, unsure";

	(void)state;
	compute(0, "ggml_compute_forward_add", 1); /* another operation */
	states_are(nothing);
	compute(0, "ggml_compute_forward_mul", 1); /* whose name begins like that */
	states_are(nothing);
	compute(0, "ggml_compute_forward_mul_mat", 1);
	threads[0].registers[1][NODE] = 0;
	states_are(nothing);
	compute(0, "ggml_compute_forward_mul_mat", 1);
	threads[0].registers[2][INDEX] = 3;
	states_are(nothing);
	compute(0, "ggml_compute_forward_mul_mat", 1);
	threads[0].registers[2][GRAPH] = 0;
	states_are(nothing);
	compute(0, "ggml_compute_forward_add", 0); /* two nodes may be meant */
	threads[0].registers[2][INDEX - 1] = 3;
	threads[0].registers[1][NODE - 1] = nodes[3];
	states_are(nothing);
	compute(0, "ggml_compute_forward_mul_mat", 1);
	ggml_image_put(&image, graph + 0x40 + 8, x + 8, 8); /* no tensor */
	states_are(nothing);
}

/* The graph may be found by what leads to it; one that begins within another is a part of it. */
static void a_part_of_a_graph_leads_to_the_whole(void **state)
{
	uint64_t part = GGML_DATA + GGML_DATA_SIZE - 0x100, holder = part + 0x28;

	(void)state;
	compute(0, "ggml_compute_forward_cont", 1);
	threads[0].registers[1][NODE] = nodes[4];
	threads[0].registers[2][GRAPH] = holder;
	ggml_image_put(&image, holder, part, 8);
	ggml_image_put(&image, part, 0, 4);
	ggml_image_put(&image, part + 4, 2, 4);
	ggml_image_put(&image, part + 8, 0, 8);
	ggml_image_put(&image, part + 0x10, graph + 0x40 + 3 * 8, 8);
	/* those in front of the part may be of an earlier time */
	states_are("ready, overwritten, in memory, in memory, ready, evaluating");
}

static void threads_must_agree(void **state)
{
	(void)state;
	n_threads = 2;
	compute(0, "ggml_compute_forward_mul_mat", 1);
	CALL(1, "wait", "main");
	states_are("ready, unsure, evaluating, lazy, lazy, lazy");
	compute(1, "ggml_compute_forward_mul_mat", 1); /* it has called for a graph, too */
	states_are("ready, unsure, unsure, unsure, unsure, unsure");
	compute(1, "ggml_compute_forward_cont", 4);
	states_are("ready, unsure, unsure, unsure, unsure, unsure");
	CALL(1, "wait", "llama_decode", "main");
	states_are("ready, unsure, unsure, unsure, unsure, unsure");
}

#define CALLER "0x402008" /* of every function of the image's */

static void each_thread_tells_what_it_does(void **state)
{
	(void)state;
	CALL(0, "wait", "main");
	works_are("");
	compute(0, "ggml_compute_forward_mul_mat", 1);
	works_are("100 computes ggml_compute_forward_mul_mat #3 2/5 of #6 in ggml_graph_compute from " CALLER);
	n_threads = 2;
	CALL(1, "ggml_barrier", "ggml_graph_compute_thread", "ggml_graph_compute", "llama_decode", "main");
	/* two have called for graphs: neither knows where the other is */
	works_are("100 computes ggml_compute_forward_mul_mat #3 2/5 of #6 in ggml_graph_compute from " CALLER
		  "; 101 waits ggml_barrier in llama_decode from " CALLER);
	compute(1, "ggml_compute_forward_cont", 4);
	works_are("100 computes ggml_compute_forward_mul_mat #3 2/5 of #6 in ggml_graph_compute from " CALLER
		  "; 101 computes ggml_compute_forward_cont #6 5/5 of #6 in ggml_graph_compute from " CALLER);
	n_threads = 1;
	CALL(0, "wait", "llama_decode", "main");
	works_are("100 within llama_decode in llama_decode from " CALLER);
	compute(0, "ggml_compute_forward_mul_mat", 1);
	threads[0].registers[1][NODE] = 0;
	works_are("100 computes ggml_compute_forward_mul_mat in ggml_graph_compute from " CALLER
		  " (what lies on its stack leads to no node of that operation)");
	compute(0, "ggml_compute_forward_add", 0);
	threads[0].registers[2][INDEX - 1] = 3;
	threads[0].registers[1][NODE - 1] = nodes[3];
	works_are("100 computes ggml_compute_forward_add in ggml_graph_compute from " CALLER
		  " (more than one node may be meant by what lies on its stack)");
	CALL(0, "wait", "main");
	threads[0].end = "no rules";
	works_are("100 within  (where thread 100 comes from is not known: no rules)");
}

/* A function may have forgotten the node, and hold only where its data are. */
static void data_lead_to_a_node(void **state)
{
	uint64_t data = image.layout.data, *r = threads[0].registers[1];

	(void)state;
	compute(0, "ggml_compute_forward_mul_mat", 1);
	r[NODE] = ggml_image_get(&image, nodes[1] + data, 8) + 8;
	works_are("100 computes ggml_compute_forward_mul_mat in ggml_graph_compute from " CALLER
		  " (what lies on its stack leads to no node of that operation)");
	r[NODE + 1] = ggml_image_get(&image, nodes[0] + data, 8);
	r[NODE + 2] = ggml_image_get(&image, x + data, 8) + 4;
	works_are("100 computes ggml_compute_forward_mul_mat #3 2/5 of #6 in ggml_graph_compute from " CALLER);
	threads[0].registers[0][NODE] = r[NODE]; /* or a function within it does */
	r[NODE] = 0;
	works_are("100 computes ggml_compute_forward_mul_mat #3 2/5 of #6 in ggml_graph_compute from " CALLER);
	/* of two that have the operation it is not enough; 0 is always an index */
	compute(0, "ggml_compute_forward_add", 3);
	r[NODE] = ggml_image_get(&image, nodes[3] + data, 8);
	r[NODE + 1] = ggml_image_get(&image, nodes[2] + data, 8);
	r[NODE + 2] = ggml_image_get(&image, x + data, 8);
	works_are("100 computes ggml_compute_forward_add in ggml_graph_compute from " CALLER
		  " (more than one node may be meant by what lies on its stack)");
}

/* llama.cpp once let go of a graph's context before it computed the graph. */
static void a_context_that_is_let_go_is_found_by_its_graph(void **state)
{
	uint64_t context = image.context, unused = 0;
	struct lbx_tensor t;

	(void)state;
	compute(0, "ggml_compute_forward_mul_mat", 1);
	ggml_image_put(&image, context + 8, 0, 8); /* where its memory is */
	states_are("ready, unsure, evaluating, lazy, lazy, lazy");
	assert_int_equal(lbx_tensors_next(set, &unused, &t, &unused), LBX_NEXT_TENSOR);
	CALL(0, "wait", "main"); /* nobody uses it any more */
	assert_false(ggml_look(&stacks));
	compute(0, "ggml_compute_forward_mul_mat", 1);
	ggml_image_put(&image, x - GGML_OBJECT + 16, x + 0x1000, 8); /* somebody else does */
	assert_false(ggml_look(&stacks));
}

/* A newer build marks what is to be computed. */
static void nodes_without_the_mark_are_left_out(void **state)
{
	(void)state;
	for (int i = 0; i < NODES; i++)
		if (i != 2)
			ggml_image_put(&image, nodes[i] + LBX_GGML_FLAGS, 0x10, 4);
	compute(0, "ggml_compute_forward_cont", 4);
	states_are("ready, overwritten, ready, unsure, ready, evaluating");
}

/* The scheduler has called code that returns true, with its mark. */
static void stand_between(uint64_t at, bool is_done)
{
	enum { RDX = 1, RSI = 4, RDI = 5 };

	CALL(0, "ggml_true", "ggml_backend_sched_graph_compute_async", "main");
	memcpy(ggml_image_at(&image, GGML_CODE + 8, 6), "\xb8\x01\x00\x00\x00\xc3", 6);
	threads[0].registers[0][RDI] = nodes[at];
	threads[0].registers[0][RSI] = !is_done;
	threads[0].registers[0][RDX] = GGML_CODE + 8 + 1;
}

/* Frames are looked at as far as those of any program that runs; one that somebody has made has room for more. */
static void large_frames_are_not_held(void **state)
{
	(void)state;
	ggml_finish(NULL);
	make(false, POOL + FRAME_BYTES);
	compute(0, "ggml_compute_forward_mul_mat", 1);
	threads[0].deep = 100;
	states_are("ready, unsure, evaluating, lazy, lazy, lazy");
	threads[0].deep = 1100;
	reason_is("may not have been computed yet: the frames of ggml's functions hold more than can be looked at");
}

static void between_two_nodes_the_place_is_known(void **state)
{
	(void)state;
	stand_between(0, false);
	states_are("ready, evaluating, lazy, lazy, lazy, lazy");
	stand_between(1, false);
	states_are("ready, ready, evaluating, lazy, lazy, lazy");
	works_are("100 comes to  #3 2/5 of #0 in ggml_backend_sched_graph_compute_async from 0x402008");
	stand_between(1, true);
	states_are("ready, ready, ready, lazy, lazy, lazy");
	works_are("100 has computed  #3 2/5 of #0 in ggml_backend_sched_graph_compute_async from 0x402008");
	stand_between(3, true);
	states_are("ready, overwritten, ready, ready, ready, lazy");
	stand_between(4, true);
	states_are("ready, overwritten, ready, ready, ready, ready");
	*(char *)ggml_image_at(&image, GGML_CODE + 8, 1) = '\xcc'; /* a breakpoint */
	states_are("ready, overwritten, ready, ready, ready, ready");
}

/* The fourth node comes first in another graph that has it, too, so it is not known which are computed; a larger one with
 * the same order tells nothing else. */
static void graphs_that_have_the_node_must_agree(void **state)
{
	static const int order[] = { 3, 0, 1, 2, 4 };
	uint64_t other;

	(void)state;
	other = ggml_image_object(&image, 1, 0x100);
	ggml_image_put(&image, other, NODES + 1, 4);
	ggml_image_put(&image, other + 4, NODES + 1, 4);
	ggml_image_put(&image, other + 0x10, other + 0x40, 8);
	for (uint64_t i = 0; i <= NODES; i++)
		ggml_image_put(&image, other + 0x40 + 8 * i, i ? nodes[i - 1] : x, 8);
	stand_between(3, true);
	states_are("ready, overwritten, ready, ready, ready, lazy");
	for (uint64_t i = 0; i < NODES; i++)
		ggml_image_put(&image, other + 0x48 + 8 * i, nodes[order[i]], 8);
	states_are("ready, unsure, unsure, unsure, unsure, unsure");
}

/* A thread has come to a node, and has called nothing for it yet: that may be any operation. */
static void who_comes_to_a_node_tells_its_place(void **state)
{
	enum { RSI = 4 };

	(void)state;
	CALL(0, "ggml_cpu_extra_compute_forward", "ggml_graph_compute_thread", "ggml_graph_compute", "main");
	threads[0].registers[0][RSI] = nodes[1];
	threads[0].registers[1][GRAPH] = graph;
	threads[0].registers[1][INDEX] = 1;
	states_are("ready, unsure, evaluating, lazy, lazy, lazy"); /* what comes soon may write over the first */
	works_are("100 computes ggml_cpu_extra_compute_forward #3 2/5 of #6 in ggml_graph_compute from " CALLER);
	threads[0].registers[1][INDEX] = 2; /* that is another one */
	states_are("ready, unsure, unsure, unsure, unsure, unsure");
	threads[0].registers[1][INDEX] = 1;
	CALL(0, "kernel", "ggml_cpu_extra_compute_forward", "ggml_graph_compute_thread", "ggml_graph_compute", "main");
	states_are("ready, unsure, unsure, unsure, unsure, unsure"); /* it has begun: the argument may be gone */
}

static void a_call_without_the_mark_tells_nothing(void **state)
{
	static const char nothing[] = "ready, unsure, unsure, unsure, unsure, unsure";

	(void)state;
	stand_between(1, true);
	threads[0].registers[0][1]++;
	states_are(nothing);
	threads[0].registers[0][1] += 2 * LBX_GGML_MARKS - 1; /* that of one more scheduler than there may be */
	states_are(nothing);
	threads[0].registers[0][1] -= 2; /* the last one's */
	states_are("ready, ready, ready, lazy, lazy, lazy");
	stand_between(1, true);
	*(char *)ggml_image_at(&image, GGML_CODE + 9, 1) = 0; /* it returns false */
	states_are(nothing);
	stand_between(1, true);
	threads[0].registers[0][5] = x + 8; /* no node */
	states_are(nothing);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(large_frames_are_not_held, start, ggml_finish),
		cmocka_unit_test_setup_teardown(between_two_nodes_the_place_is_known, start, ggml_finish),
		cmocka_unit_test_setup_teardown(graphs_that_have_the_node_must_agree, start, ggml_finish),
		cmocka_unit_test_setup_teardown(who_comes_to_a_node_tells_its_place, start_exported, ggml_finish),
		cmocka_unit_test_setup_teardown(a_call_without_the_mark_tells_nothing, start, ggml_finish),
		cmocka_unit_test_setup_teardown(at_rest_nodes_are_as_they_lie, start, ggml_finish),
		cmocka_unit_test_setup_teardown(within_a_library_nothing_is_sure, start, ggml_finish),
		cmocka_unit_test_setup_teardown(who_only_reads_leaves_nodes_alone, start, ggml_finish),
		cmocka_unit_test_setup_teardown(nodes_before_the_place_are_computed, start, ggml_finish),
		cmocka_unit_test_setup_teardown(inputs_are_there_until_they_are_written_over, start, ggml_finish),
		cmocka_unit_test_setup_teardown(the_place_needs_witnesses, start, ggml_finish),
		cmocka_unit_test_setup_teardown(a_part_of_a_graph_leads_to_the_whole, start, ggml_finish),
		cmocka_unit_test_setup_teardown(threads_must_agree, start, ggml_finish),
		cmocka_unit_test_setup_teardown(each_thread_tells_what_it_does, start, ggml_finish),
		cmocka_unit_test_setup_teardown(data_lead_to_a_node, start, ggml_finish),
		cmocka_unit_test_setup_teardown(a_context_that_is_let_go_is_found_by_its_graph, start, ggml_finish),
		cmocka_unit_test_setup_teardown(nodes_without_the_mark_are_left_out, start, ggml_finish),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
