/* Functions that leave graphs alone: who is in one of them is not about to compute a node. */
#ifndef LBX_GGML_HARMLESS_H
#define LBX_GGML_HARMLESS_H

#include <stdbool.h>

/* By the name with which it is exported. */
bool lbx_ggml_is_harmless(const char *function);

#endif
