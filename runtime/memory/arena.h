/* A stack of scratch memory: taken piece by piece, given back to a mark. Large pieces are buffers: from
 * the cache, so that the kernel need not clear their pages for each evaluation anew, and back to it;
 * they count as active meanwhile, and the memory limit holds for them. The rest, and all of an arena
 * that is `plain`, is asked of the kernel alone, never of malloc, so that it works in a program stopped
 * inside malloc. */
#ifndef LB_MEMORY_ARENA_H
#define LB_MEMORY_ARENA_H

#include <stdbool.h>
#include <stdint.h>

struct lb_arena {
	struct lb_chunk *top;   /* the chunk in use; those below it are full */
	struct lb_chunk *spare; /* one empty chunk kept for the next need */
	bool plain;             /* takes no buffers */
	/* lb_arena_destroy(), once there is something to destroy: for whoever lies beneath, as the thread that
	 * owns it does, since large pieces are buffers and those are counted by thread */
	void (*destroy)(struct lb_arena *arena);
};

struct lb_arena_mark {
	struct lb_chunk *chunk;
	int64_t used;
};

/* nbytes aligned to 64, not zeroed; NULL, with an error, when memory is out. */
void *lb_arena_take(struct lb_arena *arena, int64_t nbytes);
struct lb_arena_mark lb_arena_mark(const struct lb_arena *arena);
void lb_arena_reset(struct lb_arena *arena, struct lb_arena_mark mark);
/* Resets, and keeps at most one chunk of moderate size for the next time. */
void lb_arena_trim(struct lb_arena *arena);
void lb_arena_destroy(struct lb_arena *arena);

#endif
