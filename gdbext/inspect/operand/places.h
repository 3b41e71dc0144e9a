/* What lies at an address: an index of all buffers and of the tensors over them, for who has
 * many addresses to look up. */
#ifndef LBX_PLACES_H
#define LBX_PLACES_H

#include "inspect/command.h"

struct lbx_places;

enum lbx_place_kind {
	LBX_PLACE_NOTHING,
	LBX_PLACE_RECORD, /* a tensor's record: the address is a handle, or lies inside one */
	LBX_PLACE_DATA,   /* an element of a tensor */
	LBX_PLACE_BUFFER, /* a buffer that no tensor uses, or a part that none reaches */
};

struct lbx_place {
	enum lbx_place_kind kind;
	uint64_t distance;        /* bytes from the record's, or the buffer's, beginning */
	struct lbx_tensor tensor; /* of DATA: the one that fits best */
	struct lbx_buffer buffer; /* of DATA and BUFFER */
	bool is_start;            /* of DATA: the address of the tensor's element 0 */
};

/* Valid while the program stands still. */
bool lbx_places_create(struct lbx_context *context, struct lbx_places **ret);
/* Likewise for who may need none: only lbx_places_find() is for it, and the first address that is not a record's has the
 * index made. If that fails, nothing is found from there on. */
bool lbx_places_expect(struct lbx_context *context, struct lbx_places **ret);
bool lbx_places_have_failed(const struct lbx_places *places);
void lbx_places_destroy(struct lbx_places *places); /* NULL is fine */
void lbx_places_find(struct lbx_places *places, uint64_t address, struct lbx_place *ret);
/* The buffers that end before and that begin after an address; false when there is none. */
bool lbx_places_before(const struct lbx_places *places, uint64_t address, struct lbx_buffer *ret);
bool lbx_places_after(const struct lbx_places *places, uint64_t address, struct lbx_buffer *ret);
/* The tensors over a buffer, one a call: *i begins as 0. False after the last. */
bool lbx_places_tensor(struct lbx_places *places, const struct lbx_buffer *buffer, size_t *i, struct lbx_tensor *ret);

#endif
