/* A context says where its memory is, where its first and its last object are, and how many tensors there are. The
 * objects are a list without gaps, which ends where the context says: of what only looks like a context none does. */
#include "ggml/contexts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vector.h"
#include "target/search.h"
#include "target/window.h"

enum { WORD = 8, MAX_CONTEXTS = 1 << 16, MAX_TENSORS = 1 << 24, MAX_OBJECTS = 1 << 24 };

struct head {
	uint64_t mem_size, mem_buffer;
	uint8_t flags[4];
	int32_t n_objects;
	uint64_t objects_begin, objects_end;
};

struct object {
	uint64_t offset, size, next;
	int32_t type; /* 0 a tensor, 1 a graph, 2 a work buffer */
	int32_t padding;
};

/* The objects of one that was taken. */
struct extent {
	uint64_t start, end;
};

struct search {
	struct lbx_target *target; /* as directly as can be */
	const struct lbx_loaded *module;
	struct lbx_ggml_contexts *found;
	struct extent *extents; /* of those found, by address */
	size_t extents_room;
	size_t objects; /* looked at, of whatever candidates */
	struct lbx_window window; /* on objects */
};

static bool may_be_context(const struct head *h)
{
	return h->mem_buffer && h->mem_buffer == h->objects_begin && h->objects_end >= h->objects_begin &&
	       h->mem_size >= sizeof(struct object) && h->mem_size <= INT64_MAX / 2 && h->mem_buffer <= INT64_MAX / 2 &&
	       h->objects_end - h->mem_buffer <= h->mem_size - sizeof(struct object) && h->mem_buffer % 16 == 0 &&
	       h->objects_end % 16 == 0 && h->flags[0] <= 1 && h->flags[1] <= 1 && h->n_objects > 0;
}

static bool read_object(struct search *s, uint64_t at, struct object *ret)
{
	return lbx_target_try_read(&s->window.target, at, ret, sizeof *ret);
}

/* What a walk along the objects came to. */
enum walk { WALK_WHOLE, WALK_BROKEN, WALK_NOTHING, WALK_FAILED };

/* Fails without memory, and where there are too many. */
static bool add_tensor(struct lbx_ggml_contexts *c, uint64_t at, uint64_t size)
{
	if (c->n_tensors >= MAX_TENSORS || !lb_reserve(c->tensors, c->tensors_room, c->n_tensors + 1))
		return lb_fail("%s for the tensors of ggml, of which there are more than %zu",
			       c->n_tensors >= MAX_TENSORS ? "there are too many" : "out of memory", c->n_tensors);
	c->tensors[c->n_tensors++] = at;
	if (!c->smallest || size < c->smallest) {
		c->smallest = size;
		c->smallest_at = at;
	}
	return true;
}

static bool add_graph(struct lbx_ggml_contexts *c, uint64_t at)
{
	if (!lb_reserve(c->graphs, c->graphs_room, c->n_graphs + 1))
		return lb_fail("out of memory for the graphs of ggml, of which there are more than %zu", c->n_graphs);
	c->graphs[c->n_graphs++] = (struct lbx_ggml_graph){ .address = at, .context = c->n };
	return true;
}

/* Whether one is such as ggml leaves it: it says where it is itself, and the next follows without a gap. */
static bool is_sound_within(const struct head *h, uint64_t at, const struct object *o)
{
	return o->offset == at - h->mem_buffer + sizeof *o && o->type >= 0 && o->type <= 2 && o->size <= h->mem_size &&
	       o->offset <= h->mem_size - o->size && !(o->type == 0 && (o->size % 16 || o->size == 0)) &&
	       (o->next == 0 || o->next == h->mem_buffer + o->offset + o->size);
}

static bool is_sound(const struct head *h, uint64_t at, const struct object *o)
{
	return is_sound_within(h, at, o) && o->next <= h->objects_end;
}

static bool is_last(struct search *s, const struct head *h)
{
	struct object o;

	return read_object(s, h->objects_end, &o) && is_sound(h, h->objects_end, &o) && o.next == 0;
}

/* Adds the objects' tensors and graphs, if all are sound. *ret is the last that is, or the first that is not. Of a context that is
 * none, and has only what looks like one's fields, neither the first object nor the last is sound. */
static enum walk walk_objects(struct search *s, const struct head *h, uint64_t *ret, uint64_t *ret_end)
{
	struct lbx_ggml_contexts *c = s->found;
	size_t first = c->n_tensors;
	struct object o;

	for (*ret = h->mem_buffer; read_object(s, *ret, &o) && is_sound(h, *ret, &o); *ret = o.next) {
		if (s->objects++ == MAX_OBJECTS) {
			lb_fail("the program's memory has too many objects that may be ggml's: more than %d were "
				"looked at",
				MAX_OBJECTS);
			return WALK_FAILED;
		}
		if ((o.type == 0 && !add_tensor(c, *ret + sizeof o, o.size)) ||
		    (o.type == 1 && !add_graph(c, *ret + sizeof o)))
			return WALK_FAILED;
		*ret_end = h->mem_buffer + o.offset + o.size;
		if (o.next == 0)
			return *ret == h->objects_end && c->n_tensors - first == (size_t)h->n_objects ? WALK_WHOLE
												      : WALK_BROKEN;
	}
	return *ret != h->mem_buffer || is_last(s, h) ? WALK_BROKEN : WALK_NOTHING;
}

/* Once contexts were kept in a list of ggml's own, each behind a byte which says that it is in use. */
static bool is_in_use(struct search *s, uint64_t address)
{
	char used;

	return !lbx_loaded_segment_at(s->module, address) ||
	       (lbx_target_try_read(s->target, address - WORD, &used, sizeof used) && used == 1);
}

/* How many of those found begin before an address. */
static size_t before(const struct search *s, uint64_t address)
{
	size_t low = 0, high = s->found->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (s->extents[middle].start < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool add_context(struct search *s, const struct lbx_ggml_context *context)
{
	struct lbx_ggml_contexts *c = s->found;
	size_t at = before(s, context->memory);

	if (c->n >= MAX_CONTEXTS || !lb_reserve(c->list, c->room, c->n + 1) ||
	    !lb_reserve(s->extents, s->extents_room, c->n + 1))
		return lb_fail("%s for the contexts of ggml, of which there are more than %zu",
			       c->n >= MAX_CONTEXTS ? "there are too many" : "out of memory", c->n);
	memmove(s->extents + at + 1, s->extents + at, (c->n - at) * sizeof *s->extents);
	s->extents[at] = (struct extent){ context->memory, context->memory + context->used };
	c->list[c->n++] = *context;
	return true;
}

static void add_broken(struct lbx_ggml_contexts *c, uint64_t at)
{
	if (c->n_broken && (at == c->first_broken || at == c->last_broken)) /* a copy of one that was seen */
		return;
	c->first_broken = c->n_broken && c->first_broken < at ? c->first_broken : at;
	c->last_broken = c->last_broken > at ? c->last_broken : at;
	c->n_broken++;
}

/* Fails without memory, and where there are too many. */
static bool take(struct search *s, uint64_t address, const struct head *h)
{
	struct lbx_ggml_contexts *c = s->found;
	size_t first = c->n_tensors, first_graph = c->n_graphs, at = before(s, h->mem_buffer);
	uint64_t smallest = c->smallest, smallest_at = c->smallest_at, where, end = 0;

	/* copies of one that was found may lie anywhere */
	if ((at < c->n && s->extents[at].start == h->mem_buffer) || !is_in_use(s, address))
		return true;
	enum walk walk = walk_objects(s, h, &where, &end);
	if (walk == WALK_FAILED)
		return false;
	if (walk == WALK_WHOLE &&
	    ((at > 0 && s->extents[at - 1].end > h->mem_buffer) || (at < c->n && s->extents[at].start < end)))
		walk = WALK_BROKEN;
	if (walk == WALK_WHOLE)
		return add_context(s, &(struct lbx_ggml_context){ .address = address,
								  .memory = h->mem_buffer,
								  .size = h->mem_size,
								  .used = end - h->mem_buffer,
								  .first = first,
								  .n = c->n_tensors - first });
	if (walk == WALK_BROKEN)
		add_broken(c, where);
	c->n_tensors = first;
	c->n_graphs = first_graph;
	c->smallest = smallest;
	c->smallest_at = smallest_at;
	return true;
}

static bool look(void *context, const char *bytes, size_t n, uint64_t address)
{
	struct search *s = context;
	struct head h;

	for (size_t at = (size_t)(-address & (WORD - 1)); at + sizeof h <= n; at += WORD) {
		uint64_t buffer, begin;
		memcpy(&buffer, bytes + at + offsetof(struct head, mem_buffer), sizeof buffer);
		memcpy(&begin, bytes + at + offsetof(struct head, objects_begin), sizeof begin);
		if (buffer != begin || buffer == 0)
			continue;
		memcpy(&h, bytes + at, sizeof h);
		if (may_be_context(&h) && !take(s, address + at, &h))
			return false;
	}
	return true;
}

/* The context in whose memory a tensor is that has been let go of: until the end of 2024 llama.cpp did that before it had a
 * graph computed. An object says where the memory begins, and there the list of them does. */
static bool take_lent(struct search *s, uint64_t node)
{
	struct head h = { .mem_size = INT64_MAX / 2 };
	struct object o;
	uint64_t at = node - sizeof o;

	if (node < sizeof o || !read_object(s, at, &o) || o.type != 0 || o.offset > at)
		return true;
	h.mem_buffer = h.objects_begin = at + sizeof o - o.offset;
	for (at = h.mem_buffer; read_object(s, at, &o) && is_sound_within(&h, at, &o) && s->objects++ < MAX_OBJECTS;
	     at = o.next) {
		h.n_objects += o.type == 0;
		h.objects_end = at;
		if (o.next == 0)
			h.mem_size = at - h.mem_buffer + sizeof o + o.size;
	}
	return !may_be_context(&h) || take(s, 0, &h);
}

bool lbx_ggml_contexts_find(struct lbx_target *target, const struct lbx_loaded *module, const uint64_t *nodes, int n,
			    bool (*progress)(void *context, int64_t done), void *context, struct lbx_ggml_contexts *ret)
{
	struct lbx_target *direct = lbx_target_direct(target);
	struct search s = { .target = direct ? direct : target, .module = module, .found = ret };

	lbx_window_init(&s.window, s.target);
	*ret = (struct lbx_ggml_contexts){ .list = NULL };
	/* a context lies in ggml's own data, or is a small allocation */
	const struct lbx_search search = { .bytes = sizeof(struct head),
					   .look = look,
					   .context = &s,
					   .progress = progress,
					   .progress_context = context };
	bool whole = lbx_search(target, &search);
	for (int i = 0; whole && i < n; i++)
		whole = take_lent(&s, nodes[i]);
	free(s.extents);
	return whole;
}

void lbx_ggml_contexts_free(struct lbx_ggml_contexts *contexts)
{
	free(contexts->list);
	free(contexts->tensors);
	free(contexts->graphs);
	*contexts = (struct lbx_ggml_contexts){ .list = NULL };
}
