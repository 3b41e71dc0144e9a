/* A test's program with ggml, made by hand (ggml_image.h), and what is seen of it. */
#ifndef TESTS_GGML_SEEN_H
#define TESTS_GGML_SEEN_H

#include "ggml_image.h"
#include "tensors/tensors.h"

enum { GGML_LISTED = 0x40 /* bytes from a graph's beginning to the list of its nodes */ };

extern struct ggml_image image;
extern struct lbx_tensors *set; /* NULL: nobody has looked yet */

/* Begins the program, and in it a context of `context` bytes. */
void ggml_begin(bool exports, uint64_t pool, uint64_t context);
/* A test's tear-down. */
int ggml_finish(void **state);

/* Looks at it, anew. False, with an error: nothing can be seen. */
bool ggml_look(struct lbx_stacks *stacks);
/* The same; that fails the test. */
void ggml_see(struct lbx_stacks *stacks);
/* The first tensor of that name. */
bool ggml_named(const char *name, struct lbx_tensor *ret);

/* As ggml_image_tensor() and ggml_image_node(), with bytes of their own. */
uint64_t ggml_tensor(const char *name, uint32_t type, const int64_t ne[LBX_GGML_AXES]);
uint64_t ggml_node(const char *name, uint32_t op, const int64_t ne[LBX_GGML_AXES], uint64_t a, uint64_t b);
/* A graph of nodes, whose list is GGML_LISTED bytes behind its beginning. */
uint64_t ggml_graph(const uint64_t *nodes, uint64_t n);

#endif
