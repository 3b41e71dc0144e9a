/* A lazy array of MLX's as its recipe sees it: its record, the fields of the primitive that will compute it, and values of
 * its inputs. Fields are read where MLX's headers of the layout's versions have them; what they say is taken for granted nowhere. */
#ifndef LBX_MLX_NODE_H
#define LBX_MLX_NODE_H

#include "mlx/set.h"
#include "tensors/recipe.h"

/* Bytes from the primitive's beginning: behind its virtual table and its stream. What has the alignment of a word begins
 * 4 bytes later. */
enum {
	LBX_MLX_OWN = 0x14,
	LBX_MLX_OWN_WORDS = 0x18,
	LBX_MLX_VECTOR = 0x18,
	LBX_MLX_SMALL = 0x48,
	LBX_MLX_SMALL_WORDS = 0x70
};

struct lbx_mlx_node {
	struct lbx_mlx_set *set;
	uint64_t id; /* of the array that is asked for */
	const char *op;
	int code; /* the operation of ours that the recipe's row names, or -1 */
	struct lbx_mlx_record record;
	const int *inputs; /* values */
	uint32_t n_inputs;
	bool is_traced; /* it is of the tape of a compiled one: its inputs' shapes, and so its own, may be others */
	struct lbx_recipe *r;
};

/* Of a Shape: how many bytes it takes in the primitive. */
static inline uint32_t lbx_mlx_shape_bytes(const struct lbx_mlx_node *n)
{
	return n->set->layout->is_small ? LBX_MLX_SMALL : LBX_MLX_VECTOR;
}

/* Likewise of Strides. */
static inline uint32_t lbx_mlx_strides_bytes(const struct lbx_mlx_node *n)
{
	return n->set->layout->is_small ? LBX_MLX_SMALL_WORDS : LBX_MLX_VECTOR;
}

static inline enum lb_dtype lbx_mlx_dtype(const struct lbx_mlx_node *n, int value)
{
	return lbx_step(n->r, value)->dtype;
}

/* Input i; LBX_FAIL where it has none, or where that has no value. */
int lbx_mlx_input(const struct lbx_mlx_node *n, uint32_t i);
/* Fails: something of the operation has no recipe ("such axes"), or, if that is NULL, all of it; says what is upstream.
 * LBX_FAIL. */
int lbx_mlx_no_recipe(const struct lbx_mlx_node *n, const char *what);
/* A field; fails where it cannot be read, or has no such value. */
bool lbx_mlx_int(const struct lbx_mlx_node *n, uint32_t at, int32_t *ret);
bool lbx_mlx_word(const struct lbx_mlx_node *n, uint32_t at, int64_t *ret);
bool lbx_mlx_flag(const struct lbx_mlx_node *n, uint32_t at, bool *ret);
bool lbx_mlx_float(const struct lbx_mlx_node *n, uint32_t at, float *ret);
bool lbx_mlx_double(const struct lbx_mlx_node *n, uint32_t at, double *ret);
/* A std::vector<int>, or a Shape, of at most LB_MAX_RANK numbers. */
bool lbx_mlx_ints(const struct lbx_mlx_node *n, uint32_t at, int *ret_n, int64_t ret[LB_MAX_RANK]);
bool lbx_mlx_shape(const struct lbx_mlx_node *n, uint32_t at, int *ret_n, int64_t ret[LB_MAX_RANK]);
bool lbx_mlx_strides(const struct lbx_mlx_node *n, uint32_t at, int *ret_n, int64_t ret[LB_MAX_RANK]);
/* A std::vector<size_t>. */
bool lbx_mlx_words(const struct lbx_mlx_node *n, uint32_t at, int *ret_n, int64_t ret[LB_MAX_RANK]);
/* A std::vector of arrays. */
bool lbx_mlx_list(const struct lbx_mlx_node *n, uint32_t at, struct lbx_mlx_arrays *ret);
/* An axis of a value; negative ones count from the end. */
bool lbx_mlx_axis(const struct lbx_mlx_node *n, uint32_t at, int value, int *ret);

#endif
