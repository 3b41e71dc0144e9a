/* The program of the sessions in gdbext/README.md: a little of everything that a command may show. With an
 * argument it dies at the end. */
#include <lazybones.h>
#include <stdlib.h>

static volatile float seen;

/* The sessions begin here, or rather in its caller. */
__attribute__((noinline)) void look(void)
{
	__asm__ volatile("" ::: "memory");
}

static void draw(lb_tensor *picture)
{
	const float *raw = lb_raw_data(picture);

	seen = raw ? raw[1] : 0;
}

static bool half(void *context, int n_in, lb_tensor *const *in, int n_out, lb_tensor **out)
{
	(void)context;
	(void)n_in;
	(void)n_out;
	out[0] = lb_multiply(in[0], lb_scalar(0.5));
	return out[0] != NULL;
}

static lb_tensor *ramp(int64_t rows, int64_t columns)
{
	return lb_reshape(lb_arange(0, (double)(rows * columns), 1, LB_F32), LB_SHAPE(rows, columns));
}

static lb_tensor *entropy(const char *name, lb_tensor *x)
{
	lb_tensor *logs = lb_named("logs", lb_log(lb_subtract(x, lb_scalar(1))));

	return lb_named(name, lb_mean(logs, LB_ALL_AXES, false));
}

/* A tensor whose bytes are still there when it is gone. */
static void forget(lb_tensor *q)
{
	LB_SCOPE {
		lb_eval(lb_named("old", lb_add(q, lb_scalar(100))));
	}
}

static void work(bool crash)
{
	float pixels[6] = { 0, 1, 2, 3, 4, 5 };
	lb_tensor *q = lb_named("q", ramp(3, 4));
	lb_tensor *qt = lb_named("qt", lb_transpose(q, LB_ALL_AXES));
	lb_tensor *hill = lb_named("hill", lb_multiply(ramp(12, 24), lb_subtract(lb_scalar(287), ramp(12, 24))));
	lb_quantized packed = lb_quantize(lb_named("w", ramp(4, 64)), (lb_quant){ .mode = LB_QUANT_AFFINE }, NULL);
	lb_compiled *compiled = lb_compile("half", half, NULL, (lb_compile_options){ 0 });
	lb_tensor *halves[2];

	lb_named("layers.0.wq", packed.w);
	lb_eval(q, qt, hill, packed.w, packed.scales, packed.biases);
	lb_call(compiled, 1, &q, 1, &halves[0]);
	lb_call(compiled, 1, &hill, 1, &halves[1]);
	forget(q);

	lb_tensor *copy = lb_named("copy", lb_from_data(lb_raw_data(q), 48, LB_SHAPE(4, 3), LB_F32));
	lb_tensor *scores = lb_named("scores", lb_sqrt(lb_multiply(qt, lb_scalar(0.25))));
	lb_tensor *loss = entropy("loss", q);
	lb_tensor *short_loss = entropy("short_loss", lb_astype(q, LB_F16));

	look();
	draw(qt);
	lb_eval(loss);
	lb_eval(short_loss);
	lb_eval(halves[1]);
	lb_eval(scores);
	if (crash)
		*(volatile int *)(intptr_t)pixels[0] = lb_rank(copy);
	lb_compiled_free(compiled);
}

int main(int argc, char **argv)
{
	(void)argv;
	LB_SCOPE {
		work(argc > 1);
	}
	return !lb_ok();
}
