#include "memory/names.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/sanitizer.h"

enum { STEP = 16, CLASSES = LB_NAMES_MOST / STEP, BLOCK = 1 << 20, GUARD = 64 << 10 /* whole pages everywhere */ };

struct piece {
	struct piece *next; /* of the same size, also given back */
};

static struct drawer {
	_Alignas(64) pthread_mutex_t lock;
	char *at, *end; /* what is left of the newest block */
	struct piece *given_back[CLASSES];
} drawers[LB_NAMES_DRAWERS] = {
	[0 ... LB_NAMES_DRAWERS - 1] = { .lock = PTHREAD_MUTEX_INITIALIZER },
};

/* Who writes beyond the end of a buffer below dies before the names, which tell whose buffer it was. */
static char *new_block(void)
{
	char *block = mmap(NULL, GUARD + BLOCK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (block == MAP_FAILED)
		return NULL;
	if (mprotect(block + GUARD, BLOCK, PROT_READ | PROT_WRITE) != 0) {
		munmap(block, GUARD + BLOCK);
		return NULL;
	}
	return block + GUARD;
}

/* The rest of the block before is lost: less than the longest name. */
static void *fresh_piece(struct drawer *drawer, size_t nbytes)
{
	if ((size_t)(drawer->end - drawer->at) < nbytes) {
		char *block = new_block();
		if (!block)
			return NULL;
		drawer->at = block;
		drawer->end = block + BLOCK;
	}
	void *piece = drawer->at;
	drawer->at += nbytes;
	return piece;
}

void *lb_names_take(unsigned number, size_t nbytes)
{
	struct drawer *drawer = &drawers[number];
	size_t class = (nbytes - 1) / STEP;

	if (LB_SANITIZES_ADDRESSES) /* it tells of uses after free */
		return malloc(nbytes);
	pthread_mutex_lock(&drawer->lock);
	struct piece *piece = drawer->given_back[class];
	if (piece)
		drawer->given_back[class] = piece->next;
	else
		piece = fresh_piece(drawer, (class + 1) * STEP);
	pthread_mutex_unlock(&drawer->lock);
	return piece;
}

void lb_names_give(unsigned number, void *at, size_t nbytes)
{
	struct drawer *drawer = &drawers[number];
	size_t class = (nbytes - 1) / STEP;
	struct piece *piece = at;

	if (LB_SANITIZES_ADDRESSES) {
		free(at);
		return;
	}
	pthread_mutex_lock(&drawer->lock);
	piece->next = drawer->given_back[class];
	drawer->given_back[class] = piece;
	pthread_mutex_unlock(&drawer->lock);
}

void lb_names_lock(void)
{
	for (int i = 0; i < LB_NAMES_DRAWERS; i++)
		pthread_mutex_lock(&drawers[i].lock);
}

void lb_names_unlock(void)
{
	for (int i = LB_NAMES_DRAWERS; i-- > 0;)
		pthread_mutex_unlock(&drawers[i].lock);
}
