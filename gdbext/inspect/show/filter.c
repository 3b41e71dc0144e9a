#include "inspect/show/filter.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/op.h"
#include "inspect/measure/ranking.h"
#include "inspect/operand/value.h"
#include "inspect/show/since.h"
#include "inspect/tensor/describe.h"
#include "inspect/tensor/name.h"
#include "tensors/scope.h"

enum { OP, SITE, THREAD };
enum { ANY_SIZE = -1, ANY_AXES = -2 };

/* ---- what was given ---- */

static bool fail_shape(const char *text)
{
	return lbx_misuse("list: --shape takes sizes, as '(2, *, 64)': * is any size, ... any number of axes; not '%s'",
			  text);
}

static bool parse_shape(const char *text, struct lbx_filter *ret)
{
	const char *c = text + strspn(text, " ([");

	for (ret->n_axes = 0; *c && *c != ')' && *c != ']';) {
		char *end = NULL;
		if (ret->n_axes == LBX_FILTER_AXES)
			return lbx_misuse("list: --shape takes %d sizes at most", LBX_FILTER_AXES);
		int64_t *axis = &ret->axes[ret->n_axes++];
		if (strncmp(c, "...", 3) == 0)
			*axis = ANY_AXES, c += 3;
		else if (*c == '*')
			*axis = ANY_SIZE, c++;
		else if (isdigit((unsigned char)*c))
			*axis = strtoll(c, &end, 10), c = end;
		else
			return fail_shape(text);
		c += strspn(c, " ");
		if (*c && !strchr(",)]", *c))
			return fail_shape(text);
		c += *c == ',';
		c += strspn(c, " ");
	}
	return !c[strspn(c, " )]")] || fail_shape(text);
}

static bool parse_bytes(const char *text, struct lbx_filter *ret)
{
	const char *sign = text + strspn(text, " "), *digits = sign + strspn(sign, "<>=");
	size_t n = (size_t)(digits - sign);
	uint64_t value;

	if (n > 2 || (n == 2 && sign[1] != '=') || !lbx_bytes_parse(digits + strspn(digits, " "), &value))
		return lb_clear_error(),
		       lbx_misuse("list: --bytes takes a size, as '>1M', '<=64K' or 4096, not '%s'", text);
	bool less = *sign == '<', more = *sign == '>', equal = n != 1 || *sign == '=';
	ret->least = less ? 0 : (int64_t)value + (more && !equal);
	ret->most = more ? INT64_MAX : (int64_t)value - (less && !equal);
	return true;
}

static bool hold(struct lbx_filter *f, const struct lbx_scope *scope)
{
	uint64_t items[1024];
	bool is_new;
	size_t n;

	for (uint64_t first = 0; (n = lbx_scope_items(scope, first, items, 1024)) > 0; first += n)
		for (size_t i = 0; i < n; i++)
			if (items[i] && !lbx_number_at(&f->held, scope->of, items[i], &is_new))
				return false;
	return lb_ok();
}

/* "step" of "step at train.c:12" */
static void function_of(struct lbx_context *context, uint64_t site, char *ret, size_t size)
{
	lbx_describe_pc(context->target, site, ret, size);
	char *at = strstr(ret, " at ");
	if (at)
		*at = '\0';
}

static bool find_scopes(struct lbx_context *context, struct lbx_filter *f)
{
	char function[512], there[512] = "";
	struct lbx_scope scope;
	bool known = false, found = false;

	for (int i = 0; i < context->n_sets; i++) {
		known |= context->sets[i]->ops->scope != NULL;
		for (uint64_t slot = 0; lbx_tensors_scope(context->sets[i], &slot, &scope);) {
			size_t n = strlen(there);
			if (!scope.depth)
				continue;
			function_of(context, scope.site, function, sizeof function);
			if (lbx_name_matches(f->scope, function)) {
				found = true;
				if (!hold(f, &scope))
					return false;
			} else if (!strstr(there, function)) {
				snprintf(there + n, sizeof there - n, "%s%s", n ? ", " : "", function);
			}
		}
	}
	if (lbx_target_waits(context->target))
		return lb_fail("list: the scopes are not known yet");
	if (!known)
		return lb_fail("list: --scope is for tensors of Lazybones' runtime: others have no scopes");
	return found || lbx_misuse("list: no scope is open that '%s' has opened; %s%s", f->scope,
				   *there ? "there are those of " : "none is open that a function has opened", there);
}

bool lbx_filter_parse(struct lbx_context *context, const struct lbx_args *args, struct lbx_filter *ret)
{
	const char *shape = lbx_args_option(args, "shape"), *bytes = lbx_args_option(args, "bytes");

	*ret = (struct lbx_filter){
		.op = lbx_args_option(args, "op"),
		.site = lbx_args_option(args, "site"),
		.scope = lbx_args_option(args, "scope"),
		.since = lbx_args_option(args, "since"),
		.nan = lbx_args_option(args, "nan"),
		.inf = lbx_args_option(args, "inf"),
		.n_axes = -1,
		.most = INT64_MAX,
	};
	return (!shape || parse_shape(shape, ret)) && (!bytes || parse_bytes(bytes, ret)) &&
	       lbx_args_int(args, "thread", 1, INT32_MAX, &ret->thread) && (!ret->scope || find_scopes(context, ret)) &&
	       (!ret->since || lbx_marked_find(context, ret->since, &ret->ids, &ret->n_ids));
}

void lbx_filter_deinit(struct lbx_filter *f)
{
	lbx_number_map_deinit(&f->held);
	lbx_number_map_deinit(&f->sites);
}

/* ---- a tensor ---- */

static bool has_shape(const struct lbx_filter *f, const int64_t *shape, int rank, int from)
{
	int i = 0;

	for (; from < f->n_axes; from++, i++) {
		if (f->axes[from] == ANY_AXES) {
			for (; i <= rank; i++)
				if (has_shape(f, shape + i, rank - i, from + 1))
					return true;
			return false;
		}
		if (i >= rank || (f->axes[from] != ANY_SIZE && f->axes[from] != shape[i]))
			return false;
	}
	return i == rank;
}

static void note_seen(struct lbx_filter *f, int what, const char *text)
{
	for (int i = 0; i < f->n_seen[what]; i++)
		if (strcmp(f->seen[what][i], text) == 0)
			return;
	if (f->n_seen[what] < LBX_FILTER_SEEN)
		snprintf(f->seen[what][f->n_seen[what]++], sizeof f->seen[0][0], "%s", text);
}

/* Whether "step at PATH:12", say, is meant by the file's name, by the end of its path, or by one of these with the
 * line. */
static bool is_place(const char *where, const char *wanted)
{
	const char *at = strstr(where, " at "), *file = at ? at + 4 : where, *colon = strrchr(file, ':');
	size_t n = strlen(wanted), all = strlen(file), path = colon ? (size_t)(colon - file) : all;

	for (int i = 0; i < 2; i++, all = path)
		if (n <= all && memcmp(file + all - n, wanted, n) == 0 && (n == all || file[all - n - 1] == '/'))
			return true;
	return false;
}

static bool is_of_site(struct lbx_context *context, struct lbx_filter *f, const struct lbx_tensor *t)
{
	char where[512];
	bool is_new;

	if (!t->site)
		return false;
	struct lbx_number *entry = lbx_number_at(&f->sites, NULL, t->site, &is_new);
	if (!entry)
		return false;
	if (is_new) {
		lbx_describe_pc(context->target, t->site, where, sizeof where);
		entry->value = 1 + is_place(where, f->site);
		const char *file = strrchr(where, '/'), *at = strstr(where, " at ");
		note_seen(f, SITE, file ? file + 1 : at ? at + 4 : where);
	}
	return entry->value == 2;
}

static int by_id(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* By its values. */
static bool is_bad(struct lbx_context *context, struct lbx_filter *f, const struct lbx_tensor *t)
{
	struct lbx_summary summary;
	bool is = false;

	if (t->state != LBX_READY) {
		f->valueless++;
		return false;
	}
	if (t->dtype < LB_F16 || t->size == 0)
		return false;
	if (lbx_summary_of_tensor(context, t, &summary))
		is = (f->nan && summary.special[LBX_NAN]) ||
		     (f->inf && (summary.special[LBX_POSITIVE_INF] || summary.special[LBX_NEGATIVE_INF]));
	if (!lb_ok() && lb_error_cause() != LB_INTERRUPTED && !lbx_target_waits(context->target)) {
		lb_clear_error();
		f->unread++;
	}
	return is;
}

bool lbx_filter_takes(struct lbx_context *context, struct lbx_filter *f, const struct lbx_tensor *t)
{
	char thread[32];
	int64_t bytes = lbx_tensor_nbytes(t);

	if (f->op) {
		note_seen(f, OP, t->op);
		if (!lbx_name_matches(f->op, t->op))
			return false;
		f->has_found[OP] = true;
	}
	if (f->thread) {
		snprintf(thread, sizeof thread, "%llu", (unsigned long long)t->thread);
		if (t->thread)
			note_seen(f, THREAD, thread);
		if (t->thread != (uint64_t)f->thread)
			return false;
		f->has_found[THREAD] = true;
	}
	if (f->site) {
		if (!is_of_site(context, f, t))
			return false;
		f->has_found[SITE] = true;
	}
	if (bytes < f->least || bytes > f->most)
		return false;
	if (f->n_axes >= 0 && (t->is_shapeless || !has_shape(f, lbx_shape(t), t->rank, 0)))
		return false;
	if (f->since && (!t->of->ids_grow || (f->n_ids && bsearch(&t->id, f->ids, f->n_ids, sizeof *f->ids, by_id))))
		return false;
	if (f->scope) {
		bool is_new = false;
		struct lbx_number *entry = lbx_number_of_tensor(&f->held, t, &is_new);
		if (!entry)
			return false;
		entry->value |= is_new; /* 1: it is none of them, and was only asked for */
		if (entry->value)
			return false;
	}
	return !(f->nan || f->inf) || is_bad(context, f, t);
}

/* ---- what there is instead ---- */

static bool fail_seen(const struct lbx_filter *f, int what, const char *said, const char *given)
{
	char there[LBX_FILTER_SEEN * 82] = "";

	for (int i = 0; i < f->n_seen[what]; i++) {
		size_t n = strlen(there);
		snprintf(there + n, sizeof there - n, "%s%s", n ? ", " : "", f->seen[what][i]);
	}
	return lbx_misuse("list: no tensor %s '%s'; %s%s%s", said, given,
			  f->n_seen[what] ? "there are " : "of none is that known", there,
			  f->n_seen[what] == LBX_FILTER_SEEN ? ", …" : "");
}

static bool is_known_op(const char *name)
{
	for (int i = 0; i < LB_OPS; i++)
		if (lbx_name_matches(name, lb_ops[i].name))
			return true;
	return false;
}

bool lbx_filter_check(const struct lbx_filter *f)
{
	char thread[32];

	if (f->op && !f->has_found[OP] && !is_known_op(f->op))
		return fail_seen(f, OP, "is of an operation", f->op);
	snprintf(thread, sizeof thread, "%lld", (long long)f->thread);
	if (f->thread && !f->has_found[THREAD] && !(f->op && !f->has_found[OP]))
		return fail_seen(f, THREAD, "was made by a thread", thread);
	if (f->site && !f->has_found[SITE] && f->n_seen[SITE])
		return fail_seen(f, SITE, "was made at", f->site);
	return true;
}
