#include "publish/root.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "graph/op.h"
#include "graph/thread.h"
#include "graph/tensor.h"
#include "memory/buffer.h"
#include "probes.h"
#include "publish/jit.h"
#include "publish/stacks.h"

#define DESCRIBE(record, type, name_) \
	{ .name = #name_, .offset = offsetof(struct record, name_), .width = sizeof(type), \
	  .count = sizeof(((struct record *)0)->name_) / sizeof(type) },
#define TENSOR_FIELD(type, name, count, meaning) DESCRIBE(lb_tensor, type, name)
#define BUFFER_FIELD(type, name, count, meaning) DESCRIBE(lb_buffer, type, name)
#define THREAD_FIELD(type, name, count, meaning) DESCRIBE(lb_thread, type, name)
#define ROOT_FIELD(name_) \
	{ .name = #name_, .offset = offsetof(struct lb_symtab, name_), \
	  .width = sizeof((struct lb_symtab *)0)->name_, .count = 1 },

static const struct lb_field tensor_fields[] = { LB_TENSOR_FIELDS(TENSOR_FIELD) };
static const struct lb_field buffer_fields[] = { LB_BUFFER_FIELDS(BUFFER_FIELD) };
static const struct lb_field thread_fields[] = { LB_THREAD_FIELDS(THREAD_FIELD) };
static const struct lb_field root_fields[] = { LB_ROOT_FIELDS(ROOT_FIELD) };

#define X(name, meaning) #name,
static const char counter_names[][24] = { LB_COUNTERS(X) };
#undef X

struct lb_counters lb_counters;

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])
/* Addresses are integers here, which no static initialiser can hold: publish_addresses()
 * fills them in. */
struct lb_symtab lb_root_object = {
	.major = LB_ABI_MAJOR,
	.minor = LB_ABI_MINOR,
	.size = sizeof(struct lb_symtab),
	.n_root_fields = LENGTH(root_fields),
	.n_kinds = LB_KINDS,
	.version = LB_VERSION,
	.rank = -1,
	.n_dtypes = LB_DTYPES,
	.n_ops = LB_OPS,
	.n_counters = LENGTH(counter_names),
	.max_rank = LB_MAX_RANK,
	.kinds = {
		[LB_KIND_TENSOR] = { .kind = "tensor", .record_size = sizeof(struct lb_tensor),
				     .n_fields = LENGTH(tensor_fields), .first_tier = 1024 },
		[LB_KIND_BUFFER] = { .kind = "buffer", .record_size = sizeof(struct lb_buffer),
				     .n_fields = LENGTH(buffer_fields), .first_tier = 1024 },
		[LB_KIND_THREAD] = { .kind = "thread", .record_size = sizeof(struct lb_thread),
				     .n_fields = LENGTH(thread_fields), .first_tier = 64 },
	},
};

/* The name that debuggers look up. */
extern LB_API struct lb_symtab lb_symtab_root __attribute__((alias("lb_root_object")));

static uint64_t address_of(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static void publish_addresses(void)
{
	struct lb_symtab *root = lb_root;
	root->root_fields = address_of(root_fields);
	root->dtypes = address_of(lb_dtypes);
	root->ops = address_of(lb_ops);
	root->counters = address_of(&lb_counters);
	root->counter_names = address_of(counter_names);
	root->kinds[LB_KIND_TENSOR].fields = address_of(tensor_fields);
	root->kinds[LB_KIND_BUFFER].fields = address_of(buffer_fields);
	root->kinds[LB_KIND_THREAD].fields = address_of(thread_fields);
	root->pid = (uint64_t)getpid();
	/* last: until then a reader says "the program has not reached the runtime yet" */
	__atomic_store_n(&root->magic, LB_SYMTAB_MAGIC, __ATOMIC_RELEASE);
}

static int64_t number_from_environment(const char *name, int64_t min, int64_t max, int64_t otherwise)
{
	const char *text = getenv(name);
	if (!text || !*text)
		return otherwise;
	char *end;
	long long value = strtoll(text, &end, 10);
	if (*end || value < min || value > max) {
		fprintf(stderr, "lazybones: %s=%s is ignored: it must be a whole number from %lld to %lld\n",
			name, text, (long long)min, (long long)max);
		return otherwise;
	}
	return value;
}

static void read_environment(void)
{
	lb_root->want_stack =
		(uint32_t)number_from_environment("LAZYBONES_STACKS", 0, LB_STACK_MAX, 0);

	static const char *const ranks[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID" };
	for (size_t i = 0; i < LENGTH(ranks) && lb_root->rank < 0; i++)
		lb_root->rank = number_from_environment(ranks[i], 0, INT32_MAX, -1);

	static const char *const modes[] = { "off", "warn", "stop" };
	const char *strided = getenv("LAZYBONES_STRIDED");
	if (!strided || !*strided)
		return;
	for (uint32_t mode = 0; mode < LENGTH(modes); mode++) {
		if (strcmp(strided, modes[mode]) == 0) {
			lb_root->strided = mode;
			return;
		}
	}
	fprintf(stderr, "lazybones: LAZYBONES_STRIDED=%s is ignored: it must be off, warn or stop\n", strided);
}

static void before_fork(void)
{
	lb_stacks_lock();
	lb_buffers_lock();
	lb_slab_lock_all();
}

static void after_fork(void)
{
	lb_slab_unlock_all();
	lb_buffers_unlock();
	lb_stacks_unlock();
}

/* A child of fork() has the parent's tensors, one thread, and its own pid. */
static void after_fork_in_child(void)
{
	after_fork();
	lb_root->pid = (uint64_t)getpid();
}

static void note_error(const void *site, const char *message)
{
	lb_count(&lb_counters.errors, 1);
	lb_probe_error(address_of(site), address_of(message));
}

static void start_once(void)
{
	lb_fail_hook = note_error;
	read_environment();
	lb_buffers_start();
	pthread_atfork(before_fork, after_fork, after_fork_in_child);
	publish_addresses();
	lb_probe_start(address_of(lb_root));
}

void lb_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, start_once);
}

__attribute__((constructor)) static void at_load(void)
{
	lb_start();
	lb_jit_register();
}
