/* What a convolution and its gradients share. See conv.c. */
#ifndef LB_KERNELS_CONV_H
#define LB_KERNELS_CONV_H

#include "kernels/model.h"
#include "kernels/tile.h"

enum { LB_CONV_GRAIN = 1 << 13 };

struct lb_conv_job {
	struct lb_exec *exec;
	const struct lb_tiles *tiles;
	const struct lb_conv *c;
	int stage;
	int64_t bytes, width;             /* of an element as given, and in the stage's dtype */
	int64_t channels, outputs, taps;  /* of a group; taps: elements under an output */
	int64_t group, first;             /* what is worked on: first output pixel of the block */
	char *weights;                    /* (outputs, taps) of a group; (taps, channels) if depthwise */
	int64_t pixels;                   /* of the output, of all images */
	bool is_depthwise;
	char *rows, *products, *to;
};

bool lb_conv_begin(struct lb_exec *exec, const struct lb_conv *c, void *to, struct lb_conv_job *ret);
/* Where the tap (r, s) of output pixel `pixel` is in x, or NULL in the padding. */
const char *lb_conv_tap(const struct lb_conv_job *j, int64_t pixel, int64_t r, int64_t s);
/* Rows begin … end of the matrix, whose first is that of pixel j->first. arg: the job. */
void lb_conv_fill_rows(void *arg, int64_t begin, int64_t end);
/* Those of j->group into j->weights. */
void lb_conv_load_weights(const struct lb_conv_job *j);
/* (taps, channels) in scratch memory, or NULL. */
char *lb_conv_depthwise_weights(const struct lb_conv_job *j);
/* sums[i] += x[i] * w[i] */
void lb_conv_add_products(int stage, int64_t n, void *sums, const void *x, const void *w);

#endif
