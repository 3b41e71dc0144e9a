/* What reading and writing safetensors share. */
#ifndef LB_IO_SAFETENSORS_H
#define LB_IO_SAFETENSORS_H

#include "lazybones.h"

enum { LB_SAFETENSORS_HEADER_MAX = 100000000 }; /* bytes, as the reference has it */

/* "BF16"; every dtype has one. */
const char *lb_safetensors_type(enum lb_dtype dtype);

#endif
