// Dies while its tensors lie in vectors and behind smart pointers.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "lazybones.h"

struct Layer {
	virtual ~Layer() {}
	lb_tensor *w = nullptr;
};
struct Net {
	std::vector<std::unique_ptr<Layer>> layers;
	std::unique_ptr<Layer> head;
	std::shared_ptr<Layer> shared;
	std::vector<lb_tensor *> all;
};

static lb_tensor *ones(const char *name)
{
	return lb_keep(lb_named(name, lb_ones(LB_SHAPE(2), LB_F32)));
}

__attribute__((noinline)) static void die(lb_tensor *t)
{
	std::vector<lb_tensor *> many(20, t);
	abort();
}

int main()
{
	Net net;
	std::vector<Layer> plain(2);
	std::unique_ptr<Layer> alone(new Layer), nobody;
	std::vector<lb_tensor *> torn(4), empty;
	const char *names[] = {"w0", "w1"};

	for (int i = 0; i < 2; i++) {
		lb_tensor *w = ones(names[i]);
		net.all.push_back(w);
		net.layers.push_back(std::make_unique<Layer>());
		net.layers[i]->w = plain[i].w = torn[i] = w;
	}
	net.head = std::make_unique<Layer>();
	net.shared = std::make_shared<Layer>();
	net.head->w = ones("head");
	net.shared->w = ones("shared");
	alone->w = ones("alone");
	char *end = reinterpret_cast<char *>(&torn[3]) + 3; // no whole number of elements
	std::memcpy(reinterpret_cast<char *>(&torn) + sizeof end, &end, sizeof end);
	die(net.all[0]);
}
