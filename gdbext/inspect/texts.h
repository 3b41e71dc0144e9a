/* What the rows of several commands have in common. */
#ifndef LBX_TEXTS_H
#define LBX_TEXTS_H

#define LBX_T_HELP \
	"T is a name, #id, or an expression of the program that yields an lb_tensor * or a\n" \
	"ggml_tensor *. Names come first: where a tensor is named x, write (x) for the\n" \
	"variable."
#define LBX_SLICE_HELP \
	LBX_T_HELP \
	" A slice is written as in Python: x[0, :, 2:8:2], x[..., -1], x[::-1].\n" \
	"It may also be computed of tensors, in NumPy's words, outside the program:\n" \
	"abs(q - k.T).max(), x[x > 3], x.reshape(2, -1) @ w, (x == y).mean(axis=0).\n" \
	"Memory that is no tensor's is written as @ADDRESS:DTYPE:SHAPE[:STRIDES], see `view`."

#define LBX_PRINT_OPTIONS \
	{ "full", NULL, "all elements, however many" }, \
	    { "edge", "N", "elements at each end of an axis that is cut short" }, \
	    { "precision", "N", "digits after the point, at most" }

#define LBX_STATS_OPTIONS \
	{ "stats", NULL, "show statistics instead of values" }, \
	    { "first", "N", "with --stats: show the first N values (default 8)" }

/* of the option that stands in no row */
#define LBX_JSON_HELP "write JSON instead of text"

#endif
