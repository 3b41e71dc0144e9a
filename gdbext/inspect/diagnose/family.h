/* Parameters of the same place in each layer: "layers.*.fc.weight". */
#ifndef LBX_FAMILY_H
#define LBX_FAMILY_H

#include <stdbool.h>

#include "symtab.h"

/* The name with * for its first number; false: it has none. */
bool lbx_family_of(const char *name, char ret[LB_NAME_MAX + 1]);

#endif
