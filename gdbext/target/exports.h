/* What a loaded module gives to others, and takes from them: the functions of its dynamic symbols, which also a stripped
 * one has. Nothing that is read is trusted. */
#ifndef LBX_EXPORTS_H
#define LBX_EXPORTS_H

#include "target/loader.h"

struct lbx_exports {
	struct lbx_target *target;
	uint64_t names; /* address of the table of their names */
	size_t n;
	struct lbx_export {
		uint64_t start, size;
		uint32_t name; /* where it is in the table */
	} *list; /* by address */
	size_t n_imports;
	uint32_t *imports; /* their names */
};

enum { LBX_EXPORT_NAME = 256 };

/* False, without an error, where it has none that can be read; with one, without memory. */
bool lbx_exports_open(struct lbx_target *target, const struct lbx_loaded *m, struct lbx_exports *ret);
void lbx_exports_close(struct lbx_exports *exports); /* all 0 is fine */
/* The name of the exported function that holds an address, as the linker has it; false: none does, but one that is not
 * exported may. */
bool lbx_exports_function(const struct lbx_exports *exports, uint64_t address, char ret[LBX_EXPORT_NAME]);
/* Those that it exports before and after an address in none of them; "" where there is none. */
void lbx_exports_neighbours(const struct lbx_exports *exports, uint64_t address, char before[LBX_EXPORT_NAME],
			    char after[LBX_EXPORT_NAME]);
/* The name of the i-th that it exports, below n; false: it cannot be read. */
bool lbx_exports_name(const struct lbx_exports *exports, size_t i, char ret[LBX_EXPORT_NAME]);
/* The name of the i-th symbol that it takes from others, below n_imports; false: it cannot be read. */
bool lbx_exports_import(const struct lbx_exports *exports, size_t i, char ret[LBX_EXPORT_NAME]);

#endif
