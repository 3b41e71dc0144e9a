/* Pictures of tensors: in the terminal, as PNG files. */
#ifndef LBX_IMAGE_H
#define LBX_IMAGE_H

#include "inspect/command.h"

bool lbx_run_image(struct lbx_context *context, const struct lbx_args *args);

#endif
