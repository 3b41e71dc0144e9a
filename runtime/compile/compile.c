/* Compiled functions: the graphs held for their keys, the most recently used first.
 *
 * The lock guards the list and the published record, never a call of the program's function: a
 * graph is traced without it. Of threads that miss the same key at once, each traces, and the
 * first to be done has its graph taken; the others use that. A graph is counted, so that one may be
 * dropped for another while a thread instantiates it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/caller.h"
#include "base/plural.h"
#include "compile/check.h"
#include "compile/image.h"
#include "compile/key.h"
#include "probes.h"
#include "publish/flight.h"

enum {
	DEFAULT_LIMIT = 16,
	MOST = 1 << 16,  /* graphs; inputs or outputs of a call */
	REMEMBERED = 16, /* keys of graphs that were dropped */
	REASON = sizeof((lb_compile_stats *)0)->reason,
};

struct entry {
	uint32_t refs;
	struct lb_key *key;
	struct lb_image image;
	struct lb_image plain; /* before it was fused, where it will be checked (compile/check.h) */
	bool is_checked;
};

struct lb_compiled {
	pthread_mutex_t lock;
	struct lb_compiled *next; /* of all; under all.lock */
	lb_function *fn;
	void *context;
	bool shapeless;
	int limit, n;
	struct entry **entries;
	struct lb_key *dropped[REMEMBERED]; /* the newest first */
	struct lb_compiled_record *record;
	char stale[LB_STALE_TEXT]; /* what the first check that found one says; written once */
	char reasons[2][REASON]; /* in turn: a reader may look at the one before */
	char name[];
};

/* ---- all of them: a child of fork() must find each list whole ---- */

static struct {
	pthread_mutex_t lock; /* before those of the functions */
	struct lb_compiled *first;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void before_fork(void)
{
	pthread_mutex_lock(&all.lock);
	for (struct lb_compiled *c = all.first; c; c = c->next)
		pthread_mutex_lock(&c->lock);
}

static void after_fork(void)
{
	for (struct lb_compiled *c = all.first; c; c = c->next)
		pthread_mutex_unlock(&c->lock);
	pthread_mutex_unlock(&all.lock);
}

/* Not when the library is loaded: what is registered last is called first before a fork, and locks of
 * the evaluation and of memory are taken while a list is locked. */
static void watch_forks(void)
{
	pthread_atfork(before_fork, after_fork, after_fork);
}

static void add_to_all(struct lb_compiled *c)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, watch_forks);
	pthread_mutex_lock(&all.lock);
	c->next = all.first;
	all.first = c;
	pthread_mutex_unlock(&all.lock);
}

static void remove_from_all(const struct lb_compiled *c)
{
	pthread_mutex_lock(&all.lock);
	struct lb_compiled **at = &all.first;
	while (*at && *at != c)
		at = &(*at)->next;
	if (*at)
		*at = c->next;
	pthread_mutex_unlock(&all.lock);
}

/* ---- graphs ---- */

static void entry_release(struct entry *entry)
{
	if (!entry || __atomic_sub_fetch(&entry->refs, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	lb_image_deinit(&entry->image);
	if (entry->is_checked)
		lb_image_deinit(&entry->plain);
	lb_key_free(entry->key);
	free(entry);
}

/* Traces the function as it would be captured now. */
static bool trace_function(const struct lb_compiled *c, const struct lb_request *request, const void *site,
			   struct lb_image *ret)
{
	__atomic_fetch_add(&c->record->tracing, 1, __ATOMIC_RELAXED);
	bool ok = lb_image_trace(ret, &(struct lb_image_source){ .name = c->name,
								 .fn = c->fn,
								 .context = c->context,
								 .shapeless = c->shapeless,
								 .n_in = request->n_in,
								 .n_out = request->n_out,
								 .in = request->in,
								 .site = site });
	__atomic_fetch_sub(&c->record->tracing, 1, __ATOMIC_RELAXED);
	return ok;
}

static struct entry *entry_new(const struct lb_compiled *c, const struct lb_request *request, const void *site)
{
	struct entry *entry = calloc(1, sizeof *entry);
	if (!entry) {
		lb_fail("compile(%s): out of memory", c->name);
		return NULL;
	}
	entry->refs = 1;
	entry->key = lb_key_new(request);
	bool ok = entry->key && trace_function(c, request, site, &entry->image);
	if (ok)
		lb_image_list(&entry->image, c->name);
	ok = ok && lb_image_simplify(&entry->image);
	if (ok && lb_compile_checks())
		ok = entry->is_checked = lb_image_copy(&entry->plain, &entry->image);
	if (!ok || !lb_image_fuse(&entry->image)) {
		entry_release(entry);
		return NULL;
	}
	return entry;
}

/* ---- the list; the lock is held ---- */

static void move_to_front(void *list, int i)
{
	void **at = list, *moved = at[i];
	memmove(at + 1, at, (size_t)i * sizeof *at);
	*at = moved;
}

static struct entry *find_entry(struct lb_compiled *c, const struct lb_request *request)
{
	for (int i = 0; i < c->n; i++) {
		if (!lb_key_matches(c->entries[i]->key, request, NULL, 0))
			continue;
		move_to_front(c->entries, i);
		__atomic_fetch_add(&c->entries[0]->refs, 1, __ATOMIC_RELAXED);
		return c->entries[0];
	}
	return NULL;
}

/* Why no graph serves the request: what differs from the one used last. */
static void explain(struct lb_compiled *c, const struct lb_request *request, char *why)
{
	for (int i = 0; i < REMEMBERED && c->dropped[i]; i++) {
		if (lb_key_matches(c->dropped[i], request, NULL, 0)) {
			snprintf(why, REASON, "evicted: more than %d graphs were wanted", c->limit);
			return;
		}
	}
	if (c->n == 0)
		snprintf(why, REASON, "first call");
	else
		lb_key_matches(c->entries[0]->key, request, why, REASON);
}

/* Whose graph the caller releases when the lock is no longer held: that may call the program. */
static struct entry *drop_oldest(struct lb_compiled *c)
{
	struct entry *entry = c->entries[--c->n];
	lb_key_free(c->dropped[REMEMBERED - 1]);
	c->dropped[REMEMBERED - 1] = entry->key;
	entry->key = NULL; /* nobody compares it any more */
	move_to_front(c->dropped, REMEMBERED - 1);
	c->record->evictions++;
	if (c->record->captured == (uint64_t)(uintptr_t)entry->image.captured)
		c->record->captured = c->record->n_captured = 0;
	return entry;
}

static uint64_t captured_bytes(const struct lb_image *image)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < image->n_captured; i++)
		bytes += (uint64_t)lb_nbytes(image->captured[i]);
	return bytes;
}

/* Takes the graph in, and over; returns the one that goes for it, or NULL. */
static struct entry *insert(struct lb_compiled *c, struct entry *entry, const struct lb_request *request)
{
	struct lb_compiled_record *record = c->record;
	char *why = c->reasons[record->compiles % 2];
	struct entry *dropped = NULL;
	lb_record_begin(&record->seq);
	explain(c, request, why);
	if (c->n == c->limit)
		dropped = drop_oldest(c);
	c->entries[c->n++] = entry;
	move_to_front(c->entries, c->n - 1);
	record->compiles++;
	record->entries = (uint64_t)c->n;
	record->reason = (uint64_t)(uintptr_t)why;
	record->traced = entry->image.n_traced;
	record->built = entry->image.n_nodes;
	record->captured = (uint64_t)(uintptr_t)entry->image.captured;
	record->n_captured = entry->image.n_captured;
	record->captured_bytes = captured_bytes(&entry->image);
	lb_record_end(&record->seq);
	return dropped;
}

/* ---- calls ---- */

/* The event keeps texts of its own: the function may be freed, and it keeps its last reasons only. */
static void note_compilation(const struct lb_compiled_record *record, const void *site, uint64_t ns)
{
	const char *name = lb_flight_text((const char *)(uintptr_t)record->name);
	const char *reason = lb_flight_text((const char *)(uintptr_t)record->reason);

	lb_probe_compile((uint64_t)(uintptr_t)record, (uint64_t)(uintptr_t)name, (uint64_t)(uintptr_t)reason, ns);
	if (record->compiles > 1)
		lb_probe_recompile((uint64_t)(uintptr_t)record, (uint64_t)(uintptr_t)name, (uint64_t)(uintptr_t)site,
				   (uint64_t)(uintptr_t)reason, record->compiles);
}

/* Traces the function, and keeps the graph; returns it, counted. */
static struct entry *compile(struct lb_compiled *c, const struct lb_request *request, const void *site)
{
	uint64_t start = lb_flight_clock();
	struct entry *entry = entry_new(c, request, site);
	if (!entry)
		return NULL;
	uint64_t ns = lb_flight_clock() - start;
	pthread_mutex_lock(&c->lock);
	struct entry *other = find_entry(c, request);
	if (other) { /* of a thread that was faster */
		pthread_mutex_unlock(&c->lock);
		entry_release(entry);
		return other;
	}
	entry->refs++;
	struct entry *dropped = insert(c, entry, request);
	note_compilation(c->record, site, ns);
	pthread_mutex_unlock(&c->lock);
	entry_release(dropped);
	return entry;
}

/* Whoever follows what the function makes must see that, not fused tensors: another trace, a
 * gradient, and who looks for the operation that makes the first NaN, or leaves a range, or for a
 * tensor that the function names. */
static bool is_inlined(const struct lb_self *self)
{
	return self->tracing || self->trace || (lb_watched(0) & (LB_WATCH_NAN | LB_WATCH_RANGE | LB_WATCH_CALLS));
}

/* The same promises without a graph. */
static bool call_inlined(struct lb_compiled *c, const struct lb_request *request, lb_tensor **out, const void *site)
{
	bool ok = c->fn(c->context, request->n_in, request->in, request->n_out, out);
	lb_fail_site(site);
	if (!ok && lb_ok())
		lb_fail("compile(%s): the function failed, and did not say why", c->name);
	for (int i = 0; i < request->n_out && ok; i++)
		ok = out[i] || (lb_ok() && lb_fail("compile(%s): output %d is NULL", c->name, i));
	if (!ok)
		memset(out, 0, (size_t)request->n_out * sizeof *out);
	return ok;
}

/* Traces again what a graph is about to serve. What goes wrong in that is not the call's. */
static void check_capture(struct lb_compiled *c, const struct entry *entry, const struct lb_request *request,
			  const void *site)
{
	struct lb_stale why = { .text = "" };
	char where[256];
	struct lb_image now;
	bool was_ok = lb_ok(), has_traced = trace_function(c, request, site, &now);
	bool is_checked = has_traced && lb_image_is_comparable(&entry->plain, &now);
	bool is_alike = !is_checked || (lb_image_simplify(&now) && lb_image_is_alike(&entry->plain, &now, &why));

	if (has_traced)
		lb_image_deinit(&now);
	if (was_ok)
		lb_clear_error();
	pthread_mutex_lock(&c->lock);
	lb_record_begin(&c->record->seq);
	c->record->checks += is_checked;
	bool is_first = !is_alike && *why.text && c->record->stale == 0;
	if (is_first)
		memcpy(c->stale, why.text, sizeof c->stale);
	c->record->stale += !is_alike && *why.text;
	if (is_first) {
		c->record->stale_text = (uint64_t)(uintptr_t)c->stale;
		c->record->stale_site = why.site;
	}
	lb_record_end(&c->record->seq);
	pthread_mutex_unlock(&c->lock);
	if (is_first)
		fprintf(stderr,
			"lazybones: compile(%s): a captured graph is stale: %s, at %s (LAZYBONES_COMPILE=check)\n",
			c->name, why.text,
			lb_describe_caller(why.site ? (const void *)(uintptr_t)why.site : site, where, sizeof where));
}

static bool call_entry(struct lb_compiled *c, const struct lb_request *request, lb_tensor **out, const void *site)
{
	pthread_mutex_lock(&c->lock);
	struct entry *entry = find_entry(c, request);
	lb_record_begin(&c->record->seq);
	c->record->calls++;
	uint64_t hit = c->record->hits += entry != NULL;
	lb_record_end(&c->record->seq);
	pthread_mutex_unlock(&c->lock);
	if (entry && entry->is_checked && lb_check_is_due(hit))
		check_capture(c, entry, request, site);
	if (entry)
		lb_probe_compile_hit((uint64_t)(uintptr_t)c->record, c->record->name, (uint64_t)(uintptr_t)site);
	else
		entry = compile(c, request, site);
	bool ok = entry && lb_image_instantiate(&entry->image, request->in, out, site);
	lb_fail_site(site);
	entry_release(entry);
	return ok;
}

/* Of the request, shapeless and the stream are still to come. */
static bool checked_call(const char *op, struct lb_compiled *compiled, struct lb_request request, lb_tensor **out,
			 const void *site)
{
	int n_in = request.n_in, n_out = request.n_out;
	lb_tensor *const *in = request.in;
	const void *constants = request.constants;
	if (!LB_GIVEN(op, compiled) || !LB_GIVEN_LIST(op, n_in, in) || !LB_GIVEN(op, out))
		return false;
	if (n_in < 0 || n_in > MOST || n_out < 1 || n_out > MOST)
		return lb_fail("compile(%s): a call with %d input%s and %d output%s", compiled->name, n_in, LB_S(n_in),
			       n_out, LB_S(n_out));
	memset(out, 0, (size_t)n_out * sizeof *out);
	if (request.nbytes && !LB_GIVEN(op, constants))
		return false;
	for (int i = 0; i < n_in; i++) {
		if (!in[i])
			return lb_fail_null_at(op, i, n_in);
	}
	struct lb_self *self = lb_self();
	if (!self)
		return false;
	request.shapeless = compiled->shapeless;
	request.stream = self->stream;
	return (is_inlined(self) ? call_inlined : call_entry)(compiled, &request, out, site);
}

bool lb_call(lb_compiled *compiled, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	LB_ENTER();
	return checked_call("call", compiled, (struct lb_request){ .n_in = n_in, .n_out = n_out, .in = in }, out, site);
}

bool lb_call_with(lb_compiled *compiled, const void *constants, size_t nbytes, int n_in, lb_tensor *const *in,
		  int n_out, lb_tensor **out)
{
	LB_ENTER();
	return checked_call("call_with", compiled,
			    (struct lb_request){
				.n_in = n_in, .n_out = n_out, .in = in, .constants = constants, .nbytes = nbytes },
			    out, site);
}

/* ---- the object ---- */

static bool publish(struct lb_compiled *c, const void *site)
{
	static uint64_t last_id;
	struct lb_self *self = lb_self();
	struct lb_compiled_record *record =
	    self ? lb_slab_take(LB_KIND_COMPILED, &self->magazines[LB_KIND_COMPILED], true) : NULL;
	if (!record)
		return false;
	uint32_t seq = record->seq, generation = record->generation;
	lb_record_begin(&record->seq);
	*record = (struct lb_compiled_record){
		.seq = seq + 1,
		.generation = generation + 1,
		.id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED),
		.name = (uint64_t)(uintptr_t)c->name,
		.function = (uint64_t)(uintptr_t)c->fn,
		.context = (uint64_t)(uintptr_t)c->context,
		.site = (uint64_t)(uintptr_t)site,
		.limit = (uint64_t)c->limit,
		.shapeless = c->shapeless,
	};
	lb_record_end(&record->seq);
	c->record = record;
	return true;
}

lb_compiled *lb_compile(const char *name, lb_function *fn, void *context, lb_compile_options options)
{
	LB_ENTER();
	name = name ? name : "?";
	if (!fn) {
		lb_fail("compile(%.255s): there is no function", name);
		return NULL;
	}
	if (options.limit < 0 || options.limit > MOST) {
		lb_fail("compile(%.255s): a limit of %d graph%s; it must be 1 to %d, or 0 for %d", name, options.limit,
			LB_S(options.limit), MOST, DEFAULT_LIMIT);
		return NULL;
	}
	size_t length = strnlen(name, LB_NAME_MAX);
	struct lb_compiled *c = calloc(1, sizeof *c + length + 1);
	if (c)
		c->entries = calloc((size_t)(options.limit ? options.limit : DEFAULT_LIMIT), sizeof *c->entries);
	if (!c || !c->entries) {
		lb_fail("compile(%.255s): out of memory", name);
		free(c);
		return NULL;
	}
	memcpy(c->name, name, length);
	c->fn = fn;
	c->context = context;
	c->shapeless = options.shapeless;
	c->limit = options.limit ? options.limit : DEFAULT_LIMIT;
	pthread_mutex_init(&c->lock, NULL);
	if (!publish(c, site)) {
		lb_compiled_free(c);
		return NULL;
	}
	add_to_all(c);
	return c;
}

void lb_compiled_free(lb_compiled *c)
{
	if (!c)
		return;
	struct lb_self *self = lb_self();
	remove_from_all(c);
	if (c->record) {
		lb_record_begin(&c->record->seq);
		c->record->id = 0;
		lb_record_end(&c->record->seq);
		if (self)
			lb_slab_give(LB_KIND_COMPILED, &self->magazines[LB_KIND_COMPILED], c->record);
	}
	while (c->n)
		entry_release(c->entries[--c->n]);
	for (int i = 0; i < REMEMBERED; i++)
		lb_key_free(c->dropped[i]);
	pthread_mutex_destroy(&c->lock);
	free(c->entries);
	free(c);
}

lb_compile_stats lb_compiled_stats(lb_compiled *compiled)
{
	struct lb_compiled *c = compiled;
	lb_compile_stats stats = { 0 };
	if (!LB_GIVEN_HERE("compiled_stats", compiled))
		return stats;
	pthread_mutex_lock(&c->lock);
	const struct lb_compiled_record *record = c->record;
	stats.calls = record->calls;
	stats.hits = record->hits;
	stats.compiles = record->compiles;
	stats.evictions = record->evictions;
	stats.entries = c->n;
	stats.traced = (int64_t)record->traced;
	stats.built = (int64_t)record->built;
	if (record->reason)
		memcpy(stats.reason, (const char *)(uintptr_t)record->reason, sizeof stats.reason);
	pthread_mutex_unlock(&c->lock);
	return stats;
}
