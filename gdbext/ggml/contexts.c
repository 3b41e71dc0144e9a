/* A context says where its memory is, where its first and its last object are, and how many tensors there are. The
 * objects are a list without gaps, which ends where the context says: of what only looks like a context none does. */
#include "ggml/contexts.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/vector.h"

enum {
	WORD = 8,
	PIECE = 1 << 20,
	WINDOW = 1 << 12,
	MAX_CONTEXTS = 1 << 16,
	MAX_TENSORS = 1 << 24,
	MAX_OBJECTS = 1 << 24
};

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

struct search {
	struct lbx_target *target; /* as directly as can be */
	const struct lbx_loaded *module;
	struct lbx_ggml_contexts *found;
	size_t objects; /* looked at, of whatever candidates */
	/* memory around the last object */
	uint64_t window_at;
	size_t window_n;
	unsigned char window[WINDOW];
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
	if (at < s->window_at || at - s->window_at + sizeof *ret > s->window_n) {
		s->window_at = at;
		s->window_n = WINDOW;
		if (!lbx_target_try_read(s->target, at, s->window, WINDOW)) {
			s->window_n = sizeof *ret;
			if (!lbx_target_try_read(s->target, at, s->window, sizeof *ret)) {
				s->window_n = 0;
				return false;
			}
		}
	}
	memcpy(ret, s->window + (at - s->window_at), sizeof *ret);
	return true;
}

static bool add_tensor(struct lbx_ggml_contexts *c, uint64_t at, uint64_t size)
{
	if (c->n_tensors >= MAX_TENSORS || !lb_reserve(c->tensors, c->tensors_room, c->n_tensors + 1))
		return false;
	c->tensors[c->n_tensors++] = at;
	if (!c->smallest || size < c->smallest)
		c->smallest = size;
	return true;
}

/* Whether the objects are such as ggml leaves them; their tensors are added. */
static bool walk_objects(struct search *s, const struct head *h)
{
	struct lbx_ggml_contexts *c = s->found;
	size_t first = c->n_tensors;
	uint64_t at = h->mem_buffer;
	struct object o;

	while (s->objects++ < MAX_OBJECTS && read_object(s, at, &o)) {
		if (o.offset != at - h->mem_buffer + sizeof o || o.type < 0 || o.type > 2 || o.size > h->mem_size ||
		    o.offset > h->mem_size - o.size)
			return false;
		if (o.type == 0 && (o.size % 16 || o.size == 0 || !add_tensor(c, at + sizeof o, o.size)))
			return false;
		if (o.next == 0)
			return at == h->objects_end && c->n_tensors - first == (size_t)h->n_objects;
		if (o.next != h->mem_buffer + o.offset + o.size || o.next > h->objects_end)
			return false;
		at = o.next;
	}
	return false;
}

/* Once contexts were kept in a list of ggml's own, each behind a byte which says that it is in use. */
static bool is_in_use(struct search *s, uint64_t address)
{
	char used;

	return !lbx_loaded_segment_at(s->module, address) ||
	       (lbx_target_try_read(s->target, address - WORD, &used, sizeof used) && used == 1);
}

static bool is_new(const struct lbx_ggml_contexts *c, const struct head *h)
{
	for (size_t i = 0; i < c->n; i++)
		if (h->mem_buffer - c->list[i].memory < c->list[i].size ||
		    c->list[i].memory - h->mem_buffer < h->mem_size)
			return false;
	return true;
}

/* Fails only without memory. */
static bool take(struct search *s, uint64_t address, const struct head *h)
{
	struct lbx_ggml_contexts *c = s->found;
	size_t first = c->n_tensors;
	uint64_t smallest = c->smallest;

	if (c->n >= MAX_CONTEXTS || !is_new(c, h) || !is_in_use(s, address) || !walk_objects(s, h)) {
		c->n_tensors = first;
		c->smallest = smallest;
		return true;
	}
	if (!lb_reserve(c->list, c->room, c->n + 1))
		return lb_fail("out of memory for %zu contexts of ggml", c->n);
	c->list[c->n++] = (struct lbx_ggml_context){ .address = address,
						     .memory = h->mem_buffer,
						     .size = h->mem_size,
						     .first = first,
						     .n = c->n_tensors - first };
	return true;
}

static bool search_bytes(struct search *s, const char *bytes, size_t n, uint64_t address)
{
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

bool lbx_ggml_contexts_find(struct lbx_target *target, const struct lbx_loaded *module,
			    bool (*progress)(void *context, int64_t done), void *context, struct lbx_ggml_contexts *ret)
{
	lb_auto_free char *scratch = malloc(PIECE + sizeof(struct head));
	lb_auto_free struct search *s = calloc(1, sizeof *s);
	struct lbx_target *direct = lbx_target_direct(target);
	struct lbx_range range;
	uint64_t from = 0;
	int64_t bytes = 0;

	*ret = (struct lbx_ggml_contexts){ .list = NULL };
	if (!scratch || !s)
		return lb_fail("out of memory");
	s->target = direct ? direct : target;
	s->module = module;
	s->found = ret;
	while (lbx_target_range(target, from, &range)) {
		for (uint64_t done = 0; done < range.size; done += PIECE) {
			/* a context may lie across two pieces */
			uint64_t left = range.size - done, most = PIECE + sizeof(struct head) - WORD;
			size_t n = (size_t)(left < most ? left : most);
			const char *piece = lbx_target_map(s->target, range.start + done, n);
			if (progress && !progress(context, bytes))
				return false;
			bytes += (int64_t)n;
			if (!piece && !lbx_target_try_read(s->target, range.start + done, scratch, n))
				continue;
			if (!search_bytes(s, piece ? piece : scratch, n, range.start + done))
				return false;
		}
		from = range.start + range.size;
		if (from == 0)
			break;
	}
	return true;
}

void lbx_ggml_contexts_free(struct lbx_ggml_contexts *contexts)
{
	free(contexts->list);
	free(contexts->tensors);
	*contexts = (struct lbx_ggml_contexts){ .list = NULL };
}
