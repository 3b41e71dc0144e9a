// Dies while its tensors lie in vectors and behind smart pointers.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
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

/* More than a frame of a stack is told to hold, and more than is looked at of a container. */
__attribute__((noinline)) static void keep_many(lb_tensor *t)
{
	std::vector<lb_tensor *> rows;

	for (int i = 0; i < 300; i++)
		rows.push_back(ones(("row" + std::to_string(i)).c_str()));
	die(t);
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
	keep_many(net.all[0]);
}
