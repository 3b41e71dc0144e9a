/* Machine code for step mode: a function with a standard frame that makes n calls, one after
 * another, until one returns 0. Its memory is never writable and executable at once. */
#ifndef LB_EVAL_CODE_H
#define LB_EVAL_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the code gets; it calls `call` with this and the number of the call, from 0. */
struct lb_code_frame {
	int (*call)(struct lb_code_frame *frame, uint32_t number);
};

typedef int lb_code(struct lb_code_frame *frame);

/* False on machines that there is no code for. */
bool lb_code_known(void);
/* Where call number i begins. */
size_t lb_code_offset(uint32_t i);
/* Bytes of the code of n calls. */
size_t lb_code_bytes(uint32_t n);
/* Code of n calls, 1 at least, in pages of its own: *capacity bytes. NULL, without an error, when
 * there is no memory for it. */
lb_code *lb_code_make(uint32_t n, size_t *capacity);
/* Likewise, in the pages of code that is not needed any more; they are given back if it does not
 * fit. */
lb_code *lb_code_remake(lb_code *code, size_t capacity, uint32_t n);
void lb_code_free(lb_code *code, size_t capacity);

#endif
