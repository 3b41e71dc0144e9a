/* Which rows softmax goes through one by one, in an order that does not depend on how many they are. */
#ifndef LB_KERNELS_SOFTMAX_H
#define LB_KERNELS_SOFTMAX_H

enum { LB_SOFTMAX_ROW = 4096 }; /* elements: up to here in any dtype, else in f32 and f64 alone */

#endif
