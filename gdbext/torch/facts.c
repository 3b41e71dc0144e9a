#include "torch/facts.h"

#include <inttypes.h>
#include <stdio.h>

#include "torch/decode.h"
#include "torch/history.h"
#include "torch/parts.h"

enum { TEXT = 256 };

void lbx_torch_tell_record(struct lbx_torch_set *s, const struct lbx_torch_record *r, lbx_fact_fn *fn, void *context)
{
	uint32_t version;
	char text[TEXT];

	fn(context, "class", r->class->name);
	snprintf(text, sizeof text, "%s", lbx_torch_device(s, &r->device));
	fn(context, "device", text);
	fn(context, "Python", r->pyobj ? "has an object of it" : "has none of it");
	if (r->version_counter && lbx_target_try_read(lbx_torch_set_target(s), r->version_counter + s->layout.behind,
						      &version, sizeof version)) {
		snprintf(text, sizeof text, "%" PRIu32, version);
		fn(context, "version", text);
	}
	lbx_torch_parts_tell(s, r, fn, context);
	lbx_torch_history_tell(s, r, fn, context);
}

void lbx_torch_tell_set(struct lbx_torch_set *s, lbx_fact_fn *fn, void *context)
{
	int n_tensors = 0;
	char text[TEXT];

	for (int i = 0; i < s->classes.n; i++)
		n_tensors += lbx_torch_kind(&s->classes.list[i]) != LBX_TORCH_STORAGE;
	if (s->layout.since)
		snprintf(text, sizeof text, "that of %s and later, as no other fits", s->layout.since);
	else
		snprintf(text, sizeof text, "of no version that is known; no other fits");
	fn(context, "layout", text);
	snprintf(text, sizeof text, "%d of tensors, %d of storages", n_tensors, s->classes.n - n_tensors);
	fn(context, "classes", text);
}
