/* What every example needs: names for tensors, and one way to complain. */
#ifndef COMMON_NAMED_H
#define COMMON_NAMED_H

#include "lazybones.h"

/* Names x for the debugger as printf() would; returns x. */
__attribute__((format(printf, 2, 3)))
lb_tensor *named(lb_tensor *x, const char *format, ...);

/* "PROGRAM: …" on stderr; false, so that it can be returned. */
__attribute__((format(printf, 1, 2)))
bool complain(const char *format, ...);
/* The same with lb_error_message(), if there is one: what the program ends with. */
bool complain_of_errors(void);

#endif
