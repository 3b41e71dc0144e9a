/* Filter, sort, show. A table may hold millions: what is kept of each match is its slot, its id
 * and its sort key (by name, the name); records are read again when their row is written. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/number_map.h"
#include "base/plural.h"
#include "base/vector.h"
#include "inspect/command.h"
#include "inspect/file.h"
#include "inspect/convenience.h"
#include "inspect/measure/digest.h"
#include "inspect/measure/ranking.h"
#include "inspect/operand/value.h"
#include "inspect/providers.h"
#include "inspect/show/filter.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/format.h"
#include "inspect/tensor/json.h"
#include "inspect/tensor/name.h"
#include "target/columns.h"

enum { DEFAULT_LIMIT = 50, ANY_WIDTH = 1 << 30, MEASURED = 1000, CELL = LBX_LIST_MAX };
enum { MOST_HANDLES = 256 };
enum { SHORT = 10 }; /* no column becomes shorter */
enum { ID, PROVIDER, NAME, DTYPE, SHAPE, STATE, OP, BYTES, FIGURE, COLUMNS };

enum sort { BY_ID, BY_NAME, BY_SIZE, BY_BYTES, BY_STATE, BY_DTYPE, BY_FIGURE };
static const char *const sorts[] = { "id", "name", "size", "bytes", "state", "dtype" };

struct row {
	uint64_t slot, id;
	int64_t key;
	double figure, rank; /* NaN: it has none; the highest rank comes first */
	char *name;
};

struct list {
	const char *glob;
	struct lbx_tensors *tensors; /* of one provider, or of all */
	int state, dtype; /* -1: any */
	const char *encoding; /* the name of one; NULL: any */
	bool has_encoding;    /* some tensor has it */
	struct lbx_filter filter;
	uint64_t handles[MOST_HANDLES];
	int n_handles;   /* only tensors with these; 0: any */
	int64_t digests; /* bytes of values that may still be read for digests; -1: none is wanted */
	enum sort sort;
	enum lbx_ranking ranking; /* BY_FIGURE */
	struct row *rows;
	size_t n, room;
	size_t from; /* the first row that is shown */
	uint64_t bad, seen, by_state[LBX_STATES];
	int64_t ready_bytes, lazy_bytes; /* of the buffers, each once; of what is no view */
	struct lbx_number_map buffers;      /* those of several tensors */
	struct lbx_tensor_text text;     /* of the row that is told */
};

static int find_word(const char *const *words, int n, const char *word)
{
	for (int i = 0; i < n; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return -1;
}

/* Which encodings there are, the tensors tell. */
static void parse_dtype(const char *text, struct list *list)
{
	enum lb_dtype dtype;

	if (lbx_dtype_parse(text, &dtype))
		list->dtype = (int)dtype;
	else
		list->encoding = text;
}

static bool check_encoding(const struct list *list)
{
	return !list->encoding || list->has_encoding || lbx_encoding_of_blocks(list->encoding) ||
	       lbx_misuse("list: no dtype '%s': there are bool, uint8 to uint64, int8 to int64, float16, bfloat16, "
			  "float32, float64 and complex64",
			  list->encoding);
}

static bool parse_handles(const char *text, struct list *list)
{
	for (char *end; *text; text = end + (*end == ',')) {
		uint64_t address = strtoull(text, &end, 0);
		if (end == text || (*end && *end != ','))
			return lbx_misuse("list: --handles takes addresses, 0x7f3b30,0x7f3c10, not '%s'", text);
		if (list->n_handles == MOST_HANDLES)
			return lbx_misuse("list: --handles takes %d addresses at most", MOST_HANDLES);
		list->handles[list->n_handles++] = address;
	}
	return list->n_handles > 0 || lbx_misuse("list: --handles takes addresses, 0x7f3b30,0x7f3c10");
}

static bool is_handle(const struct list *list, uint64_t address)
{
	for (int i = 0; i < list->n_handles; i++)
		if (list->handles[i] == address)
			return true;
	return list->n_handles == 0;
}

static bool parse(const struct lbx_args *args, struct list *list)
{
	const char *state = lbx_args_option(args, "state"), *dtype = lbx_args_option(args, "dtype");
	const char *sort = lbx_args_option(args, "sort"), *handles = lbx_args_option(args, "handles");

	list->glob = args->n ? args->v[0] : NULL;
	list->state = list->dtype = -1;
	if (state) {
		enum lbx_state parsed;
		if (!lbx_state_parse(state, &parsed) || parsed == LBX_FREED)
			return lbx_misuse(
			    "list: no state '%s': there are lazy, evaluating, ready, overwritten, "
			    "in memory, unsure, unallocated, on device, repacked, opaque, not saved and damaged",
			    state);
		list->state = (int)parsed;
	}
	if (sort && lbx_ranking_parse(sort, &list->ranking)) {
		list->sort = BY_FIGURE;
	} else if (sort) {
		int key = find_word(sorts, sizeof sorts / sizeof *sorts, sort);
		if (key < 0)
			return lbx_misuse(
			    "list: cannot sort by '%s': expected id, name, size, bytes, state, dtype, min, "
			    "max, mean, std, nan or inf",
			    sort);
		list->sort = (enum sort)key;
	}
	if (dtype)
		parse_dtype(dtype, list);
	return !handles || parse_handles(handles, list);
}

static bool matches(struct list *list, const struct lbx_tensor *t)
{
	bool encoded = list->encoding && t->encoding && strcasecmp(t->encoding->name, list->encoding) == 0;

	list->has_encoding |= encoded;
	return is_handle(list, t->address) && (list->state < 0 || lbx_told_state(t) == (enum lbx_state)list->state) &&
	       (list->dtype < 0 || (t->dtype == (enum lb_dtype)list->dtype && !t->encoding)) &&
	       (!list->encoding || encoded) && (!list->glob || lbx_name_matches(list->glob, t->name));
}

static int64_t capped_sum(int64_t a, int64_t b)
{
	int64_t sum;
	return lb_sum_of(a, b, &sum) ? sum : INT64_MAX;
}

/* Encodings after the dtypes, by the beginnings of their names. */
static int64_t dtype_key(const struct lbx_tensor *t)
{
	uint64_t key = 0;

	if (!t->encoding)
		return (int64_t)t->dtype;
	for (size_t i = 0, n = strlen(t->encoding->name); i < 7; i++)
		key = key << 8 | (i < n ? (unsigned char)t->encoding->name[i] : 0);
	return (int64_t)key;
}

/* Of its values, as far as they are there and can be read. */
static double figure_of(struct lbx_context *context, const struct list *list, const struct lbx_tensor *t)
{
	struct lbx_summary summary;

	if (list->sort != BY_FIGURE || t->state != LBX_READY || t->size == 0)
		return NAN;
	if (lbx_summary_of_tensor(context, t, &summary))
		return lbx_ranking_figure(list->ranking, &summary);
	if (lb_error_cause() != LB_INTERRUPTED && !lbx_target_waits(context->target))
		lb_clear_error();
	return NAN;
}

static bool add_row(struct lbx_context *context, struct list *list, uint64_t slot, const struct lbx_tensor *t)
{
	int64_t bytes = lbx_tensor_nbytes(t);

	if (!lb_reserve(list->rows, list->room, list->n + 1))
		return lb_fail("out of memory for a list of %zu tensors", list->n);
	struct row *row = &list->rows[list->n++];
	*row = (struct row){ .slot = slot, .id = t->id, .figure = figure_of(context, list, t) };
	row->rank = list->ranking == LBX_BY_MIN ? -row->figure : row->figure;
	if (!lb_ok())
		return false;
	/* large things first */
	row->key = list->sort == BY_SIZE    ? -t->size
		   : list->sort == BY_BYTES ? -bytes
		   : list->sort == BY_STATE ? (int64_t)lbx_told_state(t)
		   : list->sort == BY_DTYPE ? dtype_key(t)
					    : 0;
	if (list->sort == BY_NAME && !(row->name = strdup(t->name)))
		return lb_fail("out of memory for a list of %zu tensors", list->n);
	list->by_state[lbx_told_state(t)]++;
	bool counts = t->state == LBX_READY
			  ? t->buffer_id != 0
			  : lbx_tensor_is_pending(t) && t->state != LBX_UNALLOCATED && t->op_class != LB_CLASS_VIEW;
	if (t->buffer_id && t->buffer_refs != 1 && !lbx_number_at(&list->buffers, t->of, t->buffer_id, &counts))
		return false;
	if (counts && lbx_told_state(t) == LBX_READY)
		list->ready_bytes = capped_sum(list->ready_bytes, t->buffer_bytes);
	else if (counts && lbx_tensor_is_pending(t))
		list->lazy_bytes = capped_sum(list->lazy_bytes, bytes);
	return true;
}

static int compare(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->name && b->name) {
		/* those without a name come last */
		int order = (!a->name[0] - !b->name[0]) * 2;
		order = order ? order : strcmp(a->name, b->name);
		if (order)
			return order;
	}
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (isnan(a->rank) != isnan(b->rank))
		return isnan(a->rank) ? 1 : -1;
	if (!isnan(a->rank) && a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static bool collect_wanted(struct lbx_context *context, struct list *list)
{
	struct lbx_tensor t;
	uint64_t slot = 0;
	bool sorted = true;
	enum lbx_next next;

	while ((next = lbx_tensors_next(list->tensors, &slot, &t, &list->bad)) == LBX_NEXT_TENSOR) {
		if (++list->seen % 8192 == 0 && !lbx_progress(context->out, "listing", (int64_t)list->seen, 0))
			return false;
		bool takes = matches(list, &t) && lbx_filter_takes(context, &list->filter, &t);
		if (!lb_ok())
			return false;
		if (!takes)
			continue;
		if (!add_row(context, list, slot - 1, &t))
			return false;
		if (list->n > 1 && sorted)
			sorted = compare(&list->rows[list->n - 2], &list->rows[list->n - 1]) < 0;
	}
	if (!sorted)
		qsort(list->rows, list->n, sizeof *list->rows, compare);
	if (lbx_target_waits(context->target))
		return lb_fail("list: the places are not known yet: the debugger has not answered yet");
	return next == LBX_NEXT_END && lbx_filter_check(&list->filter);
}

static bool collect(struct lbx_context *context, struct list *list)
{
	struct lbx_wish wish = {
		.no_names = !list->glob && list->sort != BY_NAME,
		.pattern = list->glob,
		.matches = lbx_name_matches,
	};

	lbx_tensors_want(list->tensors, &wish);
	bool ok = collect_wanted(context, list);
	lbx_tensors_want(list->tensors, NULL);
	list->seen += wish.left_out;
	return ok;
}

static bool asks_on(struct lbx_out *out, size_t i, size_t shown)
{
	return i % 1024 != 1023 || lbx_progress(out, "listing", (int64_t)i, (int64_t)shown);
}

/* Reads a row's record again: in a program that runs it may be gone. */
static bool reread(const struct list *list, const struct row *row, struct lbx_tensor *ret)
{
	uint64_t slot = row->slot, bad = 0;
	return lbx_tensors_next(list->tensors, &slot, ret, &bad) == LBX_NEXT_TENSOR && ret->id == row->id;
}

static const char titles[COLUMNS][CELL] = {
	"id", "provider", "name", "dtype", "shape", "state", "op", "bytes", "",
};

static void cells(const struct list *list, const struct row *row, const struct lbx_tensor *t, char ret[COLUMNS][CELL])
{
	snprintf(ret[ID], CELL, "#%" PRIu64, t->id);
	snprintf(ret[PROVIDER], CELL, "%s", t->of->provider);
	snprintf(ret[NAME], CELL, "%s", t->name);
	snprintf(ret[DTYPE], CELL, "%s", lbx_tensor_dtype_name(t));
	lbx_format_list(lbx_shape(t), t->rank, ret[SHAPE], CELL);
	snprintf(ret[STATE], CELL, "%s%s", lbx_state_name(lbx_told_state(t)), t->torn ? ", torn" : "");
	snprintf(ret[OP], CELL, "%s", t->op);
	lbx_format_bytes(lbx_tensor_nbytes(t), ret[BYTES], CELL);
	strcpy(ret[FIGURE], list->sort == BY_FIGURE ? "-" : "");
	if (list->sort == BY_FIGURE && !isnan(row->figure))
		snprintf(ret[FIGURE], CELL, "%.6g", row->figure);
}

static bool measure(struct lbx_out *out, const struct list *list, size_t shown, bool several, int *widths)
{
	char cell[COLUMNS][CELL];
	struct lbx_tensor t;

	for (int c = 0; c < COLUMNS; c++)
		widths[c] = lbx_columns(titles[c]);
	if (list->sort == BY_FIGURE)
		widths[FIGURE] = lbx_columns(lbx_ranking_names[list->ranking]);
	for (size_t i = 0; i < shown; i++) {
		/* ids grow: the last are long */
		if (out->width < ANY_WIDTH && i >= MEASURED && shown - i > MEASURED)
			i = shown - MEASURED;
		if (!asks_on(out, i, shown))
			return false;
		if (!reread(list, &list->rows[list->from + i], &t))
			continue;
		cells(list, &list->rows[list->from + i], &t, cell);
		for (int c = 0; c < COLUMNS; c++)
			if (lbx_columns(cell[c]) > widths[c])
				widths[c] = lbx_columns(cell[c]);
	}
	if (!several)
		widths[PROVIDER] = 0;
	return true;
}

/* A name and a shape tell little below these widths; an operation is told by its beginning. */
static const int least[COLUMNS] = { [NAME] = 20, [SHAPE] = 12, [OP] = 10 };

static int shortest(const int *widths, int c)
{
	return least[c] && widths[c] > least[c] ? least[c] : widths[c];
}

/* What a table of these columns takes, if some are as short as they may be. */
static int total(const int *widths, bool short_ones)
{
	int sum = -2;

	for (int c = 0; c < COLUMNS; c++)
		sum += widths[c] ? (short_ones ? shortest(widths, c) : widths[c]) + 2 : 0;
	return sum;
}

static void narrow(int *width, int to, int *more)
{
	int less = *width - to < *more ? *width - to : *more;

	if (less > 0) {
		*width -= less;
		*more -= less;
	}
}

/* Where there is not enough room, operations become shorter, then names, then shapes; where that is not
 * enough, whole columns go first, and what is left becomes as short as it must. */
static void fit(int *widths, int room)
{
	static const int yielding[] = { OP, NAME, SHAPE }, dropped[] = { OP, BYTES, PROVIDER, DTYPE, STATE };

	for (int i = 0; i < 5 && total(widths, true) > room; i++)
		widths[dropped[i]] = 0;
	int more = total(widths, false) - room;
	for (int i = 0; i < 3; i++)
		narrow(&widths[yielding[i]], shortest(widths, yielding[i]), &more);
	for (int i = 0; i < 3; i++)
		narrow(&widths[yielding[i]], SHORT, &more);
}

/* Numbers stand right. */
static void print_row(struct lbx_out *out, const int *widths, const char cell[COLUMNS][CELL], bool is_title)
{
	int last = COLUMNS - 1;

	while (widths[last] == 0)
		last--;
	for (int c = 0; c <= last; c++) {
		int own = lbx_columns(cell[c]), width = c == last && own < widths[c] ? own : widths[c];
		if (widths[c] == 0)
			continue;
		lbx_cell(out,
			 is_title    ? LBX_TITLE
			 : c == NAME ? LBX_NAME
				     : LBX_PLAIN,
			 c == BYTES || c == FIGURE ? -widths[c] : width, cell[c]);
		lbx_printf(out, "%s", c < last ? "  " : "");
	}
	lbx_printf(out, "\n");
}

/* The widths of the columns, and their titles. */
static bool print_titles(struct lbx_context *context, const struct list *list, size_t shown, int *widths)
{
	if (!measure(context->out, list, shown, context->n_sets > 1, widths))
		return false;
	if (!context->out->whole_lines)
		fit(widths, context->out->width);
	char own[COLUMNS][CELL];
	memcpy(own, titles, sizeof own);
	if (list->sort == BY_FIGURE)
		snprintf(own[FIGURE], CELL, "%s", lbx_ranking_names[list->ranking]);
	if (shown)
		print_row(context->out, widths, (const char (*)[CELL])own, true);
	return true;
}

/* What follows the rows. */
static void tell_totals(struct lbx_context *context, const struct list *list, size_t shown)
{
	struct lbx_out *out = context->out;

	if (list->from + shown < list->n)
		lbx_printf(out, "… %zu more (--limit 0 shows all)\n", list->n - list->from - shown);
	lbx_wrap(out, 0, 4);
	lbx_tell(out, "%pF", LBX_COUNT("total", list->n, "tensor"));
	if (list->n < list->seen)
		lbx_printf(out, " of %" PRIu64, list->seen);
	LBX_KEY(out, "of", json_integer((json_int_t)list->seen));
	lbx_tell(out, ": %" PRIu64 " ready (%pF), %" PRIu64 " lazy", list->by_state[LBX_READY],
		 LBX_SIZE("ready_bytes", list->ready_bytes), list->by_state[LBX_LAZY]);
	for (int i = 0; i < LBX_STATES; i++)
		if (list->by_state[i] && i != LBX_READY && i != LBX_LAZY)
			lbx_printf(out, ", %" PRIu64 " %s", list->by_state[i], lbx_state_name(i));
	if (list->lazy_bytes)
		lbx_tell(out, " (%pF once evaluated)", LBX_SIZE("lazy_bytes", list->lazy_bytes));
	else
		LBX_KEY(out, "lazy_bytes", json_integer(0));
	lbx_printf(out, "\n");
	if (list->n == 0 && list->glob && lbx_glob_is_open(list->glob))
		lbx_styled(out, LBX_WARNING, "no name holds the bracket ([) of '%s', which is not closed\n",
			   list->glob);
	if (list->n == 0 && list->glob && list->glob[0] == '#')
		lbx_styled(out, LBX_WARNING, "no name is '%s'; `info %s` tells of the tensor with that number\n",
			   list->glob, list->glob);
	if (list->filter.nan || list->filter.inf) {
		uint64_t left = list->filter.valueless + list->filter.unread;
		LBX_KEYS(out, json_pack("{s:I,s:I}", "valueless", (json_int_t)list->filter.valueless, "not_read",
					(json_int_t)list->filter.unread));
		lbx_wrap(out, 0, 4);
		if (left)
			lbx_printf(out,
				   "%" PRIu64 " not looked at: without a value now (%" PRIu64 "), or not to be read\n",
				   left, list->filter.valueless);
		else
			lbx_printf(out, "all were looked at\n");
	}
	LBX_KEY(out, "unreadable", json_integer((json_int_t)list->bad));
	if (list->bad)
		lbx_styled(out, LBX_WARNING, "%" PRIu64 " record%s of this %s could not be read or %s damaged\n",
			   list->bad, LB_S(list->bad), lbx_target_kind(context->target),
			   LB_PLURAL(list->bad, "is", "are"));
}

/* Null where it has no value now, or a larger one than may still be read. */
static json_t *digest_of(struct lbx_context *context, struct list *list, const struct lbx_tensor *t)
{
	struct lbx_selection selection = { .tensor = *t };
	struct lbx_sight sight;
	struct lbx_digest digest;
	json_t *ret = NULL;
	int64_t bytes = lbx_tensor_nbytes(t);

	if (t->state != LBX_READY || bytes > list->digests)
		return json_null();
	list->digests -= bytes;
	if (lbx_sight_begin(context, &selection, &sight)) {
		if (lbx_digest(&sight.array, context->out, &digest))
			ret = lbx_json_digest(&digest);
		lbx_sight_end(&sight);
	}
	if (!ret && lb_error_cause() != LB_INTERRUPTED)
		lb_clear_error();
	return ret ? ret : json_null();
}

/* Without digests, which cost more than their text, no values are made of what is told. */
static void tell_object(struct lbx_context *context, struct list *list, const struct row *row,
			const struct lbx_tensor *t)
{
	struct lbx_out *out = context->out;

	if (list->digests >= 0 || list->sort == BY_FIGURE) {
		json_t *object = lbx_json_tensor(t);
		if (list->digests >= 0)
			json_object_set_new(object, "digest", digest_of(context, list, t));
		if (list->sort == BY_FIGURE)
			json_object_set_new(object, lbx_ranking_names[list->ranking],
					    isnan(row->figure) ? json_null() : lbx_json_double(row->figure));
		lbx_answer_add(out, NULL, object);
	} else if (lbx_tensor_text(t, &list->text)) {
		lbx_answer_add_object(out, list->text.bytes, list->text.n);
	} else {
		lb_fail("out of memory for JSON");
	}
}

/* The rows, as a table; or objects of a list, written as they are read. *written counts them. */
static bool tell_rows(struct lbx_context *context, struct list *list, size_t shown, size_t *written)
{
	struct lbx_out *out = context->out;
	char cell[COLUMNS][CELL];
	struct lbx_tensor t;
	int widths[COLUMNS];

	lbx_begin(out, NULL);
	lbx_begin_long(out, "tensors");
	if (!out->json && !print_titles(context, list, shown, widths))
		return false;
	for (size_t i = 0; i < shown; i++) {
		if (!asks_on(out, i, shown))
			return false;
		if (!reread(list, &list->rows[list->from + i], &t))
			continue;
		++*written;
		if (out->json) {
			tell_object(context, list, &list->rows[list->from + i], &t);
			continue;
		}
		cells(list, &list->rows[list->from + i], &t, cell);
		print_row(out, widths, (const char (*)[CELL])cell, false);
	}
	lbx_end(out);
	tell_totals(context, list, shown);
	lbx_end(out);
	return lb_ok();
}

static void write_file(struct lbx_out *out, const char *text, size_t n)
{
	fwrite(text, 1, n, out->context);
}

static bool list_rows(struct lbx_context *context, struct list *list, size_t shown, const char *path)
{
	size_t written = 0;
	if (!path)
		return tell_rows(context, list, shown, &written);
	struct lbx_file file;
	if (!lbx_file_begin(&file, path)) {
		lb_fail_within("list");
		return false;
	}
	struct lbx_out to = *context->out;
	to.context = file.stream;
	to.write = write_file;
	to.colour = false;
	to.width = ANY_WIDTH;
	struct lbx_context inside = *context;
	inside.out = &to;
	bool told = tell_rows(&inside, list, shown, &written);
	lbx_abandon(&to, NULL); /* while the file is open */
	if (!lbx_file_end(&file, told)) {
		lb_fail_within("list");
		return false;
	}
	lbx_begin(context->out, NULL);
	lbx_tell(context->out, "written to %pF, %pF of %pF\n", LBX_TEXT("file", path), LBX_INT("rows", written),
		 LBX_COUNT("of", list->n, "tensor"));
	lbx_end(context->out);
	return lb_ok();
}

static bool choose(struct lbx_context *context, const char *provider, struct lbx_tensors **ret)
{
	char there[256] = "";

	if (!provider)
		return lbx_context_tensors(context, ret);
	for (int i = 0; i < context->n_sets; i++) {
		*ret = context->sets[i];
		if (strcmp((*ret)->provider, provider) == 0)
			return true;
		size_t n = strlen(there);
		snprintf(there + n, sizeof there - n, "%s%s", n ? ", " : "", (*ret)->provider);
	}
	return lb_fail("list: the program has no tensors of a provider '%s'; it has those of %s", provider, there);
}

static bool run_list(struct lbx_context *context, const struct lbx_args *args)
{
	struct list list = { .digests = -1 };
	const char *path = lbx_args_option(args, "out");
	int64_t limit = context->out->json || path ? INT64_MAX : DEFAULT_LIMIT, from = 0;

	if (!parse(args, &list) || !lbx_args_limit(args, &limit) || !lbx_args_int(args, "from", 0, INT64_MAX, &from) ||
	    !lbx_args_bytes(args, "digest", 0, INT64_MAX, &list.digests) ||
	    !choose(context, lbx_args_option(args, "provider"), &list.tensors) ||
	    !lbx_filter_parse(context, args, &list.filter)) {
		lbx_filter_deinit(&list.filter);
		return false;
	}
	/* a process that is read from outside may run on meanwhile */
	if (list.digests >= 0 && !context->debugger && !context->core)
		return lbx_filter_deinit(&list.filter), lbx_misuse("list: --digest is for gdb and for cores");
	bool done = collect(context, &list) && check_encoding(&list);
	list.from = (uint64_t)from < list.n ? (size_t)from : list.n;
	size_t left = list.n - list.from, shown = (uint64_t)limit < left ? (size_t)limit : left;
	if (done)
		done = list_rows(context, &list, shown, path);
	if (done)
		lbx_set_int(context->out, "tensor_count", (int64_t)list.n);
	for (size_t i = 0; i < list.n && list.sort == BY_NAME; i++)
		free(list.rows[i].name);
	free(list.rows);
	free(list.text.bytes);
	lbx_number_map_deinit(&list.buffers);
	lbx_filter_deinit(&list.filter);
	return done;
}

/* ---- what completes ---- */

/* The states of one word. */
static const char *state_word(int i)
{
	for (enum lbx_state state = LBX_FREED + 1; state < LBX_STATES; state++)
		if (!strchr(lbx_state_name(state), ' ') && i-- == 0)
			return lbx_state_name(state);
	return NULL;
}

static const char *dtype_word(int i)
{
	return i < LB_DTYPES ? lbx_dtype_name((enum lb_dtype)i) : NULL;
}

static const char *provider_word(int i)
{
	return lbx_providers[i].name;
}

static const char *sort_word(int i)
{
	const int n = sizeof sorts / sizeof *sorts;
	return i < n ? sorts[i] : i - n < LBX_RANKINGS ? lbx_ranking_names[i - n] : NULL;
}

static const char *list_value(const char *option, int i)
{
	return strcmp(option, "state") == 0      ? state_word(i)
	       : strcmp(option, "dtype") == 0    ? dtype_word(i)
	       : strcmp(option, "provider") == 0 ? provider_word(i)
	       : strcmp(option, "sort") == 0     ? sort_word(i)
						 : NULL;
}

const struct lbx_command lbx_command_list = {
	.name = "list",
	.arguments = "[GLOB]",
	.summary = "list the tensors that are alive",
	.help = "GLOB selects by name, as in a shell: * ? [a-z]. Totals follow.\n"
		"All options go together; --nan and --inf read the values of what the others leave, and so does --sort\n"
		"by min, max, mean, std, nan or inf: the largest first, of min the smallest, last what has no value.\n"
		"Example: list 'layers.*' --state lazy --sort bytes, list --nan, list --op matmul --bytes '>1M'",
	.max_args = 1,
	.needs = LBX_NEEDS_TENSORS | LBX_GIVES_ADDRESSES | LBX_LETS_GO,
	.options = {
		{ "state", "STATE", "only those in a state: lazy, evaluating, ready, overwritten, unsure, …" },
		{ "dtype", "DTYPE", "only those of a dtype: float32, f32, int8, …" },
		LBX_FILTER_OPTIONS,
		{ "provider", "NAME", "only those of a provider, where a program has several: lazybones, …" },
		{ "sort", "KEY", "by id (default), name, size, bytes, state or dtype; or by a figure of their values, as max" },
		{ "limit", "N", "show N at most (default 50, JSON and files all); 0: all" },
		{ "handles", "A,B,...", "only those whose handles, as a pointer has them, are at these addresses" },
		{ "digest", "BYTES", "with JSON, in gdb and of cores: figures and a checksum of values, of so many bytes in all" },
		{ "from", "N", "pass over the first N" },
		{ "out", "FILE", "write to a file; long answers are slow in gdb" },
	},
	.value = list_value,
	.run = run_list,
};
