/* Which parameter of a program is which array of a checkpoint: those of one name, and where names in one of the two all
 * begin alike (`model.`, `module.`), those of one name behind that. */
#ifndef LBX_PAIRING_H
#define LBX_PAIRING_H

#include "inspect/compare/checkpoint.h"
#include "inspect/memory/parameters.h"

struct lbx_pairing {
	char ours[LB_NAME_MAX + 1], theirs[512]; /* what names begin with, in the program and in the checkpoint */
	/* by the parameter: which array it is, counted from 1 on; 0: none */
	size_t *array_of;
	bool *is_met; /* by the array */
	size_t elsewhere; /* parameters whose names do not begin so */
};

/* The beginnings that pair the most. `ours` and `theirs` are those that the user wants, or NULL. */
bool lbx_pair(const struct lbx_parameters *parameters, const struct lbx_checkpoint *checkpoint, const char *ours,
	      const char *theirs, struct lbx_pairing *ret);
void lbx_pairing_deinit(struct lbx_pairing *pairing);
bool lbx_pairing_has(const struct lbx_pairing *pairing, const struct lbx_parameter *parameter);

#endif
