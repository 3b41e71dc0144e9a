/* The findings, for people and for programs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/diagnose/rule.h"
#include "inspect/tensor/describe.h"

enum { INDENT = 8 };

static const char *site_of(const struct lbx_diagnosed *f, char *ret, size_t size)
{
	if (f->line.file[0])
		snprintf(ret, size, "%s:%d%s%s", f->line.file, f->line.line, f->line.function[0] ? " " : "",
			 f->line.function);
	else if (f->line.function[0])
		snprintf(ret, size, "%s", f->line.function);
	else if (f->pc)
		snprintf(ret, size, "0x%" PRIx64, f->pc);
	else
		return NULL;
	return ret;
}

static json_t *ids(const struct lbx_diagnosed *f)
{
	json_t *list = json_array();

	for (int i = 0; i < f->n_tensors; i++)
		json_array_append_new(list, lbx_json_int_if(f->tensors[i].id, (int64_t)f->tensors[i].id));
	return list;
}

static json_t *finding(const struct lbx_diagnosed *f)
{
	char site[600];

	return json_pack("{s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "id", f->rule->id, "rule", f->rule->name,
			 "severity", lbx_severity_name(f->severity), "confidence", lbx_json_double(f->confidence),
			 "title", lbx_json_string(f->title), "evidence", lbx_json_string(f->evidence), "site",
			 lbx_json_text(site_of(f, site, sizeof site)), "tensors", ids(f), "cost",
			 lbx_json_text(f->cost), "advice", lbx_json_text(f->advice));
}

static json_t *finding_since(const struct lbx_diagnosed *f, bool is_new)
{
	json_t *object = finding(f);

	json_object_set_new(object, "new", json_boolean(is_new));
	return object;
}

static void print_part(struct lbx_out *out, const char *name, const char *text)
{
	if (!text || !*text)
		return;
	lbx_wrap(out, 0, INDENT);
	lbx_printf(out, "%*s", INDENT, "");
	if (*name)
		lbx_styled(out, LBX_DIM, "%s" LBX_STAY, name);
	lbx_printf(out, "%s\n", text);
}

static void print_finding(struct lbx_out *out, const struct lbx_diagnosed *f, bool is_short)
{
	char site[600];

	lbx_wrap(out, 0, INDENT);
	lbx_styled(out, f->severity == LBX_LOW ? LBX_DIM : LBX_WARNING, "%-*s", INDENT, lbx_severity_name(f->severity));
	lbx_styled(out, LBX_TITLE, "%s", f->title);
	lbx_printf(out, " [%s]", f->rule->id);
	if (is_short && site_of(f, site, sizeof site))
		lbx_printf(out, ", at %s", site);
	lbx_printf(out, "\n");
	if (is_short)
		return;
	print_part(out, "", f->evidence);
	print_part(out, "at:", site_of(f, site, sizeof site));
	print_part(out, "cost:", f->cost);
	print_part(out, "try:", f->advice);
}

static void print_line(struct lbx_out *out, const char *word, const struct lbx_diagnosed *f)
{
	lbx_wrap(out, 0, INDENT);
	lbx_printf(out, "%-*s%s [%s]\n", INDENT, word, f->title, f->rule->id);
}

/* "L2a, L2c, L6 (the program records no events)": those of one reason together. */
void lbx_describe_unchecked(const struct lbx_diagnosis *d, char *ret, size_t size)
{
	*ret = '\0';
	for (size_t i = 0; i < d->n_unchecked; i++) {
		const char *why = d->unchecked[i].why;
		bool is_told = false, is_first = true;
		for (size_t k = 0; k < i && !is_told; k++)
			is_told = strcmp(d->unchecked[k].why, why) == 0;
		if (is_told)
			continue;
		lbx_say(ret, size, "%s", i ? "; " : "not checked: ");
		for (size_t k = i; k < d->n_unchecked; k++) {
			if (strcmp(d->unchecked[k].why, why) != 0)
				continue;
			lbx_say(ret, size, "%s%s", is_first ? "" : ", ", d->unchecked[k].rule->id);
			is_first = false;
		}
		lbx_say(ret, size, " (%s)", why);
	}
}

void lbx_describe_diagnosis(const struct lbx_diagnosis *d, char *ret, size_t size)
{
	*ret = '\0';
	if (d->n)
		lbx_say(ret, size, "%zu finding%s by", d->n, LB_S(d->n));
	else
		lbx_say(ret, size, "nothing found by");
	lbx_say(ret, size, " %zu rule%s", d->n_checked, LB_S(d->n_checked));
	if (d->left_out)
		lbx_say(ret, size, "; %" PRIu64 " more like them", d->left_out);
	if (d->no_tensors[0])
		lbx_say(ret, size, "; none of tensors was checked: %s", d->no_tensors);
}

static void tell_gone(struct lbx_out *out, const struct lbx_diagnosis *d, const struct lbx_diagnosis *earlier)
{
	lbx_begin_list(out, "gone");
	for (size_t i = 0; i < earlier->n; i++) {
		const struct lbx_diagnosed *f = &earlier->list[i];
		if (lbx_diagnosis_same(d, f))
			continue;
		LBX_KEY(out, NULL, json_pack("{s:s,s:o}", "id", f->rule->id, "title", lbx_json_string(f->title)));
		print_line(out, "gone", f);
	}
	lbx_end(out);
}

/* earlier: NULL, there was no other look. */
static void tell(struct lbx_context *context, const struct lbx_diagnosis *d, const struct lbx_diagnosis *earlier,
		 bool all)
{
	struct lbx_out *out = context->out;
	size_t n_new = 0;
	char text[4096];

	lbx_begin_list(out, "findings");
	for (size_t i = 0; i < d->n; i++) {
		const struct lbx_diagnosed *f = &d->list[i], *then = earlier ? lbx_diagnosis_same(earlier, f) : NULL;
		LBX_KEY(out, NULL, earlier ? finding_since(f, !then) : finding(f));
		n_new += !then;
		if (!then || f->severity > then->severity)
			print_finding(out, f, f->severity == LBX_LOW && !all);
		else
			print_line(out, strcmp(f->title, then->title) == 0 ? "still" : "now", f);
	}
	lbx_end(out);
	if (earlier)
		tell_gone(out, d, earlier);
	lbx_begin_list(out, "checked");
	for (size_t i = 0; i < d->n_checked; i++)
		LBX_KEY(out, NULL, json_string(d->checked[i]->id));
	lbx_end(out);
	lbx_begin_list(out, "not_checked");
	for (size_t i = 0; i < d->n_unchecked; i++)
		LBX_KEY(out, NULL, json_pack("{s:s,s:s}", "id", d->unchecked[i].rule->id, "why", d->unchecked[i].why));
	lbx_end(out);
	LBX_KEY(out, "no_tensors", lbx_json_text(d->no_tensors));
	LBX_KEY(out, "left_out", json_integer((json_int_t)d->left_out));
	lbx_describe_diagnosis(d, text, sizeof text);
	if (earlier && d->n)
		lbx_say(text, sizeof text, "; %zu of them new", n_new);
	lbx_wrap(out, 0, INDENT);
	lbx_printf(out, "%s\n", text);
	if (!earlier)
		lbx_describe_unchecked(d, text, sizeof text);
	lbx_wrap(out, 0, INDENT);
	if (!earlier && *text)
		lbx_printf(out, "%s\n", text);
}

void lbx_diagnosis_tell(struct lbx_context *context, const struct lbx_diagnosis *d, bool all)
{
	tell(context, d, NULL, all);
}

void lbx_diagnosis_tell_since(struct lbx_context *context, const struct lbx_diagnosis *d,
			      const struct lbx_diagnosis *earlier, bool all)
{
	tell(context, d, earlier, all);
}
