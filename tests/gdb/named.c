/* What the tests of names look at: tensors whose names hold whatever a user may type otherwise. And some
 * that hold NaN alone, for tests of what is told of these. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lazybones.h"

__attribute__((noinline)) void checkpoint(void)
{
	__asm__ volatile("nop" : : : "memory");
}

static const char *const names[] = {
	"layers[0].weight", "a.b[0].c", "t", "t[0,1]", "x[::2]", "w[0]", "it's \"q\"", "back\\slash", "two words",
	"]odd[", "#3", "@mem:f32:3", "--dash", "-5", "100%", "$_exit", "(p)", "~/x", "*", "'all'", " lead", "trail ",
	"tab\tx", "a/b:c", "na\xc3\xafve \xc3\xbc", "layers[1].weight", "twice[0]", "twice[0]", "twice",
};

enum { NAMES = sizeof names / sizeof *names };

/* A value that is carried from turn to turn, and never computed. */
static lb_tensor *grow(int turns)
{
	lb_tensor *total = lb_keep(lb_named("first", lb_zeros(LB_SHAPE(2), LB_F32)));

	for (int i = 0; i < turns; i++)
		LB_SCOPE {
			lb_tensor *next = lb_keep(lb_add(total, lb_from_data(&i, sizeof i, LB_SHAPE(1), LB_I32)));
			lb_release(total);
			total = next;
		}
	return total;
}

/* A graph of which each line has a call of its own. */
static void many_calls(void)
{
	LB_SCOPE {
		lb_tensor *x = lb_arange(1, 5, 1, LB_F32);
		x = lb_exp(x);
		x = lb_negative(x);
		x = lb_tanh(x);
		x = lb_square(x);
		x = lb_sqrt(x);
		x = lb_sin(x);
		x = lb_cos(x);
		x = lb_abs(x);
		x = lb_floor(x);
		x = lb_sqrt(x);
		x = lb_square(x);
		lb_eval(lb_exp(x));
	}
}

__attribute__((noinline)) void copied(const float *copy)
{
	__asm__ volatile("nop" : : "r"(copy) : "memory");
}

/* What was copied from a view as if it were plain memory lies where no buffer is. */
static void misuse(void)
{
	LB_SCOPE {
		lb_tensor *rows = lb_exp(lb_reshape(lb_arange(0, 4, 0.0625, LB_F32), LB_SHAPE(4, 16)));
		lb_tensor *turned = lb_named("turned", lb_transpose(rows, LB_ALL_AXES));
		float *copy = malloc(64 * sizeof *copy);

		lb_eval(turned);
		memcpy(copy, lb_raw_data(turned), 64 * sizeof *copy);
		copied(copy);
		free(copy);
	}
}

int main(void)
{
	LB_SCOPE {
		for (int i = 0; i < NAMES; i++) {
			const float data[4] = { (float)i, 1, 2, 3 };

			lb_named(names[i], lb_from_data(data, sizeof data, LB_SHAPE(2, 2), LB_F32));
		}
		const float nan[4] = { NAN, NAN, NAN, NAN }, half[4] = { NAN, 1, NAN, 3 };
		lb_named("nan", lb_from_data(nan, sizeof nan, LB_SHAPE(4), LB_F32));
		lb_named("nan too", lb_from_data(nan, sizeof nan, LB_SHAPE(4), LB_F32));
		lb_named("half", lb_from_data(half, sizeof half, LB_SHAPE(4), LB_F32));
		lb_named("numbers", lb_from_data((float[]){ 0, 1, 2, 3 }, 4 * sizeof(float), LB_SHAPE(4), LB_F32));
		checkpoint();
		lb_eval(lb_named("to come[3]", lb_exp(lb_named("later[0].w", lb_negative(lb_arange(0, 3, 1, LB_F32))))));
	}
	lb_release(grow(2000));
	many_calls();
	misuse();
	return lb_ok() ? 0 : 1;
}
