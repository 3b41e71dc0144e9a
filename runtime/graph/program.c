#include "graph/program.h"

#include <stdlib.h>

struct lb_program *lb_program_new(void)
{
	struct lb_program *program = calloc(1, sizeof *program);
	if (!program) {
		lb_fail("out of memory for a fused program");
		return NULL;
	}
	program->size = sizeof *program;
	program->refs = 1;
	program->magic = LB_PROGRAM_MAGIC;
	return program;
}

void lb_program_retain(struct lb_program *program)
{
	__atomic_fetch_add(&program->refs, 1, __ATOMIC_RELAXED);
}

void lb_program_release(struct lb_program *program)
{
	if (__atomic_sub_fetch(&program->refs, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	program->magic = 0;
	free(program);
}
