// Dies while variables that are there for as long as it runs hold its tensors.
#include <array>
#include <cstdlib>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lazybones.h"

static lb_tensor *ones(const char *name)
{
	return lb_keep(lb_named(name, lb_ones(LB_SHAPE(2), LB_F32)));
}

struct Net {
	static std::vector<lb_tensor *> shared;
	static inline lb_tensor *one = nullptr;
	std::unique_ptr<std::vector<lb_tensor *>> layers;
};
std::vector<lb_tensor *> Net::shared;

namespace ns {
std::deque<lb_tensor *> history;
namespace {
lb_tensor *hidden;
}
}

lb_tensor *plain;
lb_tensor *rows[2][3];
std::unordered_map<std::string, lb_tensor *> cache;
std::map<int, Net> nets;
static std::list<lb_tensor *> queue;
std::set<lb_tensor *> waiting;
std::multiset<std::shared_ptr<Net>> free_nets;
std::unordered_set<lb_tensor *> met;
std::unordered_multiset<lb_tensor *> counted;
std::multimap<std::string, lb_tensor *> versions;
static std::unordered_multimap<int, Net> by_size;
std::shared_ptr<Net> best;
std::optional<std::array<lb_tensor *, 2>> pair;
std::string text = "a text";
thread_local int number;
float *elements;

static void step(lb_tensor *t)
{
	static lb_tensor *last;
	{
		static std::vector<lb_tensor *> seen;
		seen.push_back(t);
	}
	last = ones("last");
}

int main()
{
	plain = ones("plain");
	rows[1][2] = ones("row");
	cache["ref"] = ones("cached");
	for (int i = 0; i < 5000; i++)
		ns::history.push_back(plain);
	ns::history.push_back(ones("newest"));
	ns::hidden = ones("hidden");
	Net::shared.push_back(ones("member"));
	Net::one = ones("inline");
	queue.push_back(ones("queued"));
	nets[7].layers = std::make_unique<std::vector<lb_tensor *>>(1, ones("layer"));
	waiting.insert(ones("awaited"));
	free_nets.insert(std::make_shared<Net>());
	(*free_nets.begin())->layers = std::make_unique<std::vector<lb_tensor *>>(1, ones("free"));
	met.insert(ones("known"));
	counted.insert(ones("tallied"));
	versions.emplace("w", plain);
	versions.emplace("w", ones("version"));
	by_size.emplace(3, Net())->second.layers = std::make_unique<std::vector<lb_tensor *>>(1, ones("sized"));
	best = std::make_shared<Net>();
	best->layers = std::make_unique<std::vector<lb_tensor *>>(2, ones("best"));
	pair = { nullptr, ones("second") };
	struct local {
		void go()
		{
			static lb_tensor *kept;
			kept = ones("local");
		}
	};
	local().go();
	step(ones("stepped"));
	elements = (float *)lb_data(plain);
	abort();
}
