/* A core file. */
#ifndef LBX_CORE_H
#define LBX_CORE_H

#include "target/target.h"

bool lbx_core_open(const char *path, struct lbx_target **ret);

#endif
