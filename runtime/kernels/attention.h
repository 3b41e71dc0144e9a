/* What attention and its gradient share: rows, masks, scratch memory. See attention.c. */
#ifndef LB_KERNELS_ATTENTION_H
#define LB_KERNELS_ATTENTION_H

#include "kernels/model.h"
#include "kernels/tile.h"

enum { LB_QUERIES = 64, LB_KEYS = 256 };

struct lb_attending {
	const struct lb_tiles *tiles;
	const struct lb_attention *a;
	int stage;
	int64_t bytes, width;                /* of an element as given, and in the stage's dtype */
	int64_t group, length, keys, d, dv;  /* heads a key's head, queries, keys, features of both */
	int64_t pairs;         /* batches times heads of keys */
	int64_t rows, blocks;                /* rows of a group; blocks of them */
	int64_t block_rows;
	char *to;
};

/* All but `to` and `blocks`. */
bool lb_attention_begin(const struct lb_attention *a, struct lb_attending *ret);
/* Rows first … first + m of a group, of x (B, H, L, …), dense in the stage's dtype, times scale. */
void lb_attention_load(const struct lb_attending *j, const struct lb_view *x, int64_t batch, int64_t head,
		       int64_t first, int64_t m, double scale, char *to);
/* n rows of keys or values of a head: in place if they can be read there, else in the panel.
 * *stride is from one to the next. */
const char *lb_attention_rows(const struct lb_attending *j, const struct lb_view *x, int64_t batch, int64_t head,
			      int64_t first, int64_t n, char *panel, int64_t *stride);
/* The mask of a row over n keys, in room (of n elements in the stage's dtype); NULL for none. */
void lb_attention_mask(const struct lb_attending *j, char *room, int64_t batch, int64_t head, int64_t row, int64_t key,
		       int64_t n, const void **bias, const uint8_t **open);
/* Keys that a row may see: those up to its own position, counted from the end. */
int64_t lb_attention_visible(const struct lb_attending *j, int64_t row);

#endif
