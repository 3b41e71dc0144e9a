#include "inspect/compare/many.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/compare/collection.h"
#include "inspect/compare/explain.h"
#include "inspect/convenience.h"
#include "inspect/measure/survey.h"
#include "inspect/say.h"
#include "inspect/tensor/format.h"
#include "target/columns.h"

enum { TYPE = LBX_LIST_MAX + 32, WHY = 512, NAMES_SHOWN = 6 };

enum outcome { COMPARED, MISSING, RESHAPED, UNREADABLE };

struct row {
	const struct lbx_collected *ours;
	enum outcome outcome;
	enum lbx_closeness closeness;
	struct lbx_comparison c;
	double relative; /* ||a - b|| / ||b||; NaN where ||b|| is 0 */
	char type[TYPE], other[TYPE]; /* "float32 (2, 3)" */
	char where[LBX_LIST_MAX]; /* of the largest error, or of a NaN that one alone has */
	char why[WHY]; /* it cannot be read */
};

struct many {
	struct lbx_context *context;
	struct lbx_collection ours, theirs;
	const struct lbx_levels *levels;
	struct row *rows; /* one for each of ours */
	const struct row *first; /* that is not correct */
	char explanation[LBX_EXPLANATION_TEXT];
	size_t by_closeness[LBX_CLOSENESSES], missing, others; /* others: unreadable, or of another shape */
	size_t only_theirs;
	bool is_pair; /* files of one array each, which have other names: they are compared all the same */
};

/* ---- one of them ---- */

static void describe(const struct lbx_array *a, char *ret)
{
	char shape[LBX_LIST_MAX];

	lbx_format_list(a->shape, a->rank, shape, sizeof shape);
	snprintf(ret, TYPE, "%s %s", lbx_array_dtype_name(a), shape);
}

static bool norm(const struct lbx_array *array, struct lbx_out *out, double *ret)
{
	struct lbx_summary summary;
	struct lbx_sample sample;

	lbx_summary_init(&summary, array->dtype);
	bool done = lbx_sample_init(&sample, array->dtype, array->size) && lbx_survey(array, out, &summary, &sample);
	lbx_sample_deinit(&sample);
	*ret = lbx_summary_l2(&summary);
	return done;
}

static bool compare(struct many *m, struct row *r, const struct lbx_operand *ours, const struct lbx_operand *theirs)
{
	const struct lbx_array *a = &ours->array, *b = &theirs->array;
	struct lbx_out *out = m->context->out;
	int64_t at[LBX_ARRAY_RANK], worst;
	double size = 1;

	describe(a, r->type);
	describe(b, r->other);
	r->outcome = RESHAPED;
	if (a->rank != b->rank || memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) != 0)
		return true;
	if (!lbx_compare(a, b, &m->levels->tolerance, NULL, out, &r->c) || (r->c.different && !norm(b, out, &size)))
		return false;
	r->outcome = COMPARED;
	r->closeness = lbx_closeness(&r->c, m->levels);
	r->relative = r->c.different == 0 ? 0 : size > 0 ? sqrt((double)r->c.squares) / size : NAN;
	if (r->c.nan_in_one == 0)
		r->closeness = lbx_closeness_of_format(r->closeness, r->relative,
						       ours->format[0] ? ours->format : theirs->format, m->levels);
	worst = r->c.nan_in_one ? r->c.first_nan : r->c.worst;
	if (worst >= 0) {
		lbx_array_coordinates(a, worst, at);
		lbx_format_place(at, a->rank, r->where, sizeof r->where);
	}
	return true;
}

static bool explain(struct many *m, const struct row *r, const struct lbx_array *a, const struct lbx_array *b,
		    double seconds)
{
	struct lbx_explain_options options = { .rtol = -1, .atol = -1, .seconds = seconds };
	struct lbx_explanations found = { .n = 0 };

	if (seconds <= 0 || a->size != b->size || a->size == 0 || r->c.nan_in_one)
		return true;
	if (!lbx_explain(a, b, r->outcome == COMPARED ? &r->c : NULL, &options, m->context->out, &found))
		return false;
	if (found.n)
		snprintf(m->explanation, sizeof m->explanation, "%s", found.list[0].text);
	return true;
}

static bool is_wrong(const struct row *r)
{
	return r->outcome == RESHAPED ||
	       (r->outcome == COMPARED && r->closeness != LBX_CORRECT && r->closeness != LBX_AS_EXPECTED);
}

static const struct lbx_collected *other_of(const struct many *m, const struct row *r)
{
	return m->is_pair ? m->theirs.list : lbx_collection_find(&m->theirs, r->ours->name);
}

/* False where the user interrupts, or without memory: else a row says what it is. */
static bool fill(struct many *m, struct row *r, double seconds)
{
	const struct lbx_collected *other = other_of(m, r);
	struct lbx_operand a = { .name = "" }, b = { .name = "" };

	r->outcome = MISSING;
	if (!other)
		return true;
	bool done = lbx_collected_get(&m->theirs, other, &b) && lbx_collected_get(&m->ours, r->ours, &a) &&
		    compare(m, r, &a, &b);
	if (done && is_wrong(r) && !m->first) {
		m->first = r;
		done = explain(m, r, &a.array, &b.array, seconds);
	}
	lbx_operand_release(&b);
	lbx_operand_release(&a);
	if (done || lb_error_cause() == LB_INTERRUPTED)
		return done;
	r->outcome = UNREADABLE;
	snprintf(r->why, sizeof r->why, "%s", lb_error_message());
	lb_clear_error();
	return true;
}

static bool fill_all(struct many *m, double seconds)
{
	m->rows = calloc(m->ours.n + 1, sizeof *m->rows);
	if (!m->rows)
		return lb_fail("out of memory for %zu tensors", m->ours.n);
	for (size_t i = 0; i < m->ours.n; i++) {
		struct row *r = &m->rows[i];
		r->ours = &m->ours.list[i];
		if (!lbx_progress(m->context->out, "comparing", (int64_t)i, (int64_t)m->ours.n) || !fill(m, r, seconds))
			return false;
		m->missing += r->outcome == MISSING;
		m->others += r->outcome == RESHAPED || r->outcome == UNREADABLE;
		m->by_closeness[r->closeness] += r->outcome == COMPARED;
	}
	for (size_t i = 0; i < m->theirs.n && !m->is_pair; i++)
		m->only_theirs += !lbx_collection_find(&m->ours, m->theirs.list[i].name);
	return true;
}

/* ---- the answer ---- */

static void key_row(struct lbx_out *out, const struct row *r)
{
	static const char *const outcomes[] = {
		[MISSING] = "missing", [RESHAPED] = "of another shape", [UNREADABLE] = "not compared"
	};
	bool is_compared = r->outcome == COMPARED;

	LBX_KEY(out, "name", lbx_json_string(r->ours->name));
	LBX_KEY(out, "id", lbx_json_int_if(!r->ours->saved, (int64_t)r->ours->sequence.id));
	LBX_KEY(out, "verdict", json_string(is_compared ? lbx_closeness_name(r->closeness) : outcomes[r->outcome]));
	LBX_KEY(out, "type", lbx_json_text(r->type));
	LBX_KEY(out, "other_type", lbx_json_text(r->other));
	LBX_KEY(out, "relative_l2", is_compared ? lbx_json_double(r->relative) : json_null());
	LBX_KEY(out, "max_error", is_compared ? lbx_json_double(r->c.max) : json_null());
	LBX_KEY(out, "different", lbx_json_int_if(is_compared, r->c.different));
	LBX_KEY(out, "nan_in_one", lbx_json_int_if(is_compared, r->c.nan_in_one));
	LBX_KEY(out, "at", lbx_json_text(r->where));
	LBX_KEY(out, "why", lbx_json_text(r->why));
}

static void say_row(struct lbx_out *out, const struct row *r)
{
	bool is_wrong_one = is_wrong(r);

	switch (r->outcome) {
	case MISSING: lbx_printf(out, "not there"); break;
	case UNREADABLE: lbx_styled(out, LBX_WARNING, "%s", r->why); break;
	case RESHAPED: lbx_styled(out, LBX_WARNING, "%s, and there %s", r->type, r->other); break;
	case COMPARED:
		lbx_styled(out, is_wrong_one ? LBX_WARNING : LBX_PLAIN, "%-11s", lbx_closeness_name(r->closeness));
		if (r->c.nan_in_one)
			lbx_printf(out, "  %lld NaN in one alone, the first at %s", (long long)r->c.nan_in_one,
				   r->where);
		else if (r->c.different)
			lbx_printf(out, "  %8.2g  %8.2g at %s", r->relative, r->c.max, r->where);
		else
			lbx_printf(out, "  %8s  %8s", "0", "0");
	}
}

static int name_width(const struct many *m)
{
	int width = 4, room = m->context->out->width / 2;

	for (size_t i = 0; i < m->ours.n; i++) {
		int own = lbx_columns(m->ours.list[i].name);
		width = own > width ? own : width;
	}
	return width > room && !m->context->out->whole_lines ? room : width;
}

static void tell_rows(struct many *m, int64_t limit)
{
	struct lbx_out *out = m->context->out;
	size_t n = !out->json && (size_t)limit < m->ours.n ? (size_t)limit : m->ours.n;
	int width = name_width(m);

	lbx_begin_list(out, "tensors");
	if (n && !out->json)
		lbx_titles(out, width, "name", "  verdict      relative   largest error");
	for (size_t i = 0; i < n; i++) {
		const struct row *r = &m->rows[i];
		lbx_begin(out, NULL);
		key_row(out, r);
		lbx_wrap(out, 0, width + 4);
		lbx_styled(out, LBX_WARNING, "%s ", r == m->first ? ">" : " ");
		lbx_cell(out, LBX_NAME, width, r->ours->name);
		lbx_printf(out, "  ");
		if (!out->json)
			say_row(out, r);
		lbx_printf(out, "\n");
		lbx_end(out);
	}
	lbx_end(out);
	if (n < m->ours.n)
		lbx_printf(out, "  … %zu more (--limit 0 shows all)\n", m->ours.n - n);
}

static void tell_first(struct many *m)
{
	struct lbx_out *out = m->context->out;

	LBX_KEY(out, "first", m->first ? lbx_json_string(m->first->ours->name) : json_null());
	LBX_KEY(out, "explanation", lbx_json_text(m->explanation));
	if (!m->first)
		return;
	lbx_wrap(out, 0, 2);
	lbx_styled(out, LBX_NAME, "%s", m->first->ours->name);
	if (!m->is_pair)
		lbx_printf(out, " is the first%s that", m->first->ours->saved ? ", by name," : "");
	lbx_printf(out, " is not correct%s%s\n", m->explanation[0] ? ": " : "", m->explanation);
}

static void tell_heading(struct many *m, const char *other)
{
	struct lbx_out *out = m->context->out;
	size_t n = m->ours.n, found = n - m->missing;

	lbx_wrap(out, 0, 2);
	if (m->is_pair)
		lbx_tell(out, "the one array of each, here beside %s of %pF: %pF correct", m->theirs.list->name,
			 LBX_STYLED(LBX_FILE, "other", other), LBX_INT("correct", m->by_closeness[LBX_CORRECT]));
	else
		lbx_tell(out, "%zu of %zu tensor%s %s in %pF by name: %pF correct", found, n, LB_S(n),
			 LB_PLURAL(found, "is", "are"), LBX_STYLED(LBX_FILE, "other", other),
			 LBX_INT("correct", m->by_closeness[LBX_CORRECT]));
	if (m->by_closeness[LBX_AS_EXPECTED])
		lbx_printf(out, ", %zu as expected of their format%s", m->by_closeness[LBX_AS_EXPECTED],
			   LB_S(m->by_closeness[LBX_AS_EXPECTED]));
	if (m->by_closeness[LBX_LOOK_AT_IT])
		lbx_printf(out, ", %zu to look at", m->by_closeness[LBX_LOOK_AT_IT]);
	if (m->by_closeness[LBX_BROKEN])
		lbx_printf(out, ", %zu broken", m->by_closeness[LBX_BROKEN]);
	if (m->others)
		lbx_printf(out, ", %zu not compared", m->others);
	LBX_KEY(out, "as_expected", json_integer((json_int_t)m->by_closeness[LBX_AS_EXPECTED]));
	LBX_KEY(out, "look_at_it", json_integer((json_int_t)m->by_closeness[LBX_LOOK_AT_IT]));
	LBX_KEY(out, "broken", json_integer((json_int_t)m->by_closeness[LBX_BROKEN]));
	LBX_KEY(out, "not_compared", json_integer((json_int_t)m->others));
	LBX_KEY(out, "missing", json_integer((json_int_t)m->missing));
	LBX_KEY(out, "only_there", json_integer((json_int_t)m->only_theirs));
	lbx_printf(out, "\n");
	if (m->only_theirs)
		lbx_printf(out, "  %zu there that match%s no other here\n", m->only_theirs,
			   m->only_theirs == 1 ? "es" : "");
}

/* ---- the two sides ---- */

bool lbx_is_many(const char *text)
{
	bool is_dereference = text[0] == '*' && (isalpha((unsigned char)text[1]) || text[1] == '_' || text[1] == '(');

	return lbx_holds_arrays(text) ||
	       (strpbrk(text, "*?") && !is_dereference && !strpbrk(text, " \t()&|+-/<>=\"'@"));
}

static bool collect_sides(struct many *m, const char *text, const char *other)
{
	bool all = lbx_holds_arrays(text);

	if (!(all ? lbx_collect_from(m->context, text, "*", &m->ours) : lbx_collect(m->context, text, &m->ours)))
		return false;
	if (m->ours.n == 0)
		return all ? lb_fail("%s holds no arrays", text)
			   : lb_fail("no tensor has a name that matches %s", text);
	if (!lbx_collect_from(m->context, other, all ? "*" : text, &m->theirs))
		return false;
	m->is_pair = all && m->ours.n == 1 && lbx_holds_arrays(other) && m->theirs.n == 1 &&
		     !lbx_collection_find(&m->theirs, m->ours.list->name);
	return true;
}

/* "a, b, c and 9 more" */
static void list_names(const struct lbx_collection *c, char *ret, size_t size)
{
	size_t shown = c->n > NAMES_SHOWN + 1 ? NAMES_SHOWN : c->n;

	*ret = '\0';
	for (size_t i = 0; i < shown; i++)
		lbx_say(ret, size, "%s%s", i ? ", " : "", c->list[c->by_name[i]].name);
	if (shown < c->n)
		lbx_say(ret, size, " and %zu more", c->n - shown);
}

/* A comparison of nothing would seem to have found nothing wrong. */
static bool fail_for_names(struct many *m, const char *text, const char *other)
{
	struct lbx_collection all;
	char names[1024];

	bool done = lbx_collect_from(m->context, other, "*", &all);
	if (done) {
		list_names(&all, names, sizeof names);
		lb_fail("%s has none of the %zu name%s of %s, but %s%s", other, m->ours.n, LB_S(m->ours.n), text,
			all.n ? names : "no names at all",
			lbx_holds_arrays(other) && !lbx_holds_arrays(text) ? " (`weights` finds arrays by values)"
									   : "");
	}
	lbx_collection_close(&all);
	return false;
}

static bool have_names_in_common(struct many *m, const char *text, const char *other)
{
	for (size_t i = 0; i < m->ours.n; i++)
		if (m->is_pair || lbx_collection_find(&m->theirs, m->ours.list[i].name))
			return true;
	return fail_for_names(m, text, other);
}

bool lbx_diff_many(struct lbx_context *context, const char *text, const char *other, const struct lbx_levels *levels,
		   double seconds, int64_t limit)
{
	struct many m = { .context = context, .levels = levels };
	struct lbx_out *out = context->out;

	bool done = collect_sides(&m, text, other) && have_names_in_common(&m, text, other) && fill_all(&m, seconds);
	if (done) {
		lbx_begin(out, NULL);
		tell_heading(&m, other);
		tell_rows(&m, limit);
		tell_first(&m);
		lbx_end(out);
		lbx_set_int(out, "tensor_count", (int64_t)m.ours.n);
		lbx_set_int(out, "tensor_diff_count",
			    (int64_t)(m.ours.n - m.missing - m.by_closeness[LBX_CORRECT] -
				      m.by_closeness[LBX_AS_EXPECTED]));
	}
	free(m.rows);
	lbx_collection_close(&m.theirs);
	lbx_collection_close(&m.ours);
	return done && lb_ok();
}
