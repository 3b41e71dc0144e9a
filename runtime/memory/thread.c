#define _GNU_SOURCE
#include "memory/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alone.h"
#include "base/error.h"

__thread struct lb_self *lb_self_pointer __attribute__((tls_model("initial-exec"), visibility("hidden")));

static pthread_key_t at_exit;
static bool has_key; /* without one, what a thread that ends has had is lost */

static void end_of_thread(void *arg)
{
	struct lb_self *self = arg;
	/* other destructors may have run tensors in between: the pointer was not cleared by us */
	lb_self_pointer = self;
	if (self->end_scopes)
		self->end_scopes(self);
	struct lb_thread *record = self->record;
	if (record) {
		lb_record_begin(&record->seq);
		record->id = 0;
		record->eval = record->tensor = record->scopes = 0;
		lb_record_end(&record->seq);
		lb_slab_give(LB_KIND_THREAD, &self->magazines[LB_KIND_THREAD], record);
	}
	for (int kind = 0; kind < LB_KINDS; kind++)
		lb_slab_flush((enum lb_kind)kind, &self->magazines[kind]);
	if (self->arena.destroy)
		self->arena.destroy(&self->arena);
	free(self->items);
	free(self->marks);
	free(self);
	lb_self_pointer = NULL;
	lb_alone_leave();
}

static void make_key(void)
{
	has_key = pthread_key_create(&at_exit, end_of_thread) == 0;
}

struct lb_self *lb_self_slow(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, make_key);

	lb_alone_meet();
	struct lb_self *self = calloc(1, sizeof *self);
	if (!self) {
		lb_fail("out of memory: cannot set up this thread");
		return NULL;
	}
	struct lb_thread *record = lb_slab_take(LB_KIND_THREAD, &self->magazines[LB_KIND_THREAD], true);
	if (!record) {
		free(self);
		return NULL;
	}
	uint32_t seq = record->seq, generation = record->generation;
	*record = (struct lb_thread){
		.seq = seq | 1,
		.generation = generation + 1,
		.id = (uint64_t)syscall(SYS_gettid),
		.scopes = (uint64_t)(uintptr_t)&self->items,
	};
	lb_record_end(&record->seq);
	lb_fail_prepare();
	self->record = record;
	if (has_key)
		pthread_setspecific(at_exit, self);
	lb_self_pointer = self;
	return self;
}
