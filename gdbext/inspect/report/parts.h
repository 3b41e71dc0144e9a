/* The parts of a report's page, in files of their own where they are long. */
#ifndef LBX_PARTS_H
#define LBX_PARTS_H

#include "inspect/report/page.h"

enum lbx_page_parts {
	LBX_PART_WRONG,
	LBX_PART_STACK,
	LBX_PART_THREADS,
	LBX_PART_FLIGHTS,
	LBX_PART_VALUES,
	LBX_PART_TENSORS,
	LBX_PART_GRAPH,
	LBX_PART_MEMORY,
	LBX_PART_EVENTS,
	LBX_PART_SUSPICIONS,
	LBX_PART_UNKNOWN,
	LBX_PART_MODULES,
	LBX_PARTS
};

/* What they are printed of. */
struct lbx_writer {
	struct lbx_context *context;
	struct lbx_out *page;
	const struct lbx_report *r;
	struct lbx_cards cards;
	const struct lbx_tensor *lazy; /* whose graph is drawn; NULL: none is */
	struct lbx_page_part parts[LBX_PARTS];
};

/* What died, where, and when. */
void lbx_part_head(struct lbx_writer *w);
void lbx_part_wrong(struct lbx_writer *w);
void lbx_part_memory(struct lbx_writer *w);
void lbx_part_events(struct lbx_writer *w);

#endif
