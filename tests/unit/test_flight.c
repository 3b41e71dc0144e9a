/* The flight recorder: what the runtime writes, and what the reader makes of the ring. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/op.h"
#include "between.h"
#include "publish/flight.h"
#include "session.h"
#include "table/flight.h"
#include "target/process.h"

/* ---- this very program, seen through its own memory ---- */

struct self {
	struct lbx_target *target;
	struct lbx_table *table;
	struct lbx_flight flight;
};

static void look(struct self *s)
{
	memset(s, 0, sizeof *s);
	if (!lbx_process_open(getpid(), &s->target) || !lbx_table_create(s->target, &s->table) ||
	    !lbx_flight_read(s->table, &s->flight))
		fail_msg("%s", lb_error_message());
}

static void look_away(struct self *s)
{
	lbx_flight_free(&s->flight);
	lbx_table_destroy(s->table);
	lbx_target_destroy(s->target);
}

static const char *name_of(const struct lbx_flight *f, int64_t i)
{
	return f->kinds[f->events[i].kind].name;
}

/* Other threads write it. */
static uint64_t flight_used(void)
{
	return __atomic_load_n(&lb_root->flight_used, __ATOMIC_RELAXED);
}

/* Until there are n events of a kind after the one numbered `from`: a stream's thread tells that it is done
 * when who waited for its values goes on already. */
static void await_since(uint64_t from, const char *kind, int n)
{
	for (int found = 0; found < n; sched_yield()) {
		struct self s;
		found = 0;
		look(&s);
		for (int64_t i = 0; i < s.flight.n; i++)
			found += s.flight.events[i].number > from && strcmp(name_of(&s.flight, i), kind) == 0;
		look_away(&s);
	}
}

static void an_evaluation_is_recorded(void **state)
{
	struct self s;
	uint64_t value, y;

	(void)state;
	LB_SCOPE {
		lb_tensor *x = lb_sum(lb_ones(LB_SHAPE(3), LB_F32), LB_ALL_AXES, false);
		assert_true(lb_eval(x));
		y = lb_id(x);
	}
	look(&s);
	const struct lbx_flight *f = &s.flight;
	int64_t last = f->n - 1;
	while (last > 0 && strcmp(name_of(f, last), "eval_done") != 0)
		last--;
	assert_string_equal(name_of(f, last - 1), "op_done");
	assert_true(lbx_event_arg(f, &f->events[last - 1], "id", &value));
	assert_int_equal(value, y);
	assert_true(lbx_event_arg(f, &f->events[last - 1], "op", &value));
	assert_string_equal(lbx_table_op_name(s.table, value), "sum");
	assert_true(lbx_event_arg(f, &f->events[last], "ops", &value));
	assert_int_equal(value, 2);
	assert_false(lbx_event_arg(f, &f->events[last], "colour", &value));
	assert_int_equal(f->events[last].thread, getpid());
	assert_true(f->events[last].time_ns > 0);
	look_away(&s);
}

static void a_message_is_recorded(void **state)
{
	struct self s;
	uint64_t address;
	char text[LB_FLIGHT_TEXT_BYTES];

	(void)state;
	assert_null(lb_zeros(LB_SHAPE(-7), LB_F32));
	lb_clear_error();
	look(&s);
	const struct lbx_flight *f = &s.flight;
	assert_string_equal(name_of(f, f->n - 1), "error");
	assert_true(lbx_event_arg(f, &f->events[f->n - 1], "message", &address));
	assert_true(lbx_target_read_string(s.target, address, text, sizeof text));
	assert_non_null(strstr(text, "-7"));
	look_away(&s);
}

/* Each failure is told once, with its own text and call, though only the first is kept. */
static void each_failure_has_its_own_event(void **state)
{
	static const char *const says[] = { "-7", "reshape", "/none/x.npy", "/none/y.npz" };
	struct self s;
	uint64_t address, site, sites[4], from = flight_used(), errors = lb_counters.errors;
	char text[LB_FLIGHT_TEXT_BYTES];

	(void)state;
	LB_SCOPE {
		assert_null(lb_zeros(LB_SHAPE(-7), LB_F32));
		assert_null(lb_reshape(lb_ones(LB_SHAPE(3), LB_F32), LB_SHAPE(4)));
		assert_null(lb_load_npy("/none/x.npy"));
		assert_null(lb_open("/none/y.npz"));
	}
	assert_non_null(strstr(lb_error_message(), "-7"));
	lb_clear_error();
	assert_int_equal(lb_counters.errors, errors + 4);
	look(&s);
	const struct lbx_flight *f = &s.flight;
	int n = 0;
	for (int64_t i = 0; i < f->n; i++) {
		if (f->events[i].number <= from)
			continue;
		assert_true(n < 4);
		assert_string_equal(name_of(f, i), "error");
		assert_true(lbx_event_arg(f, &f->events[i], "message", &address));
		assert_true(lbx_target_read_string(s.target, address, text, sizeof text));
		assert_non_null(strstr(text, says[n]));
		assert_true(lbx_event_arg(f, &f->events[i], "site", &site));
		for (int k = 0; k < n; k++)
			assert_true(sites[k] != site);
		sites[n++] = site;
	}
	assert_int_equal(n, 4);
	look_away(&s);
}

/* A temporary's bytes: they come and go between two looks, and were there. */
static void memory_is_told_while_the_program_is_traced(void **state)
{
	uint64_t active = lb_active_memory(), from = flight_used(), most = 0, last = 0;

	(void)state;
	lb_root->event_mode = LB_EVENTS_DETAILED | LB_EVENTS_TIMED;
	for (int i = 0; i < 3; i++)
		LB_SCOPE
			assert_true(lb_eval(lb_ones(LB_SHAPE(1 << 20), LB_F32)));
	lb_root->event_mode = 0;
	for (uint64_t n = from + 1, hits = 0; n <= lb_root->flight_used; n++) {
		const struct lb_flight_event *e = &lb_flight_ring[n & (lb_root->flight_capacity - 1)];
		if (e->kind == LB_EVENT_alloc || e->kind == LB_EVENT_cache_hit)
			last = e->args[4];
		else if (e->kind == LB_EVENT_cache_put)
			last = e->args[3];
		hits += e->kind == LB_EVENT_cache_hit;
		most = last > most ? last : most;
		assert_true(n < lb_root->flight_used || hits >= 2);
	}
	assert_int_equal(most, active + (4 << 20));
	assert_int_equal(last, active);
	from = flight_used();
	LB_SCOPE
		assert_true(lb_eval(lb_ones(LB_SHAPE(1 << 20), LB_F32)));
	for (uint64_t n = from + 1; n <= lb_root->flight_used; n++)
		assert_true(lb_flight_ring[n & (lb_root->flight_capacity - 1)].kind != LB_EVENT_cache_hit);
}

/* What fails on a stream's thread was asked for by a call of the program; who waits for it is told the same
 * failure, which is one event. */
static void error_of_a_stream(void **state)
{
	struct self s;
	uint64_t site, counted = lb_counters.errors;
	int errors = 0;

	(void)state;
	look(&s);
	int64_t before = (int64_t)s.flight.newest;
	look_away(&s);
	LB_SCOPE {
		lb_tensor *x = lb_take(lb_ones(LB_SHAPE(3), LB_F32), lb_full(LB_SHAPE(1), 7, LB_I32), 0);
		assert_true(lb_async_eval(x));
		assert_false(lb_synchronize_all());
		lb_clear_error();
		assert_true(lb_async_eval(x = lb_take(lb_ones(LB_SHAPE(3), LB_F32), lb_full(LB_SHAPE(1), 8, LB_I32),
						      0)));
		assert_false(lb_eval(x));
	}
	lb_clear_error();
	assert_int_equal(lb_counters.errors - counted, 2);
	await_since((uint64_t)before, "async_done", 2);
	look(&s);
	const struct lbx_flight *f = &s.flight;
	for (int64_t i = 0; i < (int64_t)f->n; i++) {
		if (f->events[i].number <= (uint64_t)before || strcmp(name_of(f, i), "error") != 0)
			continue;
		assert_true(lbx_event_arg(f, &f->events[i], "site", &site));
		assert_true(site != 0);
		errors++;
	}
	assert_int_equal(errors, 2);
	look_away(&s);
}

static void *record_many(void *context)
{
	for (uint64_t i = 0; i < 20000; i++)
		lb_flight_record(LB_EVENT_dealloc, *(uint64_t *)context, i, 0, 0, 0);
	return NULL;
}

static void threads_share_the_ring(void **state)
{
	enum { THREADS = 4 };
	pthread_t threads[THREADS];
	uint64_t who[THREADS], next[THREADS] = { 0 }, from = flight_used();
	struct self s;

	(void)state;
	for (uint64_t i = 0; i < THREADS; i++) {
		who[i] = i;
		pthread_create(&threads[i], NULL, record_many, &who[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	look(&s);
	const struct lbx_flight *f = &s.flight;
	assert_int_equal(f->newest, from + THREADS * 20000);
	/* a thread that stood still for a whole round has written over a newer event */
	assert_between(f->n, f->capacity - THREADS, f->capacity);
	assert_between(f->torn, 0, THREADS);
	for (int64_t i = 0; i < f->n; i++) {
		const struct lb_flight_event *e = &f->events[i];
		assert_between(e->number, f->newest - f->capacity + 1, f->newest);
		assert_true(i == 0 || e->number > e[-1].number);
		assert_true(e->args[0] < THREADS);
		/* a thread's own events are in its order */
		assert_true(e->args[1] >= next[e->args[0]]);
		next[e->args[0]] = e->args[1] + 1;
	}
	look_away(&s);
}

static int64_t followed(struct self *s, struct lbx_follow *follow, bool last)
{
	struct lbx_flight flight;

	assert_true(lbx_flight_follow(s->table, follow, last, &flight));
	int64_t n = flight.n;
	for (int64_t i = 1; i < n; i++)
		assert_true(flight.events[i].number > flight.events[i - 1].number);
	lbx_flight_free(&flight);
	return n;
}

static void record(int64_t n)
{
	while (n-- > 0)
		lb_flight_record(LB_EVENT_dealloc, 1, 2, 3, 0, 0);
}

/* One that another thread has begun to write. */
static struct lb_flight_event *begin_event(uint64_t *number)
{
	*number = __atomic_add_fetch(&lb_root->flight_used, 1, __ATOMIC_RELAXED);
	struct lb_flight_event *slot = &lb_flight_ring[*number & (lb_root->flight_capacity - 1)];
	slot->number = 0;
	slot->kind = LB_EVENT_dealloc;
	return slot;
}

static void a_follower_counts_what_it_missed(void **state)
{
	struct self s;
	uint64_t number;

	(void)state;
	look(&s);
	int64_t capacity = (int64_t)s.flight.capacity;
	struct lbx_follow follow = { .seen = s.flight.newest };
	assert_int_equal(followed(&s, &follow, false), 0);
	record(3);
	assert_int_equal(followed(&s, &follow, false), 3);
	assert_int_equal(followed(&s, &follow, false), 0);

	/* half written: it and what follows are waited for */
	record(1);
	struct lb_flight_event *slot = begin_event(&number);
	record(2);
	assert_int_equal(followed(&s, &follow, false), 1);
	slot->number = number;
	assert_int_equal(followed(&s, &follow, false), 3);
	assert_int_equal(follow.lost, 0);
	/* but not for ever */
	begin_event(&number);
	record(2);
	for (int i = 0; i < LBX_FOLLOW_CALLS; i++)
		assert_int_equal(followed(&s, &follow, false), 0);
	assert_int_equal(followed(&s, &follow, false), 2);
	assert_int_equal(follow.lost, 1);
	begin_event(&number);
	assert_int_equal(followed(&s, &follow, true), 0);
	assert_int_equal(follow.lost, 2);

	record(capacity + 10);
	assert_int_equal(followed(&s, &follow, false), capacity);
	assert_int_equal(follow.lost, 12);
	assert_int_equal(follow.seen, lb_root->flight_used);
	look_away(&s);
}

static void times_are_taken_when_asked_for(void **state)
{
	uint64_t from = flight_used(), before = lb_flight_clock();

	(void)state;
	lb_root->event_mode = LB_EVENTS_TIMED | LB_EVENTS_MARKED;
	LB_SCOPE
		assert_true(lb_eval(lb_exp(lb_ones(LB_SHAPE(3), LB_F32))));
	lb_root->event_mode = 0;
	assert_true(lb_root->flight_used > from + 2);
	bool timed = false;
	for (uint64_t n = from + 1; n <= lb_root->flight_used; n++) {
		const struct lb_flight_event *e = &lb_flight_ring[n & (lb_root->flight_capacity - 1)];
		assert_true(e->time_ns > before);
		before = e->time_ns;
		timed |= e->kind == LB_EVENT_op_done && e->args[4] > 0;
	}
	assert_true(timed);
}

/* Whether events are timed after one more, if they are timed until then. */
static bool timed_until(uint64_t then)
{
	lb_root->event_mode = LB_EVENTS_TIMED | LB_EVENTS_MARKED;
	lb_root->timed_until = then;
	lb_flight_record(LB_EVENT_start, 1, 0, 0, 0, 0);
	bool timed = lb_root->event_mode & LB_EVENTS_TIMED;
	assert_true(lb_root->event_mode & LB_EVENTS_MARKED);
	lb_root->event_mode = 0;
	lb_root->timed_until = 0;
	return timed;
}

static void times_end_by_themselves(void **state)
{
	(void)state;
	assert_true(timed_until(0));
	assert_true(timed_until(lb_flight_clock() + 1000000000));
	assert_false(timed_until(lb_flight_clock() - 1));
}

static void a_child_says_its_own_number(void **state)
{
	int status;

	(void)state;
	lb_flight_record(LB_EVENT_start, 1, 0, 0, 0, 0);
	pid_t child = fork();
	if (child == 0) {
		lb_flight_record(LB_EVENT_start, 2, 0, 0, 0, 0);
		uint64_t n = lb_root->flight_used;
		_exit(lb_flight_ring[n & (lb_root->flight_capacity - 1)].thread != (uint32_t)getpid());
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
}

/* ---- memory made by hand ---- */

static const char *says(struct session *s, const char *line)
{
	return session_says(s, "events", line);
}

static void events_are_shown(void **state)
{
	(void)state;
	for (int shuffled = 0; shuffled < 2; shuffled++) {
		struct session *s = session_create(shuffled);
		assert_string_equal(says(s, ""),
				    "   -0.001000 s     4711  op_done       #2 transpose\n"
				    "    0.000000 s     4711  error         by 0x401234: no luck\n"
				    "2 of 2 events, the ring holds the last 8; times count back from the newest\n");
		assert_non_null(strstr(says(s, "--tensor #2"), "1 of 2"));
		assert_non_null(strstr(says(s, "--tensor #3"), "0 of 2"));
		assert_non_null(strstr(says(s, "err*"), "no luck\n1 of 2"));
		assert_non_null(strstr(says(s, "--thread 4712"), "0 of 2"));
		assert_non_null(strstr(says(s, "--last 1"), "… 1 earlier"));
		assert_non_null(strstr(says(s, "--json"), "\"message\":\"no luck\""));
		assert_non_null(strstr(says(s, "--tensor two"), "not 'two'"));
		session_destroy(s);
	}
}

static void old_and_torn_events_are_left_out(void **state)
{
	struct session *s = *state;
	struct lb_flight_event *ring;

	for (uint64_t i = 1; i <= 9; i++) /* 11 in all, 8 slots */
		image_event(&s->image, 0, IMAGE_ALLOC, i, 0x1000, 2048, 7);
	ring = image_at(&s->image, IMAGE_FLIGHT, IMAGE_EVENTS * sizeof *ring);
	ring[10 % IMAGE_EVENTS].number = 0;          /* while it is written */
	ring[9 % IMAGE_EVENTS].number = 9 - 8;       /* not written yet */
	ring[8 % IMAGE_EVENTS].kind = UINT32_MAX;    /* damaged */
	const char *text = says(s, "");
	assert_non_null(strstr(text, "alloc         buffer 2 0x1000 2.0 KiB #7\n"));
	assert_null(strstr(text, "buffer 1 "));
	assert_null(strstr(text, "buffer 8 "));
	assert_non_null(strstr(text, "5 of 11 events"));
	assert_non_null(strstr(text, "3 were being written and are skipped"));
}

/* A text that was overwritten is an event's no more, whoever has it now. */
static void texts_are_believed_by_their_stamps(void **state)
{
	struct session *s = *state;
	enum { BEFORE_TEXT = offsetof(struct lb_flight_text, text) };
	uint64_t at = image_text(&s->image, 7000000, "texts");
	struct lb_flight_text *text = image_at(&s->image, at - BEFORE_TEXT, sizeof *text);

	image_event(&s->image, 7000001, IMAGE_ERROR, 0x401234, at, 0, 0);
	assert_non_null(strstr(says(s, "--last 1"), "error         by 0x401234: texts\n"));
	text->time_ns = 7000002; /* of a later event of its thread */
	assert_non_null(strstr(says(s, "--last 1"), "error         by 0x401234\n"));
	text->time_ns = 7000000;
	text->thread = 4712;
	assert_non_null(strstr(says(s, "--last 1"), "error         by 0x401234\n"));
	text->thread = 4711;
	text->writing = 1;
	assert_non_null(strstr(says(s, "--last 1 --json"), "\"message\":null"));
	text->writing = 0;
	memset(text->text, 'x', sizeof text->text); /* without an end */
	assert_non_null(strstr(says(s, "--last 1"), "xxxx\n"));
	image_root(&s->image)->minor = 8; /* there are no stamps */
	session_forget(s);
	assert_non_null(strstr(says(s, "--last 1"), "error         by 0x401234\n"));
	image_root(&s->image)->minor = LB_ABI_MINOR;
	image_event(&s->image, 7000001, IMAGE_ERROR, 0x401234, 5, 0, 0); /* no address of a text */
	session_forget(s);
	assert_non_null(strstr(says(s, "--last 1"), "error         by 0x401234\n"));
}

static bool doubled(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context, (void)n_in, (void)n_out;
	out[0] = lb_add(in[0], in[0]);
	return out[0] != NULL;
}

/* Each compilation has its own name and reason, though the function keeps its last reason only, and though
 * another may be where a freed one was. */
static void compilations_keep_their_reasons(void **state)
{
	enum { TIMES = 9 };
	static const char *const names[] = { "first", "other" };
	char wanted[128];
	struct self s;

	(void)state;
	for (int f = 0; f < 2; f++)
		LB_SCOPE {
			lb_compiled *compiled = lb_compile(names[f], doubled, NULL, (lb_compile_options){ .limit = 2 });
			for (int i = 1; i <= TIMES; i++) {
				lb_tensor *x = lb_ones(LB_SHAPE(i), LB_F32), *y;
				assert_true(lb_call(compiled, 1, &x, 1, &y));
			}
			lb_compiled_free(compiled);
		}
	look(&s);
	struct session *session = session_of(s.target, s.table);
	session->out.width = 400;
	snprintf(wanted, sizeof wanted, "compile --last %d", 2 * TIMES);
	const char *text = says(session, wanted);
	for (int f = 0; f < 2; f++)
		for (int i = 1; i <= TIMES; i++) {
			snprintf(wanted, sizeof wanted, " compile       %s: input 0: shape (%d), compiled for (%d) in ",
				 names[f], i, i - 1);
			if (i == 1)
				snprintf(wanted, sizeof wanted, " compile       %s: first call in ", names[f]);
			text = strstr(text, wanted);
			if (!text)
				fail_msg("no line, or too early: %s", wanted);
		}
	session_destroy(session);
	look_away(&s);
}

enum { FAILING = 4, FAILURES = 2000 };

static void *fail_often(void *number)
{
	int64_t first = (intptr_t)number * FAILURES + 1000;

	for (int i = 0; i < FAILURES; i++) {
		lb_zeros(LB_SHAPE(-first - i), LB_F32);
		lb_clear_error();
	}
	return NULL;
}

/* The messages of a thread count upwards, so that another's, or a later one, would be seen. */
static void texts_of_many_threads_are_their_own(void **state)
{
	pthread_t threads[FAILING];
	int64_t seen[FAILING] = { 0 };
	char text[LB_FLIGHT_TEXT_BYTES];
	uint32_t who[FAILING] = { 0 };
	int known = 0;
	struct self s;

	(void)state;
	for (intptr_t i = 0; i < FAILING; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, fail_often, (void *)i), 0);
	for (int i = 0; i < FAILING; i++)
		pthread_join(threads[i], NULL);
	look(&s);
	const struct lbx_flight *f = &s.flight;
	for (int64_t i = f->n; i-- > 0;) { /* the newest first */
		lbx_event_text(s.table, f, &f->events[i], "message", text);
		const char *minus = strstr(text, "-");
		if (strcmp(name_of(f, i), "error") != 0 || !minus || atoll(minus + 1) < 1000)
			continue;
		int64_t number = atoll(minus + 1) - 1000, k = number / FAILURES;
		assert_between(k, 0, FAILING - 1);
		if (!who[k])
			who[k] = f->events[i].thread;
		assert_int_equal(who[k], f->events[i].thread);
		assert_true(!seen[k] || number == seen[k] - 1);
		seen[k] = number;
		known++;
	}
	assert_between(known, 1, LB_FLIGHT_TEXTS);
	look_away(&s);
}

static void only_the_last_messages_are_believed(void **state)
{
	struct self s;
	char line[32];

	(void)state;
	for (int i = 0; i < LB_FLIGHT_TEXTS + 1; i++) {
		assert_null(lb_zeros(LB_SHAPE(-100 - i), LB_F32));
		lb_clear_error();
	}
	look(&s);
	struct session *session = session_of(s.target, s.table);
	snprintf(line, sizeof line, "error --last %d", LB_FLIGHT_TEXTS + 1);
	const char *text = says(session, line);
	assert_null(strstr(text, "-100")); /* where the last one lies now */
	assert_non_null(strstr(text, "-101"));
	assert_non_null(strstr(text, "-356"));
	session_destroy(session);
	look_away(&s);
}

static void damage_is_named(void **state)
{
	struct session *s = *state;

	assert_non_null(strstr(says(s, ""), "2 of 2"));
	struct lb_symtab *root = image_root(&s->image);
	root->flight_capacity = 3;
	assert_non_null(strstr(says(s, ""), "'flight_capacity' is 3"));
	root->flight_capacity = UINT64_MAX;
	assert_non_null(strstr(says(s, ""), "'flight_capacity'"));
	root->flight_capacity = 16; /* longer than its memory */
	root->flight_used = 16;
	assert_non_null(strstr(says(s, ""), "flight recorder's ring"));
	root->flight_capacity = IMAGE_EVENTS;
	root->event_size = 8;
	assert_non_null(strstr(says(s, ""), "'event_size' is 8"));
	root->event_size = sizeof(struct lb_flight_event);
	root->n_event_kinds = 1 << 20;
	assert_non_null(strstr(says(s, ""), "'n_event_kinds'"));
	root->n_event_kinds = IMAGE_KINDS_OF_EVENTS;
	root->event_kinds = 0x10;
	assert_non_null(strstr(says(s, ""), "kinds of events"));
	root->flight = 0;
	assert_non_null(strstr(says(s, ""), "records no events"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_evaluation_is_recorded),
		cmocka_unit_test(a_message_is_recorded),
		cmocka_unit_test(each_failure_has_its_own_event),
		cmocka_unit_test(memory_is_told_while_the_program_is_traced),
		cmocka_unit_test(error_of_a_stream),
		cmocka_unit_test(a_child_says_its_own_number),
		cmocka_unit_test(threads_share_the_ring),
		cmocka_unit_test(a_follower_counts_what_it_missed),
		cmocka_unit_test(times_are_taken_when_asked_for),
		cmocka_unit_test(times_end_by_themselves),
		cmocka_unit_test(events_are_shown),
		cmocka_unit_test_setup_teardown(old_and_torn_events_are_left_out, session_start, session_stop),
		cmocka_unit_test_setup_teardown(texts_are_believed_by_their_stamps, session_start, session_stop),
		cmocka_unit_test(compilations_keep_their_reasons),
		cmocka_unit_test(texts_of_many_threads_are_their_own),
		cmocka_unit_test(only_the_last_messages_are_believed),
		cmocka_unit_test_setup_teardown(damage_is_named, session_start, session_stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
