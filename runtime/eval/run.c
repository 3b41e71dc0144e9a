#include "eval/run.h"

#include "graph/tracer.h"
#include "ops/operation.h"

static void *scratch(struct lb_exec *exec, int64_t nbytes)
{
	return lb_arena_take(((struct lb_run *)exec)->arena, nbytes);
}

void lb_run_init(struct lb_run *run, struct lb_arena *arena, bool plain)
{
	*run = (struct lb_run){
		.exec = { .threads = !plain, .blas = !plain, .amx = !plain, .scratch = scratch },
		.arena = arena,
		.schedule = { .arena = arena },
		.plain = plain,
		.drop = plain ? lb_buffer_drop_plain : lb_buffer_drop,
	};
}

bool lb_run_single(struct lb_run *run, struct lb_tensor *t)
{
	lb_compute_fn *compute = lb_operations[t->op].compute;
	if (lb_op_class(t->op) == LB_CLASS_VIEW) {
		lb_run_share_input(t);
		return true;
	}
	if (t->op == LB_OP_TRACER)
		return lb_tracer_refuse(t, run->plain);
	if (!compute)
		return lb_fail("%s: cannot be computed", lb_ops[t->op].name);
	if (lb_op_class(t->op) == LB_CLASS_UPDATE)
		return lb_run_update(run, t, compute);
	return lb_run_allocate(run, t) && compute(&run->exec, t);
}
