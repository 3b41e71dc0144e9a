/* The keys and values of the tokens so far, for each layer. Each is one tensor with room to spare,
 * (batch, kv_heads, room, head_size), that takes new tokens without being copied; when it is full
 * it moves to one of twice the room. */
#ifndef COMMON_CACHE_H
#define COMMON_CACHE_H

#include "lazybones.h"

struct cache {
	int64_t layers, length; /* length: tokens that every layer has */
	struct cache_layer {
		lb_tensor *keys, *values; /* kept; NULL before the first token */
	} *of;
};

bool cache_init(struct cache *cache, int64_t layers);
void cache_release(struct cache *cache);
/* Adds one layer's keys and values (batch, kv_heads, more, head_size), and puts views of all so
 * far in their place. When every layer has them, cache_advance(). False on error. */
bool cache_append(struct cache *cache, int64_t layer, lb_tensor **keys, lb_tensor **values);
void cache_advance(struct cache *cache, int64_t more);

#endif
