#include "publish/root.h"

#include <fnmatch.h>
#include <limits.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/op.h"
#include "publish/records.h"

#define DESCRIBE(record, type, name_) \
	{ .name = #name_, \
	  .offset = offsetof(struct record, name_), \
	  .width = sizeof(type), \
	  .count = sizeof(((struct record *)0)->name_) / sizeof(type) },
#define TENSOR_FIELD(type, name, count, meaning) DESCRIBE(lb_tensor, type, name)
#define BUFFER_FIELD(type, name, count, meaning) DESCRIBE(lb_buffer, type, name)
#define THREAD_FIELD(type, name, count, meaning) DESCRIBE(lb_thread, type, name)
#define STREAM_FIELD(type, name, count, meaning) DESCRIBE(lb_stream_record, type, name)
#define COMPILED_FIELD(type, name, count, meaning) DESCRIBE(lb_compiled_record, type, name)
#define GRAPH_FIELD(type, name, count, meaning) DESCRIBE(lb_graph_record, type, name)
#define ROOT_FIELD(name_) \
	{ .name = #name_, \
	  .offset = offsetof(struct lb_symtab, name_), \
	  .width = sizeof((struct lb_symtab *)0)->name_, \
	  .count = 1 },

static const struct lb_field tensor_fields[] = { LB_TENSOR_FIELDS(TENSOR_FIELD) };
static const struct lb_field buffer_fields[] = { LB_BUFFER_FIELDS(BUFFER_FIELD) };
static const struct lb_field thread_fields[] = { LB_THREAD_FIELDS(THREAD_FIELD) };
static const struct lb_field stream_fields[] = { LB_STREAM_FIELDS(STREAM_FIELD) };
static const struct lb_field compiled_fields[] = { LB_COMPILED_FIELDS(COMPILED_FIELD) };
static const struct lb_field graph_fields[] = { LB_GRAPH_FIELDS(GRAPH_FIELD) };
static const struct lb_field root_fields[] = { LB_ROOT_FIELDS(ROOT_FIELD) };

#define X(name, meaning) #name,
static const char counter_names[][24] = { LB_COUNTERS(X) };
#undef X

struct lb_counters lb_counters;

static char step_refusal[LB_FLIGHT_TEXT_BYTES];

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])
/* Addresses are integers here, which no static initialiser can hold: lb_root_publish()
 * fills them in. */
struct lb_symtab lb_root_object = {
	.major = LB_ABI_MAJOR,
	.minor = LB_ABI_MINOR,
	.size = sizeof(struct lb_symtab),
	.n_root_fields = LENGTH(root_fields),
	.n_kinds = LB_KINDS,
	.version = LB_VERSION,
	.rank = -1,
	.watch_memory = UINT64_MAX,
	.watch_graph = UINT64_MAX,
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
		[LB_KIND_STREAM] = { .kind = "stream", .record_size = sizeof(struct lb_stream_record),
				     .n_fields = LENGTH(stream_fields), .first_tier = 64 },
		[LB_KIND_COMPILED] = { .kind = "compiled", .record_size = sizeof(struct lb_compiled_record),
				       .n_fields = LENGTH(compiled_fields), .first_tier = 64 },
		[LB_KIND_GRAPH] = { .kind = "graph", .record_size = sizeof(struct lb_graph_record),
				    .n_fields = LENGTH(graph_fields), .first_tier = 64 },
	},
};

/* The name that debuggers look up. */
extern LB_API struct lb_symtab lb_symtab_root __attribute__((alias("lb_root_object")));

uint32_t lb_watched_name(const char *name)
{
	uint32_t matched = 0;

	for (int i = 0; i < LB_WATCH_PATTERNS; i++) {
		char pattern[LB_PATTERN_BYTES];

		memcpy(pattern, lb_root->watch_patterns[i], sizeof pattern - 1);
		pattern[sizeof pattern - 1] = '\0';
		if (pattern[0] && fnmatch(pattern, name, 0) == 0)
			matched |= UINT32_C(1) << (LB_WATCH_NAMED + i);
	}
	return matched;
}

void lb_note_unstepped(const char *why)
{
	size_t n = strnlen(why, sizeof step_refusal - 1);

	memset(step_refusal + n, 0, sizeof step_refusal - n);
	memcpy(step_refusal, why, n);
	lb_count(&lb_counters.unstepped, 1);
}

static uint64_t address_of(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* As launchers of MPI jobs number their processes; -1 without one. */
static int64_t rank_of_job(void)
{
	static const char *const names[] = {
		"OMPI_COMM_WORLD_RANK",
		"PMIX_RANK",
		"PMI_RANK",
		"SLURM_PROCID",
	};
	int64_t rank = -1;

	for (size_t i = 0; i < LENGTH(names) && rank < 0; i++)
		rank = lb_environment_number(names[i], 0, INT32_MAX, -1);
	return rank;
}

/* Static programs may be without it. */
extern struct r_debug _r_debug __attribute__((weak));

static const char *program_path(void)
{
	static char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	path[n > 0 ? n : 0] = '\0';
	return path;
}

void lb_root_publish(uint64_t pid)
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
	root->kinds[LB_KIND_STREAM].fields = address_of(stream_fields);
	root->kinds[LB_KIND_COMPILED].fields = address_of(compiled_fields);
	root->kinds[LB_KIND_GRAPH].fields = address_of(graph_fields);
	root->program = address_of(program_path());
	root->loader = address_of(&_r_debug);
	root->step_refusal = address_of(step_refusal);
	root->pid = pid;
	root->rank = rank_of_job();
	__atomic_store_n(&root->magic, LB_SYMTAB_MAGIC, __ATOMIC_RELEASE);
}
