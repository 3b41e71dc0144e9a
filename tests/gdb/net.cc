// A net as people write it in C++: tensors behind a wrapper, smart pointers and containers.
#include <array>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "lazybones.h"

namespace nn {

class Tensor {
public:
	Tensor() = default;
	explicit Tensor(lb_tensor *t) : t_(t) {}
	lb_tensor *get() const { return t_; }

private:
	lb_tensor *t_ = nullptr;
};

Tensor full(const char *name, double value)
{
	const int64_t shape[] = { 2 };
	lb_tensor *t = lb_keep(lb_named(name, lb_full({ 1, shape }, value, LB_F32)));

	lb_eval_n(1, &t);
	return Tensor(t);
}

struct Module {
	virtual ~Module() = default;
	int calls = 0;
};

struct Layer : Module {
	Layer(const char *w, const char *b, double value) : weight(full(w, value)), bias(full(b, -value)) {}
	Tensor weight, bias;
};

// Behind a pointer to Module: what only the object's own class has.
struct Linear : Module {
	explicit Linear(double value) : gain(full("gain", value)) {}
	Tensor gain;
};

namespace {

struct Norm : Module {
	Tensor scale = full("the scale", 72);
};

} // namespace

template <typename T, unsigned long N>
struct Scaled : Linear {
	Scaled() : Linear(N), factor(full("the factor", N)) {}
	T factor;
};

struct Named {
	virtual ~Named() = default;
	Tensor label = full("the label", 74);
};

struct Both : Module, Named {
	Tensor calls = full("the calls", 75); // hides what Module has
	Tensor both = full("both", 76);
};

struct Shared : virtual Named {
	Tensor own = full("own", 77);
};

// Nothing in it is a tensor, and there is much of it.
struct Word {
	std::string text;
	std::map<std::string, std::vector<int>> places;
	std::array<std::pair<int *, long>, 4> counts{};
};

struct Reader {
	std::vector<Word> words;
	Tensor table;
};

// What is not private has a name.
struct Handle {
	lb_tensor *h = nullptr;
};

struct Affine {
	Tensor weight;
	std::optional<Tensor> bias;
};

enum class Kind { attention, mlp };

// Keys that nobody can type.
struct Span {
	long first, length;
	bool operator==(const Span &) const = default;
};

struct SpanHash {
	size_t operator()(const Span &s) const { return s.first * 31 + s.length; }
};

template <typename T, int N>
struct Stack {
	std::array<T, N> rows;
	std::deque<T> queue;
};

struct Net : Module {
	std::vector<std::unique_ptr<Layer>> layers;
	std::unordered_map<std::string, Tensor> cache;
	std::map<int, Tensor> steps;
	std::map<std::string, std::shared_ptr<Layer>> named;
	std::optional<Tensor> mask, none;
	std::variant<int, Tensor> output;
	std::variant<std::string, Tensor> label;
	std::shared_ptr<Tensor> shared;
	std::weak_ptr<Tensor> watched, expired;
	std::pair<Tensor, int> best;
	std::tuple<int, Tensor, std::vector<Tensor>> state;
	Stack<Tensor, 2> stack;
	std::vector<std::vector<Tensor>> grid;
	std::vector<Tensor> empty;
	std::vector<std::unique_ptr<Module>> modules;
	Named *tag = nullptr, *far = nullptr;
	Module *torn = nullptr;
	Reader reader;
	std::vector<std::variant<Affine, int>> blocks;
	std::map<Kind, Tensor> kinds;
	std::map<unsigned char, Tensor> levels;
	std::map<double, Tensor> rates;
	std::unique_ptr<Handle> open;
	std::optional<Handle> held;
	std::string chosen = "fc1";
	std::optional<Affine> spare;
	std::unique_ptr<Tensor[]> twins;
	std::vector<bool> flags{ true, false };
	std::list<Affine> chain;
	std::list<Tensor> nobody;
	std::span<Tensor> window;
	std::span<Tensor, 2> fixed{ stack.rows };
	std::forward_list<Tensor> ahead;
	std::set<lb_tensor *> seen;
	std::multimap<std::string, Tensor> several;
	std::unordered_map<Span, Tensor, SpanHash> spans;
	std::map<std::pair<int, int>, std::vector<Tensor>> corners;

	void forward(int i);
};

__attribute__((noinline)) void checkpoint()
{
	__asm__ volatile("nop");
}

void Net::forward(int i)
{
	auto &w = layers[i]->weight;
	auto &[first, times] = best;
	Tensor out = *mask;
	Module &module = *modules[i];
	lb_tensor *raw = out.get();
	auto look = [&w, &out]() { checkpoint(); return w.get() == out.get(); };

	calls += times + look();
	checkpoint();
	(void)first;
	(void)module;
	(void)raw;
}

} // namespace nn

int main()
{
	auto net = std::make_unique<nn::Net>();
	auto gone = std::make_shared<nn::Tensor>(nn::full("the gone", 90));

	net->layers.push_back(std::make_unique<nn::Layer>("fc1.w", "fc1.b", 1));
	net->layers.push_back(nullptr);
	net->layers.push_back(std::make_unique<nn::Layer>("fc3.w", "fc3.b", 3));
	net->cache["fc1"] = nn::full("cached1", 11);
	net->cache["a key that is longer than what fits within"] = nn::full("cached2", 12);
	net->steps[7] = nn::full("step7", 21);
	net->steps[-1] = nn::full("step-1", 22);
	net->steps[40] = nn::full("step40", 23);
	net->named["enc"] = std::make_shared<nn::Layer>("enc.w", "enc.b", 31);
	net->mask = nn::full("the mask", 41);
	net->output = nn::full("the output", 42);
	net->label = "none";
	net->shared = std::make_shared<nn::Tensor>(nn::full("the shared", 43));
	net->watched = net->shared;
	net->expired = gone;
	gone.reset();
	net->best = { nn::full("the best", 44), 3 };
	net->state = { 1, nn::full("the state", 45), { nn::full("state0", 46) } };
	net->stack.rows = { nn::full("row0", 51), nn::full("row1", 52) };
	for (int i = 0; i < 70; i++)
		net->stack.queue.push_back(nn::full(("q" + std::to_string(i)).c_str(), 100 + i));
	net->stack.queue.pop_front();
	net->grid = { {}, { nn::full("grid10", 61), nn::full("grid11", 62) } };
	net->modules.push_back(std::make_unique<nn::Linear>(71));
	net->modules.push_back(std::make_unique<nn::Norm>());
	net->modules.push_back(std::make_unique<nn::Scaled<nn::Tensor, 73>>());
	auto *both = new nn::Both;
	net->modules.emplace_back(both);
	net->tag = both;
	net->far = new nn::Shared;
	uint64_t no_object[2] = { 72, 0 };
	net->torn = reinterpret_cast<nn::Module *>(no_object);
	net->reader.words.resize(300);
	net->reader.table = nn::full("the table", 78);
	net->blocks.push_back(nn::Affine{ nn::full("affine.w", 81), nn::full("affine.b", 82) });
	net->blocks.push_back(4);
	net->kinds[nn::Kind::mlp] = nn::full("the mlp", 83);
	net->levels[200] = nn::full("level200", 86);
	net->rates[2] = nn::full("rate2", 87);
	net->open = std::make_unique<nn::Handle>(nn::Handle{ nn::full("the open", 84).get() });
	net->held = *net->open;
	nn::full("nan", 85); // what these words mean otherwise they do not here
	nn::full("i8", 86);
	net->spare = nn::Affine{ nn::full("spare.w", 91), nn::full("spare.b", 92) };
	net->twins = std::make_unique<nn::Tensor[]>(2);
	net->twins[1] = nn::full("the second", 93);
	for (int i = 0; i < 2; i++)
		net->chain.push_back({ nn::full(i ? "chain1.w" : "chain0.w", 94 + i), {} });
	net->window = net->stack.rows;
	net->ahead.push_front(nn::full("ahead0", 96));
	net->seen.insert(net->mask->get());
	net->several.emplace("a", nn::full("several0", 97));
	net->spans[{ 48, 16 }] = nn::full("span0", 98);
	net->corners[{ 0, 1 }] = { nn::full("corner0", 99), nn::full("corner1", 100) };
	net->forward(2);
	return !lb_ok();
}
