#include "serve/trace_diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/plural.h"
#include "base/vector.h"
#include "inspect/answer.h"
#include "lazybones.h"
#include "serve/mi.h"
#include "serve/trace_read.h"

enum { PLACE = 256, SHOWN = 40 };

struct stop {
	const json_t *record;
	char place[PLACE]; /* "denoise loop.c:26" */
	int occurrence;    /* of that place, from 0 */
	int partner;       /* -1: none */
};

struct side {
	const char *path;
	json_t *whole;
	struct stop *stops;
	int n, room;
};

/* ---- reading ---- */

static bool add_stop(struct side *side, const json_t *record)
{
	const json_t *location = json_object_get(json_object_get(record, "stop"), "location");
	const char *file = lbx_mi_string(location, "file"), *slash = strrchr(file, '/');
	struct stop stop = { .record = record, .partner = -1 };

	snprintf(stop.place, sizeof stop.place, "%.80s %.120s:%lld", lbx_mi_string(location, "function"),
		 slash ? slash + 1 : file, (long long)json_integer_value(json_object_get(location, "line")));
	for (int i = side->n; i-- > 0;)
		if (strcmp(side->stops[i].place, stop.place) == 0) {
			stop.occurrence = side->stops[i].occurrence + 1;
			break;
		}
	if (!lb_reserve(side->stops, side->room, side->n + 1))
		return lb_fail("out of memory");
	side->stops[side->n++] = stop;
	return true;
}

static bool read_side(const char *path, struct side *ret)
{
	size_t i;
	json_t *record;

	*ret = (struct side){ .path = path };
	if (!lbx_trace_read(path, &ret->whole))
		return false;
	json_array_foreach(json_object_get(ret->whole, "records"), i,
			   record) if (strcmp(lbx_mi_string(record, "kind"), "stop") == 0 &&
				       !add_stop(ret, record)) return false;
	return true;
}

static void release(struct side *side)
{
	json_decref(side->whole);
	free(side->stops);
}

/* ---- matching ---- */

static int match_by_place(struct side *a, struct side *b)
{
	int matched = 0;

	for (int i = 0, from = 0; i < a->n; i++)
		for (int j = from; j < b->n; j++) {
			if (a->stops[i].occurrence != b->stops[j].occurrence ||
			    strcmp(a->stops[i].place, b->stops[j].place) != 0)
				continue;
			a->stops[i].partner = j;
			b->stops[j].partner = i;
			from = j + 1; /* never crosswise */
			matched++;
			break;
		}
	return matched;
}

static void match_by_order(struct side *a, struct side *b)
{
	for (int i = 0; i < a->n; i++)
		a->stops[i].partner = i < b->n ? i : -1;
	for (int j = 0; j < b->n; j++)
		b->stops[j].partner = j < a->n ? j : -1;
}

/* Whether by place. */
static bool match(struct side *a, struct side *b)
{
	int fewer = a->n < b->n ? a->n : b->n;

	if (2 * match_by_place(a, b) >= fewer)
		return true;
	match_by_order(a, b);
	return false;
}

/* ---- tensors ---- */

static const char *name_of(const json_t *tensor)
{
	const char *variable = lbx_mi_string(tensor, "variable");

	return *variable ? variable : lbx_mi_string(tensor, "name");
}

/* How many of its name stand before it: of variables that shadow each other the innermost stands first. */
static int rank_of(const json_t *tensor, const json_t *mine)
{
	size_t i;
	json_t *own;
	int ret = 0;

	json_array_foreach((json_t *)mine, i, own)
	{
		if (own == tensor)
			break;
		ret += strcmp(name_of(own), name_of(tensor)) == 0;
	}
	return ret;
}

/* Of the name, and as far down among its namesakes; else the first of the same shape that nobody of that name claims. NULL:
 * there is none. */
static const json_t *partner_of(const json_t *tensor, const json_t *mine, const json_t *others)
{
	const char *name = name_of(tensor);
	size_t i, j;
	json_t *other, *own;
	int rank = rank_of(tensor, mine);

	json_array_foreach((json_t *)others, i,
			   other) if (strcmp(name_of(other), name) == 0 && rank-- == 0) return other;
	json_array_foreach((json_t *)others, i, other)
	{
		bool is_claimed = !json_equal(json_object_get(other, "shape"), json_object_get(tensor, "shape"));
		json_array_foreach((json_t *)mine, j, own) is_claimed |= strcmp(name_of(own), name_of(other)) == 0;
		if (!is_claimed)
			return other;
	}
	return NULL;
}

/* The largest difference of a figure, relative to the largest figure. */
static double distance(const json_t *a, const json_t *b)
{
	static const char *const figures[] = { "mean", "std", "min", "max" };
	double scale = 0, most = 0;

	for (int i = 0; i < 4; i++) {
		double x = json_number_value(json_object_get(a, figures[i])),
		       y = json_number_value(json_object_get(b, figures[i]));
		scale = fmax(scale, fmax(fabs(x), fabs(y)));
		most = fmax(most, fabs(x - y));
	}
	return scale > 0 ? most / scale : 0;
}

enum verdict { SAME, CLOSE, UNKNOWN, DIFFERENT, OTHER_SHAPE, MISSING };
static const char *const verdicts[] = { "same", "close", "no value", "different", "other shape", "only in the first" };

static enum verdict judge(const json_t *a, const json_t *b, double rtol, double *off)
{
	const json_t *x = json_object_get(a, "digest"), *y = json_object_get(b, "digest");

	*off = 0;
	if (!b)
		return MISSING;
	if (!json_equal(json_object_get(a, "shape"), json_object_get(b, "shape")))
		return OTHER_SHAPE;
	if (!json_is_object(x) || !json_is_object(y))
		return UNKNOWN;
	if (strcmp(lbx_mi_string(x, "checksum"), lbx_mi_string(y, "checksum")) == 0)
		return SAME;
	*off = distance(x, y);
	bool same_special = json_equal(json_object_get(x, "nan"), json_object_get(y, "nan")) &&
			    json_equal(json_object_get(x, "inf"), json_object_get(y, "inf"));
	return same_special && *off <= rtol ? CLOSE : DIFFERENT;
}

static bool is_wrong(enum verdict verdict)
{
	return verdict == DIFFERENT || verdict == OTHER_SHAPE;
}

/* ---- telling ---- */

struct told {
	struct lbx_out *out;
	double rtol;
	int lines, left_out; /* of the text */
	bool has_first;
};

static void tell_figures(struct lbx_out *out, const json_t *a, const json_t *b)
{
	static const char *const figures[] = { "mean", "std", "min", "max" };

	for (int i = 0; i < 4; i++) {
		double x = json_number_value(json_object_get(a, figures[i])),
		       y = json_number_value(json_object_get(b, figures[i]));
		if (x != y)
			lbx_printf(out, "; %s %.6g, %.6g", figures[i], x, y);
	}
	json_int_t m = json_integer_value(json_object_get(a, "nan")), n = json_integer_value(json_object_get(b, "nan"));
	if (m != n)
		lbx_printf(out, "; NaN %lld, %lld", (long long)m, (long long)n);
}

/* One tensor of a pair of stops. Text has those that differ. */
static void tell_tensor(struct told *told, const json_t *a, const json_t *b, enum verdict verdict, double off)
{
	struct lbx_out *out = told->out;
	lb_auto_free char *shape = json_dumps(json_object_get(a, "shape"), JSON_ENCODE_ANY),
			  *other = json_dumps(json_object_get(b, "shape"), JSON_ENCODE_ANY);

	lbx_begin(out, NULL);
	LBX_KEYS(out,
		 json_pack("{s:s, s:s, s:f, s:O*, s:O*}", "name", name_of(a), "verdict", verdicts[verdict], "relative",
			   off, "a", json_object_get(a, "digest"), "b", b ? json_object_get(b, "digest") : NULL));
	if (is_wrong(verdict) && told->lines < SHOWN) {
		lbx_printf(out, "      %s", name_of(a));
		if (b && strcmp(name_of(a), name_of(b)) != 0)
			lbx_printf(out, " (%s)", name_of(b));
		lbx_printf(out, " is %s", verdicts[verdict]);
		if (verdict == OTHER_SHAPE)
			lbx_printf(out, ": %s, %s", shape ? shape : "?", other ? other : "?");
		else
			tell_figures(out, json_object_get(a, "digest"), json_object_get(b, "digest"));
		lbx_printf(out, "\n");
		told->lines++;
	}
	lbx_end(out);
}

static void tell_tensors(struct told *told, const json_t *mine, const json_t *others, int counts[MISSING + 1])
{
	size_t i;
	json_t *tensor;
	double off;

	lbx_begin_list(told->out, "tensors");
	json_array_foreach((json_t *)mine, i, tensor)
	{
		const json_t *other = partner_of(tensor, mine, others);
		enum verdict verdict = judge(tensor, other, told->rtol, &off);
		counts[verdict]++;
		tell_tensor(told, tensor, other, verdict, off);
	}
	lbx_end(told->out);
}

static int count_wrong(const struct told *told, const json_t *mine, const json_t *others)
{
	size_t i;
	json_t *tensor;
	double off;
	int n = 0;

	json_array_foreach((json_t *)mine, i, tensor) n +=
	    is_wrong(judge(tensor, partner_of(tensor, mine, others), told->rtol, &off));
	return n;
}

/* A pair, or a stop that only the first has. */
static bool tell_stop(struct told *told, const struct stop *a, const struct stop *b)
{
	struct lbx_out *out = told->out;
	const json_t *mine = json_object_get(a->record, "tensors"),
		     *others = b ? json_object_get(b->record, "tensors") : NULL;
	int wrong = b ? count_wrong(told, mine, others) : 0, counts[MISSING + 1] = { 0 };
	bool is_first = wrong > 0 && !told->has_first, shows = wrong > 0 || !b;

	lbx_begin(out, NULL);
	LBX_KEYS(out, json_pack("{s:O, s:o, s:s, s:s*, s:b}", "a", json_object_get(a->record, "n"), "b",
				b ? json_incref(json_object_get(b->record, "n")) : json_null(), "place", a->place,
				"other_place", b ? b->place : NULL, "first_difference", is_first));
	if (shows && told->lines < SHOWN) {
		lbx_printf(out, "%s #%-5lld %s", is_first ? ">" : " ",
			   (long long)json_integer_value(json_object_get(a->record, "n")), a->place);
		if (b && strcmp(a->place, b->place) != 0)
			lbx_printf(out, ", %s", b->place);
		lbx_printf(out, b ? ": %d tensor%s differ%s\n" : ": only in the first\n", wrong, LB_S(wrong),
			   wrong == 1 ? "s" : "");
		told->lines++;
	} else if (shows) {
		told->left_out++;
	}
	told->has_first |= wrong > 0;
	tell_tensors(told, mine, others, counts);
	for (int i = 0; i <= MISSING; i++)
		LBX_KEY(out, verdicts[i], json_integer(counts[i]));
	lbx_end(out);
	return wrong > 0;
}

static bool tell(struct told *told, struct side *a, struct side *b, bool *differs)
{
	struct lbx_out *out = told->out;
	bool by_place = match(a, b);
	int alone = 0, pairs = 0, wrong = 0;

	lbx_begin(out, NULL);
	LBX_KEYS(out,
		 json_pack("{s:s, s:s, s:s}", "a", a->path, "b", b->path, "matched_by", by_place ? "place" : "order"));
	lbx_printf(out, "%d stop%s of %s and %d of %s, matched by %s\n", a->n, LB_S(a->n), a->path, b->n, b->path,
		   by_place ? "place" : "their order");
	lbx_begin_list(out, "stops");
	for (int i = 0; i < a->n; i++) {
		const struct stop *other = a->stops[i].partner >= 0 ? &b->stops[a->stops[i].partner] : NULL;
		pairs += other != NULL;
		wrong += tell_stop(told, &a->stops[i], other);
	}
	lbx_end(out);
	for (int j = 0; j < b->n; j++)
		alone += b->stops[j].partner < 0;
	LBX_KEYS(out, json_pack("{s:i, s:i, s:i, s:i}", "pairs", pairs, "different", wrong, "only_in_first",
				a->n - pairs, "only_in_second", alone));
	if (told->left_out > 0)
		lbx_printf(out, "… %d more (--json has all)\n", told->left_out);
	lbx_printf(out, "%d of %d pair%s differ%s", wrong, pairs, LB_S(pairs), wrong == 1 ? "s" : "");
	if (a->n > pairs || alone > 0)
		lbx_printf(out, "; %d only in the first, %d only in the second", a->n - pairs, alone);
	lbx_printf(out, "\n");
	lbx_end(out);
	*differs = wrong > 0 || a->n > pairs || alone > 0;
	return lb_ok();
}

bool lbx_trace_diff(struct lbx_out *out, const char *a, const char *b, double rtol, bool *differs)
{
	struct side sides[2] = { 0 };
	struct told told = { .out = out, .rtol = rtol };
	bool ok = read_side(a, &sides[0]) && read_side(b, &sides[1]) && tell(&told, &sides[0], &sides[1], differs);

	release(&sides[0]);
	release(&sides[1]);
	return ok;
}
