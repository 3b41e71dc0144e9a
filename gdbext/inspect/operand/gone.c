#include "inspect/operand/gone.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mix.h"
#include "base/plural.h"
#include "inspect/say.h"
#include "inspect/tensor/describe.h"
#include "table/flight.h"

static void describe(struct lbx_context *context, uint64_t id, uint64_t eval, uint64_t site, bool is_known, char *ret,
		     size_t size)
{
	struct lbx_root root;
	char where[512];

	ret[0] = '\0';
	if (is_known)
		lbx_say(ret, size, "it ");
	else
		lbx_say(ret, size, "#%" PRIu64 " ", id);
	if (lbx_table_root(context->table, &root) && root.last_eval > eval)
		lbx_say(ret, size, "went %" PRIu64 " evaluation%s ago", root.last_eval - eval,
			LB_S(root.last_eval - eval));
	else
		lbx_say(ret, size, "went since the last evaluation began");
	if (site) {
		lbx_describe_pc(context->target, site, where, sizeof where);
		lbx_say(ret, size, ", freed by %s", where);
	}
}

bool lbx_describe_gone(struct lbx_context *context, const char *name, uint64_t record, uint64_t id, char *ret,
		       size_t size)
{
	const char *argument = name ? "hash" : record ? "tensor" : "id";
	uint64_t wanted = name ? lb_hash_text(name) : record ? record : id, value, eval, site = 0;
	struct lbx_flight flight;
	bool clean = lb_ok(), found = false;

	if (!context->table || !lbx_flight_read(context->table, &flight)) {
		if (clean && lb_error_cause() != LB_INTERRUPTED)
			lb_clear_error();
		return false;
	}
	for (int64_t i = flight.n; i-- > 0 && !found;) {
		const struct lb_flight_event *event = &flight.events[i];
		if (strcmp(flight.kinds[event->kind].name, "gone") != 0 ||
		    !lbx_event_arg(&flight, event, argument, &value) || value != wanted)
			continue;
		found = lbx_event_arg(&flight, event, "id", &id) && lbx_event_arg(&flight, event, "eval", &eval);
		lbx_event_arg(&flight, event, "site", &site);
	}
	lbx_flight_free(&flight);
	if (found)
		describe(context, id, eval, site, !name && !record, ret, size);
	if (clean && lb_error_cause() != LB_INTERRUPTED)
		lb_clear_error();
	return found;
}
