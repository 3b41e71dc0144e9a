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
/* n rows of a head of keys: of its keys or values, or of the queries of its group. */
struct lb_rows {
	int64_t batch, head, first, n;
};

/* What is added to a row's scores, or which of them are seen: NULL for none. */
struct lb_mask {
	const void *bias;
	const uint8_t *open;
};

/* Rows of a group, of x (B, H, L, …), dense in the stage's dtype, times scale. */
void lb_attention_load(const struct lb_attending *j, const struct lb_view *x, struct lb_rows rows, double scale,
		       char *to);
/* Rows of keys or values: in place if they can be read there, else in the panel. *stride is from one to the next. */
const char *lb_attention_rows(const struct lb_attending *j, const struct lb_view *x, struct lb_rows rows, char *panel,
			      int64_t *stride);
/* Of the i-th of the queries over the first n of the keys, in room (of n elements in the stage's dtype). */
struct lb_mask lb_attention_mask(const struct lb_attending *j, struct lb_rows queries, int64_t i, int64_t key,
				 int64_t n, char *room);
/* Keys that a row may see: those up to its own position, counted from the end. */
int64_t lb_attention_visible(const struct lb_attending *j, int64_t row);

/* Elements in the stage's dtype; `row` and `column` are the distances from one to the next. */
struct lb_matrix {
	const char *data;
	int64_t rows, columns, row, column;
};

/* to += a @ b, whose rows are to_row apart. */
static inline void lb_attention_multiply(const struct lb_attending *j, struct lb_matrix a, struct lb_matrix b, char *to,
					 int64_t to_row)
{
	struct lb_gemm gemm = { .dtype = j->stage,
				.m = a.rows,
				.n = b.columns,
				.k = a.columns,
				.a = a.data,
				.b = b.data,
				.a_row = a.row,
				.a_column = a.column,
				.b_row = b.row,
				.b_column = b.column,
				.to = to,
				.to_row = to_row };
	j->tiles->gemm(&gemm);
}

#endif
