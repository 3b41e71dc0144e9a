#include "mlx/primitives.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

#define NAMESPACE "mlx::core::"

enum { MOST = 1 << 12 };

static void name_of(struct lbx_target *target, struct lbx_mlx_primitive *p)
{
	char name[LBX_CXX_NAME];
	uint64_t type;

	p->is_one = lbx_cxx_type_of(target, p->vtable, &type) &&
		    lbx_cxx_type_is(target, type, "N3mlx4core9PrimitiveE") && lbx_cxx_type_name(target, type, name);
	if (p->is_one)
		strcpy(p->name, name + (strncmp(name, NAMESPACE, sizeof NAMESPACE - 1) ? 0 : sizeof NAMESPACE - 1));
}

const char *lbx_mlx_primitive(struct lbx_mlx_primitives *primitives, struct lbx_target *target, uint64_t object)
{
	struct lbx_mlx_primitive *new;
	uint64_t vtable;

	if (!object || !lbx_target_try_read(target, object, &vtable, sizeof vtable))
		return NULL;
	for (size_t i = 0; i < primitives->n; i++)
		if (primitives->list[i]->vtable == vtable)
			return primitives->list[i]->is_one ? primitives->list[i]->name : NULL;
	if (primitives->n >= MOST || !lb_reserve(primitives->list, primitives->room, primitives->n + 1) ||
	    !(new = calloc(1, sizeof *new)))
		return NULL;
	new->vtable = vtable;
	name_of(target, new);
	primitives->list[primitives->n++] = new;
	return new->is_one ? new->name : NULL;
}

void lbx_mlx_primitives_free(struct lbx_mlx_primitives *primitives)
{
	for (size_t i = 0; i < primitives->n; i++)
		free(primitives->list[i]);
	free(primitives->list);
	*primitives = (struct lbx_mlx_primitives){ .n = 0 };
}
