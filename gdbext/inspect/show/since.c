#include "inspect/show/since.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vector.h"

void lbx_marked_deinit(struct lbx_marked *marked)
{
	for (int i = 0; i < marked->n; i++)
		free(marked->list[i].ids);
	marked->n = 0;
}

static uint64_t process_of(struct lbx_context *context)
{
	struct lbx_root root;
	bool clean = lb_ok();
	uint64_t pid = context->table && lbx_table_root(context->table, &root) ? root.pid : 0;

	if (clean && lb_error_cause() != LB_INTERRUPTED)
		lb_clear_error();
	return pid;
}

static int by_id(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static bool take_ids(struct lbx_context *context, uint64_t **ret, size_t *ret_n)
{
	struct lbx_tensors *tensors = lbx_table_tensors(context->table);
	lb_auto_free uint64_t *ids = NULL;
	uint64_t slot = 0, bad = 0;
	struct lbx_tensor t;
	size_t n = 0, room = 0;

	while (tensors && lbx_tensors_next(tensors, &slot, &t, &bad) == LBX_NEXT_TENSOR) {
		if (n % 8192 == 8191 && !lbx_progress(context->out, "noting tensors", (int64_t)n, 0))
			return false;
		if (!lb_reserve(ids, room, n + 1))
			return lb_fail("out of memory for a mark of %zu tensors", n);
		ids[n++] = t.id;
	}
	if (!lb_ok())
		return false;
	if (n)
		qsort(ids, n, sizeof *ids, by_id);
	*ret = ids;
	*ret_n = n;
	ids = NULL;
	return true;
}

bool lbx_marked_note(struct lbx_context *context, const char *name)
{
	struct lbx_marked *marked = context->marked;
	uint64_t *ids;
	size_t n;
	int i = 0;

	if (!marked)
		return true;
	while (i < marked->n && strcmp(marked->list[i].name, name) != 0)
		i++;
	if (i == LBX_MARKED_MAX)
		return lb_fail("there are already %d marks; reuse one of their names", LBX_MARKED_MAX);
	if (!take_ids(context, &ids, &n))
		return false;
	if (i == marked->n)
		marked->n++;
	else
		free(marked->list[i].ids);
	snprintf(marked->list[i].name, sizeof marked->list[i].name, "%s", name);
	marked->list[i].pid = process_of(context);
	marked->list[i].ids = ids;
	marked->list[i].n_ids = n;
	return true;
}

bool lbx_marked_find(struct lbx_context *context, const char *name, const uint64_t **ret, size_t *ret_n)
{
	const struct lbx_marked *marked = context->marked;
	char there[1024] = "";

	if (!marked)
		return lbx_misuse(
		    "list: --since takes a mark of `memory mark NAME`, which gdb keeps; what has changed since a "
		    "file or a core `memory --since FILE` tells");
	if (!context->table)
		return lb_fail("list: which tensors came since a mark is known of Lazybones' runtime alone");
	for (int i = 0; i < marked->n; i++) {
		size_t n = strlen(there);
		if (strcmp(marked->list[i].name, name) == 0) {
			*ret = marked->list[i].ids;
			*ret_n = marked->list[i].n_ids;
			return marked->list[i].pid == process_of(context) ||
			       lb_fail("list: the mark '%s' is of another process", name);
		}
		snprintf(there + n, sizeof there - n, "%s%s", n ? ", " : "", marked->list[i].name);
	}
	return lbx_misuse("list: --since takes a mark, and there is none called '%s': %s%s%s", name,
			  *there ? "there are " : "`memory mark NAME` makes one", there,
			  access(name, R_OK) == 0
			      ? "; what has changed since a file or a core `memory --since FILE` tells"
			      : "");
}
