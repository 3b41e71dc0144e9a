/* A tensor as a small picture inside a page: a heat map, or its own colours, as a PNG in a data
 * URI. */
#ifndef LBX_PICTURE_H
#define LBX_PICTURE_H

#include "inspect/array.h"

enum { LBX_PICTURE_SIDE = 96 };

struct lbx_picture {
	int width, height;
	bool is_colour;        /* the values are the colours; else low and high are the map's ends */
	double low, high;
	unsigned char rgb[LBX_PICTURE_SIDE * LBX_PICTURE_SIDE * 3];
};

/* The last two axes (of an uint8 tensor whose last axis is 3: the two before it), the first of all
 * others; each thinned out to at most LBX_PICTURE_SIDE. NaN is magenta, Inf cyan. */
bool lbx_picture_of_array(const struct lbx_array *array, struct lbx_picture *ret);
/* <img src="data:image/png;base64,…"> */
void lbx_picture_write(struct lbx_out *page, const struct lbx_picture *picture, const char *alt);

#endif
