// Dies in a function that is inlined into one that is inlined; the tensors are globals, too.
#include <cstdio>
#include <cstdlib>
extern "C" {
#include <lazybones.h>
}

lb_tensor *weights;

struct cache {
	lb_tensor *kv[2];
} cache;

// A member hides that of its base class.
struct plain {
	lb_tensor *value, *other;
};
struct special : plain {
	lb_tensor *value;
} special;

namespace net {

struct node {
	node *next;
	lb_tensor *value;
};
node last{nullptr, nullptr}, first{&last, nullptr};
lb_tensor *rows[2][2];

class layer {
	lb_tensor *w;

public:
	explicit layer(lb_tensor *w) : w(w) {}
	inline __attribute__((always_inline)) void forward(lb_tensor *x)
	{
		lb_tensor *y = lb_named("y", lb_add(x, w));
		if (!lb_eval_n(1, &y))
			abort();
		*(volatile int *)nullptr = 1;
	}
};

class model {
	layer only;

public:
	explicit model(lb_tensor *w) : only(w) {}
	inline __attribute__((always_inline)) void run(lb_tensor *x) { only.forward(x); }
};

template <class T> __attribute__((noinline)) void step(T &m, lb_tensor *x)
{
	m.run(x);
	puts("not reached");
}

// How wide a row is only the program knows.
static __attribute__((noinline)) void grid(model &m, lb_tensor *x, int rows, int columns)
{
	lb_tensor *wide[rows][columns], *tall[rows][2], **cells = &wide[0][0];

	for (int i = 0; i < rows * columns; i++)
		cells[i] = i == rows * columns - 1 ? cache.kv[0] : weights;
	tall[0][0] = tall[0][1] = tall[1][0] = weights;
	tall[1][1] = cache.kv[0];
	__asm__ volatile("" : : "r"(wide), "r"(tall) : "memory");
	step(m, x);
	__asm__ volatile("" : : "r"(wide), "r"(tall) : "memory");
}

} // namespace net

int main()
{
	int64_t four = 4;
	lb_tensor *x = lb_named("x", lb_ones(lb_list{1, &four}, LB_F32));
	weights = lb_add(x, x);
	cache.kv[0] = lb_named("key", lb_add(x, weights));
	cache.kv[1] = lb_named("value", lb_multiply(x, weights));
	net::last.value = net::rows[1][0] = lb_named("linked", lb_add(x, x));
	special.plain::value = weights;
	special.value = special.other = cache.kv[0];
	net::model m{weights};
	net::grid(m, x, 2, 2);
	return 0;
}
