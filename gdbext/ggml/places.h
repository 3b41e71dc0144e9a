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

/* Those that were asked for. */
struct lbx_ggml_places {
	struct lbx_target *target;
	const struct lbx_loaded *modules; /* the program's */
	int n_modules, n;
	struct lbx_ggml_place_of {
		uint64_t buffer;
		enum lbx_ggml_place place;
		char name[LBX_GGML_PLACE_NAME]; /* that ggml gives its type; "" if not known */
	} list[LBX_GGML_PLACES];
};

/* Of a buffer's address. *ret_name lives as long as the places; NULL: not known. */
enum lbx_ggml_place lbx_ggml_place(struct lbx_ggml_places *places, uint64_t buffer, const char **ret_name);

#endif
