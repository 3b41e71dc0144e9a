#include "plugin/ggml/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ggml/places.h"
#include "ggml/record.h"
#include "plugin/ggml/found.h"

/* Where the program's tensors lie. */
static struct {
	struct lbx_loaded *modules;
	uint64_t loaded; /* lbx_target_loaded() then; 0: not known */
	struct lbx_ggml_places places;
} memory;

void lbx_stop_records_forget(void)
{
	free(memory.modules);
	memory.modules = NULL;
}

static bool read_record(struct lbx_context *context, uint64_t address, struct lbx_ggml_record *ret)
{
	return lbx_ggml_record_read(context->target, lbx_found_anchor(), &lbx_found_callback()->layout, address, ret);
}

static void take_tensor(const struct lbx_ggml_record *r, struct lbx_tensor *ret)
{
	const struct lbx_ggml_type *type = &lbx_found_anchor()->types[r->type];

	*ret = (struct lbx_tensor){ .address = r->address,
				    .dtype = type->encoding.dtype,
				    .encoding = type->elements > 1 ? &type->encoding : NULL,
				    .op = lbx_found_anchor()->ops[r->op],
				    .state = LBX_READY,
				    .layout_known = true,
				    .rank = r->rank,
				    .size = r->size,
				    .data = r->data,
				    .buffer_bytes = r->reach };
	strncpy(ret->name, r->name, LB_NAME_MAX);
	for (int i = 0; i < r->rank; i++) {
		ret->axes.few.shape[i] = r->ne[r->rank - 1 - i];
		ret->axes.few.strides[i] = r->strides[r->rank - 1 - i];
	}
}

_Static_assert((int)LBX_GGML_SOURCES <= (int)LBX_NODE_SOURCES, "a node's inputs have no room");

bool lbx_stop_record(struct lbx_context *context, uint64_t address, struct lbx_node_record *ret)
{
	struct lbx_ggml_record r;

	if (!read_record(context, address, &r))
		return false;
	*ret = (struct lbx_node_record){ .is_known = lbx_found_anchor()->types[r.type].is_known,
					 .is_view = lbx_ggml_is_view(lbx_found_anchor(), &r),
					 .puts_inf = lbx_ggml_puts_inf(lbx_found_anchor(), (int)r.op),
					 .passes_on = strcmp(lbx_found_anchor()->ops[r.op], "RMS_NORM") == 0,
					 .view_source = r.view_source };
	take_tensor(&r, &ret->tensor);
	memcpy(ret->sources, r.sources, sizeof r.sources);
	return true;
}

/* The program may have loaded others since, as a back end's. */
static bool find_modules(struct lbx_context *context)
{
	uint64_t loaded = 0;
	int n;

	lbx_target_loaded(context->target, &loaded);
	if (loaded != memory.loaded)
		lbx_stop_records_forget();
	if (memory.modules)
		return true;
	memory.modules = lbx_loaded_all(context->target, &n);
	if (!memory.modules || n == 0) { /* or gdb has still to answer */
		lbx_stop_records_forget();
		return lb_fail("the program's modules cannot be read");
	}
	memory.loaded = loaded;
	memory.places = (struct lbx_ggml_places){ .modules = memory.modules, .n_modules = n };
	return true;
}

bool lbx_stop_lies_in_order(struct lbx_context *context, uint64_t address)
{
	struct lbx_ggml_record r;

	if (!read_record(context, address, &r))
		return lb_fail("its record cannot be read");
	if (!r.buffer)
		return true;
	if (!find_modules(context))
		return false;
	memory.places.target = context->target;
	memory.places.n = 0; /* the program has run on: another buffer may lie where one did */
	const struct lbx_ggml_buffer *buffer = lbx_ggml_buffer(&memory.places, r.buffer);
	return buffer->place == LBX_GGML_HOST ||
	       lb_fail("%s", buffer->place == LBX_GGML_REORDERED ? "its elements lie in an order of the backend's own"
								 : "it is in a device's memory");
}
