/* Maps whose keys look like something else: the names of a model's tensors, numbers, views of memory. */
#include <lazybones.h>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

struct Layer {
	lb_tensor *weight;
};
struct Session {
	std::vector<lb_tensor *> states;
};
using Tensors = std::map<std::string, lb_tensor *>;
using Groups = std::map<std::string, std::vector<std::shared_ptr<Layer>>>;

extern "C" __attribute__((noinline)) void checkpoint(Tensors &tensors, Groups &groups)
{
	asm volatile("" : : "r"(&tensors), "r"(&groups) : "memory");
}

static lb_tensor *make(float n)
{
	float v[] = { n, n + 1, n + 2 };

	return lb_from_data(v, sizeof v, LB_SHAPE(3), LB_F32);
}

int main()
{
	LB_SCOPE
	{
		Tensors m;
		std::unordered_map<std::string, lb_tensor *> cache;
		Groups groups;
		std::vector<lb_tensor *> v;
		float n = 1;
		for (const char *key : { "a.7", "a/7", "a:7", "a@2", "0.5", "#3", "a[7]", "a]", "ref", "x y", "it's" })
			m[key] = make(n++);
		cache["ref"] = make(20);
		groups["enc.0.0"].push_back(std::make_shared<Layer>(Layer{ m["a.7"] }));
		groups["enc.0.0"].push_back(std::make_shared<Layer>(Layer{ m["a/7"] }));
		v.push_back(m["ref"]);
		std::map<char, lb_tensor *> letters = { { 'a', m["a.7"] }, { 'b', m["a/7"] } };
		Tensors words = { { "a", m["a.7"] }, { "b", m["a/7"] } }, empty, long_ones;
		for (int i = 0; i < 9; i++)
			long_ones["encoder.layers." + std::to_string(i) + ".weight"] = m["a.7"];
		std::map<std::string, Session> sessions = { { "ann", { { m["a.7"], m["a/7"] } } } };
		lb_tensor *w = lb_named("w", make(1));
		lb_tensor *its = lb_named("it's", make(30));
		lb_eval(w, its);
		checkpoint(m, groups);
	}
}
