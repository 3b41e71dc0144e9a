/* Gradients, and lb_jvp(), against central differences, in f64. */
#ifndef TEST_GRAD_CHECK_H
#define TEST_GRAD_CHECK_H

#include "base/op.h"

enum { GRAD_INPUTS = 4 };

/* How the inputs lie in memory: in row-major order, transposed, backwards and with gaps, or as a
 * lazy result. */
enum grad_layout { GRAD_DENSE, GRAD_TRANSPOSED, GRAD_REVERSED, GRAD_COMPUTED, GRAD_LAYOUTS };

struct grad_case {
	const char *name;                         /* of the operation, as ops.def has it, then more */
	lb_tensor *(*fn)(lb_tensor *const *in);
	const char *shapes;                       /* "2,3;3" */
	double low, high;                         /* where the inputs' elements lie */
	bool smooth;         /* check second derivatives too */
};

/* Prints what differs; counts in grad_cases. */
bool grad_check(const struct grad_case *test, enum grad_layout layout);
extern int grad_cases;

/* Operations that a case has been named after. */
extern bool grad_tested[LB_OPS];
void grad_mark(const char *name);

/* Runs the cases of a table in every layout. */
bool grad_check_all(const struct grad_case *cases, int n);

#endif
