/* A row for each use and kind of memory. Where ranges of several rows lie over each other, as inputs that a runtime puts
 * where it computes, the memory counts for one of them: for the one that is first in `ranks`. */
#include "inspect/memory/resident.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "base/vector.h"
#include "inspect/tensor/format.h"

enum { OFTEN = 1 << 13, PIECE = 1 << 20 };

static const int ranks[LBX_USAGES] = {
	[LBX_USAGE_WEIGHTS] = 0, [LBX_USAGE_STATE] = 1,   [LBX_USAGE_COMPUTE] = 2,
	[LBX_USAGE_INPUTS] = 3,  [LBX_USAGE_UNKNOWN] = 4,
};

struct edge {
	uint64_t at;
	int row, change; /* +1 where a range begins */
};

struct taking {
	struct lbx_resident *r;
	struct lbx_resident_range *list;
	size_t n, room;
};

/* The row; the last one takes those of all kinds for which there is no room. */
static int row_of(struct lbx_resident *r, const struct lbx_tensor *t)
{
	const char *kind = t->memory ? t->memory : t->state == LBX_ON_DEVICE && t->place ? t->place : "";
	bool is_elsewhere = t->state == LBX_ON_DEVICE;
	int i = 0;

	for (; i < r->n; i++)
		if (r->rows[i].usage == t->usage && r->rows[i].is_elsewhere == is_elsewhere &&
		    strncmp(r->rows[i].kind, kind, LBX_RESIDENT_KIND - 1) == 0)
			return i;
	if (i == LBX_RESIDENT_ROWS)
		return i - 1;
	r->n++;
	r->rows[i] =
	    (struct lbx_resident_row){ .usage = t->usage, .is_elsewhere = is_elsewhere, .resident = -1, .filled = -1 };
	snprintf(r->rows[i].kind, sizeof r->rows[i].kind, "%s", kind);
	return i;
}

static bool take_tensor(struct taking *k, const struct lbx_tensor *t)
{
	struct lbx_resident *r = k->r;

	r->tensors++;
	r->states[lbx_told_state(t)]++;
	if (t->data == 0 || t->buffer_bytes <= 0 || t->data > UINT64_MAX - (uint64_t)t->buffer_bytes)
		return true;
	int row = row_of(r, t);
	r->rows[row].tensors += t->op_class != LB_CLASS_VIEW;
	if (!lb_reserve(k->list, k->room, k->n + 1))
		return lb_fail("out of memory for %zu tensors", k->n);
	k->list[k->n++] = (struct lbx_resident_range){ t->data, t->data + (uint64_t)t->buffer_bytes, row };
	return true;
}

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static int compare_rows(const void *a, const void *b)
{
	const struct lbx_resident_row *x = a, *y = b;

	return ranks[x->usage] != ranks[y->usage] ? ranks[x->usage] - ranks[y->usage] : strcmp(x->kind, y->kind);
}

/* Of those that are open the one that counts; -1: none is. */
static int first_open(const struct lbx_resident *r, const int64_t *open)
{
	int first = -1;

	for (int i = 0; i < r->n; i++)
		if (open[i] > 0 && (first < 0 || compare_rows(&r->rows[i], &r->rows[first]) < 0))
			first = i;
	return first;
}

/* Parts that lie apart, each of one row. */
static bool take_apart(struct taking *k)
{
	struct lbx_resident *r = k->r;
	int64_t open[LBX_RESIDENT_ROWS] = { 0 };
	size_t n = 0;
	int row = -1;

	lb_auto_free struct edge *edges = calloc(2 * k->n + 1, sizeof *edges);
	r->ranges = calloc(2 * k->n + 1, sizeof *r->ranges);
	if (!edges || !r->ranges)
		return lb_fail("out of memory for %zu tensors", k->n);
	for (size_t i = 0; i < k->n; i++) {
		edges[n++] = (struct edge){ k->list[i].start, k->list[i].row, 1 };
		edges[n++] = (struct edge){ k->list[i].end, k->list[i].row, -1 };
	}
	qsort(edges, n, sizeof *edges, compare_edges);
	for (size_t i = 0; i < n; i++) {
		struct lbx_resident_range *last = r->n_ranges ? &r->ranges[r->n_ranges - 1] : NULL;
		if (row >= 0)
			last->end = edges[i].at;
		open[edges[i].row] += edges[i].change;
		if (i + 1 < n && edges[i + 1].at == edges[i].at)
			continue;
		row = first_open(r, open);
		if (row >= 0 && !(last && last->row == row && last->end == edges[i].at))
			r->ranges[r->n_ranges++] = (struct lbx_resident_range){ edges[i].at, edges[i].at, row };
	}
	for (size_t i = 0; i < r->n_ranges; i++)
		r->rows[r->ranges[i].row].bytes += (int64_t)(r->ranges[i].end - r->ranges[i].start);
	return true;
}

bool lbx_resident_take(struct lbx_context *context, struct lbx_resident *ret)
{
	struct taking k = { .r = ret };
	struct lbx_tensors *tensors;
	struct lbx_tensor t;
	uint64_t slot = 0;
	enum lbx_next next = LBX_NEXT_ERROR;

	*ret = (struct lbx_resident){ .n = 0 };
	bool ok = lbx_context_tensors(context, &tensors);
	while (ok && (next = lbx_tensors_next(tensors, &slot, &t, &ret->unreadable)) == LBX_NEXT_TENSOR)
		ok = take_tensor(&k, &t) &&
		     (ret->tensors % OFTEN || lbx_progress(context->out, "adding up memory", ret->tensors, 0));
	ok = ok && next == LBX_NEXT_END && take_apart(&k);
	free(k.list);
	if (!ok)
		lbx_resident_deinit(ret);
	return ok;
}

void lbx_resident_deinit(struct lbx_resident *r)
{
	free(r->ranges);
	*r = (struct lbx_resident){ .n = 0 };
}

void lbx_resident_look(struct lbx_resident *r, struct lbx_target *target)
{
	uint64_t bytes;

	for (int i = 0; i < r->n; i++)
		r->rows[i].resident = r->rows[i].is_elsewhere ? -1 : 0;
	for (size_t i = 0; i < r->n_ranges; i++) {
		struct lbx_resident_row *row = &r->rows[r->ranges[i].row];
		uint64_t n = r->ranges[i].end - r->ranges[i].start;
		if (row->resident < 0)
			continue;
		if (lbx_target_resident(target, r->ranges[i].start, n, &bytes))
			row->resident += (int64_t)bytes;
		else
			row->resident = -1;
	}
}

/* n: of whole lines, but for the last one. */
static int64_t filled_of(const char *bytes, size_t n)
{
	static const char zeros[LBX_RESIDENT_LINE];
	int64_t filled = 0;

	for (size_t i = 0; i < n; i += LBX_RESIDENT_LINE) {
		size_t line = n - i < LBX_RESIDENT_LINE ? n - i : LBX_RESIDENT_LINE;
		if (memcmp(bytes + i, zeros, line) != 0)
			filled += (int64_t)line;
	}
	return filled;
}

bool lbx_resident_fill(struct lbx_resident *r, struct lbx_target *target, int64_t limit, struct lbx_out *out)
{
	lb_auto_free char *piece = malloc(PIECE);
	int64_t all = 0, done = 0;

	if (!piece)
		return lb_fail("out of memory");
	for (int i = 0; i < r->n; i++) {
		bool is_read = r->rows[i].usage == LBX_USAGE_STATE && !r->rows[i].is_elsewhere;
		r->rows[i].filled = is_read ? 0 : -1;
		all += is_read ? r->rows[i].bytes : 0;
	}
	for (size_t i = 0; i < r->n_ranges; i++) {
		const struct lbx_resident_range *range = &r->ranges[i];
		struct lbx_resident_row *row = &r->rows[range->row];
		for (uint64_t at = range->start, n; at < range->end && row->filled >= 0; at += n, done += (int64_t)n) {
			n = range->end - at < PIECE ? range->end - at : PIECE;
			if (out && !lbx_progress(out, "reading caches", done, all))
				return false;
			if (all <= limit && lbx_target_try_read(target, at, piece, n))
				row->filled += filled_of(piece, n);
			else
				row->filled = -1;
		}
	}
	return true;
}

static void tell_row(struct lbx_out *out, const struct lbx_resident_row *row, bool is_shown)
{
	const char *usage = row->usage ? lbx_usage_name(row->usage) : "of unknown use";
	char bytes[32], resident[32] = "?", filled[32];

	LBX_KEY(out, NULL,
		json_pack("{s:o,s:o,s:b,s:I,s:I,s:o,s:o}", "usage", lbx_json_text(lbx_usage_name(row->usage)), "kind",
			  lbx_json_text(row->kind), "on_device", row->is_elsewhere, "tensors", (json_int_t)row->tensors,
			  "bytes", (json_int_t)row->bytes, "resident",
			  lbx_json_int_if(row->resident >= 0, row->resident), "not_zero",
			  lbx_json_int_if(row->filled >= 0, row->filled)));
	if (!is_shown)
		return;
	lbx_format_bytes(row->bytes, bytes, sizeof bytes);
	if (row->resident >= 0)
		lbx_format_bytes(row->resident, resident, sizeof resident);
	lbx_printf(out, "%10s %10s %8lld  %s%s%s", bytes, row->is_elsewhere ? "device" : resident,
		   (long long)row->tensors, usage, row->kind[0] ? ", " : "", row->kind);
	if (row->filled >= 0) {
		lbx_format_bytes(row->filled, filled, sizeof filled);
		lbx_printf(out, "; %s not zero", filled);
	}
	lbx_printf(out, "\n");
}

void lbx_resident_tell(struct lbx_out *out, const struct lbx_resident *r, int lines)
{
	struct lbx_resident_row rows[LBX_RESIDENT_ROWS];

	memcpy(rows, r->rows, sizeof rows);
	qsort(rows, (size_t)r->n, sizeof *rows, compare_rows);
	lbx_styled(out, LBX_TITLE, "%10s %10s %8s  %s\n", "memory", "resident", "tensors", "of what");
	lbx_begin_list(out, "memory");
	for (int i = 0; i < r->n; i++)
		tell_row(out, &rows[i], i < lines);
	lbx_end(out);
	if (r->n > lines)
		lbx_printf(out, "  … %d more\n", r->n - lines);
}
