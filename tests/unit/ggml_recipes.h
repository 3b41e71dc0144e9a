/* Nodes of ggml that are made by hand, computed again by their recipes, beside what straight loops say they hold: the
 * loops are written from what ggml documents, and use nothing of what is tested.
 *
 * A case makes leaves, says a node over them, gives what it wants element by element, the innermost axis first, and asks
 * whether that is so. */
#ifndef TESTS_GGML_RECIPES_H
#define TESTS_GGML_RECIPES_H

#include <stdbool.h>
#include <stdint.h>

#include "symtab.h"

enum { NODE_AXES = 4, NODE_SOURCES = 10, NODE_PARAMS = 16 };

struct node {
	const char *op;
	int64_t ne[NODE_AXES];    /* ggml's order */
	enum lb_dtype dtype;      /* LB_BOOL, which no node has: float32 */
	int sources[NODE_SOURCES];
	int32_t params[NODE_PARAMS];
	int view_of;              /* what it is a view of, of the sources or not; 0: none */
	int64_t strides[NODE_AXES], offset; /* of a view: elements */
	bool is_old;              /* of a build of 2024-02 */
};

/* Forgets all tensors. */
void nodes_reset(void);
/* A leaf; returns its number, from 1 on. Elements are random: floats in [-1, 1), integers from 0 up to `below`. */
int leaf(int64_t n0, int64_t n1, int64_t n2, int64_t n3);
int leaf_of(enum lb_dtype dtype, int64_t n0, int64_t n1, int64_t n2, int64_t n3, int below);
/* Of q8_0: a scale and 32 integers of 8 bits; n0 is a multiple of 32. */
int leaf_of_blocks(int64_t n0, int64_t n1, int64_t n2, int64_t n3);
/* Its float32 elements, to change. */
float *elements_of(int leaf);
int32_t *integers_of(int leaf);
/* Element of a leaf. */
double at(int leaf, int64_t i0, int64_t i1, int64_t i2, int64_t i3);
/* Likewise, of a leaf that repeats. */
double again(int leaf, int64_t i0, int64_t i1, int64_t i2, int64_t i3);
/* A parameter that is a float. */
int32_t bits_of(float value);

/* A node that others have for a source. */
int node(const struct node *n);
/* The next element that is wanted. */
void want(double value);
/* Whether the node holds what is wanted, of which there is none afterwards: the largest error, by the root of the mean
 * square. */
void holds(const struct node *n, double error);
/* What a leaf had is gone: another node has its memory, or it lies where nothing can be read; its name is "gone". */
void lose(int leaf, bool is_overwritten);
/* It cannot be computed; the sentence says this. */
void is_refused(const struct node *n, const char *says);
/* It has no recipe, and the sentence says so of this. */
void is_without(const struct node *n, const char *what);
/* Whether a case has computed that operation. */
bool was_computed(const char *op);

#define EACH_OF(ne) \
	for (int64_t i3 = 0; i3 < (ne)[3]; i3++) \
		for (int64_t i2 = 0; i2 < (ne)[2]; i2++) \
			for (int64_t i1 = 0; i1 < (ne)[1]; i1++) \
				for (int64_t i0 = 0; i0 < (ne)[0]; i0++)

/* The cases, a file each (ggml_recipes_*.c). */
void recipes_of_moves(void **state);
void recipes_of_elements(void **state);
void recipes_of_rows(void **state);
void recipes_of_rope(void **state);
void recipes_of_products(void **state);
void recipes_of_attention(void **state);
void recipes_of_images(void **state);
void recipes_of_scans(void **state);

#endif
