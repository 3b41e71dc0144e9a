/* Does 23 times each thing that tracers look for, each in a function of its own.
 *
 *	workload          once
 *	workload again    and again, after each line that it reads
 *	workload killed   and then kills itself
 *	workload forks    and a child of its then reads each value once more
 *	workload strays   and a child of its ends before the runtime knows that it is one */
#define _GNU_SOURCE
#include <lazybones.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMES = 23, SIDE = 512 };

static lb_tensor *kept[TIMES], *view;
static lb_compiled *twice;
static lb_stream stream;

static bool double_it(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context;
	if (n_in == 1 && n_out == 1)
		out[0] = lb_multiply(in[0], lb_scalar(2));
	return out[0];
}

/* One evaluation of a product that stays: its buffer is a mapping, and is never given back. */
static __attribute__((noinline)) void evaluate_product(int i)
{
	lb_tensor *x = lb_ones(LB_SHAPE(SIDE, SIDE), LB_F32);
	kept[i] = lb_keep(lb_named("product", lb_matmul(x, x)));
	lb_eval(kept[i]);
}

/* Another, by reading a value. */
static __attribute__((noinline)) double read_value(int i)
{
	return lb_item(lb_sum(kept[i], LB_ALL_AXES, false));
}

static __attribute__((noinline)) const void *misuse_view(void)
{
	return lb_raw_data(view);
}

static __attribute__((noinline)) lb_tensor *promote_half(void)
{
	return lb_add(lb_zeros(LB_SHAPE(4), LB_F16), lb_ones(LB_SHAPE(4), LB_F32));
}

/* An evaluation whose result holds Inf. */
static __attribute__((noinline)) void divide_by_zero(lb_tensor *x)
{
	lb_eval(lb_divide(x, lb_zeros(LB_SHAPE(4), LB_F32)));
}

/* Each call is of another shape than those before. */
static __attribute__((noinline)) void retrace(int i)
{
	lb_tensor *x = lb_ones(LB_SHAPE(i + 1), LB_F32), *y;
	lb_call(twice, 1, &x, 1, &y);
}

/* An evaluation by the stream's thread. */
static __attribute__((noinline)) void queue_job(void)
{
	LB_ON_STREAM(stream) {
		lb_tensor *y = lb_exp(lb_ones(LB_SHAPE(8), LB_F32));
		lb_async_eval(y);
		lb_synchronize(stream);
	}
}

static double do_all(void)
{
	double sum = 0;

	for (int i = 0; i < TIMES; i++) {
		LB_SCOPE {
			evaluate_product(i);
			sum += read_value(i);
			misuse_view();
			divide_by_zero(promote_half());
			retrace(i);
			queue_job();
		}
	}
	return sum;
}

static int have_a_child(void)
{
	int status = 1;
	pid_t child = fork();

	if (child == 0) {
		for (int i = 0; i < TIMES; i++)
			LB_SCOPE
				read_value(i);
		_exit(!lb_ok());
	}
	waitpid(child, &status, 0);
	return status;
}

static int have_a_stray_child(void)
{
	int status = 1;
	pid_t child = _Fork();

	if (child == 0)
		_exit(0);
	waitpid(child, &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	char line[16];

	stream = lb_stream_new("side");
	twice = lb_compile("twice", double_it, NULL, (lb_compile_options){ 0 });
	LB_SCOPE {
		retrace(TIMES);
		view = lb_keep(lb_transpose(lb_ones(LB_SHAPE(2, 3), LB_F32), LB_AXES(1, 0)));
		lb_eval(view);
	}
	do
		printf("%g\n", do_all());
	while (fflush(stdout) == 0 && strcmp(what, "again") == 0 && fgets(line, sizeof line, stdin));
	if (strcmp(what, "forks") == 0 && have_a_child() != 0)
		return 1;
	if (strcmp(what, "strays") == 0 && have_a_stray_child() != 0)
		return 1;
	if (strcmp(what, "killed") == 0)
		raise(SIGKILL);
	lb_release(view);
	lb_compiled_free(twice);
	if (!lb_ok())
		printf("%s\n", lb_error_message());
	return lb_ok() ? 0 : 1;
}
