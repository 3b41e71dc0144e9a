// What fuzz_containers looks at: an object of classes that wrap, own and hold others, of libstdc++ or of libc++. What
// PyTorch and MLX have stands for theirs, with the members that are looked for.
#include <array>
#include <deque>
#include <functional>
#include <initializer_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

namespace c10 {
struct TensorImpl {
	int dtype;
};
template <typename T> struct intrusive_ptr {
	T *target_ = nullptr;
};
} // namespace c10

namespace at {
class TensorBase {
protected:
	c10::intrusive_ptr<c10::TensorImpl> impl_;
};
struct Tensor : TensorBase {
	explicit Tensor(c10::TensorImpl *record) { impl_.target_ = record; }
};
} // namespace at

namespace mlx::core {
class array {
	struct ArrayDesc {
		int dtype;
	};
	std::shared_ptr<ArrayDesc> array_desc_ = std::make_shared<ArrayDesc>();
};
} // namespace mlx::core

typedef struct mlx_array_ {
	void *ctx;
} mlx_array;

static int records[256], n_records;

class Wrapper {
public:
	explicit Wrapper(int n = 0) : record_(&records[n_records++ % 256]) { *record_ = n; }

private:
	int *record_;
};

class Deeper {
	Wrapper inner_;
};

struct Layer {
	Wrapper weight{ 1 }, bias{ 2 };
	virtual ~Layer() = default;
};

enum class Which { First, Second };

struct Net {
	std::vector<std::unique_ptr<Layer>> layers;
	std::vector<std::vector<Wrapper>> grid;
	std::array<Wrapper, 3> row;
	Wrapper plain[2][2];
	std::deque<Wrapper> queue;
	std::list<Wrapper> chain, nothing;
	std::list<std::shared_ptr<Layer>> owners;
	std::span<Wrapper> window;
	std::span<Wrapper, 3> fixed{ row };
	std::initializer_list<Wrapper> given;
	std::map<int, Wrapper> steps;
	std::map<std::string, std::shared_ptr<Layer>> named;
	std::map<Which, Wrapper> chosen;
	std::unordered_map<std::string, Wrapper> cache;
	std::unordered_map<unsigned, std::vector<Wrapper>> lists;
	std::optional<Wrapper> mask, none;
	std::variant<int, Wrapper, std::string> output;
	std::tuple<int, Wrapper, std::vector<Wrapper>> state;
	std::pair<Wrapper, int> best;
	std::shared_ptr<Wrapper> shared;
	std::weak_ptr<Wrapper> watched;
	std::unique_ptr<Wrapper> owned;
	Deeper deeper;
	std::vector<at::Tensor> tensors;
	std::optional<at::Tensor> tensor;
	mlx::core::array array;
	mlx_array handle;
	Net *itself;
};

Net net;

// NULL where it was called before.
extern "C" __attribute__((visibility("default"))) const void *fuzz_fill(void)
{
	static c10::TensorImpl record;

	if (!net.layers.empty())
		return nullptr;
	for (int i = 0; i < 3; i++)
		net.layers.push_back(i == 1 ? nullptr : std::make_unique<Layer>());
	net.grid = { {}, { Wrapper(3), Wrapper(4) } };
	for (int i = 0; i < 70; i++)
		net.queue.emplace_back(i);
	net.queue.pop_front();
	for (int i = 0; i < 3; i++)
		net.chain.emplace_back(i);
	net.owners = { std::make_shared<Layer>(), nullptr, std::make_shared<Layer>() };
	static std::vector<Wrapper> elements(4);
	net.window = elements;
	static const std::initializer_list<Wrapper> listed = { Wrapper(17), Wrapper(18) };
	net.given = listed;
	for (int key : { 7, -1, 40, 3, 5 })
		net.steps[key] = Wrapper(key);
	net.named["enc"] = net.named["dec"] = std::make_shared<Layer>();
	net.chosen[Which::Second] = Wrapper(5);
	net.cache["fc1"] = Wrapper(6);
	// as long as a key may be that is shown, and twice that as C++ writes it
	net.cache[std::string(46, '"')] = Wrapper(7);
	net.cache[std::string(47, '"')] = Wrapper(7);
	net.cache[std::string(300, 'x')] = Wrapper(8);
	net.lists[9] = { Wrapper(9), Wrapper(10) };
	net.mask = Wrapper(11);
	net.output = Wrapper(12);
	net.state = { 1, Wrapper(13), { Wrapper(14) } };
	net.shared = std::make_shared<Wrapper>(15);
	net.watched = net.shared;
	net.owned = std::make_unique<Wrapper>(16);
	net.tensors = { at::Tensor(&record), at::Tensor(&record) };
	net.tensor = at::Tensor(&record);
	net.handle.ctx = &net.array;
	net.itself = &net;
	return &net;
}
