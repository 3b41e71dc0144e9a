#include "inspect/trace/follower.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "inspect/answer.h"
#include "inspect/trace/value_log.h"
#include "target/ascii.h"

static const char *find_stat(const char *word)
{
	for (int i = 0; i < LBX_LOGGED_FIGURES; i++)
		if (strcmp(word, lbx_logged_figures[i]) == 0)
			return lbx_logged_figures[i];
	lbx_misuse("follow: --stat is min, max, mean, std or l2, not '%s'", word);
	return NULL;
}

bool lbx_follower_begin(const struct lbx_args *args, struct lbx_follower *ret)
{
	const char *stat = lbx_args_option(args, "stat"), *names = args->v[0];

	*ret = (struct lbx_follower){ .last = LBX_FOLLOWED };
	if (!lbx_args_int(args, "last", 2, LBX_FOLLOWED_MOST, &ret->last))
		return false;
	ret->stat = stat ? find_stat(stat) : lbx_logged_figures[LBX_LOGGED_MEAN]; /* of a scalar the value */
	if (!ret->stat)
		return false;
	if (!*names || strlen(names) >= sizeof ret->names)
		return lbx_misuse("follow: a name, or several with commas between, of %d characters at most",
				  LB_LOG_BYTES - 1);
	if (*names == '#')
		return lbx_misuse("follow: a name, not the number of a tensor, which is computed once");
	strcpy(ret->names, names);
	return true;
}

bool lbx_follower_is_one(const struct lbx_follower *f)
{
	return !strpbrk(f->names, ",*?[");
}

void lbx_follower_draw(const struct lbx_follower *f, struct lbx_out *out)
{
	static const char *const bars[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const plain[] = { "_", ".", "-", "-", "=", "=", "*", "#" };
	const char *const *marks = lbx_locale_is_utf8() ? bars : plain;
	double low = INFINITY, high = -INFINITY;
	int room = out->width - 40 > 10 ? out->width - 40 : 10, first = f->n > room ? f->n - room : 0;

	for (int i = first; i < f->n; i++) {
		low = fmin(low, f->values[i]);
		high = fmax(high, f->values[i]);
	}
	lbx_printf(out, "%.20s ", f->names);
	for (int i = first; i < f->n; i++) {
		/* halves: the whole may be more than the largest number */
		double part = high > low ? (f->values[i] / 2 - low / 2) / (high / 2 - low / 2) : 0.5;
		lbx_printf(out, "%s", isnan(f->values[i]) ? "?" : marks[(int)(part * 7.999)]);
	}
	lbx_printf(out, " %.6g", f->values[f->n - 1]);
}

static void tell(const struct lbx_follower *f, struct lbx_out *out, json_t *entry, double value)
{
	lbx_begin(out, NULL);
	lbx_tell(out, "%pF: %pF\n", LBX_TEXT("name", json_string_value(json_object_get(entry, "name"))),
		 LBX_REAL(f->stat, "%.9g", value));
	LBX_KEY(out, "step", json_incref(json_object_get(entry, "step")));
	LBX_KEY(out, "nan", json_incref(json_object_get(entry, "nan")));
	lbx_end(out);
}

static void take_line(struct lbx_follower *f, const char *line, size_t n, struct lbx_out *out)
{
	json_t *entry = json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL);
	const json_t *is = json_object_get(entry, f->stat);

	if (json_is_string(json_object_get(entry, "name")) && json_is_integer(json_object_get(entry, "step")) &&
	    json_is_integer(json_object_get(entry, "nan")) && (json_is_number(is) || json_is_null(is))) {
		double value = json_is_null(is) ? NAN : json_number_value(is);
		f->count++;
		if (f->n == f->last)
			memmove(f->values, f->values + 1, (size_t)--f->n * sizeof *f->values);
		f->values[f->n++] = value;
		if (out)
			tell(f, out, entry, value);
	}
	json_decref(entry);
}

void lbx_follower_take(struct lbx_follower *f, const char *bytes, size_t n, struct lbx_out *out)
{
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] != '\n') {
			f->is_long |= f->used == sizeof f->line;
			if (!f->is_long)
				f->line[f->used++] = bytes[i];
			continue;
		}
		if (!f->is_long)
			take_line(f, f->line, f->used, out);
		f->used = 0;
		f->is_long = false;
	}
}
