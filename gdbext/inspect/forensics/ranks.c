/* The processes of one job side by side. Each core is opened, digested (rank_digest.h), and closed again before the next:
 * memory grows with the number of names and cores, never with the size of the values or of the cores.
 *
 * Tensors of one name meet in one row; a name that a process used several times has a row for
 * each, in the order of creation. Ranks run the same program, so a row's place in the order of
 * creation is the smallest id that a rank gave it. */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "base/vector.h"
#include "inspect/command.h"
#include "inspect/forensics/rank_digest.h"
#include "inspect/tensor/format.h"

enum { MAX_CORES = 65536, TEXT = 512 };

struct row {
	char *name;
	int64_t occurrence; /* from 0 */
	int64_t met; /* in row 0 of a name: how often the core in hand has had it */
	size_t met_in;
	uint64_t order;
	struct lbx_digested *cells; /* one a core; their names are the row's */
};

struct member {
	const char *path;
	int64_t rank; /* -1: it could not be read */
	size_t index; /* of its cells */
	char error[TEXT]; /* why it could not be read; "" */
	bool opened; /* then an error does not name the core */
};

struct job {
	struct lbx_context *context;
	const char *glob;
	bool replay;
	size_t n, n_read, n_rows, room;
	struct member *members;
	struct row **rows;
	void *tree; /* of rows, by name and occurrence */
};

static int by_name(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = strcmp(x->name, y->name);
	return order ? order : (x->occurrence > y->occurrence) - (x->occurrence < y->occurrence);
}

static int by_order(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
	return x->order != y->order ? (x->order < y->order ? -1 : 1) : by_name(x, y);
}

static int by_rank(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
				  : (x->index > y->index) - (x->index < y->index);
}

static void row_destroy(struct row *row, size_t n)
{
	if (!row)
		return;
	for (size_t i = 0; row->cells && i < n; i++)
		free(row->cells[i].shape);
	free(row->name);
	free(row->cells);
	free(row);
}

/* The row of a name's occurrence, made if need be. */
static struct row *row_of(struct job *job, char *name, int64_t occurrence)
{
	struct row key = { .name = name, .occurrence = occurrence };
	struct row **found = tfind(&key, &job->tree, by_name);

	if (found)
		return *found;
	if (!lb_reserve(job->rows, job->room, job->n_rows + 1))
		return NULL;
	struct row *row = calloc(1, sizeof *row);
	if (!row)
		return NULL;
	*row = (struct row){ strdup(name), occurrence, 0, 0, UINT64_MAX, calloc(job->n, sizeof *row->cells) };
	if (!row->name || !row->cells || !tsearch(row, &job->tree, by_name)) {
		row_destroy(row, job->n);
		return NULL;
	}
	return job->rows[job->n_rows++] = row;
}

static struct row *next_row_of(struct job *job, char *name, size_t index)
{
	struct row *first = row_of(job, name, 0);

	if (!first)
		return NULL;
	if (first->met_in != index + 1) {
		first->met_in = index + 1;
		first->met = 0;
	}
	return first->met++ ? row_of(job, name, first->met - 1) : first;
}

static bool take_digest(struct job *job, struct member *member, struct lbx_rank_digest *ret)
{
	struct lbx_context context;

	*ret = (struct lbx_rank_digest){ .rank = -1 };
	if (lbx_is_rank_digest(member->path))
		return lbx_rank_digest_read(member->path, job->glob, ret);
	member->opened = lbx_context_open_other(job->context, member->path, &context);
	bool done = member->opened && lbx_rank_digest_take(&context, job->glob, job->replay, ret);
	lbx_context_close_other(&context);
	return done;
}

/* The rows take over what it has. */
static bool add_digest(struct job *job, const struct member *member, struct lbx_rank_digest *d)
{
	for (size_t i = 0; i < d->n; i++) {
		struct lbx_digested *one = &d->list[i];
		struct row *row = next_row_of(job, one->name, member->index);
		if (!row)
			return lb_fail("out of memory");
		row->order = one->id < row->order ? one->id : row->order;
		free(row->cells[member->index].shape);
		row->cells[member->index] = *one;
		row->cells[member->index].name = NULL;
		one->shape = NULL;
	}
	return true;
}

/* Of what turns out to be unreadable, nothing is taken. */
static void read_member(struct job *job, struct member *member)
{
	struct lbx_rank_digest d;

	if (take_digest(job, member, &d) && add_digest(job, member, &d)) {
		member->rank = d.rank;
		job->n_read++;
	} else {
		snprintf(member->error, sizeof member->error, "%s", lb_error_message());
		lb_clear_error();
	}
	lbx_rank_digest_deinit(&d);
}

static bool sort_members(struct job *job)
{
	int64_t next = 0;

	for (size_t i = 0; i < job->n; i++)
		next = job->members[i].rank >= next ? job->members[i].rank + 1 : next;
	/* without a launcher's number: as the cores are given */
	for (size_t i = 0; i < job->n; i++)
		if (job->members[i].rank < 0 && !job->members[i].error[0])
			job->members[i].rank = next++;
	qsort(job->members, job->n, sizeof *job->members, by_rank);
	for (size_t i = 1; i < job->n; i++)
		if (job->members[i].rank >= 0 && job->members[i].rank == job->members[i - 1].rank)
			return lb_fail("%s and %s are both of rank %lld: are they of one job?",
				       job->members[i - 1].path, job->members[i].path, (long long)job->members[i].rank);
	return true;
}

static size_t count(const struct job *job, const struct row *row, enum lbx_digested_as found)
{
	size_t n = 0;

	for (size_t i = 0; i < job->n; i++)
		n += row->cells[i].found == found;
	return n;
}

static bool is_same(const struct lbx_digested *a, const struct lbx_digested *b)
{
	return lbx_digest_equal(&a->digest, &b->digest) && a->rank == b->rank &&
	       memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0;
}

static bool differs(const struct job *job, const struct row *row)
{
	const struct lbx_digested *first = NULL;

	for (size_t i = 0; i < job->n; i++) {
		const struct lbx_digested *cell = &row->cells[i];
		if (cell->found != LBX_VALUE)
			continue;
		if (first && !is_same(first, cell))
			return true;
		first = first ? first : cell;
	}
	return false;
}

struct tally {
	int64_t equal, different, lazy, alone, unreadable; /* rows; alone: a value in one rank at most */
};

static struct tally tally(const struct job *job)
{
	struct tally ret = { 0, 0, 0, 0, 0 };

	for (size_t i = 0; i < job->n_rows; i++) {
		const struct row *row = job->rows[i];
		size_t values = count(job, row, LBX_VALUE);
		ret.unreadable += count(job, row, LBX_UNREADABLE) > 0;
		if (differs(job, row))
			ret.different++;
		else if (values >= 2)
			ret.equal++;
		else if (count(job, row, LBX_LAZY_STILL))
			ret.lazy++;
		else if (job->n_read > 1)
			ret.alone++;
	}
	return ret;
}

/* The members whose value equals that of `leader`, who is the first of them. */
static bool follows(const struct job *job, const struct row *row, size_t leader, size_t i)
{
	const struct lbx_digested *a = &row->cells[job->members[leader].index];
	const struct lbx_digested *b = &row->cells[job->members[i].index];
	return a->found == LBX_VALUE && b->found == LBX_VALUE && is_same(a, b);
}

static bool leads(const struct job *job, const struct row *row, size_t i)
{
	for (size_t before = 0; before < i; before++)
		if (follows(job, row, before, i))
			return false;
	return row->cells[job->members[i].index].found == LBX_VALUE;
}

/* "0-2, 7" */
static void name_ranks(const struct job *job, const struct row *row, size_t leader, char *ret, size_t size)
{
	size_t used = 0;

	ret[0] = '\0';
	for (size_t i = leader; i < job->n; i++) {
		if (!follows(job, row, leader, i))
			continue;
		int64_t from = job->members[i].rank;
		while (i + 1 < job->n && job->members[i + 1].rank == job->members[i].rank + 1 &&
		       follows(job, row, leader, i + 1))
			i++;
		used += (size_t)snprintf(ret + used, size - used, "%s%lld", used ? ", " : "", (long long)from);
		if (used < size && job->members[i].rank > from)
			used += (size_t)snprintf(ret + used, size - used, "-%lld", (long long)job->members[i].rank);
		if (used + 24 >= size) {
			snprintf(ret + size - 4, 4, "...");
			return;
		}
	}
}

static json_t *json_group(const struct job *job, const struct row *row, size_t leader)
{
	const struct lbx_digested *cell = &row->cells[job->members[leader].index];
	json_t *ranks = json_array(), *figures = lbx_json_digest(&cell->digest);

	for (size_t i = leader; i < job->n; i++)
		if (follows(job, row, leader, i))
			json_array_append_new(ranks, json_integer(job->members[i].rank));
	json_t *ret = json_pack("{s:o,s:s,s:o}", "ranks", ranks, "dtype", lbx_dtype_name(cell->digest.dtype), "shape",
				lbx_json_list(cell->shape, cell->rank));
	json_object_update(ret, figures);
	json_decref(figures);
	return ret;
}

static void tell_row(const struct job *job, const struct row *row)
{
	struct lbx_out *out = job->context->out;
	char ranks[128], shape[LBX_LIST_MAX];

	lbx_begin(out, NULL);
	lbx_tell(out, "%pF", LBX_STYLED(LBX_NAME, "name", row->name));
	LBX_KEY(out, "occurrence", json_integer((json_int_t)row->occurrence));
	if (row->occurrence)
		lbx_printf(out, " (no. %lld of that name)", (long long)row->occurrence + 1);
	lbx_printf(out, " differs:\n");
	lbx_begin_list(out, "values");
	for (size_t i = 0; i < job->n; i++) {
		if (!leads(job, row, i))
			continue;
		const struct lbx_digested *cell = &row->cells[job->members[i].index];
		const struct lbx_digest *d = &cell->digest;
		LBX_KEY(out, NULL, json_group(job, row, i));
		name_ranks(job, row, i, ranks, sizeof ranks);
		lbx_format_list(cell->shape, cell->rank, shape, sizeof shape);
		lbx_printf(out, "  rank %s: %s %s, checksum %016llx, mean %.9g, std %.6g, min %.9g, max %.9g", ranks,
			   lbx_dtype_name(d->dtype), shape, (unsigned long long)d->checksum, d->mean, d->std, d->min,
			   d->max);
		if (d->nan || d->inf)
			lbx_styled(out, LBX_WARNING, ", %lld NaN, %lld Inf", (long long)d->nan, (long long)d->inf);
		lbx_printf(out, "\n");
	}
	lbx_end(out);
	lbx_end(out);
}

static void tell_members(const struct job *job)
{
	struct lbx_out *out = job->context->out;

	lbx_begin_list(out, "ranks");
	for (size_t i = 0; i < job->n; i++) {
		const struct member *m = &job->members[i];
		LBX_KEY(out, NULL,
			json_pack("{s:o,s:o,s:o}", "rank", lbx_json_int_if(!m->error[0], m->rank), "core",
				  lbx_json_string(m->path), "error", lbx_json_text(m->error)));
		if (m->error[0])
			lbx_styled(out, LBX_WARNING, "not read: %s%s%s\n", m->opened ? m->path : "",
				   m->opened ? ": " : "", m->error);
	}
	lbx_end(out);
}

static void print_tally(const struct job *job, const struct tally *t)
{
	struct lbx_out *out = job->context->out;

	if (job->n_read < 2) {
		lbx_printf(out, "%s: nothing to compare\n", job->n_read ? "1 rank" : "no rank");
		return;
	}
	lbx_printf(out,
		   "%zu rank%s, %zu name%s: %lld equal everywhere, %lld differ, %lld lazy%s, %lld in one "
		   "rank alone",
		   job->n_read, LB_S(job->n_read), job->n_rows, LB_S(job->n_rows), (long long)t->equal,
		   (long long)t->different, (long long)t->lazy,
		   t->lazy && !job->replay ? " (--replay computes them)" : "", (long long)t->alone);
	lbx_printf(out, t->unreadable ? ", %lld not all readable\n" : "\n", (long long)t->unreadable);
	if (t->different)
		lbx_printf(out, "In the order of creation:\n");
}

static void tell(const struct job *job, const struct tally *t, int64_t limit)
{
	struct lbx_out *out = job->context->out;
	int64_t shown = 0;

	lbx_begin(out, NULL);
	tell_members(job);
	LBX_KEYS(out,
		 json_pack("{s:I,s:I,s:I,s:I,s:I,s:I}", "names", (json_int_t)job->n_rows, "equal", (json_int_t)t->equal,
			   "different", (json_int_t)t->different, "lazy", (json_int_t)t->lazy, "alone",
			   (json_int_t)t->alone, "unreadable", (json_int_t)t->unreadable));
	print_tally(job, t);
	lbx_begin_list(out, "differing");
	for (size_t i = 0; i < job->n_rows && shown < limit && job->n_read > 1; i++) {
		if (!differs(job, job->rows[i]))
			continue;
		tell_row(job, job->rows[i]);
		shown++;
	}
	lbx_end(out);
	if (shown < t->different && job->n_read > 1)
		lbx_printf(out, "… %lld more (--limit 0 shows all)\n", (long long)(t->different - shown));
	lbx_end(out);
}

static bool compare(struct job *job, int64_t limit)
{
	struct lbx_out *out = job->context->out;
	size_t unread = 0;

	for (size_t i = 0; i < job->n; i++) {
		if (!lbx_progress(out, "reading cores", (int64_t)i, (int64_t)job->n))
			return false;
		job->members[i] = (struct member){ .path = job->context->cores[i], .rank = -1, .index = i };
		read_member(job, &job->members[i]);
		unread += job->members[i].error[0] != '\0';
	}
	if (!sort_members(job))
		return false;
	if (job->n_rows)
		qsort(job->rows, job->n_rows, sizeof *job->rows, by_order);
	struct tally t = tally(job);
	tell(job, &t, limit);
	return unread ? lb_fail("%zu of %zu core%s could not be read", unread, job->n, LB_S(job->n)) : lb_ok();
}

static bool run_ranks(struct lbx_context *context, const struct lbx_args *args)
{
	struct job job = { .context = context,
			   .glob = lbx_args_option(args, "names"),
			   .replay = lbx_args_option(args, "replay") };
	int64_t limit = context->out->json ? INT64_MAX : 10;

	if (!lbx_args_limit(args, &limit))
		return false;
	while (context->cores[job.n])
		job.n++;
	if (job.n < 2 || job.n > MAX_CORES)
		return lbx_misuse("ranks compares 2 to %d cores, not %zu", MAX_CORES, job.n);
	job.members = calloc(job.n, sizeof *job.members);
	bool done = job.members ? compare(&job, limit) : lb_fail("out of memory");
	for (size_t i = 0; i < job.n_rows; i++) {
		tdelete(job.rows[i], &job.tree, by_name);
		row_destroy(job.rows[i], job.n);
	}
	free(job.rows);
	free(job.members);
	return done;
}

const struct lbx_command lbx_command_ranks = {
	.name = "ranks",
	.arguments = "CORE|DIGEST...",
	.summary = "line up the tensors of one job's processes, and name the first that diverges",
	.help = "Each core is of one rank (OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK or SLURM_PROCID\n"
		"of the process's environment; without one, in the order given). Tensors of one name\n"
		"are compared bit for bit; those that differ are shown in the order of creation, each\n"
		"value with its ranks, checksum and statistics. Lazy tensors are left out. One core\n"
		"is open at a time: memory grows with the names, not with the values. What `digest` wrote\n"
		"of a core stands for it.\n"
		"Example: ranks rank*.core --names 'layers.*'\n"
		"prints, where rank 2 has other inputs than the rest:\n"
		"  layers.0.out differs:\n"
		"    rank 0-1, 3: float32 (24,), checksum 6d55125aa36e4781, mean 11.5, ...\n"
		"    rank 2: float32 (24,), checksum aaf91ceebdb42fed, mean 12.5, ...",
	.needs = LBX_NEEDS_CORES,
	.options = {
		{ "names", "GLOB", "only tensors of these names" },
		{ "replay", NULL, "compute lazy tensors outside the program" },
		{ "limit", "N", "show N that differ at most (default 10, JSON all); 0: all" },
	},
	.run = run_ranks,
};
