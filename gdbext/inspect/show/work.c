#include "inspect/show/work.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/plural.h"
#include "inspect/tensor/describe.h"

enum { MOST = 4096, LABEL = LBX_DESCRIPTION_MAX };

static int by_use(const void *a, const void *b)
{
	const struct lbx_work *x = a, *y = b;

	if (x->doing != y->doing)
		return x->doing < y->doing ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static bool collect_of(struct lbx_tensors *set, struct lbx_stacks *stacks, struct lbx_works *ret)
{
	uint64_t slot = 0;
	struct lbx_work work, *more;

	while (ret->n < MOST && lbx_tensors_work(set, stacks, &slot, &work)) {
		if (work.doing == LBX_IS_IDLE) {
			ret->n_idle++;
			continue;
		}
		more = realloc(ret->list, (size_t)(ret->n + 1) * sizeof *more);
		if (!more)
			return lb_fail("out of memory");
		ret->list = more;
		more[ret->n++] = work;
	}
	return true;
}

bool lbx_works_collect(struct lbx_context *context, struct lbx_works *ret)
{
	struct lbx_stacks *stacks = context->all_stacks ? context->all_stacks : context->stacks;
	bool ok = true;

	*ret = (struct lbx_works){ .n = 0 };
	for (int i = 0; ok && i < context->n_sets; i++) {
		ret->is_told |= context->sets[i]->ops->work != NULL;
		ok = collect_of(context->sets[i], stacks, ret);
	}
	if (ret->n)
		qsort(ret->list, (size_t)ret->n, sizeof *ret->list, by_use);
	return ok;
}

void lbx_works_free(struct lbx_works *works)
{
	free(works->list);
	*works = (struct lbx_works){ .n = 0 };
}

/* ---- text ---- */

static bool find(const struct lbx_work *w, uint64_t id, struct lbx_tensor *ret)
{
	bool clean = lb_ok(), found = id && lbx_tensors_by_id(w->of, id, ret);

	if (clean)
		lb_clear_error();
	return found;
}

static void describe_thread(const struct lbx_work *w, char *ret, size_t size)
{
	int n = snprintf(ret, size, "thread %" PRIu64 "%s%s", w->thread, w->function[0] ? ": " : "", w->function);

	if (w->number && n > 0 && (size_t)n < size)
		snprintf(ret + n, size - (size_t)n, ", node %" PRId64 " of %" PRId64, w->number, w->count);
}

static void describe_doing(const struct lbx_work *w, char *ret, size_t size)
{
	char text[LABEL], helps[48] = "";
	struct lbx_tensor t;

	if (w->helps)
		snprintf(helps, sizeof helps, ", for thread %" PRIu64, w->helps);
	if (find(w, w->id, &t)) {
		lbx_describe(&t, text, sizeof text);
		snprintf(ret, size, "    %s %s%s%s%s",
			 w->doing == LBX_COMES_TO       ? "is about to compute"
			 : w->doing == LBX_HAS_COMPUTED ? "has computed"
							: "computes",
			 t.op, t.op[0] ? " of " : "", text, helps);
	} else if (w->doing == LBX_COMPUTES) {
		snprintf(ret, size, "    %s%s; which one is not certain: %s",
			 w->is_stream ? "runs a task for a tensor" : "computes a tensor", helps,
			 w->id ? "it has changed since" : w->why);
	} else if (w->doing == LBX_WAITS) {
		snprintf(ret, size, "    waits for %s%s%s%s",
			 !w->is_stream ? "the other threads of its graph"
			 : w->call[0]  ? "streams"
				       : "another stream",
			 helps, w->is_stream && w->why[0] ? ": " : "", w->is_stream ? w->why : "");
	} else {
		snprintf(ret, size, "    computes no tensor that is known%s%s", w->why[0] ? ": " : "", w->why);
	}
}

static void describe_call(const struct lbx_work *w, char *ret, size_t size)
{
	char where[LABEL];

	if (w->caller)
		lbx_describe_pc(w->of->target, w->caller, where, sizeof where);
	snprintf(ret, size, "    in %s%s%s", w->call, w->caller ? ", called by " : "", w->caller ? where : "");
}

/* What the tensor is made of, a line each. */
static bool describe_input(const struct lbx_work *w, int i, char *ret, size_t size)
{
	struct lbx_tensor t, input;
	char text[LABEL];

	if (!find(w, w->id, &t) || i >= (int)t.n_inputs)
		return false;
	if (find(w, lbx_tensor_input_id(&t, (uint32_t)i), &input))
		lbx_describe(&input, text, sizeof text);
	else
		snprintf(text, sizeof text, "a tensor that is gone");
	snprintf(ret, size, "      input %s", text);
	return true;
}

bool lbx_describe_work(const struct lbx_work *w, int i, char *ret, size_t size)
{
	struct lbx_tensor result;
	char text[LABEL];
	int inputs = 0;

	if (!w->thread) {
		snprintf(ret, size, "%s", w->why);
		return i == 0;
	}
	if (i < 2) {
		(i ? describe_doing : describe_thread)(w, ret, size);
		return true;
	}
	i -= 2;
	while (inputs <= i && describe_input(w, inputs, ret, size))
		inputs++;
	if (inputs > i)
		return true;
	i -= inputs;
	if (find(w, w->with, &result) && i-- == 0) {
		lbx_describe(&result, text, sizeof text);
		snprintf(ret, size, "      as one with %s of %s", result.op, text);
		return true;
	}
	if (w->result != w->id && find(w, w->result, &result) && i-- == 0) {
		lbx_describe(&result, text, sizeof text);
		snprintf(ret, size, "      %s %s", w->is_stream ? "for" : "its graph ends with", text);
		return true;
	}
	if (w->has_queue && i-- == 0) {
		snprintf(ret, size, "      %" PRId64 " task%s wait%s in its stream's queue", w->queued, LB_S(w->queued),
			 LB_PLURAL(w->queued, "s", ""));
		return true;
	}
	if (w->message[0] && i-- == 0) {
		snprintf(ret, size, "    gave up: %s", w->message);
		return true;
	}
	if (w->call[0] && i-- == 0) {
		describe_call(w, ret, size);
		return true;
	}
	return false;
}

/* ---- the answer ---- */

static json_t *inputs_of(const struct lbx_tensor *t)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < t->n_inputs; i++) {
		uint64_t id = lbx_tensor_input_id(t, i);
		json_array_append_new(list, lbx_json_int_if(id, (int64_t)id));
	}
	return list;
}

static json_t *json_work(const struct lbx_work *w)
{
	static const char *const doing[] = {
		[LBX_COMPUTES] = "computes", [LBX_COMES_TO] = "comes to", [LBX_HAS_COMPUTED] = "has computed",
		[LBX_WAITS] = "waits",       [LBX_IS_WITHIN] = "within",  [LBX_IS_IDLE] = "idle"
	};
	struct lbx_tensor t;
	bool found = find(w, w->id, &t);

	return json_pack("{s:s,s:o,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "provider",
			 w->of->provider, "thread", lbx_json_int_if(w->thread, (int64_t)w->thread), "doing",
			 doing[w->doing], "function", lbx_json_text(w->function), "op",
			 lbx_json_text(found ? t.op : ""), "tensor", lbx_json_int_if(found, (int64_t)w->id), "name",
			 lbx_json_text(found ? t.name : ""), "inputs", found ? inputs_of(&t) : json_null(), "with",
			 lbx_json_int_if(w->with, (int64_t)w->with), "node", lbx_json_int_if(w->number, w->number),
			 "nodes", lbx_json_int_if(w->number, w->count), "result",
			 lbx_json_int_if(w->result, (int64_t)w->result), "call", lbx_json_text(w->call), "caller",
			 lbx_json_address(w->caller), "helps", lbx_json_int_if(w->helps, (int64_t)w->helps), "queued",
			 lbx_json_int_if(w->has_queue, w->queued), "message", lbx_json_text(w->message), "why",
			 lbx_json_text(w->why));
}

static void tell_work(struct lbx_out *out, const struct lbx_work *w, int indent)
{
	char line[2 * LABEL];

	LBX_KEY(out, NULL, json_work(w));
	for (int i = 0; !out->json && lbx_describe_work(w, i, line, sizeof line); i++) {
		lbx_wrap(out, 0, indent + 8);
		lbx_printf(out, "%*s", indent, "");
		lbx_styled(out, i ? LBX_PLAIN : LBX_TITLE, "%s", line);
		lbx_printf(out, "\n");
	}
}

void lbx_tell_works(struct lbx_context *context, const struct lbx_works *works, int indent)
{
	struct lbx_out *out = context->out;
	int n = works->n_idle;

	for (int i = 0; i < works->n; i++)
		tell_work(out, &works->list[i], indent);
	if (works->is_told && works->n == 0)
		lbx_printf(out, "%*sNo thread is at work on tensors.\n", indent, "");
	if (n)
		lbx_printf(out, "%*s%d thread%s wait%s for work.\n", indent, "", n, LB_S(n), LB_PLURAL(n, "s", ""));
}
