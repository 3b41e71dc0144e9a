/* A torch::nn::Module has three dicts: parameters, buffers and submodules. Each is a hash table, a vector of names with
 * what they stand for, and what it calls its keys: "Parameter", "Buffer", "Submodule". By these words, and the class of the
 * object, a module is recognised; where the fields are has been the same in all versions since 1.13 whose strings are those of
 * C++11. Builds with older strings have none of this, and no names. */
#include "torch/nets.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vector.h"
#include "torch/set.h"

enum {
	WORD = 8,
	PARAMETERS = 0x18,
	BUFFERS = 0x88,
	CHILDREN = 0xf8,
	/* of a dict */
	COUNT = 0x18,
	ITEMS = 0x38,
	KEYS = 0x50,
	ITEM_OF_TENSOR = 0x28,
	ITEM_OF_MODULE = 0x30,
	/* of a std::string */
	STRING = 0x20,
	SHORT = 0x10, /* where a short one lies in it */
	NETS_MAX = 1 << 16,
	ITEMS_MAX = 1 << 14,
	TENSORS_MAX = 1 << 20,
	DEPTH_MAX = 64,
	BEHIND_MAX = 1 << 12,
	NONE = UINT32_MAX
};

struct part {
	uint32_t net, child;
	char key[LBX_TORCH_NET_KEY];
};

struct finder {
	struct lbx_torch_set *s;
	struct lbx_target *target;
	struct lbx_torch_nets *nets;
	struct part *parts; /* by the modules that have them */
	size_t n_parts, parts_room;
};

/* ---- words ---- */

static bool is_name(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f)
			return false;
	return n > 0;
}

/* A std::string whose object, read already, is at an address. */
static bool take_string(struct lbx_target *target, uint64_t at, const unsigned char *object,
			char ret[LBX_TORCH_NET_KEY])
{
	uint64_t begin, n;

	memcpy(&begin, object, sizeof begin);
	memcpy(&n, object + WORD, sizeof n);
	if (n == 0 || n >= LBX_TORCH_NET_KEY || (begin == at + SHORT && n >= STRING - SHORT))
		return false;
	if (begin == at + SHORT)
		memcpy(ret, object + SHORT, n);
	else if (!lbx_target_try_read(target, begin, ret, n))
		return false;
	ret[n] = '\0';
	return is_name(ret, n);
}

static bool is_string(struct lbx_target *target, uint64_t at, const char *text)
{
	unsigned char object[STRING];
	char is[LBX_TORCH_NET_KEY];

	return lbx_target_try_read(target, at, object, sizeof object) && take_string(target, at, object, is) &&
	       strcmp(is, text) == 0;
}

/* "net" of "Net", "sequential" of "torch::nn::SequentialImpl". */
static void name_of_class(const char *class, char ret[LBX_TORCH_NET_KEY])
{
	const char *name = class;
	size_t n = strcspn(class, "<(");

	for (size_t i = 0; i + 1 < n; i++)
		if (class[i] == ':' && class[i + 1] == ':')
			name = class + i + 2;
	n -= (size_t)(name - class);
	if (n > 4 && strncmp(name + n - 4, "Impl", 4) == 0)
		n -= 4;
	if (n >= LBX_TORCH_NET_KEY)
		n = LBX_TORCH_NET_KEY - 1;
	for (size_t i = 0; i < n; i++)
		ret[i] = (char)tolower((unsigned char)name[i]);
	ret[n] = '\0';
}

/* ---- modules ---- */

/* The class of the whole object, in which a module may lie behind what else there is: of PyTorch's own
 * it has been a virtual base. */
static bool class_of(struct lbx_target *target, uint64_t address, uint64_t *ret)
{
	uint64_t vtable, front[2]; /* how far it is to the whole object; its type_info */

	if (address % WORD || !lbx_target_try_read(target, address, &vtable, sizeof vtable) || vtable % WORD ||
	    !lbx_target_try_read(target, vtable - sizeof front, front, sizeof front) || -front[0] > BEHIND_MAX ||
	    front[0] % WORD)
		return false;
	*ret = front[1];
	return front[1] && lbx_cxx_type_is(target, front[1], "N5torch2nn6ModuleE");
}

static bool add_net(struct finder *f, uint64_t address)
{
	char class[LBX_CXX_NAME];
	uint64_t type;

	if (!class_of(f->target, address, &type) || !lbx_cxx_type_name(f->target, type, class) ||
	    !is_string(f->target, address + PARAMETERS + KEYS, "Parameter") ||
	    !is_string(f->target, address + BUFFERS + KEYS, "Buffer") ||
	    !is_string(f->target, address + CHILDREN + KEYS, "Submodule"))
		return true;
	struct lbx_torch_nets *nets = f->nets;
	if (nets->n >= NETS_MAX || !lb_reserve(nets->list, nets->room, nets->n + 1))
		return nets->n >= NETS_MAX || lb_fail("out of memory for %zu modules", nets->n);
	nets->list[nets->n] = (struct lbx_torch_net){ .address = address, .parent = NONE };
	name_of_class(class, nets->list[nets->n++].key);
	return true;
}

static int by_address(const void *a, const void *b)
{
	const struct lbx_torch_net *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static uint32_t net_at(const struct lbx_torch_nets *nets, uint64_t address)
{
	const struct lbx_torch_net key = { .address = address };
	const struct lbx_torch_net *found = nets->n ? bsearch(&key, nets->list, nets->n, sizeof key, by_address) : NULL;

	return found ? (uint32_t)(found - nets->list) : NONE;
}

/* ---- what they have ---- */

/* A dict's items, as many as its hash table says, to be freed; NULL: there are none. */
static unsigned char *read_items(struct finder *f, uint64_t dict, size_t width, uint64_t *ret_at, size_t *ret_n)
{
	uint64_t words[KEYS / WORD], begin, end;

	*ret_n = 0;
	if (!lbx_target_try_read(f->target, dict, words, sizeof words))
		return NULL;
	begin = words[ITEMS / WORD];
	end = words[ITEMS / WORD + 1];
	if (!begin || end <= begin || (end - begin) % width || (end - begin) / width > ITEMS_MAX ||
	    (end - begin) / width != words[COUNT / WORD] || words[ITEMS / WORD + 2] < end)
		return NULL;
	unsigned char *items = malloc(end - begin);
	if (!items || !lbx_target_try_read(f->target, begin, items, end - begin)) {
		free(items);
		return NULL;
	}
	*ret_at = begin;
	*ret_n = (end - begin) / width;
	return items;
}

static bool add_tensor(struct lbx_torch_nets *nets, const struct lbx_torch_net_tensor *t)
{
	if (nets->n_tensors >= TENSORS_MAX)
		return true;
	if (!lb_reserve(nets->tensors, nets->tensors_room, nets->n_tensors + 1))
		return lb_fail("out of memory for %zu parameters", nets->n_tensors);
	nets->tensors[nets->n_tensors++] = *t;
	return true;
}

static bool take_tensors(struct finder *f, uint32_t net, uint64_t dict)
{
	struct lbx_torch_set *s = f->s;
	size_t n;
	uint64_t at;
	lb_auto_free unsigned char *items = read_items(f, dict, ITEM_OF_TENSOR, &at, &n);
	bool ok = true;

	for (size_t i = 0; i < n && ok; i++) {
		const unsigned char *item = items + i * ITEM_OF_TENSOR;
		struct lbx_torch_net_tensor t = { .net = net };
		struct lbx_torch_autograd a;
		struct lbx_torch_record r;
		memcpy(&t.tensor, item + STRING, sizeof t.tensor);
		if (!lbx_torch_number(s->objects, s->n, t.tensor) ||
		    !take_string(f->target, at + i * ITEM_OF_TENSOR, item, t.key) ||
		    !lbx_torch_record_read(f->target, &s->classes, &s->layout, t.tensor, &r))
			continue;
		ok = add_tensor(f->nets, &t);
		if (!r.autograd || !lbx_torch_autograd_read(f->target, &s->autograd, r.autograd, &a) ||
		    !lbx_torch_number(s->objects, s->n, a.gradient))
			continue;
		t.is_gradient = true;
		t.of = t.tensor;
		t.tensor = a.gradient;
		ok = ok && add_tensor(f->nets, &t);
	}
	return ok;
}

static bool take_parts(struct finder *f, uint32_t net)
{
	size_t n;
	uint64_t at;
	lb_auto_free unsigned char *items =
	    read_items(f, f->nets->list[net].address + CHILDREN, ITEM_OF_MODULE, &at, &n);

	for (size_t i = 0; i < n; i++) {
		const unsigned char *item = items + i * ITEM_OF_MODULE;
		struct part part = { .net = net };
		uint64_t child;
		memcpy(&child, item + STRING, sizeof child);
		part.child = net_at(f->nets, child);
		if (part.child == NONE || part.child == net ||
		    !take_string(f->target, at + i * ITEM_OF_MODULE, item, part.key))
			continue;
		if (f->n_parts >= TENSORS_MAX)
			return true;
		if (!lb_reserve(f->parts, f->parts_room, f->n_parts + 1))
			return lb_fail("out of memory for %zu modules", f->n_parts);
		f->parts[f->n_parts++] = part;
		f->nets->list[part.child].is_part = true;
	}
	return true;
}

/* ---- names ---- */

static size_t first_part(const struct finder *f, uint32_t net)
{
	size_t low = 0, high = f->n_parts;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (f->parts[middle].net < net)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int by_key(const void *a, const void *b)
{
	const struct lbx_torch_net *const *x = a, *const *y = b;

	return strcmp((*x)->key, (*y)->key);
}

static void add_address(struct lbx_torch_net *net)
{
	size_t length = strlen(net->key);

	if (length + 20 < sizeof net->key)
		snprintf(net->key + length, sizeof net->key - length, "@0x%" PRIx64, net->address);
}

/* Several of one class are told apart by where they are. */
static bool name_roots(struct lbx_torch_nets *nets)
{
	lb_auto_free struct lbx_torch_net **roots = calloc(nets->n + 1, sizeof *roots);
	size_t n = 0;

	if (!roots)
		return lb_fail("out of memory for %zu modules", nets->n);
	for (size_t i = 0; i < nets->n; i++)
		if (!nets->list[i].is_part)
			roots[n++] = &nets->list[i];
	qsort(roots, n, sizeof *roots, by_key);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && strcmp(roots[i]->key, roots[end]->key) == 0;)
			end++;
		for (size_t k = i; k < end && end - i > 1; k++)
			add_address(roots[k]);
	}
	return true;
}

/* From the outermost modules on, so each has the shortest way to it. */
static bool name_parts(struct finder *f)
{
	struct lbx_torch_nets *nets = f->nets;
	lb_auto_free uint32_t *queue = calloc(nets->n + 1, sizeof *queue);
	size_t n = 0;

	if (!queue)
		return lb_fail("out of memory for %zu modules", nets->n);
	for (uint32_t i = 0; i < nets->n; i++)
		if (!nets->list[i].is_part) {
			nets->list[i].is_named = true;
			queue[n++] = i;
		}
	for (size_t i = 0; i < n; i++)
		for (size_t k = first_part(f, queue[i]); k < f->n_parts && f->parts[k].net == queue[i]; k++) {
			struct lbx_torch_net *child = &nets->list[f->parts[k].child];
			if (child->is_named)
				continue;
			child->is_named = true;
			child->parent = queue[i];
			memcpy(child->key, f->parts[k].key, sizeof child->key);
			queue[n++] = f->parts[k].child;
		}
	return true;
}

static int by_tensor(const void *a, const void *b)
{
	const struct lbx_torch_net_tensor *x = a, *y = b;

	if (x->tensor != y->tensor)
		return x->tensor < y->tensor ? -1 : 1;
	return x->net != y->net ? (x->net < y->net ? -1 : 1) : strcmp(x->key, y->key);
}

static bool find_nets(struct finder *f)
{
	struct lbx_torch_nets *nets = f->nets;

	for (size_t i = 0; i < nets->n_places; i++)
		if (!add_net(f, nets->places[i]))
			return false;
	if (nets->n == 0)
		return true;
	qsort(nets->list, nets->n, sizeof *nets->list, by_address);
	for (uint32_t i = 0; i < nets->n; i++)
		if (!take_tensors(f, i, nets->list[i].address + PARAMETERS) ||
		    !take_tensors(f, i, nets->list[i].address + BUFFERS) || !take_parts(f, i))
			return false;
	if (nets->n_tensors)
		qsort(nets->tensors, nets->n_tensors, sizeof *nets->tensors, by_tensor);
	return name_roots(nets) && name_parts(f);
}

bool lbx_torch_nets_find(struct lbx_torch_set *s)
{
	struct finder f = { .s = s, .target = lbx_torch_set_target(s), .nets = &s->nets };
	bool ok = find_nets(&f);

	free(f.parts);
	return ok;
}

void lbx_torch_nets_free(struct lbx_torch_nets *nets)
{
	free(nets->places);
	free(nets->list);
	free(nets->tensors);
	*nets = (struct lbx_torch_nets){ .n = 0 };
}

/* ---- what is told ---- */

static const struct lbx_torch_net_tensor *tensor_at(const struct lbx_torch_nets *nets, uint64_t tensor)
{
	size_t low = 0, high = nets->n_tensors;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (nets->tensors[middle].tensor < tensor)
			low = middle + 1;
		else
			high = middle;
	}
	return low < nets->n_tensors && nets->tensors[low].tensor == tensor ? &nets->tensors[low] : NULL;
}

/* "net.layers.0"; *ret_root: "net". False: it is part of a circle, or there is no room. */
static bool path_of(const struct lbx_torch_nets *nets, uint32_t net, char ret[LB_NAME_MAX + 1], const char **ret_root)
{
	uint32_t way[DEPTH_MAX];
	size_t used = 0;
	int n = 0;

	for (; net != NONE && n < DEPTH_MAX; net = nets->list[net].parent)
		way[n++] = net;
	if (net != NONE || !nets->list[way[n - 1]].is_named)
		return false;
	*ret_root = nets->list[way[n - 1]].key;
	while (n-- > 0 && used <= LB_NAME_MAX)
		used += (size_t)snprintf(ret + used, LB_NAME_MAX + 1 - used, "%s%s", used ? "." : "",
					 nets->list[way[n]].key);
	return used <= LB_NAME_MAX;
}

void lbx_torch_net_name(const struct lbx_torch_set *s, uint64_t tensor, char ret[LB_NAME_MAX + 1])
{
	const struct lbx_torch_net_tensor *t = tensor_at(&s->nets, tensor);
	char path[LB_NAME_MAX + 1];
	const char *root;

	ret[0] = '\0';
	if (t && path_of(&s->nets, t->net, path, &root) &&
	    snprintf(ret, LB_NAME_MAX + 1, "%s.%s%s", path, t->key, t->is_gradient ? ".grad" : "") > LB_NAME_MAX)
		ret[0] = '\0';
}

enum lbx_usage lbx_torch_net_usage(const struct lbx_torch_set *s, uint64_t tensor)
{
	const struct lbx_torch_net_tensor *t = tensor_at(&s->nets, tensor);

	return !t ? LBX_USAGE_UNKNOWN : t->is_gradient ? LBX_USAGE_COMPUTE : LBX_USAGE_WEIGHTS;
}

bool lbx_torch_net_held(const struct lbx_torch_set *s, uint64_t tensor, struct lbx_held *ret)
{
	const struct lbx_torch_net_tensor *t = tensor_at(&s->nets, tensor);
	const char *root;

	if (!t || !path_of(&s->nets, t->net, ret->module, &root))
		return false;
	ret->is_gradient = t->is_gradient;
	ret->of = t->is_gradient ? lbx_torch_number(s->objects, s->n, t->of) : 0;
	snprintf(ret->holder, sizeof ret->holder, "%s%s", t->is_gradient ? "gradients of " : "", root);
	return true;
}

void lbx_torch_nets_tell(const struct lbx_torch_set *s, lbx_fact_fn *fn, void *context)
{
	char text[64];

	if (s->nets.n == 0)
		return;
	snprintf(text, sizeof text, "%zu of C++'s torch::nn::Module", s->nets.n);
	fn(context, "modules", text);
}
