/* A list that grows: an array, the number of its elements, and the room it has for them, which doubles. They are
 * variables or members of whoever keeps it, who frees the array.
 *
 *	if (!lb_reserve(list->rows, list->room, list->n + 1))
 *		return lb_fail("out of memory for a list of %zu rows", list->n);
 *	list->rows[list->n++] = row;
 */
#ifndef LB_VECTOR_H
#define LB_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define LB_MOST_OF(type) ((type) - 1 > (type)0 ? (size_t)(type) - 1 : ((size_t)1 << (8 * sizeof(type) - 1)) - 1)

/* The array with room for n elements of `size` bytes at least; NULL, and all as it was, when there is no memory for
 * them or n is more than `most`. */
static inline void *lb_moved_to_room(void *v, size_t *room, size_t n, size_t size, size_t most)
{
	size_t more = *room < 8 ? 16 : *room > most / 2 ? most : 2 * *room;

	if (more < n || more > most)
		more = n;
	if (more > most || more > PTRDIFF_MAX / size)
		return NULL;
	v = realloc(v, more * size);
	if (v)
		*room = more;
	return v;
}

/* True when the array v has room for n elements, as it was or moved; `room` is what it has room for, of any integer
 * type. Evaluates its arguments more than once. */
#define lb_reserve(v, room, n) \
	((size_t)(n) <= (size_t)(room) || __extension__({ \
		 size_t lb_room_ = (size_t)(room); \
		 void *lb_v_ = \
		     lb_moved_to_room((v), &lb_room_, (size_t)(n), sizeof *(v), LB_MOST_OF(__typeof__(room))); \
		 if (lb_v_) { \
			 (v) = lb_v_; \
			 (room) = (__typeof__(room))lb_room_; \
		 } \
		 lb_v_ != NULL; \
	 }))

#endif
