/* A graph's listing as text: one op a line, line L being op L, so that it can be the source of the
 * code that evaluates it. What comes from outside follows as comments. */
#ifndef LBX_LISTING_H
#define LBX_LISTING_H

#include "inspect/command.h"
#include "table/listing.h"

struct lbx_listing_text {
	uint64_t graph; /* its number */
	const struct lbx_listing *listing;
	/* the source line of the call that returns to pc; false if not known */
	bool (*line)(void *context, uint64_t pc, struct lbx_source_line *ret);
	/* what is known of the value of line i (from 0); "" for nothing. Or NULL */
	void (*value)(void *context, uint32_t i, char *ret, size_t size);
	void *context;
	bool numbered; /* each line has its number in front */
};

/* Writes lines `from` to `to` (from 0, `to` excluded); from the first one to the last, what comes
 * from outside, too. */
bool lbx_listing_write(struct lbx_out *out, const struct lbx_listing_text *text, uint32_t from, uint32_t to);
/* What line i, or input i - n_lines, is called: "q_proj", "%4", "in1", or a constant. */
enum { LBX_LABEL_MAX = LB_NAME_MAX + 16 };
void lbx_listing_label(const struct lbx_listing *listing, uint32_t i, char *ret, size_t size);
/* The line (from 1) whose call the code at this offset makes; 0 for none. */
uint32_t lbx_listing_line_at(const struct lbx_listing *listing, uint64_t offset);

#endif
