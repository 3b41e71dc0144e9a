/* Figures within a sentence. */
#ifndef LBX_FIGURES_H
#define LBX_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include "tensors/tensor.h"

/* "(2, 3)", "(2,)", "()": those of a tensor's axes fit LBX_LIST_MAX. */
enum { LBX_LIST_MAX = LBX_RANK_MAX * 22 + 4 };
void lbx_format_list(const int64_t *values, int n, char *ret, size_t size);
/* "[2, 3]": the coordinates of an element */
void lbx_format_place(const int64_t *coordinates, int n, char *ret, size_t size);
/* "1.5 MiB" */
void lbx_format_bytes(int64_t bytes, char *ret, size_t size);

#endif
