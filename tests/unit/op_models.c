/* The operations that models are made of, by name. */
#include <string.h>

#include "op_table.h"

static lb_tensor *run_layer_norm(const struct call *c)
{
	return lb_layer_norm(c->in[0], c->in[1], c->in[2], args_double(c->args, "eps", 0));
}

static lb_tensor *run_rms_norm(const struct call *c)
{
	return lb_rms_norm(c->in[0], c->in[1], args_double(c->args, "eps", 0));
}

static lb_tensor *run_rope(const struct call *c)
{
	return lb_rope(c->in[0], args_int(c->args, "dims", 0), args_int(c->args, "traditional", 0),
		       args_double(c->args, "base", 10000), args_double(c->args, "scale", 1),
		       args_int(c->args, "offset", 0));
}

#define OPS(X) X(layer_norm) X(rms_norm) X(rope)

op_function op_find_model(const char *name)
{
	static const struct {
		const char *name;
		op_function run;
	} table[] = {
#define X(name) { #name, run_##name },
		OPS(X)
#undef X
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (strcmp(table[i].name, name) == 0)
			return table[i].run;
	return NULL;
}
