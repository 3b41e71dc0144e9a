#include "common/cache.h"

#include <stdlib.h>

#include "common/named.h"

enum { LEAST_ROOM = 64 };

bool cache_init(struct cache *cache, int64_t layers)
{
	*cache = (struct cache){.layers = layers, .of = calloc((size_t)layers, sizeof(*cache->of))};
	return cache->of || complain("no memory for a cache of %lld layers", (long long)layers);
}

void cache_release(struct cache *cache)
{
	for (int64_t i = 0; cache->of && i < cache->layers; i++) {
		lb_release(cache->of[i].keys);
		lb_release(cache->of[i].values);
	}
	free(cache->of);
	*cache = (struct cache){0};
}

static int64_t room_for(int64_t tokens)
{
	int64_t room = LEAST_ROOM;

	while (room < tokens)
		room *= 2;
	return room;
}

/* *room, kept, with `more` at `length`; *more becomes a view of all so far. */
static bool append(lb_tensor **room, int64_t length, lb_tensor **more, const char *what,
		   int64_t layer)
{
	int64_t total = length + lb_dim(*more, 2), has = *room ? lb_dim(*room, 2) : 0;
	lb_tensor *whole = *room;

	if (!*more)
		return false;
	if (total > has) {
		lb_tensor *spare = lb_zeros(LB_SHAPE(lb_dim(*more, 0), lb_dim(*more, 1),
						     room_for(total) - has,
						     lb_dim(*more, 3)), lb_dtype_of(*more));
		whole = has ? lb_concatenate(2, (lb_tensor *[]){*room, spare}, 2) : spare;
	}
	whole = lb_slice_update(whole, *more, LB_ALL, LB_ALL, LB_RANGE(length, total));
	if (!lb_replace(room, named(whole, "cache.%lld.%s", (long long)layer, what)))
		return false;
	*more = lb_slice(*room, LB_ALL, LB_ALL, LB_TO(total));
	return *more != NULL;
}

bool cache_append(struct cache *cache, int64_t layer, lb_tensor **keys, lb_tensor **values)
{
	struct cache_layer *of = &cache->of[layer];

	return append(&of->keys, cache->length, keys, "keys", layer) &&
	       append(&of->values, cache->length, values, "values", layer);
}

void cache_advance(struct cache *cache, int64_t more)
{
	cache->length += more;
}
