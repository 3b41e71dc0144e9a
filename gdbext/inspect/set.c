#include "inspect/set.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inspect/number.h"

static const struct setting {
	const char *name;
	size_t offset;
	int64_t min, max;
} settings[] = {
	{ "edge-items", offsetof(struct lbx_settings, edge_items), 1, 1 << 20 },
	{ "threshold", offsetof(struct lbx_settings, threshold), 0, 1 << 26 },
	{ "precision", offsetof(struct lbx_settings, precision), 0, LBX_PRECISION_MAX },
	{ "replay-memory", offsetof(struct lbx_settings, replay_memory), 1 << 20, 1LL << 50 },
	{ "replay-seconds", offsetof(struct lbx_settings, replay_seconds), 1, 1 << 20 },
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static int64_t *place(const struct lbx_context *context, const struct setting *s)
{
	return (int64_t *)((char *)context->settings + s->offset);
}

bool lbx_run_set(struct lbx_context *context, const struct lbx_args *args)
{
	const struct setting *s = settings, *end = settings + SETTINGS;
	char *rest;

	while (args->n > 0 && s < end && strcmp(s->name, args->v[0]) != 0)
		s++;
	if (args->n > 0 && s == end)
		return lb_fail("set: there is no setting '%s'", args->v[0]);
	if (args->n == 2) {
		errno = 0;
		long long value = strtoll(args->v[1], &rest, 0);
		if (rest == args->v[1] || *rest || errno || value < s->min || value > s->max)
			return lb_fail("set: %s takes a whole number from %lld to %lld, not '%s'",
				       s->name, (long long)s->min, (long long)s->max, args->v[1]);
		*place(context, s) = value;
		if (!context->out->json)
			return true;
	}
	if (args->n > 0)
		end = s + 1;
	json_t *o = json_object();
	for (; s < end; s++) {
		if (context->out->json)
			json_object_set_new(o, s->name, json_integer(*place(context, s)));
		else
			lbx_printf(context->out, "%-15s %lld\n", s->name,
				   (long long)*place(context, s));
	}
	if (context->out->json)
		lbx_json(context->out, o);
	else
		json_decref(o);
	return lb_ok();
}
