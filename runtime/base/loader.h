/* Whether libraries can be opened while the program runs. */
#ifndef LB_BASE_LOADER_H
#define LB_BASE_LOADER_H

#include <stdbool.h>

/* False in a static program: what dlopen() loads there brings a C library of its own, whose threads and locale nobody has
 * set up, and OpenBLAS crashes in it. */
bool lb_has_loader(void);

#endif
