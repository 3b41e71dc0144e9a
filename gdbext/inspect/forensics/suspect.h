/* Views that somebody read raw: memory that holds a view's elements in the order of its storage. */
#ifndef LBX_SUSPECT_H
#define LBX_SUSPECT_H

#include "inspect/findings.h"
#include "inspect/operand/places.h"

struct lbx_suspect {
	uint64_t views, views_skipped; /* looked for; skipped: too many, or too little in them */
	uint64_t bytes;                /* of memory that were searched */
	uint64_t unsure; /* places without a shape, which may be what the view was made from */
	bool late;       /* time ended before memory did */
};

/* For `seconds` at most. `all`: also copies that a tensor in that very order explains. */
bool lbx_find_storage_order(struct lbx_context *context, struct lbx_places *places, double seconds, bool all,
			    struct lbx_findings *findings, struct lbx_suspect *ret);

#endif
