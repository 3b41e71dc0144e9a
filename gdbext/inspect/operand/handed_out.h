/* Raw pointers that the program was given, as far as its flight recorder goes back. */
#ifndef LBX_HANDED_OUT_H
#define LBX_HANDED_OUT_H

#include "inspect/command.h"
#include "table/flight.h"

struct lbx_handed_out {
	uint64_t address, id; /* of the tensor whose elements began there */
	uint64_t owner;       /* id of the tensor that the buffer had been filled for */
	uint64_t site;        /* the call that gave it */
	uint64_t number;      /* of that event: later ones have higher numbers */
};
/* Whether that memory has been given back to the runtime since, and perhaps to another tensor; `buffer` has the address. */
bool lbx_handed_out_is_stale(const struct lbx_handed_out *one, const struct lbx_buffer *buffer);
/* "0x…, which was given for #3 in main; that memory is of y (…) now", behind what names it. */
void lbx_describe_stale(struct lbx_context *context, const struct lbx_handed_out *one, const struct lbx_buffer *buffer,
			char *ret, size_t size);

/* Begins as zeros. */
struct lbx_handed_outs {
	size_t n, room;
	struct lbx_handed_out *list;
	bool is_sorted;
};

bool lbx_handed_outs_add(struct lbx_handed_outs *all, const struct lbx_handed_out *one);
/* The last tensor for which the address was given; NULL: none is known. */
const struct lbx_handed_out *lbx_handed_outs_find(struct lbx_handed_outs *all, uint64_t address);
void lbx_handed_outs_deinit(struct lbx_handed_outs *all);

/* Reads the flight recorder. False, without an error, where none is known. */
bool lbx_find_handed_out(struct lbx_table *table, uint64_t address, struct lbx_handed_out *ret);

#endif
