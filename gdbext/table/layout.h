/* From the program's records to ours: a field is found by its name, wherever the program
 * keeps it and however wide it is there. */
#ifndef LBX_TABLE_LAYOUT_H
#define LBX_TABLE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symtab.h"

enum { LBX_LAYOUT_FIELDS = 48, LBX_RECORD_MAX = 4096 };

/* Why a field that each runtime has may be missing. A library's read-only data are not in a core. */
#define LBX_NO_FIELD ": its description is damaged, or read from a file that has changed since the program ran"

/* A field that the reader knows, and where its own struct has it. */
struct lbx_known_field {
	const char *name;
	uint32_t offset;
	uint16_t width, count;
	bool is_signed;
};

struct lbx_layout {
	size_t size; /* of the reader's struct */
	bool same;   /* the program's record begins just like it */
	int n;
	struct lbx_column {
		uint32_t from, to;
		uint8_t from_width, to_width;
		uint16_t count;
		bool is_signed;
	} columns[LBX_LAYOUT_FIELDS];
};

/* A kind of record as the reader has it, and as the program describes it. */
struct lbx_known_record {
	const char *name;
	size_t size;
	const struct lbx_known_field *fields;
	int n;
};
struct lbx_described_record {
	const struct lb_field *fields;
	uint32_t n, size;
};

/* Matches the program's fields with the known ones. Fails, naming the field, when a needed
 * one is missing or any known one cannot be where it is said to be. */
bool lbx_layout_build(struct lbx_layout *layout, const struct lbx_known_record *known,
		      const struct lbx_described_record *described, bool (*is_needed)(const char *name));
/* Fills the reader's struct; fields that the program lacks are zero. */
void lbx_layout_decode(const struct lbx_layout *layout, const void *record, void *to);

#endif
