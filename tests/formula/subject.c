/* Arrays of a file, which are there, and two tensors that are not computed yet. */
#include <lazybones.h>
#include <stdio.h>

int main(int n, char **words)
{
	static const char *const names[] = { "q", "k", "z", "i", "u", "mask", "h", "one", "empty", "order", "odd", "left", "right" };
	lb_tensor *all[sizeof names / sizeof *names];
	int which = 2;
	double scale = 0.25;

	if (n != 2)
		return 2;
	LB_SCOPE {
		lb_file *file = lb_open(words[1]);
		for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
			all[i] = lb_named(names[i], lb_file_get(file, names[i]));
			lb_eval(all[i]);
		}
		lb_tensor *twice = lb_named("twice", lb_multiply(all[0], lb_scalar(2)));
		lb_tensor *deep = lb_named("layers.0.out", lb_transpose(lb_tanh(twice), LB_AXES(1, 0)));
		lb_eval(lb_named("product", lb_matmul(all[11], all[12])));
		if (!lb_ok())
			fprintf(stderr, "%s\n", lb_error_message());
		puts(lb_ok() ? "ready" : "failed");
		fflush(stdout);
		while (getchar() != EOF)
			;
		printf("%d %g %d\n", which, scale, deep != NULL);
		lb_file_close(file);
	}
}
