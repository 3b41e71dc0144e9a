/* What mx.compile() has made one of several elementwise operations: a list of arrays (the tape) that were traced, whose
 * primitives are the operations, over inputs of the trace. Those that are not in the list are inputs. */
#include "base/error.h"
#include "mlx/recipe.h"

enum { INPUTS = 0x18, OUTPUTS = 0x30, TAPE = 0x48, MOST = 1 << 9, MOST_OPERANDS = 4 };

struct traced {
	int n;
	uint64_t addresses[MOST];
	int values[MOST];
};

static int value_at(const struct traced *t, uint64_t address)
{
	for (int i = t->n; i-- > 0;)
		if (t->addresses[i] == address)
			return t->values[i];
	return LBX_FAIL;
}

static bool remember(const struct lbx_mlx_node *n, struct traced *t, uint64_t address, int value)
{
	if (value == LBX_FAIL)
		return false;
	if (!address || t->n == MOST)
		return lbx_mlx_no_recipe(n, "such a tape") != LBX_FAIL;
	t->addresses[t->n] = address;
	t->values[t->n++] = value;
	return true;
}

/* Operands are spread as they are used: shapes may be others than those that were traced. */
static int operation(const struct lbx_mlx_node *n, const struct traced *t, uint64_t address)
{
	struct lbx_target *target = lbx_mlx_set_target(n->set);
	struct lbx_mlx_node part = { .set = n->set, .id = n->id, .is_traced = true, .r = n->r };
	int operands[MOST_OPERANDS];

	if (!lbx_mlx_record_read(target, &n->set->classes, n->set->layout, address, &part.record) ||
	    !(part.op = lbx_mlx_primitive(&n->set->primitives, target, part.record.primitive)) ||
	    part.record.inputs.n > MOST_OPERANDS)
		return lbx_mlx_no_recipe(n, "such a tape");
	part.n_inputs = part.record.inputs.n;
	part.inputs = operands;
	for (uint32_t i = 0; i < part.n_inputs; i++) {
		operands[i] = value_at(t, lbx_mlx_array_at(target, &part.record.inputs, i));
		if (operands[i] == LBX_FAIL)
			return lbx_mlx_no_recipe(n, "such a tape");
	}
	return lbx_mlx_recipe(&part);
}

int lbx_mlx_recipe_compiled(struct lbx_mlx_node *n)
{
	struct lbx_target *target = lbx_mlx_set_target(n->set);
	struct lbx_mlx_arrays inputs, outputs, tape;
	struct traced t = { .n = 0 };

	if (n->is_traced)
		return lbx_mlx_no_recipe(n, "another one in it");
	if (!lbx_mlx_list(n, INPUTS, &inputs) || !lbx_mlx_list(n, OUTPUTS, &outputs) || !lbx_mlx_list(n, TAPE, &tape))
		return LBX_FAIL;
	if (inputs.n != n->n_inputs || n->record.position >= outputs.n)
		return lbx_mlx_no_recipe(n, "such a tape");
	for (uint32_t i = 0; i < inputs.n; i++)
		if (!remember(n, &t, lbx_mlx_array_at(target, &inputs, i), lbx_mlx_input(n, i)))
			return LBX_FAIL;
	for (uint32_t i = 0; i < tape.n; i++) {
		uint64_t address = lbx_mlx_array_at(target, &tape, i);
		if (!remember(n, &t, address, operation(n, &t, address)))
			return LBX_FAIL;
	}
	int result = value_at(&t, lbx_mlx_array_at(target, &outputs, n->record.position));
	if (result == LBX_FAIL)
		return lbx_mlx_no_recipe(n, "such a tape");
	return lbx_step_spread(n->r, result, n->record.rank, n->record.sizes);
}
