/* The FFTW of single precision in use: linked into the program, or opened at first need, and its plans. */
#ifndef LB_KERNELS_FFTW_H
#define LB_KERNELS_FFTW_H

#include <stdbool.h>
#include <stdint.h>

/* A transform of one line of n elements (of irfft: that come out), for LB_OP_FFT to LB_OP_IRFFT; `from` and `to` are memory as it
 * will be given. The same line gives the same bits whatever there is around it: the plan depends on the operation and n
 * alone. NULL, with an error, when there is no FFTW. Opens a library and allocates. */
struct lb_fftw_plan *lb_fftw_take(int op, int64_t n, void *from, void *to);
void lb_fftw_give_back(struct lb_fftw_plan *plan);
/* Of 64-byte aligned lines; what is in `from` may be lost. From any thread. */
void lb_fftw_run(const struct lb_fftw_plan *plan, void *from, void *to);

#endif
