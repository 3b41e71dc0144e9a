#ifndef OURS_H
#define OURS_H

#include "peers.h"

#include <lazybones.h>

/* Takes the floats, which free() frees. */
lb_tensor *ours_tensor(float *data, lb_list shape);
/* Evaluated and kept. */
lb_quantized ours_quantize(lb_tensor *w, enum peer_dtype format);
/* x @ w.T; w is in .w, if it is not quantised. */
lb_tensor *ours_product(lb_tensor *x, lb_quantized w, enum peer_dtype format);
float *ours_copy(lb_tensor *x, int64_t *n);

bool ours_llama_open(const struct row *row);
void ours_llama_run(void);
float *ours_llama_result(int64_t *n);
void ours_llama_close(void);

#endif
