/* Whether the memory that a backend's buffer gives out is the program's, in the order that tensors tell. */
#ifndef LBX_GGML_PLACES_H
#define LBX_GGML_PLACES_H

#include "target/loader.h"

enum lbx_ggml_place {
	LBX_GGML_HOST,
	LBX_GGML_REORDERED, /* blocks lie in another order there */
	LBX_GGML_ELSEWHERE  /* on a device, or it is not known where */
};

enum { LBX_GGML_PLACES = 64, LBX_GGML_PLACE_NAME = 64 };

/* As ggml numbers what a buffer is used for. */
enum { LBX_GGML_ANY, LBX_GGML_WEIGHTS, LBX_GGML_COMPUTE, LBX_GGML_USAGE_UNKNOWN };

struct lbx_ggml_buffer {
	uint64_t address;
	enum lbx_ggml_place place;
	int usage;
	uint64_t size; /* bytes; 0 if not known */
	char name[LBX_GGML_PLACE_NAME]; /* that ggml gives its type; "" if not known */
};

/* Those that were asked for. */
struct lbx_ggml_places {
	struct lbx_target *target;
	const struct lbx_loaded *modules; /* the program's */
	int n_modules, n;
	bool tells_usage; /* this build keeps it in a buffer */
	struct lbx_ggml_buffer list[LBX_GGML_PLACES];
};

/* Of a buffer's address. It lives as long as the places. */
const struct lbx_ggml_buffer *lbx_ggml_buffer(struct lbx_ggml_places *places, uint64_t address);

#endif
