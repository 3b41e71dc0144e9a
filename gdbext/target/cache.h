/* Reads of many small things from a target, made in large pieces: records and names lie
 * next to each other, and a read through a debugger costs microseconds. What is kept is
 * right only while the program stands still: clear it whenever it may have run. */
#ifndef LBX_CACHE_H
#define LBX_CACHE_H

#include "target/target.h"

struct lbx_cache;

struct lbx_cache *lbx_cache_create(struct lbx_target *target);
void lbx_cache_destroy(struct lbx_cache *cache); /* NULL is fine */
/* What is read through it, as a target that can read, no more. */
struct lbx_target *lbx_cache_view(struct lbx_cache *cache);
void lbx_cache_clear(struct lbx_cache *cache);
/* Reads by another target of the same program from here on; what is kept stays, unless it lies in the one before. */
void lbx_cache_use(struct lbx_cache *cache, struct lbx_target *target);
/* The bytes, in place or copied to scratch (n bytes); valid until the next call. */
const void *lbx_cache_at(struct lbx_cache *cache, uint64_t address, size_t n, void *scratch);
/* The same for who goes on from there up to `end`, and asks for what begins in between, one behind the other: a program that
 * stands still is read in long pieces, of which no more than one is kept. */
const void *lbx_cache_onward(struct lbx_cache *cache, uint64_t address, size_t n, uint64_t end, void *scratch);
bool lbx_cache_read(struct lbx_cache *cache, uint64_t address, void *to, size_t n);
/* As lbx_target_read_string(). */
bool lbx_cache_read_string(struct lbx_cache *cache, uint64_t address, char *to, size_t size);

#endif
