// Arrays of a C++ program, by variables of several types, one of them lazy; then it says `resting`, and waits until its
// input ends.
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "mlx/mlx.h"

namespace mx = mlx::core;

static std::unordered_map<std::string, mx::array> cache;

struct mlx_array { // as mlx-c has it
	void *ctx;
};

static void rest(const mx::array &argument, std::vector<mx::array> &list, std::optional<mx::array> &maybe)
{
	std::puts("resting");
	std::fflush(stdout);
	(void)std::getchar();
	(void)argument, (void)list, (void)maybe;
}

int main()
{
	mx::set_default_device(mx::Device::cpu);
	mx::array x = mx::reshape(mx::arange(6.0f), { 2, 3 });
	mx::array lazy = mx::exp(x);
	std::vector<mx::array> list{ mx::transpose(x), mx::ones({ 4 }) };
	std::optional<mx::array> maybe = mx::zeros({ 2 });
	auto shared = std::make_shared<mx::array>(mx::zeros({ 5 }));

	mlx_array handle = { &list[1] };

	mx::eval({ x, list[0], list[1], *maybe, *shared });
	cache.insert({ "ref", mx::ones({ 6 }) });
	mx::eval(cache.at("ref"));
	rest(x, list, maybe);
	(void)handle;
}
