// Variables whose tensors lie in bases, beside containers, in nameless structs and unions.
#include <vector>

#include "lazybones.h"

struct Layer {
	lb_tensor *w;
	std::vector<lb_tensor *> v;
	int z;
	lb_tensor *b;
};
struct Base {
	lb_tensor *bt;
	lb_tensor *hidden;
};
struct Derived : Base {
	int hidden;
	lb_tensor *dt;
};
struct Holder {
	struct {
		lb_tensor *w;
	} inner;
};
struct Outer : Base, Holder {
	lb_tensor *w;
};
struct Deep {
	struct {
		struct {
			struct {
				lb_tensor *w;
			} c;
		} b;
	} a;
};
struct Nameless {
	int k;
	union {
		lb_tensor *u;
		long n;
	};
	struct {
		lb_tensor *p;
		int q;
	};
};

__attribute__((noinline)) static void checkpoint()
{
	__asm__ volatile("nop");
}

static lb_tensor *ones()
{
	return lb_keep(lb_ones(LB_SHAPE(2), LB_F32));
}

__attribute__((noinline)) static void look(lb_tensor **t)
{
	Layer L = {t[0], {t[1], t[2]}, 1, t[3]}, *pl = &L;
	Derived d, *pd = &d;
	Nameless a[2] = {};
	Outer o;
	Deep deep = {{{{t[3]}}}};

	d.bt = d.Base::hidden = t[0];
	d.hidden = 1;
	d.dt = t[1];
	o.bt = o.hidden = t[2];
	o.inner.w = t[0];
	o.w = t[1];
	a[0].u = t[0];
	a[0].p = t[1];
	a[1].u = t[2];
	a[1].p = t[3];
	for (lb_tensor *each : L.v) { // with variables of the compiler's own
		checkpoint();
		(void)each;
	}
	(void)deep;
	(void)pl;
	(void)pd;
}

int main()
{
	lb_tensor *t[] = {ones(), ones(), ones(), ones()};

	look(t);
	return !lb_ok();
}
