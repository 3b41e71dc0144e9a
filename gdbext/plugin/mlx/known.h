/* What is known of MLX in the process: how its arrays are read. */
#ifndef LBX_PLUGIN_MLX_KNOWN_H
#define LBX_PLUGIN_MLX_KNOWN_H

#include "inspect/command.h"
#include "mlx/near.h"
#include "plugin/stops/catch_kinds.h"

/* Found out once, by all arrays. False while the answer is awaited. *ret is NULL where they cannot be read: why() says why. */
bool lbx_known_near(struct lbx_context *context, const struct lbx_mlx_near **ret);
const char *lbx_known_why(void);
/* That of the process; NULL: it has not been found out. */
const struct lbx_mlx_near *lbx_known(void);
void lbx_known_forget(void);

/* An address within its library's code; 0: not known, or not yet. */
uint64_t lbx_known_library(struct lbx_context *context);
/* The selected thread, as the system numbers it; 0: not known. */
uint64_t lbx_known_thread(struct lbx_context *context);
/* The records of the arrays that a catch is of now, by its name or record; *ret_n of them. False while the answer is awaited. */
bool lbx_known_meant(struct lbx_context *context, const struct lbx_catch *c, uint64_t ret[LBX_MLX_NEAR_FOUND],
		     int *ret_n);

#endif
