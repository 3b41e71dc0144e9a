/* A model's parameters, as far as names tell: ready tensors with a name. */
#ifndef LBX_PARAMETERS_H
#define LBX_PARAMETERS_H

#include "inspect/command.h"

struct lbx_parameter {
	char *name;
	char *key;         /* the name with * for numbers, '.' and '/' being one separator */
	uint64_t id, low, end; /* the bytes that it reaches, which tied weights share */
	enum lb_dtype dtype;
	const struct lbx_encoding *encoding; /* NULL: as the dtype is */
	int mode, bits;    /* of packed words: an enum lb_quant_mode; bits 0: plain values */
	bool overhead;     /* scales or biases of packed words: bytes, but no parameters */
	bool is_said;      /* its runtime says that it is a weight, or the program keeps it */
	struct lbx_tensors *of;
	uint64_t record;
	int64_t holders;   /* references that are not those of scopes; 0: not known */
	int rank;
	int64_t last;      /* values along the last axis */
	int64_t count;     /* parameters: values, of packed words what they hold */
	int64_t bytes;
};

struct lbx_parameters {
	size_t n, room;
	struct lbx_parameter *list; /* by key */
	int64_t count, bytes;
	bool
	    is_known; /* which they are: those that are said to be; of each under its names the others are there, too, where the
			    * program does not keep them */
	uint64_t tied; /* left out: the same values under another name */
	uint64_t others; /* left out: of a name, but no weights, or held by scopes and lazy tensors alone */
	uint64_t unnamed; /* left out: ready tensors without a name, that are no views */
};

/* Of those whose name matches, if `glob` is given: each value once, or under each of its names. */
enum lbx_tied { LBX_TIED_ONCE, LBX_TIED_EACH };
bool lbx_parameters_find(struct lbx_context *context, const char *glob, enum lbx_tied tied, struct lbx_parameters *ret);
void lbx_parameters_deinit(struct lbx_parameters *parameters);

#endif
