#include "inspect/compare/formats.h"

#include <stddef.h>
#include <string.h>

/* Measured on 262,144 numbers: ggml's by ggml_quantize_chunk() with an importance of 1, the others by lb_quantize(), as
 * MLX does it. mxfp4 and mxfp8 are larger by MLX's choice of scales, which cuts the largest numbers off. */
static const struct {
	const char *name;
	double error;
} formats[] = {
	{ "q4_0", 0.0818 },         { "q4_1", 0.07 },           { "q5_0", 0.0405 },         { "q5_1", 0.0338 },
	{ "q8_0", 0.0054 },         { "q2_K", 0.2684 },         { "q3_K", 0.1446 },         { "q4_K", 0.0709 },
	{ "q5_K", 0.0354 },         { "q6_K", 0.0173 },         { "iq2_xxs", 0.3441 },      { "iq2_xs", 0.2997 },
	{ "iq2_s", 0.249 },         { "iq3_xxs", 0.182 },       { "iq3_s", 0.1374 },        { "iq1_s", 0.486 },
	{ "iq1_m", 0.4518 },        { "iq4_nl", 0.075 },        { "iq4_xs", 0.0757 },       { "affine 2/32", 0.3612 },
	{ "affine 2/64", 0.3939 },  { "affine 2/128", 0.4232 }, { "affine 3/32", 0.1712 },  { "affine 3/64", 0.1906 },
	{ "affine 3/128", 0.2071 }, { "affine 4/32", 0.0809 },  { "affine 4/64", 0.0907 },  { "affine 4/128", 0.0997 },
	{ "affine 5/32", 0.0392 },  { "affine 5/64", 0.0441 },  { "affine 5/128", 0.0486 }, { "affine 6/32", 0.0193 },
	{ "affine 6/64", 0.0217 },  { "affine 6/128", 0.0239 }, { "affine 8/32", 0.0048 },  { "affine 8/64", 0.0054 },
	{ "affine 8/128", 0.0059 }, { "mxfp4", 0.1156 },        { "mxfp8", 0.0262 },        { "nvfp4", 0.0951 },
};

double lbx_format_error(const char *name)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (strcmp(formats[i].name, name) == 0)
			return formats[i].error;
	return 0;
}
