// Tensors of a C++ program, by variables of several types; then it says `resting`, and waits until its
// input ends.
#include <torch/nn/modules/linear.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

struct Net : torch::nn::Module {
	torch::nn::Linear fc1{ nullptr };

	Net() { fc1 = register_module("fc1", torch::nn::Linear(4, 3)); }
};

static void rest(const at::Tensor &argument, std::vector<at::Tensor> &list, std::optional<at::Tensor> &maybe)
{
	std::puts("resting");
	std::fflush(stdout);
	(void)std::getchar();
	(void)argument, (void)list, (void)maybe;
}

int main()
{
	at::Tensor x = torch::arange(6.0f).reshape({ 2, 3 });
	std::vector<at::Tensor> list{ x.t(), torch::ones({ 4 }) };
	std::optional<at::Tensor> maybe = torch::full({ 2 }, 7.0f);
	auto shared = std::make_shared<at::Tensor>(torch::zeros({ 5 }));
	Net net;

	rest(x, list, maybe);
	return shared->size(0) == 5 ? 0 : 1;
}
