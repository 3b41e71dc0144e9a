/* An array as rows of pixels of a size that fits somewhere: larger ones are averaged over
 * boxes, smaller ones repeat their elements. */
#ifndef LBX_RASTER_H
#define LBX_RASTER_H

#include "inspect/tensor/array.h"

/* Which axes are which. The array has two, or three of which one has 1, 3 or 4 channels:
 * grey, RGB, RGBA. */
enum lbx_channels { LBX_CHANNELS_GUESS, LBX_CHANNELS_NONE, LBX_CHANNELS_LAST, LBX_CHANNELS_FIRST };

struct lbx_raster {
	int64_t rows, columns;            /* of the array */
	int width, height, channels;      /* of the pixels */
	double *values; /* height x width x channels: means of the finite elements; NaN without any */
	bool *nan;      /* height x width: NaN or Inf among them */
	double low, high; /* of the finite elements, not of the means; 0 and 0 without any */
	int64_t finite, not_finite;
};

/* At most max_width x max_height pixels; of small arrays each element becomes a square of at most
 * `zoom` pixels. Zoom 0: each axis is fitted by itself, as for who stretches the picture. Fails with the reason when it is no picture. */
bool lbx_raster_create(const struct lbx_array *array, enum lbx_channels channels, int max_width, int max_height,
		       int zoom, struct lbx_out *out, struct lbx_raster *ret);
void lbx_raster_deinit(struct lbx_raster *raster);

/* A pixel as 8-bit red, green, blue, alpha. One channel is drawn in the colours of viridis, from
 * low to high; NaN and Inf in magenta. */
void lbx_raster_colour(const struct lbx_raster *raster, int x, int y, double low, double high, unsigned char ret[4]);
/* The colour of viridis at t, from 0 to 1: red, green, blue. */
void lbx_viridis(double t, unsigned char ret[3]);
/* The nearest of xterm's 6 x 6 x 6 colours, by its number. */
int lbx_colour_of_256(const unsigned char c[3]);

#endif
