/* Pictures for terminals that draw pixels: sixel (DEC's VT330/VT340 Programmer Reference Manual,
 * volume 2, chapter 14), and the graphics protocol of kitty
 * (https://sw.kovidgoyal.net/kitty/graphics-protocol/). */
#ifndef LBX_PIXELS_H
#define LBX_PIXELS_H

#include <stddef.h>

#include "inspect/draw/raster.h"

enum lbx_pixels { LBX_PIXELS_NONE, LBX_PIXELS_SIXEL, LBX_PIXELS_KITTY };

/* What the terminal announces by KITTY_WINDOW_ID, TERM_PROGRAM or TERM. Inside tmux and screen
 * it is none: they do not pass it on. */
enum lbx_pixels lbx_terminal_pixels(void);

/* The picture, its values from low to high, as the escape sequences that draw it; to be freed;
 * NULL with an error. Sixel has the finest steps of colour of which it takes at most 256, and leaves
 * out what is more transparent than not. Kitty's is a PNG file, and fails without libpng. */
char *lbx_pixels_encode(const struct lbx_raster *raster, double low, double high, enum lbx_pixels how, size_t *ret_n);

#endif
