#include "graph/tensor.h"

#include <stdlib.h>
#include <string.h>

#include "base/alone.h"
#include "base/caller.h"
#include "base/mix.h"
#include "graph/lazy.h"
#include "graph/program.h"
#include "graph/scope.h"
#include "graph/shape.h"
#include "graph/trace.h"
#include "probes.h"
#include "publish/root.h"
#include "publish/stacks.h"

static uint64_t next_id(struct lb_self *self)
{
	if (self->next_id == self->end_id) {
		self->next_id = __atomic_fetch_add(&lb_root->last_id, LB_ID_BLOCK, __ATOMIC_RELAXED) + 1;
		self->end_id = self->next_id + LB_ID_BLOCK;
		if (self->trace)
			lb_trace_note_ids(self->trace, self->next_id);
	}
	return self->next_id++;
}

static bool hold_inputs(struct lb_tensor *t, int n, struct lb_tensor *const *inputs)
{
	uint64_t *list = t->inputs;
	if (n > LB_INLINE_INPUTS) {
		list = malloc((size_t)n * sizeof *list);
		if (!list)
			return lb_fail("%s: out of memory for %d inputs", lb_ops[t->op].name, n);
		t->more_inputs = (uint64_t)(uintptr_t)list;
	}
	enum lb_alone alone = lb_alone_begin();
	for (int i = 0; i < n; i++) {
		lb_fetch_add(alone, &inputs[i]->refs, LB_ONE_REF);
		list[i] = (uint64_t)(uintptr_t)inputs[i];
	}
	lb_alone_end(alone);
	t->n_inputs = (uint32_t)n;
	return true;
}

/* Elements of a shape that has no flaw; else, or if it is empty or enormous, 0: lb_check_shape() knows. */
static int64_t plain_size(int rank, const int64_t *shape)
{
	int64_t size = (unsigned)rank <= LB_MAX_RANK && (shape || !rank);
	for (int i = 0; i < rank && size; i++) {
		if (shape[i] <= 0 || !lb_mul(size, shape[i], &size) || size > INT64_MAX / 16)
			size = 0;
	}
	return size;
}

static void set_shape(struct lb_tensor *t, int rank, const int64_t *shape)
{
	int64_t stride = 1;
	for (int i = rank; i-- > 0;) {
		t->shape[i] = shape[i];
		t->strides[i] = stride;
		stride *= shape[i] ? shape[i] : 1;
	}
}

struct lb_tensor *lb_tensor_begin(int op, enum lb_dtype dtype, int rank, const int64_t *shape, int n_inputs,
				  struct lb_tensor *const *inputs, const void *site)
{
	struct lb_self *self = lb_self();
	if (!self || !lb_scope_reserve(self))
		return NULL;
	int64_t size = plain_size(rank, shape);
	if (__builtin_expect(size == 0, 0) && !lb_check_shape(lb_ops[op].name, rank, shape, dtype, &size))
		return NULL;
	struct lb_tensor *t = lb_slab_take(LB_KIND_TENSOR, &self->magazines[LB_KIND_TENSOR], true);
	if (!t)
		return NULL;

	lb_record_begin(&t->seq);
	t->generation++;
	t->id = next_id(self);
	t->refs = LB_SCOPE_REF;
	t->dtype = (uint8_t)dtype;
	t->rank = (uint8_t)rank;
	t->op = (uint8_t)op;
	t->flags = 0;
	t->size = size;
	t->offset = 0;
	t->buffer = 0;
	t->more_inputs = 0;
	t->n_inputs = 0;
	t->watch = 0;
	memset(t->params, 0, sizeof t->params);
	t->name = 0;
	t->site = (uint64_t)(uintptr_t)site;
	t->stream = self->stream;
	t->thread = self->record->id;
	t->eval = self->trace_number;
	t->order = t->eval_ns = t->computed = 0;
	set_shape(t, rank, shape);
	t->stack = lb_stack_here(site);
	if (!hold_inputs(t, n_inputs, inputs)) {
		lb_tensor_discard(t);
		return NULL;
	}
	__atomic_store_n(&t->state, LB_STATE_LAZY, __ATOMIC_RELAXED);
	return t;
}

void lb_tensor_discard(struct lb_tensor *t)
{
	__atomic_store_n(&t->state, LB_STATE_FREED, __ATOMIC_RELAXED);
	t->refs = 0;
	lb_record_end(&t->seq);
	lb_slab_give(LB_KIND_TENSOR, &lb_self()->magazines[LB_KIND_TENSOR], t);
}

struct lb_tensor *lb_tensor_publish(struct lb_tensor *t)
{
	if (!t)
		return NULL;
	lb_record_end(&t->seq);
	lb_scope_add(lb_self(), t);
	lb_count(&lb_counters.created, 1);
	lb_probe_create(t->id, (uint64_t)(uintptr_t)t, t->site, t->op, t->dtype, t->size);
	if (lb_lazy_limited())
		lb_lazy_made(t);
	return t;
}

struct lb_tensor *lb_node(int op, enum lb_dtype dtype, int rank, const int64_t *shape, int n_inputs,
			  struct lb_tensor *const *inputs, const void *site)
{
	return lb_tensor_publish(lb_tensor_begin(op, dtype, rank, shape, n_inputs, inputs, site));
}

void lb_tensor_retain(struct lb_tensor *t, uint64_t refs)
{
	enum lb_alone alone = lb_alone_begin();
	lb_fetch_add(alone, &t->refs, refs);
	lb_alone_end(alone);
}

/* With no other reference left, nobody else can get one. */
static inline bool are_all(const struct lb_tensor *t, uint64_t refs)
{
	return __atomic_load_n(&t->refs, __ATOMIC_ACQUIRE) == refs;
}

/* Dead to everybody from then on, also to a debugger that stops the program before its turn to be freed comes. */
static inline void chain_dead(struct lb_tensor *t, struct lb_tensor **chain)
{
	__atomic_store_n(&t->state, LB_STATE_FREED, __ATOMIC_RELAXED);
	t->eval = (uint64_t)(uintptr_t)*chain;
	*chain = t;
}

/* If those were its last references, it goes in front of the chain of those to free (through `eval`, which a dead
 * tensor does not need). */
static inline void subtract_refs(enum lb_alone alone, struct lb_tensor *t, uint64_t refs, struct lb_tensor **chain)
{
	if (are_all(t, refs) || (uint32_t)(lb_fetch_add(alone, &t->refs, -refs) - refs) == 0)
		chain_dead(t, chain);
}

bool lb_fail_dead(const char *what, const struct lb_tensor *t)
{
	char where[256];
	return lb_fail("%s: tensor #%llu (%s), made at %s, no longer exists: its scope has ended, or it was "
		       "released; lb_keep() it while it lives, and lb_release() it after its last use",
		       what, (unsigned long long)t->id, lb_ops[t->op].name,
		       lb_describe_caller((const void *)(uintptr_t)t->site, where, sizeof where));
}

static void free_name(struct lb_tensor *t)
{
	char *name = (char *)(uintptr_t)t->name;

	lb_probe_gone(t->id, (uint64_t)(uintptr_t)t, lb_hash_text(name), (uint64_t)(uintptr_t)lb_fail_site_now(),
		      __atomic_load_n(&lb_root->last_eval, __ATOMIC_RELAXED));
	lb_name_free(name);
}

/* Frees t, and chains the inputs that are to be freed with it in front of `rest`. Returns the new chain. */
static struct lb_tensor *free_one(struct lb_self *self, struct lb_tensor *t, struct lb_tensor *rest)
{
	lb_probe_free(t->id, (uint64_t)(uintptr_t)t);
	lb_record_begin(&t->seq);
	uint32_t held = t->flags & LB_FLAG_DETACHED ? 0 : t->n_inputs;
	enum lb_alone alone = lb_alone_begin();
	for (uint32_t i = 0; i < held; i++)
		subtract_refs(alone, lb_tensor_input(t, i), LB_ONE_REF, &rest);
	lb_fetch_add(alone, &lb_counters.freed, 1);
	lb_alone_end(alone);
	if (t->more_inputs)
		free((void *)(uintptr_t)t->more_inputs);
	if (__builtin_expect(t->name != 0, 0))
		free_name(t);
	if (t->op == LB_OP_FUSED)
		lb_program_release(lb_tensor_program(t));
	t->more_inputs = t->name = 0;
	t->n_inputs = 0;
	struct lb_buffer *buffer = lb_tensor_buffer(t);
	t->buffer = 0;
	t->refs = 0;
	lb_record_end(&t->seq);
	if (buffer)
		lb_buffer_drop(buffer);
	lb_slab_give(LB_KIND_TENSOR, &self->magazines[LB_KIND_TENSOR], t);
	return rest;
}

static void free_chain(struct lb_tensor *chain)
{
	struct lb_self *self = chain ? lb_self() : NULL;
	while (chain && self)
		chain = free_one(self, chain, (struct lb_tensor *)(uintptr_t)chain->eval);
}

void lb_tensor_drop(struct lb_tensor *t, uint64_t refs)
{
	struct lb_tensor *chain = NULL;
	if (are_all(t, refs)) {
		chain_dead(t, &chain);
	} else {
		enum lb_alone alone = lb_alone_begin();
		subtract_refs(alone, t, refs, &chain);
		lb_alone_end(alone);
	}
	free_chain(chain);
}

void lb_tensor_detach(struct lb_tensor *t)
{
	if (lb_tensor_flags(t) & LB_FLAG_DETACHED)
		return;
	uint64_t *list = t->n_inputs <= LB_INLINE_INPUTS ? t->inputs : (uint64_t *)(uintptr_t)t->more_inputs;
	struct lb_tensor *chain = NULL;
	lb_record_begin(&t->seq);
	enum lb_alone alone = lb_alone_begin();
	lb_set_bits(alone, &t->flags, LB_FLAG_DETACHED);
	for (uint32_t i = 0; i < t->n_inputs; i++) {
		struct lb_tensor *input = (struct lb_tensor *)(uintptr_t)list[i];
		list[i] = input->id;
		subtract_refs(alone, input, LB_ONE_REF, &chain);
	}
	lb_alone_end(alone);
	lb_record_end(&t->seq);
	free_chain(chain);
}
