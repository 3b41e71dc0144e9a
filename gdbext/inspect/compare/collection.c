#define _GNU_SOURCE
#include "inspect/compare/collection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vector.h"
#include "inspect/tensor/name.h"

static bool add(struct lbx_collection *c, const char *name, const struct lbx_collected *one)
{
	if (!lb_reserve(c->list, c->room, c->n + 1))
		return lb_fail("out of memory for %zu tensors", c->n);
	c->list[c->n] = *one;
	c->list[c->n].name = strdup(name);
	return c->list[c->n++].name || lb_fail("out of memory for %zu tensors", c->n);
}

static int by_order(const void *a, const void *b)
{
	const struct lbx_collected *x = a, *y = b;

	return lbx_sequence_compare(&x->sequence, &y->sequence);
}

static int by_name(const void *a, const void *b, void *context)
{
	const struct lbx_collection *c = context;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	int order = strcmp(c->list[i].name, c->list[k].name);

	return order ? order : i < k ? -1 : i > k;
}

static void sort_names(struct lbx_collection *c)
{
	for (size_t i = 0; i < c->n; i++)
		c->by_name[i] = i;
	qsort_r(c->by_name, c->n, sizeof *c->by_name, by_name, c);
}

/* What comes behind the first of its name says so; otherwise where a tensor is called x@2 itself. Names keep their order
 * until all are told apart. */
static bool tell_apart(struct lbx_collection *c)
{
	lb_auto_free char **names = calloc(c->n + 1, sizeof *names);
	bool done = names || lb_fail("out of memory for %zu tensors", c->n);

	for (size_t i = 0, first = 0, nth = 1; done && i < c->n; i++) {
		const struct lbx_collected *one = &c->list[c->by_name[i]];
		nth = i && strcmp(c->list[c->by_name[first]].name, one->name) == 0 ? nth + 1 : 1;
		first = nth == 1 ? i : first;
		char **to = &names[c->by_name[i]];
		if (nth > 1 && asprintf(to, "%s@%zu", one->name, nth) < 0)
			*to = NULL;
		if (nth > 1 && *to && lbx_collection_find(c, *to)) {
			free(*to);
			if (asprintf(to, "%s (no. %zu of that name)", one->name, nth) < 0)
				*to = NULL;
		}
		done = nth == 1 || *to || lb_fail("out of memory for %zu tensors", c->n);
	}
	for (size_t i = 0; names && i < c->n; i++) {
		if (!names[i])
			continue;
		free(c->list[i].name);
		c->list[i].name = names[i];
	}
	return done;
}

static bool index_names(struct lbx_collection *c)
{
	c->by_name = calloc(c->n + 1, sizeof *c->by_name);
	if (!c->by_name)
		return lb_fail("out of memory for %zu tensors", c->n);
	sort_names(c);
	if (!tell_apart(c))
		return false;
	sort_names(c);
	return true;
}

static bool collect(struct lbx_context *context, const char *glob, struct lbx_collection *c)
{
	struct lbx_tensors *tensors;
	struct lbx_tensor t;
	uint64_t slot = 0, bad = 0, seen = 0;
	enum lbx_next next;

	c->context = context;
	if (!lbx_context_tensors(context, &tensors))
		return false;
	while ((next = lbx_tensors_next(tensors, &slot, &t, &bad)) == LBX_NEXT_TENSOR) {
		struct lbx_collected one = { .key = lbx_tensor_key(&t), .sequence = lbx_sequence_of(&t) };
		if (++seen % 8192 == 0 && !lbx_progress(context->out, "listing", (int64_t)seen, 0))
			return false;
		if (t.name[0] && t.state != LBX_UNALLOCATED && lbx_name_matches(glob, t.name) && !add(c, t.name, &one))
			return false;
	}
	if (next != LBX_NEXT_END)
		return false;
	if (c->n)
		qsort(c->list, c->n, sizeof *c->list, by_order);
	return index_names(c);
}

bool lbx_collect(struct lbx_context *context, const char *glob, struct lbx_collection *ret)
{
	*ret = (struct lbx_collection){ .n = 0 };
	return collect(context, glob, ret);
}

static bool collect_saved(const char *glob, struct lbx_collection *c)
{
	for (size_t i = 0; i < c->checkpoint.n; i++) {
		const struct lbx_saved *saved = &c->checkpoint.list[i];
		if (lbx_name_matches(glob, saved->name) &&
		    !add(c, saved->name, &(struct lbx_collected){ .saved = saved }))
			return false;
	}
	return index_names(c);
}

bool lbx_collect_from(struct lbx_context *context, const char *path, const char *glob, struct lbx_collection *ret)
{
	*ret = (struct lbx_collection){ .context = context };
	if (!lbx_operand_is_elf(path) && !lbx_is_process(path))
		return lbx_checkpoint_open(context, &path, 1, &ret->checkpoint) && collect_saved(glob, ret);
	if (lbx_context_open_other(context, path, &ret->core) && collect(&ret->core, glob, ret))
		return true;
	lb_fail_within("%s", path);
	return false;
}

void lbx_collection_close(struct lbx_collection *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->list[i].name);
	free(c->list);
	free(c->by_name);
	lbx_checkpoint_close(&c->checkpoint);
	if (c->core.target)
		lbx_context_close_other(&c->core);
	*c = (struct lbx_collection){ .n = 0 };
}

const struct lbx_collected *lbx_collection_find(const struct lbx_collection *c, const char *name)
{
	size_t low = 0, high = c->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(name, c->list[c->by_name[middle]].name);
		if (order == 0)
			return &c->list[c->by_name[middle]];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

bool lbx_collected_get(const struct lbx_collection *c, const struct lbx_collected *one, struct lbx_operand *ret)
{
	struct lbx_selection s = { .slice_text = "" };

	memset(ret, 0, sizeof *ret);
	if (!one->saved)
		return lbx_tensor_by_key(&one->key, &s.tensor) && lbx_operand_selected(c->context, &s, ret);
	if (!lbx_array_list_get(&c->checkpoint.files[one->saved->file], one->saved->i, &ret->file))
		return false;
	ret->array = ret->file.array;
	ret->group = ret->file.group;
	lbx_operand_take_format(ret);
	return true;
}
