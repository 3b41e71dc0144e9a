// The small net that gdbext/README.md shows in C++.
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lazybones.h"

class Tensor {
public:
	explicit Tensor(const char *name, double value)
	{
		const int64_t shape[] = { 3 };
		t_ = lb_keep(lb_named(name, lb_full({ 1, shape }, value, LB_F32)));
		lb_eval_n(1, &t_);
	}

private:
	lb_tensor *t_;
};

struct Layer {
	Tensor weight, bias;
};

struct Net {
	std::vector<std::unique_ptr<Layer>> layers;
	std::unordered_map<std::string, Tensor> cache;
	std::optional<Tensor> mask;

	void forward(int i);
};

static void look() {}

void Net::forward(int i)
{
	auto &w = layers[i]->weight;

	look();
	(void)w;
}

int main()
{
	Net net;

	for (const char *name : { "fc1", "fc2" })
		net.layers.push_back(std::make_unique<Layer>(Layer{ Tensor(name, 1.5), Tensor("bias", 0) }));
	net.cache.emplace("fc1", Tensor("cached", 4));
	net.forward(1);
}
