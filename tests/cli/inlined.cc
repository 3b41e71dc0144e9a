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

} // namespace net

int main()
{
	int64_t four = 4;
	lb_tensor *x = lb_named("x", lb_ones(lb_list{1, &four}, LB_F32));
	weights = lb_add(x, x);
	cache.kv[0] = lb_named("key", lb_add(x, weights));
	cache.kv[1] = lb_named("value", lb_multiply(x, weights));
	net::last.value = net::rows[1][0] = lb_named("linked", lb_add(x, x));
	net::model m{weights};
	net::step(m, x);
	return 0;
}
