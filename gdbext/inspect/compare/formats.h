/* What a format of quantisation costs. */
#ifndef LBX_FORMATS_H
#define LBX_FORMATS_H

/* The relative error, by L2 norms, that a format's own quantiser makes of normally distributed numbers; 0 where it is
 * not known, as for formats that only weights trained for them fit. The name is that of ggml's type, or "affine 4/64":
 * bits and group. */
double lbx_format_error(const char *name);

#endif
