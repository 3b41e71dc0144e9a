/* gdb names an address after the innermost block that holds it. A JIT reader may open blocks
 * anywhere, also over data: that makes gdb annotate every pointer into a tensor. Blocks are
 * read once, when the entry is; so later tensors have names only after a re-read (unloading
 * and loading the reader). gdb aborts on a symtab without any block: none is opened then.
 *
 * A name is "tensor q", which nobody types: gdb 18 finds these blocks as functions by name, so that
 * `print q` would be one, and `break q` write into the tensor.
 *
 * Views overlap what they are views of; there the larger, then the older tensor gives its
 * name. `tensor at` tells all of them. The file that stands for their source is there, for gdb 13
 * crashes over one that is not, as at `info sources`. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "plugin/symbols/address_names.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/vector.h"
#include "lazybones.h"
#include "plugin/bridge/files.h"
#include "plugin/reads/target_gdb.h"
#include "plugin/symbols/census.h"
#include "table/table.h"

enum { MAX_BLOCKS = 100000 };

struct range {
	uint64_t begin, end, id;
	char *name;
};

/* The bytes that shape, strides and offset reach; false if none, or not within the buffer. */
static bool range_of(const struct lbx_tensor *t, struct range *ret)
{
	ret->id = t->id;
	return t->state == LBX_READY && !t->torn && t->name[0] && lbx_tensor_range(t, &ret->begin, &ret->end);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1; /* outer first */
	return x->id < y->id ? -1 : x->id > y->id;
}

static size_t collect(struct lbx_table *table, struct range **ret)
{
	struct lbx_tensors *tensors = lbx_table_tensors(table);
	struct range *ranges = NULL, range;
	struct lbx_tensor t;
	uint64_t slot = 0, bad = 0;
	size_t n = 0, room = 0;

	while (n < MAX_BLOCKS && lbx_tensors_next(tensors, &slot, &t, &bad) == LBX_NEXT_TENSOR) {
		if (!range_of(&t, &range))
			continue;
		if (!lb_reserve(ranges, room, n + 1))
			break;
		if (asprintf(&range.name, "tensor %s", t.name) < 0)
			break;
		ranges[n++] = range;
	}
	*ret = ranges;
	return n;
}

bool lbx_address_names_open(void)
{
	return lbx_file_open(LBX_TENSORS_FD, "lazybones-tensors",
			     "Tensors have no source: `tensor list` lists them.\n");
}

static struct lbx_census published;

bool lbx_address_names_are_stale(struct lbx_table *table)
{
	return lbx_census_changed(&published, table);
}

void lbx_address_names_publish(struct gdb_symbol_callbacks *cb)
{
	struct lbx_table *table = NULL;
	struct range *ranges = NULL;
	struct gdb_object *object;
	struct gdb_symtab *symtab;
	uint64_t end = 0;
	size_t n = 0;

	if (lbx_table_create(lbx_target_gdb((lbx_bridge_read *)cb->target_read), &table)) {
		lbx_census_take(&published, table);
		n = collect(table, &ranges);
	}
	lbx_table_destroy(table);
	lb_clear_error();
	if (n) {
		qsort(ranges, n, sizeof(*ranges), compare_ranges);
		object = cb->object_open(cb);
		symtab = cb->symtab_open(cb, object, LBX_TENSORS_FILE);
		for (size_t i = 0; i < n; i++) {
			if (ranges[i].begin < end)
				continue;
			end = ranges[i].end;
			cb->block_open(cb, symtab, NULL, ranges[i].begin, ranges[i].end, ranges[i].name);
		}
		cb->symtab_close(cb, symtab);
		cb->object_close(cb, object);
	}
	for (size_t i = 0; i < n; i++)
		free(ranges[i].name);
	free(ranges);
}
