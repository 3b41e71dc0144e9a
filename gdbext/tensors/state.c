#include "tensors/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tensors/tensors.h"

static const char *const names[LBX_STATES] = {
	"freed",     "lazy",   "evaluating", "ready",       "overwritten", "on device", "repacked",
	"not saved", "unsure", "damaged",    "unallocated", "opaque",      "in memory",
};

const char *lbx_state_name(enum lbx_state state)
{
	return (unsigned)state < LBX_STATES ? names[state] : "?";
}

enum lbx_state lbx_told_state(const struct lbx_tensor *t)
{
	return t->state == LBX_READY && t->is_unproven ? LBX_IN_MEMORY : t->state;
}

const char *lbx_usage_name(enum lbx_usage usage)
{
	static const char *const usages[LBX_USAGES] = { "", "weights", "compute", "state", "inputs" };

	return (unsigned)usage < LBX_USAGES ? usages[usage] : "";
}

bool lbx_state_parse(const char *text, enum lbx_state *ret)
{
	for (int i = 0; i < LBX_STATES; i++)
		if (strcmp(names[i], text) == 0) {
			*ret = (enum lbx_state)i;
			return true;
		}
	return false;
}

bool lbx_tensor_is_pending(const struct lbx_tensor *t)
{
	return t->state == LBX_LAZY || t->state == LBX_EVALUATING || t->state == LBX_UNALLOCATED;
}

void lbx_describe_state(const struct lbx_tensor *t, char *ret, size_t size)
{
	const char *place = t->place ? t->place : "";

	ret[0] = '\0';
	switch (t->state) {
	case LBX_READY:
	case LBX_IN_MEMORY:
	case LBX_STATES: break;
	case LBX_FREED: snprintf(ret, size, "has been freed"); break;
	case LBX_LAZY:
	case LBX_EVALUATING: snprintf(ret, size, "is %s: it has no value yet", names[t->state]); break;
	case LBX_OVERWRITTEN:
		if (t->overwriter)
			snprintf(ret, size, "has been overwritten by #%" PRIu64, t->overwriter);
		else
			snprintf(ret, size, "has been overwritten: its memory was used again");
		break;
	case LBX_ON_DEVICE:
		snprintf(ret, size, "is on %s: its value is not in the program's memory", *place ? place : "a device");
		break;
	case LBX_REPACKED:
		snprintf(ret, size, "is stored %s%s, an order that is not known", *place ? "as " : "repacked", place);
		break;
	case LBX_NOT_SAVED: snprintf(ret, size, "is not in the core: it was not saved"); break;
	case LBX_UNSURE: snprintf(ret, size, "may not have been computed yet%s%s", *place ? ": " : "", place); break;
	case LBX_UNALLOCATED:
		snprintf(ret, size, "is unallocated: its graph was only built, or measured, and it has no memory yet");
		break;
	case LBX_OPAQUE: snprintf(ret, size, "cannot be shown: %s", place); break;
	case LBX_DAMAGED: snprintf(ret, size, "is damaged"); break;
	}
}

bool lbx_value_note(const struct lbx_tensor *t, char ret[LBX_NOTE_MAX])
{
	if (t->local) {
		snprintf(ret, LBX_NOTE_MAX, "computed outside the program");
		return true;
	}
	if (lbx_told_state(t) != LBX_IN_MEMORY)
		return false;
	snprintf(ret, LBX_NOTE_MAX, "as it lies in memory: %s keeps no mark of what it has computed",
		 t->of ? t->of->provider : "the program");
	return true;
}
