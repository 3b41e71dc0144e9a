#include "mlx/near.h"

#include <string.h>

#include "base/error.h"
#include "mlx/decode.h"
#include "mlx/names.h"
#include "mlx/set.h"
#include "python/expression.h"

void lbx_mlx_near_take(const struct lbx_tensors *tensors, struct lbx_mlx_near *ret)
{
	const struct lbx_mlx_set *s = (const struct lbx_mlx_set *)tensors;

	ret->layout = s->layout;
	ret->classes = s->classes;
}

bool lbx_mlx_near_read(const struct lbx_mlx_near *near, struct lbx_target *target, uint64_t address,
		       struct lbx_mlx_record *ret)
{
	struct lbx_target *direct = lbx_target_direct(target);

	return near->layout &&
	       lbx_mlx_record_read(direct ? direct : target, &near->classes, near->layout, address, ret);
}

bool lbx_mlx_near_decode(const struct lbx_mlx_near *near, struct lbx_target *target, uint64_t address,
			 struct lbx_tensor *ret)
{
	struct lbx_mlx_set s = { .tensors = { .target = target }, .classes = near->classes, .layout = near->layout };
	struct lbx_mlx_record r;
	bool clean = lb_ok();

	/* of more axes than this there would have to be a list that lives on */
	bool is_one =
	    lbx_mlx_near_read(near, target, address, &r) && r.rank <= LB_MAX_RANK && lbx_mlx_decode(&s, 0, &r, ret);
	lbx_mlx_primitives_free(&s.primitives);
	if (!is_one) {
		if (clean)
			lb_clear_error();
		return false;
	}
	ret->of = NULL;
	ret->op = "";
	return true;
}

/* ---- what Python calls them ---- */

struct seeker {
	struct lbx_python *py;
	uint64_t type;
};

static bool is_wanted(void *context, uint64_t object)
{
	const struct seeker *s = context;

	return lbx_mlx_of_object(s->py, s->type, object) != 0;
}

static struct lbx_py_rules rules_of(struct seeker *s)
{
	s->type = lbx_mlx_class(s->py, "mlx.core", "array");
	return (struct lbx_py_rules){ .is_wanted = is_wanted,
				      .members_of = lbx_mlx_class(s->py, "mlx.nn.layers.base", "Module"),
				      .context = s };
}

int lbx_mlx_near_named(struct lbx_python *py, const char *expression, const struct lbx_viewpoint *from,
		       uint64_t ret[LBX_MLX_NEAR_FOUND])
{
	_Static_assert((int)LBX_MLX_NEAR_FOUND >= (int)LBX_PY_FOUND, "what is found has no room");
	struct seeker s = { .py = py };
	struct lbx_py_rules rules = rules_of(&s);
	struct lbx_py_found found[LBX_PY_FOUND];
	bool clean = lb_ok();
	int n = s.type ? lbx_py_evaluate(py, &rules, expression, from, found) : 0;

	for (int i = 0; i < n; i++)
		ret[i] = lbx_mlx_of_object(py, s.type, found[i].object);
	if (clean)
		lb_clear_error();
	return n;
}

bool lbx_mlx_near_each(struct lbx_python *py, lbx_mlx_near_fn *take, void *context)
{
	struct seeker s = { .py = py };
	struct lbx_py_rules rules = rules_of(&s);
	struct lbx_py_walk walk = { .n = 0 };
	char path[LBX_PY_PATH];
	bool ok = !s.type || lbx_py_walk_start(py, &rules, &walk), goes_on = true;

	for (uint32_t i = 0; ok && goes_on && i < walk.n; i++)
		if (walk.nodes[i].is_wanted && lbx_py_walk_find(&walk, walk.nodes[i].object) == i &&
		    lbx_py_path(&walk, i, path))
			goes_on = take(context, lbx_mlx_of_object(py, s.type, walk.nodes[i].object), path);
	lbx_py_walk_end(&walk);
	return ok;
}
