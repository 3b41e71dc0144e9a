/* Weights out of safetensors (Hugging Face's names, dense or quantised by MLX) or GGUF files. */
#ifndef COMMON_WEIGHTS_H
#define COMMON_WEIGHTS_H

#include "common/model.h"

enum { WEIGHTS_FILES = 256 };

/* The files that a model lies in, all of one format. */
struct weights {
	int n;
	lb_file *files[WEIGHTS_FILES];
	lb_quant how; /* of tensors with .scales beside them */
	int n_decoded; /* matrices that have become halves, and what they take */
	int64_t decoded_nbytes;
};

/* Opens one more file; false, and complains or leaves a runtime error, if that cannot be. */
bool weights_open(struct weights *weights, const char *path);
/* Fine on a zeroed one. Tensors that were taken stay. */
void weights_close(struct weights *weights);

/* Fills in a model without weights. What is quantised stays so where the runtime can multiply
 * with it, the rest becomes halves; dense tensors stay in the file until they are used. False,
 * having complained, when one is missing or has not the shape that the config asks for. */
bool weights_load(struct weights *weights, struct model *model);

#endif
