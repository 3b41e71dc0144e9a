#define _GNU_SOURCE
#include "inspect/trace/value_log.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "base/vector.h"

enum { LONGEST = 1 << 16 };

const char *const lbx_logged_figures[LBX_LOGGED_FIGURES] = { "min", "max", "mean", "std", "l2" };

static int by_name(const void *a, const void *b)
{
	const struct lbx_logged_name *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static struct lbx_logged_name *find_name(const struct lbx_value_log *log, const char *name)
{
	struct lbx_logged_name key = { .name = (char *)name }, **found = tfind(&key, &log->tree, by_name);

	return found ? *found : NULL;
}

static struct lbx_logged_name *name_of(struct lbx_value_log *log, const char *name)
{
	struct lbx_logged_name *known = find_name(log, name);

	if (known)
		return known;
	if (!lb_reserve(log->names, log->names_room, log->n_names + 1) || !(known = calloc(1, sizeof *known)))
		return NULL;
	known->number = (uint32_t)log->n_names;
	known->name = strdup(name);
	if (!known->name || !tsearch(known, &log->tree, by_name)) {
		free(known->name);
		free(known);
		return NULL;
	}
	log->names[log->n_names++] = known;
	return known;
}

/* There are few of them. */
static bool take_op(struct lbx_value_log *log, const char *op, uint32_t *ret)
{
	size_t i = 0;

	while (i < log->n_ops && strcmp(log->ops[i], op) != 0)
		i++;
	if (i == log->n_ops) {
		if (!lb_reserve(log->ops, log->ops_room, i + 1) || !(log->ops[i] = strdup(op)))
			return false;
		log->n_ops++;
	}
	*ret = (uint32_t)i;
	return true;
}

/* ---- a line ---- */

static bool take_count(const json_t *o, const char *key, int64_t *ret)
{
	const json_t *value = json_object_get(o, key);

	*ret = json_integer_value(value);
	return json_is_integer(value) && *ret >= 0;
}

static bool take_figures(const json_t *o, double *ret)
{
	for (int i = 0; i < LBX_LOGGED_FIGURES; i++) {
		const json_t *value = json_object_get(o, lbx_logged_figures[i]);
		if (!json_is_number(value) && !json_is_null(value))
			return false;
		ret[i] = json_is_null(value) ? NAN : json_number_value(value);
	}
	return true;
}

static uint64_t type_of(const json_t *o)
{
	const char *dtype = json_string_value(json_object_get(o, "dtype"));
	const json_t *shape = json_object_get(o, "shape"), *size;
	uint64_t hash = json_array_size(shape);
	size_t i;

	for (; dtype && *dtype; dtype++)
		hash = lb_mix(hash ^ (unsigned char)*dtype);
	json_array_foreach(shape, i, size) hash = lb_mix(hash ^ (uint64_t)json_integer_value(size));
	return hash;
}

static bool take_hash(const json_t *o, const char *key, uint64_t *ret)
{
	const char *text = json_string_value(json_object_get(o, key));
	char *end;

	if (!text)
		return false;
	*ret = strtoull(text, &end, 16);
	return end != text && !*end;
}

static bool take(const json_t *o, struct lbx_logged *ret)
{
	int64_t step, eval;

	if (!take_count(o, "step", &step) || !take_count(o, "eval", &eval) || !take_count(o, "count", &ret->count) ||
	    !take_count(o, "nan", &ret->nan) || !take_count(o, "inf", &ret->inf) || !take_figures(o, ret->figures))
		return false;
	ret->step = (uint64_t)step;
	ret->eval = (uint64_t)eval;
	ret->type = type_of(o);
	return take_hash(o, "hash", &ret->hash) && take_hash(o, "bag", &ret->bag);
}

static bool add(struct lbx_value_log *log, const char *path, size_t number, const json_t *o)
{
	const char *name = json_string_value(json_object_get(o, "name"));
	const char *op = json_string_value(json_object_get(o, "op"));
	struct lbx_logged one;

	if (!name || !take(o, &one))
		return lb_fail("%s, line %zu: no entry of a log of values (LAZYBONES_LOG, or `log --out`)", path,
			       number);
	struct lbx_logged_name *of = name_of(log, name);
	if (!of || !take_op(log, op ? op : "", &one.op) || !lb_reserve(log->list, log->room, log->n + 1) ||
	    !lb_reserve(of->entries, of->room, of->n + 1))
		return lb_fail("out of memory for a log of %zu lines", log->n);
	one.name = of->number;
	one.nth = (uint32_t)of->n + 1;
	of->entries[of->n++] = log->n;
	log->list[log->n++] = one;
	return true;
}

/* ---- the file ---- */

static bool add_line(struct lbx_value_log *log, const char *path, size_t number, const char *line, size_t n)
{
	json_error_t error;
	json_t *o = n <= LONGEST ? json_loadb(line, n, 0, &error) : NULL;
	bool is_whole = n && line[n - 1] == '\n', done = false;

	if (o)
		done = add(log, path, number, o);
	else if (is_whole)
		lb_fail("%s, line %zu: no JSON (%s)", path, number, n > LONGEST ? "it is too long" : error.text);
	else
		log->is_cut = done = true;
	json_decref(o);
	return done;
}

bool lbx_value_log_read(const char *path, struct lbx_out *out, struct lbx_value_log *ret)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0, number = 0;
	ssize_t n;
	bool done = true;

	*ret = (struct lbx_value_log){ .n = 0 };
	if (!f)
		return lb_fail("%s: %s", path, strerror(errno));
	errno = 0;
	while (done && (n = getline(&line, &room, f)) > 0) {
		done = add_line(ret, path, ++number, line, (size_t)n) &&
		       (number % 4096 || lbx_progress(out, "reading the log", (int64_t)number, 0));
	}
	if (done && ferror(f))
		done = lb_fail("%s: %s", path, strerror(errno));
	free(line);
	fclose(f);
	return done;
}

static void keep(void *node)
{
	(void)node;
}

void lbx_value_log_close(struct lbx_value_log *log)
{
	tdestroy(log->tree, keep);
	for (size_t i = 0; i < log->n_names; i++) {
		free(log->names[i]->name);
		free(log->names[i]->entries);
		free(log->names[i]);
	}
	for (size_t i = 0; i < log->n_ops; i++)
		free(log->ops[i]);
	free(log->ops);
	free(log->names);
	free(log->list);
	*log = (struct lbx_value_log){ .n = 0 };
}

const struct lbx_logged *lbx_value_log_find(const struct lbx_value_log *log, const char *name, uint32_t nth)
{
	const struct lbx_logged_name *of = find_name(log, name);

	return of && nth && nth <= of->n ? &log->list[of->entries[nth - 1]] : NULL;
}
