#include "inspect/diagnose/case.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vector.h"
#include "inspect/diagnose/rule.h"
#include "inspect/operand/by_name.h"
#include "inspect/operand/frames.h"
#include "inspect/tensor/name.h"
#include "target/expression.h"

struct lbx_diagnosed *lbx_case_found(struct lbx_case *c, enum lbx_severity severity, double confidence)
{
	struct lbx_diagnosis *d = c->diagnosis;
	size_t same = 0;

	for (size_t i = 0; i < d->n; i++)
		same += d->list[i].rule == c->rule;
	if (same == LBX_DIAGNOSED_MOST) {
		d->left_out++;
		return NULL;
	}
	if (!lb_reserve(d->list, d->room, d->n + 1)) {
		lb_fail("out of memory for %zu findings", d->n);
		return NULL;
	}
	struct lbx_diagnosed *found = &d->list[d->n++];
	memset(found, 0, sizeof *found);
	found->rule = c->rule;
	found->severity = severity;
	found->confidence = confidence;
	return found;
}

struct lbx_diagnosed *lbx_case_found_of(struct lbx_case *c, enum lbx_severity severity, double confidence,
					const struct lbx_key *key, struct lbx_tensor *ret)
{
	struct lbx_diagnosed *found;

	if (!lbx_tensor_by_key(key, ret)) {
		lb_clear_error();
		return NULL;
	}
	found = lbx_case_found(c, severity, confidence);
	if (found) {
		found->pc = ret->site;
		lbx_diagnosed_tensor(found, key);
	}
	return found;
}

static bool is_plain(const char *name)
{
	return *name && name[strspn(name, LBX_WORD ".-")] == '\0' && (isalpha((unsigned char)*name) || *name == '_');
}

void lbx_case_operand(const struct lbx_case *c, const struct lbx_tensor *t, char ret[LBX_OPERAND_MAX])
{
	lb_auto_free struct lbx_named *found = calloc(1, sizeof *found);
	char name[1][LBX_TEXT_MAX];
	bool clean = lb_ok();

	snprintf(name[0], sizeof name[0], "%s", t->name);
	lbx_tensor_id_text(t, ret);
	if (found && is_plain(t->name) && lbx_find_named(c->context, c->tensors, name, 1, found) && found->count == 1)
		snprintf(ret, LBX_OPERAND_MAX, "%s", t->name);
	if (clean && lb_error_cause() != LB_INTERRUPTED)
		lb_clear_error();
}

const struct lbx_operands *lbx_case_operands(struct lbx_case *c, const struct lbx_tensor *t)
{
	struct lbx_key key = lbx_tensor_key(t);

	if (!lbx_key_is_same(&c->operands.key, &key))
		lbx_operands_find(t, &c->operands);
	return &c->operands;
}

const struct lbx_thread_view *lbx_case_stack(struct lbx_case *c)
{
	bool clean = lb_ok();

	if (c->has_looked_at_stack || !c->has_death)
		return c->stack;
	c->has_looked_at_stack = true;
	c->stack = calloc(1, sizeof *c->stack);
	if (c->stack && !lbx_thread_view(c->context, NULL, c->death.tid, LBX_CASE_FRAMES, LBX_TAIL, c->stack)) {
		free(c->stack);
		c->stack = NULL;
	}
	if (clean && lb_error_cause() != LB_INTERRUPTED)
		lb_clear_error();
	return c->stack;
}

void lbx_case_release_stack(struct lbx_case *c)
{
	if (c->stack)
		lbx_thread_view_release(c->stack);
	free(c->stack);
	c->stack = NULL;
}

const struct lbx_frame_view *lbx_case_own_frame(struct lbx_case *c)
{
	const struct lbx_thread_view *stack = lbx_case_stack(c);

	return stack ? lbx_thread_view_own(c->context, stack) : NULL;
}

void lbx_diagnosed_frame(struct lbx_diagnosed *d, const struct lbx_frame_view *frame)
{
	if (!frame)
		return;
	d->pc = frame->frame.pc + !frame->frame.after_call; /* as a call's: behind it */
	d->line = frame->line;
}

bool lbx_case_means(const struct lbx_case *c, const struct lbx_tensor *t)
{
	char number[LBX_ID_TEXT_MAX];

	if (!c->names)
		return true;
	lbx_tensor_id_text(t, number);
	return *c->names == '#' ? strcmp(number, c->names) == 0 : lbx_name_matches(c->names, t->name);
}

uint64_t lbx_happened_arg(const struct lbx_case *c, const struct lbx_happened *event, const char *name)
{
	uint64_t value;

	return lbx_event_arg(&c->flight, event->event, name, &value) ? value : 0;
}

void lbx_happened_text(const struct lbx_case *c, const struct lbx_happened *event, const char *name,
		       char ret[LB_FLIGHT_TEXT_BYTES])
{
	lbx_event_text(c->table, &c->flight, event->event, name, ret);
}
