/* lazybones-replay: computes the graph in descriptor 3, or reads the file named there (see wire.h),
 * under limits of memory and time, so that whatever a damaged one does happens here. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/sanitizer.h"
#include "base/op.h"
#include "inspect/replay/worker.h"
#include "replay/file.h"
#include "replay/ranges.h"
#include "replay/rebuild.h"
#include "replay/result.h"
#include "replay/wire.h"

struct image {
	char *base;
	struct lbx_wire_header *header;
	const struct lbx_wire_node *nodes;
	const uint32_t *indices;
};

static bool fits(uint64_t at, uint64_t n, uint64_t size, uint64_t total)
{
	uint64_t nbytes;
	return !__builtin_mul_overflow(n, size, &nbytes) && at <= total && nbytes <= total - at;
}

static bool image_open(struct image *ret)
{
	struct stat st;
	if (fstat(LBX_WIRE_FD, &st) != 0 || st.st_size < (off_t)sizeof(struct lbx_wire_header))
		return lb_fail("there is no graph on descriptor %d", LBX_WIRE_FD);
	char *base = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, LBX_WIRE_FD, 0);
	if (base == MAP_FAILED)
		return lb_fail("cannot map the graph");
	struct lbx_wire_header *header = (struct lbx_wire_header *)base;
	uint64_t nodes_at = sizeof *header, total = (uint64_t)st.st_size;
	uint64_t indices_at = nodes_at + (uint64_t)header->n_nodes * sizeof(struct lbx_wire_node);
	if (header->magic != LBX_WIRE_MAGIC || header->version != LBX_WIRE_VERSION || header->nbytes != total ||
	    header->n_nodes == 0 || header->n_nodes > LBX_WIRE_NODES ||
	    !fits(nodes_at, header->n_nodes, sizeof(struct lbx_wire_node), total) ||
	    !fits(indices_at, header->n_inputs, sizeof(uint32_t), total))
		return lb_fail("descriptor %d holds no graph of this version", LBX_WIRE_FD);
	*ret = (struct image){ base, header, (const struct lbx_wire_node *)(base + nodes_at),
			       (const uint32_t *)(base + indices_at) };
	return true;
}

/* Besides the tensors: the file, scratch, BLAS with its threads. */
static uint64_t address_space(uint64_t tensors)
{
	return tensors > UINT64_MAX / 4 ? UINT64_MAX : tensors * 3 + (4ULL << 30);
}

static void limit(int resource, uint64_t value)
{
	struct rlimit limit = { value, value };
	if (value)
		setrlimit(resource, &limit);
}

/* The parent watches the clock, and says what went wrong. The limit of processor time is for when the parent is
 * gone; with all processors busy it passes that much faster. */
static void limit_processors(uint64_t seconds)
{
	enum { LATER = 5 };
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	struct rlimit limit;

	if (seconds == 0 || seconds > UINT32_MAX || getrlimit(RLIMIT_CPU, &limit) != 0)
		return;
	uint64_t value = (seconds + LATER) * (uint64_t)(n > 0 ? n : 1);
	/* the signal comes at the soft limit; at the hard one there is no telling it from others */
	if (limit.rlim_max == RLIM_INFINITY || value < limit.rlim_max)
		limit.rlim_max = value + 1;
	limit.rlim_cur = limit.rlim_max > 1 ? limit.rlim_max - 1 : limit.rlim_max;
	setrlimit(RLIMIT_CPU, &limit);
}

static bool rebuild_node(const struct image *image, struct lbx_rebuilt *all, uint32_t i)
{
	const struct lbx_wire_node *node = &image->nodes[i];
	if (node->dtype >= LB_DTYPES || node->rank > LB_MAX_RANK ||
	    !fits(node->data_at, node->data_bytes, 1, image->header->nbytes) ||
	    !fits(node->inputs, node->n_inputs, 1, image->header->n_inputs))
		return lb_fail("its record is damaged");
	lb_auto_free struct lbx_rebuilt **inputs = malloc((node->n_inputs + 1) * sizeof *inputs);
	if (!inputs)
		return lb_fail("out of memory for %u inputs", node->n_inputs);
	bool ok = true;
	for (uint32_t k = 0; k < node->n_inputs && ok; k++) {
		uint32_t index = image->indices[node->inputs + k];
		ok = index < i || lb_fail("its input comes after it");
		if (ok)
			inputs[k] = &all[index];
	}
	return ok && lbx_rebuild(node, image->base + node->data_at, (int)node->n_inputs, inputs, &all[i]);
}

static bool replay_value(struct image *image, struct lbx_rebuilt *all)
{
	struct lbx_wire_header *header = image->header;

	for (uint32_t i = 0; i < header->n_nodes; i++) {
		header->failed_node = i;
		if (!rebuild_node(image, all, i))
			return false;
	}
	header->failed_node = header->n_nodes;
	lb_tensor *result = all[header->n_nodes - 1].value;
	return lb_eval(result) && lbx_append_result(result, header->nbytes, &header->result_at, &header->result_bytes);
}

/* A node's value is kept until the last that needs it has been computed. */
struct life {
	uint32_t last_use;
	bool keeps_flat;
};

static void let_go(struct lbx_rebuilt *node, struct life *life)
{
	lb_release(node->value);
	if (life->keeps_flat)
		lb_release(node->flat);
	*node = (struct lbx_rebuilt){ 0 };
}

static bool range_node(const struct image *image, struct lbx_rebuilt *all, struct life *lives, uint32_t i,
		       struct lbx_summary *ret)
{
	const struct lbx_wire_node *node = &image->nodes[i];
	const uint32_t *inputs = &image->indices[node->inputs];
	bool ok = false;

	LB_SCOPE {
		ok = rebuild_node(image, all, i) && lbx_range_of(all[i].value, ret);
		if (ok)
			lb_keep(all[i].value);
		for (uint32_t k = 0; ok && k <= node->n_inputs; k++) {
			uint32_t of = k < node->n_inputs ? inputs[k] : i;
			if (all[of].flat && !lives[of].keeps_flat) {
				lb_keep(all[of].flat);
				lives[of].keeps_flat = true;
			}
		}
	}
	for (uint32_t k = 0; ok && i + 1 < image->header->n_nodes && k < node->n_inputs; k++)
		if (lives[inputs[k]].last_use == i && all[inputs[k]].value)
			let_go(&all[inputs[k]], &lives[inputs[k]]);
	return ok;
}

static bool replay_steps(struct image *image, struct lbx_rebuilt *all)
{
	struct lbx_wire_header *header = image->header;
	const struct lbx_wire_node *node = &image->nodes[image->header->n_nodes - 1];
	struct lbx_rebuilt *inputs[LB_PROGRAM_INPUTS];
	struct lbx_wire_step *to =
	    (struct lbx_wire_step *)lbx_append_room(header->nbytes, LB_PROGRAM_INSNS * sizeof *to, &header->result_at,
						    &header->result_bytes);

	for (uint32_t i = 0; i < header->n_nodes; i++) {
		header->failed_node = i;
		if (!to || !rebuild_node(image, all, i))
			return false;
	}
	if (node->n_inputs > LB_PROGRAM_INPUTS)
		return lb_fail("it has more than %d inputs", LB_PROGRAM_INPUTS);
	for (uint32_t k = 0; k < node->n_inputs; k++)
		inputs[k] = &all[image->indices[node->inputs + k]];
	int n = lbx_steps_of(node, image->base + node->data_at, (int)node->n_inputs, inputs, to);
	header->n_steps = n > 0 ? (uint32_t)n : 0;
	header->failed_node = n < 0 ? header->n_nodes - 1 : header->n_nodes;
	return n >= 0;
}

static bool replay_ranges(struct image *image, struct lbx_rebuilt *all, struct life *lives)
{
	struct lbx_wire_header *header = image->header;
	uint32_t n = header->n_nodes;
	char *to =
	    lbx_append_room(header->nbytes, n * sizeof(struct lbx_summary), &header->result_at, &header->result_bytes);

	if (!to)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct lbx_wire_node *node = &image->nodes[i];
		header->failed_node = i;
		if (!fits(node->inputs, node->n_inputs, 1, header->n_inputs))
			return lb_fail("its record is damaged");
		for (uint32_t k = 0; k < node->n_inputs; k++)
			if (image->indices[node->inputs + k] < i)
				lives[image->indices[node->inputs + k]].last_use = i;
	}
	for (uint32_t i = 0; i < n; i++) {
		header->failed_node = i;
		if (!range_node(image, all, lives, i, (struct lbx_summary *)to + i))
			return false;
	}
	header->failed_node = n;
	return true;
}

static bool replay(struct image *image)
{
	uint32_t n = image->header->n_nodes;
	struct lbx_rebuilt *all = calloc(n, sizeof *all);
	struct life *lives = calloc(n, sizeof *lives);

	if (!all || !lives)
		return lb_fail("out of memory for %u operations", n);
	switch (image->header->asked) {
	case LBX_WIRE_ELEMENTS: return replay_value(image, all);
	case LBX_WIRE_RANGES: return replay_ranges(image, all, lives);
	case LBX_WIRE_STEPS: return replay_steps(image, all);
	}
	return lb_fail("descriptor %d asks for what this version does not know", LBX_WIRE_FD);
}

static void limit_all(uint64_t memory, uint64_t file, uint64_t seconds)
{
	struct rlimit no_core = { 0, 0 };
	uint64_t room = address_space(memory);
	setrlimit(RLIMIT_CORE, &no_core);
	lb_set_memory_limit(memory);
	struct rlimit data; /* the parent may have set lower limits */
	if (getrlimit(RLIMIT_DATA, &data) == 0)
		limit(RLIMIT_DATA, data.rlim_max);
	limit(RLIMIT_AS, LB_SANITIZED ? 0 : room > UINT64_MAX - file ? UINT64_MAX : room + file);
	limit_processors(seconds);
}

/* A file instead of a graph; false: it is none. */
static bool is_file(struct lbx_wire_file **ret)
{
	struct stat st;
	struct lbx_wire_file *request;
	if (fstat(LBX_WIRE_FD, &st) != 0 || st.st_size != (off_t)sizeof *request)
		return false;
	request = mmap(NULL, sizeof *request, PROT_READ | PROT_WRITE, MAP_SHARED, LBX_WIRE_FD, 0);
	*ret = request;
	return request != MAP_FAILED && request->magic == LBX_WIRE_FILE_MAGIC && request->version == LBX_WIRE_VERSION;
}

static int read_file(struct lbx_wire_file *request)
{
	struct stat st;
	uint64_t size = stat(request->path, &st) == 0 ? (uint64_t)st.st_size : 0;
	limit_all(request->max_memory, size, request->max_seconds);
	bool ok = lbx_answer_file(request);
	if (!ok)
		snprintf(request->error, sizeof request->error, "%s", lb_error_message());
	request->status = ok ? LBX_WIRE_DONE : LBX_WIRE_FAILED;
	return !ok;
}

/* Nobody would read what an orphan finds. */
static void end_with_parent(void)
{
	struct pollfd alive = { .fd = LBX_WORKER_ALIVE };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (poll(&alive, 1, 0) > 0 && (alive.revents & POLLERR)) /* it died before */
		_exit(1);
}

static int work(void)
{
	struct image image;
	struct lbx_wire_file *file;

	end_with_parent();
	if (is_file(&file))
		return read_file(file);
	if (!image_open(&image)) {
		fprintf(stderr, "lazybones-replay: %s\n", lb_error_message());
		return 1;
	}
	limit_all(image.header->max_memory, 0, image.header->max_seconds);
	bool ok = replay(&image);
	if (!ok)
		snprintf(image.header->error, sizeof image.header->error, "%s", lb_error_message());
	image.header->status = ok ? LBX_WIRE_DONE : LBX_WIRE_FAILED;
	return !ok;
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		printf("usage: lazybones-replay, with a graph on descriptor %d\n"
		       "Computes lazy tensors for lazybones and its gdb commands; not meant to be run by hand.\n",
		       LBX_WIRE_FD);
		return strcmp(argv[1], "--help") != 0;
	}
	/* The answer is in memory that is shared: there is nothing to write, and to release it all would only take time. */
	_exit(work());
}
