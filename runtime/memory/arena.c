#include "memory/arena.h"

#include <stddef.h>
#include <sys/mman.h>

#include "base/error.h"
#include "memory/buffer.h"
#include "memory/pages.h"
#include "memory/thread.h"

enum {
	ALIGN = 64,
	FIRST_CHUNK = 256 << 10,
	BUFFER_FROM = 2 << 20, /* bytes: chunks from there on are buffers */
	KEEP_AT_MOST = 8 << 20,
};

struct lb_chunk {
	struct lb_chunk *below;
	int64_t size; /* with this header */
	int64_t used;
	struct lb_buffer *buffer; /* whose memory it is; NULL: its own mapping */
	char pad[ALIGN - 32];
};

static struct lb_chunk *map_chunk(int64_t size)
{
	struct lb_chunk *chunk = lb_pages_take((size_t)size);
	if (!chunk) {
		lb_fail("out of memory: %lld bytes of scratch space wanted", (long long)size);
		return NULL;
	}
	chunk->size = size;
	chunk->buffer = NULL;
	return chunk;
}

/* For the tensor whose operation wants it. */
static struct lb_chunk *buffer_chunk(int64_t size)
{
	const struct lb_thread *record = lb_self_pointer ? lb_self_pointer->record : NULL;
	struct lb_buffer *buffer = lb_buffer_new(size, record ? record->tensor : 0, false);
	if (!buffer)
		return NULL;
	struct lb_chunk *chunk = (struct lb_chunk *)(uintptr_t)buffer->data;
	chunk->size = buffer->capacity;
	chunk->buffer = buffer;
	return chunk;
}

static void give_chunk(struct lb_chunk *chunk)
{
	if (chunk && chunk->buffer)
		lb_buffer_drop(chunk->buffer);
	else if (chunk)
		munmap(chunk, (size_t)chunk->size);
}

static bool push_chunk(struct lb_arena *arena, int64_t nbytes)
{
	int64_t wanted = arena->top ? arena->top->size * 2 : FIRST_CHUNK;
	if (wanted > KEEP_AT_MOST)
		wanted = KEEP_AT_MOST;
	if (wanted < nbytes + (int64_t)sizeof(struct lb_chunk))
		wanted = (nbytes + (int64_t)sizeof(struct lb_chunk) + 4095) & ~(int64_t)4095;
	struct lb_chunk *chunk = arena->spare;
	if (chunk && chunk->size >= wanted) {
		arena->spare = NULL;
	} else {
		chunk = wanted >= BUFFER_FROM && !arena->plain ? buffer_chunk(wanted) : map_chunk(wanted);
		if (!chunk)
			return false;
	}
	arena->destroy = lb_arena_destroy;
	chunk->used = sizeof *chunk;
	chunk->below = arena->top;
	arena->top = chunk;
	return true;
}

void *lb_arena_take(struct lb_arena *arena, int64_t nbytes)
{
	if (nbytes < 0 || nbytes > INT64_MAX / 4) {
		lb_fail("out of memory: %lld bytes of scratch space wanted", (long long)nbytes);
		return NULL;
	}
	nbytes = (nbytes + ALIGN - 1) & ~(int64_t)(ALIGN - 1);
	if ((!arena->top || arena->top->size - arena->top->used < nbytes) && !push_chunk(arena, nbytes))
		return NULL;
	void *at = (char *)arena->top + arena->top->used;
	arena->top->used += nbytes;
	return at;
}

struct lb_arena_mark lb_arena_mark(const struct lb_arena *arena)
{
	return (struct lb_arena_mark){ arena->top, arena->top ? arena->top->used : 0 };
}

/* The largest chunk given back, of those that are no buffers, stays as the spare one. */
static void pop_chunk(struct lb_arena *arena)
{
	struct lb_chunk *chunk = arena->top;
	arena->top = chunk->below;
	if (chunk->buffer || (arena->spare && arena->spare->size >= chunk->size)) {
		give_chunk(chunk);
		return;
	}
	give_chunk(arena->spare);
	arena->spare = chunk;
}

void lb_arena_reset(struct lb_arena *arena, struct lb_arena_mark mark)
{
	while (arena->top != mark.chunk)
		pop_chunk(arena);
	if (arena->top)
		arena->top->used = mark.used;
}

void lb_arena_trim(struct lb_arena *arena)
{
	lb_arena_reset(arena, (struct lb_arena_mark){ NULL, 0 });
	if (arena->spare && arena->spare->size > KEEP_AT_MOST) {
		give_chunk(arena->spare);
		arena->spare = NULL;
	}
}

void lb_arena_destroy(struct lb_arena *arena)
{
	lb_arena_reset(arena, (struct lb_arena_mark){ NULL, 0 });
	give_chunk(arena->spare);
	arena->spare = NULL;
}
