/* A picture for want of a photograph. */
#ifndef MARBLES_H
#define MARBLES_H

#include "picture.h"

/* The caller frees ret->rgb. False without memory. */
bool marbles_paint(int64_t width, int64_t height, struct picture *ret);

#endif
