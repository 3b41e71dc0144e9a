/* Whether calls by address into a module must lead to instructions that are made for it: BTI of aarch64. */
#ifndef LBX_GUARDED_H
#define LBX_GUARDED_H

#include "target/loader.h"

/* As its own note says. True also where its headers or that note cannot be read: then nobody knows. */
bool lbx_loaded_is_guarded(struct lbx_target *target, const struct lbx_loaded *m);

#endif
