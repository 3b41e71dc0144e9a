/* A task is a std::function whose closure lies in memory that malloc() gave, with what the task was made of: up to 0.23 the
 * array itself, later copies of arrays, with records of their own that nothing else leads to, or addresses of elements. The
 * memory of elements is the array's own even so. Which of it is written, and which only read, a task does not tell; but
 * behind the tasks of an array comes one that does nothing but hold the memory that these read, until they are done (mlx::core::cpu::eval(),
 * mlx/backend/cpu/eval.cpp). So what a task has in hand, and that one does not hold, is what it computes. */
#include "mlx/tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "mlx/version.h"

enum { WORD = 8 };

/* ---- the queue ---- */

/* A std::deque of std::function: where its list of blocks is, how many these are, and its first and last element, each by
 * address, its block, the end of that, and where the list has it. */
enum { LIST, BLOCKS, FIRST, LAST = FIRST + LBX_MLX_QUEUE_END, QUEUE = LAST + LBX_MLX_QUEUE_END };
enum { AT, BEGIN, END, NODE };
enum { TASK = 32, BLOCK = 512, OBJECT = 64 };

static bool is_end(const uint64_t *end, const uint64_t *queue)
{
	return end[END] - end[BEGIN] == BLOCK && end[AT] >= end[BEGIN] && end[AT] < end[END] &&
	       (end[AT] - end[BEGIN]) % TASK == 0 && end[NODE] >= queue[LIST] && end[NODE] % WORD == 0 &&
	       (end[NODE] - queue[LIST]) / WORD < queue[BLOCKS];
}

static bool is_queue(struct lbx_target *target, const uint64_t *queue, int64_t *ret)
{
	const uint64_t *first = queue + FIRST, *last = queue + LAST;
	uint64_t begin, end;

	if (!queue[LIST] || queue[BLOCKS] - 1 >= 1 << 20 || !is_end(first, queue) || !is_end(last, queue) ||
	    last[NODE] < first[NODE] || !lbx_target_try_read(target, first[NODE], &begin, sizeof begin) ||
	    !lbx_target_try_read(target, last[NODE], &end, sizeof end) || begin != first[BEGIN] || end != last[BEGIN])
		return false;
	*ret = (int64_t)((last[NODE] - first[NODE]) / WORD * (BLOCK / TASK)) +
	       ((int64_t)(last[AT] - last[BEGIN]) - (int64_t)(first[AT] - first[BEGIN])) / TASK;
	return *ret >= 0;
}

void lbx_mlx_queue_read(struct lbx_target *target, uint64_t object, struct lbx_mlx_queue *ret)
{
	uint64_t words[OBJECT];
	int64_t n;

	*ret = (struct lbx_mlx_queue){ .n = -1, .stream = object };
	if (!object || !lbx_target_try_read(target, object, words, sizeof words))
		return;
	for (int i = 0; i + QUEUE <= OBJECT; i++) {
		if (!is_queue(target, words + i, &n))
			continue;
		if (ret->n >= 0) { /* which of them it is is not known */
			ret->n = -1;
			return;
		}
		ret->n = n;
		memcpy(ret->first, words + i + FIRST, sizeof ret->first);
	}
}

/* The address of the task behind another one; 0: it cannot be read. */
static bool go_on(struct lbx_target *target, uint64_t *end)
{
	end[AT] += TASK;
	if (end[AT] < end[END])
		return true;
	end[NODE] += WORD;
	if (!lbx_target_try_read(target, end[NODE], &end[BEGIN], sizeof end[BEGIN]))
		return false;
	end[AT] = end[BEGIN];
	end[END] = end[BEGIN] + BLOCK;
	return true;
}

/* ---- what is in a closure ---- */

/* A std::function: its closure, if that is not small, and the functions that manage and call it. */
enum { CLOSURE, MANAGER = 2, INVOKER, FUNCTION };
enum { CLOSURE_WORDS = 256, HEAD = 8 /* in front of what malloc() gives */ };

struct closure {
	uint64_t at;
	size_t n;
	uint64_t words[CLOSURE_WORDS];
};

static bool is_function(const struct lbx_mlx_set *s, const uint64_t *words)
{
	return words[CLOSURE] && words[MANAGER] != words[INVOKER] && lbx_mlx_is_code(s, words[MANAGER]) &&
	       lbx_mlx_is_code(s, words[INVOKER]);
}

/* All that glibc's malloc() has given there, which is in use: its size and flags stand in front, and likewise behind. */
static bool read_closure(struct lbx_target *target, uint64_t at, struct closure *ret)
{
	enum { IN_USE = 1, MAPPED = 2, FLAGS = 7, ALIGNED = 16, LEAST = 32 };
	uint64_t size, next;

	if (at < LEAST || at % ALIGNED || !lbx_target_try_read(target, at - HEAD, &size, sizeof size) ||
	    size & MAPPED || (size & ~(uint64_t)FLAGS) < LEAST || (size & ~(uint64_t)FLAGS) % ALIGNED ||
	    size / WORD > CLOSURE_WORDS)
		return false;
	size &= ~(uint64_t)FLAGS;
	if (!lbx_target_try_read(target, at - HEAD + size, &next, sizeof next) || !(next & IN_USE) ||
	    (next & ~(uint64_t)FLAGS) < LEAST)
		return false;
	ret->at = at;
	ret->n = (size_t)(size - HEAD) / WORD;
	return lbx_target_try_read(target, at, ret->words, ret->n * WORD);
}

/* That of a std::function. Since 0.32 the stream has it in another one, behind its own address; what looks like that elsewhere
 * may be what malloc() gave before. */
static bool closure_of(const struct lbx_mlx_set *s, const uint64_t *function, uint64_t stream, struct closure *ret)
{
	enum { OF_STREAM, WITHIN, WITHIN_END = WITHIN + FUNCTION };
	struct lbx_target *target = lbx_mlx_set_target(s);

	if (!is_function(s, function) || !read_closure(target, function[CLOSURE], ret))
		return false;
	if (ret->n < WITHIN_END || ret->words[OF_STREAM] != stream)
		return true;
	return is_function(s, ret->words + WITHIN) && read_closure(target, ret->words[WITHIN + CLOSURE], ret);
}

/* ---- memory ---- */

enum { MOST_MEMORY = 1024, MOST_ARRAYS = 64 };

/* Buffers, by their first bytes. */
struct memory {
	size_t n;
	uint64_t list[MOST_MEMORY];
};

static bool has(const struct memory *m, uint64_t memory)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->list[i] == memory)
			return true;
	return false;
}

static bool add_memory(struct memory *m, struct lbx_target *target, uint64_t data, uint64_t counts)
{
	struct lbx_mlx_buffer buffer;

	if (m->n == MOST_MEMORY || !lbx_mlx_buffer_read(target, data, counts, &buffer))
		return false;
	if (buffer.data)
		m->list[m->n++] = buffer.data;
	return true;
}

/* A std::unordered_set of std::shared_ptr. */
enum { BUCKETS, N_BUCKETS, NODES, N_NODES, LOAD, SINGLE = 6, SET_END };
enum { FULL = 0x3f800000 /* 1.0f */ };

static bool take_set(struct lbx_target *target, const uint64_t *set, struct memory *ret)
{
	uint64_t node[3] = { set[NODES] }, n = 0;

	if (!set[BUCKETS] || !set[N_BUCKETS] || (set[LOAD] & UINT32_MAX) != FULL || set[N_NODES] > MOST_MEMORY)
		return false;
	for (; node[0] && n < set[N_NODES]; n++)
		if (!lbx_target_try_read(target, node[0], node, sizeof node) ||
		    !add_memory(ret, target, node[1], node[2]))
			return false;
	return n == set[N_NODES] && !node[0];
}

/* What is held that was made on the way, a std::vector of arrays. */
static bool take_arrays(struct lbx_mlx_set *s, uint64_t at, struct memory *ret)
{
	struct lbx_target *target = lbx_mlx_set_target(s);
	struct lbx_mlx_arrays arrays;
	struct lbx_mlx_record r;

	if (!lbx_mlx_arrays_read(target, at, &arrays))
		return false;
	for (uint32_t i = 0; i < arrays.n; i++)
		if (!lbx_mlx_record_read(target, &s->classes, s->layout, lbx_mlx_array_at(target, &arrays, i), &r) ||
		    (r.data && !add_memory(ret, target, r.data, r.data_counts)))
			return false;
	return true;
}

/* Whether a closure holds memory, and nothing else, or behind a stream that is told when it is done. */
static bool take_read(struct lbx_mlx_set *s, const struct closure *c, struct memory *ret)
{
	enum { ALL = SET_END + 3, BEHIND_STREAM = 2 };
	struct lbx_target *target = lbx_mlx_set_target(s);

	for (size_t from = 0; from <= BEHIND_STREAM && from + ALL <= c->n; from += BEHIND_STREAM) {
		ret->n = 0;
		if (take_set(target, c->words + from, ret) && take_arrays(s, c->at + (from + SET_END) * WORD, ret))
			return true;
	}
	return false;
}

/* What the tasks read whose end the first of those is that hold it. */
static bool find_read(struct lbx_mlx_set *s, const struct lbx_mlx_queue *queue, struct memory *ret)
{
	enum { LOOKED_AT = 256 };
	struct lbx_target *target = lbx_mlx_set_target(s);
	uint64_t at[LBX_MLX_QUEUE_END], function[FUNCTION];
	struct closure c;

	memcpy(at, queue->first, sizeof at);
	for (int64_t i = 0; i < queue->n && i < LOOKED_AT; i++) {
		if (!lbx_target_try_read(target, at[AT], function, sizeof function))
			return false;
		if (closure_of(s, function, queue->stream, &c) && take_read(s, &c, ret))
			return true;
		if (!go_on(target, at))
			return false;
	}
	return false;
}

/* ---- the array ---- */

struct seeker {
	struct lbx_mlx_set *s;
	struct closure closure;
	struct memory read;
	size_t n; /* arrays in the closure */
	struct held {
		struct lbx_mlx_record record;
		uint64_t memory;
	} list[MOST_ARRAYS];
	uint64_t written; /* memory, that one of these has; 0: none */
	uint64_t found, n_found;
};

/* Each is a shared_ptr: a record, and the counts in front of it. */
static bool take_held(struct seeker *k)
{
	struct lbx_target *target = lbx_mlx_set_target(k->s);
	const uint64_t *words = k->closure.words;
	struct lbx_mlx_buffer buffer;

	for (size_t i = 0; i + 1 < k->closure.n; i++) {
		struct held *h = &k->list[k->n];
		if (!words[i] || words[i + 1] != words[i] - LBX_MLX_FRONT || !lbx_mlx_number(k->s, words[i]))
			continue;
		if (k->n == MOST_ARRAYS ||
		    !lbx_mlx_record_read(target, &k->s->classes, k->s->layout, words[i], &h->record))
			return false;
		h->memory =
		    lbx_mlx_buffer_read(target, h->record.data, h->record.data_counts, &buffer) ? buffer.data : 0;
		k->n++;
	}
	return true;
}

static bool has_shape_of(const struct lbx_mlx_record *a, const struct lbx_mlx_record *b)
{
	return a->rank == b->rank && a->dtype == b->dtype && a->begin == b->begin &&
	       memcmp(a->sizes, b->sizes, sizeof a->sizes) == 0 &&
	       memcmp(a->strides, b->strides, sizeof a->strides) == 0;
}

/* Whether the closure has an address of memory, which the task may move on as it goes. What malloc() gave may be some words
 * longer than the closure: what is there is of another time. */
static bool has_address(const struct seeker *k, const struct lbx_mlx_buffer *buffer)
{
	enum { MAY_BE_OLD = 3 };

	for (size_t i = 0; i + MAY_BE_OLD < k->closure.n; i++)
		if (k->closure.words[i] - buffer->data <= buffer->bytes)
			return true;
	return false;
}

/* An array that was handed to a stream, as the closure's own ones were not. That it is not done its event does not say: it has one
 * only where nobody waits for the evaluation as a whole. */
static bool is_it(const struct seeker *k, const struct lbx_mlx_record *r)
{
	struct lbx_mlx_buffer buffer;

	if (r->status < LBX_MLX_EVALUATED ||
	    !lbx_mlx_buffer_read(lbx_mlx_set_target(k->s), r->data, r->data_counts, &buffer) || !buffer.data ||
	    has(&k->read, buffer.data))
		return false;
	for (size_t i = 0; i < k->n; i++)
		if (k->list[i].memory == buffer.data && has_shape_of(&k->list[i].record, r))
			return true;
	return has_address(k, &buffer);
}

static void look_at_all(struct seeker *k)
{
	struct lbx_mlx_set *s = k->s;
	struct lbx_mlx_record r;

	lbx_walk_begin(&s->walk, lbx_mlx_set_target(s));
	for (size_t i = 0; i < s->n; i++) {
		struct lbx_target *target = lbx_walk_target(&s->walk, lbx_mlx_set_target(s), i);
		if (!lbx_mlx_record_read(target, &s->classes, s->layout, s->objects[i], &r) || !is_it(k, &r))
			continue;
		k->found = i + 1;
		k->n_found++;
	}
}

/* Whether no more than one of the arrays that it holds is written: memory that is not only read. */
static bool is_one_written(struct seeker *k)
{
	for (size_t i = 0; i < k->n; i++) {
		uint64_t memory = k->list[i].memory;
		if (!memory || has(&k->read, memory))
			continue;
		if (k->written && k->written != memory)
			return false;
		k->written = memory;
	}
	return true;
}

/* It holds the array itself, which it was made for: it is one that has its operation. */
static bool is_its_own(const struct seeker *k)
{
	return k->n == 1 && k->list[0].record.primitive && k->list[0].record.status != LBX_MLX_UNSCHEDULED &&
	       !lbx_mlx_is_available(lbx_mlx_set_target(k->s), &k->list[0].record);
}

static uint64_t seek(struct seeker *k, const struct lbx_mlx_queue *queue, char why[LBX_WORK_WHY])
{
	if (!take_held(k)) {
		snprintf(why, LBX_WORK_WHY, "what its task holds cannot be read");
		return 0;
	}
	if (is_its_own(k)) {
		why[0] = '\0';
		return lbx_mlx_number(k->s, k->list[0].record.address);
	}
	if (!find_read(k->s, queue, &k->read)) {
		snprintf(why, LBX_WORK_WHY, "what its task reads, and what it writes, cannot be told apart");
		return 0;
	}
	if (!is_one_written(k)) {
		snprintf(why, LBX_WORK_WHY, "its task writes several");
		return 0;
	}
	look_at_all(k);
	snprintf(why, LBX_WORK_WHY, "%s",
		 k->n_found == 1 ? ""
		 : k->n_found    ? "several have the memory that its task writes"
				 : "nothing but its tasks holds what it computes");
	return k->n_found == 1 ? k->found : 0;
}

uint64_t lbx_mlx_task_of(struct lbx_mlx_set *s, uint64_t from, uint64_t to, const struct lbx_mlx_queue *queue,
			 char why[LBX_WORK_WHY])
{
	enum { MOST_WORDS = 1024 };
	struct lbx_target *target = lbx_mlx_set_target(s);
	uint64_t words[MOST_WORDS], *function = NULL;
	size_t n = to > from ? (size_t)(to - from) / WORD : 0;

	snprintf(why, LBX_WORK_WHY, "its task was not found");
	if (from % WORD || n > MOST_WORDS || n < FUNCTION || !lbx_target_try_read(target, from, words, n * WORD))
		return 0;
	for (size_t i = 0; i + FUNCTION <= n; i++) {
		if (!is_function(s, words + i))
			continue;
		if (function && function[CLOSURE] != words[i + CLOSURE])
			return 0;
		function = words + i;
	}
	lb_auto_free struct seeker *k = function ? calloc(1, sizeof *k) : NULL;
	if (!k || !closure_of(s, function, queue->stream, &k->closure))
		return 0;
	k->s = s;
	return seek(k, queue, why);
}
