#include "inspect/compare/pairing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"

enum { VOTES = 256, COMMON = 8 };

/* Names in the program begin with n_ours bytes of `ours`, in the checkpoint with n_theirs of `theirs`. */
struct vote {
	const char *ours, *theirs;
	size_t n_ours, n_theirs, n;
};

struct ballot {
	const struct lbx_checkpoint *checkpoint;
	size_t n;
	struct vote votes[VOTES];
};

static void vote(struct ballot *b, const char *ours, size_t n_ours, const char *theirs, size_t n_theirs)
{
	size_t i = 0;

	while (i < b->n &&
	       (b->votes[i].n_ours != n_ours || b->votes[i].n_theirs != n_theirs ||
		memcmp(b->votes[i].ours, ours, n_ours) != 0 || memcmp(b->votes[i].theirs, theirs, n_theirs) != 0))
		i++;
	if (i == VOTES)
		return;
	if (i == b->n)
		b->votes[b->n++] = (struct vote){ ours, theirs, n_ours, n_theirs, 0 };
	b->votes[i].n++;
}

/* Behind the next separator; NULL: there is none. */
static const char *next_part(const char *name)
{
	const char *at = strpbrk(name, "./");

	return at && at[1] ? at + 1 : NULL;
}

/* What all names of the checkpoint begin with, part by part; the first of these is nothing. */
static int common_beginnings(const struct lbx_checkpoint *c, size_t ret[COMMON])
{
	const char *first = c->n ? c->list[0].name : "";
	int n = 0;

	ret[n++] = 0;
	for (const char *part = next_part(first); part && n < COMMON; part = next_part(part)) {
		size_t length = (size_t)(part - first);
		/* what is first and what is last of a sorted list begin alike, so all between them do */
		if (strncmp(first, c->list[c->n - 1].name, length) != 0)
			break;
		ret[n++] = length;
	}
	return n;
}

/* For what a parameter's name, without its first parts, may be called in the checkpoint. */
static void vote_of_parameter(struct ballot *b, const char *name, const size_t *common, int n_common)
{
	const char *first = b->checkpoint->n ? b->checkpoint->list[0].name : "";
	char text[512 + LB_NAME_MAX + 1];

	for (const char *rest = name; rest; rest = next_part(rest))
		for (int i = 0; i < n_common; i++) {
			int n = snprintf(text, sizeof text, "%.*s%s", (int)common[i], first, rest);
			if (n > 0 && (size_t)n < sizeof text && lbx_checkpoint_find(b->checkpoint, text))
				vote(b, name, (size_t)(rest - name), first, common[i]);
		}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* And the other way round. */
static void vote_of_array(struct ballot *b, const char *name, const char *const *names, size_t n)
{
	for (const char *rest = next_part(name); rest && n; rest = next_part(rest))
		if (bsearch(&rest, names, n, sizeof *names, by_name))
			vote(b, "", 0, name, (size_t)(rest - name));
}

static const struct vote *best_of(const struct ballot *b)
{
	const struct vote *best = NULL;

	for (size_t i = 0; i < b->n; i++) {
		const struct vote *v = &b->votes[i];
		size_t length = v->n_ours + v->n_theirs, least = best ? best->n_ours + best->n_theirs : 0;
		if (!best || v->n > best->n || (v->n == best->n && length < least))
			best = v;
	}
	return best;
}

static bool find_beginnings(const struct lbx_parameters *p, const struct lbx_checkpoint *c, struct lbx_pairing *ret)
{
	lb_auto_free struct ballot *b = calloc(1, sizeof *b);
	lb_auto_free const char **names = calloc(p->n + 1, sizeof *names);
	size_t common[COMMON];

	if (!b || !names)
		return lb_fail("out of memory for %zu names", p->n);
	b->checkpoint = c;
	int n_common = common_beginnings(c, common);
	for (size_t i = 0; i < p->n; i++) {
		names[i] = p->list[i].name;
		vote_of_parameter(b, p->list[i].name, common, n_common);
	}
	qsort(names, p->n, sizeof *names, by_name);
	for (size_t i = 0; i < c->n; i++)
		vote_of_array(b, c->list[i].name, names, p->n);
	const struct vote *best = best_of(b);
	if (best) {
		snprintf(ret->ours, sizeof ret->ours, "%.*s", (int)best->n_ours, best->ours);
		snprintf(ret->theirs, sizeof ret->theirs, "%.*s", (int)best->n_theirs, best->theirs);
	}
	return true;
}

bool lbx_pairing_has(const struct lbx_pairing *pairing, const struct lbx_parameter *parameter)
{
	return strncmp(parameter->name, pairing->ours, strlen(pairing->ours)) == 0;
}

static void pair_names(const struct lbx_parameters *p, const struct lbx_checkpoint *c, struct lbx_pairing *ret)
{
	char text[sizeof ret->theirs + LB_NAME_MAX + 1];

	for (size_t i = 0; i < p->n; i++) {
		if (!lbx_pairing_has(ret, &p->list[i])) {
			ret->elsewhere++;
			continue;
		}
		snprintf(text, sizeof text, "%s%s", ret->theirs, p->list[i].name + strlen(ret->ours));
		const struct lbx_saved *saved = lbx_checkpoint_find(c, text);
		if (!saved)
			continue;
		ret->array_of[i] = (size_t)(saved - c->list) + 1;
		ret->is_met[saved - c->list] = true;
	}
}

bool lbx_pair(const struct lbx_parameters *parameters, const struct lbx_checkpoint *checkpoint, const char *ours,
	      const char *theirs, struct lbx_pairing *ret)
{
	*ret = (struct lbx_pairing){ .array_of = calloc(parameters->n + 1, sizeof *ret->array_of),
				     .is_met = calloc(checkpoint->n + 1, sizeof *ret->is_met) };
	bool done = ret->array_of && ret->is_met;
	if (!done)
		lb_fail("out of memory for %zu names", parameters->n + checkpoint->n);
	else if (ours || theirs)
		done =
		    (size_t)snprintf(ret->ours, sizeof ret->ours, "%s", ours ? ours : "") < sizeof ret->ours &&
		    (size_t)snprintf(ret->theirs, sizeof ret->theirs, "%s", theirs ? theirs : "") < sizeof ret->theirs;
	else
		done = find_beginnings(parameters, checkpoint, ret);
	if (done)
		pair_names(parameters, checkpoint, ret);
	else
		lbx_pairing_deinit(ret);
	return done || lb_fail("a beginning of names that is too long");
}

void lbx_pairing_deinit(struct lbx_pairing *pairing)
{
	free(pairing->array_of);
	free(pairing->is_met);
	pairing->array_of = NULL;
	pairing->is_met = NULL;
}
