// program TRUTH: modules of C++, one on the stack, one shared, two of one class; it writes the names of their parameters and
// buffers, and where these lie, into the file TRUTH, says `resting`, and waits until its input ends.
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/utils.h>

#include <cstdio>
#include <memory>
#include <string>

struct Block : torch::nn::Module {
	torch::nn::Linear up{ nullptr }, down{ nullptr };
	torch::Tensor scale;

	Block()
	{
		up = register_module("up", torch::nn::Linear(4, 8));
		down = register_module("down", torch::nn::Linear(8, 4));
		scale = register_buffer("a_buffer_whose_name_is_long", torch::ones({ 4 }));
	}
	torch::Tensor forward(torch::Tensor x) { return x + down(torch::relu(up(x))) * scale; }
};

struct Net : torch::nn::Module {
	torch::nn::ModuleList layers;
	torch::nn::Sequential head;
	torch::Tensor weight;

	Net()
	{
		register_module("layers", layers);
		for (int i = 0; i < 3; i++)
			layers->push_back(std::make_shared<Block>());
		head = register_module("head", torch::nn::Sequential(torch::nn::Linear(4, 3), torch::nn::BatchNorm1d(3)));
		weight = register_parameter("weight", torch::zeros({ 4 }));
	}
	torch::Tensor forward(torch::Tensor x)
	{
		for (const auto &layer : *layers)
			x = layer->as<Block>()->forward(x);
		return head->forward(x + weight);
	}
};

static void write(std::FILE *truth, const char *root, const torch::nn::Module &module)
{
	for (const auto &item : module.named_parameters()) {
		std::fprintf(truth, "name\t%llu\t%s.%s\n", (unsigned long long)item.value().data_ptr(), root,
			     item.key().c_str());
		if (item.value().grad().defined())
			std::fprintf(truth, "name\t%llu\t%s.%s.grad\n",
				     (unsigned long long)item.value().grad().data_ptr(), root, item.key().c_str());
	}
	for (const auto &item : module.named_buffers())
		std::fprintf(truth, "name\t%llu\t%s.%s\n", (unsigned long long)item.value().data_ptr(), root,
			     item.key().c_str());
}

int main(int argc, char **argv)
{
	std::FILE *truth = std::fopen(argc > 1 ? argv[1] : "/dev/null", "w");
	Net net;
	auto alone = std::make_shared<torch::nn::BilinearImpl>(torch::nn::BilinearOptions(2, 3, 4));
	auto first = std::make_shared<torch::nn::LinearImpl>(2, 3), second = std::make_shared<torch::nn::LinearImpl>(3, 2);
	auto gone = std::make_shared<Block>();
	char root[32];

	torch::manual_seed(0);
	torch::set_num_threads(1);
	net.forward(torch::ones({ 5, 4 })).sum().backward();
	gone.reset();
	write(truth, "net", net);
	write(truth, "bilinear", *alone);
	for (const auto &linear : { first, second }) {
		std::snprintf(root, sizeof root, "linear@0x%llx",
			      (unsigned long long)static_cast<torch::nn::Module *>(linear.get()));
		write(truth, root, *linear);
	}
	std::fclose(truth);
	std::puts("resting");
	std::fflush(stdout);
	while (std::getchar() != EOF)
		;
}
